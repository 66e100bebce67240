#!/usr/bin/env bash
# Builds and runs the tests: Rust with vertex ids of 32 bits and, where the width matters, of 64; the Python package; the example's scripts.
# Property tests run few cases (ESKER_CASES sets the number), and kills are few: `cargo xtask prove` runs the slow proofs.
# tests/compare/run.sh compares with other libraries; it needs their Python packages, so it is separate. Installs what the machine lacks
# (scripts/prepare.sh).
set -euo pipefail
cd "$(dirname "$0")"

. scripts/prepare.sh
prepare build python

# A few cases for each property: the suite is to take no longer than people wait.
export ESKER_CASES="${ESKER_CASES:-16}"

step() { printf '\n== [%d min %02d s] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"; "$@"; }

# Compiles everything in one go, the Python extension and the command with clusters included, so that no core waits and nothing is compiled
# twice.
step cargo build --workspace --all-targets --features esker-cli/cluster
step cargo test --workspace --features esker-cli/cluster
# Imports and replacements killed at random moments; the tests above killed commits. `cargo xtask prove kills` does so by the thousand.
step python3 tests/kill/kill_import.py --esker target/debug/esker --edges 30000 --times 20
# Python uses one core, so the other compiles the tests of the other width of ids meanwhile.
#
# The width of ids changes the layout of lists, tiles, files and imported ids, and the arithmetic of algorithms. It does not change the
# catalogue, the command and the Python package, which use the same code through the same types, nor the log, the commits and the locks.
# Clippy (.ci/run) type-checks all of them at both widths. Some long tests are left out: of damage at each byte of a file, of installations
# that fail, of several threads on one graph; `cargo xtask prove properties` runs them too. Naming esker-python,
# which has no Rust tests, selects the features of dependencies that were compiled above.
of_id64=(-p esker-graph -p esker-algo -p esker-format -p esker-layers -p esker-store -p esker-import -p esker-python --features id64)
id64_log=$(mktemp)
trap 'rm -f "$id64_log"' EXIT
nice -n 15 cargo test --no-run "${of_id64[@]}" >"$id64_log" 2>&1 </dev/null &
id64_pid=$!
step python/test.sh
wait "$id64_pid" || { cat "$id64_log"; exit 1; }
# Of each property fewer cases: all were tried above at the other width.
step env ESKER_CASES=6 cargo test "${of_id64[@]}" -- \
    --skip commits:: --skip processes:: --skip database:: --skip log:: --skip io:: --skip flipped_byte --skip byte_flipped \
    --skip every_truncation --skip installed_wholly --skip on_several_threads --skip number_of_threads

step cargo test --manifest-path tests/interleave/Cargo.toml
step python3 -m unittest discover --start-directory examples/debian
step python3 -m unittest discover --start-directory tests/prepare
