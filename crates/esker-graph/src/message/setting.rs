//! Settings of operations, as messages name them.

/// Declares the settings with the word that the library has for each.
macro_rules! settings {
    ($($(#[$doc:meta])+ $variant:ident = $word:literal,)+) => {
        /// What a caller can give an operation. A message names a setting so; a [`crate::Language`] has the
        /// word of one interface for it: an option of the command, an argument in Python.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum Setting {
            $($(#[$doc])+ $variant,)+
        }

        impl Setting {
            /// All settings.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word of the library, as in `bad_lines`. Different operations may have settings of the
            /// same word.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The name that distinguishes this setting from all others, for messages that cross from one
            /// process to another.
            pub fn tag(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($variant),)+
                }
            }
        }
    };
}

settings! {
    /// Whether vertices or edge properties that are missing are added.
    AddMissing = "add_missing",
    /// Whether an input without edges may remove all edges.
    AllowEmpty = "allow_empty",
    /// Whether vertices stay that a view leaves without an edge.
    AllVertices = "all_vertices",
    /// Whether a run reads a directed graph as an undirected one.
    AsUndirected = "as_undirected",
    /// The version that is read.
    At = "at",
    /// What happens to lines that cannot be read.
    BadLines = "bad_lines",
    /// Edges of one commit.
    BatchEdges = "batch_edges",
    /// Whether each undirected edge stands at both of its ends.
    BothEnds = "both_ends",
    /// Which end belongs to a window.
    Closed = "closed",
    /// When a stream commits.
    CommitEvery = "commit_every",
    /// The damping of PageRank.
    Damping = "damping",
    /// How an input writes its dates.
    DateFormat = "date_format",
    /// Whether numbers have a decimal comma.
    DecimalComma = "decimal_comma",
    /// A word that stands for no value in a table of text.
    Null = "null",
    /// The value of edges that lack one.
    Default = "default",
    /// An edge property that a change adds.
    Define = "define",
    /// What separates columns.
    Delimiter = "delimiter",
    /// The width of buckets of shortest paths.
    Delta = "delta",
    /// Whether an answer must not depend on timing.
    Deterministic = "deterministic",
    /// Whether edges have a direction.
    Directed = "directed",
    /// What happens to edges between the same two vertices.
    Duplicates = "duplicates",
    /// How lists of neighbours are kept or read.
    Encoding = "encoding",
    /// The time of a version.
    EventTime = "event_time",
    /// The format of a file.
    Format = "format",
    /// Whether a stream is read from its start.
    FromStart = "from_start",
    /// The number of neighbours of each vertex that a run keeps in memory.
    Head = "head",
    /// Whether the first line names the columns.
    Header = "header",
    /// The number of neighbours kept in memory for each vertex.
    Heads = "heads",
    /// The edges from which on a vertex is spread over the shards of a cluster.
    HubDegree = "hub_degree",
    /// The kind of ids.
    Ids = "ids",
    /// Whether in-edges are kept.
    InEdges = "in_edges",
    /// Rounds of label propagation.
    Iterations = "iterations",
    /// The kinds of edges that are read; in an import, the column that has them.
    Kind = "kind",
    /// Whether files of one kind each may begin new kinds.
    NewKinds = "new_kinds",
    /// Whether a report is JSON.
    Json = "json",
    /// What happens to edges that come late in a stream.
    Late = "late",
    /// Whether a listing names all algorithms.
    List = "list",
    /// The greatest depth of a search.
    MaxDepth = "max_depth",
    /// The memory limit.
    Memory = "memory",
    /// The column of a stream that says what happens to the edge of each row.
    Op = "op",
    /// Whether a file that exists is overwritten.
    Overwrite = "overwrite",
    /// The number of passes over the edges.
    Passes = "passes",
    /// Edge properties that are kept or written.
    Properties = "properties",
    /// An edge property that is read.
    Property = "property",
    /// Whether texts in quotes may hold delimiters.
    Quotes = "quotes",
    /// Whether what exists is replaced.
    Replace = "replace",
    /// Where a graph lies while it is read.
    Residency = "residency",
    /// Whether a run turns each edge round.
    Reverse = "reverse",
    /// The number of rounds.
    Rounds = "rounds",
    /// The number of samples.
    Samples = "samples",
    /// Types of columns.
    Schema = "schema",
    /// The seed of a hash or of random numbers.
    Seed = "seed",
    /// What happens to edges from a vertex to itself.
    SelfLoops = "self_loops",
    /// The number of shards.
    Shards = "shards",
    /// The vertex where a computation begins.
    Source = "source",
    /// The column of sources.
    SourceColumn = "source_column",
    /// The name of a stream.
    StreamName = "stream_name",
    /// The column of targets.
    TargetColumn = "target_column",
    /// The column or property of times.
    Time = "time",
    /// The unit of times.
    TimeUnit = "time_unit",
    /// The time zone of local times.
    Timezone = "timezone",
    /// Whether connections are encrypted.
    Tls = "tls",
    /// When an iteration ends.
    Tolerance = "tolerance",
    /// Whether an export has the numbers of vertices in place of their ids.
    VertexNumbers = "vertex_numbers",
    /// The file of vertex properties that an export writes.
    VertexProperties = "vertex_properties",
    /// The vertices of an input, or the file of ids that an export writes.
    Vertices = "vertices",
    /// The column or property of weights.
    Weight = "weight",
    /// The kind of weights of a cluster.
    Weights = "weights",
    /// Conditions on properties.
    Where = "where",
    /// The length of time whose edges a run reads.
    Window = "window",
}

impl Setting {
    /// The setting of a [tag](Self::tag).
    pub fn of_tag(tag: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|setting| setting.tag() == tag)
    }

    /// This setting with a value: a word of the setting, a number, or whether it is on.
    ///
    /// ```
    /// use esker_graph::{Message, Setting};
    ///
    /// assert_eq!(Message::from(Setting::Ids.to("text")).to_string(), "`ids = text`");
    /// assert_eq!(Message::from(Setting::Header.to(false)).to_string(), "`header = false`");
    /// ```
    pub fn to(self, value: impl Into<SettingValue>) -> Assignment {
        Assignment { setting: self, value: Some(value.into()) }
    }

    /// This setting with a value that the reader of the message chooses, named as in `LENGTH`.
    pub fn to_some(self, what: impl Into<String>) -> Assignment {
        Assignment { setting: self, value: Some(SettingValue::Blank(what.into())) }
    }

    /// This setting with the name of a column or property.
    pub fn to_name(self, name: impl Into<String>) -> Assignment {
        Assignment { setting: self, value: Some(SettingValue::Name(name.into())) }
    }

    /// This setting with the type of one column or property.
    pub fn to_type(self, name: impl Into<String>, kind: impl std::fmt::Display) -> Assignment {
        Assignment {
            setting: self,
            value: Some(SettingValue::Typed { name: name.into(), kind: kind.to_string() }),
        }
    }
}

/// An option of an algorithm, by the name that the catalogue of algorithms has for it, as in `max-depth`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AlgorithmOption {
    /// Its name.
    pub name: String,
    /// The value that the message gives it, if any.
    pub value: Option<String>,
}

impl AlgorithmOption {
    /// The option of this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), value: None }
    }

    /// This option with a value.
    #[must_use]
    pub fn to(self, value: impl Into<String>) -> Self {
        Self { value: Some(value.into()), ..self }
    }
}

impl std::fmt::Display for AlgorithmOption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.value {
            None => f.write_str(&self.name),
            Some(value) => write!(f, "{} = {value}", self.name),
        }
    }
}

/// The value that a message gives a [`Setting`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SettingValue {
    /// Whether it is on.
    Flag(bool),
    /// A number.
    Number(u64),
    /// One of the words of the setting, as in `text`.
    Word(String),
    /// A name from the data, as of a column.
    Name(String),
    /// The type of a column or property.
    Typed {
        /// The column or property.
        name: String,
        /// Its type.
        kind: String,
    },
    /// What the reader of the message chooses, as in `FILE`.
    Blank(String),
}

impl From<bool> for SettingValue {
    fn from(on: bool) -> Self {
        Self::Flag(on)
    }
}

impl From<u64> for SettingValue {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for SettingValue {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

impl From<String> for SettingValue {
    fn from(word: String) -> Self {
        Self::Word(word)
    }
}

impl std::fmt::Display for SettingValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag(on) => on.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Word(text) | Self::Name(text) | Self::Blank(text) => f.write_str(text),
            Self::Typed { name, kind } => write!(f, "{name}:{kind}"),
        }
    }
}

/// A setting that a message names, and the value that it may have there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Assignment {
    /// The setting.
    pub setting: Setting,
    /// The value; `None`: the message names the setting alone.
    pub value: Option<SettingValue>,
}

impl From<Setting> for Assignment {
    fn from(setting: Setting) -> Self {
        Self { setting, value: None }
    }
}

impl std::fmt::Display for Assignment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.value {
            None => f.write_str(self.setting.word()),
            Some(value) => write!(f, "{} = {value}", self.setting.word()),
        }
    }
}
