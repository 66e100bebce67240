//! `esker run`: computes on a database, or straight on a file of edges.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use esker::answer::Answer;
use esker::catalogue::{Entry, Params};
use esker::computation::{Computation, Planned};
use esker::export::ExportOptions;
use esker::graph::{Cancel, Run};
use esker::histogram::Histogram;
use esker::output::write;
use esker::selection::check_kinds;
use esker::session::{Selected, Selection};
use esker::store::manifest::VersionSelector;
use esker::store::{Store, View};
use esker::versions::answers_on_versions;
use esker::window::Times;

use crate::args::actual::{Actual, actual_json, actual_rows};
use crate::args::algorithm::{PerAlgorithm, Requested, SharedArgs};
use crate::args::at::{AtArgs, VersionRange, all_numbers, parse_range, parse_version};
use crate::args::choice::{ChoiceArgs, needs_window, select};
use crate::args::followed_rows::GroupNameArgs;
use crate::args::importing::PolicyArgs;
use crate::args::reading::ReadArgs;
use crate::args::residency::{AccessArgs, explain};
use crate::args::resources::ResourceArgs;
use crate::args::size::seconds;
use crate::failure::{Failure, Outcome};
use crate::interrupt::{self, cancel_on_signals};
use crate::language::CommandLine;
use crate::session::comparing::ComparedGraphs;
use crate::session::opening::{
    GraphArgs, INPUT_FORMAT, later_bytes_on, open_graph, open_store, refuse_reading,
};
use crate::session::ran::{RanRun, run_facts};
use crate::session::storing::StoreArgs;
use crate::show::answer_rows::answer_rows;
use crate::show::figures::GraphSize;
use crate::show::group_events::GroupHistory;
use crate::show::progress::Bar;
use crate::show::rounding::RoundArg;
use crate::show::rows::{RowFormat, bars};
use crate::show::shown::{FoundOn, STANDARD_OUTPUT, ShownRows, ShownVersions};
use crate::show::text;

const WEIGHT_HELP: &str = "Edge property that is the weight, of a database; column of the weight, of files \
    [default: the weight of the import; a column called weight or w, or the weight of the format]";

const TIMES_HELP: &str = "Edge property that holds the times, of a database; column of the times, of files \
    [default: the only property that can hold them]";

/// Lines shown when neither --top nor --output asks for anything else.
const SHOWN: usize = 10;

/// Run an algorithm on a database or a file of edges
///
/// Results go to standard output, time and memory to standard error. `esker run ALGORITHM --help` shows the
/// options of an algorithm.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker run pagerank web.esker --top 10
  esker run bfs web.esker --source alice --output depths.parquet
  esker run wcc web.esker --memory 2GiB --explain
  esker run leiden web.esker --as-undirected --store group
  esker run pagerank web.esker --compare 1 latest --top 10
  esker run wcc edges.txt.gz --output - | head")]
pub(crate) struct RunCommand {
    #[command(flatten)]
    run: PerAlgorithm<RunArgs>,
}

/// The options that all algorithms share.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options", mut_arg("format", |input| input.long(INPUT_FORMAT)))]
#[command(mut_arg("weight", |argument| argument.help(WEIGHT_HELP)))]
#[command(mut_arg("time", |argument| argument.help(TIMES_HELP)), mut_args(needs_window))]
struct RunArgs {
    /// A database, or files of edges, which are imported to a temporary one
    #[arg(required = true)]
    inputs: Vec<String>,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    /// Show the N vertices with the largest values, or the N largest groups; `--output -` then prints these
    /// only
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Write all values: .csv, .json, .jsonl, .parquet, .arrow or .npy; `-` is CSV on standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace a file that stands there
    #[arg(long, requires = "output")]
    force: bool,
    /// Show how the values, or the sizes of groups, are distributed
    #[arg(long, conflicts_with_all = ["top", "json"])]
    histogram: bool,
    /// Run on these versions, by number, tag or time, both included, and show the figures of each in one
    /// table, with --top its first rows. --output then writes the values of all versions, after the column
    /// version; `-` prints them instead of figures
    #[arg(long, value_name = "FIRST..LAST", value_parser = parse_range, conflicts_with_all = ["at", "histogram"])]
    versions: Option<VersionRange>,
    /// Run on all versions
    #[arg(long, conflicts_with_all = ["at", "versions", "histogram"])]
    each_version: bool,
    /// Run on two versions, numbers, tags or times as of --at, and show how much the value of each vertex
    /// changed from A to B, the greatest change first; with --window, dates are the ends of two windows.
    /// Labels of groups are compared by the members of the groups: 0 is the same group, 1 another one
    #[arg(long, num_args = 2, value_names = ["A", "B"], value_parser = parse_version)]
    #[arg(conflicts_with_all = ["at", "versions", "each_version", "histogram", "trials"])]
    compare: Vec<VersionSelector>,
    #[command(flatten)]
    groups: GroupNameArgs,
    #[command(flatten)]
    store: StoreArgs,
    /// Form of the rows on standard output [default: a table; with `--output -`, CSV]
    #[arg(long = "format", value_enum, value_name = "FORM")]
    rows: Option<RowFormat>,
    #[command(flatten)]
    round: RoundArg,
    /// Report as JSON, on standard error if the rows are on standard output; of several versions, print the
    /// rows as an array of objects
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

impl SharedArgs for RunArgs {}

impl RunCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.run.carry_out(|requested| requested.shared.carry_out(requested))
    }
}

impl RunArgs {
    fn carry_out(&self, requested: &Requested<Self>) -> Outcome {
        let Requested { entry, given, .. } = requested;
        self.check(entry)?;
        self.round.apply();
        self.store.check(entry, &self.inputs, self.spans_versions())?;
        let cancel = cancel_on_signals()?;
        if self.spans_versions() {
            return self.run_versions(requested, &cancel);
        }
        let (weight, time) = (self.read.weight.as_deref(), self.read.time.as_deref());
        let mut selection = self.choice.selection(&self.at, weight, time)?;
        let at = AtArgs { at: selection.selector().cloned() };
        let graph = GraphArgs {
            inputs: &self.inputs,
            at: &at,
            read: &self.read,
            policy: &self.policy,
            resources: &self.resources,
            given,
            later_bytes: &|version| {
                let params = requested.params_anywhere();
                later_bytes_on(version, entry, &params, &self.access.request(), &self.resources)
            },
        };
        let begin = Instant::now();
        let opened = open_graph(&graph, &cancel)?;
        let opening = Some(begin.elapsed().as_secs_f64()).filter(|_| !opened.is_imported);
        let version = &opened.version;
        // The property may have another name than the column that was asked for, such as a number.
        if let (true, Some(weight)) = (opened.is_imported && weight.is_some(), version.weight_property()) {
            selection.weight = Some(weight.name.clone());
        }
        let bar = Bar::spinner(false);
        let reading = self.resources.run(&cancel, 0, false, Some(bar.on_round("reading the times")))?;
        let selected = select(&selection, version, &reading);
        let params = &requested.params_on(version, &reading)?;
        bar.finish();
        drop(reading);
        let Selected { view, times, .. } = &selected?;
        let resources = self.resources.of_run(self.deterministic);
        let planned = self.computation(entry, params).plan(view, &resources)?;
        if self.access.explain {
            text::remark_facts(&explain(&planned.plan, view, entry, &resources)?);
        }
        let (view, plan) = (&planned.view, &planned.plan);
        let bar = Bar::spinner(false);
        let run =
            self.resources.run(&cancel, self.seed, self.deterministic, Some(bar.on_round(entry.name)))?;
        let computed = self.compute(&planned, &run);
        bar.finish();
        let (answer, actual) = computed.map(|(answer, actual)| (answer, actual.after(opening)))?;
        planned.learn(&answer, &run);
        self.write_values(view, &answer, cancel)?;
        if self.has_chosen_rows() {
            answer_rows(view.version(), &answer, self.top, self.row_format())?.print(self.row_format())?;
        }
        if self.json {
            let mut report = planned.to_json(&CommandLine)?;
            report["actual"] = actual_json(plan, view, &resources, &run, &actual);
            let ran = RanRun { entry, view, times: times.as_ref(), answer: &answer, plan: &report };
            ran.print_json(self.top, self.verify, self.is_to_stdout())?;
        } else {
            self.print(entry, view, times.as_ref(), &answer)?;
            if self.access.explain {
                text::remark_facts(&actual_rows(plan, view, &resources, &run, &actual));
            }
        }
        drop(run);
        self.store.store(entry, view, &answer, &self.inputs, &self.resources)
    }

    /// Writes the values of all vertices, if a file of them is asked for.
    fn write_values(&self, view: &View, answer: &Answer, cancel: Cancel) -> Outcome {
        let Some(path) = self.output.as_ref().filter(|_| !self.has_chosen_rows()) else { return Ok(()) };
        write(path, view.version().ids(), answer, &self.file_options(cancel))?;
        Ok(())
    }

    fn file_options(&self, cancel: Cancel) -> ExportOptions {
        ExportOptions { overwrite: self.force, cancel, ..ExportOptions::default() }
    }

    /// Shows the figures or rows of the answer on each of several versions, and writes their values.
    fn run_versions(&self, requested: &Requested<Self>, cancel: &Cancel) -> Outcome {
        if let [a, b] = &self.compare[..] {
            return self.run_comparison(requested, [a, b], cancel);
        }
        let [database] = &self.inputs[..] else {
            return Err(Failure::Usage("--versions and --each-version take one database".to_owned()));
        };
        refuse_reading(database, &requested.given)?;
        let (output, format) = (self.output.as_deref(), self.row_format());
        let shown = match self.groups.events {
            true => ShownRows::Events,
            false => ShownRows::of(self.top, output, format == RowFormat::Csv && !self.round.is_given()),
        };
        let file = shown.file(output, self.force, cancel)?;
        let (store, bar) = open_store(database.as_ref(), &self.resources, cancel)?;
        bar.finish();
        let numbers =
            self.versions.as_ref().map_or_else(|| all_numbers(&store), |range| range.numbers(&store))?;
        let begin = Instant::now();
        // Rows on standard output would break into the bar.
        let mut shown = ShownVersions::new(shown, format, file, Bar::spinner(self.is_to_stdout()));
        let found = self.answer_versions(requested, &store, &numbers, &mut shown, cancel);
        shown.bar.finish();
        found?;
        shown.finish()?;
        let taken = seconds(begin.elapsed().as_secs_f64());
        text::remark_facts(&[("versions".to_owned(), numbers.len().to_string()), ("time".to_owned(), taken)]);
        Ok(())
    }

    /// Shows how much values changed between two versions or windows, and writes all of them.
    fn run_comparison(
        &self,
        requested: &Requested<Self>,
        ends: [&VersionSelector; 2],
        cancel: &Cancel,
    ) -> Outcome {
        let [database] = &self.inputs[..] else {
            return Err(Failure::Usage("--compare takes one database".to_owned()));
        };
        refuse_reading(database, &requested.given)?;
        let (store, bar) = open_store(database.as_ref(), &self.resources, cancel)?;
        bar.finish();
        let (begin, entry, bar) = (Instant::now(), requested.entry, Bar::spinner(self.is_to_stdout()));
        let run =
            self.resources.run(cancel, self.seed, self.deterministic, Some(bar.on_round(entry.name)))?;
        let (weight, time) = (self.read.weight.as_deref(), self.read.time.as_deref());
        let [a, b] = ends.map(|end| self.choice.selection(&AtArgs { at: Some(end.clone()) }, weight, time));
        let resources = self.resources.of_run(self.deterministic);
        let compared = ComparedGraphs::of(&store, [a?, b?], &run, |view| {
            let params = requested.params_on(view.version(), &run)?;
            Ok(self.computation(entry, &params).plan_beside(view, &resources, &run)?.run(&run)?)
        });
        bar.finish();
        let (compared, is_to_stdout) = (compared?, self.is_to_stdout());
        if let Some(path) = self.output.as_ref().filter(|_| !is_to_stdout) {
            let found = &compared.found;
            write(path, found.version.ids(), &found.answer, &self.file_options(cancel.clone()))?;
        }
        if is_to_stdout || self.top.is_some() || self.output.is_none() {
            compared.print(self.top.or((!is_to_stdout).then_some(SHOWN)), self.row_format())?;
        }
        text::remark_facts(&compared.facts(begin.elapsed().as_secs_f64()));
        Ok(())
    }

    /// Computes on versions together as far as that is possible, then on one after another.
    fn answer_versions(
        &self,
        requested: &Requested<Self>,
        store: &Store,
        numbers: &[u64],
        shown: &mut ShownVersions,
        cancel: &Cancel,
    ) -> Outcome {
        let entry = requested.entry;
        let (weight, time) = (self.read.weight.as_deref(), self.read.time.as_deref());
        let selection = self.choice.selection(&AtArgs { at: None }, weight, time)?;
        // Each of the versions may lack kinds that a later one, or one that is kept no longer, has.
        let ends = [numbers.first(), numbers.last()].into_iter().flatten();
        let ends: Vec<_> = ends.map(|&number| store.at(number)).collect::<Result<_, _>>()?;
        let params = &match ends.last() {
            Some(last) => requested.params_on(last, &self.resources.run(cancel, 0, false, None)?)?,
            None => requested.params_anywhere(),
        };
        check_kinds(&selection.kinds, &ends.iter().collect::<Vec<_>>())?;
        let selection = Selection { kinds_are_checked: true, ..selection };
        let open = |number: u64| -> Result<View, Failure> {
            let reading = self.resources.run(cancel, 0, false, None)?;
            Ok(select(&selection, &store.at(number)?, &reading)?.view)
        };
        let on_round = shown.bar.on_round(entry.name);
        let begin = || self.resources.run(cancel, self.seed, self.deterministic, Some(Arc::clone(&on_round)));
        let (mut done, mut groups) = (0, GroupHistory::new(self.groups.keeps_names(), 1));
        if let (Some(&first), true) = (numbers.first(), self.trials == 1 && !self.verify) {
            let view = open(first)?;
            let is_whole = view.window_index().is_none() && !view.drops_directions() && !view.is_reversed();
            if is_whole && self.access.request().is_free() && !entry.reads_weights(&view) {
                drop(view);
                let open_at = |i: usize| Ok(open(numbers[i])?.version().clone());
                let run = begin()?;
                done = answers_on_versions(numbers.len(), open_at, entry, params, &run, |mut found| {
                    let number = numbers[found.index];
                    let size = GraphSize { vertices: found.num_vertices, edges: found.num_edges };
                    let view = &open(number)?;
                    let events = &groups.next(0, &mut found.answer, view.version(), &run)?[..];
                    let answer = &found.answer;
                    shown.add(number, &FoundOn { entry, view, size, answer, events })
                })?;
            }
        }
        let resources = self.resources.of_run(self.deterministic);
        for &number in &numbers[done..] {
            let on_version = |failure: Failure| failure.between(&format!("version {number}: "), "");
            let view = open(number)?;
            let planned = self.computation(entry, params).plan(&view, &resources);
            let planned = planned.map_err(|error| on_version(error.into()))?;
            let run = begin()?;
            let (mut answer, _) = self.compute(&planned, &run).map_err(on_version)?;
            let events = &groups.next(0, &mut answer, planned.view.version(), &run).map_err(on_version)?[..];
            let (view, answer) = (&planned.view, &answer);
            let vertices = answer.vertices.as_ref().map_or(view.version().num_vertices(), |rows| rows.len());
            let size = GraphSize { vertices, edges: view.num_edges() };
            shown.add(number, &FoundOn { entry, view, size, answer, events }).map_err(on_version)?;
        }
        Ok(())
    }

    /// The computation, in the encoding and residency that are asked for.
    fn computation<'p>(&self, entry: &'static Entry, params: &'p Params) -> Computation<'p> {
        Computation::of(entry, params).reading(self.access.request()).verified(self.verify)
    }

    /// Whether several versions are asked for.
    fn spans_versions(&self) -> bool {
        self.each_version || self.versions.is_some() || !self.compare.is_empty()
    }

    /// The answer of the last trial, with the median of all times, and what the first took.
    fn compute(&self, planned: &Planned<'_>, run: &Run) -> Result<(Answer, Actual), Failure> {
        let (mut answer, actual) = Actual::of(|| planned.run(run))?;
        let mut times = vec![answer.seconds];
        for _ in 1..self.trials {
            drop(std::mem::take(&mut answer)); // Two at a time are more than was estimated.
            answer = planned.run(run)?;
            times.push(answer.seconds);
        }
        times.sort_by(f64::total_cmp);
        answer.seconds = times[times.len() / 2];
        Ok((answer, actual))
    }

    /// The rows of the answer on standard output, the facts on standard error.
    fn print(&self, entry: &Entry, view: &View, times: Option<&Times>, answer: &Answer) -> Outcome {
        let is_shown = !self.is_to_stdout() && (self.top.is_some() || self.output.is_none());
        if self.histogram
            && let (Some(found), Some(column)) =
                (Histogram::of_answer(answer, interrupt::token())?, answer.columns.first())
        {
            let is_group = column.ranking.is_of_groups();
            bars(if is_group { "vertices" } else { column.name }, &found).print(self.row_format())?;
        } else if is_shown {
            answer_rows(view.version(), answer, Some(self.top.unwrap_or(SHOWN)), self.row_format())?
                .print(self.row_format())?;
        }
        // Figures that are rows are no facts, too.
        let figures = if is_shown && !entry.has_rows() { &[] } else { answer.facts.as_slice() };
        let mut facts = run_facts(entry, view, times, answer, figures);
        if self.verify {
            facts.push(("verified".to_owned(), "yes".to_owned()));
        }
        text::remark_facts(&facts);
        Ok(())
    }

    /// The form of rows on standard output.
    fn row_format(&self) -> RowFormat {
        self.rows.unwrap_or(match self.is_to_stdout() {
            _ if self.json && self.spans_versions() => RowFormat::Json,
            true => RowFormat::Csv,
            false => RowFormat::Table,
        })
    }

    /// Whether `--output -` was given.
    fn is_to_stdout(&self) -> bool {
        self.output.as_deref().is_some_and(|path| path.as_os_str() == STANDARD_OUTPUT)
    }

    /// Whether `--output -` is to print other rows than all, or in another form than that of files.
    fn has_chosen_rows(&self) -> bool {
        let is_like_files = self.row_format() == RowFormat::Csv && !self.round.is_given();
        self.is_to_stdout() && (self.top.is_some() || !is_like_files)
    }

    /// Refuses options that would have no effect.
    fn check(&self, entry: &Entry) -> Outcome {
        entry.check_weight(self.read.weight.is_some())?;
        let refuse = |reason: &str| Err(Failure::Usage(reason.to_owned()));
        if self.histogram && entry.columns.is_empty() {
            return refuse(&format!("--histogram has no effect: {} has no values", entry.name));
        }
        if self.histogram && self.is_to_stdout() {
            return refuse("--histogram and --output - both go to standard output");
        }
        let spans_versions = self.spans_versions();
        let shows_names = self.top.is_some() || self.output.is_some();
        let is_series = spans_versions && self.compare.is_empty();
        self.groups.check(entry, is_series, self.is_to_stdout(), shows_names)?;
        if spans_versions && self.access.explain {
            return refuse(
                "--explain says what was chosen for one graph: name one version with --at, in place of --compare, --versions and --each-version",
            );
        }
        if self.json && self.rows.is_some() && (spans_versions || !self.is_to_stdout()) {
            return refuse(match spans_versions {
                true => "--json prints the rows of the versions as JSON: leave out --json or --format",
                false => {
                    "--format has no effect with --json, which reports as JSON; rows are printed beside it with --output -"
                }
            });
        }
        let is_to_file = self.output.is_some() && !self.is_to_stdout();
        let shows_figures = spans_versions && self.compare.is_empty();
        let is_file_only = is_to_file && self.top.is_none() && !self.histogram && !shows_figures;
        if !self.compare.is_empty() && (entry.edges || entry.columns.is_empty()) {
            return refuse(&format!("--compare needs a value for each vertex, and {} has none", entry.name));
        }
        if self.rows.is_some() && is_file_only {
            return refuse("--format has no effect on --output FILE, only on the rows of --top N");
        }
        if self.json && is_file_only && !self.compare.is_empty() {
            return refuse(
                "--json has no effect on --output FILE of --compare, only on the rows of --top N; a file that ends in .json has them as JSON",
            );
        }
        if self.round.is_given() && is_file_only && !self.json {
            return refuse(
                "--round has no effect on --output FILE, which has all digits; --output - prints rounded ones",
            );
        }
        let option = match (self.top, &self.output) {
            (Some(_), _) if !entry.has_rows() => "--top",
            (_, Some(_)) if !entry.has_rows() => "--output",
            _ => return Ok(()),
        };
        let (name, figures) = (entry.name, entry.figures.join(", "));
        Err(Failure::Usage(format!("{option} has no effect: {name} answers with figures only ({figures})")))
    }
}
