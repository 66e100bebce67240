//! Removed vertices are in no answer and no export: every algorithm, on a database from which vertices were removed, answers what
//! it answers on a database that never had them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::answer::{Answer, Fact, Value};
use esker::catalogue::{CATALOGUE, Job, Params, find};
use esker::graph::{Direction, Run};
use esker::output::write;
use esker::store::export::{ExportOptions, StoredExport, WriteIds, export};
use esker::store::import::edges::read_files;
use esker::store::import::install::import;
use esker::store::import::options::{ImportOptions, VertexOrder};
use esker::store::io::{Disk, RealDisk};
use esker::store::version::StagingOptions;
use esker::store::{Database, DatabaseOptions, Snapshot};
use esker::top::top;

/// Ids of vertices: sparse integers.
fn id(v: u64) -> u64 {
    10 * v + 7
}

/// Every third vertex from the second on, the first and the last.
fn is_removed(v: u64) -> bool {
    v % 3 == 1 || v == 0 || v == VERTICES - 1
}

const VERTICES: u64 = 90;

/// Edges with weights, and vertices that are isolated once their neighbours are removed: 2 and 5.
fn edges() -> Vec<(u64, u64, u64)> {
    let mut edges: Vec<_> = vec![(0, 2, 4), (1, 5, 3), (2, 1, 2)];
    for i in 0..700u64 {
        let (u, v) = (i * i % 83 + 7, i * 31 % 79 + 7);
        if u != v {
            edges.push((u.min(VERTICES - 1), v, i % 9 + 1));
        }
    }
    edges.push((VERTICES - 2, VERTICES - 1, 5));
    let mut seen = BTreeSet::new();
    edges.retain(|&(u, v, _)| seen.insert((u.min(v), u.max(v))));
    edges
}
