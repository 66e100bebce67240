//! `esker mcp`: a database as tools for programs of language models.

use std::path::PathBuf;

use clap::Args;
use esker::SessionOptions;
use esker::store::io::outlive_failing_pages;
use esker_server::{AgentServer, ServeError};

use crate::args::resources::ResourceArgs;
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;

/// Answer questions of language models about a database, by the Model Context Protocol
///
/// A program of a language model starts this command, and asks on standard input: to describe the graph, to
/// find vertices, neighbours and paths, to add up edges, to run algorithms, to compare versions. Nobody can
/// change the database so. A run that would take long or much memory is refused unless it is confirmed.
#[derive(Debug, Args)]
#[command(after_help = "Example, for the settings of such a program:
  {\"mcpServers\": {\"web\": {\"command\": \"esker\", \"args\": [\"mcp\", \"/data/web.esker\"]}}}")]
pub(crate) struct McpCommand {
    /// The database
    database: PathBuf,
    #[command(flatten)]
    resources: ResourceArgs,
}

impl McpCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let cancel = cancel_on_signals()?;
        let memory = self.resources.limit();
        let session =
            SessionOptions { threads: self.resources.threads(), cancel, ..SessionOptions::within(memory) };
        let server = AgentServer::open(&self.database, &session).map_err(failure)?;
        // A question about a file that was cut short fails, and not the server.
        outlive_failing_pages();
        server.run().map_err(failure)
    }
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Database(error) => error.into(),
        other => Failure::Failed(other.to_string()),
    }
}
