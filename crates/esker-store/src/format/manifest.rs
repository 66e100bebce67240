//! Tables of the manifest. What they mean together is told in `version/README.md`.

use esker_graph::Direction;

use super::field::{Input, Value, codes, layout};
use super::header::{DatabaseId, ElementType};
use super::tile::TilesRecord;
use crate::error::Result;

/// MANIFEST begins with it.
pub const MANIFEST_MAGIC: [u8; 8] = *b"ESKERman";

layout! {
    /// The start of MANIFEST. Zeros follow up to byte 4092; there lies the CRC-32C of the bytes before. Records follow.
    pub struct ManifestHeader {
        /// `ESKERman`.
        magic: [u8; 8],
        /// Version of the format.
        format_version: u32,
        /// The database.
        database: DatabaseId,
        /// Width of vertex ids: 4 or 8.
        vertex_bytes: u8,
        /// When the database was made: milliseconds since 1970, UTC.
        created_ms: u64,
        /// Number of the first record: 1, or that of the last one before MANIFEST was written anew.
        first_record: u64,
    }
}

layout! {
    /// The start of a record of MANIFEST; the edits follow. All edits of a record hold together, or none.
    pub struct RecordHeader {
        /// Bytes of the record, this header included.
        bytes: u32,
        /// CRC-32C of the record but for these four bytes.
        checksum: u32,
        /// Number of the record: one more than that of the record before. A last one without edits has the number of the record
        /// before it instead, and says that this one was synced; the next record takes its place.
        number: u64,
        /// Number of edits.
        edits: u32,
    }
}

codes! {
    /// What an edit does; the code precedes it.
    pub enum EditKind: u16 {
        /// A `LayerRecord`: a layer is installed.
        AddLayer = 1,
        /// An `IdMapRecord`: how external ids and vertices are related.
        SetIdMap = 2,
        /// A `PropertyRecord`: a property is defined.
        AddProperty = 3,
        /// A `VersionRecord`: a version is published.
        AddVersion = 4,
        /// A number, u32: the layer is no more.
        RemoveLayer = 5,
        /// A `TagRecord`: a version gets a name, which no other has any more.
        SetTag = 6,
        /// A text: the name is nobody's any more.
        RemoveTag = 7,
        /// A number, u64: the version is no more.
        RemoveVersion = 8,
        /// A `RetentionRecord`: which versions are kept.
        SetRetention = 9,
        /// A `TilesRecord`: a layer has tiles beside its lists. They go with the layer.
        SetTiles = 10,
        /// A number, u32: the layer has no tiles any more.
        RemoveTiles = 11,
    }
}

codes! {
    /// How a layer keeps its lists.
    pub enum Encoding: u8 {
        /// Arrays of ids.
        Plain = 1,
        /// Differences in few bits; only complete layers, and of these only what is alive at the end of the range.
        Compressed = 2,
    }
}

layout! {
    /// Sizes of the lists of one direction of a layer; all 0 if it is not kept.
    #[derive(Copy, Default)]
    pub struct SectionRecord {
        /// Vertices with a list (a complete layer: all) or a fragment of one.
        lists: u64,
        /// Arcs of these lists: those alive at the end of the range.
        arcs: u64,
        /// Vertices with tombstones.
        dead_lists: u64,
        /// Tombstones: pairs of ends whose arcs in older layers are dead.
        dead_arcs: u64,
        /// Vertices with arcs that lived and died within the range.
        past_lists: u64,
        /// Such arcs.
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
    /// A layer. Its columns lie in `layers/<number>.columns` and `layers/<number>/`.
    pub struct LayerRecord {
        /// Number of the layer: 24 bits, never used twice.
        number: u32,
        /// The first version that it holds changes of.
        first_version: u64,
        /// The last one.
        last_version: u64,
        /// How many versions it tells apart. If more than one, the column `versions` names them and columns of codes stand
        /// beside the arcs.
        num_versions: u32,
        /// How it keeps lists.
        encoding: Encoding,
        /// Whether it holds all lists, so that no older layer matters; else fragments of the lists that changed.
        complete: bool,
        /// Whether out-lists and in-lists differ.
        directed: bool,
        /// Whether there may be several edges between the same two vertices.
        multigraph: bool,
        /// Whether in-lists are kept. Never for an undirected graph: they are its out-lists.
        in_edges: bool,
        /// Number of vertices of the graph at the end of the range.
        num_vertices: u64,
        /// Number of edges of the graph then; an undirected one counts once.
        num_edges: u64,
        /// Entries of all out-lists then: an undirected edge counts twice, a self-loop once.
        num_arcs: u64,
        /// Number of edges from a vertex to itself then.
        num_loops: u64,
        /// Its out-lists.
        out: SectionRecord,
        /// Its in-lists.
        incoming: SectionRecord,
        /// Vertices whose external ids it adds to the id map: the last ones of its `num_vertices`.
        num_new_ids: u64,
        /// What it adds to the dictionaries of edge properties.
        dictionaries: Vec<DictionaryRecord>,
        /// Numbers of the vertex properties that it holds values of.
        vertex_properties: Vec<u32>,
    }
}

impl LayerRecord {
    /// The first layer of a database: complete, version 1 alone, lists as `shape` says.
    pub fn first(shape: &GraphShape) -> Self {
        let lists = |kept: bool| SectionRecord {
            lists: if kept { shape.num_vertices } else { 0 },
            arcs: if kept { shape.num_arcs } else { 0 },
            ..SectionRecord::default()
        };
        Self {
            number: 1,
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

/// What kind of graph it is, and its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GraphShape {
    /// Whether out-lists and in-lists differ.
    pub directed: bool,
    /// Whether there may be several edges between the same two vertices.
    pub multigraph: bool,
    /// Whether in-lists of a directed graph are kept.
    pub in_edges: bool,
    /// Number of vertices.
    pub num_vertices: u64,
    /// Number of edges; an undirected one counts once.
    pub num_edges: u64,
    /// Entries of all out-lists.
    pub num_arcs: u64,
    /// Number of edges from a vertex to itself.
    pub num_loops: u64,
}

codes! {
    /// How external ids and vertices are related.
    pub enum IdMapKind: u8 {
        /// The external id is the vertex plus `base`. No files.
        Identity = 1,
        /// Dense integers in another order.
        Permuted = 2,
        /// Sparse integers.
        Integers = 3,
        /// Texts.
        Texts = 4,
    }
}

codes! {
    /// In which order vertices are numbered.
    pub enum VertexOrder: u8 {
        /// As they came.
        Keep = 1,
        /// By descending degree.
        Degree = 2,
    }
}

layout! {
    /// The id map. Its columns lie in `ids.columns` and `ids/`.
    pub struct IdMapRecord {
        /// How ids and vertices are related.
        kind: IdMapKind,
        /// The least external id of dense integers; else 0.
        base: u64,
        /// In which order vertices are numbered.
        order: VertexOrder,
    }
}

codes! {
    /// What has a property.
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
        /// Its number, which is in the names of its files: from 0, separately for edges and for vertices.
        number: u32,
        /// What has it.
        owner: Owner,
        /// Its name.
        name: String,
        /// Type of its values; of the codes, if they are texts.
        element: ElementType,
        /// Whether values are texts: of edges, codes, which are positions in a dictionary; of vertices, the texts themselves.
        texts: bool,
        /// Whether it is the weight of the edges.
        weight: bool,
    }
}

layout! {
    /// A version.
    pub struct VersionRecord {
        /// Its number, from 1.
        number: u64,
        /// When it was published: milliseconds since 1970, UTC.
        time_ms: u64,
        /// What its author says of it.
        message: String,
        /// Number of vertices, those that were removed included.
        num_vertices: u64,
        /// Number of edges; an undirected one counts once.
        num_edges: u64,
        /// Entries of all out-lists.
        num_arcs: u64,
        /// Number of edges from a vertex to itself.
        num_loops: u64,
    }
}

impl VersionRecord {
    /// The version at the end of the range of a layer.
    pub fn at_end_of(layer: &LayerRecord, time_ms: u64, message: String) -> Self {
        let LayerRecord { last_version: number, num_vertices, num_edges, num_arcs, num_loops, .. } = *layer;
        Self { number, time_ms, message, num_vertices, num_edges, num_arcs, num_loops }
    }
}

layout! {
    /// A name for a version.
    pub struct TagRecord {
        /// The name.
        name: String,
        /// The version.
        version: u64,
    }
}

codes! {
    /// A rule by which versions are kept. Those with tags are, by any.
    pub enum RetentionKind: u8 {
        /// All.
        All = 1,
        /// The newest ones, so many.
        Last = 2,
        /// Those that were the newest at a time or later: milliseconds since 1970, UTC.
        Since = 3,
    }
}

layout! {
    /// Which versions are kept.
    pub struct RetentionRecord {
        /// The rule.
        kind: RetentionKind,
        /// Its number; 0 if it has none.
        amount: u64,
    }
}

/// Which versions are kept. Those with tags are, by any rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Retention {
    /// All.
    #[default]
    All,
    /// The newest ones, so many.
    Last(u64),
    /// Those that were the newest at a time or later: milliseconds since 1970, UTC.
    Since(u64),
}

impl Value for Retention {
    fn type_name() -> String {
        RetentionRecord::type_name()
    }

    fn put(&self, out: &mut Vec<u8>) {
        let (kind, amount) = match *self {
            Self::All => (RetentionKind::All, 0),
            Self::Last(count) => (RetentionKind::Last, count),
            Self::Since(time_ms) => (RetentionKind::Since, time_ms),
        };
        RetentionRecord { kind, amount }.put(out);
    }

    fn take(input: &mut Input<'_>) -> Result<Self> {
        let record = RetentionRecord::take(input)?;
        Ok(match record.kind {
            RetentionKind::All => Self::All,
            RetentionKind::Last => Self::Last(record.amount),
            RetentionKind::Since => Self::Since(record.amount),
        })
    }
}

/// A change to what the manifest says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// See [`EditKind::AddLayer`].
    AddLayer(LayerRecord),
    /// See [`EditKind::SetIdMap`].
    SetIdMap(IdMapRecord),
    /// See [`EditKind::AddProperty`].
    AddProperty(PropertyRecord),
    /// See [`EditKind::AddVersion`].
    AddVersion(VersionRecord),
    /// See [`EditKind::RemoveLayer`].
    RemoveLayer {
        /// Its number.
        number: u32,
    },
    /// See [`EditKind::SetTag`].
    SetTag(TagRecord),
    /// See [`EditKind::RemoveTag`].
    RemoveTag {
        /// The tag.
        name: String,
    },
    /// See [`EditKind::RemoveVersion`].
    RemoveVersion {
        /// Its number.
        number: u64,
    },
    /// See [`EditKind::SetRetention`].
    SetRetention(Retention),
    /// See [`EditKind::SetTiles`].
    SetTiles(TilesRecord),
    /// See [`EditKind::RemoveTiles`].
    RemoveTiles {
        /// The layer.
        layer: u32,
    },
}

impl Value for Edit {
    fn type_name() -> String {
        "EditKind, then what it names".to_owned()
    }

    fn put(&self, out: &mut Vec<u8>) {
        let mut put = |kind: EditKind, body: &dyn Fn(&mut Vec<u8>)| {
            kind.put(out);
            body(out);
        };
        match self {
            Self::AddLayer(record) => put(EditKind::AddLayer, &|out| record.put(out)),
            Self::SetIdMap(record) => put(EditKind::SetIdMap, &|out| record.put(out)),
            Self::AddProperty(record) => put(EditKind::AddProperty, &|out| record.put(out)),
            Self::AddVersion(record) => put(EditKind::AddVersion, &|out| record.put(out)),
            Self::RemoveLayer { number } => put(EditKind::RemoveLayer, &|out| number.put(out)),
            Self::SetTag(record) => put(EditKind::SetTag, &|out| record.put(out)),
            Self::RemoveTag { name } => put(EditKind::RemoveTag, &|out| name.put(out)),
            Self::RemoveVersion { number } => put(EditKind::RemoveVersion, &|out| number.put(out)),
            Self::SetRetention(retention) => put(EditKind::SetRetention, &|out| retention.put(out)),
            Self::SetTiles(record) => put(EditKind::SetTiles, &|out| record.put(out)),
            Self::RemoveTiles { layer } => put(EditKind::RemoveTiles, &|out| layer.put(out)),
        }
    }

    fn take(input: &mut Input<'_>) -> Result<Self> {
        Ok(match EditKind::take(input)? {
            EditKind::AddLayer => Self::AddLayer(Value::take(input)?),
            EditKind::SetIdMap => Self::SetIdMap(Value::take(input)?),
            EditKind::AddProperty => Self::AddProperty(Value::take(input)?),
            EditKind::AddVersion => Self::AddVersion(Value::take(input)?),
            EditKind::RemoveLayer => Self::RemoveLayer { number: Value::take(input)? },
            EditKind::SetTag => Self::SetTag(Value::take(input)?),
            EditKind::RemoveTag => Self::RemoveTag { name: Value::take(input)? },
            EditKind::RemoveVersion => Self::RemoveVersion { number: Value::take(input)? },
            EditKind::SetRetention => Self::SetRetention(Value::take(input)?),
            EditKind::SetTiles => Self::SetTiles(Value::take(input)?),
            EditKind::RemoveTiles => Self::RemoveTiles { layer: Value::take(input)? },
        })
    }
}
