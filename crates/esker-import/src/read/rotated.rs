//! Files that were renamed to make room for another one of their name: `log` becomes `log.1`, or
//! `log-20260101`.

use std::path::{Path, PathBuf};

use esker_format::io::{Disk, InputId, RealDisk, input_bytes, input_id};

/// A file that was renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenamedFile {
    /// Where it lies now.
    pub path: PathBuf,
    /// Which file it is.
    pub file: InputId,
}

/// A file beside `path`, whose name it had, and those that had it later, in the order in which
/// they were written last: those whose name is that of `path` with a number or a date behind it. Nothing if
/// that file is not there any more, or was compressed.
pub fn renamed_from(path: &Path, file: InputId) -> Vec<RenamedFile> {
    let pattern = format!("{}*", glob::Pattern::escape(&path.to_string_lossy()));
    let mut found: Vec<(i128, RenamedFile)> = Vec::new();
    for beside in glob::glob(&pattern).into_iter().flatten().flatten().filter(|beside| beside != path) {
        // Not of directories and pipes.
        let Some(own) = input_bytes(&beside).and_then(|_| input_id(&beside)) else { continue };
        let modified = RealDisk.identify(&beside).ok().flatten().map(|named| named.modified_ns);
        if let Some(modified) = modified.filter(|_| own == file || is_rotated(path, &beside)) {
            found.push((modified, RenamedFile { path: beside, file: own }));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.path.cmp(&a.1.path)));
    match found.iter().position(|(_, renamed)| renamed.file == file) {
        Some(first) => found.drain(first..).map(|(_, renamed)| renamed).collect(),
        None => Vec::new(),
    }
}

/// Whether a name is another one with a number or a date behind it.
fn is_rotated(path: &Path, beside: &Path) -> bool {
    let (path, beside) = (path.as_os_str().as_encoded_bytes(), beside.as_os_str().as_encoded_bytes());
    let Some([b'.' | b'-' | b'_', number @ ..]) = beside.strip_prefix(path) else { return false };
    number.first().is_some_and(u8::is_ascii_digit)
        && number.iter().all(|sign| sign.is_ascii_digit() || b".-_:TZ".contains(sign))
}
