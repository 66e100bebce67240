#!/usr/bin/env bash
# Builds and runs every test: both widths of vertex ids, documentation examples, scripts of the examples, and the
# comparison of all algorithms with NetworkX, igraph, NetworKit and SciPy.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; "$@"; }

# Needs packages of Python: left out where they cannot be had.
comparison() {
    local packages=target/compare
    if { [ -x $packages/bin/python ] || python3 -m venv $packages; } &&
        $packages/bin/python -m pip install --quiet --requirement tests/compare/requirements.txt; then
        tests/compare/run.sh $packages
    else
        echo "Left out: the Python packages of tests/compare/requirements.txt cannot be installed."
    fi
}

step cargo test --workspace
step cargo test --workspace --features id64
step python3 -m unittest discover --start-directory examples/debian
step comparison
