//! Encoding and decoding the records of MANIFEST; tells a torn last record from damage.

use std::path::Path;

use esker_format::io::{Disk, File};
use esker_format::{
    Edit, Error, FORMAT_VERSION, FieldInput, FieldValue, MANIFEST_MAGIC, ManifestHeader, PAGE_BYTES,
    RecordHeader, Result, header_page, read_header_page,
};
use esker_graph::VertexId;

const RECORD_HEADER_BYTES: usize = 20;

/// The content of a manifest file.
#[derive(Debug)]
pub(crate) struct ManifestContents {
    pub(super) header: ManifestHeader,
    /// The edits of all complete records, in order.
    pub(super) edits: Vec<Edit>,
    /// Number of the last record.
    pub(super) last_record: u64,
    /// Its chain value.
    pub(super) chain: u32,
    /// Start and end of the last record, not counting the seal: the record that confirms that the last one
    /// was synced.
    pub(super) last_start: u64,
    pub(super) end: u64,
    /// Why the bytes at `end` are not a record, if there are any.
    pub(super) torn: Option<&'static str>,
    /// The number of these bytes.
    pub(super) torn_bytes: u64,
}

/// The header page of a manifest.
pub(super) fn header_bytes(header: &ManifestHeader) -> Vec<u8> {
    let constant = ManifestHeader {
        magic: MANIFEST_MAGIC,
        format_version: FORMAT_VERSION,
        vertex_bytes: size_of::<VertexId>() as u8,
        ..header.clone()
    };
    header_page(&constant)
}

/// Encodes a record.
///
/// # Errors
/// [`Error::Invalid`] if the record exceeds 4 GiB.
pub(super) fn put_record(out: &mut Vec<u8>, number: u64, edits: &[Edit]) -> Result<()> {
    let mut body = Vec::new();
    for edit in edits {
        edit.put(&mut body);
    }
    let bytes = u32::try_from(RECORD_HEADER_BYTES + body.len());
    let bytes = bytes.map_err(|_| {
        Error::invalid("a record of the manifest would exceed 4 GiB: commit less at once".to_owned())
    })?;
    let mut header = RecordHeader { bytes, checksum: 0, number, edits: edits.len() as u32 };
    header.checksum = checksum(&header, &body);
    header.put(out);
    out.extend_from_slice(&body);
    Ok(())
}

/// Reads the manifest at `path`, which another process may be appending to.
///
/// # Errors
/// As [`super::Manifest::read`].
pub(super) fn read(disk: &dyn Disk, path: &Path) -> Result<ManifestContents> {
    let file = disk.open(path)?;
    let mut suspect = None;
    loop {
        // A writer may be writing the bad bytes, or the read may have flipped a bit: believe it only if a
        // second read finds the same.
        match parse(path, &read_all(file.as_ref())?)? {
            ParseOutcome::Contents(contents)
                if contents.torn.is_none() || suspect == Some((contents.end, false)) =>
            {
                return Ok(contents);
            }
            ParseOutcome::Contents(contents) => suspect = Some((contents.end, false)),
            ParseOutcome::Damaged(before) if suspect == Some((before.end, true)) => {
                return Err(before.damage(path));
            }
            ParseOutcome::Damaged(before) => suspect = Some((before.end, true)),
        }
    }
}

/// Reads a file of this form that no process writes to.
///
/// # Errors
/// As [`read`]; [`Error::Corrupt`] if its last record is not complete.
pub(super) fn parse_whole(path: &Path, file: &dyn File) -> Result<ManifestContents> {
    match parse(path, &read_all(file)?)? {
        ParseOutcome::Contents(contents) => match contents.torn {
            Some(reason) => Err(Error::corrupt(path, contents.end, reason)),
            None => Ok(contents),
        },
        ParseOutcome::Damaged(before) => Err(before.damage(path)),
    }
}

/// What can be read of a manifest that no process writes to: its records up to the first bad one, and what is
/// wrong.
///
/// # Errors
/// As [`read`], except for a bad record.
pub(crate) fn read_left(disk: &dyn Disk, path: &Path) -> Result<(ManifestContents, Option<Error>)> {
    let file = disk.open(path)?;
    Ok(match parse(path, &read_all(file.as_ref())?)? {
        ParseOutcome::Contents(contents) => (contents, None),
        ParseOutcome::Damaged(before) => {
            let problem = before.damage(path);
            (before, Some(problem))
        }
    })
}

impl ManifestContents {
    /// The error of the bad record behind the others.
    fn damage(&self, path: &Path) -> Error {
        Error::corrupt(path, self.end, self.torn.unwrap_or("a record is damaged"))
    }
}

/// Reads a whole file, whose length may change meanwhile.
fn read_all(file: &dyn File) -> Result<Vec<u8>> {
    let too_large = |_| Error::invalid(format!("{} is too large for memory", file.path().display()));
    let bytes = usize::try_from(file.len()?).unwrap_or(usize::MAX);
    let (mut content, mut done) = (Vec::new(), 0);
    content.try_reserve_exact(bytes).map_err(too_large)?;
    content.resize(bytes, 0);
    while done < content.len() {
        match file.read_at(&mut content[done..], done as u64)? {
            0 => content.truncate(done),
            bytes => done += bytes,
        }
    }
    Ok(content)
}

enum ParseOutcome {
    /// The records, up to the end or a torn record.
    Contents(ManifestContents),
    /// The records up to a bad one that a good one follows; `torn` says why it is bad.
    Damaged(ManifestContents),
}

fn parse(path: &Path, file: &[u8]) -> Result<ParseOutcome> {
    let header: ManifestHeader = read_header_page(path, file, MANIFEST_MAGIC)?;
    if usize::from(header.vertex_bytes) != size_of::<VertexId>() {
        return Err(Error::invalid(format!(
            "{} has vertex ids of {} bytes, but this build of Esker uses {}: use a build {} the \
             feature `id64`",
            path.display(),
            header.vertex_bytes,
            size_of::<VertexId>(),
            if header.vertex_bytes == 8 { "with" } else { "without" },
        )));
    }
    let Some(before_first) = header.first_record.checked_sub(1) else {
        return Err(Error::corrupt(path, 0, "its first record has number 0"));
    };
    let (mut edits, mut last_record, mut chain) = (Vec::new(), before_first, header.first_chain);
    let (mut start, mut last_start, mut torn, mut seal_start) = (PAGE_BYTES, PAGE_BYTES, None, None);
    let mut is_damaged = false;
    while start < file.len() {
        let (record, body) = match take_record(path, file, start) {
            Ok(found) => found,
            Err(reason) => {
                is_damaged = is_followed(path, file, start, last_record);
                torn = Some(reason);
                break;
            }
        };
        let is_seal = record.edits == 0 && record.number == last_record && last_record > before_first;
        if is_seal && seal_start.is_none() {
            seal_start = Some(start);
        } else if seal_start.is_none() && Some(record.number) == last_record.checked_add(1) {
            if record.number > header.first_record {
                chain = crc32c::crc32c_append(chain, &file[start..start + record.bytes as usize]);
            }
            (last_record, last_start) = (record.number, start);
        } else {
            return Err(Error::corrupt(
                path,
                start as u64,
                "the record that begins here has the wrong number",
            ));
        }
        let mut input = FieldInput::new(path, body, (start + RECORD_HEADER_BYTES) as u64);
        for _ in 0..record.edits {
            edits.push(Edit::take(&mut input)?);
        }
        input.finish()?;
        start += record.bytes as usize;
    }
    // Behind a seal nothing but the end may be; a bad record is named by its own place.
    let end = seal_start.filter(|_| !is_damaged).unwrap_or(start) as u64;
    let (last_start, torn_bytes) = (last_start as u64, (file.len() - start) as u64);
    let contents = ManifestContents { header, edits, last_record, chain, last_start, end, torn, torn_bytes };
    Ok(if is_damaged { ParseOutcome::Damaged(contents) } else { ParseOutcome::Contents(contents) })
}

/// The header and the body of the record at `start`, or the reason why there is none.
fn take_record<'a>(
    path: &Path,
    file: &'a [u8],
    start: usize,
) -> std::result::Result<(RecordHeader, &'a [u8]), &'static str> {
    let header = RecordHeader::take(&mut FieldInput::new(path, &file[start..], start as u64));
    let header = header.map_err(|_| "the file ends within the header of a record that begins here")?;
    let end = start.saturating_add(header.bytes as usize);
    let body = file.get(start + RECORD_HEADER_BYTES..end);
    let body = body.ok_or("the file ends within the record that begins here")?;
    if checksum(&header, body) != header.checksum {
        return Err("the checksum of the record that begins here does not match");
    }
    Ok((header, body))
}

/// Whether a good record follows the bad one at `start`. A writer syncs each record before writing the next,
/// so a writer that died leaves no record after a torn one.
fn is_followed(path: &Path, file: &[u8], start: usize, last_record: u64) -> bool {
    let most = last_record.saturating_add(2 + (file.len() - start) as u64 / RECORD_HEADER_BYTES as u64);
    (start + 1..file.len().saturating_sub(RECORD_HEADER_BYTES - 1)).any(|start| {
        let number = u64::from_le_bytes(file[start + 8..start + 16].try_into().unwrap_or_default());
        number > last_record && number <= most && take_record(path, file, start).is_ok()
    })
}

fn checksum(header: &RecordHeader, body: &[u8]) -> u32 {
    let mut covered = Vec::new();
    header.bytes.put(&mut covered);
    header.number.put(&mut covered);
    header.edits.put(&mut covered);
    crc32c::crc32c_append(crc32c::crc32c(&covered), body)
}
