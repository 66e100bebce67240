//! The live answers by name: how each is computed anew, updated, and shown.

use esker_algo::algorithm::wcc::{WccOptions, wcc};
use esker_algo::live::{BoundedReader, ChangedEdges, Halt, LiveComponents};
use esker_graph::{NONE, Run, VertexId};
use esker_store::Snapshot;

use super::change::VersionChange;
use super::points::{LiveWeight, Points};
use crate::answer::{Fact, Ranking, Value, Values};
use crate::catalogue::{Entry, Params};
use crate::error::{Error, Result};

/// A version, and the means to compute on it.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) run: &'a Run,
}

/// What an update came to.
pub(super) enum Updated {
    /// The vertices whose values may have changed.
    Done(Vec<VertexId>),
    /// It stopped: the state is of no version.
    Stopped,
}

/// A live answer.
pub(super) trait Live: Send {
    /// How rows are ranked.
    fn ranking(&self) -> Ranking {
        Ranking::Largest
    }
    /// Whether weights are read.
    fn is_weighted(&self) -> bool {
        false
    }
    /// The bytes of its state on a graph with `n` vertices.
    fn bytes(&self, n: usize) -> u64;
    /// Makes the state of a version.
    fn recompute(&mut self, at: At<'_>) -> Result<()>;
    /// Takes the state to the next version, within a number of reads. Returns how many there were.
    fn update(&mut self, at: At<'_>, change: &VersionChange, read_max: u64) -> Result<(Updated, u64)>;
    /// The values of all vertices, removed ones included.
    fn values(&self) -> Values;
    /// The value of a vertex.
    fn value(&self, v: VertexId) -> Value;
    /// The figures; `removed` vertices are not there.
    fn facts(&self, removed: usize) -> Vec<(&'static str, Fact)>;
}

/// The names of the algorithms that can be followed, and the options that each takes.
pub(super) const FOLLOWED: &[(&str, &[&str])] = &[("wcc", &[])];

/// The live answer of an algorithm.
pub(super) fn live(entry: &Entry, params: &Params, _snapshot: &Snapshot) -> Result<Box<dyn Live>> {
    let known = FOLLOWED.iter().find(|(name, _)| *name == entry.name);
    let Some((_, options)) = known else {
        let names: Vec<&str> = FOLLOWED.iter().map(|(name, _)| *name).collect();
        let (name, names) = (entry.name, names.join(", "));
        return Err(Error::Usage(format!(
            "{name} cannot be followed; {names} can: run it on each new version instead"
        )));
    };
    let is_taken = |option: &&crate::catalogue::Opt| params.text(option.name).is_some();
    if let Some(option) = entry.options.iter().filter(is_taken).find(|option| !options.contains(&option.name))
    {
        let (name, option) = (entry.name, option.name);
        return Err(Error::Usage(format!("a followed {name} takes no option {option}: leave it out")));
    }
    Ok(Box::new(Components::default()))
}

/// Runs an update of a state.
fn updated<W: LiveWeight>(
    at: At<'_>,
    change: &VersionChange,
    read_max: u64,
    update: impl FnOnce(
        &mut BoundedReader<'_, Points<'_, W>>,
        &ChangedEdges<W>,
    ) -> std::result::Result<Vec<VertexId>, Halt<esker_store::Error>>,
) -> Result<(Updated, u64)> {
    let points = Points::new(at.snapshot);
    let mut reader = BoundedReader::new(&points, read_max);
    let outcome = match update(&mut reader, &change.edges()) {
        Ok(changed) => Updated::Done(changed),
        Err(Halt::TooMuch | Halt::Unsuitable) => Updated::Stopped,
        Err(Halt::Failed(error)) => return Err(error.into()),
    };
    Ok((outcome, reader.read()))
}

#[derive(Default)]
struct Components {
    state: Option<LiveComponents>,
}

impl Live for Components {
    fn ranking(&self) -> Ranking {
        Ranking::Groups
    }

    fn bytes(&self, n: usize) -> u64 {
        LiveComponents::bytes(n)
    }

    fn recompute(&mut self, at: At<'_>) -> Result<()> {
        let graph = at.snapshot.graph::<()>(at.run)?;
        self.state = Some(LiveComponents::new(&wcc(&graph, at.run, &WccOptions::default())?.labels));
        Ok(())
    }

    fn update(&mut self, at: At<'_>, change: &VersionChange, read_max: u64) -> Result<(Updated, u64)> {
        let Some(state) = &mut self.state else { return Ok((Updated::Stopped, 0)) };
        updated::<()>(at, change, read_max, |reader, changes| state.update(reader, changes))
    }

    fn values(&self) -> Values {
        Values::Vertex(self.state.as_ref().map(LiveComponents::labels).unwrap_or_default())
    }

    fn value(&self, v: VertexId) -> Value {
        let label = self.state.as_ref().map_or(NONE, |state| state.label(v));
        if label == NONE { Value::Missing } else { Value::Vertex(label) }
    }

    fn facts(&self, removed: usize) -> Vec<(&'static str, Fact)> {
        let count = self.state.as_ref().map_or(0, LiveComponents::count);
        vec![("components", Fact::Count((count - removed) as u64))]
    }
}
