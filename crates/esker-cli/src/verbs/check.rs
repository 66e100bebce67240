//! `esker check`: verifies every byte of a database.

use std::path::{Path, PathBuf};

use clap::Args;
use esker::store::check::check;
use esker::store::manifest::Strays;
use esker::store::{Error, LogCheck, Store};
use serde_json::{Value, json};

use crate::args::at::{AtArgs, number_of};
use crate::args::resources::ResourceArgs;
use crate::args::size::{bytes, counted};
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::language::{CommandLine, said};
use crate::show::progress::Bar;
use crate::show::text;

/// Verify every byte of a database
///
/// Compares every checksum and cross-checks the files, those of live answers too. Files that are not part of
/// the database are listed; no command removes them. What a writer that died has left, layers, tiles and
/// heads that MANIFEST does not name, is listed too: the next writer removes it.
///
/// The exit code is 0 if the database is sound, and 1 if there is a problem. It is 4 if the only finding is
/// that the log or MANIFEST ends with bytes that are no complete record. Either a writer died, or is writing
/// there, and then nothing is lost that was acknowledged. Or the last record was damaged later, and its
/// commit is lost. The two cannot be told apart. The next writer removes these bytes: copy the database first
/// if its last commit matters.
#[derive(Debug, Args)]
pub(crate) struct CheckCommand {
    /// The database
    database: PathBuf,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl CheckCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let cancel = cancel_on_signals()?;
        let bar = Bar::spinner(false);
        let run = self.resources.run(&cancel, 0, false, Some(bar.on_round("check")))?;
        let store = Store::open(&self.database)?;
        let frozen = store.manifest().versions.last().map_or(0, |version| version.number);
        let unfrozen = store.check_log(&run);
        let wanted = match &self.at.at {
            Some(selector) if unfrozen.is_ok() => number_of(&store, selector)?,
            _ => frozen,
        };
        let version = if wanted < frozen { store.at(wanted)? } else { store.frozen()? };
        let report = check(&version, &run);
        bar.finish();
        let mut report = report?;
        let mut is_incomplete = false;
        let LogCheck { commits: unfrozen, unfinished } = match unfrozen {
            Ok(checked) => checked,
            Err(problem @ (Error::Corrupt { .. } | Error::Lost { .. })) => {
                report.problems.push(problem);
                is_incomplete = true;
                LogCheck { commits: 0, unfinished: Vec::new() }
            }
            Err(error) => return Err(error.into()),
        };
        let live = store.check_live(&run)?;
        report.problems.extend(live.into_iter().map(Error::invalid));
        let Strays { mut left, foreign } = store.strays()?;
        if is_incomplete {
            // Of a manifest that lost its end, they may be its layers; no writer opens the database.
            left.clear();
        }
        let problems: Vec<String> = report.problems.iter().map(|problem| said(&problem.message())).collect();
        let commands: Vec<String> =
            report.remedies.iter().map(|operation| CommandLine.command(operation)).collect();
        if self.json {
            text::json(&json!({
                "database": self.database.display().to_string(),
                "version": wanted.min(frozen),
                "commits_in_log": unfrozen,
                "sound": report.is_sound(),
                "columns": report.columns,
                "bytes": report.bytes,
                "checks": report.sound,
                "problems": problems,
                "remedies": commands,
                "unfinished": sizes_json(&unfinished),
                "left": sizes_json(&left),
                "foreign": foreign.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
            }))?;
        } else {
            let columns = counted(report.columns as u64, "column", "columns");
            text::line(&format!("Verified the checksums of {columns}, {}", bytes(report.bytes)))?;
            if unfrozen > 0 {
                let commits = counted(unfrozen as u64, "commit", "commits");
                text::line(&format!("ok: {commits} in the log, all complete"))?;
            }
            for sound in &report.sound {
                text::line(&format!("ok: {sound}"))?;
            }
            unfinished.iter().try_for_each(|(path, count)| print_unfinished(path, *count))?;
            left.iter().try_for_each(|(path, count)| print_left(path, *count))?;
            for path in &foreign {
                text::line(&format!("note: {} is not part of the database", path.display()))?;
            }
            self.print_problems(&problems, &commands)?;
        }
        self.verdict(problems.len(), &unfinished)
    }

    /// The outcome of the command.
    fn verdict(&self, num_problems: usize, unfinished: &[(PathBuf, u64)]) -> Outcome {
        let name = self.database.display();
        if num_problems > 0 {
            let found = counted(num_problems as u64, "problem", "problems");
            return Err(Failure::Failed(format!("{name} has {found}")));
        }
        let Some((path, count)) = unfinished.first() else { return Ok(()) };
        Err(Failure::Unfinished(format!(
            "{name} is sound, but {} ends with {} that are no complete record",
            path.display(),
            counted(*count, "byte", "bytes")
        )))
    }

    fn print_problems(&self, problems: &[String], remedies: &[String]) -> Outcome {
        for problem in problems {
            text::line(&format!("PROBLEM: {problem}"))?;
        }
        for command in remedies {
            let path = self.database.display();
            text::line(&format!(
                "remedy: `{command} {path}` makes these files anew from the lists, which are sound"
            ))?;
        }
        Ok(())
    }
}

fn sizes_json(files: &[(PathBuf, u64)]) -> Value {
    files.iter().map(|(path, bytes)| json!({ "path": path.display().to_string(), "bytes": bytes })).collect()
}

/// Says that a file or directory belongs to no layer of the database.
fn print_left(path: &Path, count: u64) -> Outcome {
    text::line(&format!(
        "note: {} ({}) is in no version: a writer died, or is writing there; the next writer removes it",
        path.display(),
        bytes(count)
    ))
}

/// Says that a file ends with bytes that are no record.
fn print_unfinished(path: &Path, count: u64) -> Outcome {
    text::line(&format!(
        "note: {} ends with {}, which are no complete record: a writer died or is writing there, or they are damaged; the \
         next writer removes them",
        path.display(),
        counted(count, "byte", "bytes")
    ))
}
