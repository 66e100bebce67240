//! The algorithms of a cluster: what the command and the workers know of each is here, by its name.
//!
//! A new algorithm is a file in [`crate::algorithm`] with its entry, and a line here.

use esker_format::{Error, Result};
use esker_graph::{AlgorithmOption, message};

use crate::algorithm::{
    AnswerSink, ClusterAlgorithm, bfs, cdlp, colouring, degrees, kcore, pagerank, sssp, triangles, wcc,
};
use crate::disk::cluster::Cluster;
use crate::disk::job::{FollowJob, RunJob};
use crate::follow::{FollowSink, LIVE_COLOURS, LIVE_COMPONENTS, LIVE_DEPTHS, LiveAlgorithm};
use crate::model::needs::{RunNeeds, ShardShape};
use crate::net::engine::Engine;

/// An algorithm, and how its answer is kept while versions are published, if that is possible.
#[derive(Debug)]
pub struct CatalogueEntry {
    /// The algorithm.
    pub algorithm: ClusterAlgorithm,
    /// How its answer is kept.
    pub live: Option<LiveAlgorithm>,
}

/// The algorithms of a cluster.
pub const CATALOGUE: &[CatalogueEntry] = &[
    CatalogueEntry { algorithm: degrees::ENTRY, live: None },
    CatalogueEntry { algorithm: bfs::ENTRY, live: Some(LIVE_DEPTHS) },
    CatalogueEntry { algorithm: wcc::ENTRY, live: Some(LIVE_COMPONENTS) },
    CatalogueEntry { algorithm: pagerank::ENTRY, live: None },
    CatalogueEntry { algorithm: kcore::ENTRY, live: None },
    CatalogueEntry { algorithm: colouring::ENTRY, live: Some(LIVE_COLOURS) },
    CatalogueEntry { algorithm: sssp::ENTRY, live: None },
    CatalogueEntry { algorithm: triangles::ENTRY, live: None },
    CatalogueEntry { algorithm: cdlp::ENTRY, live: None },
];

impl CatalogueEntry {
    /// The entry of an algorithm.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none; the message lists those that there are.
    pub fn of(name: &str) -> Result<&'static Self> {
        CATALOGUE.iter().find(|entry| entry.algorithm.name == name).ok_or_else(|| {
            let all = names(|_| true);
            Error::usage(format!("no algorithm of a cluster is called {name:?}: there are {all}"))
        })
    }

    /// Checks that the algorithm has these options.
    ///
    /// # Errors
    /// [`Error::Usage`]; the message lists those that it has.
    pub(crate) fn expect_options(&self, params: &[(String, String)]) -> Result<()> {
        let ClusterAlgorithm { name, options, .. } = self.algorithm;
        for (given, _) in params {
            let Some(option) = options.iter().find(|option| option.name == given) else {
                let known: Vec<_> = options.iter().map(|option| option.name).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(Error::usage(format!("{name} has no option {given:?}: it has {known}")));
            };
            if !option.is_list && params.iter().filter(|(other, _)| other == given).count() > 1 {
                let option = AlgorithmOption::named(given);
                return Err(Error::usage(message![format!("{name} takes one value of "), option]));
            }
        }
        Ok(())
    }

    /// What a run needs in a shard, of which the `top` greatest values, or all, are wanted.
    pub(crate) fn needs(&self, shape: &ShardShape, has_top: bool) -> RunNeeds {
        shape.needs((self.algorithm.needs)(shape), has_top)
    }

    /// How the answer is kept while versions are published, if this job can be.
    ///
    /// # Errors
    /// [`Error::Usage`] with what can be; [`esker_graph::Stop::Unsuitable`] if the cluster is of the wrong
    /// kind.
    pub(crate) fn expect_live(job: &FollowJob, directed: bool) -> Result<&'static LiveAlgorithm> {
        let found = CATALOGUE.iter().find(|entry| entry.algorithm.name == job.algorithm);
        let live = found.and_then(|entry| entry.live.as_ref()).ok_or_else(|| {
            Error::usage(format!(
                "the answer of {:?} cannot be kept while versions are published: those of {} can",
                job.algorithm,
                names(|entry| entry.live.is_some())
            ))
        })?;
        live.expect(job, directed)?;
        Ok(live)
    }
}

fn names(is_wanted: fn(&CatalogueEntry) -> bool) -> String {
    let wanted = CATALOGUE.iter().filter(|entry| is_wanted(entry));
    wanted.map(|entry| entry.algorithm.name).collect::<Vec<_>>().join(", ")
}

/// Runs an algorithm on the shard of this process, together with all other processes, and hands over the rows
/// of the vertices that this shard owns.
///
/// # Errors
/// The first error of the shard, of an option or of the sink.
pub fn run(
    cluster: &Cluster,
    engine: &mut Engine<'_>,
    job: &RunJob,
    sink: &mut dyn AnswerSink,
) -> Result<()> {
    let entry = CatalogueEntry::of(&job.algorithm)?;
    entry.expect_options(&job.params)?;
    crate::algorithm::run(&entry.algorithm, cluster, engine, job, sink)
}

/// Keeps an answer on the shard of this process, together with all other processes, until there is no further
/// version.
///
/// # Errors
/// The first error of the shard, of an option or of the sink.
pub fn follow(
    cluster: &Cluster,
    engine: &mut Engine<'_>,
    job: &FollowJob,
    sink: &mut dyn FollowSink,
) -> Result<()> {
    let live = CatalogueEntry::expect_live(job, cluster.manifest().directed)?;
    crate::follow::follow(live, cluster, engine, job, sink)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One long id must not make the estimate count every label as that long.
    #[test]
    fn one_long_id_adds_about_its_length() {
        let (owned, ghosts, mean) = (100_000, 50_000, 12);
        let short = ShardShape {
            owned,
            ghosts,
            mirrors: ghosts,
            id_bytes: mean * (owned + ghosts),
            ghost_id_bytes: mean * ghosts,
            mirror_id_bytes: mean * ghosts,
            id_bytes_max: mean + 8,
            all_id_bytes: 2 * mean * owned,
            shards: 2,
            text_ids: true,
            ..ShardShape::default()
        };
        let id_bytes_max = 60_000;
        let (id_bytes, all_id_bytes) = (short.id_bytes + id_bytes_max, short.all_id_bytes + id_bytes_max);
        let long = ShardShape { id_bytes, id_bytes_max, all_id_bytes, ..short };
        for algorithm in ["wcc", "cdlp"] {
            let entry = CatalogueEntry::of(algorithm).expect("an algorithm");
            let needs = |shape: &ShardShape| entry.needs(shape, false);
            let (without, with) = (needs(&short), needs(&long));
            let more = with.memory_bytes - without.memory_bytes;
            // The bound of the short ones may have been their greatest length.
            assert!(more < 16 * (id_bytes_max + short.all_id_bytes), "{algorithm}: {more}");
        }
    }

    #[test]
    fn options_that_an_algorithm_lacks_or_takes_once_are_refused() {
        let refused = |name: &str, options: &[&str]| {
            let params: Vec<_> = options.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect();
            let entry = CatalogueEntry::of(name).expect("an algorithm");
            entry.expect_options(&params).expect_err("refused").to_string()
        };
        assert_eq!(refused("wcc", &["source"]), "wcc has no option \"source\": it has none");
        assert_eq!(refused("bfs", &["delta"]), "bfs has no option \"delta\": it has source, max-depth");
        assert_eq!(refused("sssp", &["source", "source"]), "sssp takes one value of `source`");
        let of_bfs = CatalogueEntry::of("bfs").expect("an algorithm");
        let twice = vec![("source".to_owned(), "1".to_owned()); 2];
        of_bfs.expect_options(&twice).expect("several sources");
        let message = CatalogueEntry::of("louvain").expect_err("unknown").to_string();
        assert!(message.contains("there are degrees, bfs, wcc"), "{message}");
    }
}
