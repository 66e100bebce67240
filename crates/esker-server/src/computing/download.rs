//! The answer of a run as a file.

use std::fs::File;
use std::io::Read;

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::Response;
use esker::export::ExportOptions;
use esker::graph::Run;
use esker::output::write;
use esker::store::{self, io::TemporaryDirectory};

use super::runs::Finished;
use crate::events::pieces;
use crate::failure::{Failure, Outcome};
use crate::query::Parameter;

/// The parameters of a download.
pub(crate) const OF_DOWNLOAD: &[Parameter] =
    &[Parameter::choice("format", &["csv", "parquet", "arrow"], "The format of the file")];

/// Bytes that are read from a file at a time.
const PIECE_BYTES: usize = 1 << 16;

/// A file that has no name any more, so nothing is left of it when the server ends.
pub(crate) struct Made {
    file: File,
    name: String,
    media_type: &'static str,
}

/// Writes the answer to a temporary file. The client gets it under the names of the database, the algorithm
/// and the run.
pub(crate) fn made(finished: &Finished, format: &str, database: &str, id: &str, run: &Run) -> Outcome<Made> {
    let directory = TemporaryDirectory::new()?;
    // A header takes no other letters.
    let plain =
        |letter: char| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '_' };
    let database: String = database.strip_suffix(".esker").unwrap_or(database).chars().map(plain).collect();
    let name = format!("{database}-{}-{id}.{format}", finished.algorithm);
    let options = ExportOptions { cancel: run.cancel().clone(), ..ExportOptions::default() };
    let path = directory.path().join(&name);
    write(&path, finished.version.ids(), &finished.answer, &options)?;
    #[allow(clippy::disallowed_methods)]
    let file = File::open(&path).map_err(store::Error::io("read", &path))?;
    let media_type = if format == "csv" { "text/csv; charset=utf-8" } else { "application/octet-stream" };
    Ok(Made { file, name, media_type })
}

impl Made {
    /// The response with the file.
    pub(crate) fn response(self) -> Outcome<Response> {
        let media_type = self.media_type;
        let disposition = format!("attachment; filename=\"{}\"", self.name);
        let disposition = HeaderValue::from_str(&disposition).map_err(|_| Failure::usage("no such run"))?;
        let mut response = Response::new(self.sent());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        response.headers_mut().insert(CONTENT_DISPOSITION, disposition);
        Ok(response)
    }

    /// Sends the file from a thread of its own, as fast as the client takes it.
    fn sent(mut self) -> Body {
        let (sender, body) = pieces();
        tokio::task::spawn_blocking(move || {
            let mut buffer = vec![0; PIECE_BYTES];
            loop {
                let piece = match self.file.read(&mut buffer) {
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
