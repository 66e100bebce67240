//! `--encoding` and `--residency` of runs: what was chosen, and why.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use esker::algo::Estimate;
use esker::catalogue::{Entry, Resources};
use esker::graph::Run;
use esker::plan::{Candidate, PROCESS_BYTES, Plan, RESIDENCIES, Request, ResidencyEntry, name, shape_of};
use esker::rates::Known;
use esker::store::manifest::format_time;
use esker::store::windows::TimeWindow;
use esker::store::{GraphEncoding, Residency, View};

use crate::args::actual::price_rows;
use crate::args::size::{bytes, counted, seconds};
use crate::failure::Failure;
use crate::language::said;

/// `--encoding` of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EncodingArg {
    /// The lists, plain or compressed.
    Lists,
    /// The tiles that `esker compact --encoding tiles` made.
    Tiles,
}

/// `--residency`: the names of the catalogue.
fn residency_names() -> impl TypedValueParser<Value = Residency> {
    let names = RESIDENCIES.iter().map(|entry| PossibleValue::new(entry.name).help(entry.help));
    PossibleValuesParser::new(names)
        .map(|name| ResidencyEntry::find(&name).expect("one of the names").residency)
}

/// Encoding and residency of a run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Encoding and residency")]
pub(crate) struct AccessArgs {
    /// Encoding to read [default: chosen from what the database stores and the memory there is]
    #[arg(long, value_enum)]
    encoding: Option<EncodingArg>,
    #[command(flatten)]
    residency: ResidencyArgs,
    /// Say what was chosen, and why; after a run, what it read and took
    #[arg(long)]
    pub(crate) explain: bool,
}

/// Residency of a run.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ResidencyArgs {
    /// How the graph reaches memory [default: chosen likewise]
    #[arg(long, value_parser = residency_names())]
    residency: Option<Residency>,
    /// Neighbours of each vertex in memory, with --residency headed [default: as many as fit]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    head: Option<u32>,
}

impl ResidencyArgs {
    /// The request with this encoding.
    pub(crate) fn request(self, encoding: Option<GraphEncoding>) -> Request {
        let residency = self.residency;
        Request { encoding, residency, head_len: self.head.map(|head| head as usize) }
    }
}

impl AccessArgs {
    /// What the user asks for.
    pub(crate) fn request(&self) -> Request {
        self.residency.request(self.encoding.map(|encoding| match encoding {
            EncodingArg::Lists => GraphEncoding::Lists,
            EncodingArg::Tiles => GraphEncoding::Tiles,
        }))
    }
}

/// Bytes of the lists that a version has, uncompressed, with weights if the algorithm reads them.
pub(crate) fn list_bytes(view: &View, entry: &Entry) -> Result<u64, Failure> {
    let shape = shape_of(view, entry.reads_weights(view))?;
    Ok(shape.weighted_list_bytes() * if shape.directed && shape.in_edges { 2 } else { 1 })
}

/// What was chosen, in one line.
pub(crate) fn summary(plan: &Plan, view: &View) -> Result<String, Failure> {
    let chosen = plan.chosen();
    let whole = bytes(chosen.graph_bytes);
    let how = match (plan.graph_memory_bytes(), plan.fits) {
        (_, true) => format!("all of its {whole} fit in memory"),
        (None, false) => format!("the page cache keeps what it can of {whole}"),
        (Some(memory), false) => format!("{} of memory for {whole}", bytes(memory)),
    };
    let heads = plan.heads(view, &Run::with_threads(1)?)?;
    let heads = heads
        .map(|heads| format!("; heads of {} neighbours, {:.0} % of all", heads.length, heads.share * 100.0));
    Ok(format!("{}: {how}{}", chosen.name(), heads.unwrap_or_default()))
}

/// The estimate of an algorithm, in rows of a name and a value.
pub(crate) fn estimate_rows(
    estimate: Estimate,
    graph_bytes: u64,
    resources: &Resources,
) -> Vec<(String, String)> {
    let limit = resources.memory.bytes();
    let verdict = if estimate.memory_bytes + PROCESS_BYTES <= limit { "fits" } else { "does NOT fit" };
    let memory = format!("{} ({verdict} the limit of {})", bytes(estimate.memory_bytes), bytes(limit));
    let reads = format!("{} of lists at most, from memory where they fit", bytes(estimate.read_bytes));
    vec![
        ("memory".to_owned(), memory),
        ("reads".to_owned(), reads),
        ("graph".to_owned(), format!("{} of lists, uncompressed", bytes(graph_bytes))),
    ]
}

/// What was chosen, why, and the other candidates, in rows of a name and a value.
pub(crate) fn explain(
    plan: &Plan,
    view: &View,
    entry: &Entry,
    resources: &Resources,
) -> Result<Vec<(String, String)>, Failure> {
    let mut rows = estimate_rows(plan.estimate, list_bytes(view, entry)?, resources);
    let mut limit = format!(
        "{}: {} for the process, the rest for the arrays and the graph",
        bytes(resources.memory.bytes()),
        bytes(PROCESS_BYTES)
    );
    if resources.memory.mapped_bytes() > resources.memory.bytes() {
        limit += &format!(
            "; no limit was set, so mapped files may take all {}",
            bytes(resources.memory.mapped_bytes())
        );
    }
    rows.push(("limit".to_owned(), limit));
    for one in &plan.candidates {
        let chosen = if plan.is_choice(one) { "chosen; " } else { "" };
        rows.push((one.name(), format!("{chosen}{}", describe(one, resources))));
    }
    rows.extend(describe_view(plan, view).map(|view| ("view".to_owned(), view)));
    rows.push(("a run reads".to_owned(), summary(plan, view)?));
    rows.extend(price_rows(&plan.chosen().price));
    rows.push(("rates".to_owned(), source_of_rates(&Known::of_user())));
    rows.push(("because".to_owned(), plan.reason.to_string()));
    Ok(rows)
}

/// How the graph differs from the version, and what of it is copied to memory; `None` if neither.
fn describe_view(plan: &Plan, view: &View) -> Option<String> {
    let is_window = view.window_index().is_some_and(|index| *index.window() != TimeWindow::WHOLE);
    let edges = view.num_edges();
    let parts = [
        is_window.then(|| "the edges of a window".to_owned()),
        view.is_filtered().then(|| "edges that meet conditions".to_owned()),
        view.is_reversed().then(|| "edges turned round".to_owned()),
        view.drops_directions().then(|| "read as undirected".to_owned()),
        plan.gathers.then(|| format!("{} copied to memory", counted(edges, "edge", "edges"))),
        plan.makes_in_lists.then(|| "in-edges made in memory".to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Where the rates come from that times are predicted from.
fn source_of_rates(known: &Known) -> String {
    match (known.measured_ms, &known.ignored) {
        (Some(time), _) => {
            let measured = format!("measured {}, with the disk of {}", format_time(time), known.directory);
            match known.is_doubtful() {
                true => measured + ", while the machine was busy; `esker doctor` measures again",
                false => measured,
            }
        }
        (None, Some(reason)) => {
            format!("those of another machine, because of {reason}; `esker doctor` measures anew")
        }
        (None, None) => "those of another machine; `esker doctor` measures those of this one".to_owned(),
    }
}

/// Whether there is enough memory.
fn is_possible(one: &Candidate, resources: &Resources) -> bool {
    one.is_mapped() || one.least_bytes <= resources.memory.bytes()
}

fn describe(one: &Candidate, resources: &Resources) -> String {
    if let Some(obstacle) = &one.obstacle {
        return format!("not possible: {}", said(obstacle));
    }
    let mut text = format!("{} of graph, ", bytes(one.graph_bytes));
    text += &if one.is_mapped() {
        let fits = one.whole_bytes <= resources.memory.mapped_bytes();
        format!("{} in all: {}", bytes(one.whole_bytes), if fits { "fits" } else { "does not fit" })
    } else if one.least_bytes > resources.memory.bytes() {
        format!("needs {}: more than there is", bytes(one.least_bytes))
    } else {
        format!("needs {} at least: possible", bytes(one.least_bytes))
    };
    if is_possible(one, resources) {
        text += &format!("; {} predicted", seconds(one.price.seconds()));
    }
    if let Some(unsuited) = one.unsuited.as_ref().filter(|_| is_possible(one, resources)) {
        text += &format!(", but chosen only on request: {unsuited}");
    }
    text
}

/// The name of the default: mapped lists.
pub(crate) fn default_name() -> String {
    name(GraphEncoding::Lists, Residency::Mapped)
}
