#!/bin/sh
# Builds Esker, imports the dependency graph of Debian's packages, and ranks the packages.
set -eu
cd "$(dirname "$0")/../.."
cargo build --release --quiet --package esker-cli
esker=target/release/esker
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
