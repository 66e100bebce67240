//! Imports, and their options shared by all verbs that build a database.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use esker::change::{EdgeInput, Purpose, Target, open_edges, open_edges_of_kinds};
use esker::graph::{Cancel, Message};
use esker::import::install::import;
use esker::import::open::{KindInput, open, open_kinds};
use esker::import::options::{
    BadLines, Duplicates, ImportOptions, ImportProgress, ImportReport, NumberingOrder, SelfLoops,
};
use esker::import::read::format::{Format, ReadOptions};
use esker::import::read::input::expand;
use esker::import::read::source::Reader;
use esker::import::rejects::RejectsFile;
use esker::store::format::{Encoding, StreamUnit, WriteOptions};
use esker::store::io::{Disk, RealDisk, expect_outside_databases};
use esker::store::manifest::StagingOptions;
use esker::window::EpochUnit;

use crate::args::encoding::{OnlyArgs, StoredEncoding};
use crate::args::reading::ReadArgs;
use crate::args::resources::ResourceArgs;
use crate::args::size::{counted, rate};
use crate::args::write_options::WriteOptionArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::language::said;
use crate::show::progress::Bar;
use crate::show::text;

/// `--order`: the numbering of vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum OrderArg {
    /// The order with the better measured locality.
    #[default]
    Auto,
    /// Integers in ascending order, texts by first appearance in the input.
    Keep,
    /// By descending degree.
    Degree,
}

/// `--duplicates`: what to do with edges given more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DuplicatesArg {
    /// Keep all, as parallel edges.
    Keep,
    /// Keep the first.
    First,
    /// Keep the last: it replaces those before it.
    Last,
    /// Keep one, with the sum of the weights.
    Sum,
    /// Keep one, with the smallest weight.
    Min,
    /// Keep one, with the largest weight.
    Max,
    /// Fail.
    Error,
    /// Of rows with the same values in all columns that are read, keep one; keep others as parallel edges.
    Rows,
}

impl From<DuplicatesArg> for Duplicates {
    fn from(arg: DuplicatesArg) -> Self {
        match arg {
            DuplicatesArg::Keep => Self::Keep,
            DuplicatesArg::First => Self::First,
            DuplicatesArg::Last => Self::Last,
            DuplicatesArg::Sum => Self::Sum,
            DuplicatesArg::Min => Self::Min,
            DuplicatesArg::Max => Self::Max,
            DuplicatesArg::Error => Self::Refuse,
            DuplicatesArg::Rows => Self::Rows,
        }
    }
}

/// `--self-loops`: what to do with edges from a vertex to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum SelfLoopsArg {
    /// Keep them.
    #[default]
    Keep,
    /// Skip them.
    Drop,
}

/// `--bad-lines`: what to do with malformed lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum BadLinesArg {
    /// Fail.
    #[default]
    Stop,
    /// Skip and report them.
    Skip,
}

/// Options for building a database.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Building")]
pub(crate) struct PolicyArgs {
    /// Edges are directed [default, unless the format says otherwise]
    #[arg(long, conflicts_with = "undirected")]
    pub(crate) directed: bool,
    /// Edges are undirected
    #[arg(long)]
    pub(crate) undirected: bool,
    /// Do not store in-edges of a directed graph: half the size, but some analyses become slower or
    /// impossible
    #[arg(long, conflicts_with = "undirected")]
    pub(crate) no_in_edges: bool,
    /// Internal numbering of the vertices; results always use your ids
    #[arg(long, value_enum, default_value_t)]
    pub(crate) order: OrderArg,
    /// How to store the graph: only the verbs that create a lasting database have the option, see
    /// [`PolicyArgs::with_encoding`].
    #[arg(skip)]
    encoding: StoredEncoding,
    /// Whether the encoding is stored alone.
    #[arg(skip)]
    only: OnlyArgs,
    /// The event time of the version: likewise, see [`PolicyArgs::at_time`].
    #[arg(skip)]
    event_time: Option<u64>,
    /// The unit of times that are numbers: likewise, see [`PolicyArgs::in_unit`].
    #[arg(skip)]
    time_unit: Option<EpochUnit>,
    /// How later commits become layers: likewise, see [`PolicyArgs::written`].
    #[arg(skip)]
    writes: WriteOptionArgs,
    /// The column of the kinds: only the verb that imports has the option, see [`PolicyArgs::of_kind`].
    #[arg(skip)]
    kind: Option<String>,
    /// Where rejected rows go: likewise, see [`PolicyArgs::rejecting`].
    #[arg(skip)]
    rejects: RejectsArg,
    /// What to do with edges given more than once; also the rule of the database for later commits [default:
    /// last; the entries of a matrix add up]
    #[arg(long, value_enum)]
    pub(crate) duplicates: Option<DuplicatesArg>,
    /// What to do with edges from a vertex to itself
    #[arg(long, value_enum, default_value_t)]
    pub(crate) self_loops: SelfLoopsArg,
    /// What to do with malformed lines
    #[arg(long, value_enum, default_value_t)]
    pub(crate) bad_lines: BadLinesArg,
}

impl PolicyArgs {
    /// These options with another encoding.
    pub(crate) fn with_encoding(&self, encoding: StoredEncoding, only: OnlyArgs) -> Self {
        Self { encoding, only, ..self.clone() }
    }

    /// These options with another event time.
    pub(crate) fn at_time(&self, event_time: Option<u64>) -> Self {
        Self { event_time, ..self.clone() }
    }

    /// These options with the unit of times that are numbers.
    pub(crate) fn in_unit(&self, time_unit: Option<EpochUnit>) -> Self {
        Self { time_unit, ..self.clone() }
    }

    /// These options with others for later commits.
    pub(crate) fn written(&self, writes: &WriteOptionArgs) -> Self {
        Self { writes: writes.clone(), ..self.clone() }
    }

    /// These options with a column of kinds.
    pub(crate) fn of_kind(&self, kind: Option<&str>) -> Self {
        Self { kind: kind.map(str::to_owned), ..self.clone() }
    }

    /// These options with a file for rejected rows.
    pub(crate) fn rejecting(&self, rejects: &RejectsArg) -> Self {
        Self { rejects: rejects.clone(), ..self.clone() }
    }

    /// Whether edges are directed, if an option says it.
    fn direction(&self) -> Option<bool> {
        match (self.directed, self.undirected) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    fn options(&self, resources: &ResourceArgs, cancel: &Cancel) -> ImportOptions {
        ImportOptions {
            directed: self.direction(),
            in_edges: !self.no_in_edges,
            order: match self.order {
                OrderArg::Auto => NumberingOrder::Auto,
                OrderArg::Keep => NumberingOrder::Keep,
                OrderArg::Degree => NumberingOrder::Degree,
            },
            encoding: match self.only.is_set() {
                true => Encoding::Tiles,
                false => self.encoding.of_lists().unwrap_or(Encoding::Plain),
            },
            tiles: self.encoding == StoredEncoding::Tiles,
            duplicates: self.duplicates.map(Duplicates::from).unwrap_or_default(),
            kind: self.kind.clone(),
            adds_entries: self.duplicates.is_none(),
            writes: self.writes.over(WriteOptions::default()),
            self_loops: match self.self_loops {
                SelfLoopsArg::Keep => SelfLoops::Keep,
                SelfLoopsArg::Drop => SelfLoops::Drop,
            },
            bad_lines: self.rejects.bad_lines(self.bad_lines),
            rejects: None,
            threads: resources.threads(),
            memory_bytes: resources.limit().bytes(),
            message: None,
            time_ms: self.event_time,
            time_unit: self.time_unit.map_or(StreamUnit::Guessed, StreamUnit::from),
            cancel: cancel.clone(),
            on_progress: None,
        }
    }
}

/// `--rejects`: where rows go that are not taken.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RejectsArg {
    /// Write rows that cannot be read to this CSV file, with file, line and reason, and go on with the others
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
}

impl RejectsArg {
    pub(crate) fn is_given(&self) -> bool {
        self.rejects.is_some()
    }

    /// What becomes of malformed lines.
    pub(crate) fn bad_lines(&self, otherwise: BadLinesArg) -> BadLines {
        match otherwise {
            BadLinesArg::Stop if self.rejects.is_none() => BadLines::Stop,
            BadLinesArg::Stop | BadLinesArg::Skip => BadLines::Skip,
        }
    }

    /// How the input is read.
    pub(crate) fn reading(&self, options: ReadOptions) -> ReadOptions {
        if self.is_given() { options.keeping_rejected() } else { options }
    }

    /// The file.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.rejects.as_deref()
    }

    /// Begins the file.
    pub(crate) fn create(
        &self,
        database: &Path,
        inputs: &[String],
        overwrite: bool,
    ) -> Result<Option<Arc<RejectsFile>>, Failure> {
        let create = |path: &PathBuf| RejectsFile::create(path, said, database, inputs, overwrite);
        Ok(self.rejects.as_ref().map(create).transpose()?.map(Arc::new))
    }

    /// Opens the file to append to it.
    pub(crate) fn append(
        &self,
        database: &Path,
        inputs: &[String],
    ) -> Result<Option<Arc<RejectsFile>>, Failure> {
        let append = |path: &PathBuf| RejectsFile::append(path, said, database, inputs);
        Ok(self.rejects.as_ref().map(append).transpose()?.map(Arc::new))
    }
}

/// Completes a file of rejected rows, and tells how many it has.
pub(crate) fn finish_rejects(rejects: Option<&RejectsFile>) -> Result<(), Failure> {
    let Some(rejects) = rejects else { return Ok(()) };
    rejects.finish()?;
    if rejects.count() > 0 {
        let rows = counted(rejects.count(), "row", "rows");
        let path = rejects.path().display();
        text::warn(&format!("warning: {rows} could not be taken and went to {path}"));
    }
    Ok(())
}

/// The result of an import.
pub(crate) struct Imported {
    /// Counts of what was read and stored.
    pub(crate) report: ImportReport,
    /// The format of the input.
    pub(crate) format: Option<Format>,
    /// How each input was read: format, columns, kind of ids.
    pub(crate) notes: Vec<Message>,
    /// Seconds from opening the input to the finished database.
    pub(crate) seconds: f64,
}

/// Refuses `-` as a database, and a database within another.
pub(crate) fn refuse_standard_output(target: &str) -> Result<(), Failure> {
    match target {
        "-" => Err(Failure::Usage(
            "a database is a directory, so it cannot be written to -, standard output: name it, as in web.esker (for a directory called - write ./-)"
                .to_owned(),
        )),
        _ => Ok(expect_outside_databases(&RealDisk, Path::new(target))?),
    }
}

/// The names of files without their folders, for the message of a version: paths say nothing elsewhere.
pub(crate) fn file_names<S: AsRef<Path>>(files: &[S]) -> String {
    let name = |file: &S| match file.as_ref().file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => file.as_ref().display().to_string(),
    };
    files.iter().map(name).collect::<Vec<_>>().join(" ")
}

/// Files that each have the edges of one kind.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct KindFilesArg {
    /// A kind and the file of its edges, as in follows=follows.csv, in place of files with a column of kinds;
    /// may be repeated
    #[arg(long, value_name = "KIND=FILE", conflicts_with = "inputs", value_parser = kind_input)]
    kind: Vec<KindInput>,
}

impl KindFilesArg {
    /// What is read: these files, or those beside.
    pub(crate) fn or(&self, inputs: &[String]) -> ImportedFiles {
        match self.kind.is_empty() {
            true => ImportedFiles::All(inputs.to_vec()),
            false => ImportedFiles::OfKinds(self.kind.clone()),
        }
    }
}

/// Parses `KIND=FILE`.
fn kind_input(text: &str) -> Result<KindInput, String> {
    match text.split_once('=') {
        Some((kind, input)) if !kind.is_empty() && !input.is_empty() => {
            Ok(KindInput { kind: kind.to_owned(), input: input.to_owned() })
        }
        _ => Err(format!("{text:?} is not KIND=FILE, as in follows=follows.csv")),
    }
}

/// `--new-kinds`: for commands that add edges.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct NewKindsArg {
    /// Let --kind KIND=FILE begin kinds that no edge of the database has
    #[arg(long, requires = "kind", conflicts_with = "inputs")]
    pub(crate) new_kinds: bool,
}

/// What is imported.
#[derive(Debug, Clone)]
pub(crate) enum ImportedFiles {
    /// Files and patterns.
    All(Vec<String>),
    /// Files that each have the edges of one kind.
    OfKinds(Vec<KindInput>),
}

impl ImportedFiles {
    /// Opens the edges to add to a database or remove from it.
    pub(crate) fn open(
        &self,
        target: &Target,
        read: &ReadOptions,
        purpose: Purpose,
        takes_new_kinds: bool,
    ) -> Result<EdgeInput, Failure> {
        Ok(match self {
            Self::All(inputs) => open_edges(target, inputs, read, purpose)?,
            Self::OfKinds(inputs) => open_edges_of_kinds(target, inputs, read, purpose, takes_new_kinds)?,
        })
    }

    /// The same, each file apart.
    pub(crate) fn each(&self) -> Result<Vec<Self>, Failure> {
        Ok(match self {
            Self::All(inputs) => {
                let all = expand(inputs, interrupt::token())?;
                all.iter().map(|input| Self::All(vec![input.name()])).collect()
            }
            Self::OfKinds(inputs) => inputs.iter().map(|one| Self::OfKinds(vec![one.clone()])).collect(),
        })
    }

    /// The names of the files.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Self::All(inputs) => inputs.clone(),
            Self::OfKinds(inputs) => inputs.iter().map(|one| one.input.clone()).collect(),
        }
    }
}

/// Imports files into a new database at `target`.
pub(crate) fn import_files(
    inputs: &ImportedFiles,
    target: &Path,
    read: &ReadArgs,
    policy: &PolicyArgs,
    resources: &ResourceArgs,
    cancel: &Cancel,
    replace: bool,
) -> Result<Imported, Failure> {
    let begin = Instant::now();
    if read.both_ends && policy.directed {
        let reason = "--both-ends has no effect with --directed: each row is an edge of its own";
        return Err(Failure::Usage(reason.to_owned()));
    }
    let (memory_bytes, directed) = (resources.limit().bytes(), policy.direction());
    let options = policy.rejects.reading(ReadOptions { memory_bytes, directed, ..read.options()? });
    let mut names = inputs.names();
    names.extend(read.vertices.clone());
    let rejects = policy.rejects.create(target, &names, replace)?;
    let opened = match inputs {
        ImportedFiles::All(inputs) => open(inputs, &options.with_kind(policy.kind.as_deref()))?,
        ImportedFiles::OfKinds(inputs) => open_kinds(inputs, &options)?,
    };
    text::warn_of(&opened.warnings);
    let kept = rejects.clone();
    let mut report = import_reader(opened.reader, target, policy, kept, resources, cancel, replace)?;
    let seconds = begin.elapsed().as_secs_f64();
    text::warn_of(&report.warnings);
    finish_rejects(rejects.as_deref())?;
    report.warnings.splice(0..0, opened.warnings);
    Ok(Imported { report, format: Some(opened.format), notes: opened.notes, seconds })
}

/// Imports the edges of a reader into a new database at `target`.
pub(crate) fn import_reader(
    reader: Box<dyn Reader>,
    target: &Path,
    policy: &PolicyArgs,
    rejects: Option<Arc<RejectsFile>>,
    resources: &ResourceArgs,
    cancel: &Cancel,
    replace: bool,
) -> Result<ImportReport, Failure> {
    let bar = Bar::percent(false);
    let shown = bar.clone();
    let begin = Instant::now();
    let mut options = ImportOptions { rejects, ..policy.options(resources, cancel) };
    options.on_progress = Some(Arc::new(move |progress: ImportProgress| {
        let remark = rate(progress.edges as f64, begin.elapsed().as_secs_f64(), "edges");
        shown.set(progress.stage, progress.fraction.unwrap_or(0.0), remark);
    }));
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let report =
        import(&disk, reader, target, &options, StagingOptions { replace, ..StagingOptions::default() });
    bar.finish();
    Ok(report?)
}
