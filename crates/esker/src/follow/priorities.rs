//! Live answers that follow from the priorities of vertices or edges: colours, independent sets, and
//! matchings.

use std::num::NonZeroU32;
use std::time::Instant;

use esker_algo::algorithm::sets::colouring::{ColouringOptions, colouring};
use esker_algo::algorithm::sets::matching::{MatchingMethod, MatchingOptions, matching};
use esker_algo::algorithm::sets::mis::{MisOptions, mis};
use esker_algo::live::{LiveColouring, LiveIndependentSet, LiveMatching};
use esker_graph::{NONE, VertexId};

use super::change::VersionChange;
use super::live::{At, Live, Updated, updated, values_of, words_of};
use crate::answer::{Fact, Ranking, Value, Values};
use crate::error::Result;

#[derive(Default)]
pub(super) struct Colours {
    state: Option<LiveColouring>,
}

impl Live for Colours {
    fn ranking(&self) -> Ranking {
        Ranking::Groups
    }

    fn bytes(&self, n: usize) -> u64 {
        LiveColouring::bytes(n)
    }

    fn recompute(&mut self, at: At<'_>) -> Result<()> {
        let graph = at.view.graph::<()>(at.run)?;
        let options = ColouringOptions { passes: NonZeroU32::MIN, ..ColouringOptions::default() };
        let colours = colouring(&graph, at.run, &options)?.colours;
        self.state = Some(LiveColouring::new(&graph, at.run.seed(), colours));
        Ok(())
    }

    fn update(&mut self, at: At<'_>, change: &VersionChange, deadline: Option<Instant>) -> Result<Updated> {
        updated::<_, ()>(&mut self.state, at, change, deadline, LiveColouring::update)
    }

    fn words(&self) -> Option<Vec<Vec<u64>>> {
        self.state.as_ref().map(|state| vec![words_of(state.colours())])
    }

    fn restore(&mut self, at: At<'_>, words: &[Vec<u64>]) -> Result<bool> {
        let [colours] = words else { return Ok(false) };
        let n = at.view.version().num_vertices();
        // No vertex needs a colour that is the number of vertices.
        let colours = values_of(colours, n, n as u64).filter(|colours| !colours.contains(&NONE));
        let graph = at.view.graph::<()>(at.run)?;
        self.state = colours.map(|colours| LiveColouring::new(&graph, at.run.seed(), colours));
        Ok(self.state.is_some())
    }

    fn shown(&self, words: &[Vec<u64>]) -> Option<Values> {
        let [colours] = words else { return None };
        values_of(colours, colours.len(), colours.len() as u64).map(Values::Index)
    }

    fn values(&self) -> Option<Values> {
        self.state.as_ref().map(|state| Values::Index(state.colours().to_vec()))
    }

    fn value(&self, v: VertexId) -> Value {
        self.state.as_ref().map_or(Value::Missing, |state| Value::Count(state.colours()[v as usize] as u64))
    }

    fn facts(&self, removed: usize) -> Vec<(&'static str, Fact)> {
        let present = |state: &&LiveColouring| state.colours().len() > removed;
        let count = self.state.as_ref().filter(present).map_or(0, LiveColouring::count);
        vec![("colours", Fact::Count(count as u64))]
    }
}

/// The members of an independent set.
#[derive(Default)]
pub(super) struct Members {
    state: Option<LiveIndependentSet>,
}

impl Live for Members {
    fn bytes(&self, n: usize) -> u64 {
        LiveIndependentSet::bytes(n)
    }

    fn recompute(&mut self, at: At<'_>) -> Result<()> {
        let graph = at.view.graph::<()>(at.run)?;
        let members = mis(&graph, at.run, &MisOptions::default())?.members;
        self.state = Some(LiveIndependentSet::new(&graph, at.run.seed(), members));
        Ok(())
    }

    fn update(&mut self, at: At<'_>, change: &VersionChange, deadline: Option<Instant>) -> Result<Updated> {
        updated::<_, ()>(&mut self.state, at, change, deadline, LiveIndependentSet::update)
    }

    fn words(&self) -> Option<Vec<Vec<u64>>> {
        self.state.as_ref().map(|state| vec![state.members().iter().map(|&member| member.into()).collect()])
    }

    fn restore(&mut self, at: At<'_>, words: &[Vec<u64>]) -> Result<bool> {
        let [members] = words else { return Ok(false) };
        let fits =
            members.len() == at.view.version().num_vertices() && members.iter().all(|&member| member <= 1);
        let members = members.iter().map(|&member| member == 1).collect();
        let graph = at.view.graph::<()>(at.run)?;
        self.state = fits.then(|| LiveIndependentSet::new(&graph, at.run.seed(), members));
        Ok(fits)
    }

    fn shown(&self, words: &[Vec<u64>]) -> Option<Values> {
        let [members] = words else { return None };
        Some(Values::Count(members.clone()))
    }

    fn values(&self) -> Option<Values> {
        let marks =
            |state: &LiveIndependentSet| state.members().iter().map(|&member| member.into()).collect();
        self.state.as_ref().map(|state| Values::Count(marks(state)))
    }

    fn value(&self, v: VertexId) -> Value {
        self.state.as_ref().map_or(Value::Missing, |state| Value::Count(state.members()[v as usize].into()))
    }

    fn facts(&self, removed: usize) -> Vec<(&'static str, Fact)> {
        // Removed vertices have no neighbours, so each is a member.
        let size = self.state.as_ref().map_or(0, |state| state.size().saturating_sub(removed));
        vec![("size", Fact::Count(size as u64))]
    }
}

/// The mates of a matching.
#[derive(Default)]
pub(super) struct Mates {
    state: Option<LiveMatching>,
}

impl Live for Mates {
    fn bytes(&self, n: usize) -> u64 {
        LiveMatching::bytes(n)
    }

    fn recompute(&mut self, at: At<'_>) -> Result<()> {
        let graph = at.view.graph::<()>(at.run)?;
        let options = MatchingOptions { method: MatchingMethod::Priorities };
        self.state = Some(LiveMatching::new(at.run.seed(), matching(&graph, at.run, &options)?.mates));
        Ok(())
    }

    fn update(&mut self, at: At<'_>, change: &VersionChange, deadline: Option<Instant>) -> Result<Updated> {
        updated::<_, ()>(&mut self.state, at, change, deadline, LiveMatching::update)
    }

    fn words(&self) -> Option<Vec<Vec<u64>>> {
        self.state.as_ref().map(|state| vec![words_of(state.mates())])
    }

    fn restore(&mut self, at: At<'_>, words: &[Vec<u64>]) -> Result<bool> {
        let [mates] = words else { return Ok(false) };
        let n = at.view.version().num_vertices();
        // Mates are those of each other.
        let is_mutual = |mates: &Vec<VertexId>| {
            let mut mates_of = mates.iter().enumerate().filter(|(_, mate)| **mate != NONE);
            mates_of.all(|(v, &mate)| mates.get(mate as usize).is_some_and(|&other| other as usize == v))
        };
        let mates = values_of(mates, n, n as u64).filter(is_mutual);
        self.state = mates.map(|mates| LiveMatching::new(at.run.seed(), mates));
        Ok(self.state.is_some())
    }

    fn shown(&self, words: &[Vec<u64>]) -> Option<Values> {
        let [mates] = words else { return None };
        values_of(mates, mates.len(), mates.len() as u64).map(Values::Vertex)
    }

    fn values(&self) -> Option<Values> {
        self.state.as_ref().map(|state| Values::Vertex(state.mates().to_vec()))
    }

    fn value(&self, v: VertexId) -> Value {
        let mate = self.state.as_ref().map_or(NONE, |state| state.mates()[v as usize]);
        if mate == NONE { Value::Missing } else { Value::Vertex(mate) }
    }

    fn facts(&self, _: usize) -> Vec<(&'static str, Fact)> {
        vec![("edges", Fact::Count(self.state.as_ref().map_or(0, LiveMatching::pairs) as u64))]
    }
}
