//! Files that are wrong under right checksums: a reader may say anything of them, but neither panics nor
//! hangs.

use std::path::Path;
use std::sync::Arc;

use esker_format::Result;
use esker_format::io::{Disk, FaultyDisk};
use esker_format::testing::rewrite_archive;
use esker_format::{Archive, IdMapKind};
use esker_graph::{Direction, Graph, Lists, Run, Select, vertex};
use proptest::prelude::*;

use super::tests::Collect;
use crate::check::check;
use crate::sample::Sample;
use crate::version::Version;

const DB: &str = "web.esker";
const PAGE: usize = 4096;

/// Computes the checksums of a small column anew.
fn seal_column(content: &mut [u8]) {
    seal_header(content);
    let end = content.len();
    if end > PAGE {
        let sum = crc32c::crc32c(&content[PAGE..end - 4]);
        content[end - 4..].copy_from_slice(&sum.to_le_bytes());
    }
}

fn seal_header(content: &mut [u8]) {
    let sum = crc32c::crc32c(&content[..PAGE - 4]);
    content[PAGE - 4..PAGE].copy_from_slice(&sum.to_le_bytes());
}

/// Computes the checksums of a manifest or an archive anew.
fn seal_file(content: &mut [u8]) {
    let end = content.len();
    if content.starts_with(b"Eskerarc") {
        // Where the list is, its size and its checksum stand behind the magic number and the version.
        let list = u64::from_le_bytes(content[12..20].try_into().unwrap()).min(end as u64) as usize;
        let sum = crc32c::crc32c(&content[list..]);
        content[28..32].copy_from_slice(&sum.to_le_bytes());
    } else if content.starts_with(b"Eskerman") {
        let length: [u8; 4] = content[PAGE..PAGE + 4].try_into().unwrap();
        let end = (PAGE + u32::from_le_bytes(length) as usize).min(end).max(PAGE + 8);
        let sum = crc32c::crc32c_append(crc32c::crc32c(&content[PAGE..PAGE + 4]), &content[PAGE + 8..end]);
        content[PAGE + 4..PAGE + 8].copy_from_slice(&sum.to_le_bytes());
    }
    seal_header(content);
}

/// Reads everything in every way, whatever it may be.
fn peruse(disk: &FaultyDisk, run: &Run) -> Result<()> {
    let version = Version::open(&(Arc::new(disk.clone()) as Arc<dyn Disk>), Path::new(DB))?;
    for direction in [Direction::Out, Direction::In] {
        for v in (0..version.num_vertices().min(100)).map(vertex) {
            let _ = version.neighbors(direction, v);
            if let (Ok(edges), Some(dictionary)) = (version.edges(direction, v), version.dictionary(1)) {
                for index in 0..edges.len() {
                    let _ =
                        edges.bits(1, index).and_then(|code| dictionary.text(code as usize).map(<[u8]>::len));
                }
            }
            let _ = version.ids().external_of(v).and_then(|id| version.ids().vertex_of(id));
        }
        if let Ok(graph) = version.view().graph::<i32>(run)
            && graph.has(direction)
        {
            for v in (0..graph.num_vertices()).map(vertex) {
                let _ = graph.degree(direction, v);
                let _ = graph.with_list(direction, v, |targets, _| targets.len());
            }
            let _ = graph.scan(run, direction, Select::All, &Collect);
        }
        let _ = version.view().graph::<()>(run).and_then(|graph| graph.prepare(run, Direction::Out));
    }
    check(&version, run).map(|_| ())
}

proptest! {
    #![proptest_config(esker_format::testing::cases(1000))]
    #[test]
    fn forged_files_neither_panic_nor_hang(
        file in 0_usize..27,
        compressed: bool,
        ids in prop::sample::select(vec![IdMapKind::Permuted, IdMapKind::Integers, IdMapKind::Texts]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(vec![0, 1, 2, 127, 128, 255])), 1..4),
        within_header: bool,
    ) {
        let disk = FaultyDisk::new(0);
        let sample = Sample { ids, ..Sample::random(9, 20, true, 10 + u32::from(compressed)) };
        sample.write(&(Arc::new(disk.clone()) as Arc<dyn Disk>), Path::new(DB), false).unwrap();
        let change = |content: &mut Vec<u8>| {
            for (place, value) in &changes {
                let place =
                    if within_header { place.index(64) } else { PAGE + place.index((content.len() - PAGE).max(1)) };
                if let Some(byte) = content.get_mut(place) {
                    *byte = *value;
                }
            }
        };
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let directories = ["layers/1", "ids"].map(|name| Path::new(DB).join(name));
        let archives = directories.each_ref().map(|directory| Archive::open(&shared, directory).unwrap());
        let columns: Vec<_> = archives.iter().flat_map(Archive::paths).collect();
        if let Some(column) = file.checked_sub(3).map(|file| &columns[file % columns.len()]) {
            let name = column.file_name().unwrap().to_str().unwrap();
            rewrite_archive(&shared, column.parent().unwrap(), |other, content| {
                if other == name {
                    change(content);
                    seal_column(content);
                }
            });
        } else {
            let path = Path::new(DB).join(["MANIFEST", "layers/1.columns", "ids.columns"][file]);
            let mut content = disk.read(&path).unwrap();
            change(&mut content);
            seal_file(&mut content);
            disk.remove_file(&path).unwrap();
            disk.write(&path, &content).unwrap();
        }
        let _ = peruse(&disk, &Run::with_threads(1).unwrap());
    }
}
