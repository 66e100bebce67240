//! Files that were renamed to make room for another one of their name: `log` becomes `log.1`, or
//! `log-20260101`.

use std::path::{Path, PathBuf};

use esker_format::io::{Disk, RealDisk, input_id};

/// A file that was renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenamedFile {
    /// Where it lies now.
    pub path: PathBuf,
    /// Its device and number.
    pub file: (u64, u64),
}

/// The file of a number beside `path`, whose name it had, and those that had it later, in the order in which
/// they were written last. Nothing if that file is not there any more, or was compressed.
pub fn renamed_from(path: &Path, file: (u64, u64)) -> Vec<RenamedFile> {
    let pattern = format!("{}*", glob::Pattern::escape(&path.to_string_lossy()));
    let mut found: Vec<(i128, RenamedFile)> = Vec::new();
    for beside in glob::glob(&pattern).into_iter().flatten().flatten().filter(|beside| beside != path) {
        let modified = RealDisk.identify(&beside).ok().flatten().map(|named| named.modified_ns);
        if let (Some(modified), Some(file)) = (modified, input_id(&beside)) {
            found.push((modified, RenamedFile { path: beside, file }));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.path.cmp(&a.1.path)));
    match found.iter().position(|(_, renamed)| renamed.file == file) {
        Some(first) => found.drain(first..).map(|(_, renamed)| renamed).collect(),
        None => Vec::new(),
    }
}
