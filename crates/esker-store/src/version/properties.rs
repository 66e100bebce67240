//! The properties of the edges and vertices of a version.

use esker_format::value::name::place_of_name;
use esker_format::{Error, Owner, PropertyRecord, Result};
use esker_layers::property::{Dictionary, PropertyValue, VertexProperty};

use super::state::Version;

impl Version {
    /// The edge properties, by number.
    pub fn edge_properties(&self) -> impl Iterator<Item = &PropertyRecord> {
        self.manifest().properties.iter().filter(|property| property.owner == Owner::Edges)
    }

    /// The edge property of a name, which may stand in double quotes, as in conditions.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none; the message lists those that there are.
    pub fn edge_property(&self, name: &str) -> Result<&PropertyRecord> {
        called(self.edge_properties(), name).ok_or_else(|| {
            let names: Vec<_> = self.edge_properties().map(|property| property.name.as_str()).collect();
            let known = if names.is_empty() {
                "they have none".to_owned()
            } else {
                format!("they have {}", names.join(", "))
            };
            Error::usage(format!("the edges of {} have no property {name:?}: {known}", self.path().display()))
        })
    }

    /// The least and the greatest value that the layers state for an edge property, of floats rounded down
    /// and up, without reading it. Edges that this version does not have count too. `None` if there are no
    /// edges, or the values have no sign, or a layer does not say.
    pub fn stated_range(&self, property: &PropertyRecord) -> Option<(i64, i64)> {
        self.stack().value_range(property.number)
    }

    /// The edge property that the import made the weight; `None` if there is none. A column of texts is none,
    /// whatever its name.
    pub fn weight_property(&self) -> Option<&PropertyRecord> {
        self.edge_properties().find(|property| property.weight && property.is_number())
    }

    /// The edge property of texts that is the kind of an edge; `None` if edges have no kinds.
    pub fn kind_property(&self) -> Option<&PropertyRecord> {
        self.edge_properties().find(|property| property.kind)
    }

    /// The edge properties that can hold times: timestamps, and integers whose unit is not known.
    pub fn time_properties(&self) -> impl Iterator<Item = &PropertyRecord> {
        self.edge_properties().filter(|one| one.can_be_time())
    }

    /// The value of an edge property by its bits, zero-extended to 64; [`PropertyValue::Missing`] if the edge
    /// has none.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn edge_value(&self, property: &PropertyRecord, bits: u64) -> Result<PropertyValue<'_>> {
        match self.dictionary(property.number) {
            Some(texts) => Ok(PropertyValue::from_text(property, texts.text(bits as usize)?)),
            None => Ok(PropertyValue::from_stored(property, bits)),
        }
    }

    /// The edge property that holds times.
    pub(crate) fn time_property(&self, name: &str) -> Result<&PropertyRecord> {
        if let Some(found) = called(self.time_properties(), name) {
            return Ok(found);
        }
        let found = self.edge_property(name)?;
        let held = if found.is_text() { "texts".to_owned() } else { found.type_name() };
        let names: Vec<_> = self.time_properties().map(|one| one.name.as_str()).collect();
        let known = if names.is_empty() { "none can be".to_owned() } else { names.join(", ") };
        Err(Error::usage(format!(
            "the edge property {name:?} holds {held} and cannot be a time; properties that can: {known}"
        )))
    }

    /// The vertex properties, by number.
    pub fn vertex_properties(&self) -> impl Iterator<Item = &PropertyRecord> {
        self.manifest().properties.iter().filter(|property| property.owner == Owner::Vertices)
    }

    /// The vertex property of a name, which may stand in double quotes, at this version.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none; the message lists those that there are.
    pub fn vertex_property(&self, name: &str) -> Result<VertexProperty> {
        let found = called(self.vertex_properties(), name);
        let record = found.cloned().ok_or_else(|| {
            let names: Vec<_> = self.vertex_properties().map(|property| property.name.as_str()).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Error::usage(format!(
                "the vertices of {} have no property {name:?}: they have {known}",
                self.path().display()
            ))
        })?;
        let layers = self.property_layers(record.number);
        Ok(VertexProperty::new(record, self.num_vertices(), layers))
    }

    /// The dictionary of an edge property, if its values are texts.
    pub fn dictionary(&self, property: u32) -> Option<&Dictionary> {
        self.dictionaries().get(property as usize)?.as_ref()
    }
}

/// The property that a name means.
fn called<'p>(
    properties: impl Iterator<Item = &'p PropertyRecord>,
    name: &str,
) -> Option<&'p PropertyRecord> {
    let all: Vec<_> = properties.collect();
    place_of_name(name, all.iter().map(|property| property.name.as_str())).map(|place| all[place])
}
