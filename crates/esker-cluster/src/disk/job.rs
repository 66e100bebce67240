//! What the command tells the processes to do.

use esker_algo::graph500::Graph500Trees;
use esker_format::{DatabaseId, Result};
use esker_graph::Stop;
use esker_graph::generate::{Generator, Model, RMat, Weighting};
use serde::{Deserialize, Serialize};

use crate::disk::creating::CreateOptions;
use crate::model::owner::{OwnedId, Owners};
use crate::model::placement::Placement;

/// The least memory limit of a worker: four times what the edges of one round take if their ids are short.
pub const MEMORY_BYTES_MIN: u64 = 160 << 20;

/// Edges to add or to remove.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChangeJob {
    /// The files, which every process can read.
    pub inputs: Vec<String>,
    /// The message of the versions.
    pub message: String,
    /// Edges after which a version is made; 0: one version of all.
    pub batch_edges: u64,
    /// Whether the edges are removed. Vertices stay.
    pub removes: bool,
    /// The column of the weights; `None`: the usual one.
    pub weight: Option<String>,
    /// The column of sources; `None`: found as in an import.
    pub source: Option<String>,
    /// The column of targets; `None`: found as in an import.
    pub target: Option<String>,
    /// Whether the first line of a table of text names the columns; `None`: told by its looks.
    pub header: Option<bool>,
    /// How the input is read as a stream; `None`: every process reads its own part of files.
    pub stream: Option<StreamJob>,
    /// Memory of each process for edges that are in no layer of its shard. A version is made whenever those
    /// of one process fill half of it. At least [`MEMORY_BYTES_MIN`] serves any input whose arcs are spread
    /// evenly. `None`: no limit.
    pub memory_bytes: Option<u64>,
    /// The edges of a generator, in place of files.
    pub generated: Option<KroneckerGraph>,
}

impl ChangeJob {
    /// Whether the first process reads standard input.
    pub(crate) fn reads_stdin(&self) -> bool {
        self.inputs.iter().any(|input| input == "-")
    }
}

/// The graph of the Graph500 benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KroneckerGraph {
    /// Binary logarithm of the number of vertices.
    pub scale: u32,
    /// Edges per vertex.
    pub edge_factor: u64,
    /// Seed.
    pub seed: u64,
}

impl KroneckerGraph {
    /// Makes its edges.
    ///
    /// # Errors
    /// [`esker_graph::Stop::Unsuitable`] if such a graph is impossible.
    pub(crate) fn generator(&self) -> Result<Generator> {
        let model = Model::RMat(RMat::kronecker(self.scale, self.edge_factor));
        Ok(Generator::new(&model, Weighting::None, self.seed)?)
    }
}

/// The searches of the Graph500 benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph500Job {
    /// The graph, which the cluster holds.
    pub graph: KroneckerGraph,
    /// The version of the whole.
    pub version: u64,
    /// Roots to search from.
    pub roots: usize,
    /// Memory limit of all processes together. Half of it is for the validation of trees, in equal parts.
    pub memory_bytes: u64,
}

impl Graph500Job {
    /// How many trees each of the processes validates together.
    ///
    /// # Errors
    /// [`Stop::OverBudget`] with the limit of all processes that suffices, if this one does not for a tree;
    /// [`Stop::Unsuitable`] if such a graph is impossible.
    pub fn trees_together(&self, processes: usize) -> Result<usize> {
        let (n, parts) = (self.graph.generator()?.num_vertices() as usize, 2 * processes.max(1) as u64);
        let together = Graph500Trees::max_together(n, self.memory_bytes / parts);
        Ok(together.map_err(|stop| match stop {
            Stop::OverBudget { what, needed_bytes, .. } => Stop::OverBudget {
                what: format!("{what} in {}", esker_graph::counted(processes as u64, "process", "processes")),
                needed_bytes: needed_bytes * parts,
                budget_bytes: self.memory_bytes,
            },
            other => other,
        })?)
    }
}

/// A stream of edges: one input, which process 0 reads as it comes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StreamJob {
    /// The name under which versions say how far it was read; `None`: it is always read from its start.
    pub name: Option<String>,
    /// Its first edges that versions have: they are passed over. The command finds out, unless `from_start`.
    pub passed: u64,
    /// The fingerprint of the last of these edges, if a version says it.
    pub mark: Option<u64>,
    /// Whether it is read from its start, although versions may have edges of it.
    pub from_start: bool,
    /// Milliseconds after which a version is made; 0: only edges count.
    pub every_ms: u64,
    /// Whether to wait at the end of the file for what will be appended to it.
    pub follows: bool,
}

impl StreamJob {
    /// The message of a version: how far the stream was read, and the fingerprint of the last edge.
    pub(crate) fn message(&self, edges: u64, mark: Option<u64>) -> String {
        let mark = mark.map_or_else(String::new, |mark| format!(", mark {mark:x}"));
        format!(
            "stream {}: {}{mark}",
            self.name.as_deref().unwrap_or("-"),
            esker_graph::counted(edges, "edge", "edges")
        )
    }
}

/// How many edges of a stream were read, and the fingerprint of the last one, as the message of a version
/// says it; `None` if it says nothing of that stream.
pub fn stream_position(message: &str, name: &str) -> Option<(u64, Option<u64>)> {
    stream_of(message).filter(|(found, ..)| *found == name).map(|(_, edges, mark)| (edges, mark))
}

/// The name of the stream that the message of a version speaks of, how many of its edges were read, and the
/// fingerprint of the last one.
pub(crate) fn stream_of(message: &str) -> Option<(&str, u64, Option<u64>)> {
    let (name, place) = message.strip_prefix("stream ")?.rsplit_once(": ")?;
    let (edges, mark) = match place.split_once(", mark ") {
        Some((edges, mark)) => (edges, Some(u64::from_str_radix(mark, 16).ok()?)),
        None => (place, None),
    };
    let edges = edges.strip_suffix(" edges").or_else(|| edges.strip_suffix(" edge"))?;
    Some((name, edges.parse().ok()?, mark))
}

/// An algorithm to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunJob {
    /// Its name.
    pub algorithm: String,
    /// Options, as a user types them.
    pub params: Vec<(String, String)>,
    /// The version of the whole.
    pub version: u64,
    /// How many vertices with the greatest first values are wanted; `None`: all. If it is given and the
    /// values are ids, each shard gives a row for each id, with the number of its vertices that have it
    /// ([`crate::model::answer::MEMBERS`]).
    pub top: Option<usize>,
    /// Memory limit of each process; `None`: no limit.
    pub memory_bytes: Option<u64>,
}

/// An answer to keep up to date as versions are published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FollowJob {
    /// The algorithm: one whose answer can be kept, see [`crate::catalogue`].
    pub algorithm: String,
    /// Options, as a user types them.
    pub params: Vec<(String, String)>,
    /// The version of the whole to begin with.
    pub version: u64,
    /// Whether the values of the first version are wanted too, as changes from nothing.
    pub initial: bool,
    /// Memory limit of each process; `None`: no limit.
    pub memory_bytes: Option<u64>,
}

/// What is asked of one shard alone. Versions are those of the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShardTask {
    /// Make an empty shard.
    Create(CreateOptions),
    /// Remove an empty shard that was made in vain.
    Discard(DatabaseId),
    /// The versions that are in no version of the whole.
    Unpublished,
    /// Take the shard back to the newest version of the whole.
    RollBack,
    /// What the weights of edges are.
    Weights,
    /// How large the shard is, and what it shares with others.
    Counts(u64),
    /// The same, and what a run of an algorithm takes to open the graph.
    Needs(u64, String),
    /// Whether its files are sound.
    CheckFiles,
    /// Its edges as rows of CSV.
    Export(u64),
    /// Its edges and vertices as blocks, or those that a shard of another cluster gets; delegates stay so.
    Portion(u64, Option<TargetShard>),
}

/// A shard of a cluster that is made of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetShard {
    /// Its number.
    pub shard: usize,
    /// How many there are.
    pub shards: usize,
    /// Seed of the hash that finds the owner of a vertex.
    pub seed: u64,
}

impl TargetShard {
    /// Where edges lie in its cluster.
    pub(crate) fn placement(
        &self,
        directed: bool,
        delegates: impl IntoIterator<Item = OwnedId>,
    ) -> Placement {
        Placement::new(Owners::new(self.seed, self.shards), directed, delegates)
    }
}

/// What all processes do together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ClusterJob {
    /// Add or remove edges.
    Change(ChangeJob),
    /// Run an algorithm.
    Run(RunJob),
    /// Keep an answer up to date.
    Follow(FollowJob),
    /// Search as the Graph500 benchmark says.
    Graph500(Graph500Job),
    /// Check that the shards fit together.
    Check,
    /// What one process does without the others.
    Shard(ShardTask),
}

impl ClusterJob {
    /// The first version of the whole that a worker has to know, of which `newest` is the last.
    pub(crate) fn first_version(&self, newest: u64) -> u64 {
        match self {
            Self::Run(run) => run.version,
            Self::Follow(follow) => follow.version,
            Self::Graph500(job) => job.version,
            Self::Shard(
                ShardTask::Counts(version)
                | ShardTask::Needs(version, _)
                | ShardTask::Export(version)
                | ShardTask::Portion(version, _),
            ) => *version,
            Self::Change(_) | Self::Check | Self::Shard(_) => newest,
        }
    }

    /// Whether the first process reads standard input.
    pub(crate) fn reads_stdin(&self) -> bool {
        matches!(self, Self::Change(change) if change.reads_stdin())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::weights::WeightKind;
    use crate::net::messages::{decode, encode};

    fn expect_kept(job: &ClusterJob) {
        let encoded = encode(job).expect("encode");
        assert_eq!(decode::<ClusterJob>(&encoded).expect("decode"), *job);
        for end in 0..encoded.len() {
            decode::<ClusterJob>(&encoded[..end]).expect_err("cut short");
        }
    }

    #[test]
    fn jobs_are_decoded_as_they_were() {
        let add = ChangeJob {
            inputs: vec!["a b".into(), String::new()],
            message: "m".into(),
            batch_edges: 7,
            removes: false,
            weight: Some("cost".into()),
            source: Some("from".into()),
            target: None,
            header: Some(false),
            stream: None,
            memory_bytes: None,
            generated: None,
        };
        let graph = KroneckerGraph { scale: 20, edge_factor: 16, seed: u64::MAX };
        let generated = ChangeJob { generated: Some(graph), ..add.clone() };
        let searches = Graph500Job { graph, version: 1 << 40, roots: 64, memory_bytes: 1 << 41 };
        let stream = Some(StreamJob {
            name: Some("a".into()),
            passed: 9,
            mark: Some(u64::MAX),
            from_start: true,
            every_ms: 1000,
            follows: true,
        });
        let streamed = ChangeJob { stream, ..add.clone() };
        let remove = ChangeJob { removes: true, weight: None, memory_bytes: Some(7 << 20), ..add.clone() };
        let params = vec![("source".to_owned(), "alice".to_owned())];
        let memory_bytes = Some(1 << 33);
        let run = RunJob { algorithm: "bfs".into(), params, version: 3, top: None, memory_bytes };
        let top = RunJob { top: Some(5), memory_bytes: None, ..run.clone() };
        let params = run.params.clone();
        let (version, memory_bytes) = (1 << 40, Some(9 << 30));
        let follow = FollowJob { algorithm: "bfs".into(), params, version, initial: true, memory_bytes };
        let unlimited = FollowJob { memory_bytes: None, ..follow.clone() };
        for job in [
            ClusterJob::Change(add),
            ClusterJob::Change(remove),
            ClusterJob::Change(streamed),
            ClusterJob::Run(run),
            ClusterJob::Run(top),
            ClusterJob::Follow(follow),
            ClusterJob::Follow(unlimited),
            ClusterJob::Change(generated),
            ClusterJob::Graph500(searches),
        ] {
            expect_kept(&job);
        }
        let (shards, weights, hub_degree) = (3, Some(WeightKind::Float), 7);
        let options =
            CreateOptions { shards, directed: true, text_ids: false, weights, seed: u64::MAX, hub_degree };
        let unweighted = CreateOptions { text_ids: true, weights: None, ..options };
        for task in [
            ShardTask::Create(options),
            ShardTask::Create(unweighted),
            ShardTask::Discard(DatabaseId([9; 16])),
            ShardTask::Unpublished,
            ShardTask::RollBack,
            ShardTask::Weights,
            ShardTask::Counts(1 << 40),
            ShardTask::Needs(3, "bfs".to_owned()),
            ShardTask::CheckFiles,
            ShardTask::Export(5),
            ShardTask::Portion(6, None),
            ShardTask::Portion(7, Some(TargetShard { shard: 2, shards: 9, seed: u64::MAX })),
        ] {
            let job = ClusterJob::Shard(task);
            expect_kept(&job);
        }
        expect_kept(&ClusterJob::Check);
    }

    /// The limit that was named was that of one process.
    #[test]
    fn the_limit_that_validation_needs_is_that_of_all_processes() {
        let graph = KroneckerGraph { scale: 16, edge_factor: 16, seed: 1 };
        let job = Graph500Job { graph, version: 2, roots: 2, memory_bytes: 8 << 20 };
        let refused = job.trees_together(4).expect_err("too little");
        let esker_format::Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes }) = refused else {
            panic!("{refused}")
        };
        assert_eq!((&what[..], budget_bytes), ("validating a tree in 4 processes", 8 << 20));
        assert!(needed_bytes > budget_bytes);
        let raised = Graph500Job { memory_bytes: needed_bytes, ..job };
        assert_eq!(raised.trees_together(4).expect("enough"), 1);
        let less = Graph500Job { memory_bytes: needed_bytes - 8, ..job };
        less.trees_together(4).expect_err("what is named is what is needed");
    }

    #[test]
    fn the_position_of_a_stream_is_read_back_under_its_name_only() {
        let stream = StreamJob { name: Some("/data/a: 1 edges".into()), ..StreamJob::default() };
        for mark in [None, Some(0), Some(u64::MAX)] {
            let message = stream.message(50_000, mark);
            assert_eq!(stream_position(&message, "/data/a: 1 edges"), Some((50_000, mark)));
            assert_eq!(stream_position(&message, "/data/a"), None, "{message}");
        }
        for other in [
            "add /data/a",
            "stream /data/a: x edges",
            "stream /data/a: 1 edges more",
            "stream /data/a: 1 edges, mark z",
        ] {
            assert_eq!(stream_position(other, "/data/a"), None, "{other}");
        }
    }
}
