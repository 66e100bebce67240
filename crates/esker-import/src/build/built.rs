//! What an import has built, before it is installed.

use esker_format::{ElementType, LogicalType, PropertyType};
use esker_graph::VertexId;

use crate::build::texts::SortedTexts;
use crate::build::vertex_rows::SortedRows;
use crate::keys::NumberedIds;
use crate::options::ImportReport;
use crate::read::source::Schema;
use crate::sort::scratch::Workspace;
use crate::sort::spool::Spool;

/// How the user's ids relate to vertices.
pub(crate) enum BuiltIds {
    /// Vertex `v` is the integer `base + v`.
    Identity {
        /// The least id.
        base: u64,
    },
    /// Vertex `renumbered[i]` is the integer `base + i`.
    Permuted {
        /// The least id.
        base: u64,
        /// A permutation of the vertices.
        renumbered: Spool<VertexId>,
    },
    /// A map of integers with gaps or of texts, still to be written.
    Mapped {
        /// The keys by number.
        map: Box<dyn NumberedIds>,
        /// The vertex of each number, if it is not the number itself.
        renumbered: Option<Spool<VertexId>>,
    },
}

/// A property of the edges as it was stored.
pub(crate) struct BuiltProperty {
    /// Its name.
    pub(crate) name: String,
    /// The type of its values.
    pub(crate) element: ElementType,
    /// What they are.
    pub(crate) logical: LogicalType,
    /// Its texts in order of their codes, if it is of texts.
    pub(crate) dictionary: SortedTexts,
    /// Whether edges may be without a value.
    pub(crate) optional: bool,
}

impl BuiltProperty {
    /// The properties of an input, stored as these types, with the texts of each.
    pub(crate) fn all(
        schema: &Schema,
        elements: Vec<ElementType>,
        dictionaries: Vec<SortedTexts>,
        optional: &[bool],
    ) -> Vec<Self> {
        let properties = schema.properties.iter().cloned().enumerate().zip(elements).zip(dictionaries);
        let built = |(((index, name), element), dictionary): (((usize, String), _), _)| Self {
            optional: optional[index],
            ..Self::of(name, schema.declared(index), element, dictionary)
        };
        properties.map(built).collect()
    }

    fn of(
        name: String,
        declared: Option<&PropertyType>,
        element: ElementType,
        dictionary: SortedTexts,
    ) -> Self {
        let logical = match (declared, element) {
            (Some(declared), _) => declared.logical.clone(),
            // Numbers get so narrow a type only if it is declared.
            (None, ElementType::U8 | ElementType::U16 | ElementType::U32) => LogicalType::Text,
            (None, _) => LogicalType::Number,
        };
        Self { name, element, logical, dictionary, optional: false }
    }
}

/// A base layer that was written, and what else belongs to it.
pub(crate) struct Built {
    /// What was done.
    pub(crate) report: ImportReport,
    /// Self-loops that were stored.
    pub(crate) loops: u64,
    /// Whether the layer has lists of incoming edges.
    pub(crate) in_edges: bool,
    /// The ids.
    pub(crate) ids: BuiltIds,
    /// The properties of the edges, in the order of the schema.
    pub(crate) properties: Vec<BuiltProperty>,
    /// Which of them is the weight.
    pub(crate) weight: Option<usize>,
    /// Index of the property that holds the kinds.
    pub(crate) kind: Option<usize>,
    /// Which of them was named as the time.
    pub(crate) time: Option<usize>,
    /// The properties of the vertices, still to be written.
    pub(crate) vertex_rows: SortedRows,
    /// Memory and threads for what remains to be done.
    pub(crate) work: Workspace,
}
