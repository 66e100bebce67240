//! What the tests of several crates use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_graph::VertexId;
use proptest::prelude::ProptestConfig;

use crate::error::Result;
use crate::file::archive::{Archive, archive_path, name_in};
use crate::file::archive_writer::ArchiveWriter;
#[cfg(target_os = "linux")]
pub use crate::io::refuse_rings;
use crate::io::{Disk, File, Files};

/// Settings of a property test. `weight` says how many cases it gets relative to other tests: one of weight
/// 200 gets `ESKER_CASES`, or 32 if that is not set.
pub fn cases(weight: u32) -> ProptestConfig {
    let cases_of_200 = match std::env::var("ESKER_CASES") {
        Ok(cases) => cases.parse().expect("ESKER_CASES is a number"),
        Err(_) => 32,
    };
    let cases = u64::from(weight) * cases_of_200 / 200;
    ProptestConfig::with_cases((cases as u32).max(8))
}

/// Sorts arcs: source, target, weight. Here and not in the tests, because this crate is optimised
/// (`Cargo.toml`): elsewhere, checks that no compiler inlines are most of the time of a sort.
pub fn sort_arcs(arcs: &mut [(VertexId, VertexId, i32)]) {
    arcs.sort_unstable();
}

/// The whole content of a file.
pub fn read_all_of(file: &dyn File) -> Vec<u8> {
    let mut content = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(&mut content, 0).unwrap();
    content
}

/// Removes the archive and the directory, if they exist.
///
/// # Errors
/// [`Error::Io`].
pub fn remove_archive(disk: &dyn Disk, directory: &Path) -> Result<()> {
    let path = archive_path(directory);
    if disk.look(&path)?.is_some() {
        disk.remove_file(&path)?;
    }
    match disk.look(directory)? {
        Some(_) => disk.remove_directory(directory),
        None => Ok(()),
    }
}

/// Rewrites the files of a directory after `change` has edited them.
pub fn rewrite_archive(disk: &Arc<dyn Disk>, directory: &Path, change: impl Fn(&str, &mut Vec<u8>)) {
    let archive = Archive::open(disk, directory).unwrap();
    let mut files: Vec<(PathBuf, Vec<u8>)> = archive
        .paths()
        .map(|path| (path.clone(), read_all_of(archive.open(&path).unwrap().as_ref())))
        .collect();
    drop(archive);
    remove_archive(disk.as_ref(), directory).unwrap();
    let writer = ArchiveWriter::new(disk, directory);
    for (path, content) in &mut files {
        change(name_in(directory, path).unwrap(), content);
        writer.create(path).unwrap().write_at(content, 0).unwrap();
    }
    writer.finish().unwrap();
}
