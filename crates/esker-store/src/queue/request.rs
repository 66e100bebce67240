//! The bytes of requests and of answers.

use std::path::Path;

use esker_format::{Error, ErrorKind, FieldInput, FieldValue, Result};
use esker_graph::Cancel;

use crate::commit::{Batch, CommitOptions, Committed};

const REQUEST: [u8; 8] = *b"ESKERreq";
const ANSWER: [u8; 8] = *b"ESKERans";

/// The program that wrote a request: another one may write changes in another way.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// The bytes of a request to commit a batch.
pub(crate) fn put_request(batch: &Batch, options: &CommitOptions) -> Vec<u8> {
    let mut out = begun(REQUEST);
    PROGRAM.to_owned().put(&mut out);
    options.message.put(&mut out);
    options.time_ms.put(&mut out);
    options.raises_time.put(&mut out);
    options.follows.put(&mut out);
    batch.put(&mut out);
    sealed(out)
}

/// Reads a request into an empty batch of the database.
///
/// # Errors
/// [`Error::Corrupt`]; [`Error::Invalid`] if the changes do not fit the database.
pub(crate) fn take_request(path: &Path, bytes: &[u8], batch: &mut Batch) -> Result<CommitOptions> {
    let mut input = opened(REQUEST, path, bytes)?;
    let program = String::take(&mut input)?;
    if program != PROGRAM {
        return Err(Error::invalid(format!(
            "the process that writes to the database is of version {PROGRAM} of Esker, this one of {program}: \
             use one version for both"
        )));
    }
    let options = CommitOptions {
        message: String::take(&mut input)?,
        time_ms: <Option<_> as FieldValue>::take(&mut input)?,
        raises_time: bool::take(&mut input)?,
        follows: <Option<_> as FieldValue>::take(&mut input)?,
        cancel: Cancel::default(),
    };
    batch.take(&mut input)?;
    input.finish()?;
    Ok(options)
}

/// What became of a request.
#[derive(Debug)]
pub(crate) enum Answer {
    Committed(Committed),
    /// Nothing was committed.
    Refused(Error),
    /// The next opening of the database finds the version, wholly or not at all.
    Unknown(Error),
}

impl Answer {
    pub(crate) fn put(&self) -> Vec<u8> {
        let mut out = begun(ANSWER);
        match self {
            Self::Committed(Committed { version, duplicates, removed, not_found }) => {
                0_u8.put(&mut out);
                version.put(&mut out);
                duplicates.put(&mut out);
                removed.put(&mut out);
                not_found.put(&mut out);
            }
            Self::Refused(error) => put_error(1, error, &mut out),
            Self::Unknown(error) => put_error(2, error, &mut out),
        }
        sealed(out)
    }

    /// # Errors
    /// [`Error::Corrupt`].
    pub(crate) fn take(path: &Path, bytes: &[u8]) -> Result<Self> {
        let mut input = opened(ANSWER, path, bytes)?;
        let answer = match u8::take(&mut input)? {
            0 => Self::Committed(Committed {
                version: u64::take(&mut input)?,
                duplicates: <Option<_> as FieldValue>::take(&mut input)?,
                removed: <Option<_> as FieldValue>::take(&mut input)?,
                not_found: <Option<_> as FieldValue>::take(&mut input)?,
            }),
            1 => Self::Refused(take_error(&mut input)?),
            2 => Self::Unknown(take_error(&mut input)?),
            _ => return Err(input.corrupt("the code of an answer is unknown")),
        };
        input.finish()?;
        Ok(answer)
    }
}

/// Kinds of errors that a commit meets; others would be taken for the first.
const KINDS: [ErrorKind; 12] = [
    ErrorKind::Invalid,
    ErrorKind::Usage,
    ErrorKind::OverBudget,
    ErrorKind::VertexNotFound,
    ErrorKind::VersionNotFound,
    ErrorKind::Io,
    ErrorKind::PermissionDenied,
    ErrorKind::FileNotFound,
    ErrorKind::Corrupt,
    ErrorKind::Lost,
    ErrorKind::Cancelled,
    ErrorKind::Threads,
];

fn put_error(code: u8, error: &Error, out: &mut Vec<u8>) {
    code.put(out);
    let kind = KINDS.iter().position(|kind| *kind == error.kind()).unwrap_or(0);
    (kind as u8).put(out);
    error.to_string().put(out);
}

fn take_error(input: &mut FieldInput<'_>) -> Result<Error> {
    let kind = KINDS.get(usize::from(u8::take(input)?)).copied().unwrap_or(ErrorKind::Invalid);
    Ok(Error::reported(kind, String::take(input)?))
}

/// Bytes of the mark and the checksum, which come before the content of a file of the queue.
const HEAD: usize = 12;

/// A file of the queue that its content is appended to.
fn begun(mark: [u8; 8]) -> Vec<u8> {
    let mut out = mark.to_vec();
    out.resize(HEAD, 0);
    out
}

/// The same, with the checksum of its content.
fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    let checksum = crc32c::crc32c(&file[HEAD..]);
    file[8..HEAD].copy_from_slice(&checksum.to_le_bytes());
    file
}

fn opened<'b>(mark: [u8; 8], path: &'b Path, bytes: &'b [u8]) -> Result<FieldInput<'b>> {
    let wrong = |offset, reason: &str| Error::corrupt(path, offset, reason.to_owned());
    let (head, content) =
        bytes.split_at_checked(HEAD).ok_or_else(|| wrong(0, "the file is shorter than its head"))?;
    if head[..8] != mark {
        return Err(wrong(0, "the file does not begin with its mark"));
    }
    if crc32c::crc32c(content).to_le_bytes() != head[8..] {
        return Err(wrong(8, "the checksum of the file does not match"));
    }
    Ok(FieldInput::new(path, content, HEAD as u64))
}
