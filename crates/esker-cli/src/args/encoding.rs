//! `--encoding` of verbs that store a graph.

use clap::{Args, ValueEnum};
use esker::store::format::Encoding;

use crate::failure::{Failure, Outcome};

/// How a graph is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum StoredEncoding {
    /// Uncompressed lists: the fastest.
    #[default]
    Plain,
    /// Difference-coded lists: about half the size, nearly as fast.
    Compressed,
    /// Tiles in addition to the lists, or with --only instead of them: the smallest form, for analyses that
    /// stream the graph.
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

/// Whether the encoding is stored alone.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct OnlyArgs {
    /// With `--encoding tiles`: store no lists beside the tiles. This takes the least disk space, but single
    /// lists are decoded from tiles
    #[arg(long)]
    only: bool,
}

impl OnlyArgs {
    /// Whether there are to be tiles and no lists.
    pub(crate) fn is_set(self) -> bool {
        self.only
    }

    /// Refuses it where it says nothing, or asks for what it excludes.
    pub(crate) fn check(self, encoding: Option<StoredEncoding>, heads: bool) -> Outcome {
        let reason = match (self.only, encoding) {
            (false, _) => return Ok(()),
            (true, Some(StoredEncoding::Tiles)) if heads => {
                "--only stores no lists, and heads are of lists: leave out --heads or --only"
            }
            (true, Some(StoredEncoding::Tiles)) => return Ok(()),
            (true, _) => "--only keeps tiles instead of lists: it needs --encoding tiles",
        };
        Err(Failure::Usage(reason.to_owned()))
    }
}

/// The name of an encoding of lists on the command line.
pub(crate) fn name_of(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Plain => "plain",
        Encoding::Compressed => "compressed",
        Encoding::Tiles => "tiles",
    }
}
