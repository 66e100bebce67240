//! Names and kinds of the columns of one direction of a layer.

use std::path::{Path, PathBuf};

use esker_graph::Direction;

use crate::format::ColumnKind;

/// A column of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionColumn {
    /// Main: where each list begins.
    Offsets,
    /// Main: the lists.
    Targets,
    /// Main, coded: sums before each group of lists.
    Groups,
    /// Main, coded: the sizes of the lists of each group.
    Sizes,
    /// Main, coded: the lists.
    Lists,
    /// Main, coded: where the blocks of long lists begin.
    Blocks,
    /// Main: an edge property, by number.
    Property(u32),
    /// Main: the code of the version that each arc was born in.
    Born,
    /// The directory of a layer that is not complete: which vertices have fragments.
    Vertices,
    /// For each fragment, the length of the whole list at the end of the range.
    Degrees,
    /// For each fragment, where the list goes on.
    Previous,
    /// Tombstones: the vertices that have some.
    DeadVertices,
    /// Tombstones: where those of each vertex begin.
    DeadOffsets,
    /// Tombstones: the targets.
    DeadTargets,
    /// Tombstones: the codes of their versions.
    DeadCodes,
    /// Past arcs: the vertices that have some.
    PastVertices,
    /// Past arcs: where those of each vertex begin.
    PastOffsets,
    /// Past arcs: the targets.
    PastTargets,
    /// Past arcs: the codes of the versions that they were born in.
    PastBorn,
    /// Past arcs: the codes of the versions that they died in.
    PastDied,
    /// Past arcs: an edge property, by number.
    PastProperty(u32),
}

impl SectionColumn {
    /// The file of the column in the directory of a layer.
    pub fn path(self, layer: &Path, direction: Direction) -> PathBuf {
        let side = match direction {
            Direction::Out => "out",
            Direction::In => "in",
        };
        let what = match self {
            Self::Offsets => "offsets",
            Self::Targets => "targets",
            Self::Groups => "groups",
            Self::Sizes => "sizes",
            Self::Lists => "lists",
            Self::Blocks => "blocks",
            Self::Born => "born",
            Self::Vertices => "vertices",
            Self::Degrees => "degrees",
            Self::Previous => "previous",
            Self::DeadVertices => "dead.vertices",
            Self::DeadOffsets => "dead.offsets",
            Self::DeadTargets => "dead.targets",
            Self::DeadCodes => "dead.codes",
            Self::PastVertices => "past.vertices",
            Self::PastOffsets => "past.offsets",
            Self::PastTargets => "past.targets",
            Self::PastBorn => "past.born",
            Self::PastDied => "past.died",
            Self::Property(number) => return layer.join(format!("{side}.property.{number}")),
            Self::PastProperty(number) => return layer.join(format!("{side}.past.property.{number}")),
        };
        layer.join(format!("{side}.{what}"))
    }

    /// What the header of the file says.
    pub fn kind(self, direction: Direction) -> ColumnKind {
        use ColumnKind as Kind;
        let (out, incoming) = match self {
            Self::Offsets => (Kind::OutOffsets, Kind::InOffsets),
            Self::Targets => (Kind::OutTargets, Kind::InTargets),
            Self::Groups => (Kind::OutGroups, Kind::InGroups),
            Self::Sizes => (Kind::OutSizes, Kind::InSizes),
            Self::Lists => (Kind::OutLists, Kind::InLists),
            Self::Blocks => (Kind::OutBlocks, Kind::InBlocks),
            Self::Property(_) => (Kind::OutProperty, Kind::InProperty),
            Self::Born => (Kind::OutBorn, Kind::InBorn),
            Self::Vertices => (Kind::OutVertices, Kind::InVertices),
            Self::Degrees => (Kind::OutDegrees, Kind::InDegrees),
            Self::Previous => (Kind::OutPrevious, Kind::InPrevious),
            Self::DeadVertices => (Kind::OutDeadVertices, Kind::InDeadVertices),
            Self::DeadOffsets => (Kind::OutDeadOffsets, Kind::InDeadOffsets),
            Self::DeadTargets => (Kind::OutDeadTargets, Kind::InDeadTargets),
            Self::DeadCodes => (Kind::OutDeadCodes, Kind::InDeadCodes),
            Self::PastVertices => (Kind::OutPastVertices, Kind::InPastVertices),
            Self::PastOffsets => (Kind::OutPastOffsets, Kind::InPastOffsets),
            Self::PastTargets => (Kind::OutPastTargets, Kind::InPastTargets),
            Self::PastBorn => (Kind::OutPastBorn, Kind::InPastBorn),
            Self::PastDied => (Kind::OutPastDied, Kind::InPastDied),
            Self::PastProperty(_) => (Kind::OutPastProperty, Kind::InPastProperty),
        };
        match direction {
            Direction::Out => out,
            Direction::In => incoming,
        }
    }
}
