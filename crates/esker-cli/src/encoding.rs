//! `--encoding` of verbs that store a graph.

use clap::ValueEnum;
use esker::store::format::Encoding;

/// How a graph is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum StoredEncoding {
    /// Uncompressed lists: the fastest.
    #[default]
    Plain,
    /// Difference-coded lists: about half the size, nearly as fast.
    Compressed,
    /// Tiles in addition to the lists: the smallest form, for analyses that stream the graph.
    Tiles,
}

impl StoredEncoding {
    /// The encoding of the lists; `None` leaves it unchanged.
    pub(crate) fn of_lists(self) -> Option<Encoding> {
        match self {
            Self::Plain => Some(Encoding::Plain),
            Self::Compressed => Some(Encoding::Compressed),
            Self::Tiles => None,
        }
    }

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        self.of_lists().map_or("tiles", name_of)
    }
}

/// The name of an encoding of lists on the command line.
pub(crate) fn name_of(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Plain => "plain",
        Encoding::Compressed => "compressed",
    }
}
