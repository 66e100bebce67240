//! Edges of inputs that lack properties which a database has.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, Int64Array};
use esker_format::{PropertyType, Result, TableRecord};
use esker_graph::Message;

use crate::read::defaults::{GivenDefault, WithDefaults};
use crate::read::format::DefaultValue;
use crate::read::source::{BlockParser, EdgeBatch, InputBlock, Reader, Schema};

/// A property that an input lacks.
#[derive(Debug, Clone)]
pub struct AbsentProperty {
    /// Its name.
    pub name: String,
    /// Its type.
    pub property_type: PropertyType,
}

/// A reader of edges that lack properties: their values are missing.
struct WithAbsent {
    edges: Box<dyn Reader>,
    schema: Schema,
    parser: Arc<AbsentParser>,
}

struct AbsentParser {
    edges: Arc<dyn BlockParser>,
    /// For each property, whether its values are texts.
    are_texts: Vec<bool>,
}

/// Gives edges the properties that they lack, behind the others: the default of each, or no value.
///
/// # Errors
/// [`esker_format::Error::Usage`] if a default is no value of its property.
pub fn with_absent(
    edges: Box<dyn Reader>,
    absent: &[AbsentProperty],
    defaults: &[DefaultValue],
) -> Result<Box<dyn Reader>> {
    let mut schema = edges.schema().clone();
    schema.types.resize(schema.properties.len(), None);
    for AbsentProperty { name, property_type } in absent {
        schema.properties.push(name.clone());
        schema.types.push(Some(property_type.clone()));
    }
    let are_texts = absent.iter().map(|one| one.property_type.logical.is_text()).collect();
    let parser = Arc::new(AbsentParser { edges: edges.parser(), are_texts });
    let reader: Box<dyn Reader> = Box::new(WithAbsent { edges, schema, parser });
    let is_absent = |given: &&DefaultValue| absent.iter().any(|one| one.name == given.name);
    let defaults: Vec<GivenDefault> = defaults
        .iter()
        .filter(is_absent)
        .cloned()
        .map(|value| GivenDefault { value, is_unclear: false })
        .collect();
    if defaults.is_empty() { Ok(reader) } else { Ok(Box::new(WithDefaults::new(reader, &defaults)?)) }
}

impl Reader for WithAbsent {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn limit_memory(&mut self, bytes: u64, threads: usize) -> Result<u64> {
        self.edges.limit_memory(bytes, threads)
    }

    fn table(&self) -> Option<TableRecord> {
        self.edges.table()
    }

    fn notes(&self) -> Vec<Message> {
        self.edges.notes()
    }

    fn warnings(&self) -> Vec<Message> {
        self.edges.warnings()
    }

    fn entries_add_up(&self) -> Result<bool> {
        self.edges.entries_add_up()
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        self.edges.next_block()
    }
}

impl BlockParser for AbsentParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let mut batch = self.edges.parse(block)?;
        let count = batch.len();
        let missing = |&is_text: &bool| -> ArrayRef {
            match is_text {
                true => Arc::new(BinaryArray::new_null(count)),
                false => Arc::new(Int64Array::new_null(count)),
            }
        };
        batch.properties.extend(self.are_texts.iter().map(missing));
        Ok(batch)
    }

    fn warnings(&self) -> Vec<Message> {
        self.edges.warnings()
    }
}
