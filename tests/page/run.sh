#!/usr/bin/env bash
# Tests the page of `esker serve` with the program that the tests compiled. Installs Chromium, and packages of Python
# in an environment of their own, once.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/prepare.sh
. scripts/environment.sh
prepare python browser

target=${CARGO_TARGET_DIR:-target}
environment=$target/page
environment "$environment" tests/page/requirements.txt
"$environment/bin/python" tests/page/page.py --esker "$target/debug/esker" --pictures "$environment/pictures" "$@"
