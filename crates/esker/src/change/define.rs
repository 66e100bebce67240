//! Adds edge properties to an existing database.

use std::str::FromStr;

use esker_graph::Run;
use esker_store::format::{ElementType, Owner, PropertyRecord};
use esker_store::{Database, Error, Result};

use super::target::Target;

/// A new edge property, written `NAME:TYPE`. TYPE is a number type as shown by `esker info`, or `text`; the default is `f64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// The type of the values; `None` for text.
    pub element: Option<ElementType>,
}

const TYPES: [ElementType; 8] = [
    ElementType::U8,
    ElementType::U16,
    ElementType::U32,
    ElementType::U64,
    ElementType::I32,
    ElementType::I64,
    ElementType::F32,
    ElementType::F64,
];

impl FromStr for Definition {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (name, kind) = text.rsplit_once(':').unwrap_or((text, "f64"));
        let known = TYPES.into_iter().find(|element| element.name() == kind);
        if name.is_empty() {
            return Err("the property needs a name before the colon, as in since:i64".to_owned());
        }
        match known {
            None if kind != "text" => {
                let names: Vec<&str> = TYPES.iter().map(|element| element.name()).collect();
                Err(format!("unknown type {kind:?}; the types are text, {}", names.join(", ")))
            }
            element => Ok(Self { name: name.to_owned(), element }),
        }
    }
}

impl Target {
    /// This target with more edge properties; existing ones of the same type are kept. The new property named by `weight` becomes the
    /// weight.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an edge property of the same name has another type.
    pub fn with(mut self, definitions: &[Definition], weight: Option<&str>) -> Result<Self> {
        for Definition { name, element } in definitions {
            let known = self.edge_properties.iter().find(|property| property.name == *name);
            let Some(PropertyRecord { texts, element: own, .. }) = known else {
                self.edge_properties.push(PropertyRecord {
                    number: self.edge_properties.len() as u32,
                    owner: Owner::Edges,
                    name: name.clone(),
                    element: element.unwrap_or(ElementType::U8),
                    texts: element.is_none(),
                    weight: weight == Some(name),
                });
                continue;
            };
            if (!texts).then_some(*own) != *element {
                let kind = if *texts { "text" } else { own.name() };
                return Err(Error::Invalid(format!(
                    "the edge property {name:?} already exists with type {kind}"
                )));
            }
        }
        Ok(self)
    }

    /// Adds the edge properties of this target that the database does not have; see [`Database::add_edge_property`].
    ///
    /// # Errors
    /// Those of [`Database::add_edge_property`].
    pub fn define(&mut self, database: &Database, run: &Run) -> Result<()> {
        let known = database.snapshot()?.edge_properties().count();
        let new = &self.edge_properties[known.min(self.edge_properties.len())..];
        for PropertyRecord { name, element, texts, weight, .. } in new {
            database.add_edge_property(name, (!texts).then_some(*element), *weight, run)?;
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
        let parsed = |text: &str| text.parse::<Definition>().map(|found| (found.name, found.element));
        assert_eq!(parsed("wait"), Ok(("wait".to_owned(), Some(ElementType::F64))));
        assert_eq!(parsed("since:u16"), Ok(("since".to_owned(), Some(ElementType::U16))));
        assert_eq!(parsed("a:b:text"), Ok(("a:b".to_owned(), None)));
        assert!(parsed(":i32").unwrap_err().contains("needs a name before the colon"));
        assert!(parsed("wait:int").unwrap_err().contains("text, u8, u16"));
    }
}
