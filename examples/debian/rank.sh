#!/bin/sh
# Builds Esker, imports the dependency graph of Debian's packages, and ranks the packages. Installs what the build needs
# (scripts/prepare.sh). ESKER names a program to use instead of a build.
set -eu
cd "$(dirname "$0")/../.."
if [ -z "${ESKER:-}" ]; then
    . scripts/prepare.sh
    prepare build
    cargo build --release --package esker-cli
fi
esker=${ESKER:-target/release/esker}
mkdir -p target
database=target/debian.esker
rm -rf "$database"

echo '$ esker import examples/debian/dependencies.tsv.gz debian.esker --kind kind'
"$esker" import examples/debian/dependencies.tsv.gz "$database" --kind kind
echo
echo '$ esker run pagerank debian.esker --top 10'
"$esker" run pagerank "$database" --top 10
echo
echo '$ esker run bfs debian.esker --source firefox-esr --top 5'
"$esker" run bfs "$database" --source firefox-esr --top 5
