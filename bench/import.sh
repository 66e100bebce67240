#!/usr/bin/env bash
# Imports a scale-22 Kronecker edge list: with ample memory, and with a memory limit inside a cgroup.
#
# Usage: bench/import.sh EDGES DATABASE-DIRECTORY
# EDGES is a text edge list. Prints edges per second, and the peak memory according to the operating system. Checks that
# both databases have the same columns, and that the peak is at most the limit plus 64 MiB.
set -euo pipefail
edges=$1 out=$2
limit_mib=${LIMIT_MIB:-256} group_mib=${GROUP_MIB:-400}
cd "$(dirname "$0")/.."
cargo build --release --quiet -p esker-import --example import
importer=target/release/examples/import
mkdir -p "$out"
cat "$edges" >/dev/null # into the page cache

echo "== ample memory"
"$importer" "$edges" "$out/ample.esker" --undirected | tail -2

echo "== --memory ${limit_mib} MiB"
group=/sys/fs/cgroup/memory/esker-import-$$
run=("$importer" "$edges" "$out/limited.esker" --undirected --memory "$limit_mib")
if mkdir "$group" 2>/dev/null; then
    trap 'rmdir "$group"' EXIT
    echo $((group_mib << 20)) >"$group/memory.limit_in_bytes"
    report=$( (echo "$BASHPID" >"$group/cgroup.procs"; exec "${run[@]}") )
else
    echo "(no memory cgroup here: only the importer enforces the limit)"
    report=$("${run[@]}")
fi
tail -2 <<<"$report"
peak_mib=$(sed -n 's/^peak \([0-9]*\) MiB$/\1/p' <<<"$report")
if [ "$peak_mib" -gt $((limit_mib + 64)) ]; then
    echo "peak of $peak_mib MiB is more than $limit_mib + 64" >&2
    exit 1
fi

# All but the first page, which bears the id of the database.
for file in layers/1/out.offsets layers/1/out.targets; do
    cmp <(tail -c +4097 "$out/ample.esker/$file") <(tail -c +4097 "$out/limited.esker/$file")
done
echo "same columns"
