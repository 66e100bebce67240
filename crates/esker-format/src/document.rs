//! Renders `docs/format.md` from the tables; a test fails when the document is stale.
#![allow(clippy::disallowed_methods)] // The test reads a file of the repository.

use std::fmt::Write;

use super::file::archive::{ArchiveEntry, ArchiveHeader};
use super::file::field::Documented;
use super::file::header::ColumnHeader;
use super::layout::commit::{
    CommitHeader, CommitSummary, CommitText, CommitTimes, VertexChange, VertexValue,
};
use super::layout::heads::{HeadOrder, HeadsRecord};
use super::layout::live::{LiveArray, LiveContent, LiveHeader};
use super::layout::log::{LogRecordHeader, LogRecordKind, SegmentHeader};
use super::layout::logical::{LogicalKind, TimeUnit};
use super::layout::manifest::{
    DictionaryRecord, EditKind, Encoding, IdMapKind, IdMapRecord, LayerRecord, LogMark, ManifestHead,
    ManifestHeader, Owner, PropertyRecord, RecordHeader, SectionRecord, VertexOrder,
};
use super::layout::options::{CopyPolicy, SpanRecord, SpanUnit, StreamRecord, StreamUnit, WriteOptions};
use super::layout::reading::{
    ColumnRecord, DateFormatRecord, DefaultRecord, EventTimes, NotationRecord, PropertyColumnRecord,
    ReadingRecord, TableRecord,
};
use super::layout::tile::{KeptForms, SharedTiles, TileCoding, TilesRecord};
use super::layout::version::{Duplicates, RetentionKind, RetentionRecord, TagRecord, VersionRecord};
use super::{BLOCK_BYTES, ColumnKind, ElementType, FORMAT_VERSION, PAGE_BYTES};

const INTRODUCTION: &str = "\
A database is a directory:

```
web.esker/
  MANIFEST            what the database holds
  LOCK                empty; the process that writes holds exclusive locks on it, on MANIFEST and on the last segment of the log (fcntl, of the
                      open file). Only those who may write can read it
  BACKUP              empty; only in a backup that nobody has written to since it was made
  log/<number>        commits that are not in a layer yet
  live/<name>         the state of a live answer, which is not part of the graph and may be removed
  queue/<name>        changes that other processes hand to the one that writes, while they wait for the answer
  layers/<number>.columns    all columns of a layer of at most 1 MiB
  layers/<number>/    its larger columns, one file each; the names of the columns:
    out.offsets  out.targets  out.property.<number>  out.born
    out.groups  out.sizes  out.lists  out.blocks    in a compressed layer, instead of out.offsets and out.targets
    out.vertices  out.degrees  out.previous
    out.dead.vertices  out.dead.offsets  out.dead.targets  out.dead.codes
    out.past.vertices  out.past.offsets  out.past.targets  out.past.born  out.past.died  out.past.property.<number>
    in.<as for out>
    versions  added
    record            what MANIFEST says of the layer and of the database, in the form of MANIFEST: see Recovery
    dictionary.<number>.texts  dictionary.<number>.ends  dictionary.<number>.order
    property.<number>.vertices  property.<number>.codes    a vertex property: the vertex and version of each change
    property.<number>.values  or  property.<number>.texts  property.<number>.ends
    removed.vertices  removed.codes  removed.values        vertices removed (1) or restored (0), in the same form
    ids.integers  or  ids.texts  ids.texts.ends    external ids of the vertices that the layer adds
    ids.index         the index of these ids
    tiles.data  tiles.columns  tiles/    tiles, if the layer has any: the chunks; then an archive of the columns
      keys  starts  edges  groups  extents  property.<number>  out.degrees  out.hubs  in.degrees  in.hubs
    tiles.data.<number>    a hard link to the tiles.data that another layer wrote, if the layer has chunks in it
    heads.columns  heads/    heads, if the layer has any: an archive
      out.heads  out.sums  in.heads  in.sums
  ids.columns  ids/   the map of external ids, an archive; absent if the ids are dense integers in input order, or all
                      in layers. Its columns:
    integers           the integer of each vertex (permuted dense integers, sparse integers)
    texts  texts.ends  the text of each vertex (texts)
    index.buckets  index.tags    the index (sparse integers, texts)
    index.vertices     the index (sparse integers, texts); the vertex of each integer (permuted dense integers)
```

All integers are little-endian. Fields are stored in order, without gaps. Checksums are CRC-32C (Castagnoli).

## Column files

Each file holds one array: a header page, the elements, and a table with the checksum of each block of elements, four bytes each.
The last block may be shorter; the file ends with the table. So every byte of the file is covered by a checksum or is part of
one.

The header of each column names the database, and has a random number of the set of files that were written together: a layer, its
tiles, its heads, or the map of external ids. The record of MANIFEST that lists the set has the same number, so files of two copies of a
database that took different courses are not taken for one another. An import takes the number of the database.

An archive stores the files of a directory. Files of at most 1 MiB, header page and table included, are stored one after another in the
file `<directory>.columns`; larger files are in the directory, which exists only if there are any. `<directory>.columns` begins with
a header page and ends with a list of all files, large ones included. Every byte between the files is zero.

Vertex ids have 4 bytes, or 8 in a database created by a build with 64-bit ids. The dictionary of an
edge property is the concatenation of its parts in all layers, oldest first: distinct texts, whose codes are their positions.

## Recovery

Each layer has a file `record`, in the form of MANIFEST: one record with the `LayerRecord`, the versions in the layer, and the map of ids, properties,
tags and settings of the database when the layer was written. `first_record` is the number of records that MANIFEST had then. Only
`esker recover` reads it, if MANIFEST is lost or damaged.

## Compressed lists

A complete layer may store the lists of arcs alive at the end of its range as differences; all other columns are as in a plain layer.
Positions of arcs are the same as in the plain arrays. A list is divided into blocks of 64 arcs that decode independently. A block of
the list of vertex v with targets t0, t1, ... consists of: one byte, w + 64 c; then z in little-endian order, in 1, 2, 3 or 4 bytes
(64-bit ids: 1, 2, 4 or 8) for c = 0, 1, 2, 3, where d = t0 - v, and z = 2 d if d >= 0, else -2 d - 1, modulo the width of an id; then
t1 - t0, t2 - t1, ..., each in w bits, least significant bits of the first byte first, padded to a whole byte. A list of more than 64
arcs begins with the position (u64) in `blocks` of the entry of its second block; the entries of its later blocks follow there.

`groups` has three numbers for each 64 vertices: the number of arcs in the lists before them; the number of bytes in these lists; and
256 p + a + 16 b, where byte p of `sizes` begins 64 degrees of 2^a bytes each, followed by 64 list lengths in bytes, of 2^b bytes each.
Both are 0 for missing vertices of the last group. Three more numbers give the same for the end (a = b = 0).

## Vertex properties

A layer stores the changes of a property by its versions: entries in order of vertex, then of code, with at most one entry for each
vertex and code. To find the value of a vertex at a version, let k be the number of entries of the column `versions` up to that version.
The vertex's last entry with a code of at most k has the value; if there is none, the next older layer with the property has it (at
that layer's last version).

## Tiles

A tile is a square of 2^16 by 2^16 cells of the adjacency matrix. The position of an edge in its tile is row times 2^16 plus column. Tiles
of an undirected graph hold only edges from a vertex to itself or to a larger vertex. Tiles form groups of q by q (column `groups`). Groups
are stored row by row, and so are the tiles within a group. The edges of a tile, in order of position, are divided into chunks of at most
65536 edges, each in the encoding named by its first byte (`TileCoding`). No chunk crosses a block boundary: zeros fill the rest of a
block if the next chunk does not fit.

A layer may have chunks in files that other layers wrote: then the column `extents` says which blocks of which files follow one another, and
`tiles.data.<number>` is a hard link to the `tiles.data` that the layer of that number wrote, or a copy of it. Its header keeps the checksum of its
first place and the number of its first set, which the `TilesRecord` lists beside that of its own. Two
extents may have a block in common that holds the last chunks of one group and the first chunks of another; chunks that no key names are not in
use. Without the column all chunks lie in `tiles.data`.

## External ids

The map of permuted dense integers has two arrays: the integer of each vertex and the vertex of each integer, with integers less the
base. The map of sparse integers or texts has one array by vertex, and an index: all vertices sorted by the hash of their ids, then by
vertex. With n vertices, let b = max(0, floor(log2(n / 16))). The leading b bits of the hash are the bucket, the eight
bits after them the tag. `index.buckets` holds the start of each of the 2^b buckets, and the end of the last; `index.tags` and
`index.vertices` are parallel. Hashes are computed modulo 2^64, constants are hexadecimal, `>>` shifts in zeros.

The manifest holds the secret of the database (`SetIdSecret`), 16 random bytes that key the hash. Whoever does not know
it cannot make ids that collide. Databases with equal content and equal secret have equal files.

The hash of a text is SipHash-1-3 with the secret as its key. The hash of an integer: let w(i) be the hash of the text of the
one byte i. Mix the integer x by SplitMix64: z = x + 9e3779b97f4a7c15; z = (z xor z >> 30) * bf58476d1ce4e5b9;
z = (z xor z >> 27) * 94d049bb133111eb; z = z xor z >> 31. The hash is the upper half of
(w(0) + 2^64 w(1)) * z + w(2) + 2^64 w(3), modulo 2^128. With the secret 000102..0f, the hash of `alice` is cbfb4a035000f64a, that of
the integer 1 is 544ab3fe0cc54e70.

The ids of vertices added after the import are in the archive of the layer that adds them, in order of vertex, as texts or as integers
(dense or not). Their index is one column of 64-bit words. For c ids, the first w = max(1, ceil(c / 6)) words are
a filter: an id with hash h belongs to word (h mod 2^32) * w / 2^32 and sets four bits of it, whose numbers are bits 32 to 37, 38 to 43,
44 to 49 and 50 to 55 of h. Then c entries follow, ascending. With the least k such that c <= 2^k, the low k bits of an entry are the
position of an id, and the bits above them the leading 64 - k bits of its hash.

## MANIFEST

A header page, then records. Each record is a header and its edits. The state of the database results from applying all
edits in order. An incomplete last record is not part of the manifest. Readers ignore a file MANIFEST.new.

## Log

The log consists of segments, numbered consecutively. Each is a header page, then records, at multiples of eight bytes. Versions are
consecutive. An incomplete last record of the last segment is not part of the log.

## What shows that something is missing

MANIFEST records how far the log reaches (`LogMark`): when a process begins and ends writing, and with each change of MANIFEST.
The log records the number and the chain value of MANIFEST's last record (`ManifestHead`): with each change of MANIFEST, and when a
process ends writing. So each of the two tells when the other was removed, cut, zeroed, or replaced by an older copy:

* The log ends before the mark, or has another commit there: an error. `esker recover` says what is missing.
* MANIFEST has fewer records than the log knows, or another last record: an error, likewise.
* A segment ends with a record of kind `Continue`, but the next one is missing: an error, likewise.

What cannot be told:

* After a crash or a kill, commits behind the last mark have no witness but the log itself. If the log ends earlier, or if its end is
  zeroed or torn, it looks as if the writer had died earlier.
* If all files are replaced by older copies of the same moment, the database is what it was at that moment.
";

fn chapter<T: Documented>(out: &mut String) {
    let (name, doc, rows) = T::table();
    let columns = if rows[0].0.parse::<u64>().is_ok() { ["Code", "Name"] } else { ["Field", "Type"] };
    let _ = write!(
        out,
        "\n### {name}\n\n{doc}\n\n| {} | {} | Meaning |\n|---|---|---|\n",
        columns[0], columns[1]
    );
    for (first, second, meaning) in rows {
        let _ = writeln!(out, "| `{first}` | {second} | {meaning} |");
    }
}

fn render() -> String {
    let mut out = format!(
        "# Format of a database, version {FORMAT_VERSION}\n\n\
         Rendered from the tables in `crates/esker-format/src/`. To render it again:\n\
         `ESKER_RENDER=1 cargo test -p esker-format format_document`.\n\n{INTRODUCTION}\n\
         ## Tables\n\nPages have {PAGE_BYTES} bytes, blocks {BLOCK_BYTES}.\n"
    );
    chapter::<ArchiveHeader>(&mut out);
    chapter::<ArchiveEntry>(&mut out);
    chapter::<ColumnHeader>(&mut out);
    chapter::<ColumnKind>(&mut out);
    chapter::<ElementType>(&mut out);
    chapter::<ManifestHeader>(&mut out);
    chapter::<RecordHeader>(&mut out);
    chapter::<EditKind>(&mut out);
    chapter::<LayerRecord>(&mut out);
    chapter::<SectionRecord>(&mut out);
    chapter::<DictionaryRecord>(&mut out);
    chapter::<Encoding>(&mut out);
    chapter::<TilesRecord>(&mut out);
    chapter::<SharedTiles>(&mut out);
    chapter::<TileCoding>(&mut out);
    chapter::<HeadsRecord>(&mut out);
    chapter::<HeadOrder>(&mut out);
    chapter::<KeptForms>(&mut out);
    chapter::<IdMapRecord>(&mut out);
    chapter::<IdMapKind>(&mut out);
    chapter::<VertexOrder>(&mut out);
    chapter::<PropertyRecord>(&mut out);
    chapter::<LogicalKind>(&mut out);
    chapter::<TimeUnit>(&mut out);
    chapter::<Owner>(&mut out);
    chapter::<VersionRecord>(&mut out);
    chapter::<Duplicates>(&mut out);
    chapter::<TagRecord>(&mut out);
    chapter::<RetentionRecord>(&mut out);
    chapter::<RetentionKind>(&mut out);
    chapter::<WriteOptions>(&mut out);
    chapter::<CopyPolicy>(&mut out);
    chapter::<StreamRecord>(&mut out);
    chapter::<StreamUnit>(&mut out);
    chapter::<SpanRecord>(&mut out);
    chapter::<SpanUnit>(&mut out);
    chapter::<ReadingRecord>(&mut out);
    chapter::<TableRecord>(&mut out);
    chapter::<PropertyColumnRecord>(&mut out);
    chapter::<ColumnRecord>(&mut out);
    chapter::<NotationRecord>(&mut out);
    chapter::<DefaultRecord>(&mut out);
    chapter::<DateFormatRecord>(&mut out);
    chapter::<EventTimes>(&mut out);
    chapter::<LogMark>(&mut out);
    chapter::<SegmentHeader>(&mut out);
    chapter::<LogRecordHeader>(&mut out);
    chapter::<LogRecordKind>(&mut out);
    chapter::<ManifestHead>(&mut out);
    chapter::<CommitSummary>(&mut out);
    chapter::<CommitTimes>(&mut out);
    chapter::<CommitHeader>(&mut out);
    chapter::<CommitText>(&mut out);
    chapter::<VertexChange>(&mut out);
    chapter::<VertexValue>(&mut out);
    chapter::<LiveHeader>(&mut out);
    chapter::<LiveContent>(&mut out);
    chapter::<LiveArray>(&mut out);
    out
}

#[test]
fn format_document_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/format.md");
    let rendered = render();
    if std::env::var_os("ESKER_RENDER").is_some() {
        std::fs::write(path, &rendered).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == rendered,
        "docs/format.md is stale: run `ESKER_RENDER=1 cargo test -p esker-format format_document` and commit it"
    );
}
