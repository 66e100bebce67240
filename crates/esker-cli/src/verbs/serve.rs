//! `esker serve`: a page in the browser, and an interface over HTTP.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use esker::SessionOptions;
use esker_server::{ServeError, ServeOptions, Server};

use crate::args::resources::ResourceArgs;
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::show::text;

/// Show a database in the browser, and answer questions over HTTP
///
/// Prints a link, and serves the page that it leads to until Ctrl-C. The link holds a token: whoever has it
/// can read the database, and nobody can change it. Versions that other processes commit are seen.
/// `/api/v1/openapi.json` describes the interface for programs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker serve web.esker
  esker serve web.esker --memory 4GiB --threads 2")]
pub(crate) struct ServeCommand {
    /// The database
    database: PathBuf,
    /// The port to listen on; 0 lets the system choose a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// The address to listen on. Other than the loopback, other machines can reach it, and what they send and
    /// get is not encrypted
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST.into())]
    address: IpAddr,
    /// Open the link in the browser
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    resources: ResourceArgs,
}

impl ServeCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let cancel = cancel_on_signals()?;
        let memory = self.resources.limit();
        let session =
            SessionOptions { threads: self.resources.threads(), cancel, ..SessionOptions::within(memory) };
        let options =
            ServeOptions { database: self.database.clone(), address: self.address, port: self.port, session };
        let server = Server::bind(&options).map_err(failure)?;
        let link = server.link();
        text::line(&link)?;
        if !self.address.is_loopback() {
            text::warn(
                "warning: other machines can reach this server, and nothing is encrypted: an SSH tunnel is safer",
            );
        }
        if self.open {
            open(&link);
        }
        server.run().map_err(failure)
    }
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Database(error) => error.into(),
        other => Failure::Failed(other.to_string()),
    }
}

/// Has the system open a link.
fn open(link: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if command.spawn().is_err() {
        text::warn(&format!("warning: there is no {opener} to open the link with"));
    }
}
