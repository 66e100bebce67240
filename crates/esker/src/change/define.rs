//! Adds edge properties to an existing database.

use std::str::FromStr;

use esker_graph::{Run, Setting, message};
use esker_store::format::{LogicalType, Owner, PropertyRecord, PropertyType};
use esker_store::{Database, Error, Result};

use super::target::Target;

/// A new edge property, written `NAME:TYPE` with a type as shown by `esker info`; the default is `f64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// The type of the values.
    pub property_type: PropertyType,
}

impl FromStr for Definition {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (name, kind) = text.rsplit_once(':').unwrap_or((text, "f64"));
        if name.is_empty() {
            return Err("the property needs a name before the colon, as in since:i64".to_owned());
        }
        Ok(Self { name: name.to_owned(), property_type: kind.parse()? })
    }
}

/// The name of the edge property that has the ids of edges, unless [`Definition`] gives it another.
pub const EDGE_ID: &str = "edge_id";

/// Gives all edges of a database ids, in the property [`EDGE_ID`]; see [`Database::add_edge_property`]. Does
/// nothing if they have some.
///
/// # Errors
/// Those of [`Database::add_edge_property`].
pub fn give_edge_ids(database: &Database, run: &Run) -> Result<()> {
    if database.schema().edge_properties.iter().any(|one| one.logical == LogicalType::EdgeId) {
        return Ok(());
    }
    database.add_edge_property(EDGE_ID, LogicalType::EdgeId, false, run)
}

impl Target {
    /// This target with more edge properties; existing ones of the same type are kept. The new property named
    /// by `weight` becomes the weight.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an edge property of the same name has another type.
    pub fn with(mut self, definitions: &[Definition], weight: Option<&str>) -> Result<Self> {
        if let Some(twice) = definitions
            .iter()
            .enumerate()
            .find(|(at, one)| definitions[..*at].iter().any(|known| known.name == one.name))
        {
            let name = &twice.1.name;
            return Err(Error::usage(message![
                Setting::Define,
                format!(" names {name:?} twice: leave one out")
            ]));
        }
        for Definition { name, property_type } in definitions {
            let known = self.edge_properties.iter().find(|property| property.name == *name);
            let Some(known) = known else {
                self.edge_properties.push(PropertyRecord {
                    number: self.edge_properties.len() as u32,
                    owner: Owner::Edges,
                    name: name.clone(),
                    element: property_type.element,
                    logical: property_type.logical.clone(),
                    weight: weight == Some(name),
                    kind: false,
                    optional: false,
                });
                continue;
            };
            let is_same = known.logical == property_type.logical
                && (known.is_text() || known.element == property_type.element);
            if !is_same {
                let kind = known.type_name();
                return Err(Error::invalid(format!(
                    "the edge property {name:?} already exists with type {kind}"
                )));
            }
        }
        Ok(self)
    }

    /// Adds the edge properties of this target that the database does not have; see
    /// [`Database::add_edge_property`].
    ///
    /// # Errors
    /// Those of [`Database::add_edge_property`].
    pub fn define(&mut self, database: &Database, run: &Run) -> Result<()> {
        let known = database.latest()?.edge_properties().count();
        let new = &self.edge_properties[known.min(self.edge_properties.len())..];
        for property in new {
            database.add_edge_property(&property.name, property.property_type(), property.weight, run)?;
        }
        if !new.is_empty() {
            *self = Self::of(database)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_parse() {
        let parsed = |text: &str| {
            text.parse::<Definition>().map(|found| (found.name, found.property_type.to_string()))
        };
        let expected = |name: &str, kind: &str| Ok((name.to_owned(), kind.to_owned()));
        assert_eq!(parsed("wait"), expected("wait", "f64"));
        assert_eq!(parsed("since:u16"), expected("since", "u16"));
        assert_eq!(parsed("a:b:text"), expected("a:b", "text"));
        assert_eq!(parsed("seen:timestamp[ms, UTC]"), expected("seen", "timestamp[ms, UTC]"));
        assert!(parsed(":i32").unwrap_err().contains("needs a name before the colon"));
        assert!(parsed("wait:int").unwrap_err().contains("text, bool, date"));
    }
}
