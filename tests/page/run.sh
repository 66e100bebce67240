#!/usr/bin/env bash
# Tests the page of `esker serve` with the program that the tests compiled. Installs Chromium, and packages of Python
# in an environment of their own, once.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/prepare.sh
prepare python browser

target=${CARGO_TARGET_DIR:-target}
environment=$target/page
wanted=tests/page/requirements.txt
if ! cmp --silent "$wanted" "$environment/installed.txt"; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted"
    cp "$wanted" "$environment/installed.txt"
fi
"$environment/bin/python" tests/page/page.py --esker "$target/debug/esker" --pictures "$environment/pictures" "$@"
