//! Distances, triangles, communities and the greatest values against one database.

use esker_algo::algorithm::cohesion::triangles::{TrianglesOptions, triangles};
use esker_algo::algorithm::components::cdlp::{CdlpOptions, cdlp};
use esker_algo::algorithm::paths::sssp::{SsspOptions, sssp};

use super::*;

fn distances(alone: &Version, run: &Run, source: usize) -> Vec<Vec<Cell>> {
    let options = SsspOptions::default();
    let counts = |found: Vec<i64>| -> Vec<Vec<Cell>> {
        let cell = |d| if d == i64::MAX { Cell::Missing } else { Cell::Count(d as u64) };
        found.into_iter().map(|d| vec![cell(d)]).collect()
    };
    let floats = |found: Vec<f64>| -> Vec<Vec<Cell>> {
        let cell = |d: f64| if d == f64::INFINITY { Cell::Missing } else { Cell::Float(d) };
        found.into_iter().map(|d| vec![cell(d)]).collect()
    };
    macro_rules! of {
        ($weight:ty, $cells:expr) => {{
            let view = alone.view();
            let graph = view.graph::<$weight>(run).expect("graph");
            $cells(sssp(&graph, run, vertex(source), &options).expect("sssp").distances)
        }};
    }
    use esker_format::ElementType::{F32, F64, I32, I64};
    match alone.view().weight_type() {
        None => of!((), counts),
        Some(I32) => of!(i32, counts),
        Some(I64) => of!(i64, counts),
        Some(F32) => of!(f32, floats),
        Some(F64) => of!(f64, floats),
        Some(other) => panic!("weights of the type {other:?}"),
    }
}

/// The labels that label propagation begins with: integer ids, or ranks of texts.
fn first_labels(ids: &[OwnedId]) -> (Vec<u64>, Vec<OwnedId>) {
    let mut sorted = ids.to_vec();
    sorted.sort();
    let label = |id: &OwnedId| match id {
        OwnedId::Int(id) => *id,
        OwnedId::Text(_) => sorted.binary_search(id).expect("known") as u64,
    };
    (ids.iter().map(label).collect(), sorted)
}

fn expect_same_communities(cluster: &Cluster, version: u64, alone: &Version, run: &Run) {
    let view = alone.view();
    let (graph, ids) = (view.graph::<()>(run).expect("graph"), ids_of(alone));
    let (labels, sorted) = first_labels(&ids);
    for iterations in [1, 2, 10] {
        let found = cdlp(&graph, run, Some(&labels), &CdlpOptions { iterations }).expect("cdlp").labels;
        let name = |v: usize| match ids[v] {
            OwnedId::Int(_) => OwnedId::Int(found[v]),
            OwnedId::Text(_) => sorted[found[v] as usize].clone(),
        };
        let expected: BTreeMap<_, _> =
            (0..ids.len()).map(|v| (ids[v].clone(), vec![Cell::Id(name(v))])).collect();
        let iterations = iterations.to_string();
        assert_eq!(run_all(cluster, "cdlp", &[("iterations", &iterations)], version), expected);
    }
}

/// Every triangle by brute force: for each vertex the number of those that it is in.
fn triangles_of(alone: &Version) -> Vec<u64> {
    let n = alone.num_vertices();
    let mut neighbours = vec![BTreeSet::new(); n];
    for v in 0..n {
        for &u in alone.neighbors(Direction::Out, vertex(v)).expect("list").iter() {
            neighbours[v].insert(u as usize);
            neighbours[u as usize].insert(v);
        }
    }
    let mut counts = vec![0; n];
    for u in 0..n {
        for &v in neighbours[u].range(u + 1..) {
            for &w in neighbours[u].intersection(&neighbours[v]).filter(|&&w| w > v) {
                [u, v, w].iter().for_each(|&corner| counts[corner] += 1);
            }
        }
    }
    counts
}

#[test]
fn distances_triangles_and_communities_are_those_of_one_database() {
    let mut random = Random::new(41);
    for case in 0..10_u64 {
        let (directed, is_text) = (case % 2 == 0, case / 2 % 2 == 1);
        let weights = [None, Some(WeightKind::Int), Some(WeightKind::Float)][case as usize % 3];
        let shards = [1, 2, 3, 4, 8][case as usize % 5];
        let place = tempfile::tempdir().expect("directory");
        let (vertices, count) = (3 + random.below(50), 1 + random.below(500));
        let mut text = edges(&mut random, vertices, count, is_text);
        if weights.is_some() {
            let line = |line: &str| match weights {
                _ if line.starts_with("source") => format!("{line},weight\n"),
                Some(WeightKind::Float) => format!("{line},{}\n", random.below(1000) as f64 / 7.0),
                _ => format!("{line},{}\n", random.below(30)),
            };
            text = text.lines().map(line).collect();
        }
        let input = place.path().join("edges.csv");
        std::fs::write(&input, &text).expect("write");
        let options =
            CreateOptions { shards, directed, text_ids: is_text, weights, seed: case, hub_degree: 0 };
        let cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
        let cluster = add_all(cluster, &input, 0);
        let alone = single(&place.path().join("alone"), &input, directed, is_text);
        let (run, ids) = (Run::with_threads(1).expect("run"), ids_of(&alone));
        for (source, delta) in [(0, None), (ids.len() / 3, Some("auto")), (ids.len() / 2, Some("3"))] {
            let expected: BTreeMap<_, _> = ids.iter().cloned().zip(distances(&alone, &run, source)).collect();
            let name = ids[source].as_id().to_string();
            let mut params = vec![("source", name.as_str())];
            params.extend(delta.map(|delta| ("delta", delta)));
            assert_eq!(run_all(&cluster, "sssp", &params, 2), expected, "case {case}");
        }
        expect_same_communities(&cluster, 2, &alone, &run);
        let counts = triangles_of(&alone);
        let view = alone.view();
        let graph = view.graph::<()>(&run).expect("graph");
        let all = triangles(&graph, &run, &TrianglesOptions::default()).expect("triangles").triangles;
        assert_eq!(counts.iter().sum::<u64>(), 3 * all, "the test counts as the library does");
        let expected: BTreeMap<_, _> =
            ids.iter().cloned().zip(counts.into_iter().map(super::count)).collect();
        assert_eq!(run_all(&cluster, "triangles", &[], 2), expected, "case {case}");
    }
}

#[test]
fn each_process_gives_its_greatest_values_only() {
    let place = tempfile::tempdir().expect("directory");
    let input = place.path().join("edges.csv");
    std::fs::write(&input, edges(&mut Random::new(8), 200, 900, false)).expect("write");
    let options =
        CreateOptions { shards: 3, directed: true, text_ids: false, weights: None, seed: 3, hub_degree: 0 };
    let cluster = add_all(Cluster::create(&place.path().join("c"), &options).expect("create"), &input, 0);
    let mut all: Vec<VertexRow> = run_all(&cluster, "degrees", &[], 2).into_iter().collect();
    let order = |a: &VertexRow, b: &VertexRow| b.1[0].cmp_as_value(&a.1[0]).then_with(|| a.0.cmp(&b.0));
    all.sort_by(order);
    let job = RunJob {
        algorithm: "degrees".into(),
        params: Vec::new(),
        version: 2,
        top: Some(7),
        memory_bytes: None,
    };
    let kept = run_threads(3, move |engine| {
        let mut kept = Kept::default();
        run(&cluster, engine, &job, &mut kept)?;
        Ok(kept.rows)
    });
    let kept = kept.expect("run");
    assert!(kept.iter().all(|rows| rows.len() == 7), "seven of each");
    let mut rows = kept.concat();
    rows.sort_by(order);
    assert_eq!(rows[..7], all[..7]);
}

/// Where values are ids, each process gives the number of its vertices that have each.
#[test]
fn each_process_counts_the_members_of_groups() {
    let place = tempfile::tempdir().expect("directory");
    let input = place.path().join("edges.csv");
    std::fs::write(&input, edges(&mut Random::new(9), 4000, 2500, false)).expect("write");
    let options =
        CreateOptions { shards: 3, directed: true, text_ids: false, weights: None, seed: 3, hub_degree: 0 };
    let cluster = add_all(Cluster::create(&place.path().join("c"), &options).expect("create"), &input, 0);
    for algorithm in ["wcc", "cdlp"] {
        let mut expected: BTreeMap<OwnedId, u64> = BTreeMap::new();
        for cells in run_all(&cluster, algorithm, &[], 2).into_values() {
            let [Cell::Id(group)] = &cells[..] else { panic!("{cells:?}") };
            *expected.entry(group.clone()).or_default() += 1;
        }
        assert!(expected.len() > 1100, "{algorithm} finds {} groups", expected.len());
        let params = Vec::new();
        let job =
            RunJob { algorithm: algorithm.into(), params, version: 2, top: Some(7), memory_bytes: None };
        let shards = cluster.clone();
        let kept = run_threads(3, move |engine| {
            let mut kept = Kept::default();
            run(&shards, engine, &job, &mut kept)?;
            Ok(kept.rows)
        });
        let mut found: BTreeMap<OwnedId, u64> = BTreeMap::new();
        for (id, cells) in kept.expect("run").concat() {
            let [Cell::Id(group), Cell::Count(members)] = &cells[..] else { panic!("{cells:?}") };
            assert_eq!(*group, id);
            *found.entry(id).or_default() += members;
        }
        assert_eq!(found, expected, "{algorithm}");
    }
}

#[test]
fn a_negative_length_is_refused() {
    let place = tempfile::tempdir().expect("directory");
    let input = place.path().join("edges.csv");
    std::fs::write(&input, "source,target,weight\n1,2,-1\n").expect("write");
    let weights = Some(WeightKind::Int);
    let options =
        CreateOptions { shards: 1, directed: true, text_ids: false, weights, seed: 9, hub_degree: 0 };
    let cluster = add_all(Cluster::create(&place.path().join("c"), &options).expect("create"), &input, 0);
    let params = vec![("source".to_owned(), "1".to_owned())];
    let job = RunJob { algorithm: "sssp".to_owned(), params, version: 2, top: None, memory_bytes: None };
    let failed = run_threads(1, move |engine| run(&cluster, engine, &job, &mut Kept::default()));
    let message = failed.expect_err("negative").to_string();
    assert!(message.contains("has a length that is negative"), "{message}");
}
