//! The error for an edge that the input has more than once.

use esker_format::{Error, Result};
use esker_graph::VertexId;

use crate::build::edges::{EdgeBuffer, Edges};
use crate::build::lists::Duplicate;
use crate::build::renumbered::Renumbered;
use crate::keys::NumberedIds;
use crate::sort::scratch::Workspace;

/// An edge that the input has more than once.
pub(crate) struct Twice<'a> {
    pub(crate) work: &'a Workspace,
    pub(crate) edges: &'a Edges,
    pub(crate) found: Duplicate,
    /// Whether an edge back is the same edge.
    pub(crate) is_either: bool,
    /// The property that holds the kinds.
    pub(crate) kind: Option<usize>,
}

/// Where the input has an edge.
#[derive(Clone, Copy)]
struct Occurrence {
    /// Its number among the edges, from 1.
    number: u64,
    source: VertexId,
    target: VertexId,
}

impl Twice<'_> {
    /// The error, which names the edge and its first two occurrences.
    pub(crate) fn error(&self, renumbered: &Renumbered, map: Option<&dyn NumberedIds>) -> Result<Error> {
        let memory = match renumbered {
            Renumbered::Memory(vertices, _) => Some(vertices),
            Renumbered::No | Renumbered::Disk(_) => None,
        };
        let last = |number: VertexId| memory.map_or(number, |vertices| vertices[number as usize]);
        let found = self.occurrences(last)?;
        let [first, second] = found[..] else {
            return Ok(Error::invalid(
                "an edge was counted twice but is there once: a bug of Esker".to_owned(),
            ));
        };
        let number_of = |v: VertexId| match renumbered {
            // The edges were renumbered, not only their lists.
            Renumbered::Disk(vertices) => {
                let mut cursor = vertices.cursor();
                let mut number = 0;
                while cursor.next_record()?.is_some_and(|other| other != v) {
                    number += 1;
                }
                Ok(number)
            }
            Renumbered::No | Renumbered::Memory(..) => Ok::<_, Error>(v as usize as u64),
        };
        let name = |v: VertexId| match (number_of(v)?, map) {
            (number, Some(map)) => map.name(number),
            (number, None) => Ok((self.edges.base() + number).to_string()),
        };
        Ok(Error::invalid(format!(
            "the edge from {} to {}{} is in the input more than once, first as edges {} and {}: leave one out, or choose \
             another rule for duplicates",
            name(second.source)?,
            name(second.target)?,
            self.kind_name().map_or_else(String::new, |kind| format!(" of the kind {kind:?}")),
            first.number,
            second.number,
        )))
    }

    /// The name of its kind.
    fn kind_name(&self) -> Option<String> {
        let text = self.edges.dictionaries.get(self.kind?)?.text(self.found.kind? as usize).ok()??;
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    /// The first two occurrences. `last` gives the vertex in the lists.
    fn occurrences(&self, last: impl Fn(VertexId) -> VertexId) -> Result<Vec<Occurrence>> {
        let Duplicate { source, target, kind } = self.found;
        let word = self.kind.map(|kind| self.edges.layouts[kind].word);
        let (mut number, mut found, mut buffer) = (0, Vec::new(), EdgeBuffer::default());
        for block in 0..self.edges.num_blocks() {
            self.work.check()?;
            let mut kinds = Vec::new();
            if let Some(word) = word {
                self.edges.read_words(block, &mut buffer)?;
                kinds.extend(buffer.words.chunks_exact(self.edges.words).map(|words| words[word]));
            }
            let mut kinds = kinds.into_iter();
            self.edges.for_each(block, &mut buffer, |u, v| {
                number += 1;
                let own = kinds.next();
                let ends = (last(u), last(v));
                let is_same = ends == (source, target) || (self.is_either && ends == (target, source));
                if found.len() < 2 && is_same && own == kind {
                    found.push(Occurrence { number, source: u, target: v });
                }
                Ok(())
            })?;
            if found.len() == 2 {
                break;
            }
        }
        Ok(found)
    }
}
