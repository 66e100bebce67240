//! The two copies of each undirected edge in an input that has it at both of its ends.

use std::hash::{DefaultHasher, Hash, Hasher};

use esker_graph::{Cancel, Setting, message};
use esker_import::read::source::id_at;
use esker_store::format::Duplicates;
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{Error, Result};

use super::columns::directions;
use super::edge_input::EdgeInput;
use super::target::Target;
use super::value::{InputValue, convert_or_widen};

/// Skips one of the two copies of each edge.
#[derive(Default)]
pub(super) struct Copies {
    /// The hashes of the edges that were taken, less those of the ones that were skipped.
    difference: u64,
}

impl Copies {
    /// Whether this copy of an edge is skipped. Both copies have the same values.
    pub(super) fn skips(
        &mut self,
        source: ExternalId<'_>,
        target: ExternalId<'_>,
        values: &[PropertyValue<'_>],
    ) -> bool {
        let mut hasher = DefaultHasher::new();
        (source.min(target), source.max(target)).hash(&mut hasher);
        values.iter().for_each(|value| value.to_string().hash(&mut hasher));
        let hash = hasher.finish();
        if source < target {
            self.difference = self.difference.wrapping_add(hash);
        } else if source > target {
            self.difference = self.difference.wrapping_sub(hash);
        }
        source > target
    }

    /// Refuses a whole input that has one copy only of some edge. A stream may begin or end between the two.
    pub(super) fn expect_both(&self) -> Result<()> {
        match self.difference {
            0 => Ok(()),
            _ => Err(Error::invalid(
                "each edge is read as standing at both of its ends, but some stand at one end only, or with other \
                 values at the other: add their other rows or mend them, or let the database forget how files are read",
            )),
        }
    }
}

impl EdgeInput {
    /// Reads the input ahead, if its edges are taken once of two copies, and refuses it if some edge has one
    /// only: parts of it may be committed before its end.
    ///
    /// # Errors
    /// [`Error::Invalid`] then, or if it cannot be read twice; those of reading.
    pub(super) fn expect_both_ends(&self, target: &Target, rule: Duplicates, cancel: &Cancel) -> Result<()> {
        let (_, _, is_once) = directions(target, self.reader.as_ref(), rule, self.purpose);
        if !is_once {
            return Ok(());
        }
        let Some(again) = &self.again else {
            return Err(Error::invalid(message![
                "each edge is read as standing at both of its ends, and a commit of a part may come between its \
                 rows, which cannot be read ahead here: name a file, or commit all at once without ",
                Setting::BatchEdges,
            ]));
        };
        let (mut reader, mut copies) = (again()?, Copies::default());
        let parser = reader.parser();
        while let Some(block) = reader.next_block()? {
            cancel.check()?;
            let rows = parser.parse(block)?;
            for row in 0..rows.len() {
                let columns = self.properties.iter().zip(&self.places);
                let value = |(property, &place): (_, &usize)| {
                    convert_or_widen(property, InputValue::of(&rows.properties[place], row))
                };
                // A value that cannot be taken is told of where its edge is.
                let values: Vec<_> = columns.filter_map(|column| value(column).ok()).collect();
                copies.skips(id_at(&rows.source, row), id_at(&rows.target, row), &values);
            }
        }
        copies.expect_both()
    }
}
