//! The cluster against one database: random edges, one to four processes (threads here), integer and text
//! ids, both kinds of edges.
#![allow(clippy::disallowed_methods)] // The tests write files of their own.

mod changes;
mod delegates;
mod following;
mod graph500;
mod more_answers;
mod simulation;
mod splitting;

use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Barrier};

use esker_algo::algorithm::centrality::pagerank::{PageRankOptions, pagerank};
use esker_algo::algorithm::cohesion::kcore::kcore;
use esker_algo::algorithm::components::wcc::{WccOptions, wcc};
use esker_algo::algorithm::paths::bfs::{BfsOptions, bfs};
use esker_format::Result;
use esker_format::io::{Disk, RealDisk};
use esker_graph::random::Random;
use esker_graph::{Direction, Graph, NONE, Run, vertex};
use esker_import::install::import;
use esker_import::open::open_reader;
use esker_import::options::ImportOptions;
use esker_import::read::format::{PickIds, ReadOptions};
use esker_store::manifest::StagingOptions;
use esker_store::{Store, Version};

use crate::algorithm::AnswerSink;
use crate::catalogue::run;
use crate::change::apply::{Prepared, Publisher, change};
use crate::disk::cluster::Cluster;
use crate::disk::creating::CreateOptions;
use crate::disk::job::{ChangeJob, RunJob};
use crate::model::answer::{Cell, Outline, OwnedId, VertexRow, take_rows};
use crate::model::weights::WeightKind;
use crate::net::engine::run_threads;
use crate::process::all_shards::{check, counts, export};

/// Publishes when all threads have prepared.
struct Together {
    cluster: Mutex<Cluster>,
    parts: Mutex<Vec<Prepared>>,
    meeting: Barrier,
}

struct Member {
    shard: usize,
    together: Arc<Together>,
}

impl Publisher for Member {
    fn publish(&mut self, prepared: Prepared) -> Result<()> {
        self.together.parts.lock()[self.shard] = prepared;
        if self.together.meeting.wait().is_leader() {
            let parts = self.together.parts.lock();
            let shards = parts.iter().map(|part| part.shard_version).collect();
            let (edges, delegates) = (parts[0].edges_given, &parts[0].delegates);
            self.together.cluster.lock().publish_with(shards, edges, "add", delegates)?;
        }
        self.together.meeting.wait();
        Ok(())
    }

    fn progress(&mut self, _: u64) {}
}

/// Publishes nothing: for changes that fail.
struct Never;

impl Publisher for Never {
    fn publish(&mut self, _: Prepared) -> Result<()> {
        unreachable!("nothing may be published")
    }

    fn progress(&mut self, _: u64) {}
}

/// Adds the edges of a file, as one version.
fn job_of(input: &Path) -> ChangeJob {
    let inputs = vec![input.display().to_string()];
    ChangeJob { inputs, message: "add".to_owned(), ..ChangeJob::default() }
}

/// Adds a file with a thread for each shard.
fn add_all(cluster: Cluster, input: &Path, batch_edges: u64) -> Cluster {
    change_all(cluster, &ChangeJob { batch_edges, ..job_of(input) })
}

/// Changes a cluster with a thread for each shard.
fn change_all(cluster: Cluster, job: &ChangeJob) -> Cluster {
    let shards = cluster.num_shards();
    let prepared =
        vec![Prepared { shard_version: 0, edges_given: 0, mark: None, delegates: Vec::new() }; shards];
    let (parts, meeting) = (Mutex::new(prepared), Barrier::new(shards));
    let together = Arc::new(Together { cluster: Mutex::new(cluster.clone()), parts, meeting });
    let (shared, job) = (Arc::clone(&together), job.clone());
    run_threads(shards, move |engine| {
        let mut member = Member { shard: engine.index(), together: Arc::clone(&shared) };
        change(&cluster, engine, &job, &mut member)
    })
    .expect("change");
    let cluster = together.cluster.lock();
    cluster.clone()
}

#[derive(Default)]
struct Kept {
    outline: Outline,
    rows: Vec<VertexRow>,
    is_text: bool,
}

impl AnswerSink for Kept {
    fn outline(&mut self, outline: &Outline) -> Result<()> {
        self.outline = outline.clone();
        Ok(())
    }

    fn rows(&mut self, block: Vec<u8>) -> Result<()> {
        let kinds: Vec<_> = self.outline.columns.iter().map(|(_, kind)| *kind).collect();
        self.rows.extend(take_rows(&block, &kinds, self.is_text)?);
        Ok(())
    }
}

/// Runs an algorithm with a thread for each shard: the cells of each vertex.
fn run_all(
    cluster: &Cluster,
    algorithm: &str,
    params: &[(&str, &str)],
    version: u64,
) -> BTreeMap<OwnedId, Vec<Cell>> {
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let job = RunJob { algorithm: algorithm.to_owned(), params, version, top: None, memory_bytes: None };
    let cluster = cluster.clone();
    let is_text = cluster.manifest().text_ids;
    let kept = run_threads(cluster.num_shards(), move |engine| {
        let mut kept = Kept { is_text, ..Kept::default() };
        run(&cluster, engine, &job, &mut kept)?;
        Ok(kept)
    });
    let mut rows = BTreeMap::new();
    for (id, cells) in kept.expect("run").into_iter().flat_map(|kept| kept.rows) {
        assert!(rows.insert(id, cells).is_none(), "a vertex has one owner");
    }
    rows
}

/// The same edges in one database.
fn single(place: &Path, input: &Path, directed: bool, is_text: bool) -> Version {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let ids = if is_text { PickIds::Text } else { PickIds::Int };
    let reader = open_reader(&[input.display().to_string()], &ReadOptions { ids, ..ReadOptions::default() });
    let options = ImportOptions { directed: Some(directed), threads: 1, ..ImportOptions::default() };
    import(&disk, reader.expect("open"), place, &options, StagingOptions::default()).expect("import");
    Store::open(place).and_then(|store| store.latest()).expect("version")
}

/// Random edges as CSV: a few hubs, some loops, some duplicates, and several components.
fn edges(random: &mut Random, vertices: u64, count: u64, is_text: bool) -> String {
    let mut text = "source,target\n".to_owned();
    for _ in 0..count {
        let band = random.below(3) * vertices;
        let hub = if random.below(4) == 0 { 3 } else { vertices };
        let ends = [band + random.below(vertices), band + random.below(hub)];
        let [source, target] = ends.map(|id| match is_text {
            true => format!("v{}", id * 7919 % 100_003),
            false => format!("{}", id * 1_000_003),
        });
        text.push_str(&format!("{source},{target}\n"));
    }
    text
}

fn count(cell: u64) -> Vec<Cell> {
    vec![Cell::Count(cell)]
}

/// The ids of a database, in order of vertex.
fn ids_of(version: &Version) -> Vec<OwnedId> {
    (0..version.num_vertices()).map(|v| version.ids().external_of(vertex(v)).expect("id").into()).collect()
}

fn expect_same_answers(cluster: &Cluster, version: u64, alone: &Version) {
    let run = Run::with_threads(1).expect("run");
    let view = alone.view();
    let graph = view.graph::<()>(&run).expect("graph");
    let ids = ids_of(alone);
    let all = |cells: &dyn Fn(usize) -> Vec<Cell>| -> BTreeMap<OwnedId, Vec<Cell>> {
        (0..ids.len()).map(|v| (ids[v].clone(), cells(v))).collect()
    };
    let degree = |direction, v| graph.degree(direction, vertex(v)) as u64;
    let degrees = all(&|v| match graph.is_directed() {
        false => count(degree(Direction::Out, v)),
        true => {
            let (out, incoming) = (degree(Direction::Out, v), degree(Direction::In, v));
            [out + incoming, out, incoming].map(Cell::Count).to_vec()
        }
    });
    assert_eq!(run_all(cluster, "degrees", &[], version), degrees);
    for (sources, depth_max) in
        [(vec![0], None), (vec![ids.len() / 2], None), (vec![0, ids.len() / 2, 0], Some(2))]
    {
        let options = BfsOptions { depth_max, ..BfsOptions::default() };
        let starts: Vec<_> = sources.iter().map(|&source| vertex(source)).collect();
        let depths = bfs(&graph, &run, &starts, &options).expect("bfs").depths.expect("depths");
        let expected =
            all(&|v| if depths[v] == NONE { vec![Cell::Missing] } else { count(depths[v] as u64) });
        let names: Vec<_> = sources.iter().map(|&source| ids[source].as_id().to_string()).collect();
        let limit = depth_max.map(|depth| depth.to_string());
        let given = names.iter().map(|name| ("source", name.as_str()));
        let given: Vec<_> = given.chain(limit.iter().map(|limit| ("max-depth", limit.as_str()))).collect();
        assert_eq!(run_all(cluster, "bfs", &given, version), expected);
    }
    let labels = wcc(&graph, &run, &WccOptions::default()).expect("wcc").labels;
    let mut least = vec![None; ids.len()];
    for (v, &label) in labels.iter().enumerate() {
        let known: &mut Option<OwnedId> = &mut least[label as usize];
        *known = Some(known.take().map_or(ids[v].clone(), |known| known.min(ids[v].clone())));
    }
    let name_of = |v: usize| least[labels[v] as usize].clone().expect("a component has a vertex");
    assert_eq!(run_all(cluster, "wcc", &[], version), all(&|v| vec![Cell::Id(name_of(v))]));
    let scores = pagerank(&graph, &run, &PageRankOptions::default()).expect("pagerank").scores;
    if !graph.is_directed() {
        let cores = kcore(&graph, &run).expect("kcore").coreness;
        assert_eq!(run_all(cluster, "kcore", &[], version), all(&|v| count(cores[v] as u64)));
        expect_greedy_colours(&run_all(cluster, "colouring", &[], version), alone, &ids);
    }
    let mut found = run_all(cluster, "pagerank", &[], version);
    let apart: f64 = ids
        .iter()
        .zip(&scores)
        .map(|(id, score)| match found.remove(id).as_deref() {
            Some([Cell::Float(found)]) => (found - score).abs(),
            other => panic!("{id:?} has {other:?}"),
        })
        .sum();
    assert!(apart < 2e-6 && found.is_empty(), "{apart}");
}

/// The ends of each edge have different colours, and each vertex has the least that its neighbours before it
/// leave: at most one more than they are.
fn expect_greedy_colours(colours: &BTreeMap<OwnedId, Vec<Cell>>, alone: &Version, ids: &[OwnedId]) {
    let colour = |v: usize| match colours[&ids[v]][..] {
        [Cell::Count(colour)] => colour,
        ref other => panic!("{other:?}"),
    };
    for (v, id) in ids.iter().enumerate() {
        let neighbours = alone.neighbors(Direction::Out, vertex(v)).expect("list");
        let others = neighbours.iter().filter(|&&u| u as usize != v).map(|&u| colour(u as usize));
        let others: BTreeSet<u64> = others.collect();
        assert!(!others.contains(&colour(v)), "{id:?} has the colour of a neighbour");
        assert!((0..colour(v)).all(|less| others.contains(&less)), "{id:?} could have a lesser colour");
    }
    assert_eq!(colours.len(), ids.len());
}

/// The edges of an export, undirected ones with the lesser end first.
fn edge_set(text: &str, directed: bool) -> BTreeSet<(String, String)> {
    let pairs = text.lines().skip(1).filter_map(|line| line.split_once(','));
    pairs.map(|(a, b)| if directed || a <= b { (a.into(), b.into()) } else { (b.into(), a.into()) }).collect()
}

#[test]
fn a_cluster_answers_as_one_database() {
    let mut random = Random::new(11);
    for case in 0..12_u64 {
        let (directed, is_text) = (case % 2 == 0, case / 2 % 2 == 1);
        let shards = [1, 2, 8, 4][case as usize / 4 + usize::from(case % 4 == 3)];
        let place = tempfile::tempdir().expect("directory");
        let (vertices, count) = (2 + random.below(60), 1 + random.below(400));
        let text = edges(&mut random, vertices, count, is_text);
        let input = place.path().join("edges.csv");
        std::fs::write(&input, &text).expect("write");
        let options =
            CreateOptions { shards, directed, text_ids: is_text, weights: None, seed: case, hub_degree: 0 };
        let cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
        let cluster = add_all(cluster, &input, 0);
        let version = cluster.manifest().newest().clone();
        assert_eq!((version.number, version.edges_given), (2, count), "case {case}");
        let alone = single(&place.path().join("alone"), &input, directed, is_text);
        expect_same_answers(&cluster, 2, &alone);
        let (_, whole) = counts(&cluster, 2).expect("counts");
        assert_eq!(
            (whole.vertices, whole.edges),
            (alone.num_vertices() as u64, alone.num_edges()),
            "case {case}"
        );
        let run = Run::with_threads(1).expect("run");
        assert_eq!(check(&cluster, &run).expect("check").problems, Vec::<String>::new());
        let mut exported = Vec::new();
        let written = export(&cluster, 2, &input, &mut exported, &run).expect("export");
        assert_eq!(written, alone.num_edges());
        let exported = String::from_utf8(exported).expect("text");
        assert_eq!(edge_set(&exported, directed), edge_set(&text, directed), "case {case}");
    }
}

#[test]
fn versions_of_the_whole_stay_readable_and_later_edges_join_them() {
    let place = tempfile::tempdir().expect("directory");
    let path = |name: &str| place.path().join(name);
    let mut random = Random::new(5);
    // Blocks of a mebibyte: several rounds of three processes, and several versions.
    let texts: Vec<String> = (0..2).map(|_| edges(&mut random, 20_000, 150_000, false)).collect();
    std::fs::write(path("1.csv"), &texts[0]).expect("write");
    std::fs::write(path("2.csv"), &texts[1]).expect("write");
    std::fs::write(path("both.csv"), texts[0].clone() + &texts[1]["source,target\n".len()..]).expect("write");
    let options =
        CreateOptions { shards: 3, directed: true, text_ids: false, weights: None, seed: 1, hub_degree: 0 };
    let cluster = add_all(Cluster::create(&path("c"), &options).expect("create"), &path("1.csv"), 0);
    let cluster = add_all(cluster, &path("2.csv"), 100_000);
    let given: Vec<u64> = cluster.manifest().versions.iter().map(|version| version.edges_given).collect();
    assert!(
        given.len() >= 4 && given[..2] == [0, 150_000] && given[2..].iter().sum::<u64>() == 150_000,
        "{given:?}"
    );
    expect_same_answers(&cluster, 2, &single(&path("first"), &path("1.csv"), true, false));
    let newest = cluster.manifest().newest().number;
    expect_same_answers(&cluster, newest, &single(&path("second"), &path("both.csv"), true, false));
}

#[test]
fn scores_are_bit_equal_for_any_number_of_processes() {
    let place = tempfile::tempdir().expect("directory");
    let input = place.path().join("edges.csv");
    std::fs::write(&input, edges(&mut Random::new(3), 300, 3000, false)).expect("write");
    let scores = |shards| {
        let options =
            CreateOptions { shards, directed: true, text_ids: false, weights: None, seed: 9, hub_degree: 0 };
        let cluster = Cluster::create(&place.path().join(format!("c{shards}")), &options).expect("create");
        run_all(&add_all(cluster, &input, 0), "pagerank", &[("tolerance", "1e-9")], 2)
    };
    let alone = scores(1);
    for shards in [2, 5, 8] {
        assert_eq!(scores(shards), alone, "{shards} processes");
    }
}

#[test]
fn a_bad_line_and_an_unknown_source_are_named() {
    let place = tempfile::tempdir().expect("directory");
    let input = place.path().join("edges.csv");
    std::fs::write(&input, "source,target\n1,2\nx,3\n").expect("write");
    let options =
        CreateOptions { shards: 1, directed: true, text_ids: false, weights: None, seed: 9, hub_degree: 0 };
    let cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
    let (job, copy) = (job_of(&input), cluster.clone());
    let failed = run_threads(1, move |engine| change(&copy, engine, &job, &mut Never));
    let message = failed.expect_err("a bad line").to_string();
    assert!(message.contains("edges.csv:3") && message.contains("not an integer"), "{message}");
    let params = vec![("source".to_owned(), "77".to_owned())];
    let job = RunJob { algorithm: "bfs".to_owned(), params, version: 1, top: None, memory_bytes: None };
    let failed = run_threads(1, move |engine| run(&cluster, engine, &job, &mut Kept::default()));
    assert!(failed.expect_err("no vertex").to_string().contains("has the id \"77\""));
}
