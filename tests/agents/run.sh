#!/usr/bin/env bash
# Tests `esker mcp` with the client of the protocol's authors, and the program that the tests compiled. Installs packages of Python in an
# environment of their own, once.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/prepare.sh
. scripts/environment.sh
prepare python

target=${CARGO_TARGET_DIR:-target}
environment=$target/agents
environment "$environment" tests/agents/requirements.txt
"$environment/bin/python" tests/agents/agents.py --esker "$target/debug/esker"
