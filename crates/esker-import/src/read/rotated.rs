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
/// they were written last: those that were renamed in the same way, with a number or a date behind the name,
/// or before its ending. Nothing if that file is not there any more, or was compressed.
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
    let Some(first) = found.iter().map(|(_, renamed)| renamed).find(|renamed| renamed.file == file) else {
        return Vec::new();
    };
    let rotation = rotation_of(path, &first.path);
    found.retain(|(_, own)| {
        own.file == file || rotation.is_some() && rotation_of(path, &own.path) == rotation
    });
    found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.path.cmp(&a.1.path)));
    let first = found.iter().position(|(_, renamed)| renamed.file == file).unwrap_or(0);
    found.drain(first..).map(|(_, renamed)| renamed).collect()
}

fn escaped(path: &Path) -> String {
    glob::Pattern::escape(&path.to_string_lossy())
}

/// How a file was renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rotation {
    /// Whether the number is before the ending, not behind the whole name.
    before_ending: bool,
    /// The sign before the number.
    separator: u8,
    /// Whether it is a date.
    is_date: bool,
}

/// Digits of a date at least.
const DATE_DIGITS_MIN: usize = 6;

/// Whether a name is another one with a number or a date behind it, or before its ending.
pub fn is_rotated(path: &Path, beside: &Path) -> bool {
    rotation_of(path, beside).is_some()
}

fn rotation_of(path: &Path, beside: &Path) -> Option<Rotation> {
    let rotation = |before_ending: bool, part: &[u8]| {
        let [separator @ (b'.' | b'-' | b'_'), number @ ..] = part else { return None };
        let is_number = number.first().is_some_and(u8::is_ascii_digit)
            && number.iter().all(|sign| sign.is_ascii_digit() || b".-_:TZ".contains(sign));
        let is_date = number.iter().filter(|sign| sign.is_ascii_digit()).count() >= DATE_DIGITS_MIN;
        is_number.then_some(Rotation { before_ending, separator: *separator, is_date })
    };
    let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
    let (whole, other) = (bytes(path), bytes(beside));
    if let Some(found) = other.strip_prefix(whole.as_slice()).and_then(|rest| rotation(false, rest)) {
        return Some(found);
    }
    let (stem, ending) = (path.file_stem()?, path.extension()?);
    let (stem, ending) = (bytes(&path.with_file_name(stem)), ending.as_encoded_bytes());
    let middle = other.strip_prefix(stem.as_slice())?.strip_suffix(ending)?.strip_suffix(b".")?;
    rotation(true, middle)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, clippy::disallowed_types)]

    use std::time::{Duration, UNIX_EPOCH};

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

    /// Of the files of other inputs beside a rotated one, none is read, whatever they are called.
    #[test]
    fn only_files_that_were_renamed_alike_follow_one_another() {
        let rotations: [fn(usize) -> String; 6] = [
            |at| format!("flow.csv.{at}"),
            |at| format!("flow.{at}.csv"),
            |at| format!("flow-{at}.csv"),
            |at| format!("flow.csv-2026010{at}"),
            |at| format!("flow.2026-01-0{at}.csv"),
            |at| format!("flow.csv-{at}"),
        ];
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("flow.csv");
        let mut written = UNIX_EPOCH;
        let mut file = |name: String| {
            let beside = directory.path().join(name);
            std::fs::write(&beside, "1,2\n").unwrap();
            written += Duration::from_secs(1);
            std::fs::File::options().write(true).open(&beside).unwrap().set_modified(written).unwrap();
            beside
        };
        let names: Vec<[PathBuf; 2]> = rotations.iter().map(|name| [file(name(1)), file(name(2))]).collect();
        for own in &names {
            let found = renamed_from(&path, input_id(&own[0]).unwrap());
            assert_eq!(found.into_iter().map(|renamed| renamed.path).collect::<Vec<_>>(), own);
        }
        let other = file("flow-old.csv".to_owned());
        let found = renamed_from(&path, input_id(&other).unwrap());
        assert_eq!(found.into_iter().map(|renamed| renamed.path).collect::<Vec<_>>(), [other]);
    }
}
