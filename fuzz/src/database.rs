//! The files of databases under test: damages one file, then reads everything that can be read.
//!
//! An input is the name of a file (`1/layers/1.columns`) or of a column in one (`1/layers/1/out.targets`), a
//! line feed, the first bytes of its header page, and what follows that page. Without repair, every answer
//! must equal that of the sound database, or an error must name the file. With repaired checksums, as a
//! hostile writer would leave them, answers may differ, but nothing may panic or hang.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use esker_graph::{Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, vertex};
use esker_import::export::{ExportOptions, StoredExport, export};
use esker_import::install::import;
use esker_import::open::open_inputs;
use esker_import::options::{ImportOptions, NumberingOrder};
use esker_import::read::format::{Format, PickProperties, ReadOptions};
use esker_import::read::input::Input;
use esker_store::check::check;
use esker_store::format::{Archive, ArchiveWriter, Encoding};
use esker_store::io::{Disk, FaultyDisk, Files, MemoryDisk};
use esker_store::manifest::StagingOptions;
use esker_store::{Access, Error, GraphEncoding, Store, Version, View};

use crate::living::{HEADS, disks};
use crate::outcome::Outcome;

pub(crate) const PAGE_BYTES: usize = 4096;
/// Bytes of a header page that an input contains; zeros and the checksum follow.
const FIELDS_BYTES: usize = 64;
pub(crate) const ROOT: &str = "web.esker";
/// Number of ways to read an input.
pub(crate) const WAYS: usize = 4;
/// Vertices of the largest graph that is exported.
const VERTICES_MAX: usize = 1 << 16;

/// A sound database: its files, and all answers.
pub(crate) struct Sound {
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
    /// What lies in them.
    columns: Vec<(PathBuf, Vec<u8>)>,
    content: String,
}

/// Small databases of every kind of ids, with and without weights, texts and in-lists; then some that were
/// changed.
fn sound() -> &'static [Sound] {
    static SOUND: OnceLock<Vec<Sound>> = OnceLock::new();
    SOUND.get_or_init(|| {
        let texts = "source,target,weight,kind\na,b,0.5,x\nb,c,1,y\nc,a,2,x\nd,d,3,z\na,c,4,x\n";
        let ints = "0 1\n1 2\n2 0\n3 1\n3 3\n4 1\n";
        let sparse = "7 9000000000 5\n9000000000 12 -6\n12 7 7\n12 12 8\n";
        let keep = ImportOptions { order: NumberingOrder::Keep, threads: 1, ..ImportOptions::default() };
        let degree = ImportOptions { order: NumberingOrder::Degree, ..keep.clone() };
        // A list of two blocks.
        let star: String = (1..70).map(|v| format!("0 {v} {}\n", v % 3)).collect();
        let inputs = [
            ("web.csv", texts, keep.clone()),
            ("web.el", ints, ImportOptions { directed: Some(false), ..keep.clone() }),
            ("web.el", ints, ImportOptions { in_edges: false, ..degree.clone() }),
            ("web.wel", sparse, degree),
            ("web.wel", &star, ImportOptions { encoding: Encoding::Compressed, ..keep }),
        ];
        // The inputs come from this file alone: a failure is an error in this file or in the import.
        let imported =
            inputs.into_iter().map(|(name, text, options)| imported(name, text, &options).expect("sound"));
        let living = with_run(|run| disks(Path::new(ROOT), run)).expect("sound");
        imported.chain(living).map(|disk| read_sound(&disk).expect("sound")).collect()
    })
}

fn imported(name: &str, text: &str, options: &ImportOptions) -> Result<Arc<dyn Disk>, Error> {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
    let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    let reader = open_inputs(&[Input::memory(name, text.as_bytes())], &read)?.reader;
    let staging = StagingOptions { created_ms: Some(1), ..StagingOptions::default() };
    import(&disk, reader, Path::new(ROOT), options, staging)?;
    Ok(disk)
}

fn read_sound(disk: &Arc<dyn Disk>) -> Result<Sound, Error> {
    let mut files = Vec::new();
    gather(disk.as_ref(), Path::new(ROOT), &mut files)?;
    let mut columns = Vec::new();
    for directory in files.iter().filter_map(|(path, _)| archived(path)) {
        let archive = Archive::open(disk, &directory)?;
        for path in archive.paths() {
            let file = archive.open(&path)?;
            let mut content = vec![0; file.len()? as usize];
            file.read_exact_at(&mut content, 0)?;
            columns.push((path, content));
        }
    }
    let content = with_run(|run| read_all(disk, run, 0))?;
    Ok(Sound { files, columns, content })
}

/// The directory whose columns lie in the file at `path`, if that is an archive.
fn archived(path: &Path) -> Option<PathBuf> {
    (path.extension()? == "columns").then(|| path.with_extension(""))
}

/// Whether damage at the end of a file gives an older state: the manifest and the log grow, and their last
/// records may be torn.
fn grows(name: &str) -> bool {
    name == "MANIFEST" || name.starts_with("log/")
}

pub(crate) fn gather(
    disk: &dyn Disk,
    directory: &Path,
    files: &mut Vec<(PathBuf, Vec<u8>)>,
) -> Result<(), Error> {
    for entry in disk.list(directory)? {
        let path = directory.join(&entry.name);
        if entry.is_directory {
            gather(disk, &path, files)?;
        } else {
            files.push((path.clone(), disk.read(&path)?));
        }
    }
    Ok(())
}

pub(crate) fn with_run<R>(f: impl FnOnce(&Run) -> R) -> R {
    thread_local! {
        static RUN: Run = Run::with_threads(1).expect("one thread");
    }
    RUN.with(f)
}

/// All files of all databases, in the form of an input.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (number, sound) in sound().iter().enumerate() {
        for (path, content) in
            sound.files.iter().chain(&sound.columns).filter(|(_, content)| content.len() >= PAGE_BYTES)
        {
            seeds.push(seed(number, path.strip_prefix(ROOT).unwrap_or(path), content));
        }
    }
    seeds
}

/// The content of a file of a database, in the form of an input.
pub(crate) fn seed(number: usize, name: &Path, content: &[u8]) -> Vec<u8> {
    let name = format!("{number}/{}\n", name.display());
    [name.as_bytes(), &content[..FIELDS_BYTES], &content[PAGE_BYTES..]].concat()
}

/// Reads a database after replacing one of its files by the input.
pub(crate) fn examine(bytes: &[u8], way: usize) -> Result<Outcome, String> {
    let unknown = || Ok(Outcome::Refused("the input names no file of a database".to_owned()));
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else { return unknown() };
    let name = String::from_utf8_lossy(&bytes[..end]);
    let Some((number, name)) = name.split_once('/') else { return unknown() };
    let Some(sound) = number.parse::<usize>().ok().and_then(|number| sound().get(number)) else {
        return unknown();
    };
    let path = Path::new(ROOT).join(name);
    let mut files = sound.files.iter().chain(&sound.columns);
    let Some((_, original)) = files.find(|(file, _)| *file == path) else { return unknown() };
    let content = damaged(original, &bytes[end + 1..], way != 0);
    let disk = disk_with(&sound.files, &path, &content)
        .and_then(|disk| replace_column(disk, sound, &path, &content))
        .map_err(|error| format!("no disk: {error}"))?;
    let disk: Arc<dyn Disk> = Arc::new(disk);
    match with_run(|run| read_all(&disk, run, way)) {
        // The files of an older state are gone.
        Err(error) if way == 0 && grows(name) => Ok(Outcome::Refused(error.to_string())),
        Ok(read) if way == 0 && read != sound.content && !grows(name) => {
            Err(format!("{name}: a wrong answer: {read}"))
        }
        Ok(read) => Ok(Outcome::Read { edges: read.len() as u64, rejected: None }),
        Err(error) => refusal(&error, name, way),
    }
}

/// An error must name the damaged file.
fn refusal(error: &Error, name: &str, way: usize) -> Result<Outcome, String> {
    let message = error.to_string();
    // Errors in columns name the file that holds the column.
    let file = Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or(name);
    let archive = Path::new(name).parent().map(|directory| format!("{}.columns", directory.display()));
    let names_it =
        message.contains(file) || archive.is_some_and(|archive| message.contains(&archive)) || way != 0;
    match error {
        Error::Corrupt { .. } | Error::Lost { .. } | Error::Invalid(_) if names_it => {
            Ok(Outcome::Refused(message))
        }
        // A repaired manifest can name missing files, and sizes beyond any memory.
        Error::Stop(_) | Error::Io { .. } if way != 0 => Ok(Outcome::Refused(message)),
        _ => Err(format!("{name}: an error that does not say where: {message}")),
    }
}

/// The damaged file.
pub(crate) fn damaged(original: &[u8], input: &[u8], repair: bool) -> Vec<u8> {
    let mut content = input[..input.len().min(FIELDS_BYTES)].to_vec();
    if content.len() == FIELDS_BYTES {
        content.extend(&original[FIELDS_BYTES..PAGE_BYTES]);
        content.extend(&input[FIELDS_BYTES..]);
        if repair {
            put_checksum(&mut content, 0..PAGE_BYTES - 4, PAGE_BYTES - 4);
            if original.starts_with(b"Eskerman") {
                repair_records(&mut content);
            } else if original.starts_with(b"Eskerlog") {
                repair_commits(&mut content);
            } else if original.starts_with(b"Eskerarc") {
                repair_list(&mut content);
            } else if content.len() >= PAGE_BYTES + 4 {
                let end = content.len() - 4;
                put_checksum(&mut content, PAGE_BYTES..end, end);
            }
        }
    }
    content
}

fn put_checksum(content: &mut [u8], covered: std::ops::Range<usize>, at: usize) {
    let checksum = crc32c::crc32c(&content[covered]);
    content[at..at + 4].copy_from_slice(&checksum.to_le_bytes());
}

/// Repairs the checksum of an archive's list, and with it that of its header.
fn repair_list(content: &mut [u8]) {
    let Some(&[a, b, c, d, e, f, g, h]) = content.get(12..20) else { return };
    let list = u64::from_le_bytes([a, b, c, d, e, f, g, h]).min(content.len() as u64) as usize;
    put_checksum(content, list..content.len(), 28);
    put_checksum(content, 0..PAGE_BYTES - 4, PAGE_BYTES - 4);
}

/// Repairs the checksums of the manifest's records, up to the first record that does not follow its
/// predecessor.
fn repair_records(content: &mut [u8]) {
    let mut start = PAGE_BYTES;
    while let Some(bytes) = content.get(start..start + 4) {
        let bytes = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
        let Some(record) =
            content.get_mut(start..start.saturating_add(bytes)).filter(|record| record.len() >= 20)
        else {
            return;
        };
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&record[..4]), &record[8..]);
        record[4..8].copy_from_slice(&checksum.to_le_bytes());
        start += bytes;
    }
}

/// Repairs the checksums of a log's records, up to the first record that does not follow its predecessor.
fn repair_commits(content: &mut [u8]) {
    // Each checksum covers the number of the database and of the segment.
    let place = content[12..36].to_vec();
    let version = u32::from_le_bytes(content[8..12].try_into().unwrap_or_default());
    // Format versions before 5 have no summaries.
    let header_bytes = if version < 5 { 40 } else { 48 };
    let mut start = PAGE_BYTES;
    while let Some(header) = content.get(start..start + header_bytes) {
        let number = |at: usize, bytes: usize| {
            header[at..at + bytes].iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
        };
        let summary_bytes = if header_bytes == 48 { number(40, 4) } else { 0 };
        let padded =
            number(8, 8).checked_add(summary_bytes).and_then(|bytes| bytes.checked_next_multiple_of(8));
        let body = padded.and_then(|bytes| usize::try_from(bytes).ok());
        let end = body.and_then(|bytes| start.checked_add(header_bytes)?.checked_add(bytes));
        let Some(record) = end.and_then(|end| content.get_mut(start..end)) else { return };
        let payload_start = header_bytes + summary_bytes as usize;
        let payload = crc32c::crc32c(&record[payload_start..]);
        record[32..36].copy_from_slice(&payload.to_le_bytes());
        if header_bytes == 48 {
            let summary = crc32c::crc32c(&record[48..payload_start]);
            record[44..48].copy_from_slice(&summary.to_le_bytes());
        }
        let covered = [&place[..], &(start as u64).to_le_bytes(), &record[8..header_bytes]].concat();
        record[4..8].copy_from_slice(&crc32c::crc32c(&covered).to_le_bytes());
        start += record.len();
    }
}

pub(crate) fn disk_with(
    files: &[(PathBuf, Vec<u8>)],
    damaged: &Path,
    content: &[u8],
) -> Result<FaultyDisk, Error> {
    let disk = FaultyDisk::new(1);
    let mut directories: Vec<&Path> = files.iter().flat_map(|(path, _)| path.ancestors().skip(1)).collect();
    directories.retain(|directory| !directory.as_os_str().is_empty());
    directories.sort_unstable();
    directories.dedup();
    directories.into_iter().try_for_each(|directory| disk.create_directory(directory))?;
    for (path, original) in files {
        let content = if path == damaged { content } else { original };
        disk.create(path)?.write_at(content, 0)?;
    }
    Ok(disk)
}

/// Rewrites the archive of a damaged column.
fn replace_column(
    disk: FaultyDisk,
    sound: &Sound,
    damaged: &Path,
    content: &[u8],
) -> Result<FaultyDisk, Error> {
    let Some(directory) = damaged.parent().filter(|_| sound.columns.iter().any(|(path, _)| path == damaged))
    else {
        return Ok(disk);
    };
    disk.remove_file(&directory.with_extension("columns"))?;
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let archive = ArchiveWriter::new(&shared, directory);
    for (path, original) in sound.columns.iter().filter(|(path, _)| path.parent() == Some(directory)) {
        let content = if path == damaged { content } else { original };
        archive.create(path)?.write_at(content, 0)?;
    }
    archive.finish()?;
    Ok(disk)
}

/// All answers of a database. In other ways than 0, reads on after damage that `check` finds.
fn read_all(disk: &Arc<dyn Disk>, run: &Run, way: usize) -> Result<String, Error> {
    let version = Version::open(disk, Path::new(ROOT))?;
    let report = check(&version, run)?;
    if way == 0
        && let Some(problem) = report.problems.into_iter().next()
    {
        return Err(problem);
    }
    let mut content = format!("{:?}\n{:?}\n", version.layer(), version.manifest().tags);
    for direction in [Direction::Out, Direction::In] {
        if version.has(direction) {
            read_lists(&version, direction, &mut content)?;
        }
    }
    read_values(&version, run, &mut content)?;
    let view = version.view();
    let graph = view.graph::<()>(run)?;
    graph.csr(run)?;
    if view.weight_type().is_some() {
        let problem = [
            view.graph::<i32>(run).and_then(|graph| graph.csr(run).map(drop)).err(),
            view.graph::<f32>(run).and_then(|graph| graph.csr(run).map(drop)).err(),
        ];
        content.push_str(&format!("{:?}\n", problem.map(|problem| problem.map(|error| error.to_string()))));
    }
    if version.tiles().is_ok() {
        let tiled = version.view().resident(Access::Mapped(GraphEncoding::Tiles))?;
        sum_arcs(&tiled, run, &mut content)?;
    }
    if version.stored_heads()?.is_some() {
        let headed = version.view().resident(Access::Headed(HEADS))?;
        sum_arcs(&headed, run, &mut content)?;
    }
    // An old version of each of the layers.
    if way == 0 {
        let store = Store::open_on(Arc::clone(disk), Path::new(ROOT))?;
        for record in version.manifest().versions.iter() {
            let old = store.at(record.number)?;
            content.push_str(&format!("{} edges\n", old.num_edges()));
            read_lists(&old, Direction::Out, &mut content)?;
        }
    }
    export_all(&version, run, way, &mut content)?;
    Ok(content)
}

/// Scans all out-lists as the view reads them.
fn sum_arcs(view: &View, run: &Run, content: &mut String) -> Result<(), Error> {
    let sums = view.graph::<()>(run)?.scan(run, Direction::Out, Select::All, &ArcSum)?;
    content.push_str(&format!("{:?}\n", sums.into_iter().fold(0, u64::wrapping_add)));
    Ok(())
}

/// Sums what a scan hands over.
struct ArcSum;

impl Visitor<()> for ArcSum {
    type State = u64;

    fn new_state(&self) -> u64 {
        0
    }

    fn visit(&self, sum: &mut u64, v: VertexId, piece: Piece<'_, ()>) -> Flow {
        let arcs = piece.targets.iter().map(|&target| (u64::from(v) << 20) + u64::from(target) + 1);
        *sum = arcs.fold(*sum, u64::wrapping_add);
        Flow::More
    }
}

/// The removed vertices, and the values of the others.
fn read_values(version: &Version, run: &Run, content: &mut String) -> Result<(), Error> {
    content.push_str(&format!("{:?}\n", version.removed(run)?.list()));
    for property in version.vertex_properties() {
        let values = version.vertex_property(&property.name)?;
        for v in (0..version.num_vertices().min(100)).map(vertex) {
            content.push_str(&format!("{:?} ", values.get(v)?));
        }
    }
    Ok(())
}

/// Writes the version as a file.
fn export_all(version: &Version, run: &Run, way: usize, content: &mut String) -> Result<(), Error> {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let format = [Format::Csv, Format::Adjacency, Format::Parquet, Format::Sg][way % WAYS];
    let options = ExportOptions { format: Some(format), disk: Arc::clone(&disk), ..ExportOptions::default() };
    let view = version.view();
    let graph = StoredExport::new(&view, run)?;
    // Repaired headers may promise too many vertices to write in a test.
    if version.num_vertices() > VERTICES_MAX {
        return Ok(());
    }
    let path = Path::new("exported");
    export(&graph, path, &options)?;
    content.push_str(&String::from_utf8_lossy(&disk.read(path)?));
    Ok(())
}

pub(crate) fn read_lists(version: &Version, direction: Direction, content: &mut String) -> Result<(), Error> {
    // Repaired headers may promise too many vertices to read in a test.
    for v in (0..version.num_vertices().min(100)).map(vertex) {
        let edges = version.edges(direction, v)?;
        let list: &[VertexId] = edges.targets();
        let id = version.ids().external_of(v)?;
        content.push_str(&format!("{v} {id:?} {:?} {list:?}", version.ids().vertex_of(id)?));
        for property in version.edge_properties() {
            let values = (0..list.len()).map(|index| edges.bits(property.number, index));
            content.push_str(&format!(" {} {:?}", property.name, values.collect::<Result<Vec<_>, _>>()?));
            if let Some(dictionary) = version.dictionary(property.number) {
                let texts =
                    (0..dictionary.len().min(10)).map(|code| dictionary.text(code).map(<[u8]>::to_vec));
                content.push_str(&format!(" {:?}", texts.collect::<Result<Vec<_>, _>>()?));
            }
        }
        content.push('\n');
    }
    Ok(())
}
