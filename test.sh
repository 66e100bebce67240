#!/usr/bin/env bash
# Builds and runs every test: both widths of vertex ids, documentation examples, the Python package, scripts of the examples. The comparison
# with other libraries needs their Python packages and is run apart: tests/compare/run.sh.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; "$@"; }

step cargo test --workspace
step cargo build --workspace
step python/test.sh
step cargo test --workspace --features id64
step cargo test --manifest-path tests/interleave/Cargo.toml
step python3 -m unittest discover --start-directory examples/debian
