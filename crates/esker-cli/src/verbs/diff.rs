//! `esker diff`: lists the differences between two versions.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use esker::differences::{Differences, Style, summary_json};
use esker::graph::Run;
use esker::import::export::{Escaped, ExportOptions, OutputFile};
use esker::store::Version;
use esker::store::diff::{DiffSummary, diff};
use esker::store::manifest::VersionSelector;

use crate::args::at::{number_of, parse_version};
use crate::args::resources::ResourceArgs;
use crate::args::selecting::WhereArgs;
use crate::args::size::count;
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::session::opening::open_store;
use crate::show::text;

/// List the differences between two versions
///
/// Prints the changes from version A to version B, one per line: `+ u v weight=3` is an added edge, `- u v
/// weight=3` a removed one, `~ u v weight=3 -> 5` one with changed properties; `+ u`, `- u` and `~ u name=old
/// -> new` are changes of vertices. An undirected edge is listed once. Where edges may be parallel, a number
/// says how many equal ones were added or removed, as in `-2 u v weight=3`. `esker commit` reads this format.
/// With --where or --kind, an edge that comes to meet the conditions is an added one, and one that no longer
/// meets them a removed one.
/// As CSV, a row has the kind of change, the ends of the edge or the vertex, the property that changed
/// with its old and new value, and all properties of the edge. The time depends on the number of changes,
/// not on the size of the graph.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker diff web.esker 3                      from version 3 to the latest
  esker diff web.esker 3 --format csv -o changes.csv.gz
  esker diff web.esker monday 2026-11-21 --summary")]
pub(crate) struct DiffCommand {
    /// The database
    database: PathBuf,
    /// The version to start from: a number, a tag, a time, or latest
    #[arg(value_name = "A", value_parser = parse_version)]
    from: VersionSelector,
    /// The version to end at; it may be older than A
    #[arg(value_name = "B", default_value = "latest", value_parser = parse_version)]
    to: VersionSelector,
    /// Print only the numbers of changes
    #[arg(long)]
    summary: bool,
    #[command(flatten)]
    part: WhereArgs,
    /// Name the edges that are removed by their ids, where edges have some: committed to a copy of this
    /// database, the output then removes the same ones of parallel edges
    #[arg(long)]
    edge_ids: bool,
    /// Form of the differences [default: that of the name of the output, .csv, .json or .jsonl, else script]
    #[arg(long, value_enum, value_name = "FORM")]
    format: Option<DiffForm>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write the differences to this file, compressed if its name ends so; `-` is standard output
    #[arg(short, long, value_name = "FILE", conflicts_with = "summary")]
    output: Option<PathBuf>,
    /// Replace the file
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    resources: ResourceArgs,
}

/// `--format`: the form of differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DiffForm {
    /// Lines that `esker commit` reads.
    Script,
    /// Comma-separated values with a header.
    Csv,
    /// One object with the differences and their numbers.
    Json,
    /// An object a line.
    Jsonl,
}

impl DiffForm {
    /// What the name of a file says, before the ending of its compression; `None` for the ending of another
    /// form.
    fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name =
            [".gz", ".zst", ".bz2"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
        match name.rsplit_once('.') {
            Some((_, "csv")) => Some(Self::Csv),
            Some((_, "json")) => Some(Self::Json),
            Some((_, "jsonl")) => Some(Self::Jsonl),
            None | Some((_, "txt")) => Some(Self::Script),
            Some(_) => None,
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Script => Style::Script,
            Self::Csv => Style::Csv,
            Self::Json => Style::Json,
            Self::Jsonl => Style::Jsonl,
        }
    }
}

impl DiffCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let (file, form) = (self.file(), self.form()?);
        let cancel = cancel_on_signals()?;
        let run = self.resources.run(&cancel, 0, false, None)?;
        let (store, bar) = open_store(&self.database, &self.resources, &cancel)?;
        let (from, to) = (number_of(&store, &self.from)?, number_of(&store, &self.to)?);
        let opened = store.at(from).and_then(|a| Ok((a, store.at(to)?)));
        bar.finish();
        let (a, b) = opened?;
        let summary = match file {
            Some(path) => {
                let options = ExportOptions { overwrite: self.force, cancel, ..ExportOptions::default() };
                let mut out = OutputFile::open(path, &options)?;
                let summary = self.write([&a, &b], form, &run, &mut out)?;
                out.finish()?;
                summary
            }
            None => {
                let stdout = std::io::stdout().lock();
                let is_terminal = stdout.is_terminal() && form == DiffForm::Script;
                let out = BufWriter::with_capacity(1 << 16, stdout);
                // `esker commit` reads what is not for a person.
                let mut out: Box<dyn Write> =
                    if is_terminal { Box::new(Escaped::new(out)) } else { Box::new(out) };
                let summary = self.write([&a, &b], form, &run, &mut out)?;
                out.flush()?;
                summary
            }
        };
        if form == DiffForm::Json || !self.summary {
            return Ok(());
        }
        print_summary(&summary)
    }

    /// The file to write, if the differences do not go to standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
    }

    fn form(&self) -> Result<DiffForm, Failure> {
        let of_file = || {
            match self.file() {
            None => Ok(DiffForm::Script),
            Some(file) => DiffForm::of_name(file).ok_or_else(|| {
                Failure::Usage(format!(
                    "{} has no ending of a form of differences: use .csv, .json, .jsonl, .txt, or name the form with --format",
                    file.display()
                ))
            }),
        }
        };
        let given = if self.json { Some(DiffForm::Json) } else { self.format };
        let form = given.map_or_else(of_file, Ok)?;
        match form {
            DiffForm::Csv | DiffForm::Jsonl if self.summary => {
                Err(Failure::Usage("--summary has the form of text or of --json".to_owned()))
            }
            _ if self.edge_ids && form != DiffForm::Script => {
                Err(Failure::Usage("--edge-ids has an effect on scripts alone".to_owned()))
            }
            form => Ok(form),
        }
    }

    /// Writes the differences, unless their numbers alone are asked for.
    fn write(
        &self,
        [a, b]: [&Version; 2],
        form: DiffForm,
        run: &Run,
        out: &mut dyn Write,
    ) -> Result<DiffSummary, Failure> {
        if form == DiffForm::Json {
            write!(out, "{{\"from\":{},\"to\":{},\"differences\":[", a.number(), b.number())?;
        }
        let mut differences = Differences::new(a, b, form.style(), &mut *out);
        if self.edge_ids {
            differences = differences.naming_removed();
        }
        if let Some(file) = self.file() {
            differences = differences.named(file);
        }
        self.part.check(&[a, b])?;
        let conditions = self.part.quietly_on(b, run)?.zip(self.part.quietly_on(a, run)?);
        let mut selected = DiffSummary::default();
        let written = diff(a, b, run, |difference| {
            let difference = match &conditions {
                Some((later, former)) => later.of_difference(former, difference)?,
                None => Some(difference),
            };
            let Some(difference) = difference else { return Ok(()) };
            selected.count(&difference);
            if self.summary { Ok(()) } else { differences.write(&difference) }
        });
        let written = written.and_then(|summary| differences.finish().map(|()| summary));
        let summary = written.or_else(|error| differences.break_off().and(Err(error)))?;
        drop(differences);
        let summary = if conditions.is_some() { selected } else { summary };
        if form == DiffForm::Json {
            writeln!(out, "],\"summary\":{}}}", summary_json(&summary))?;
        }
        Ok(summary)
    }
}

fn print_summary(summary: &DiffSummary) -> Outcome {
    let rows = [
        ("edges added", summary.edges_added),
        ("edges removed", summary.edges_removed),
        ("edges changed", summary.edges_changed),
        ("vertices added", summary.vertices_added),
        ("vertices removed", summary.vertices_removed),
        ("vertex values changed", summary.values_changed),
    ];
    let rows: Vec<_> = rows.iter().map(|(name, number)| ((*name).to_owned(), count(*number))).collect();
    text::facts(&rows)
}
