//! The ways in which a graph can be read.

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Lists of neighbours.
    Lists,
    /// Tiles.
    Tiles,
}

/// What is read, and how it lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The lists, plain or compressed, mapped.
    Lists,
    /// The tiles, mapped.
    Tiles,
    /// The tiles, in a fixed memory.
    PooledTiles,
    /// Plain lists, the first neighbours of each vertex in memory.
    Headed,
    /// The lists, plain or compressed, in a fixed memory.
    PooledLists,
}

/// What there is to compute with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Means {
    /// Worker threads.
    pub threads: usize,
    /// Whether the run is deterministic.
    pub deterministic: bool,
    /// The most bytes to take.
    pub memory_bytes: u64,
    /// The most bytes that mapped files may take too: more than the former if nobody set a limit.
    pub mapped_bytes: u64,
}

/// One way to read the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// What is read.
    pub form: Form,
    /// Bytes of the graph in this form.
    pub graph_bytes: u64,
    /// The least limit with which it can be done: the algorithm's arrays, and what the form must have.
    pub least_bytes: u64,
    /// Memory that holds everything, the whole graph too.
    pub whole_bytes: u64,
    /// Why the database does not allow it.
    pub obstacle: Option<String>,
    /// Why it is not chosen unasked.
    pub unsuited: Option<String>,
}
