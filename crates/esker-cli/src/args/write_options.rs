//! Options that the database keeps: how commits become layers, set when it is made or by `esker options`, and
//! what stream it is.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use esker::store::format::{CopyPolicy, WriteOptions};
use esker::window::{Declared, EpochUnit, Span};
use serde_json::{Value, json};

use crate::args::size::{bytes, parse_bytes};
use crate::args::window_args::UnitArg;

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

/// A length of time, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LengthArg(Option<Span>);

impl FromStr for LengthArg {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        match given {
            "none" | "never" => Ok(Self(None)),
            length => length.parse().map(|length| Self(Some(length))),
        }
    }
}

/// Options of a stream of timed edges.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Stream of timed edges")]
pub(crate) struct DeclareArgs {
    /// Edge property that holds the times, whole numbers since 1970 [default: the only one that can, but for
    /// the weight]
    #[arg(long, value_name = "NAME")]
    time: Option<String>,
    /// Unit of the times [default: guessed from the latest]
    #[arg(long, value_enum, value_name = "UNIT")]
    time_unit: Option<UnitArg>,
    /// By how much edges may be out of order, such as 10s, a number in the unit of the times, or none
    #[arg(long, value_name = "LENGTH")]
    delay: Option<LengthArg>,
    /// Age from which edges are removed, such as 30d, a number in the unit of the times, or never: by `esker
    /// stream`, `esker expire` and `esker compact`
    #[arg(long, value_name = "AGE")]
    expire: Option<LengthArg>,
}

impl DeclareArgs {
    /// Those given, in place of others; `None` if none is given.
    pub(crate) fn over(&self, kept: Declared) -> Option<Declared> {
        let Self { time, time_unit, delay, expire } = self;
        let is_given = time.is_some() || time_unit.is_some() || delay.is_some() || expire.is_some();
        is_given.then(|| Declared {
            delay: delay.map_or(kept.delay, |length| length.0),
            expire: expire.map_or(kept.expire, |length| length.0),
            ..kept.with_times(time.clone(), time_unit.map(EpochUnit::from))
        })
    }
}

/// `times in "sent" (seconds), delay 10s, edges expire after 30d`; `None` if no stream was declared.
pub(crate) fn describe_stream(stream: &Declared) -> Option<String> {
    let mut words = format!("times in {:?}", stream.time.as_ref()?);
    if let Some(unit) = stream.unit {
        words += &format!(" ({})", unit.name());
    }
    if let Some(delay) = stream.delay {
        words += &format!(", delay {delay}");
    }
    if let Some(age) = stream.expire {
        words += &format!(", edges expire after {age}");
    }
    Some(words)
}

/// The declaration as JSON; `null` if there is none.
pub(crate) fn stream_json(stream: &Declared) -> Value {
    let Some(time) = &stream.time else { return Value::Null };
    json!({
        "time": time,
        "time_unit": stream.unit.map(EpochUnit::name),
        "delay": stream.delay.map(|delay| delay.to_string()),
        "expire": stream.expire.map(|age| age.to_string()),
    })
}
