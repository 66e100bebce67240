//! Properties of vertices that a batch may add.

use std::collections::HashMap;

use esker_store::format::{PropertyRecord, PropertyType};
use esker_store::{Batch, Error, Result};

use super::target::Target;

/// The vertex properties of a database and those that a batch adds.
pub(super) struct Definitions<'a> {
    target: &'a Target,
    new: HashMap<String, PropertyRecord>,
}

impl<'a> Definitions<'a> {
    pub(super) fn new(target: &'a Target) -> Self {
        Self { target, new: HashMap::new() }
    }

    pub(super) fn find(&self, name: &str) -> Option<&PropertyRecord> {
        self.target.vertex_property(name).or_else(|| self.new.get(name))
    }

    /// Returns an error if the property does not exist.
    pub(super) fn expect(&self, name: &str) -> Result<()> {
        if self.find(name).is_some() {
            return Ok(());
        }
        let names: Vec<&str> =
            self.target.vertex_properties.iter().map(|property| property.name.as_str()).collect();
        Err(Error::invalid(format!(
            "cannot remove a value of {name:?}, which is not a vertex property: the vertices of {} have {}",
            self.target.name,
            if names.is_empty() { "no properties".to_owned() } else { names.join(", ") }
        )))
    }

    /// The property called `name`; if it does not exist, adds it with a type.
    pub(super) fn define(
        &mut self,
        batch: &mut Batch,
        name: &str,
        property_type: PropertyType,
    ) -> PropertyRecord {
        if let Some(known) = self.find(name) {
            return known.clone();
        }
        batch.suggest_vertex_property(name, property_type.clone());
        let record = PropertyRecord::of_vertices(name, property_type);
        self.new.insert(name.to_owned(), record.clone());
        record
    }
}
