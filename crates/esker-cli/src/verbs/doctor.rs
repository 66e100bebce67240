//! `esker doctor`: how fast this machine is.

use std::path::{Path, PathBuf};

use clap::Args;
use esker::doctor::{Effort, load_now, measure};
use esker::rates::{Known, LOAD_MAX, Rate, Rates, cache_directory, file};
use esker::store::format::return_large_blocks;
use esker::store::manifest::format_time;
use serde_json::json;

use crate::args::resources::ResourceArgs;
use crate::args::size::{bytes, counted, rate};
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::show::progress::Bar;
use crate::show::text;

/// Measure how fast this machine reads, verifies and scans
///
/// The rates are kept in the user's cache directory ($XDG_CACHE_HOME/esker, else ~/.cache/esker). `esker
/// estimate` and `esker run` compute from them the times that they predict, and what they choose; without
/// them, from the rates of another machine. The first call measures, which takes about 15 s, 400 MiB of disk
/// and 500 MiB of memory; later calls show what was measured. On a machine that does other work, the first
/// call measures up to three times; a later call, when it is idle, measures again; and runs that are faster
/// correct the rates meanwhile.
#[derive(Debug, Args)]
pub(crate) struct DoctorCommand {
    /// Directory on the disk to measure, such as where databases lie [default: the one that was measured
    /// before, else the cache directory]
    directory: Option<PathBuf>,
    /// Measure again, and replace the rates that are kept
    #[arg(long)]
    renew: bool,
    /// Measure for some two seconds, with a small graph and file, and keep nothing
    #[arg(long, conflicts_with = "renew")]
    quick: bool,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl DoctorCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let known = Known::of_user();
        if self.quick {
            self.show(&self.measured(&known)?)?;
            text::remark("not kept: less was measured than without --quick");
            return Ok(());
        }
        if let Some(reason) = &known.ignored {
            text::remark(&format!("not used: {reason}; measuring anew"));
        }
        let is_calm = || load_now().is_none_or(|load| load <= LOAD_MAX);
        let is_again = known.is_doubtful() && self.check_shows(&known).is_ok() && is_calm();
        if self.renew || known.measured_ms.is_none() || is_again {
            if is_again && !self.renew {
                text::remark("the machine was busy when the rates were measured; measuring again");
            }
            let measured = self.measured(&known)?;
            let measured = if self.renew { measured } else { with_former(measured, &known) };
            let kept = measured.keep();
            return self.conclude(&measured, kept);
        }
        self.check_shows(&known)?;
        self.show(&known)
    }

    /// Refuses what has no effect on rates that were measured before.
    fn check_shows(&self, known: &Known) -> Outcome {
        if self.resources.threads.is_some() || self.resources.memory.is_some() {
            let message = "the rates were measured before: give --renew to measure them anew with --threads or --memory";
            return Err(Failure::Usage(message.to_owned()));
        }
        match &self.directory {
            Some(directory) if std::path::absolute(directory)? != Path::new(&known.directory) => {
                Err(Failure::Usage(format!(
                    "the rates are of the disk of {}: give --renew to measure that of {}",
                    known.directory,
                    directory.display()
                )))
            }
            _ => Ok(()),
        }
    }

    fn measured(&self, before: &Known) -> Result<Known, Failure> {
        let cancel = cancel_on_signals()?;
        let before = Some(PathBuf::from(&before.directory)).filter(|directory| directory.is_dir());
        let directory = match (self.directory.clone().or(before), cache_directory()) {
            (Some(directory), _) => directory,
            (None, Some(cache)) => nearest(&cache),
            (None, None) => std::env::temp_dir(),
        };
        let directory = std::path::absolute(&directory)?;
        // A run copies lists to memory that is new to the process. Else the trials would use the same memory
        // again and again.
        return_large_blocks();
        let bar = Bar::spinner(false);
        let run = self.resources.run(&cancel, 0, false, Some(bar.on_round("measuring")))?;
        let effort = if self.quick { Effort::quick() } else { Effort::default() };
        let measured = measure(&directory, &effort, &run);
        bar.finish();
        let measured = measured?;
        if !measured.includes_disk {
            text::remark(&format!(
                "the file system of {} has no reads past the page cache: the rates of its disk are those of another machine; name a directory on another disk",
                directory.display()
            ));
        }
        Ok(Known::measured(measured.rates, measured.load, &directory))
    }

    /// Shows what was measured, which took long, also if it could not be kept.
    fn conclude(&self, measured: &Known, kept: esker::Result<Option<PathBuf>>) -> Outcome {
        self.show(measured)?;
        match kept {
            Ok(Some(path)) => text::remark(&format!("kept in {}", path.display())),
            Ok(None) => text::remark("not kept: there is no cache directory; set XDG_CACHE_HOME or HOME"),
            Err(error) => {
                let message = format!(
                    "the rates were not kept: {error}; set XDG_CACHE_HOME to a directory that can be written to"
                );
                return Err(Failure::Failed(message));
            }
        }
        Ok(())
    }

    fn show(&self, known: &Known) -> Outcome {
        let time = known.measured_ms.map(format_time);
        if self.json {
            return text::json(&json!({
                "file": file().map(|path| path.display().to_string()),
                "measured": time,
                "directory": known.directory,
                "threads": known.rates.threads,
                "load": known.load,
                "per_second": known.rates.to_json(),
            }));
        }
        let threads = counted(known.rates.threads as u64, "thread", "threads");
        let mut rows: Vec<_> =
            Rate::ALL.iter().map(|&one| (one.describe().to_owned(), per_second(&known.rates, one))).collect();
        let when = time.map_or_else(|| "never".to_owned(), |time| format!("{time}, with {threads}"));
        rows.push(("measured".to_owned(), when));
        if let Some(load) = known.load {
            rows.push(("other work meanwhile".to_owned(), describe_load(load, known.is_doubtful())));
        }
        rows.push(("directory of the disk".to_owned(), known.directory.clone()));
        text::facts(&rows)
    }
}

/// New rates, or what was measured before of the same disk with as many threads on a busy machine, if that is
/// higher.
fn with_former(new: Known, former: &Known) -> Known {
    let is_alike = former.rates.threads == new.rates.threads && former.directory == new.directory;
    if !(former.is_doubtful() && new.is_doubtful() && is_alike) {
        return new;
    }
    Known { rates: new.rates.or_higher(former.rates), ..new }
}

/// How busy the machine was.
fn describe_load(load: f64, is_doubtful: bool) -> String {
    let share = format!("{:.0} % of the processors", load * 100.0);
    match is_doubtful {
        true => {
            format!("{share}: the rates may be too low; call `esker doctor` again when the machine is idle")
        }
        false => share,
    }
}

/// A rate with its unit.
fn per_second(rates: &Rates, one: Rate) -> String {
    match one.unit() {
        "bytes" => format!("{}/s", bytes(rates.of(one) as u64)),
        unit => rate(rates.of(one), 1.0, unit),
    }
}

/// The nearest directory above a path that is there.
fn nearest(path: &Path) -> PathBuf {
    path.ancestors().find(|path| path.is_dir()).unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_cannot_be_kept_are_a_failure_with_a_remedy() {
        let place = tempfile::tempdir().unwrap();
        let known = Known::measured(Rates::default(), Some(0.5), place.path());
        std::fs::write(place.path().join("esker"), "a file where the directory should be").unwrap();
        let kept = known.write(&place.path().join("esker/rates.json")).map(|()| None);
        let command = DoctorCommand {
            directory: None,
            renew: true,
            quick: false,
            resources: ResourceArgs::default(),
            json: true,
        };
        let Err(Failure::Failed(message)) = command.conclude(&known, kept) else { panic!() };
        assert!(message.contains("not kept") && message.contains("XDG_CACHE_HOME"), "{message}");
        assert!(command.conclude(&known, Ok(None)).is_ok());
    }
}
