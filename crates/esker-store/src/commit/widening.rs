//! The wider types that the values of a batch need.

use esker_format::{ElementType, PropertyRecord, PropertyType};

use super::batch::Batch;
use super::change::{BatchOp, BatchValue};
use super::exact::{exact_bits, wider_for};

impl Batch {
    /// Defines a vertex property with values of a type, unless it exists: then values are converted to its
    /// type as they are where no property is defined, or the commit is refused.
    pub fn suggest_vertex_property(&mut self, name: &str, property_type: impl Into<PropertyType>) {
        self.suggested.insert(name.to_owned());
        self.define_vertex_property(name, property_type);
    }

    /// The types that vertex properties need to hold the values of the batch, where theirs do not. `known`
    /// are those of the database.
    pub(crate) fn wider_vertex_types(&self, known: &[PropertyRecord]) -> Vec<(String, ElementType)> {
        let find = |name: &String| {
            let known = known.iter().find(|known| known.name == *name).cloned();
            let defined = || self.defined.iter().find(|(defined, _)| defined == name);
            known.or_else(|| defined().map(|(_, defined)| PropertyRecord::of_vertices(name, defined.clone())))
        };
        let mut properties: Vec<(Option<PropertyRecord>, bool)> =
            self.names.iter().map(|name| (find(name), false)).collect();
        for op in &self.ops {
            let BatchOp::SetVertex(name, value) = *op else { continue };
            let Some(BatchValue::Number(value)) = self.value(value) else { continue };
            let (Some(property), is_widened) = &mut properties[name as usize] else { continue };
            if exact_bits(property, *value).is_none()
                && let Some(wider) = wider_for(property, *value)
            {
                (property.element, *is_widened) = (wider, true);
            }
        }
        let widened =
            properties.into_iter().filter_map(|(property, is_widened)| property.filter(|_| is_widened));
        widened.map(|property| (property.name, property.element)).collect()
    }
}
