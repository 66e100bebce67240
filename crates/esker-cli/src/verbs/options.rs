//! `esker options`: shows or sets what a database keeps for all processes that write to it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use esker::change::{give_edge_ids, reading_json};
use esker::graph::{Run, RunOptions};
use esker::store::Store;
use esker::store::format::{EventTimes, WriteOptions};
use esker::store::manifest::Manifest;
use esker::window::Declared;
use serde_json::json;

use crate::args::remembered::{RememberArgs, describe_reading};
use crate::args::write_options::{
    DeclareArgs, WriteOptionArgs, describe, describe_stream, stream_json, to_json,
};
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::session::opening::open_for_change;
use crate::show::text;

/// Show or set the options of a database: freezing, merging, streams, files
///
/// The database keeps these options, and every process that writes to it obeys them. Layers that exist stay
/// as they are. Without an option, prints the current ones. How files are read is remembered from the import,
/// or from the first file that is added; `esker add`, `stream` and `delete` find the columns by it, and an
/// option there counts for that file alone. With options of a stream, the database is
/// declared one: `esker stream`, `window`, `run --window`, `follow --window` and `expire` find the times
/// there without being told, and old edges are removed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker options web.esker --freeze-size 16MiB --merge never
  esker options timed.esker --time seconds --delay 10s --expire 30d
  esker options timed.esker --expire never
  esker options timed.esker --edge-ids
  esker options web.esker --src sender --dst receiver")]
pub(crate) struct OptionsCommand {
    /// The database
    database: PathBuf,
    #[command(flatten)]
    writes: WriteOptionArgs,
    #[command(flatten)]
    stream: DeclareArgs,
    #[command(flatten)]
    remember: RememberArgs,
    /// Give edges ids, where parallel edges are kept: see `esker import --edge-ids`. This writes all layers
    /// anew. Edges that exist get ids, too; unless the import is the only version, theirs begin with v0
    #[arg(long)]
    edge_ids: bool,
    /// Make integer ids texts, in all versions, so that later edges may have any text as ids. This writes all
    /// layers anew and is not undone
    #[arg(long, value_enum, value_name = "KIND")]
    ids: Option<WiderIds>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// `--ids`: what integer ids become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WiderIds {
    /// Texts.
    Text,
}

impl OptionsCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let sets_writes = self.writes.over(WriteOptions::default()).is_some();
        let sets_stream = self.stream.over(Declared::default()).is_some();
        let rewrites = self.edge_ids || self.ids.is_some();
        if !sets_writes && !rewrites && !sets_stream && !self.remember.is_given() {
            let store = Store::open(&self.database)?;
            return self.report(store.whole_manifest()?);
        }
        let database = open_for_change(&self.database)?;
        // What can be refused comes first.
        let properties: Vec<String> =
            database.latest()?.edge_properties().map(|property| property.name.clone()).collect();
        let reading = self.remember.over(database.manifest().reading.as_ref(), &properties)?;
        if let Some(stream) = self.stream.over(Declared::of(&database.manifest())) {
            stream.keep(&database)?;
        }
        if rewrites {
            let run = Run::new(RunOptions { cancel: cancel_on_signals()?, ..RunOptions::default() })?;
            if self.edge_ids {
                give_edge_ids(&database, &run)?;
            }
            if let Some(WiderIds::Text) = self.ids {
                database.make_ids_texts(&run)?;
            }
        }
        let options = self.writes.over(database.write_options());
        options.map_or(Ok(()), |options| database.set_write_options(options))?;
        reading.map_or(Ok(()), |reading| database.set_reading(reading))?;
        self.remember.event_times().map_or(Ok(()), |times| database.set_event_times(times))?;
        let manifest = database.manifest();
        let closed = database.close().map_err(Failure::from);
        let reported = closed.and_then(|()| self.report(&manifest));
        reported.map_err(|failure| failure.after("the options are set"))
    }

    fn report(&self, manifest: &Manifest) -> Outcome {
        let name = self.database.display();
        let (options, stream) = (manifest.options(), Declared::of(manifest));
        let (reading, times) = (manifest.reading.as_ref(), manifest.event_times());
        if self.json {
            return text::json(&json!({
                "database": name.to_string(),
                "options": to_json(&options),
                "stream": stream_json(&stream),
                "reading": reading_json(reading),
                "event_times": times.name(),
            }));
        }
        text::line(&format!("{name}: {}", describe(&options)))?;
        let reading = describe_reading(reading).map(|reading| format!("files are read as {reading}"));
        let times = (times != EventTimes::default()).then(|| "event times are given".to_owned());
        let mut more = describe_stream(&stream).into_iter().chain(reading).chain(times);
        more.try_for_each(|words| text::line(&format!("{name}: {words}")))
    }
}
