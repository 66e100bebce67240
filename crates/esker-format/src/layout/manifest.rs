//! Tables of the manifest. `manifest/README.md` explains how they work together.

use esker_graph::Direction;

use crate::file::field::{codes, layout};
use crate::file::header::{DatabaseId, ElementType, Stamp};
use crate::layout::logical::{LogicalType, PropertyType};
use crate::layout::version::VersionRecord;

/// The first bytes of MANIFEST.
pub const MANIFEST_MAGIC: [u8; 8] = *b"Eskerman";

layout! {
    /// The start of MANIFEST. Zeros follow up to byte 4092, which begins the CRC-32C of all bytes before it.
    /// Then records follow.
    pub struct ManifestHeader {
        /// `Eskerman`.
        magic: [u8; 8],
        /// Version of the format.
        format_version: u32,
        /// The database.
        database: DatabaseId,
        /// Width of vertex ids: 4 or 8.
        vertex_bytes: u8,
        /// Time when the database was created: milliseconds since 1970, UTC.
        created_ms: u64,
        /// Number of the first record: 1, or the number of the last record before MANIFEST was rewritten.
        first_record: u64,
        /// The chain value of the first record. The chain value of each later record is the CRC-32C of the
        /// record, continued from the previous record's chain value.
        first_chain: u32,
    }
}

layout! {
    /// The state of MANIFEST after one of its records. The log repeats it, so that a cut or older MANIFEST is
    /// noticed.
    #[derive(Copy)]
    pub struct ManifestHead {
        /// Number of the record.
        records: u64,
        /// Its chain value.
        chain: u32,
    }
}

layout! {
    /// How far the log reached when the record was written: to its last durable commit. A log that ends
    /// earlier has lost commits.
    #[derive(Copy)]
    pub struct LogMark {
        /// Number of the segment of that commit. Without commits: of the last segment.
        segment: u64,
        /// Where the commit's record ends in the segment. Without commits: 4096.
        bytes: u64,
        /// The commit's version. Without commits: the version before the segment's first.
        version: u64,
        /// The checksum in the header of the commit's record. Without commits: that of the commit before,
        /// which is in a layer.
        checksum: u32,
    }
}

layout! {
    /// The start of a record of MANIFEST. Its edits follow; they take effect together or not at all.
    pub struct RecordHeader {
        /// Bytes of the record, this header included.
        bytes: u32,
        /// CRC-32C of the record except these four bytes.
        checksum: u32,
        /// Number of the record: one more than the previous record's. A last record without edits repeats the
        /// previous record's number: it confirms that the previous record was synced. The next record
        /// overwrites it.
        number: u64,
        /// Number of edits.
        edits: u32,
    }
}

codes! {
    /// The kind of an edit; the code precedes the edit.
    pub(crate) enum EditKind: u16 {
        /// A `LayerRecord`: adds a layer.
        AddLayer = 1,
        /// An `IdMapRecord`: sets the map of external ids.
        SetIdMap = 2,
        /// A `PropertyRecord`: defines a property.
        AddProperty = 3,
        /// A layer number, u32: removes the layer.
        RemoveLayer = 5,
        /// A `TagRecord`: names a version. An older use of the name ends.
        SetTag = 6,
        /// A text: removes the tag.
        RemoveTag = 7,
        /// A version number, u64: removes the version.
        RemoveVersion = 8,
        /// A `RetentionRecord`: sets which versions to keep.
        SetRetention = 9,
        /// A `TilesRecord`: adds tiles to a layer. Removing the layer removes them.
        SetTiles = 10,
        /// A layer number, u32: removes the layer's tiles.
        RemoveTiles = 11,
        /// 16 bytes: sets the secret that keys the hash of external ids.
        SetIdSecret = 12,
        /// A `LogMark`: how far the log reaches at least.
        SetLog = 13,
        /// A `VersionRecord`: publishes a version.
        AddVersion = 14,
        /// A `Duplicates`: sets the rule for duplicate edges.
        SetDuplicates = 15,
        /// A layer number, u32: removes the layer's heads.
        RemoveHeads = 17,
        /// A `PropertyRecord`: replaces the one with its owner and number.
        SetProperty = 18,
        /// A `KeptForms`: which second forms merging gives the complete layer. Without it, those that the
        /// complete layer has.
        KeepForms = 19,
        /// A `WriteOptions`: how commits become layers. Without it, `Mixed`, 67108864 bytes and merging.
        SetOptions = 20,
        /// A `HeadsRecord`: adds heads to a layer. Removing the layer removes them.
        SetHeads = 21,
        /// A `StreamRecord`: declares the database a stream.
        SetStream = 22,
        /// A `ReadingRecord`: how an input was read. Later inputs are read the same way.
        SetReading = 23,
        /// Nothing: forgets how an input was read.
        RemoveReading = 24,
        /// An `EventTimes`: what the event times of versions are. Without it, `Committed`.
        SetEventTimes = 25,
        /// A `KeptMessage`: keeps the message of a version that is removed, from which a stream goes on.
        KeepMessage = 26,
        /// A version number, u64: drops the kept message of that version.
        DropMessage = 27,
    }
}

codes! {
    /// How a layer stores its lists.
    pub enum Encoding: u8 {
        /// Arrays of ids.
        Plain = 1,
        /// Bit-packed differences. Only in complete layers, for the arcs alive at the end of the range.
        Compressed = 2,
        /// Tiles alone: the offsets of the lists are stored, but no targets; these are in the tiles of the
        /// layer, which it must have. Only in complete layers, for the arcs alive at the end of the range.
        Tiles = 3,
    }
}

layout! {
    /// Sizes of the lists of one direction of a layer; all 0 if the layer lacks the direction.
    #[derive(Copy, Default)]
    pub struct SectionRecord {
        /// Number of vertices with a list (in a complete layer, all vertices) or a fragment of one.
        lists: u64,
        /// Number of arcs in these lists: those alive at the end of the range.
        arcs: u64,
        /// Number of vertices with tombstones.
        dead_lists: u64,
        /// Number of tombstones. A tombstone deletes the arcs between two vertices in older layers.
        dead_arcs: u64,
        /// Number of vertices with past arcs: arcs that lived and died within the range.
        past_lists: u64,
        /// Number of past arcs.
        past_arcs: u64,
    }
}

layout! {
    /// Texts that a layer adds to the dictionary of an edge property.
    pub struct DictionaryRecord {
        /// Number of the property.
        property: u32,
        /// Code of the first text.
        first: u64,
        /// Number of texts.
        count: u64,
    }
}

layout! {
    /// A layer. Its columns are in `layers/<number>.columns` and `layers/<number>/`.
    pub struct LayerRecord {
        /// Number of the layer: 24 bits, never reused.
        number: u32,
        /// The number in the headers of its columns.
        stamp: Stamp,
        /// The first version of its range.
        first_version: u64,
        /// The last version of its range.
        last_version: u64,
        /// Number of versions that it distinguishes. If more than one, the column `versions` lists them, and
        /// columns of codes are parallel to the arcs.
        num_versions: u32,
        /// How it stores its lists.
        encoding: Encoding,
        /// Whether it holds whole lists and needs no older layer; else it holds fragments of the changed
        /// lists.
        complete: bool,
        /// Whether out-lists and in-lists differ.
        directed: bool,
        /// Whether there may be several edges between the same two vertices.
        multigraph: bool,
        /// Whether it stores in-lists. Never for an undirected graph, whose in-lists are its out-lists.
        in_edges: bool,
        /// Number of vertices of the graph at the end of the range.
        num_vertices: u64,
        /// Number of edges at the end of the range; an undirected one counts once.
        num_edges: u64,
        /// Number of arcs at the end of the range: an undirected edge counts twice, a self-loop once.
        num_arcs: u64,
        /// Number of self-loops at the end of the range.
        num_loops: u64,
        /// The checksum in the header of the log record of the commit before the range. 0: an import, or
        /// none.
        previous_commit: u32,
        /// The same of the last commit in the range: the next commit of the log repeats it. 0: an import.
        last_commit: u32,
        /// Its out-lists.
        out: SectionRecord,
        /// Its in-lists.
        incoming: SectionRecord,
        /// Number of vertices whose external ids it adds: the last ones of its `num_vertices`.
        num_new_ids: u64,
        /// The texts that it adds to dictionaries of edge properties.
        dictionaries: Vec<DictionaryRecord>,
        /// Numbers of the vertex properties for which it holds values.
        vertex_properties: Vec<u32>,
    }
}

impl LayerRecord {
    /// The first layer of a database: complete, for version 1 only, with lists as in `shape`.
    pub fn first(shape: &GraphShape, stamp: Stamp) -> Self {
        let lists = |kept: bool| SectionRecord {
            lists: if kept { shape.num_vertices } else { 0 },
            arcs: if kept { shape.num_arcs } else { 0 },
            ..SectionRecord::default()
        };
        Self {
            number: 1,
            stamp,
            first_version: 1,
            last_version: 1,
            num_versions: 1,
            encoding: Encoding::Plain,
            complete: true,
            directed: shape.directed,
            multigraph: shape.multigraph,
            in_edges: shape.in_edges,
            num_vertices: shape.num_vertices,
            num_edges: shape.num_edges,
            num_arcs: shape.num_arcs,
            num_loops: shape.num_loops,
            previous_commit: 0,
            last_commit: 0,
            out: lists(true),
            incoming: lists(shape.in_edges),
            num_new_ids: 0,
            dictionaries: Vec::new(),
            vertex_properties: Vec::new(),
        }
    }

    /// The sizes of the lists of a direction.
    pub fn section(&self, direction: Direction) -> &SectionRecord {
        match direction {
            Direction::Out => &self.out,
            Direction::In => &self.incoming,
        }
    }
}

impl VersionRecord {
    /// The last version of a layer, with an event time and the time of its commit.
    pub fn at_end_of(layer: &LayerRecord, time_ms: u64, committed_ms: u64, message: String) -> Self {
        let LayerRecord { last_version: number, num_vertices, num_edges, num_arcs, num_loops, .. } = *layer;
        let commit = layer.last_commit;
        Self { number, time_ms, committed_ms, message, commit, num_vertices, num_edges, num_arcs, num_loops }
    }
}

/// The kind of a graph, and its counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GraphShape {
    /// Whether out-lists and in-lists differ.
    pub directed: bool,
    /// Whether there may be several edges between the same two vertices.
    pub multigraph: bool,
    /// Whether in-lists of a directed graph are stored.
    pub in_edges: bool,
    /// Number of vertices.
    pub num_vertices: u64,
    /// Number of edges; an undirected one counts once.
    pub num_edges: u64,
    /// Number of arcs: entries of all out-lists.
    pub num_arcs: u64,
    /// Number of self-loops.
    pub num_loops: u64,
}

codes! {
    /// How external ids map to vertices.
    pub enum IdMapKind: u8 {
        /// The external id is the vertex plus `base`. Needs no files.
        Identity = 1,
        /// Dense integers in another order.
        Permuted = 2,
        /// Sparse integers.
        Integers = 3,
        /// Texts.
        Texts = 4,
        /// Integers, all in segments of layers: vertices were renumbered. Needs no other files.
        LayerIntegers = 5,
        /// Texts, all in segments of layers: vertices were renumbered. Needs no other files.
        LayerTexts = 6,
    }
}

impl IdMapKind {
    /// Whether external ids are texts; else they are integers.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Texts | Self::LayerTexts)
    }

    /// Whether layers hold all external ids.
    pub fn is_in_layers(self) -> bool {
        matches!(self, Self::LayerIntegers | Self::LayerTexts)
    }

    /// The kind in words of users, who do not care where ids lie.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Permuted => "permuted",
            Self::Integers | Self::LayerIntegers => "integers",
            Self::Texts | Self::LayerTexts => "texts",
        }
    }
}

codes! {
    /// The order in which vertices are numbered.
    pub enum VertexOrder: u8 {
        /// As in the input.
        Keep = 1,
        /// By descending degree.
        Degree = 2,
    }
}

layout! {
    /// The id map. Its columns are in `ids.columns` and `ids/`.
    pub struct IdMapRecord {
        /// How external ids map to vertices.
        kind: IdMapKind,
        /// The least external id of dense integers. If all ids are in layers: the layer that the last
        /// renumbering of vertices made. Else 0.
        base: u64,
        /// The order in which vertices are numbered.
        order: VertexOrder,
        /// The number in the headers of its columns.
        stamp: Stamp,
    }
}

codes! {
    /// The owners of a property.
    pub enum Owner: u8 {
        /// Edges.
        Edges = 1,
        /// Vertices.
        Vertices = 2,
    }
}

layout! {
    /// A property.
    pub struct PropertyRecord {
        /// Its number, part of its files' names: from 0, separately for edges and vertices.
        number: u32,
        /// Whether edges or vertices have it.
        owner: Owner,
        /// Its name.
        name: String,
        /// Type of its values, or of the codes of an edge property of texts.
        element: ElementType,
        /// What its values are.
        logical: LogicalType,
        /// Whether it is the edges' weight.
        weight: bool,
        /// Whether its texts are the kinds of the edges, or of the vertices. The rule for duplicate edges
        /// applies to edges of one kind.
        kind: bool,
        /// Of an edge property: whether edges may be without a value. Then one value of the type stands for
        /// a missing one: NaN of floats, the least i64 of integers and timestamps, the greatest u64, the
        /// least i32 of dates, 255 of truth values, and of texts that of the single byte 255.
        optional: bool,
    }
}

impl PropertyRecord {
    /// A vertex property that is not numbered yet.
    pub fn of_vertices(name: &str, PropertyType { element, logical }: PropertyType) -> Self {
        Self {
            number: 0,
            owner: Owner::Vertices,
            name: name.to_owned(),
            element,
            logical,
            weight: false,
            kind: false,
            optional: false,
        }
    }

    /// Whether its values are texts.
    pub fn is_text(&self) -> bool {
        self.logical.is_text()
    }

    /// Whether vertices store its values as bytes of any length: texts and vectors.
    pub fn holds_bytes(&self) -> bool {
        self.is_text() || self.is_vector()
    }

    /// Whether its values are vectors.
    pub fn is_vector(&self) -> bool {
        self.logical.is_vector()
    }

    /// The bytes of a vector; `None` if its values are none.
    pub fn vector_bytes(&self) -> Option<usize> {
        match self.logical {
            LogicalType::Vector { len } => Some(len as usize * self.element.bytes()),
            _ => None,
        }
    }

    /// Whether its values are plain numbers.
    pub fn is_number(&self) -> bool {
        self.logical.is_number()
    }

    /// Whether its values can be times: timestamps, and integers whose unit is not known.
    pub fn can_be_time(&self) -> bool {
        match self.logical {
            LogicalType::Number => matches!(self.element, ElementType::I32 | ElementType::I64),
            LogicalType::Timestamp { .. } => true,
            _ => false,
        }
    }

    /// The type of its values.
    pub fn property_type(&self) -> PropertyType {
        PropertyType { element: self.element, logical: self.logical.clone() }
    }

    /// The name of the type of its values, such as `i64`, `text` or `timestamp[us, UTC]`.
    pub fn type_name(&self) -> String {
        self.property_type().to_string()
    }
}
