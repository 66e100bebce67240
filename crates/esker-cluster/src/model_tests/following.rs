//! Answers that follow random additions and removals, against runs on each version.

use esker_format::Error;
use esker_graph::Stop;

use super::*;
use crate::catalogue::follow;
use crate::disk::job::FollowJob;
use crate::follow::FollowSink;
use crate::model::answer::take_changes;
use crate::model::manifest::ClusterManifest;

type ValuesById = BTreeMap<OwnedId, Vec<Cell>>;

/// Follows all versions of a cluster, and keeps what each changed.
struct Followed {
    cluster: Cluster,
    next: u64,
    outline: Outline,
    rows: Vec<VertexRow>,
    versions: Vec<(u64, f64, Vec<VertexRow>)>,
}

impl AnswerSink for Followed {
    fn outline(&mut self, outline: &Outline) -> Result<()> {
        self.outline = outline.clone();
        Ok(())
    }

    fn rows(&mut self, block: Vec<u8>) -> Result<()> {
        let kind = self.outline.columns[0].1;
        self.rows.extend(take_changes(&block, kind, self.cluster.manifest().text_ids)?);
        Ok(())
    }
}

impl FollowSink for Followed {
    fn next(&mut self, manifest: &mut ClusterManifest) -> Result<Option<u64>> {
        *manifest = self.cluster.manifest().clone();
        let versions = &self.cluster.manifest().versions;
        let next = versions.iter().find(|version| version.number == self.next);
        self.next += 1;
        Ok(next.map(|next| next.number))
    }

    fn followed(&mut self, version: u64) -> Result<()> {
        self.versions.push((version, self.outline.facts[0].1, std::mem::take(&mut self.rows)));
        Ok(())
    }
}

/// What each version changes, from the newest one of `from` up to the newest one of `until`: the fact, and
/// the rows of all shards.
fn follow_all(
    from: &Cluster,
    until: &Cluster,
    algorithm: &str,
    params: &[(&str, &str)],
) -> Vec<(u64, f64, Vec<VertexRow>)> {
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let version = from.manifest().newest().number;
    let job =
        FollowJob { algorithm: algorithm.to_owned(), params, version, initial: true, memory_bytes: None };
    let (from, until) = (from.clone(), until.clone());
    let of_shards = run_threads(from.num_shards(), move |engine| {
        let (outline, rows, versions) = (Outline::default(), Vec::new(), Vec::new());
        let mut followed = Followed { cluster: until.clone(), next: version + 1, outline, rows, versions };
        follow(&from, engine, &job, &mut followed)?;
        Ok(followed.versions)
    });
    let mut of_shards = of_shards.expect("follow").into_iter();
    let mut all = of_shards.next().expect("a shard");
    for versions in of_shards {
        assert_eq!(versions.len(), all.len());
        for (whole, (number, fact, rows)) in all.iter_mut().zip(versions) {
            assert_eq!((whole.0, whole.1), (number, fact), "all shards say the same");
            whole.2.extend(rows);
        }
    }
    all
}

/// Follows an algorithm, and compares the values after each version with those of a run on it. Returns the
/// number of changes.
fn expect_exact(
    from: &Cluster,
    cluster: &Cluster,
    algorithm: &str,
    params: &[(&str, &str)],
    fact: fn(&ValuesById) -> u64,
) -> usize {
    let (mut values, mut changes) = (ValuesById::new(), 0);
    let followed = follow_all(from, cluster, algorithm, params);
    let first = from.manifest().newest().number;
    assert_eq!(followed.len() as u64, cluster.manifest().newest().number - first + 1);
    for (version, found, rows) in followed {
        changes += rows.len();
        for (id, cells) in rows {
            let [old, new] = <[Cell; 2]>::try_from(cells).expect("old and new");
            let known = values.insert(id.clone(), vec![new.clone()]).map(|cells| cells[0].clone());
            assert_eq!(known.clone().unwrap_or(Cell::Missing), old, "{id:?} in version {version}");
            assert!(old != new, "{id:?} did not change in version {version}");
        }
        // A run on the first version, which is empty, is refused for want of its source.
        let expected =
            if version == 1 { ValuesById::new() } else { run_all(cluster, algorithm, params, version) };
        assert_eq!(with_values(&values), with_values(&expected), "{algorithm} of version {version}");
        assert_eq!(found as u64, fact(&values), "{algorithm} of version {version}");
    }
    changes
}

/// The vertices that have a value.
fn with_values(values: &ValuesById) -> Vec<(&OwnedId, &Vec<Cell>)> {
    values.iter().filter(|(_, cells)| cells[0] != Cell::Missing).collect()
}

/// The number of different values.
fn different(values: &ValuesById) -> u64 {
    values.values().map(|cells| format!("{cells:?}")).collect::<BTreeSet<_>>().len() as u64
}

fn reached(values: &ValuesById) -> u64 {
    values.values().filter(|cells| cells[0] != Cell::Missing).count() as u64
}

#[test]
fn answers_that_follow_are_those_of_runs_after_every_version() {
    let (mut random, mut changes, mut delegates) = (Random::new(71), 0, 0);
    for case in 0..8_u64 {
        let (directed, text_ids) = (case % 2 == 0, case / 2 % 2 == 1);
        let shards = [2, 1, 4, 3, 5, 8, 6, 3][case as usize];
        let hub_degree = [0, 2, 3][case as usize % 3];
        let place = tempfile::tempdir().expect("directory");
        let path = place.path().join("edges.csv");
        let options = CreateOptions { shards, directed, text_ids, weights: None, seed: case, hub_degree };
        let empty = Cluster::create(&place.path().join("c"), &options).expect("create");
        let (mut cluster, mut first) = (empty.clone(), None);
        let (vertices, mut known) = (4 + random.below(30), Vec::new());
        for step in 0..9 {
            let removes = step % 3 == 2;
            let mut text = edges(&mut random, vertices + step, if step == 0 { 40 } else { 12 }, text_ids);
            if removes {
                // A third of the edges that there are.
                let kept: Vec<String> = known.iter().filter(|_| random.below(3) == 0).cloned().collect();
                text = format!("source,target\n{}\n", kept.join("\n"));
            } else {
                known.extend(text.lines().skip(1).map(str::to_owned));
            }
            std::fs::write(&path, text).expect("write");
            cluster = change_all(cluster, &ChangeJob { removes, ..job_of(&path) });
            first.get_or_insert_with(|| cluster.clone());
        }
        let first = first.expect("a version");
        let source = known[0].split(',').next().expect("a source").to_owned();
        changes += expect_exact(&first, &cluster, "wcc", &[], different);
        // The source comes after the search began.
        changes += expect_exact(&empty, &cluster, "bfs", &[("source", &source)], reached);
        delegates += cluster.manifest().delegates.len();
        if !directed {
            changes += expect_exact(&first, &cluster, "colouring", &[], different);
        }
    }
    assert!(delegates > 20, "too few delegates to show anything: {delegates}");
    assert!(changes > 1000, "too few values changed to show anything");
}

/// Follows components from version 2 on with a limit. The limit that a refusal names, if it is refused; all
/// shards refuse alike.
fn refused_limit(cluster: &Cluster, limit: u64, until: &Cluster) -> Option<u64> {
    let (algorithm, memory_bytes) = ("wcc".to_owned(), Some(limit));
    let job = FollowJob { algorithm, params: Vec::new(), version: 2, initial: false, memory_bytes };
    let (cluster, until) = (cluster.clone(), until.clone());
    let ended = run_threads(cluster.num_shards(), move |engine| {
        let (outline, rows, versions) = (Outline::default(), Vec::new(), Vec::new());
        let mut followed = Followed { cluster: until.clone(), next: 3, outline, rows, versions };
        Ok(follow(&cluster, engine, &job, &mut followed).err())
    });
    let ended = ended.expect("all end").into_iter().map(|error| match error {
        Some(Error::Stop(Stop::OverBudget { needed_bytes, budget_bytes, .. })) => {
            assert!(needed_bytes > budget_bytes && budget_bytes == limit);
            Some(needed_bytes)
        }
        Some(other) => panic!("{other}"),
        None => None,
    });
    let ended: Vec<_> = ended.collect();
    assert!(ended.iter().all(|other| *other == ended[0]), "{ended:?}");
    ended[0]
}

/// It was named after so many changed edges as had fitted, and did not suffice for the rest of them.
#[test]
fn a_follower_that_is_refused_is_told_what_suffices_for_all_versions_there_are() {
    let place = tempfile::tempdir().expect("directory");
    let path = place.path().join("edges.csv");
    let options =
        CreateOptions { shards: 2, directed: true, text_ids: false, weights: None, seed: 4, hub_degree: 0 };
    let mut cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
    let mut random = Random::new(5);
    let mut versions = Vec::new();
    for len in [2000, 60_000, 90_000] {
        std::fs::write(&path, edges(&mut random, 3000, len, false)).expect("write");
        cluster = change_all(cluster, &job_of(&path));
        versions.push(cluster.clone());
    }
    let first = refused_limit(&versions[0], 1 << 20, &versions[0]).expect("too little");
    assert_eq!(refused_limit(&versions[0], first, &versions[0]), None);
    // The later versions were published while it followed.
    let second = refused_limit(&versions[0], first, &versions[2]).expect("more edges");
    assert!(second > first + 90_000 * 32, "{first}, {second}");
    assert_eq!(refused_limit(&versions[0], second, &versions[2]), None);
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let place = tempfile::tempdir().expect("directory");
    let options =
        CreateOptions { shards: 2, directed: true, text_ids: false, weights: None, seed: 1, hub_degree: 0 };
    let cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
    let path = place.path().join("edges.csv");
    std::fs::write(&path, "source,target\n1,2\n").expect("write");
    let cluster = change_all(cluster, &job_of(&path));
    let refused = |algorithm: &str, params: &[(&str, &str)]| {
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let job = FollowJob {
            algorithm: algorithm.to_owned(),
            params,
            version: 2,
            initial: false,
            memory_bytes: None,
        };
        let copy = cluster.clone();
        let followed = run_threads(2, move |engine| {
            let (outline, rows, versions) = (Outline::default(), Vec::new(), Vec::new());
            let mut followed = Followed { cluster: copy.clone(), next: 3, outline, rows, versions };
            let ended = follow(&copy, engine, &job, &mut followed);
            // The other process must not wait for one that failed.
            Ok(ended.err().map(|error| error.to_string()))
        });
        followed.expect("both end").into_iter().flatten().next().expect("refused")
    };
    assert!(refused("pagerank", &[]).contains("those of bfs, wcc, colouring can"));
    assert!(refused("wcc", &[("source", "1")]).contains("wcc has no option \"source\""));
    assert!(refused("bfs", &[]).contains("bfs needs a vertex to begin with"));
    assert!(refused("bfs", &[("source", "x")]).contains("\"x\" is not an id"));
    assert!(refused("colouring", &[]).contains("colouring needs an undirected cluster"));
}
