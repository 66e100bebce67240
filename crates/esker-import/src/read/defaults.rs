//! Edges of tables that get a value where they lack one.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, PrimitiveArray};
use esker_format::value::decimal::{Number, number};
use esker_format::{DefaultRecord, Error, PropertyType, Result, TableRecord};
use esker_graph::{Message, Setting, message};

use crate::read::format::DefaultValue;
use crate::read::source::{BlockParser, EdgeBatch, InputBlock, Numbers, Reader, Schema};
use crate::read::typed::{self, Typed};

/// A reader of edges that have a default for some properties.
pub(crate) struct WithDefaults {
    edges: Box<dyn Reader>,
    parser: Arc<FillingParser>,
    given: Vec<GivenDefault>,
}

struct FillingParser {
    edges: Arc<dyn BlockParser>,
    /// For each property.
    defaults: Vec<Option<Default>>,
}

/// A default of edges that lack a value.
#[derive(Debug, Clone)]
pub(crate) struct GivenDefault {
    pub(crate) value: DefaultValue,
    /// Whether an edge without a value may be one that has none: then one is refused.
    pub(crate) is_unclear: bool,
}

/// What edges without a value get.
struct Default {
    name: String,
    text: String,
    /// The number that it is, where the property has numbers, truth values or times.
    number: Option<Typed>,
    is_unclear: bool,
}

impl Default {
    /// The default of a property.
    ///
    /// # Errors
    /// If it is no value of the type that is known of the property.
    fn of(default: &GivenDefault, known: Option<&PropertyType>) -> Result<Option<Self>> {
        let GivenDefault { value: given, is_unclear } = default;
        let Some(text) = given.text().map(str::as_bytes) else { return Ok(None) };
        let number = match known {
            Some(known) if known.logical.is_text() => None,
            Some(known) => Some(typed::parse(text, known).map_err(|reason| unfit(given, &reason))?),
            None => number(text).ok().map(|number| match number {
                Number::Int(value) => Typed::Int(value),
                Number::Float(value) => Typed::Float(value),
            }),
        };
        let (name, text) = (given.name.clone(), String::from_utf8_lossy(text).into_owned());
        Ok(Some(Self { name, text, number, is_unclear: *is_unclear }))
    }

    /// A column with the default in place of nulls.
    fn fill(&self, column: &ArrayRef) -> Result<ArrayRef> {
        if column.null_count() == 0 {
            return Ok(Arc::clone(column));
        }
        if self.is_unclear {
            let Self { name, text, .. } = self;
            return Err(Error::usage(message![
                format!(
                    "edges lack a value of {name:?}: the database remembers the default {text:?}, but has edges without a \
                     value too, and the table may be an export of it; say which these are to get with "
                ),
                Setting::Default.to_type(name, text),
                ", or with ",
                Setting::Default.to_type(name, ""),
                " for none",
            ]));
        }
        if let Some(texts) = column.as_binary_opt::<i32>() {
            let all = texts.iter().map(|text| text.unwrap_or(self.text.as_bytes()));
            return Ok(Arc::new(BinaryArray::from_iter_values(all)));
        }
        let given = DefaultValue { name: self.name.clone(), value: self.text.clone() };
        let default = self.number.ok_or_else(|| unfit(&given, "is not a number"))?;
        let mut numbers = match column.as_primitive_opt::<UInt64Type>() {
            Some(_) => Numbers::Unsigned(Vec::with_capacity(column.len())),
            None => Numbers::Int(Vec::with_capacity(column.len())),
        };
        let values = typed_values(column).ok_or_else(|| unfit(&given, "is for a column of another type"))?;
        values.into_iter().for_each(|value| typed::push(&mut numbers, value.unwrap_or(default)));
        Ok(numbers.finish())
    }
}

/// The numbers of a column, `None` where there is none.
fn typed_values(column: &ArrayRef) -> Option<Vec<Option<Typed>>> {
    fn all<T: arrow_array::types::ArrowPrimitiveType>(
        column: &PrimitiveArray<T>,
        typed: fn(T::Native) -> Typed,
    ) -> Vec<Option<Typed>> {
        column.iter().map(|value| value.map(typed)).collect()
    }
    let integers = column.as_primitive_opt::<Int64Type>().map(|column| all(column, Typed::Int));
    let floats = || column.as_primitive_opt::<Float64Type>().map(|column| all(column, Typed::Float));
    let unsigned = || column.as_primitive_opt::<UInt64Type>().map(|column| all(column, Typed::Unsigned));
    integers.or_else(floats).or_else(unsigned)
}

fn unfit(given: &DefaultValue, reason: &str) -> Error {
    Error::usage(message![
        Setting::Default.to_type(&given.name, &given.value),
        format!(": the value of {:?} {reason}", given.name),
    ])
}

impl WithDefaults {
    /// Gives the edges of a table defaults.
    ///
    /// # Errors
    /// If a default is of no property that is read, or no value of its type.
    pub(crate) fn new(edges: Box<dyn Reader>, given: &[GivenDefault]) -> Result<Self> {
        let schema = edges.schema();
        if let Some(unknown) =
            given.iter().map(|given| &given.value).find(|given| !schema.properties.contains(&given.name))
        {
            let read =
                if schema.properties.is_empty() { "none".into() } else { schema.properties.join(", ") };
            return Err(Error::usage(message![
                Setting::Default.to_type(&unknown.name, &unknown.value),
                format!(" has no effect: {:?} is not read as a property; those are {read}", unknown.name),
            ]));
        }
        let of_property = |(index, name): (usize, &String)| {
            let given = given.iter().rfind(|given| given.value.name == *name);
            given.map_or(Ok(None), |given| Default::of(given, schema.declared(index)))
        };
        let defaults = schema.properties.iter().enumerate().map(of_property).collect::<Result<_>>()?;
        let parser = Arc::new(FillingParser { edges: edges.parser(), defaults });
        Ok(Self { edges, parser, given: given.to_vec() })
    }
}

impl Reader for WithDefaults {
    fn schema(&self) -> &Schema {
        self.edges.schema()
    }

    fn limit_memory(&mut self, bytes: u64, threads: usize) -> Result<u64> {
        self.edges.limit_memory(bytes, threads)
    }

    fn table(&self) -> Option<TableRecord> {
        let record =
            |one: &DefaultValue| DefaultRecord { property: one.name.clone(), value: one.value.clone() };
        let table = self.edges.table()?;
        let own = self.given.iter().map(|given| &given.value).filter(|one| one.text().is_some()).map(record);
        let defaults = table.defaults.iter().cloned().chain(own).collect();
        Some(TableRecord { defaults, ..table })
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

impl BlockParser for FillingParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let mut batch = self.edges.parse(block)?;
        for (column, default) in batch.properties.iter_mut().zip(&self.defaults) {
            if let Some(default) = default {
                *column = default.fill(column)?;
            }
        }
        Ok(batch)
    }

    fn warnings(&self) -> Vec<Message> {
        self.edges.warnings()
    }
}
