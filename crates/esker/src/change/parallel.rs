//! Lines of change scripts that mean some of several parallel edges.

use esker_store::EdgeMatch;
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;

use super::script::{LineResult, RawValue, ScriptParser, Word, new_values, refuse};
use super::value::convert_or_widen;

/// The largest number of edges that one line adds: a slip of the pen is not to fill the memory.
const COPIES_MAX: u64 = 1_000_000;

impl ScriptParser<'_> {
    /// Whether an edge property of this name is the kind.
    pub(super) fn is_kind(&self, name: &str) -> bool {
        self.target.edge_properties.iter().any(|property| property.kind && property.name == name)
    }

    /// Refuses an arrow behind the kind: an edge of another kind is another edge, which may be there as well.
    pub(super) fn expect_same_kind(&self, values: &[Word]) -> LineResult<()> {
        let kind = values.windows(2).find(|pair| pair[1].is_arrow() && self.is_kind(&pair[0].text));
        kind.map_or(Ok(()), |pair| {
            refuse(format!(
                "the kind of an edge cannot change: remove the edge with `-` and its {name}, and add one with `+` and another {name}",
                name = pair[0].text
            ))
        })
    }

    /// Adds or removes a number of edges.
    pub(super) fn change_some(
        &mut self,
        kind: char,
        count: u64,
        [u, v]: [&Word; 2],
        values: &[Word],
    ) -> LineResult<()> {
        if !self.target.multigraph {
            return refuse(format!(
                "a number after `{kind}` is for databases that keep parallel edges, and this one has at most one edge from {:?} \
                 to {:?}: leave the number out",
                u.text, v.text
            ));
        }
        self.expect_same_kind(values)?;
        let values = new_values(values)?;
        let ends = [self.name_vertex(u, Some(kind), 2)?, self.name_vertex(v, Some(kind), 2)?];
        if kind == '-' {
            return self.remove_edges(ends, &values, Some(count));
        }
        if count > COPIES_MAX {
            return refuse(format!("a line adds at most {COPIES_MAX} edges: write several lines"));
        }
        (0..count).try_for_each(|_| self.add_edge(ends, &values))
    }

    /// Removes those edges between two vertices that have some values.
    pub(super) fn remove_edges(
        &mut self,
        [source, end]: [ExternalId<'_>; 2],
        values: &[(&str, &RawValue)],
        at_most: Option<u64>,
    ) -> LineResult<()> {
        let mut wanted: Vec<(u32, PropertyValue<'_>)> = Vec::with_capacity(values.len());
        for (name, value) in values {
            let property = self.target.edge_properties.iter().find(|property| property.name == *name);
            let property = property
                .ok_or_else(|| format!("no edge property {name:?}: {}", self.target.describe_edges()))?;
            let value =
                convert_or_widen(property, value.given(property)?).map_err(|error| error.message())?;
            wanted.push((property.number, value));
        }
        self.batch
            .remove_edges(source, end, &EdgeMatch { values: &wanted, at_most })
            .map_err(|error| error.message())
    }
}
