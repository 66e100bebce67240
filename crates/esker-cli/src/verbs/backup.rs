//! `esker backup` and `esker restore`: copies of a database.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use esker::graph::Run;
use esker::store::backup::{BackupOptions, BackupReport, FileCount, backup, restore};
use esker::store::io::{Disk, RealDisk};
use serde_json::{Value, json};

use crate::args::resources::ResourceArgs;
use crate::args::size::{bytes, counted};
use crate::failure::Outcome;
use crate::interrupt::cancel_on_signals;
use crate::show::progress::Bar;
use crate::show::text;

/// Copy a database, or bring its copy up to date
///
/// The copy has every version that was committed before; others may read and write the database meanwhile. It
/// is made beside its place, verified, and put there in one step: whatever happens, there is a whole copy.
/// Files that never change are shared with the database, as reflinks where the file system has them, else as
/// hard links; on another file system they are copied. A copy that was made before is brought up to date:
/// only files that are not in it are shared or copied, and verified. `esker check` verifies all of a copy.
/// States of `esker follow` are not copied.
///
/// Every command that reads a database reads a copy. A command that writes to it makes a database of its own
/// of it, which `esker backup` refuses to replace. `cp -r` and `rsync` make right copies only while nothing
/// writes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker backup web.esker web.backup              as often as you like
  esker backup web.esker disk2/web.backup        on another disk
  esker restore web.backup web.esker --force     back to the copy")]
pub(crate) struct BackupCommand {
    /// The database
    database: PathBuf,
    /// The copy: a new name, or that of an earlier copy of this database
    copy: PathBuf,
    #[command(flatten)]
    how: CopyArgs,
}

/// Make a database of a copy
///
/// Copies as `esker backup` does, and verifies every file. The copy stays as it is, and can be restored
/// again.
#[derive(Debug, Args)]
#[command(after_help = "Example: esker restore web.backup web.esker")]
pub(crate) struct RestoreCommand {
    /// The copy, or any database
    copy: PathBuf,
    /// The database to make
    database: PathBuf,
    /// Replace the database if there is one
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    how: CopyArgs,
}

#[derive(Debug, Args)]
struct CopyArgs {
    /// Share nothing on the disk: copy each file that is new
    #[arg(long)]
    apart: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    resources: ResourceArgs,
}

impl BackupCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.how.carry_out("backup", &self.copy, |disk, options, run| {
            backup(disk, &self.database, &self.copy, options, run)
        })
    }
}

impl RestoreCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.how.carry_out("restore", &self.database, |disk, options, run| {
            restore(disk, &self.copy, &self.database, self.force, options, run)
        })
    }
}

impl CopyArgs {
    fn carry_out(
        &self,
        verb: &'static str,
        target: &Path,
        make: impl FnOnce(&Arc<dyn Disk>, BackupOptions, &Run) -> esker::store::Result<BackupReport>,
    ) -> Outcome {
        let cancel = cancel_on_signals()?;
        let bar = Bar::spinner(false);
        let run = self.resources.run(&cancel, 0, false, Some(bar.on_round(verb)))?;
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let report = make(&disk, BackupOptions { apart: self.apart }, &run);
        bar.finish();
        let report = report?;
        if self.json {
            return text::json(&json!({
                "copy": target.display().to_string(),
                "version": report.version,
                "kept": count_json(report.kept),
                "reflinks": count_json(report.cloned),
                "hard_links": count_json(report.linked),
                "copied": count_json(report.copied),
                "verified_bytes": report.verified_bytes,
            }));
        }
        let BackupReport { version, kept, cloned, linked, copied, verified_bytes } = report;
        text::line(&format!(
            "{}: up to version {version}, {} verified",
            target.display(),
            bytes(verified_bytes)
        ))?;
        let ways = [
            (kept, "kept from the copy before"),
            (cloned, "shared by reflinks"),
            (linked, "shared by hard links"),
            (copied, "copied"),
        ];
        for (FileCount { files, bytes: size }, how) in ways.into_iter().filter(|(count, _)| count.files > 0) {
            text::line(&format!("  {} ({}) {how}", counted(files, "file", "files"), bytes(size)))?;
        }
        Ok(())
    }
}

fn count_json(count: FileCount) -> Value {
    json!({ "files": count.files, "bytes": count.bytes })
}
