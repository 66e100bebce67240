//! File names and kinds of the columns of one direction of a layer.

use std::path::{Path, PathBuf};

use esker_format::ColumnKind;
use esker_graph::Direction;

/// A column of one direction of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionColumn {
    /// Main lists: the offset of each list.
    Offsets,
    /// Main lists: the targets.
    Targets,
    /// Main lists, compressed: arcs and bytes before each group of lists.
    Groups,
    /// Main lists, compressed: the sizes of the lists of each group.
    Sizes,
    /// Main lists, compressed: the encoded lists.
    Lists,
    /// Main lists, compressed: the start of each block of long lists.
    Blocks,
    /// Main lists: an edge property, by number.
    Property(u32),
    /// Main lists: the code of the version in which each arc was born.
    Born,
    /// The directory of a layer that is not complete: the vertices that have fragments.
    Vertices,
    /// For each fragment, the degree of its vertex at the end of the range.
    Degrees,
    /// For each fragment, the address of the next older fragment.
    Previous,
    /// Tombstones: the vertices that have any.
    DeadVertices,
    /// Tombstones: the offset of each vertex's tombstones.
    DeadOffsets,
    /// Tombstones: the targets.
    DeadTargets,
    /// Tombstones: the codes of their versions.
    DeadCodes,
    /// Past arcs: the vertices that have any.
    PastVertices,
    /// Past arcs: the offset of each vertex's past arcs.
    PastOffsets,
    /// Past arcs: the targets.
    PastTargets,
    /// Past arcs: the codes of the versions in which they were born.
    PastBorn,
    /// Past arcs: the codes of the versions in which they died.
    PastDied,
    /// Past arcs: an edge property, by number.
    PastProperty(u32),
}

impl SectionColumn {
    /// The path of the column in a layer's directory.
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

    /// The column kind in the header of the file.
    pub(crate) fn kind(self, direction: Direction) -> ColumnKind {
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
