//! What a run on one graph reports.

use esker::answer::{Answer, Fact, Value};
use esker::catalogue::{Entry, WeightReads};
use esker::store::View;
use esker::store::format::PropertyRecord;
use esker::top::{TopVertex, top};
use esker::window::Times;
use serde_json::json;

use crate::args::resources::{bytes_read, peak_memory_bytes};
use crate::args::size::{bytes, counted, rate, seconds};
use crate::args::window_args::{describe, window_json};
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::show::answer_rows::{UNDEFINED, fact_json, value_json};
use crate::show::figures::{edges_name, float_text};
use crate::show::rounding::rounded;
use crate::show::text;

/// A run that has ended.
pub(crate) struct RanRun<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) view: &'a View,
    pub(crate) times: Option<&'a Times>,
    pub(crate) answer: &'a Answer,
    /// How it was planned, and what it took.
    pub(crate) plan: &'a serde_json::Value,
}

impl RanRun<'_> {
    /// Prints the report as JSON: on standard error, and without rows, if rows are on standard output.
    pub(crate) fn print_json(&self, top: Option<usize>, is_verified: bool, has_rows: bool) -> Outcome {
        let report = self.to_json(top.filter(|_| !has_rows), is_verified)?;
        if has_rows {
            text::warn(&report.to_string());
            return Ok(());
        }
        text::json(&report)
    }

    /// The report as JSON, with the first rows if some are asked for.
    fn to_json(&self, count: Option<usize>, is_verified: bool) -> Result<serde_json::Value, Failure> {
        let Self { entry, view, times, answer, plan } = *self;
        let facts: serde_json::Map<_, _> =
            answer.facts.iter().map(|(name, fact)| ((*name).to_owned(), rounded(fact_json(fact)))).collect();
        let mut rows = Vec::new();
        for ranked in
            count.map(|count| top(answer, count, interrupt::token())).transpose()?.unwrap_or_default()
        {
            interrupt::check()?;
            let key = match (answer.edges.is_some(), ranked.key) {
                (true, _) => "edge",
                (false, Value::Vertex(_)) => "vertex",
                _ => "group",
            };
            let value = |value| value_json(view.version(), value);
            let mut row = json!({ key: value(ranked.key)?, "value": value(ranked.value)? });
            for (name, further) in further(answer, &ranked) {
                row[name] = value(further)?;
            }
            rows.push(rounded(row));
        }
        Ok(json!({
            "algorithm": entry.name,
            "version": view.version().number(),
            "vertices": answer.vertices.as_ref().map_or(view.version().num_vertices(), |vertices| vertices.len()),
            edges_name(view): view.num_edges(),
            "as_undirected": view.drops_directions(),
            "reversed": view.is_reversed(),
            "filtered": view.is_filtered(),
            "window": window_json(view, times),
            "weight": view.weight_property().filter(|_| entry.reads_weights(view)).map(|property| &property.name),
            "seconds": answer.seconds,
            "rounds": answer.rounds,
            "edges_per_second": if answer.seconds > 0.0 { answer.arcs as f64 / answer.seconds } else { 0.0 },
            "peak_memory_bytes": peak_memory_bytes(),
            "bytes_read": bytes_read(),
            "plan": plan,
            "verified": is_verified,
            "answers": facts,
            "top": rows,
        }))
    }
}

/// The other columns of a ranked row, such as parents.
fn further(answer: &Answer, ranked: &TopVertex) -> impl Iterator<Item = (&'static str, Value)> {
    let others = answer.columns.iter().skip(1);
    ranked.row.into_iter().flat_map(move |row| others.clone().map(move |one| (one.name, one.values.get(row))))
}

/// What a run says on standard error, after some figures.
pub(crate) fn run_facts(
    entry: &Entry,
    view: &View,
    times: Option<&Times>,
    answer: &Answer,
    figures: &[(&'static str, Fact)],
) -> Vec<(String, String)> {
    let mut facts: Vec<_> =
        figures.iter().map(|(name, fact)| ((*name).to_owned(), fact_text(fact))).collect();
    let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value));
    let vertices =
        answer.vertices.as_ref().map_or(view.version().num_vertices(), |vertices| vertices.len()) as u64;
    let edges = match view.drops_directions() {
        true => {
            let edges = counted(view.num_edges(), "directed edge", "directed edges");
            format!("{edges} read as undirected")
        }
        false => counted(view.num_edges(), "edge", "edges"),
    };
    let (version, vertices) = (view.version().number(), counted(vertices, "vertex", "vertices"));
    fact("graph", format!("{vertices}, {edges}, version {version}"));
    if let Some(window) = times.and_then(|times| describe(view, times)) {
        fact("window", window);
    }
    if let Some(weight) = describe_weight(entry, view) {
        fact("weight", weight);
    }
    fact("rounds", answer.rounds.to_string());
    let rate = rate(answer.arcs as f64, answer.seconds, "edges");
    fact("time", format!("{}, {rate}", seconds(answer.seconds)));
    fact("memory", peak_memory_bytes().map_or_else(|| "unknown".to_owned(), bytes));
    facts
}

/// What a run made of the weights of edges; `None` if it had none and needed none.
fn describe_weight(entry: &Entry, view: &View) -> Option<String> {
    let unread = |weight: &PropertyRecord| match entry.reads.weights {
        WeightReads::Never => format!("{}, which {} does not read", weight.name, entry.name),
        _ => format!("{0}, which {1} reads only with --weight {0}", weight.name, entry.name),
    };
    if view.counts_edges() {
        return entry.reads_weights(view).then(|| "the number of edges".to_owned());
    }
    match (entry.reads_weights(view), view.weight_property()) {
        (true, Some(weight)) => Some(weight.name.clone()),
        (true, None) => Some("none: each edge counts as 1".to_owned()),
        (false, weight) => weight.map(unread),
    }
}

/// A fact as text.
pub(crate) fn fact_text(fact: &Fact) -> String {
    match fact {
        Fact::Count(value) => value.to_string(),
        Fact::Float(value) if value.is_nan() => UNDEFINED.to_owned(),
        Fact::Float(value) => float_text(*value),
        Fact::Flag(value) => if *value { "yes" } else { "no" }.to_owned(),
    }
}
