#!/usr/bin/env bash
# Compares all algorithms with NetworkX, igraph, NetworKit and SciPy: first in memory, then through files and the command.
# Usage: tests/compare/run.sh [folder for the Python packages]. Takes some minutes, and downloads the packages once.
set -euo pipefail
cd "$(dirname "$0")/../.."
packages=${1:-target/compare}

[ -x "$packages/bin/python" ] || python3 -m venv "$packages"
"$packages/bin/python" -m pip install --quiet --requirement tests/compare/requirements.txt
cargo build --release --package esker-algo --example answers
cargo build --release --package esker-cli
"$packages/bin/python" tests/compare/compare.py --answers target/release/examples/answers --count 600 --large 12
"$packages/bin/python" tests/compare/compare.py --esker target/release/esker --count 120 --large 2
