//! `esker serve`: a page in the browser, and an interface over HTTP.

use std::fs::OpenOptions;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use esker::SessionOptions;
use esker::store::io::outlive_failing_pages;
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
        let opened = self.open.then(|| OpenedLink::open(&link)).flatten();
        // A question about a file that was cut short fails, and not the server.
        outlive_failing_pages();
        let ended = server.run().map_err(failure);
        drop(opened);
        ended
    }
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Database(error) => error.into(),
        other => Failure::Failed(other.to_string()),
    }
}

/// A link that the system opens. All users see the arguments of a program, and the link holds the token: so
/// the program gets the name of a file that only this user can read, which leads to the link.
struct OpenedLink(PathBuf);

impl OpenedLink {
    fn open(link: &str) -> Option<Self> {
        let page = std::env::temp_dir().join(format!("esker-{}.html", std::process::id()));
        let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&page);
        let content = format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={link}\">\n");
        if let Err(error) = written.and_then(|mut file| file.write_all(content.as_bytes())) {
            text::warn(&format!("warning: the link is not opened: {}: {error}", page.display()));
            return None;
        }
        let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let mut command = Command::new(opener);
        command.arg(&page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let opened = Self(page);
        match command.spawn() {
            // It may end at once, or with the browser.
            Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
            Err(_) => text::warn(&format!("warning: there is no {opener} to open the link with")),
        }
        Some(opened)
    }
}

impl Drop for OpenedLink {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
