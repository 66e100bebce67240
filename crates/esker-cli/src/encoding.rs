//! How the graph is kept, as the user says it.

use clap::ValueEnum;
use esker::store::format::Encoding;

/// How the graph is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum StoredEncoding {
    /// Lists as they are: the fastest.
    #[default]
    Plain,
    /// Lists as differences in few bits: about half the size, nearly as fast.
    Compressed,
    /// Tiles beside the lists: the smallest, for analyses that stream the graph.
    Tiles,
}

impl StoredEncoding {
    /// How lists of neighbours are kept; none if they stay as they are.
    pub(crate) fn of_lists(self) -> Option<Encoding> {
        match self {
            Self::Plain => Some(Encoding::Plain),
            Self::Compressed => Some(Encoding::Compressed),
            Self::Tiles => None,
        }
    }

    /// Its name, as the user says it.
    pub(crate) fn name(self) -> &'static str {
        self.of_lists().map_or("tiles", name_of)
    }
}

/// The name of an encoding, as the user says it.
pub(crate) fn name_of(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Plain => "plain",
        Encoding::Compressed => "compressed",
    }
}
