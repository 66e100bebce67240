//! The policies of an import, shared by the verbs that build a database, and the import itself.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use esker::graph::Cancel;
use esker::store::format::Encoding;
use esker::store::import::format::Format;
use esker::store::import::install::import;
use esker::store::import::open::open;
use esker::store::import::options::{
    BadLines, Duplicates, ImportOptions, ImportProgress, ImportReport, SelfLoops, VertexOrder,
};
use esker::store::import::source::Reader;
use esker::store::io::{Disk, RealDisk};
use esker::store::tiles::TileReport;
use esker::store::version::StagingOptions;

use crate::encoding::StoredEncoding;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::reading::ReadArgs;
use crate::resources::ResourceArgs;
use crate::size::rate;
use crate::tiling::make_tiles_at;

/// How vertices are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Order {
    /// Whichever of the two gives the better locality, as measured.
    #[default]
    Auto,
    /// As they come.
    Keep,
    /// By descending degree.
    Degree,
}

/// What becomes of edges that come several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Repeats {
    /// The first stays.
    #[default]
    Drop,
    /// All stay.
    Keep,
    /// One stays, with the sum of the weights.
    Sum,
    /// One stays, with the smallest weight.
    Min,
}

/// What becomes of edges from a vertex to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Loops {
    /// They stay.
    #[default]
    Keep,
    /// They are left out.
    Drop,
}

/// What a line that cannot be understood does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Lines {
    /// It ends the import.
    #[default]
    Stop,
    /// It is left out and reported.
    Skip,
}

/// The policies.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Building")]
pub(crate) struct PolicyArgs {
    /// Edges have a direction [default, unless the format says otherwise]
    #[arg(long, conflicts_with = "undirected")]
    pub(crate) directed: bool,
    /// Edges have no direction
    #[arg(long)]
    pub(crate) undirected: bool,
    /// Do not keep the lists of incoming edges of a directed graph: half the size, but slower or refused analyses
    #[arg(long)]
    pub(crate) no_in_edges: bool,
    /// Numbering of the vertices; answers always have your ids
    #[arg(long, value_enum, default_value_t)]
    pub(crate) order: Order,
    /// How the graph is kept: an option of the verbs that make a database which stays, see [`PolicyArgs::kept_as`].
    #[arg(skip)]
    encoding: StoredEncoding,
    /// Edges that come several times
    #[arg(long, value_enum, default_value_t)]
    pub(crate) duplicates: Repeats,
    /// Edges from a vertex to itself
    #[arg(long, value_enum, default_value_t)]
    pub(crate) self_loops: Loops,
    /// Lines that cannot be understood
    #[arg(long, value_enum, default_value_t)]
    pub(crate) bad_lines: Lines,
}

impl PolicyArgs {
    /// The same, with the graph kept in some way.
    pub(crate) fn kept_as(&self, encoding: StoredEncoding) -> Self {
        Self { encoding, ..self.clone() }
    }

    fn options(&self, resources: &ResourceArgs, cancel: &Cancel) -> ImportOptions {
        ImportOptions {
            directed: match (self.directed, self.undirected) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            },
            in_edges: !self.no_in_edges,
            order: match self.order {
                Order::Auto => VertexOrder::Auto,
                Order::Keep => VertexOrder::Keep,
                Order::Degree => VertexOrder::Degree,
            },
            encoding: self.encoding.of_lists().unwrap_or(Encoding::Plain),
            duplicates: match self.duplicates {
                Repeats::Drop => Duplicates::Drop,
                Repeats::Keep => Duplicates::Keep,
                Repeats::Sum => Duplicates::Sum,
                Repeats::Min => Duplicates::Min,
            },
            self_loops: match self.self_loops {
                Loops::Keep => SelfLoops::Keep,
                Loops::Drop => SelfLoops::Drop,
            },
            bad_lines: match self.bad_lines {
                Lines::Stop => BadLines::Stop,
                Lines::Skip => BadLines::Skip,
            },
            threads: resources.threads(),
            memory_bytes: resources.memory_bytes(),
            message: None,
            cancel: cancel.clone(),
            on_progress: None,
        }
    }
}

/// What an import did.
pub(crate) struct Imported {
    /// What was read and stored.
    pub(crate) report: ImportReport,
    /// The tiles that were made, if they were asked for.
    pub(crate) tiles: Option<TileReport>,
    /// The format that the input was taken for.
    pub(crate) format: Option<Format>,
    /// What else the inputs were taken for.
    pub(crate) notes: Vec<String>,
    /// Seconds from opening the input to the finished database.
    pub(crate) seconds: f64,
}

/// Imports files into a new database at `target`.
pub(crate) fn import_files(
    inputs: &[String],
    target: &Path,
    read: &ReadArgs,
    policy: &PolicyArgs,
    resources: &ResourceArgs,
    cancel: &Cancel,
    replace: bool,
) -> Result<Imported, Failure> {
    let begin = Instant::now();
    let opened = open(inputs, &read.options()?)?;
    let (report, tiles) = import_reader(opened.reader, target, policy, resources, cancel, replace)?;
    let seconds = begin.elapsed().as_secs_f64();
    Ok(Imported { report, tiles, format: Some(opened.format), notes: opened.notes, seconds })
}

/// Imports what a reader gives into a new database at `target`, and makes tiles if they are asked for.
pub(crate) fn import_reader(
    reader: Box<dyn Reader>,
    target: &Path,
    policy: &PolicyArgs,
    resources: &ResourceArgs,
    cancel: &Cancel,
    replace: bool,
) -> Result<(ImportReport, Option<TileReport>), Failure> {
    let bar = Bar::percent(false);
    let shown = bar.clone();
    let begin = Instant::now();
    let mut options = policy.options(resources, cancel);
    options.on_progress = Some(Arc::new(move |progress: ImportProgress| {
        let remark = format!("{} edges", rate(progress.edges as f64, begin.elapsed().as_secs_f64()));
        shown.set(progress.stage, progress.fraction.unwrap_or(0.0), remark);
    }));
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let report =
        import(&disk, reader, target, &options, StagingOptions { replace, ..StagingOptions::default() });
    bar.finish();
    let report = report?;
    let wants_tiles = policy.encoding == StoredEncoding::Tiles;
    let tiles = wants_tiles.then(|| make_tiles_at(target, resources, cancel)).transpose()?;
    Ok((report, tiles))
}
