//! `esker stream`: commits a stream of edges as it comes.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use clap::Args;
use esker::change::{
    EdgeInput, Expiry, Late, OnStream, Pace, Purpose, StreamFiles, StreamOptions, StreamReport, StreamState,
    Target, open_edges, reading_of_rows, stream,
};
use esker::graph::Cancel;
use esker::import::read::live::GrowingInput;
use esker::import::rejects::RejectsFile;
use esker::store::Database;
use esker::window::{Declared, EpochUnit, Span};
use serde_json::{Value, json};

use crate::args::commit_every::EveryArg;
use crate::args::importing::{BadLinesArg, DuplicatesArg, RejectsArg, finish_rejects};
use crate::args::mistake::expect_distinct;
use crate::args::reading::ReadArgs;
use crate::args::resources::ResourceArgs;
use crate::args::size::{counted, rate, seconds};
use crate::args::window_args::UnitArg;
use crate::failure::{Failure, Outcome};
use crate::interrupt::stop_on_signals;
use crate::language::said;
use crate::session::committing::describe_versions;
use crate::session::writing::{ScratchArgs, remark_on_heads};
use crate::show::progress::Bar;
use crate::show::text;

/// Time between two looks for a signal while the input is opened.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Commit a stream of timed edges as it comes
///
/// The edges of a file, a growing file (--follow), a pipe or standard input become a version every second, or
/// as --commit-every says. Each version has the watermark as its event time: the time up to which all edges
/// have come, if they come in order but for --delay. An edge whose time is not after the watermark of an
/// earlier version is late; --late says what becomes of it, and all late edges are counted. Ctrl-C and
/// SIGTERM commit what was read and end the stream; so does a malformed line. A file that is streamed again
/// after that, or after a crash, goes on with the first edge that no version has. The file may only have
/// grown. Once a second a line on standard error says how far the stream is.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker stream timed.esker later.csv --commit-every 10000
  cat later.csv | esker stream timed.esker - --delay 10s --late reject:late.csv
  esker stream timed.esker later.csv --replay 60x
  esker stream timed.esker later.csv --expire 30d
  esker stream timed.esker changes.csv --op op           # rows that insert or delete
  esker stream timed.esker later.csv --follow --commit-every 500ms   # until Ctrl-C
  esker stream timed.esker 'logs/*.csv' --follow")]
pub(crate) struct StreamCommand {
    /// The database
    database: PathBuf,
    /// Files of edges, in any format that `esker import` reads, and patterns such as 'logs/*.csv', whose
    /// files come by name; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    inputs: Vec<String>,
    /// Commit a version after a time, such as 500ms, or when the edges that came take half of the memory
    /// limit; or after a number of edges
    #[arg(long, value_name = "TIME|N", default_value = "1s")]
    commit_every: EveryArg,
    /// Wait at the end of the last file: for what will be appended to it, for a new file that a pattern
    /// matches, and for the next of its name when it is rotated by renaming
    #[arg(long)]
    follow: bool,
    /// Read at most this many edges a second
    #[arg(long, value_name = "N/s", value_parser = parse_rate, conflicts_with = "replay")]
    rate: Option<f64>,
    /// Read edges as fast as they happened, or this many times as fast
    #[arg(long, value_name = "Nx", value_parser = parse_speed)]
    replay: Option<f64>,
    /// Unit of the times [default: guessed from the first]
    #[arg(long, value_enum, value_name = "UNIT")]
    time_unit: Option<UnitArg>,
    /// By how much edges may be out of order, such as 10s, or a number in the unit of the times [default: as
    /// `esker options --delay` set]
    #[arg(long, value_name = "LENGTH")]
    delay: Option<Span>,
    /// What becomes of late edges: next (the next version gets them), reject:FILE (they are appended to a CSV
    /// file), or refuse (the stream ends)
    #[arg(long, value_name = "WHAT", default_value = "next")]
    late: LateArg,
    /// Remove edges that are older than the latest by this length or more, such as 30d: whenever a sixteenth
    /// of it has passed, and at the end [default: the age that `esker options --expire` set]
    #[arg(long, value_name = "AGE")]
    expire: Option<Span>,
    /// A column, by name or number, that says what happens to the edge of each row: insert, add, i, +,
    /// create or c; delete, remove, d or -; update, upsert, u or replace, where the rule for duplicates is
    /// last. A removal needs the ends alone, and the kind where edges have kinds
    #[arg(long, value_name = "COLUMN")]
    op: Option<String>,
    /// Read the file from its start, also if versions have edges of it
    #[arg(long)]
    from_start: bool,
    /// What to do with edges that exist or are given more than once [default: the rule of the database]
    #[arg(long, value_enum)]
    duplicates: Option<DuplicatesArg>,
    /// What to do with malformed lines
    #[arg(long, value_enum, default_value_t)]
    bad_lines: BadLinesArg,
    #[command(flatten)]
    rejects: RejectsArg,
    /// Report as JSON lines: one a second, and one at the end
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    scratch: ScratchArgs,
    #[command(flatten)]
    resources: ResourceArgs,
}

/// `--late`.
#[derive(Debug, Clone)]
struct LateArg(Late);

impl FromStr for LateArg {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        Ok(Self(match given.split_once(':') {
            None if given == "next" => Late::Next,
            None if given == "refuse" => Late::Refuse,
            Some(("reject", file)) if !file.is_empty() => Late::Reject(file.into()),
            _ => return Err("late edges are taken by the next version (next), appended to a file (reject:FILE), or refused (refuse)".to_owned()),
        }))
    }
}

/// Parses `100000/s` or `100000`.
fn parse_rate(given: &str) -> Result<f64, String> {
    positive(given.strip_suffix("/s").unwrap_or(given))
        .ok_or_else(|| format!("{given:?} is no rate: write a number of edges a second, such as 100000/s"))
}

/// Parses `60x` or `60`.
fn parse_speed(given: &str) -> Result<f64, String> {
    positive(given.strip_suffix('x').unwrap_or(given))
        .ok_or_else(|| format!("{given:?} is no speed: write how many times as fast, such as 60x"))
}

fn positive(given: &str) -> Option<f64> {
    given.parse().ok().filter(|&number: &f64| number.is_finite() && number > 0.0)
}

impl StreamCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let (stop, begin) = (stop_on_signals()?, Instant::now());
        let is_stdin = self.inputs.iter().any(|input| input == "-");
        if is_stdin && self.inputs.len() > 1 {
            return Err(Failure::Usage(
                "standard input (-) is streamed alone: name only files, or only -".to_owned(),
            ));
        }
        let is_pipe = |input: &&String| is_unnamed(input) && !Path::new(input).is_dir();
        if let Some(pipe) = self.inputs.iter().find(is_pipe).filter(|_| self.inputs.len() > 1) {
            return Err(Failure::Usage(format!(
                "{pipe} is a pipe, which is streamed alone: name only files, or only the pipe"
            )));
        }
        if self.follow && is_stdin {
            return Err(Failure::Usage(
                "--follow has no effect on standard input, which is read until it is closed".to_owned(),
            ));
        }
        let late = match &self.late.0 {
            Late::Reject(late) => Some(late.as_path()),
            Late::Next | Late::Refuse => None,
        };
        expect_distinct(&[("--late", late), ("--rejects", self.rejects.path())])?;
        let database = self.open(&stop)?;
        let mut report = None;
        let rejects = self.rejects.append(&self.database, &self.inputs)?;
        let ended = Cancel::default();
        let done = std::thread::scope(|scope| {
            scope.spawn(|| serve_others(&database, &ended));
            // Also if the stream panics.
            let _ended = Ended(&ended);
            self.stream_all(&database, &stop, begin, rejects.as_ref(), &mut report)
        });
        let taken = begin.elapsed();
        let Some(report) = report else { return done };
        let target = Target::of(&database)?;
        text::remark_rejected(&report.fed.rejected_sample);
        text::warn_of(&report.fed.warnings);
        let done = done.and(finish_rejects(rejects.as_deref()));
        let printed = self.print(&report, taken, done.is_ok());
        done?;
        let closed = remark_on_heads(&database, &target, &self.database)
            .and_then(|()| database.close().map_err(Failure::from));
        printed.and(closed).map_err(|failure| match &report.fed.versions[..] {
            [] => failure,
            versions => failure.after(&format!("committed as {}", describe_versions(versions))),
        })
    }

    /// Streams all inputs, one after another.
    fn stream_all(
        &self,
        database: &Database,
        stop: &Cancel,
        begin: Instant,
        rejects: Option<&Arc<RejectsFile>>,
        report: &mut Option<StreamReport>,
    ) -> Outcome {
        if let [input] = &self.inputs[..]
            && (input == "-" || is_unnamed(input))
        {
            let live = GrowingInput { follow: self.follow, stop: stop.clone(), ..GrowingInput::default() };
            let options = self.options(database, stop, begin, rejects)?;
            return self.stream_one(database, input, live, &options, report);
        }
        let mut files = StreamFiles::new(&self.inputs, self.follow, stop);
        while let Some(file) = files.next(database)? {
            let rejected = match &self.late.0 {
                Late::Reject(rejected) => rejected.canonicalize().ok(),
                Late::Next | Late::Refuse => None,
            };
            if rejected.is_some_and(|rejected| rejected == file.path) {
                let reason = "late edges cannot be appended to the file that is read";
                return Err(Failure::Usage(reason.to_owned()));
            }
            if rejects.is_some_and(|rejects| rejects.path().canonicalize().ok().as_ref() == Some(&file.path))
            {
                let reason = "rejected rows cannot be appended to the file that is read";
                return Err(Failure::Usage(reason.to_owned()));
            }
            let path = file.path.display().to_string();
            if file.is_successor && !self.json {
                let old = file
                    .predecessor
                    .as_ref()
                    .map(|old| format!("; the file before is now {}", old.display()));
                let old = old.unwrap_or_default();
                text::remark(&format!("{} was rotated: going on with {path}{old}", file.source));
            }
            let live = files.growing(&file);
            let options = StreamOptions {
                source: Some(file.source.clone()),
                file: file.file,
                is_successor: file.is_successor,
                ..self.options(database, stop, begin, rejects)?
            };
            self.stream_one(database, &path, live, &options, report)?;
            if stop.is_cancelled() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Streams one input, and adds to the report what became of it.
    fn stream_one(
        &self,
        database: &Database,
        input: &str,
        live: GrowingInput,
        options: &StreamOptions,
        report: &mut Option<StreamReport>,
    ) -> Outcome {
        let target = Target::of(database)?;
        let Some(mut opened) = self.open_input(&target, input, live, options)? else {
            return if report.is_some() { Ok(()) } else { Err(Failure::Interrupted) };
        };
        if !self.json {
            opened.notes.iter().for_each(|note| text::remark(&said(note)));
        }
        text::warn_of(&std::mem::take(&mut opened.warnings));
        let mut own = None;
        let done = stream(database, &target, opened, options, &mut own);
        if let Some(own) = own {
            *report = Some(match report.take() {
                Some(before) => before.with(own),
                None => own,
            });
        }
        Ok(done?)
    }

    fn open(&self, stop: &Cancel) -> Result<Database, Failure> {
        let bar = Bar::spinner(false);
        let run = self.resources.run(stop, 0, false, Some(bar.on_round("reading the log")))?;
        let database =
            Database::open_under(&self.database, self.scratch.options(&self.resources, &run), &run);
        bar.finish();
        Ok(database?)
    }

    /// Opens the input, which may wait for its first line; `None` if a signal came first.
    fn open_input(
        &self,
        target: &Target,
        input: &str,
        live: GrowingInput,
        options: &StreamOptions,
    ) -> Result<Option<EdgeInput>, Failure> {
        let stop = live.stop.clone();
        let mut read = reading_of_rows(target, options, self.rejects.reading(self.read.options()?));
        read.live = Some(live);
        let (target, inputs) = (target.clone(), [input.to_owned()]);
        let (sender, receiver) = sync_channel(1);
        // The thread is not joined: an input that stays silent blocks it.
        std::thread::spawn(move || {
            let opened = open_edges(&target, &inputs, &read, Purpose::Add).map(Box::new);
            // Nobody waits for it after a signal.
            let _ = sender.send(opened);
        });
        loop {
            match receiver.recv_timeout(LOOK_EVERY) {
                Ok(Err(_)) if stop.is_cancelled() => return Ok(None),
                Ok(opened) => return Ok(Some(*opened?)),
                Err(RecvTimeoutError::Timeout) if !stop.is_cancelled() => {}
                Err(_) => return Ok(None),
            }
        }
    }

    fn options(
        &self,
        database: &Database,
        stop: &Cancel,
        begin: Instant,
        rejects: Option<&Arc<RejectsFile>>,
    ) -> Result<StreamOptions, Failure> {
        let (json, age) = (self.json, self.expire.or(Declared::of(&database.manifest()).expire));
        let on_state: OnStream = Arc::new(move |state: &StreamState| {
            let taken = begin.elapsed();
            if json {
                // Standard output may be closed; the stream goes on.
                let _ = text::print(&state_json(state, taken).to_string());
            } else {
                text::remark_over_bar(&describe(state, taken));
            }
        });
        Ok(StreamOptions {
            every: self.commit_every.0,
            pace: self.rate.map(Pace::PerSecond).or(self.replay.map(Pace::Replay)),
            time: self.read.time.clone(),
            unit: self.time_unit.map(EpochUnit::from),
            delay: self.delay,
            late: self.late.0.clone(),
            expire: age.map(|length| self.expiry(length)).transpose()?,
            from_start: self.from_start,
            op: self.op.clone(),
            duplicates: self.duplicates.map(Into::into),
            bad_lines: self.rejects.bad_lines(self.bad_lines),
            rejects: rejects.cloned(),
            stop: stop.clone(),
            on_state: Some(on_state),
            ..StreamOptions::default()
        })
    }

    fn expiry(&self, length: Span) -> Result<Expiry, Failure> {
        // A signal ends the stream after the last expiry.
        let run = self.resources.run(&Cancel::default(), 0, false, None)?;
        Ok(Expiry { length, run: Arc::new(run) })
    }

    fn print(&self, report: &StreamReport, taken: Duration, is_done: bool) -> Outcome {
        let StreamReport { fed, passed_over, state } = report;
        if self.json {
            let mut value = state_json(state, taken);
            value["passed_over"] = json!(passed_over);
            value["versions"] = json!(fed.versions.len());
            value["duplicates"] = json!(fed.duplicates);
            value["self_loops"] = json!(fed.self_loops);
            value["rejected_lines"] = json!(fed.rejected);
            value["rejected_sample"] = json!(text::rejected_json(&fed.rejected_sample));
            value["warnings"] = json!(fed.warnings.iter().map(said).collect::<Vec<_>>());
            value["done"] = json!(is_done);
            return text::print(&value.to_string());
        }
        let mut facts = vec![("committed".to_owned(), committed(fed.edges, &fed.versions))];
        let mut add = |name: &str, value: String| facts.push((name.to_owned(), value));
        if *passed_over > 0 {
            add("passed over", format!("{}, which were read before", counted(*passed_over, "edge", "edges")));
        }
        if state.removed > 0 {
            add("removed", counted(state.removed, "edge", "edges"));
        }
        if state.not_found > 0 {
            add("not found", format!("{} to remove", counted(state.not_found, "edge", "edges")));
        }
        if state.expired > 0 {
            add("expired", counted(state.expired, "edge", "edges"));
        }
        if state.late > 0 {
            add("late", counted(state.late, "edge", "edges"));
        }
        if fed.duplicates > 0 {
            add("duplicates", counted(fed.duplicates, "edge", "edges"));
        }
        if fed.self_loops > 0 {
            add("self-loops", format!("{}, left out", counted(fed.self_loops, "edge", "edges")));
        }
        if fed.rejected > 0 {
            add("bad lines", counted(fed.rejected, "line", "lines"));
        }
        if let Some((mark, unit)) = state.watermark {
            add("watermark", unit.format(mark));
        }
        let spent = taken.as_secs_f64();
        add("time", format!("{} ({})", seconds(spent), rate(fed.edges as f64, spent, "edges")));
        text::facts(&facts)
    }
}

/// Whether an input is there and no file, such as a pipe: it cannot be read again.
fn is_unnamed(input: &str) -> bool {
    let path = Path::new(input);
    path.exists() && !path.is_file()
}

/// Ends a thread beside the stream when it is dropped.
struct Ended<'a>(&'a Cancel);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Commits what other processes hand over, until the stream has ended.
fn serve_others(database: &Database, ended: &Cancel) {
    if let Err(error) = database.serve_queue(ended) {
        text::warn(&format!("warning: from now on, other processes cannot change the database: {error}"));
    }
}

fn committed(edges: u64, versions: &[u64]) -> String {
    let edges = counted(edges, "edge", "edges");
    match versions {
        [] => edges,
        [one] => format!("{edges} as version {one}"),
        [first, .., last] => format!("{edges} as versions {first} to {last}"),
    }
}

/// `version 7: 1 200 000 edges, 1.5 M edges/s, until 2026-11-21T10:00:00Z, lag 1.02 s, 14 late`.
fn describe(state: &StreamState, taken: Duration) -> String {
    let mut parts =
        vec![counted(state.edges, "edge", "edges"), rate(state.edges as f64, taken.as_secs_f64(), "edges")];
    if let Some((mark, unit)) = state.watermark {
        parts.push(format!("until {}", unit.format(mark)));
    }
    parts.push(format!("lag {}", seconds(state.lag.as_secs_f64())));
    if state.removed > 0 {
        parts.push(format!("{} removed", state.removed));
    }
    if state.not_found > 0 {
        parts.push(format!("{} to remove not found", state.not_found));
    }
    if state.expired > 0 {
        parts.push(format!("{} expired", state.expired));
    }
    if state.late > 0 {
        parts.push(format!("{} late", state.late));
    }
    let version =
        state.version.map_or_else(|| "no version yet".to_owned(), |version| format!("version {version}"));
    format!("{version}: {}", parts.join(", "))
}

fn state_json(state: &StreamState, taken: Duration) -> Value {
    json!({
        "version": state.version,
        "edges": state.edges,
        "committed": state.committed,
        "removed": state.removed,
        "not_found": state.not_found,
        "late": state.late,
        "expired": state.expired,
        "watermark": state.watermark.map(|(mark, _)| mark),
        "watermark_time": state.watermark.map(|(mark, unit)| unit.format(mark)),
        "lag_seconds": state.lag.as_secs_f64(),
        "seconds": taken.as_secs_f64(),
    })
}
