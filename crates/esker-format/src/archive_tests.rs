//! Tests of archives.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::archive::{ALIGNMENT, Archive, SMALL_BYTES, archive_path};
use super::file::archive_writer::ArchiveWriter;
use super::file::size::PAGE_BYTES;
use crate::error::Error;
use crate::io::{Disk, Faults, FaultyDisk, Files};
use crate::testing::{read_all_of, remove_archive};

const DIRECTORY: &str = "layers/7";

fn disk() -> (FaultyDisk, Arc<dyn Disk>) {
    let disk = FaultyDisk::new(3);
    disk.create_directory(Path::new("layers")).unwrap();
    (disk.clone(), Arc::new(disk))
}

fn path(name: &str) -> PathBuf {
    Path::new(DIRECTORY).join(name)
}

fn content(bytes: u64, salt: u8) -> Vec<u8> {
    (0..bytes).map(|at| (at % 251) as u8 ^ salt).collect()
}

/// Writes files in pieces, the last piece first.
fn write(disk: &Arc<dyn Disk>, files: &[(&str, u64)]) {
    let archive = ArchiveWriter::new(disk, Path::new(DIRECTORY));
    for (&(name, bytes), salt) in files.iter().zip(0..) {
        let file = archive.create(&path(name)).unwrap();
        let content = content(bytes, salt);
        let pieces: Vec<&[u8]> = content.chunks(300_000).collect();
        for (index, piece) in pieces.iter().enumerate().rev() {
            file.write_at(piece, index as u64 * 300_000).unwrap();
        }
        file.sync().unwrap();
        assert_eq!(file.len().unwrap(), bytes);
    }
    archive.finish().unwrap();
}

#[test]
fn small_files_are_stored_together_and_large_ones_in_the_directory() {
    let files =
        [("a", 5), ("empty", 0), ("full", SMALL_BYTES), ("larger", SMALL_BYTES + 1), ("z", 3_000_000)];
    let (faulty, disk) = disk();
    write(&disk, &files);
    let names = |directory: &str| -> Vec<String> {
        disk.list(Path::new(directory)).unwrap().into_iter().map(|entry| entry.name).collect()
    };
    assert_eq!(names("layers"), ["7", "7.columns"]);
    assert_eq!(names(DIRECTORY), ["larger", "z"]);
    let archive = Archive::open(&disk, Path::new(DIRECTORY)).unwrap();
    assert!(archive.paths().eq(files.iter().map(|file| path(file.0))));
    for (&(name, bytes), salt) in files.iter().zip(0..) {
        let file = archive.open(&path(name)).unwrap();
        assert!(read_all_of(file.as_ref()) == content(bytes, salt), "{name}");
        assert!(*file.map().unwrap() == content(bytes, salt), "{name}");
        assert!(file.map().unwrap().start().is_multiple_of(ALIGNMENT));
    }
    for missing in [path("b"), PathBuf::from("layers/8/a"), PathBuf::from("a")] {
        let message = archive.open(&missing).unwrap_err().to_string();
        let expected = "layers/7.columns is damaged at byte 0: its list of files lacks ";
        assert!(message.starts_with(expected), "{message}");
    }
    faulty.truncate(&path("z"), 2_999_999).unwrap();
    let message = Archive::open(&disk, Path::new(DIRECTORY)).unwrap_err().to_string();
    let expected = "layers/7/z is damaged at byte 2999999: the file has 2999999 bytes, not 3000000";
    assert!(message.starts_with(expected), "{message}");
    remove_archive(disk.as_ref(), Path::new(DIRECTORY)).unwrap();
    assert_eq!(names("layers"), [""; 0]);
    for (&(name, bytes), salt) in files.iter().zip(0..).filter(|(file, _)| file.0 != "z") {
        let file = archive.open(&path(name)).unwrap();
        assert!(read_all_of(file.as_ref()) == content(bytes, salt), "{name} was removed after it was opened");
    }
    remove_archive(disk.as_ref(), Path::new(DIRECTORY)).unwrap();
}

#[test]
fn small_files_alone_take_one_write_and_one_sync() {
    let (faulty, disk) = disk();
    faulty.set_faults(Faults::default());
    write(&disk, &[("a", 70_000), ("b", 1), ("c", 300_001)]);
    assert_eq!(faulty.operations(), 3, "expected: create, write, sync");
    let empty = ArchiveWriter::new(&disk, Path::new("layers/8"));
    empty.finish().unwrap();
    assert_eq!(disk.list(Path::new("layers")).unwrap().len(), 1);
}

#[test]
fn small_files_beyond_a_bound_are_files_of_their_own_and_leave_their_room_to_others() {
    let (faulty, disk) = disk();
    let mut archive = ArchiveWriter::new(&disk, Path::new(DIRECTORY));
    archive.limit_gathered(100);
    for (name, bytes) in [("a", 60), ("b", 50), ("c", 40), ("d", 1)] {
        let file = archive.create(&path(name)).unwrap();
        file.write_at(&content(bytes, 0), 0).unwrap();
        file.sync().unwrap();
    }
    archive.finish().unwrap();
    let names: Vec<String> =
        faulty.list(Path::new(DIRECTORY)).unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["b", "d"]);
    let archive = Archive::open(&disk, Path::new(DIRECTORY)).unwrap();
    for (name, bytes) in [("a", 60), ("b", 50), ("c", 40), ("d", 1)] {
        assert!(read_all_of(archive.open(&path(name)).unwrap().as_ref()) == content(bytes, 0), "{name}");
    }
}

#[test]
fn many_small_files_are_written_in_pieces_and_read_back() {
    let (_, disk) = disk();
    let names: Vec<String> = (10..40).map(|number| format!("column.{number}")).collect();
    let files: Vec<(&str, u64)> =
        names.iter().zip(0..).map(|(name, at)| (&name[..], 900_001 + at * 7)).collect();
    write(&disk, &files);
    let archive = Archive::open(&disk, Path::new(DIRECTORY)).unwrap();
    for (&(name, bytes), salt) in files.iter().zip(0..) {
        let file = archive.open(&path(name)).unwrap();
        assert!(read_all_of(file.as_ref()) == content(bytes, salt), "{name}");
        assert!(file.map().unwrap().start().is_multiple_of(ALIGNMENT));
    }
}

#[test]
fn an_archive_in_the_place_of_another_is_an_error() {
    let (_, disk) = disk();
    write(&disk, &[("a", 5)]);
    let other = Path::new("layers/8");
    disk.rename(&archive_path(Path::new(DIRECTORY)), &archive_path(other)).unwrap();
    let message = Archive::open(&disk, other).unwrap_err().to_string();
    assert!(
        message.starts_with("layers/8.columns is damaged at byte 0: it was written under another name"),
        "{message}"
    );
}

#[test]
fn names_must_be_unique_and_in_the_directory() {
    let (_, disk) = disk();
    let archive = ArchiveWriter::new(&disk, Path::new(DIRECTORY));
    archive.create(&path("a")).unwrap();
    assert!(archive.create(&path("a")).is_err());
    assert!(archive.create(Path::new("layers/a")).is_err());
    assert!(archive.open(&path("a")).is_err());
}

#[test]
fn opening_checks_the_length_and_every_byte_outside_of_files() {
    let (faulty, disk) = disk();
    write(&disk, &[("a", 5), ("b", 0), ("c", 100), ("d", SMALL_BYTES + 1)]);
    let archive = archive_path(Path::new(DIRECTORY));
    let bytes = disk.look(&archive).unwrap().unwrap().bytes;
    let (a, c) = (PAGE_BYTES as u64, PAGE_BYTES as u64 + ALIGNMENT as u64);
    let open_error = || Archive::open(&disk, Path::new(DIRECTORY)).map(drop).unwrap_err();
    let expect = |error: Error, what: &str| match error {
        Error::Corrupt { path, offset, .. } => assert!(path == archive && offset <= bytes, "{what}"),
        other => panic!("{what}: {other}"),
    };
    for offset in (0..bytes).filter(|at| !(a..a + 5).contains(at) && !(c..c + 100).contains(at)) {
        faulty.flip(&archive, offset, (offset % 8) as u8).unwrap();
        expect(open_error(), &format!("byte {offset}"));
        faulty.flip(&archive, offset, (offset % 8) as u8).unwrap();
    }
    Archive::open(&disk, Path::new(DIRECTORY)).unwrap();
    for length in (0..bytes).rev() {
        faulty.truncate(&archive, length).unwrap();
        expect(open_error(), &format!("length {length}"));
    }
}
