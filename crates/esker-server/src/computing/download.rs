//! The answer of a run as a file.

use std::io::Read;
use std::path::Path;

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::Response;
use esker::export::ExportOptions;
use esker::graph::Run;
use esker::output::write;
use esker::store::io::TemporaryDirectory;

use super::runs::Finished;
use crate::events::pieces;
use crate::failure::{Failure, Outcome};
use crate::query::Parameter;

/// The parameters of a download.
pub(crate) const OF_DOWNLOAD: &[Parameter] =
    &[Parameter::choice("format", &["csv", "parquet", "arrow"], "The format of the file")];

/// Bytes that are read from a file at a time.
const PIECE_BYTES: usize = 1 << 16;

/// A file that is removed once it was sent.
pub(crate) struct Made {
    directory: TemporaryDirectory,
    name: String,
}

/// Writes the answer to a temporary file. Its name is that of the run.
pub(crate) fn made(finished: &Finished, format: &str, id: &str, run: &Run) -> Outcome<Made> {
    let directory = TemporaryDirectory::new()?;
    let name = format!("run-{id}.{format}");
    let options = ExportOptions { cancel: run.cancel().clone(), ..ExportOptions::default() };
    write(&directory.path().join(&name), finished.version.ids(), &finished.answer, &options)?;
    Ok(Made { directory, name })
}

impl Made {
    /// The response with the file.
    pub(crate) fn response(self) -> Outcome<Response> {
        let media_type = match Path::new(&self.name).extension().and_then(|end| end.to_str()) {
            Some("csv") => "text/csv; charset=utf-8",
            _ => "application/octet-stream",
        };
        let disposition = format!("attachment; filename=\"{}\"", self.name);
        let disposition = HeaderValue::from_str(&disposition).map_err(|_| Failure::usage("no such run"))?;
        let mut response = Response::new(self.sent());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        response.headers_mut().insert(CONTENT_DISPOSITION, disposition);
        Ok(response)
    }

    /// Sends the file from a thread of its own, as fast as the client takes it.
    fn sent(self) -> Body {
        let (sender, body) = pieces();
        tokio::task::spawn_blocking(move || {
            #[allow(clippy::disallowed_methods)]
            let opened = std::fs::File::open(self.directory.path().join(&self.name));
            let mut file = match opened {
                Ok(file) => file,
                Err(error) => return drop(sender.blocking_send(Err(error))),
            };
            let mut buffer = vec![0; PIECE_BYTES];
            loop {
                let piece = match file.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(count) => Ok(Bytes::copy_from_slice(&buffer[..count])),
                    Err(error) => Err(error),
                };
                let is_last = piece.is_err();
                if sender.blocking_send(piece).is_err() || is_last {
                    return;
                }
            }
        });
        body
    }
}
