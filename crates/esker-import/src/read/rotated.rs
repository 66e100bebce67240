//! Files that were renamed to make room for another one of their name: `log` becomes `log.1` or
//! `log-20260101`, `conn.log` becomes `conn.2026-01-01.log`.

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
/// they were written last: those whose name is that of `path` with a number or a date behind it, or before
/// its ending. Nothing if
/// that file is not there any more, or was compressed.
pub fn renamed_from(path: &Path, file: InputId) -> Vec<RenamedFile> {
    let pattern = match (path.file_stem(), path.extension()) {
        (Some(stem), Some(_)) => format!("{}*", escaped(&path.with_file_name(stem))),
        _ => format!("{}*", escaped(path)),
    };
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

fn escaped(path: &Path) -> String {
    glob::Pattern::escape(&path.to_string_lossy())
}

/// Whether a name is another one with a number or a date behind it, or before its ending.
pub fn is_rotated(path: &Path, beside: &Path) -> bool {
    let is_number = |part: &[u8]| {
        let [b'.' | b'-' | b'_', number @ ..] = part else { return false };
        number.first().is_some_and(u8::is_ascii_digit)
            && number.iter().all(|sign| sign.is_ascii_digit() || b".-_:TZ".contains(sign))
    };
    let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
    let (whole, other) = (bytes(path), bytes(beside));
    if other.strip_prefix(whole.as_slice()).is_some_and(is_number) {
        return true;
    }
    let (Some(stem), Some(ending)) = (path.file_stem(), path.extension()) else { return false };
    let (stem, ending) = (bytes(&path.with_file_name(stem)), ending.as_encoded_bytes());
    let middle = other.strip_prefix(stem.as_slice()).and_then(|rest| rest.strip_suffix(ending));
    middle.and_then(|rest| rest.strip_suffix(b".")).is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_dates_tell_what_was_rotated() {
        for (path, beside, expected) in [
            ("a/log", "a/log.1", true),
            ("a/log", "a/log-20260101", true),
            ("a/log", "a/log.old", false),
            ("a/log", "a/log", false),
            ("a/conn.log", "a/conn.log.1", true),
            ("a/conn.log", "a/conn.2024-03-01.log", true),
            ("a/conn.log", "a/conn.09.log", true),
            ("a/conn.log", "a/conn.2024-03-01-09-00-00.log", true),
            ("a/conn.log", "a/conn.log", false),
            ("a/conn.log", "a/conn..log", false),
            ("a/conn.log", "a/conn-summary.09.log", false),
            ("a/conn.log", "a/conn.09.txt", false),
            ("a/.log", "a/.log.1", true),
        ] {
            assert_eq!(is_rotated(Path::new(path), Path::new(beside)), expected, "{path} {beside}");
        }
    }
}
