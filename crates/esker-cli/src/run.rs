//! `esker run`: computes on a database, or straight on a file of edges.

use std::path::PathBuf;

use clap::Args;
use esker::answer::{Answer, Fact, Value};
use esker::catalogue::{Entry, Job, Params};
use esker::export::ExportOptions;
use esker::graph::Run;
use esker::output::write;
use esker::store::Snapshot;
use esker::top::{TopVertex, top};
use serde_json::json;

use crate::algorithm::{PerAlgorithm, SharedArgs};
use crate::at::AtArgs;
use crate::failure::{Failure, Outcome};
use crate::importing::PolicyArgs;
use crate::interrupt::cancel_on_signals;
use crate::opening::{Opened, open_graph};
use crate::progress::Bar;
use crate::reading::ReadArgs;
use crate::residency::{AccessArgs, explain, plan_json};
use crate::resources::{ResourceArgs, bytes_read, peak_memory_bytes};
use crate::size::{bytes, counted, rate, seconds};
use crate::text;

/// Lines shown when neither --top nor --output asks for anything else.
const SHOWN: usize = 10;

/// Run an algorithm on a database or a file of edges
///
/// Results go to standard output, time and memory to standard error. `esker run ALGORITHM --help` shows the options of an algorithm.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker run pagerank web.esker --top 10
  esker run bfs web.esker --source alice --output depths.parquet
  esker run wcc web.esker --memory 2GiB --explain
  esker run wcc edges.txt.gz --output - | head")]
pub(crate) struct RunCommand {
    #[command(flatten)]
    run: PerAlgorithm<RunArgs>,
}

/// The options that all algorithms share.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
struct RunArgs {
    /// A database, or files of edges, which are imported to a temporary one
    #[arg(required = true)]
    inputs: Vec<String>,
    #[command(flatten)]
    at: AtArgs,
    /// Show the N vertices with the largest values, or the N largest groups
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Write all values: .csv, .parquet, .arrow or .npy; `-` is CSV on standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace a file that stands there
    #[arg(long)]
    force: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    /// Check the answer with a serial verifier
    #[arg(long)]
    verify: bool,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The same answer for any number of threads
    #[arg(long)]
    deterministic: bool,
    /// Repeat the computation and report the median time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    trials: u16,
    #[command(flatten)]
    access: AccessArgs,
    #[command(flatten)]
    resources: ResourceArgs,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    policy: PolicyArgs,
}

impl SharedArgs for RunArgs {
    const NEEDS_REQUIRED: bool = true;
}

impl RunCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let PerAlgorithm { entry, params, shared } = &self.run;
        shared.carry_out(entry, params)
    }
}

impl RunArgs {
    fn carry_out(&self, entry: &Entry, params: &Params) -> Outcome {
        let cancel = cancel_on_signals()?;
        let Opened { snapshot, .. } =
            &open_graph(&self.inputs, &self.at, &self.read, &self.policy, &self.resources, &cancel)?;
        let resources = self.resources.of_run(self.deterministic);
        let plan = self.access.plan(snapshot, entry, params, &resources)?;
        if self.access.explain {
            text::remark_facts(&explain(&plan, snapshot, entry, &resources)?);
        }
        let snapshot = &plan.apply(snapshot)?;
        let bar = Bar::spinner(false);
        let run =
            self.resources.run(&cancel, self.seed, self.deterministic, Some(bar.on_round(entry.name)))?;
        let answer = self.compute(entry, params, snapshot, &run);
        bar.finish();
        let answer = answer?;
        if let Some(path) = &self.output {
            let options = ExportOptions { overwrite: self.force, cancel, ..ExportOptions::default() };
            write(path, snapshot.ids(), &answer, &options)?;
        }
        if self.json {
            self.print_json(entry, snapshot, &answer, &plan_json(&plan, snapshot, &resources)?)
        } else {
            self.print(entry, snapshot, &answer)
        }
    }

    /// The answer of the last trial, with the median of all times.
    fn compute(
        &self,
        entry: &Entry,
        params: &Params,
        snapshot: &Snapshot,
        run: &Run,
    ) -> Result<Answer, Failure> {
        let job = Job { snapshot, run, params, verify: self.verify };
        let mut answer = entry.run(&job)?;
        let mut times = vec![answer.seconds];
        for _ in 1..self.trials {
            drop(std::mem::take(&mut answer)); // Two at a time are more than was estimated.
            answer = entry.run(&job)?;
            times.push(answer.seconds);
        }
        times.sort_by(f64::total_cmp);
        answer.seconds = times[times.len() / 2];
        Ok(answer)
    }

    fn print(&self, entry: &Entry, snapshot: &Snapshot, answer: &Answer) -> Outcome {
        let to_stdout = self.output.as_deref().is_some_and(|path| path.as_os_str() == "-");
        if !to_stdout {
            let facts = answer.facts.iter().map(|(name, fact)| ((*name).to_owned(), describe(fact)));
            text::facts(&facts.collect::<Vec<_>>())?;
            if self.top.is_some() || self.output.is_none() {
                for ranked in top(answer, self.top.unwrap_or(SHOWN)) {
                    let mut shown = vec![show(snapshot, ranked.key)?, show(snapshot, ranked.value)?];
                    for (_, value) in further(answer, &ranked) {
                        shown.push(show(snapshot, value)?);
                    }
                    text::line(&shown.join("\t"))?;
                }
            }
        }
        let verified = if self.verify { ", verified" } else { "" };
        text::remark(&format!(
            "{}: {}, {}, {} edges, peak memory {}{verified}",
            entry.name,
            seconds(answer.seconds),
            counted(answer.rounds as u64, "round", "rounds"),
            rate(answer.arcs as f64, answer.seconds),
            peak_memory_bytes().map_or_else(|| "unknown".to_owned(), bytes),
        ));
        Ok(())
    }

    fn print_json(
        &self,
        entry: &Entry,
        snapshot: &Snapshot,
        answer: &Answer,
        plan: &serde_json::Value,
    ) -> Outcome {
        let facts: serde_json::Map<_, _> =
            answer.facts.iter().map(|(name, fact)| ((*name).to_owned(), fact_json(fact))).collect();
        let mut rows = Vec::new();
        if let Some(count) = self.top {
            for ranked in top(answer, count) {
                let key = match (answer.edges.is_some(), ranked.key) {
                    (true, _) => "edge",
                    (false, Value::Vertex(_)) => "vertex",
                    _ => "group",
                };
                let mut row = json!({ key: value_json(snapshot, ranked.key)?, "value": value_json(snapshot, ranked.value)? });
                for (name, value) in further(answer, &ranked) {
                    row[name] = value_json(snapshot, value)?;
                }
                rows.push(row);
            }
        }
        let report = json!({
            "algorithm": entry.name,
            "version": snapshot.version().number,
            "vertices": answer.vertices.as_ref().map_or(snapshot.num_vertices(), |vertices| vertices.len()),
            "edges": snapshot.num_edges(),
            "seconds": answer.seconds,
            "rounds": answer.rounds,
            "edges_per_second": if answer.seconds > 0.0 { answer.arcs as f64 / answer.seconds } else { 0.0 },
            "peak_memory_bytes": peak_memory_bytes(),
            "bytes_read": bytes_read(),
            "plan": plan,
            "verified": self.verify,
            "answers": facts,
            "top": rows,
        });
        if self.output.as_deref().is_some_and(|path| path.as_os_str() == "-") {
            text::remark(&report.to_string());
            return Ok(());
        }
        text::json(&report)
    }
}

/// The other columns of a ranked row, such as parents.
fn further(answer: &Answer, ranked: &TopVertex) -> impl Iterator<Item = (&'static str, Value)> {
    let others = answer.columns.iter().skip(1);
    ranked.row.into_iter().flat_map(move |row| others.clone().map(move |one| (one.name, one.values.get(row))))
}

fn describe(fact: &Fact) -> String {
    match fact {
        Fact::Count(value) => value.to_string(),
        Fact::Float(value) => format!("{value}"),
        Fact::Flag(value) => if *value { "yes" } else { "no" }.to_owned(),
    }
}

fn fact_json(fact: &Fact) -> serde_json::Value {
    match fact {
        Fact::Count(value) => json!(value),
        Fact::Float(value) => json!(value),
        Fact::Flag(value) => json!(value),
    }
}

fn show(snapshot: &Snapshot, value: Value) -> Result<String, Failure> {
    Ok(match value {
        Value::Missing => String::new(),
        Value::Vertex(v) => text::cell(&snapshot.ids().external_of(v)?.to_string()).into_owned(),
        Value::Edge(u, v) => {
            format!("{}\t{}", show(snapshot, Value::Vertex(u))?, show(snapshot, Value::Vertex(v))?)
        }
        Value::Integer(value) => value.to_string(),
        Value::Count(value) => value.to_string(),
        Value::Float(value) => format!("{value}"),
    })
}

fn value_json(snapshot: &Snapshot, value: Value) -> Result<serde_json::Value, Failure> {
    Ok(match value {
        Value::Missing => serde_json::Value::Null,
        Value::Vertex(v) => match snapshot.ids().external_of(v)? {
            esker::store::ids::ExternalId::Int(id) => json!(id),
            text => json!(text.to_string()),
        },
        Value::Edge(u, v) => {
            json!([value_json(snapshot, Value::Vertex(u))?, value_json(snapshot, Value::Vertex(v))?])
        }
        Value::Integer(value) => json!(value),
        Value::Count(value) => json!(value),
        Value::Float(value) => json!(value),
    })
}
