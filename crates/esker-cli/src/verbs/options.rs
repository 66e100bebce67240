//! `esker options`: shows or sets what a database keeps for all processes that write to it.

use std::path::PathBuf;

use clap::Args;
use esker::change::give_edge_ids;
use esker::graph::{Run, RunOptions};
use esker::store::Store;
use esker::store::format::WriteOptions;
use esker::window::Declared;
use serde_json::json;

use crate::args::write_options::{
    DeclareArgs, WriteOptionArgs, describe, describe_stream, stream_json, to_json,
};
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::session::opening::open_for_change;
use crate::show::text;

/// Show or set the options of a database: freezing, merging, copying, streams
///
/// The database keeps these options, and every process that writes to it obeys them. Layers that exist stay
/// as they are. Without an option, prints the current ones. With options of a stream, the database is
/// declared one: `esker stream`, `window`, `run --window`, `follow --window` and `expire` find the times
/// there without being told, and old edges are removed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker options web.esker --freeze-size 16MiB --merge never
  esker options timed.esker --time seconds --delay 10s --expire 30d
  esker options timed.esker --expire never
  esker options timed.esker --edge-ids")]
pub(crate) struct OptionsCommand {
    /// The database
    database: PathBuf,
    #[command(flatten)]
    writes: WriteOptionArgs,
    #[command(flatten)]
    stream: DeclareArgs,
    /// Give edges ids, where parallel edges are kept: see `esker import --edge-ids`. This writes all layers
    /// anew. Edges that exist get ids, too; unless the import is the only version, theirs begin with v0
    #[arg(long)]
    edge_ids: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

impl OptionsCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let sets_writes = self.writes.over(WriteOptions::default()).is_some();
        if !sets_writes && !self.edge_ids && self.stream.over(Declared::default()).is_none() {
            let store = Store::open(&self.database)?;
            let manifest = store.whole_manifest()?;
            return self.report(&manifest.options(), &Declared::of(manifest));
        }
        let database = open_for_change(&self.database)?;
        // What can be refused comes first.
        if let Some(stream) = self.stream.over(Declared::of(&database.manifest())) {
            stream.keep(&database)?;
        }
        if self.edge_ids {
            give_edge_ids(
                &database,
                &Run::new(RunOptions { cancel: cancel_on_signals()?, ..RunOptions::default() })?,
            )?;
        }
        let options = self.writes.over(database.write_options());
        options.map_or(Ok(()), |options| database.set_write_options(options))?;
        let (options, stream) = (database.write_options(), Declared::of(&database.manifest()));
        let closed = database.close().map_err(Failure::from);
        let reported = closed.and_then(|()| self.report(&options, &stream));
        reported.map_err(|failure| failure.after("the options are set"))
    }

    fn report(&self, options: &WriteOptions, stream: &Declared) -> Outcome {
        let name = self.database.display();
        if self.json {
            return text::json(&json!({
                "database": name.to_string(),
                "options": to_json(options),
                "stream": stream_json(stream),
            }));
        }
        text::line(&format!("{name}: {}", describe(options)))?;
        describe_stream(stream).map_or(Ok(()), |stream| text::line(&format!("{name}: {stream}")))
    }
}
