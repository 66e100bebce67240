//! One residency of the catalogue.

use esker_store::{Access, GraphEncoding, Residency, View};

use super::candidate::{Candidate, Request};
use super::common::Common;
use super::price::{Costs, Price};
use crate::catalogue::Resources;
use crate::error::Result;

/// A residency: its name, what it needs, what it costs, and how it opens a graph.
#[derive(Debug)]
pub struct ResidencyEntry {
    /// The residency.
    pub residency: Residency,
    /// Its name on the command line and in Python.
    pub name: &'static str,
    /// What it keeps in memory, in one sentence.
    pub help: &'static str,
    /// The encodings that it reads, each with its place among all candidates: of two that are predicted to
    /// take the same time, the first is chosen.
    pub(super) encodings: &'static [(GraphEncoding, u8)],
    /// What it does with lists, for the refusal of tiles by a residency that reads lists alone.
    pub(super) treats_lists: &'static str,
    /// Whether a request may say how many neighbours of each vertex it keeps.
    pub(super) keeps_heads: bool,
    /// Whether lists are found along their chains in all layers, by vertex tables. Otherwise what later
    /// layers change is gathered in memory before the first scan, and degrees suffice.
    pub(super) follows_chains: bool,
    /// The candidate in an encoding: its predicted memory, or why the database or the view refuses it.
    pub(super) needs: fn(&Common<'_>, GraphEncoding) -> Result<Candidate>,
    /// What a run costs if the graph has this much memory, beside its opening.
    pub(super) price: fn(&Costs<'_>, GraphEncoding, u64) -> Price,
    /// How a candidate is opened within the memory limit.
    pub(super) open: fn(&Candidate, &View, &Request, &Resources) -> Result<Access>,
}
