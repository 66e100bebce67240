//! The trait of live answers.

use std::time::Instant;

use esker_algo::live::{BoundedReader, Halt};
use esker_graph::{NONE, Run, VertexId};
use esker_store::windows::WindowIndex;
use esker_store::{Access, View};

use super::change::VersionChange;
use super::points::{LiveWeight, Points};
use crate::answer::{Fact, Ranking, Value, Values};
use crate::error::Result;

/// A version, and the means to compute on it.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) view: &'a View,
    pub(super) run: &'a Run,
}

/// What an update came to.
pub(super) enum Updated {
    /// The vertices whose values may have changed.
    Done(Vec<VertexId>),
    /// It is done, and all values may have changed.
    All,
    /// It stopped: the state is of no version.
    Stopped,
}

/// A live answer.
pub(super) trait Live: Send {
    /// How rows are ranked.
    fn ranking(&self) -> Ranking {
        Ranking::Largest
    }
    /// Whether there is a state, which is updated and kept; without one, every step is a recomputation.
    fn updates(&self) -> bool {
        true
    }
    /// Whether `esker run` on the same edges has the same values.
    fn is_as_run(&self) -> bool {
        true
    }
    /// Whether weights are read.
    fn is_weighted(&self) -> bool {
        false
    }
    /// Whether a recomputation reads lists.
    fn reads_lists(&self) -> bool {
        true
    }
    /// The bytes of its state on a graph with `n` vertices.
    fn bytes(&self, n: usize) -> u64;
    /// Makes the state of a version.
    fn recompute(&mut self, at: At<'_>) -> Result<()>;
    /// Takes the state to the next version; stops at the deadline.
    fn update(&mut self, at: At<'_>, change: &VersionChange, deadline: Option<Instant>) -> Result<Updated>;
    /// The values of all vertices, removed ones included; `None` if the answer has figures only.
    fn values(&self) -> Option<Values>;
    /// The value of a vertex.
    fn value(&self, v: VertexId) -> Value;
    /// The number of words of [`Live::words`] on a graph with `n` vertices.
    fn num_words(&self, n: usize) -> usize {
        n
    }
    /// The state as arrays of words, from which [`Live::restore`] makes it; `None` if there is none.
    fn words(&self) -> Option<Vec<Vec<u64>>> {
        None
    }
    /// Takes the state of a version from its words. Returns whether they fit; if not, there is no state.
    fn restore(&mut self, _: At<'_>, _: &[Vec<u64>]) -> Result<bool> {
        Ok(false)
    }
    /// The values of a state from its words, removed vertices included; `None` if they do not fit, or there
    /// are none.
    fn shown(&self, _: &[Vec<u64>]) -> Option<Values> {
        None
    }
    /// The figures; `removed` vertices are not there.
    fn facts(&self, removed: usize) -> Vec<(&'static str, Fact)>;
}

/// A part of a state that is kept as a word.
pub(super) trait StateWord: Copy {
    /// Its word.
    fn word(self) -> u64;
    /// What has this word; `None` if nothing has.
    fn of_word(word: u64) -> Option<Self>;
}

impl StateWord for VertexId {
    fn word(self) -> u64 {
        self as u64
    }

    fn of_word(word: u64) -> Option<Self> {
        (word <= Self::MAX as u64).then_some(word as Self)
    }
}

impl StateWord for i32 {
    fn word(self) -> u64 {
        u64::from(self.cast_unsigned())
    }

    fn of_word(word: u64) -> Option<Self> {
        u32::try_from(word).ok().map(u32::cast_signed)
    }
}

impl StateWord for i64 {
    fn word(self) -> u64 {
        self.cast_unsigned()
    }

    fn of_word(word: u64) -> Option<Self> {
        Some(word.cast_signed())
    }
}

impl StateWord for f32 {
    fn word(self) -> u64 {
        u64::from(self.to_bits())
    }

    fn of_word(word: u64) -> Option<Self> {
        u32::try_from(word).ok().map(Self::from_bits).filter(|number| !number.is_nan())
    }
}

impl StateWord for f64 {
    fn word(self) -> u64 {
        self.to_bits()
    }

    fn of_word(word: u64) -> Option<Self> {
        Some(Self::from_bits(word)).filter(|number| !number.is_nan())
    }
}

/// Parts of a state as words.
pub(super) fn words_of<T: StateWord>(values: &[T]) -> Vec<u64> {
    values.iter().map(|&value| value.word()).collect()
}

/// The values of the `n` vertices of a version from words; `None` if their number is not `n`, or one is
/// beyond `most` and not [`NONE`].
pub(super) fn values_of(words: &[u64], n: usize, most: u64) -> Option<Vec<VertexId>> {
    let value = |word: &u64| VertexId::of_word(*word).filter(|&value| *word <= most || value == NONE);
    if words.len() == n { words.iter().map(value).collect() } else { None }
}

/// Runs an update of a state. Without a state there is nothing to update.
pub(super) fn updated<'a, S, W: LiveWeight>(
    state: &mut Option<S>,
    at: At<'a>,
    change: &VersionChange,
    deadline: Option<Instant>,
    update: impl FnOnce(
        &mut S,
        &mut BoundedReader<'_, Points<'a, W>>,
    ) -> std::result::Result<Vec<VertexId>, Halt<esker_store::Error>>,
) -> Result<Updated> {
    updated_within(state, at, change, deadline, u64::MAX, update)
}

/// As [`updated`], if the update reads no more arcs and lists than a number.
pub(super) fn updated_within<'a, S, W: LiveWeight>(
    state: &mut Option<S>,
    at: At<'a>,
    change: &VersionChange,
    deadline: Option<Instant>,
    read_max: u64,
    update: impl FnOnce(
        &mut S,
        &mut BoundedReader<'_, Points<'a, W>>,
    ) -> std::result::Result<Vec<VertexId>, Halt<esker_store::Error>>,
) -> Result<Updated> {
    let Some(state) = state else { return Ok(Updated::Stopped) };
    let (points, changes) = (Points::new(at.view), change.edges());
    match update(state, &mut BoundedReader::new(&points, &changes, read_max).until(deadline)) {
        Ok(changed) => Ok(Updated::Done(changed)),
        Err(Halt::TooMuch | Halt::Unsuitable) => Ok(Updated::Stopped),
        Err(Halt::Failed(error)) => Err(error.into()),
    }
}

/// Makes the state of a version or window.
pub(super) fn recompute(live: &mut dyn Live, at: At<'_>) -> Result<()> {
    let copied = if live.updates() && live.reads_lists() { copied(at)? } else { None };
    live.recompute(At { view: copied.as_ref().unwrap_or(at.view), run: at.run })
}

/// A window whose edges are copied to memory, if half of what is free suffices.
pub(super) fn copied(At { view, run }: At<'_>) -> Result<Option<View>> {
    let fits = |index: &WindowIndex| {
        index.gathered_bytes(size_of::<u64>() as u64, None) <= run.budget().free_bytes() / 2
    };
    let index = view.window_index().filter(|index| fits(index));
    Ok(index.map(|_| view.clone().resident(Access::Memory)).transpose()?)
}
