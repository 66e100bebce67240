//! What the command tells the processes to do.

use esker_algo::graph500::Graph500Trees;
use esker_format::{DatabaseId, Error, Result};
use esker_graph::Stop;
use esker_graph::generate::{Generator, Model, RMat, Weighting};

use crate::disk::creating::CreateOptions;
use crate::model::excerpt::take_database;
use crate::model::owner::{OwnedId, Owners};
use crate::model::placement::Placement;
use crate::model::weights::WeightKind;
use crate::net::wire::{Taker, put_bytes, put_u64, unknown};

/// The least memory limit of a worker: four times what the edges of one round take if their ids are short.
pub const MEMORY_BYTES_MIN: u64 = 160 << 20;

/// Edges to add or to remove.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

    fn encode(&self, out: &mut Vec<u8>) {
        [u64::from(self.scale), self.edge_factor, self.seed].iter().for_each(|word| put_u64(out, *word));
    }

    fn decode(taker: &mut Taker<'_>) -> Result<Self> {
        Ok(Self { scale: taker.u64()? as u32, edge_factor: taker.u64()?, seed: taker.u64()? })
    }
}

/// The searches of the Graph500 benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, PartialEq)]
pub struct FollowJob {
    /// The algorithm: one of [`crate::follow::LIVE`].
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl ShardTask {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Create(options) => {
                out.push(0);
                let weights = match options.weights {
                    None => 0,
                    Some(WeightKind::Int) => 1,
                    Some(WeightKind::Float) => 2,
                };
                let CreateOptions { shards, directed, text_ids, seed, hub_degree, .. } = *options;
                let words = [shards as u64, directed.into(), text_ids.into(), weights, seed, hub_degree];
                words.iter().for_each(|word| put_u64(out, *word));
            }
            Self::Discard(id) => {
                out.push(1);
                out.extend_from_slice(&id.0);
            }
            Self::Unpublished => out.push(2),
            Self::RollBack => out.push(3),
            Self::Weights => out.push(4),
            Self::Counts(version) => {
                out.push(5);
                put_u64(out, *version);
            }
            Self::Needs(version, algorithm) => {
                out.push(6);
                put_u64(out, *version);
                put_bytes(out, algorithm.as_bytes());
            }
            Self::CheckFiles => out.push(7),
            Self::Export(version) => {
                out.push(8);
                put_u64(out, *version);
            }
            Self::Portion(version, new) => {
                out.push(9);
                let new = new.map(|TargetShard { shard, shards, seed }| [shard as u64, shards as u64, seed]);
                let words = [*version, u64::from(new.is_some())];
                words.iter().chain(new.iter().flatten()).for_each(|word| put_u64(out, *word));
            }
        }
    }

    fn decode(taker: &mut Taker<'_>) -> Result<Self> {
        Ok(match taker.bytes(1)?[0] {
            0 => {
                let (shards, directed, text_ids) =
                    (taker.u64()? as usize, taker.u64()? != 0, taker.u64()? != 0);
                let weights = match taker.u64()? {
                    0 => None,
                    1 => Some(WeightKind::Int),
                    2 => Some(WeightKind::Float),
                    kind => return Err(unknown(kind)),
                };
                let (seed, hub_degree) = (taker.u64()?, taker.u64()?);
                Self::Create(CreateOptions { shards, directed, text_ids, weights, seed, hub_degree })
            }
            1 => Self::Discard(take_database(taker)?),
            2 => Self::Unpublished,
            3 => Self::RollBack,
            4 => Self::Weights,
            5 => Self::Counts(taker.u64()?),
            6 => Self::Needs(taker.u64()?, taker.text()?),
            7 => Self::CheckFiles,
            8 => Self::Export(taker.u64()?),
            9 => {
                let (version, is_of_shard) = (taker.u64()?, taker.u64()? != 0);
                let mut new = || {
                    let (shard, shards) = (taker.u64()? as usize, taker.u64()? as usize);
                    Ok::<_, Error>(TargetShard { shard, shards, seed: taker.u64()? })
                };
                Self::Portion(version, is_of_shard.then(&mut new).transpose()?)
            }
            kind => return Err(unknown(kind)),
        })
    }
}

/// What all processes do together.
#[derive(Debug, Clone, PartialEq)]
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

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Change(change) => {
                out.push(0);
                put_u64(&mut out, change.batch_edges);
                put_u64(&mut out, u64::from(change.removes));
                put_u64(&mut out, change.memory_bytes.unwrap_or(u64::MAX));
                put_u64(&mut out, u64::from(change.generated.is_some()));
                change.generated.iter().for_each(|graph| graph.encode(&mut out));
                put_u64(&mut out, u64::from(change.weight.is_some()));
                put_bytes(&mut out, change.weight.as_deref().unwrap_or_default().as_bytes());
                put_u64(&mut out, u64::from(change.stream.is_some()));
                let stream = change.stream.clone().unwrap_or_default();
                let (has_mark, mark) = (u64::from(stream.mark.is_some()), stream.mark.unwrap_or(0));
                let words =
                    [u64::from(stream.name.is_some()), stream.passed, has_mark, mark, stream.every_ms];
                words.iter().for_each(|word| put_u64(&mut out, *word));
                let flags = [stream.follows, stream.from_start];
                flags.iter().for_each(|&flag| put_u64(&mut out, u64::from(flag)));
                put_bytes(&mut out, stream.name.unwrap_or_default().as_bytes());
                put_bytes(&mut out, change.message.as_bytes());
                change.inputs.iter().for_each(|input| put_bytes(&mut out, input.as_bytes()));
            }
            Self::Run(run) => {
                out.push(1);
                put_u64(&mut out, run.version);
                put_u64(&mut out, run.top.map_or(u64::MAX, |top| top as u64));
                put_u64(&mut out, run.memory_bytes.unwrap_or(u64::MAX));
                put_question(&mut out, &run.algorithm, &run.params);
            }
            Self::Follow(follow) => {
                out.push(2);
                put_u64(&mut out, follow.version);
                put_u64(&mut out, u64::from(follow.initial));
                put_u64(&mut out, follow.memory_bytes.unwrap_or(u64::MAX));
                put_question(&mut out, &follow.algorithm, &follow.params);
            }
            Self::Graph500(job) => {
                out.push(3);
                job.graph.encode(&mut out);
                [job.version, job.roots as u64, job.memory_bytes]
                    .iter()
                    .for_each(|word| put_u64(&mut out, *word));
            }
            Self::Check => out.push(4),
            Self::Shard(task) => {
                out.push(5);
                task.encode(&mut out);
            }
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut taker = Taker(bytes);
        let kind = taker.bytes(1)?[0];
        if kind == 0 {
            let (batch_edges, removes) = (taker.u64()?, taker.u64()? != 0);
            let memory_bytes = Some(taker.u64()?).filter(|&bytes| bytes != u64::MAX);
            let is_generated = taker.u64()? != 0;
            let generated = if is_generated { Some(KroneckerGraph::decode(&mut taker)?) } else { None };
            let has_weight = taker.u64()? != 0;
            let weight = Some(taker.text()?).filter(|_| has_weight);
            let (is_stream, has_name) = (taker.u64()? != 0, taker.u64()? != 0);
            let (passed, has_mark, mark) = (taker.u64()?, taker.u64()? != 0, taker.u64()?);
            let mark = Some(mark).filter(|_| has_mark);
            let mut stream = StreamJob { passed, mark, every_ms: taker.u64()?, ..StreamJob::default() };
            (stream.follows, stream.from_start) = (taker.u64()? != 0, taker.u64()? != 0);
            stream.name = Some(taker.text()?).filter(|_| has_name);
            let stream = Some(stream).filter(|_| is_stream);
            let (message, mut inputs) = (taker.text()?, Vec::new());
            while !taker.is_empty() {
                inputs.push(taker.text()?);
            }
            let job =
                ChangeJob { inputs, message, batch_edges, removes, weight, stream, memory_bytes, generated };
            return Ok(Self::Change(job));
        }
        if kind == 3 {
            let graph = KroneckerGraph::decode(&mut taker)?;
            let (version, roots, memory_bytes) = (taker.u64()?, taker.u64()? as usize, taker.u64()?);
            return Ok(Self::Graph500(Graph500Job { graph, version, roots, memory_bytes }));
        }
        match kind {
            4 => return Ok(Self::Check),
            5 => return Ok(Self::Shard(ShardTask::decode(&mut taker)?)),
            1 | 2 => {}
            _ => return Err(unknown(kind)),
        }
        let (version, second) = (taker.u64()?, taker.u64()?);
        let memory_bytes = Some(taker.u64()?).filter(|&bytes| bytes != u64::MAX);
        let (algorithm, mut params) = (taker.text()?, Vec::new());
        while !taker.is_empty() {
            params.push((taker.text()?, taker.text()?));
        }
        if kind == 2 {
            let initial = second != 0;
            return Ok(Self::Follow(FollowJob { algorithm, params, version, initial, memory_bytes }));
        }
        let top = Some(second as usize).filter(|_| second != u64::MAX);
        Ok(Self::Run(RunJob { algorithm, params, version, top, memory_bytes }))
    }
}

/// Appends an algorithm and its options.
fn put_question(out: &mut Vec<u8>, algorithm: &str, params: &[(String, String)]) {
    put_bytes(out, algorithm.as_bytes());
    for (name, value) in params {
        put_bytes(out, name.as_bytes());
        put_bytes(out, value.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_decoded_as_they_were() {
        let add = ChangeJob {
            inputs: vec!["a b".into(), String::new()],
            message: "m".into(),
            batch_edges: 7,
            removes: false,
            weight: Some("cost".into()),
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
            assert_eq!(ClusterJob::decode(&job.encode()).expect("decode"), job);
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
            assert_eq!(ClusterJob::decode(&job.encode()).expect("decode"), job);
        }
        assert_eq!(ClusterJob::decode(&ClusterJob::Check.encode()).expect("decode"), ClusterJob::Check);
        assert!(ClusterJob::decode(&[]).is_err());
        let mut weights = ClusterJob::Shard(ShardTask::Create(options)).encode();
        // Of a job, a task, and the kind of the weights.
        weights[2 + 3 * 8] = 99;
        for bytes in [&[99; 64][..], &[[5].as_slice(), &[99; 64]].concat(), &weights] {
            let message = ClusterJob::decode(bytes).expect_err("unknown").to_string();
            assert!(message.contains("unknown kind 99"), "{message}");
        }
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
