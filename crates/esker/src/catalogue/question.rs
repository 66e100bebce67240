//! The questions that algorithms answer, by which lists of them are grouped.

/// What an algorithm is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// How far apart are vertices?
    Paths,
    /// How much can go from one vertex to another?
    Flow,
    /// Which vertices matter?
    Centrality,
    /// What hangs together?
    Components,
    /// In what order do edges put the vertices?
    Order,
    /// Which groups are there?
    Communities,
    /// Which vertices are alike?
    Similarity,
    /// How many edges has each vertex, and to which kind of vertex?
    Degrees,
    /// Where are edges dense?
    Density,
    /// Which vertices or edges should be chosen?
    Sets,
}

impl Question {
    /// All, in the order of lists.
    pub const ALL: &[Self] = &[
        Self::Paths,
        Self::Flow,
        Self::Centrality,
        Self::Components,
        Self::Order,
        Self::Communities,
        Self::Similarity,
        Self::Degrees,
        Self::Density,
        Self::Sets,
    ];

    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Paths => "How far apart are vertices?",
            Self::Flow => "How much can go from one vertex to another?",
            Self::Centrality => "Which vertices matter?",
            Self::Components => "What hangs together?",
            Self::Order => "In what order do edges put the vertices?",
            Self::Communities => "Which groups are there?",
            Self::Similarity => "Which vertices are alike?",
            Self::Degrees => "How many edges has each vertex, and to which kind of vertex?",
            Self::Density => "Where are edges dense?",
            Self::Sets => "Which vertices or edges to choose?",
        }
    }
}
