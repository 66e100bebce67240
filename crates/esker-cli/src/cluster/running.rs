//! `esker cluster run`: computes on all shards together.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use esker::import::export::push_f64;
use esker_cluster::disk::job::RunJob;
use esker_cluster::model::answer::{Cell, ColumnKind, OwnedId, VertexRow};
use esker_cluster::{ClusterAnswer, write_id};
use serde_json::{Value, json};

use super::params::{AlgorithmParams, algorithms, not_a_cluster};
use super::tables::ArrowTable;
use super::workers::{HostsArg, WholeAtArg, explain, supervised, with_output, workers_json};
use crate::args::size::{bytes, count, parse_bytes, seconds};
use crate::failure::{Failure, Outcome};
use crate::interrupt::{self, cancel_on_signals};
use crate::show::progress::Bar;
use crate::show::rounding::{RoundArg, float_text, rounded};
use crate::show::rows::{RowFormat, RowTable};
use crate::show::text;

/// Lines shown when neither --top nor --output asks for anything else.
const SHOWN: usize = 10;

/// Run an algorithm on a cluster
///
/// Results go to standard output, time and figures to standard error. They are the same for any number of
/// shards.
#[derive(Debug, Args)]
#[command(after_help = algorithms(|_| true), mut_arg("round", |round| round.conflicts_with("output")))]
pub(crate) struct ClusterRunCommand {
    /// The algorithm: one of those below
    #[arg(value_parser = not_a_cluster)]
    algorithm: String,
    /// The cluster
    cluster: PathBuf,
    #[command(flatten)]
    hosts: HostsArg,
    #[command(flatten)]
    params: AlgorithmParams,
    #[command(flatten)]
    at: WholeAtArg,
    /// Show the N vertices with the largest values, or the N largest components
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Write all values to a file, which must not exist, in order of id: as Arrow if its name ends in .arrow,
    /// else as CSV; `-` is standard output
    #[arg(long, short, value_name = "FILE", conflicts_with = "top")]
    output: Option<PathBuf>,
    /// Memory limit of each worker, such as 2GiB; refused at once if that is too little [default: none]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<u64>,
    /// Say what each worker sent, and how much memory it took
    #[arg(long)]
    explain: bool,
    /// Report as JSON
    #[arg(long, conflicts_with = "output")]
    json: bool,
    #[command(flatten)]
    round: RoundArg,
}

impl ClusterRunCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.round.apply();
        let ends_in =
            |end: &str| self.output.as_ref().is_some_and(|path| path.extension() == Some(end.as_ref()));
        if ends_in("parquet") {
            let message =
                "answers of a cluster are not written as Parquet: give a name that ends in .arrow or .csv";
            return Err(Failure::Usage(message.to_owned()));
        }
        let cancel = cancel_on_signals()?;
        let cluster = self.hosts.open(&self.cluster)?;
        let job = RunJob {
            algorithm: self.algorithm.clone(),
            params: self.params.0.clone(),
            version: self.at.number(&cluster)?,
            top: self.output.is_none().then(|| self.top.unwrap_or(SHOWN)),
            memory_bytes: self.memory,
        };
        let (begin, bar) = (Instant::now(), Bar::spinner(false));
        bar.set(&self.algorithm, 0.0, String::new());
        let answer = supervised(cancel, &|_| {}, |supervisor| supervisor.run(&cluster, &job));
        bar.finish();
        let (answer, taken) = (answer?, begin.elapsed().as_secs_f64());
        let facts = self.facts(&answer, taken);
        match &self.output {
            Some(path) if ends_in("arrow") => {
                let about = self.about(&answer, job.version, taken).to_string();
                let table = ArrowTable::new(&answer.outline.columns, cluster.manifest().text_ids, &about);
                with_output(path, |out| table.write(out, &sorted(&answer)))?;
            }
            Some(path) => with_output(path, |out| write_rows(out, &answer))?,
            None if self.json => {
                let mut about = self.about(&answer, job.version, taken);
                about["top"] = top(&answer, self.top.unwrap_or(SHOWN)).objects().into();
                return text::json(&about);
            }
            None => top(&answer, self.top.unwrap_or(SHOWN)).print(RowFormat::Table)?,
        }
        text::remark_facts(&facts);
        if self.explain {
            explain(&answer.workers, 0);
        }
        Ok(())
    }

    /// What the answer is and what it took, as JSON.
    fn about(&self, answer: &ClusterAnswer, version: u64, taken: f64) -> Value {
        let figures: HashMap<_, _> = answer.outline.facts.iter().cloned().collect();
        json!({
            "algorithm": self.algorithm,
            "version": version,
            "rounds": answer.outline.rounds,
            "figures": rounded(json!(figures)),
            "seconds": taken,
            "workers": workers_json(&answer.workers),
        })
    }

    /// What was found and what it took.
    fn facts(&self, answer: &ClusterAnswer, taken: f64) -> Vec<(String, String)> {
        let figure = |name: &str, value: f64| match name {
            "bytes sent" => bytes(value as u64),
            "error" => float_text(value).unwrap_or_else(|| format!("{value:.2e}")),
            "converged" => if value == 0.0 { "no" } else { "yes" }.to_owned(),
            _ => count(value as u64),
        };
        let mut facts = vec![
            ("algorithm".to_owned(), self.algorithm.clone()),
            ("rounds".to_owned(), count(answer.outline.rounds)),
        ];
        facts.extend(answer.outline.facts.iter().map(|(name, value)| (name.clone(), figure(name, *value))));
        facts.push(("time".to_owned(), seconds(taken)));
        facts
    }
}

pub(super) fn id_json(id: &OwnedId) -> Value {
    match id {
        OwnedId::Int(id) => json!(id),
        OwnedId::Text(text) => json!(String::from_utf8_lossy(text)),
    }
}

pub(super) fn cell_json(cell: &Cell) -> Value {
    match cell {
        Cell::Missing => Value::Null,
        Cell::Count(count) => json!(count),
        Cell::Float(number) => json!(number),
        Cell::Id(id) => id_json(id),
    }
}

/// The first rows by the first value, largest first and then by id; of ids, the largest groups.
fn top(answer: &ClusterAnswer, len: usize) -> RowTable {
    let columns = &answer.outline.columns;
    if let Some((name, ColumnKind::Id)) = columns.first() {
        let mut groups: HashMap<&OwnedId, u64> = HashMap::new();
        for (_, cells) in &answer.rows {
            if let [Cell::Id(id), Cell::Count(members)] = &cells[..] {
                *groups.entry(id).or_default() += members;
            }
        }
        return top_groups(name, groups.into_iter(), len);
    }
    top_values(columns, answer.rows.iter().map(|(id, cells)| (id, &cells[..])).collect(), len)
}

/// The largest groups, with the number of their members.
pub(super) fn top_groups<'a>(
    name: &str,
    groups: impl Iterator<Item = (&'a OwnedId, u64)>,
    len: usize,
) -> RowTable {
    let mut groups: Vec<_> = groups.map(|(id, members)| (members, id)).collect();
    groups.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let mut rows = RowTable::of([name, "vertices"]);
    groups.iter().take(len).for_each(|(members, id)| rows.push(vec![id_json(id), json!(members)]));
    rows
}

/// The vertices with the largest first values.
pub(super) fn top_values(
    columns: &[(String, ColumnKind)],
    mut all: Vec<(&OwnedId, &[Cell])>,
    len: usize,
) -> RowTable {
    let first = |a: &(&OwnedId, &[Cell]), b: &(&OwnedId, &[Cell])| {
        b.1[0].cmp_as_value(&a.1[0]).then_with(|| a.0.cmp(b.0))
    };
    if len < all.len() {
        all.select_nth_unstable_by(len, first);
        all.truncate(len);
    }
    all.sort_unstable_by(first);
    let mut rows =
        RowTable::of(std::iter::once("vertex").chain(columns.iter().map(|(name, _)| name.as_str())));
    for (id, cells) in all {
        rows.push(std::iter::once(id_json(id)).chain(cells.iter().map(cell_json)).collect());
    }
    rows
}

/// The rows in order of id.
fn sorted(answer: &ClusterAnswer) -> Vec<&VertexRow> {
    let mut sorted: Vec<&VertexRow> = answer.rows.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    sorted
}

/// Writes all rows as CSV, in order of id.
fn write_rows(out: &mut dyn std::io::Write, answer: &ClusterAnswer) -> Result<(), Failure> {
    let names: Vec<&str> = answer.outline.columns.iter().map(|(name, _)| name.as_str()).collect();
    writeln!(out, "vertex,{}", names.join(","))?;
    let mut digits = Vec::new();
    for (id, cells) in sorted(answer) {
        interrupt::check()?;
        write_id(out, id.as_id())?;
        for cell in cells {
            out.write_all(b",")?;
            match cell {
                Cell::Missing => {}
                Cell::Count(count) => write!(out, "{count}")?,
                Cell::Float(number) => {
                    digits.clear();
                    push_f64(&mut digits, *number);
                    out.write_all(&digits)?;
                }
                Cell::Id(id) => write_id(out, id.as_id())?,
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}
