#!/usr/bin/env bash
# Tests the Python package with the library that `cargo build --workspace --all-targets` leaves in target/debug, without building a
# wheel. Installs the packages that it needs in a virtual environment in target/, once.
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/environment.sh
target=${CARGO_TARGET_DIR:-target}
environment=$target/python
environment "$environment" python/tests/requirements.txt
ln -sf "$(realpath "$target")/debug/lib_esker.so" python/esker/_esker.abi3.so

"$environment/bin/python" python/tests/register.py

export MPLBACKEND=agg
"$environment/bin/python" -m pytest "$@"

# NetworkX's own tests of the algorithms that the backend covers best. All of its tests take a quarter of an hour: pytest --pyargs networkx.
export NETWORKX_TEST_BACKEND=esker NETWORKX_FALLBACK_TO_NX=True
if [ $# = 0 ]; then
    "$environment/bin/python" -m pytest -p no:cacheprovider --pyargs networkx.algorithms.{components,connectivity,shortest_paths,centrality,coloring,assortativity} \
        networkx.algorithms.tests.test_{core,cluster,euler,smetric,regular,reciprocity,dag,hierarchy,mis,cuts,link_prediction,richclub}
fi
