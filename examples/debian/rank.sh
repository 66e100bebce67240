#!/bin/sh
# Builds Esker, imports the dependency graph of Debian's packages, and ranks the packages. ESKER names a program to use instead.
set -eu
cd "$(dirname "$0")/../.."
[ -n "${ESKER:-}" ] || cargo build --release --package esker-cli
esker=${ESKER:-target/release/esker}
mkdir -p target
database=target/debian.esker
rm -rf "$database"

echo '$ esker import examples/debian/dependencies.tsv.gz debian.esker --property kind'
"$esker" import examples/debian/dependencies.tsv.gz "$database" --property kind
echo
echo '$ esker run pagerank debian.esker --top 10'
"$esker" run pagerank "$database" --top 10
echo
echo '$ esker run bfs debian.esker --source firefox-esr --top 5'
"$esker" run bfs "$database" --source firefox-esr --top 5
