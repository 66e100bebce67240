//! Renders `docs/format.md` from the tables, and keeps it fresh.
#![allow(clippy::disallowed_methods)] // A test that compares a file of the repository.

use std::fmt::Write;

use super::archive::{ArchiveEntry, ArchiveHeader};
use super::commit::{CommitHeader, CommitText, VertexChange, VertexValue};
use super::field::Documented;
use super::header::ColumnHeader;
use super::log::{LogRecordHeader, LogRecordKind, SegmentHeader};
use super::manifest::{
    DictionaryRecord, EditKind, Encoding, IdMapKind, IdMapRecord, LayerRecord, ManifestHeader, Owner,
    PropertyRecord, RecordHeader, RetentionKind, RetentionRecord, SectionRecord, TagRecord, VersionRecord,
    VertexOrder,
};
use super::tile::{TileCoding, TilesRecord};
use super::{BLOCK_BYTES, ColumnKind, ElementType, FORMAT_VERSION, PAGE_BYTES};

const INTRODUCTION: &str = "\
A database is a directory:

```
web.esker/
  MANIFEST            what the database holds
  LOCK                empty; the process that writes holds an exclusive flock(2) on it
  log/<number>        commits that are in no layer yet
  layers/<number>.columns    of each layer, all columns of at most 1 MiB
  layers/<number>/    its larger columns, each a file; the columns are called
    out.offsets  out.targets  out.property.<number>  out.born
    out.groups  out.sizes  out.lists  out.blocks    of a compressed layer, instead of out.offsets and out.targets
    out.vertices  out.degrees  out.previous
    out.dead.vertices  out.dead.offsets  out.dead.targets  out.dead.codes
    out.past.vertices  out.past.offsets  out.past.targets  out.past.born  out.past.died  out.past.property.<number>
    in.<the same>
    versions
    dictionary.<number>.texts  dictionary.<number>.ends
    property.<number>.vertices  property.<number>.codes    a vertex property: what changed when
    property.<number>.values  or  property.<number>.texts  property.<number>.ends
    removed.vertices  removed.codes  removed.values        the vertices that were removed (1) or came back (0), in the same form
    ids.integers  or  ids.texts  ids.texts.ends    the ids of the vertices that the layer adds
    ids.index         the index of these ids
    tiles.data  tiles.columns  tiles/    tiles, if the layer has any: the chunks; the rest, likewise, in columns called
      keys  starts  edges  groups  property.<number>  out.degrees  out.hubs  in.degrees  in.hubs
  ids.columns  ids/   how external ids and vertices are related, likewise; absent if the ids are dense integers as they came
    integers           permuted dense integers and sparse integers: the integer of each vertex
    texts  texts.ends  texts: the text of each vertex
    index.buckets  index.tags    sparse integers and texts: the index
    index.vertices     the index; permuted dense integers: the vertex of each integer
```

All integers are little-endian. Fields lie one after another, without gaps. Checksums are CRC-32C (Castagnoli).

## Column files

One array a file: a header page, the elements, and a table with the checksum of each block of elements, four bytes each.
The last block may be shorter; the file ends with the table. Every byte of the file is thus under a checksum, or is one that
must match.

Small files of a directory do not lie in it, but one after another in a file beside it, `<directory>.columns`: those of at most 1 MiB,
header page and table included. It begins with a header page and ends with a list of all files of the directory, also of those that do lie
in it. Every byte between the files is zero. A directory without large files does not exist.

Vertex ids have 4 bytes, or 8 in a database made by a build with 64-bit ids. The dictionary of an
edge property is what all layers hold of it, oldest first: distinct texts, whose codes are their positions in the whole.

## Compressed lists

A complete layer may keep the lists of what is alive at the end of its range as differences, and everything else as ever; arcs are counted
as they are in the arrays that these lists stand for. A list is cut in blocks of 64 arcs, each decoded by itself. Of a block of the list of
vertex v with the targets t0, t1, ...: one byte, w + 64 c; then z in little-endian order, in 1, 2, 3 or 4 bytes (64-bit ids: 1, 2, 4 or 8)
for c = 0, 1, 2, 3, where with d = t0 - v, z = 2 d if d >= 0, else -2 d - 1, modulo the width of an id; then t1 - t0, t2 - t1, ..., each in
w bits, the least significant bits of the first byte first, up to a whole byte. A list of more than 64 arcs begins with the place (u64) in
`blocks` where those of its blocks but the first are listed.

`groups` has three numbers for each 64 vertices: the arcs in lists before them; the bytes; and 256 p + a + 16 b, where from byte p of
`sizes` on stand 64 degrees of 2^a bytes and then 64 lengths in bytes of 2^b bytes; 0 for vertices that there are not. Three more numbers
say the same of the end (a = b = 0).

## Vertex properties

What the versions of a layer changed of a property: entries by vertex, those of one vertex by code, so at most one for each vertex and
code. The value of a vertex at a version of which k entries of the column `versions` are not newer is that of its last entry
with a code of at most k; if there is none, that in the next older layer with the property (at its last version).

## Tiles

A tile is a square of 2^16 by 2^16 cells of the adjacency matrix; within it an edge is a position: row times 2^16 plus column. Of an
undirected graph only edges from a vertex to itself or a larger one are kept. Tiles lie in groups of q by q (column `groups`); groups
row by row, within each the tiles row by row. The edges of a tile, by ascending position, are cut into chunks of at most 65536 edges, each
in the coding that its first byte names (`TileCoding`). No chunk lies in two blocks: zeros fill a block in which the next one
does not begin.

## External ids

The map of permuted dense integers is two arrays: the integer of each vertex and the vertex of each integer, both less the base. Of
sparse integers and texts there is one array by vertex, and an index: all vertices sorted by the hash of their ids, equal hashes by
vertex. With n vertices, let b = floor(log2(n / 16)), or 0 where that is less. The leading b bits of the hash are the bucket, the eight
bits after them the tag. `index.buckets` says where each of the 2^b buckets begins, and the end of the last; `index.tags` and
`index.vertices` are parallel. All arithmetic of hashes is modulo 2^64, constants are hexadecimal, `>>` shifts in zeros.

The hash of an integer x is SplitMix64: z = x + 9e3779b97f4a7c15; z = (z xor z >> 30) * bf58476d1ce4e5b9;
z = (z xor z >> 27) * 94d049bb133111eb; the hash is z xor z >> 31.

The hash of a text: with K0 = 9e3779b97f4a7c15, K1 = d1b54a32d192ed03, K2 = 8cb92ba72f3d8dd7, and fold(a, b) = the low xor the high 64
bits of the 128-bit product a * b, let h = K0 + K1 * (length in bytes). The bytes are read as little-endian words of eight, the last
filled up with zeros; for each word w, h = fold(h xor w, K1). The hash is fold(h xor K2, K0). Of the text `alice` it is 75a3b093327983f6,
of the empty text cbb54a56c2143120.

The ids of vertices that were added after the import lie in the directory of the layer that adds them, in the order of the vertices,
as texts or as integers (dense or not). Their index is one column of 64-bit words. Of c ids, w = c / 6 rounded up, at least 1, words are
a filter: an id with hash h belongs to word (h mod 2^32) * w / 2^32 and sets the bits there whose numbers are bits 32 to 37, 38 to 43,
44 to 49 and 50 to 55 of h. Then follow c entries, ascending: with the least k such that c <= 2^k, the low k bits are the position of an id,
the bits above them the leading 64 - k bits of its hash.

## MANIFEST

A header page, then records. Each record is a header and its edits, one after another. The state of the database is what all
edits in order lead to. The last record may not be whole: it is not part of the manifest then. MANIFEST.new, if there is one, means
nothing.

## Log

Segments, numbered consecutively; each a header page, then records, at multiples of eight bytes. Versions are consecutive. The last
segment may end with a record that is not whole: it is not part of the log.
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
         Rendered from the tables in `crates/esker-store/src/format/`. To render it again:\n\
         `ESKER_RENDER=1 cargo test -p esker-store format_document`.\n\n{INTRODUCTION}\n\
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
    chapter::<TileCoding>(&mut out);
    chapter::<IdMapRecord>(&mut out);
    chapter::<IdMapKind>(&mut out);
    chapter::<VertexOrder>(&mut out);
    chapter::<PropertyRecord>(&mut out);
    chapter::<Owner>(&mut out);
    chapter::<VersionRecord>(&mut out);
    chapter::<TagRecord>(&mut out);
    chapter::<RetentionRecord>(&mut out);
    chapter::<RetentionKind>(&mut out);
    chapter::<SegmentHeader>(&mut out);
    chapter::<LogRecordHeader>(&mut out);
    chapter::<LogRecordKind>(&mut out);
    chapter::<CommitHeader>(&mut out);
    chapter::<CommitText>(&mut out);
    chapter::<VertexChange>(&mut out);
    chapter::<VertexValue>(&mut out);
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
        "docs/format.md is stale: run `ESKER_RENDER=1 cargo test -p esker-store format_document` and commit it"
    );
}
