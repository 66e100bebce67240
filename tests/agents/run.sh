#!/usr/bin/env bash
# Tests `esker mcp` with the client of the protocol's authors, and the program that the tests compiled. Installs packages of Python in an
# environment of their own, once.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/prepare.sh
prepare python

target=${CARGO_TARGET_DIR:-target}
environment=$target/agents
wanted=tests/agents/requirements.txt
if ! cmp --silent "$wanted" "$environment/installed.txt"; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted"
    cp "$wanted" "$environment/installed.txt"
fi
"$environment/bin/python" tests/agents/agents.py --esker "$target/debug/esker"
