//! Options for how commits become layers: kept in the database, set when it is made or by `esker options`.

use clap::{Args, ValueEnum};
use esker::store::format::{CopyPolicy, WriteOptions};
use serde_json::{Value, json};

use crate::size::{bytes, parse_bytes};

/// `--copy`: which changed lists a layer holds whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CopyArg {
    /// Short lists and the few longest.
    Mixed,
    /// None, only their changes: the smallest layers.
    Chain,
    /// All: the fastest reads.
    Copy,
}

/// `--merge`: when layers are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MergeArg {
    /// In the background after freezing.
    Auto,
    /// By `esker compact` only.
    Never,
}

/// Options for later commits.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Later commits")]
pub(crate) struct WriteOptionArgs {
    /// Which changed lists a new layer holds whole, instead of only their changes [default: mixed]
    #[arg(long, value_enum, value_name = "LISTS")]
    copy: Option<CopyArg>,
    /// Commits that take this much memory become a layer [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    freeze_size: Option<u64>,
    /// When layers are merged [default: auto]
    #[arg(long, value_enum, value_name = "WHEN")]
    merge: Option<MergeArg>,
}

impl WriteOptionArgs {
    /// Those given, in place of others; `None` if none is given.
    pub(crate) fn over(&self, options: WriteOptions) -> Option<WriteOptions> {
        let Self { copy, freeze_size, merge } = *self;
        let policy = copy.map(|copy| match copy {
            CopyArg::Mixed => CopyPolicy::Mixed,
            CopyArg::Chain => CopyPolicy::Chain,
            CopyArg::Copy => CopyPolicy::Copy,
        });
        let is_given = policy.is_some() || freeze_size.is_some() || merge.is_some();
        is_given.then(|| WriteOptions {
            policy: policy.unwrap_or(options.policy),
            freeze_bytes: freeze_size.unwrap_or(options.freeze_bytes),
            auto_merge: merge.map_or(options.auto_merge, |merge| merge == MergeArg::Auto),
        })
    }
}

fn name_of_merge(options: &WriteOptions) -> &'static str {
    if options.auto_merge { "auto" } else { "never" }
}

/// `copy mixed, freeze at 64.00 MiB, merge auto`.
pub(crate) fn describe(options: &WriteOptions) -> String {
    let (copy, size) = (options.policy.name(), bytes(options.freeze_bytes));
    format!("copy {copy}, freeze at {size}, merge {}", name_of_merge(options))
}

/// The options as JSON.
pub(crate) fn to_json(options: &WriteOptions) -> Value {
    json!({
        "copy": options.policy.name(),
        "freeze_bytes": options.freeze_bytes,
        "merge": name_of_merge(options),
    })
}
