//! `esker import`: reads files of edges into a new database.

use std::path::{Path, PathBuf};

use clap::Args;
use esker::change::give_edge_ids;
use esker::graph::Cancel;
use esker::import::open::{KIND_PROPERTY, KindInput};
use esker::import::options::{Duplicates, ImportReport};
use esker::import::read::format::Format;
use esker::store::headed::Heads;
use esker::store::{Database, Store};
use esker::window::{Declared, EpochUnit, Times};
use serde_json::json;

use crate::args::encoding::{OnlyArgs, StoredEncoding};
use crate::args::heads::{HeadsArgs, describe as describe_heads};
use crate::args::importing::{
    DuplicatesArg, Imported, ImportedFiles, PolicyArgs, RejectsArg, import_files, refuse_standard_output,
};
use crate::args::reading::{IdsArg, ReadArgs};
use crate::args::resources::{ResourceArgs, peak_memory_bytes};
use crate::args::size::{bytes, count, counted, rate, seconds};
use crate::args::tiling::describe;
use crate::args::window_args::UnitArg;
use crate::args::write_options::WriteOptionArgs;
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::language::said;
use crate::session::writing::{parse_event_time, remark_future};
use crate::show::progress::Bar;
use crate::show::text;

/// Import edges from files into a new database
///
/// Formats and compression (.gz, .zst, .bz2) are detected from the content. `-` is standard input; patterns
/// such as 'part-*.csv' are expanded.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker import edges.csv web.esker --src from --dst to --weight w
  esker import 'part-*.parquet' web.esker --undirected
  esker import calls.csv people.esker --kind medium
  esker import people.esker --kind follows=follows.parquet --kind likes=likes.csv
  zcat edges.txt.gz | esker import - web.esker")]
pub(crate) struct ImportCommand {
    /// Files of edges, then the database to create
    #[arg(required = true, num_args = 1.., value_name = "INPUT... DATABASE")]
    paths: Vec<String>,
    #[command(flatten)]
    read: ReadArgs,
    /// How to store the graph
    #[arg(long, value_enum, default_value_t)]
    encoding: StoredEncoding,
    #[command(flatten)]
    only: OnlyArgs,
    #[command(flatten)]
    heads: HeadsArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    rejects: RejectsArg,
    /// Column of the kinds of edges, which is stored as a property of texts; or a kind and the file of its
    /// edges, once for each kind. Edges of different kinds stay beside each other: --duplicates applies to
    /// those of one kind
    #[arg(long, value_name = "COLUMN|KIND=FILE", help_heading = "Building")]
    kind: Vec<String>,
    /// With --duplicates keep or rows, or with --kind, give edges ids that tell parallel ones apart, in the
    /// property edge_id: the version that added the edge, and its place among those between its ends that
    /// this version added, as in v1.2. An id never changes. Takes 8 bytes an edge and direction, and writes
    /// the lists twice
    #[arg(long)]
    edge_ids: bool,
    #[command(flatten)]
    writes: WriteOptionArgs,
    #[command(flatten)]
    resources: ResourceArgs,
    /// When what the edges record happened: 2026-11-21, 2026-11-21T10:00:00Z, or @ and milliseconds since
    /// 1970 [default: now]
    #[arg(long, value_name = "TIME", value_parser = parse_event_time)]
    event_time: Option<u64>,
    /// Unit of a time that is a number, which the database remembers [default: guessed from the latest]
    #[arg(long, value_enum, value_name = "UNIT", requires = "time")]
    time_unit: Option<UnitArg>,
    /// Replace an existing database, if nothing but its own files is in its directory
    #[arg(long)]
    force: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl ImportCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let (of_kinds, column) = self.kinds()?;
        let is_complete = |inputs: &[String]| inputs.is_empty() != of_kinds.is_empty();
        let Some((target, inputs)) = self.paths.split_last().filter(|(_, inputs)| is_complete(inputs)) else {
            if !of_kinds.is_empty() {
                let reason = "--kind KIND=FILE names the files, so give the database alone beside it";
                return Err(Failure::Usage(reason.to_owned()));
            }
            return Err(Failure::Usage(
                "give the input files and the database to create, as in: esker import edges.csv web.esker"
                    .to_owned(),
            ));
        };
        self.only.check(Some(self.encoding), self.heads.are_wanted())?;
        refuse_standard_output(target)?;
        if self.edge_ids && !self.keeps_parallel() {
            let reason = "--edge-ids is for parallel edges: give --duplicates keep, too, which keeps them";
            return Err(Failure::Usage(reason.to_owned()));
        }
        remark_future(self.event_time);
        let target = PathBuf::from(target);
        let cancel = cancel_on_signals()?;
        let imported = import_files(
            &match of_kinds.is_empty() {
                true => ImportedFiles::All(inputs.to_vec()),
                false => ImportedFiles::OfKinds(of_kinds),
            },
            &target,
            &self.read,
            &self
                .policy
                .with_encoding(self.encoding, self.only)
                .at_time(self.event_time)
                .of_kind(column)
                .in_unit(self.time_unit.map(EpochUnit::from))
                .rejecting(&self.rejects)
                .written(&self.writes),
            &self.resources,
            &cancel,
            self.force,
        )?;
        if self.edge_ids {
            self.give_ids(&target, &cancel)?;
        }
        let heads = self.heads.make_at(&target, &self.resources, &cancel)?;
        if imported.report.vertices == 0 {
            let name = target.display();
            let ids = match imported.report.integer_ids && self.read.ids == IdsArg::Auto {
                true => "; its ids are integers, so import with --ids text if texts will follow",
                false => "",
            };
            text::warn(&format!("warning: {name} is empty: the input has no edges and no vertices{ids}"));
        }
        warn_of_no_time(&imported.report);
        if self.policy.duplicates.is_none() && imported.report.rule == Duplicates::Last {
            remark_duplicates(
                imported.report.duplicates,
                imported.report.rows,
                self.read.time.as_deref().or(imported.report.time.as_deref()),
            );
        }
        let printed = self.times(&target, &cancel).and_then(|times| match self.json {
            true => print_json(&target, &imported, heads, times.as_deref()),
            false => print(&target, &imported, heads, times),
        });
        printed.map_err(|failure| failure.after(&format!("imported to {}", target.display())))
    }
}

impl ImportCommand {
    /// Whether the database keeps parallel edges.
    fn keeps_parallel(&self) -> bool {
        let is_kept = matches!(self.policy.duplicates, Some(DuplicatesArg::Keep | DuplicatesArg::Rows));
        is_kept || !self.kind.is_empty()
    }

    /// The files of each kind, and the property of the kinds.
    fn kinds(&self) -> Result<(Vec<KindInput>, Option<&str>), Failure> {
        let split =
            |one: &String| one.split_once('=').map(|(kind, input)| (kind.to_owned(), input.to_owned()));
        match self.kind.as_slice() {
            [] => Ok((Vec::new(), None)),
            [column] if !column.contains('=') => Ok((Vec::new(), Some(column))),
            all => {
                let named = all.iter().map(split).collect::<Option<Vec<_>>>();
                let named = named.filter(|named| named.iter().all(|(kind, _)| !kind.is_empty()));
                let files = named.ok_or_else(|| {
                    Failure::Usage(
                        "--kind is given once with a column, or for each kind with its file, as in --kind follows=follows.csv"
                            .to_owned(),
                    )
                })?;
                let files = files.into_iter().map(|(kind, input)| KindInput { kind, input }).collect();
                Ok((files, Some(KIND_PROPERTY)))
            }
        }
    }

    /// The times of the new database in words, if it has a time.
    fn times(&self, target: &Path, cancel: &Cancel) -> Result<Option<String>, Failure> {
        if self.read.time.is_none() {
            return Ok(None);
        }
        let view = Store::open(target)?.latest()?.view();
        let Some(time) = Declared::of(view.version().manifest()).time else { return Ok(None) };
        let run = self.resources.run(cancel, 0, false, None)?;
        let is_number = view.version().edge_property(&time)?.is_number();
        let times = Times::of(&view, Some(&time), None, &run)?;
        Ok(times.described(is_number, self.time_unit.is_some()))
    }

    /// Gives the edges of the new database their ids.
    fn give_ids(&self, target: &Path, cancel: &Cancel) -> Outcome {
        let bar = Bar::spinner(false);
        let run = self.resources.run(cancel, 0, false, Some(bar.on_round("ids of edges")))?;
        let give = || {
            let database = Database::open(target, self.resources.of_database(&run))?;
            give_edge_ids(&database, &run)?;
            database.close()?;
            Ok(())
        };
        let given = give();
        bar.finish();
        given.map_err(|failure: Failure| {
            failure.after(&format!(
                "imported to {0} without ids of edges, which `esker options {0} --edge-ids` adds",
                target.display()
            ))
        })
    }
}

/// Warns if no window can use what was named as the time.
fn warn_of_no_time(report: &ImportReport) {
    if let Some((time, held)) = &report.no_time {
        text::warn(&format!(
            "warning: {time} holds {held}, and no window takes that for times: give whole numbers, dates or timestamps"
        ));
    }
}

/// Warns if edges with times, or more than a percent of others, were left out, though no rule was asked for.
fn remark_duplicates(duplicates: u64, rows: u64, time: Option<&str>) {
    let usual = if time.is_some() { 0 } else { rows / 100 };
    if duplicates <= usual {
        return;
    }
    let percent = duplicates as f64 / rows as f64 * 100.0;
    let offer = match time {
        Some(time) => format!("; to keep an edge for each {time}, import with --duplicates keep"),
        None => "; --duplicates chooses another rule".to_owned(),
    };
    let repeat = if duplicates == 1 { "repeats" } else { "repeat" };
    text::warn(&format!(
        "warning: {} ({percent:.0}% of the rows) {repeat} an edge, and the last of each stays{offer}",
        counted(duplicates, "row", "rows")
    ));
}

/// How the input was read on standard error, what became of it as a table on standard output.
fn print(target: &Path, imported: &Imported, heads: Option<Heads>, times: Option<String>) -> Outcome {
    let report = &imported.report;
    for note in &imported.notes {
        text::remark(&said(note));
    }
    let kind = if report.directed { "directed" } else { "undirected" };
    let mut rows = vec![
        ("database", target.display().to_string()),
        ("vertices", count(report.vertices)),
        ("edges", format!("{} {kind}", count(report.edges))),
    ];
    let fate = match report.rule {
        Duplicates::Sum => "added up: --duplicates keep keeps them",
        Duplicates::Min | Duplicates::Max => "compared: --duplicates keep keeps them",
        _ => "skipped: --duplicates keep keeps them",
    };
    let skipped = [
        ("duplicates", report.duplicates, fate),
        ("self-loops", report.self_loops, "skipped"),
        ("bad lines", report.rejected, "skipped"),
    ];
    let is_some = |(_, number, _): &(_, u64, _)| *number > 0;
    let row = |(name, number, fate)| (name, format!("{} {fate}", count(number)));
    rows.extend(skipped.into_iter().filter(is_some).map(row));
    rows.extend(imported.report.tiles.as_ref().map(|tiles| ("tiles", describe(tiles))));
    rows.extend(times.map(|times| ("times", times)));
    rows.extend(heads.as_ref().map(|heads| ("heads", describe_heads(heads))));
    let rows: Vec<_> = rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    text::facts(&rows)?;
    text::remark_rejected(&report.rejected_sample);
    text::remark(&format!(
        "Read {} in {} ({}), peak memory {}",
        counted(report.rows, "row", "rows"),
        seconds(imported.seconds),
        rate(report.rows as f64, imported.seconds, "rows"),
        peak_memory_bytes().map_or_else(|| "unknown".to_owned(), bytes)
    ));
    Ok(())
}

fn print_json(target: &Path, imported: &Imported, heads: Option<Heads>, times: Option<&str>) -> Outcome {
    let report = &imported.report;
    let stages: serde_json::Map<_, _> =
        report.stages.iter().map(|(name, seconds)| ((*name).to_owned(), json!(seconds))).collect();
    text::json(&json!({
        "database": target.display().to_string(),
        "format": imported.format.map(Format::name),
        "notes": imported.notes.iter().map(said).collect::<Vec<_>>(),
        "warnings": report.warnings.iter().map(said).collect::<Vec<_>>(),
        "rows": report.rows,
        "vertices": report.vertices,
        "edges": report.edges,
        "arcs": report.arcs,
        "directed": report.directed,
        "duplicates": report.duplicates,
        "self_loops_dropped": report.self_loops,
        "rejected": report.rejected,
        "rejected_sample": text::rejected_json(&report.rejected_sample),
        "order": format!("{:?}", report.order.order).to_lowercase(),
        "order_reason": report.order.reason,
        "times": times,
        "tile_bytes": report.tiles.as_ref().map(|tiles| tiles.data_bytes),
        "head_length": heads.map(|heads| heads.length),
        "seconds": imported.seconds,
        "edges_per_second": report.rows as f64 / imported.seconds,
        "stages": stages,
        "peak_memory_bytes": peak_memory_bytes(),
    }))
}
