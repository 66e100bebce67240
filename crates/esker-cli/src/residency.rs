//! Where an analysis reads the graph: lists or tiles, mapped or in a fixed memory; what was chosen, and why.

use clap::{Args, ValueEnum};
use esker::catalogue::{Entry, Params};
use esker::graph::Run;
use esker::plan::{Form, Kept, Means, PROCESS_BYTES, Place, Plan, Way, Wish, plan};
use esker::store::{Residency, Snapshot};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::size::bytes;

/// What a run reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RunEncoding {
    /// The lists, plain or compressed.
    Lists,
    /// The tiles that `esker compact --encoding tiles` made.
    Tiles,
}

/// How it is kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunPlace {
    /// Mapped: the system decides what stays in memory.
    Mapped,
    /// Parts of the tiles or lists, read past the system into what --memory leaves.
    Pooled,
    /// The first neighbours of each vertex in what --memory leaves, the others on disk; of plain lists.
    Headed,
}

impl From<RunPlace> for Place {
    fn from(place: RunPlace) -> Self {
        match place {
            RunPlace::Mapped => Self::Mapped,
            RunPlace::Pooled => Self::Pooled,
            RunPlace::Headed => Self::Headed,
        }
    }
}

/// Where the graph is read.
#[derive(Debug, Clone, Args)]
pub(crate) struct ResidencyArgs {
    /// What is read [default: chosen by what the database holds and what memory there is]
    #[arg(long, value_enum)]
    encoding: Option<RunEncoding>,
    #[command(flatten)]
    place: PlaceArgs,
    /// Say what was chosen, and why
    #[arg(long)]
    pub(crate) explain: bool,
}

/// How the graph is kept in memory.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PlaceArgs {
    /// How it is kept in memory [default: chosen likewise]
    #[arg(long, value_enum)]
    pub(crate) residency: Option<RunPlace>,
    /// Neighbours of each vertex in memory, with --residency headed [default: as many as fit]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) head: Option<u32>,
}

impl PlaceArgs {
    /// As the library takes it.
    pub(crate) fn wish(self, kept: Option<Kept>) -> Wish {
        Wish { kept, place: self.residency.map(Into::into), head_len: self.head.map(|head| head as usize) }
    }
}

impl ResidencyArgs {
    /// How a run reads a version.
    pub(crate) fn plan(
        &self,
        snapshot: &Snapshot,
        entry: &Entry,
        params: &Params,
        means: &Means,
    ) -> Result<Plan, Failure> {
        let kept = self.encoding.map(|encoding| match encoding {
            RunEncoding::Lists => Kept::Lists,
            RunEncoding::Tiles => Kept::Tiles,
        });
        Ok(plan(snapshot, entry, params, &self.place.wish(kept), means)?)
    }
}

/// The name of a form.
pub(crate) fn name_of_form(form: Form) -> &'static str {
    match form {
        Form::Lists => "lists, mapped",
        Form::Tiles => "tiles, mapped",
        Form::PooledTiles => "tiles, pooled",
        Form::Headed => "lists, headed",
        Form::PooledLists => "lists, pooled",
    }
}

/// Bytes of memory that the graph is given, where that is fixed.
fn graph_memory(plan: &Plan) -> Option<u64> {
    match plan.residency {
        Residency::Lists | Residency::Tiles => None,
        Residency::PooledTiles(options) | Residency::PooledLists(options) => Some(options.bytes),
        Residency::Headed(options) => Some(options.memory_bytes),
    }
}

/// What was chosen, in one line.
pub(crate) fn summary(plan: &Plan, snapshot: &Snapshot) -> Result<String, Failure> {
    let name = name_of_form(plan.form);
    let whole = plan.ways.iter().find(|way| way.form == plan.form).map_or(0, |way| way.graph_bytes);
    let how = match (graph_memory(plan), plan.fits) {
        (_, true) => format!("all of its {} fit the memory", bytes(whole)),
        (None, false) => format!("the system keeps what it can of {}", bytes(whole)),
        (Some(memory), false) => format!("{} in memory for {}", bytes(memory), bytes(whole)),
    };
    let heads = plan.heads(snapshot, &Run::with_threads(1)?)?;
    let heads = heads.map(|heads| {
        format!("; the first {} neighbours of each vertex, {:.0} % of all", heads.length, heads.share * 100.0)
    });
    Ok(format!("{name}: {how}{}", heads.unwrap_or_default()))
}

/// What was chosen and what else there was, in rows of a name and a value.
pub(crate) fn explain(
    plan: &Plan,
    snapshot: &Snapshot,
    entry: &Entry,
    means: &Means,
) -> Result<Vec<(String, String)>, Failure> {
    let limit = format!(
        "{} at most: {} for the arrays of {}, {} for the process, the rest for the graph",
        bytes(means.memory_bytes),
        bytes(plan.estimate.memory_bytes),
        entry.name,
        bytes(PROCESS_BYTES)
    );
    let mut rows = vec![("memory".to_owned(), limit)];
    if means.mapped_bytes > means.memory_bytes {
        let mapped =
            format!("no limit was set: with mapped files, all {} there are", bytes(means.mapped_bytes));
        rows.push((String::new(), mapped));
    }
    for way in &plan.ways {
        let chosen = if way.form == plan.form { "chosen; " } else { "" };
        rows.push((name_of_form(way.form).to_owned(), format!("{chosen}{}", describe(way, means))));
    }
    rows.push(("reads".to_owned(), summary(plan, snapshot)?));
    Ok(rows)
}

fn describe(way: &Way, means: &Means) -> String {
    if let Some(obstacle) = &way.obstacle {
        return format!("not possible: {obstacle}");
    }
    let mapped = matches!(way.form, Form::Lists | Form::Tiles);
    let limit = if mapped { means.mapped_bytes } else { means.memory_bytes };
    let mut text = if mapped {
        let verdict = if way.whole_bytes <= limit { "fits" } else { "does not fit" };
        format!("{} of graph, {} in all: {verdict}", bytes(way.graph_bytes), bytes(way.whole_bytes))
    } else if way.least_bytes > limit {
        format!("{} of graph, needs {}: more than there is", bytes(way.graph_bytes), bytes(way.least_bytes))
    } else {
        format!("{} of graph, needs {} at least: possible", bytes(way.graph_bytes), bytes(way.least_bytes))
    };
    if let Some(unsuited) = &way.unsuited {
        text += &format!(", but not chosen unasked: {unsuited}");
    }
    text
}

/// The same as JSON.
pub(crate) fn plan_json(plan: &Plan, snapshot: &Snapshot, means: &Means) -> Result<Value, Failure> {
    let way = |way: &Way| {
        json!({
            "form": name_of_form(way.form),
            "graph_bytes": way.graph_bytes,
            "least_memory_bytes": way.least_bytes,
            "whole_memory_bytes": way.whole_bytes,
            "obstacle": way.obstacle,
            "unsuited": way.unsuited,
        })
    };
    let heads = plan.heads(snapshot, &Run::with_threads(1)?)?;
    Ok(json!({
        "form": name_of_form(plan.form),
        "fits": plan.fits,
        "memory_limit_bytes": means.memory_bytes,
        "mapped_limit_bytes": means.mapped_bytes,
        "graph_memory_bytes": graph_memory(plan),
        "heads": heads.map(|heads| json!({
            "length": heads.length,
            "share": heads.share,
            "memory_bytes": heads.memory_bytes,
        })),
        "ways": plan.ways.iter().map(way).collect::<Vec<_>>(),
    }))
}
