//! An open input of edges, and the edge properties that a change finds in it.

use esker_graph::{Message, Setting, message};
use esker_import::open::{Opened, open, open_inputs};
use esker_import::read::absent::{AbsentProperty, with_absent};
use esker_import::read::format::{DefaultValue, Format, Pick, PickProperties, ReadOptions};
use esker_import::read::input::{Input, expand};
use esker_import::read::source::{Reader, Schema};
use esker_store::format::{ElementType, PropertyRecord};
use esker_store::{Error, Result};

use super::target::Target;
use crate::window::Declared;

/// Whether the edges of an input are added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Add the edges, with all properties.
    Add,
    /// Remove the edges: all between two vertices, or those that have the values of the properties that the
    /// options name.
    Remove,
}

/// An open input of edges for a database.
pub struct EdgeInput {
    /// The reader.
    pub reader: Box<dyn Reader>,
    /// How each input is read: format, columns, type of ids.
    pub notes: Vec<Message>,
    /// What may not be as the user expects it, such as columns that are not read.
    pub warnings: Vec<Message>,
    /// Whether its edges are added or removed.
    pub purpose: Purpose,
    /// The edge properties that are read: to add edges, all given ones of the database in its order.
    pub(super) properties: Vec<PropertyRecord>,
    /// For each of them, its index in the reader's schema.
    pub(super) places: Vec<usize>,
    /// The index in the reader's schema of the column that says what happens to each edge.
    pub(super) operation: Option<usize>,
    /// Opens the same inputs again, where they are files.
    pub(super) again: Option<OpenAgain>,
}

/// Opens inputs again.
pub(super) type OpenAgain = Box<dyn Fn() -> Result<Box<dyn Reader>> + Send>;

impl EdgeInput {
    /// An input that was opened.
    fn of(opened: Opened, purpose: Purpose, properties: Vec<PropertyRecord>, places: Vec<usize>) -> Self {
        let Opened { reader, notes, warnings, .. } = opened;
        let operation = reader.schema().operation;
        let input = Self { reader, notes, warnings, purpose, properties, places, operation, again: None };
        input.for_purpose()
    }

    /// Edges of a reader that has these properties.
    pub(super) fn of_columns(
        reader: Box<dyn Reader>,
        purpose: Purpose,
        properties: Vec<PropertyRecord>,
        notes: Vec<Message>,
        warnings: Vec<Message>,
    ) -> Self {
        let place = |property: &PropertyRecord| index_of(reader.schema(), &property.name, property.weight);
        let places = properties.iter().filter_map(place).collect();
        let operation = reader.schema().operation;
        Self { reader, notes, warnings, purpose, properties, places, operation, again: None }
    }

    /// Edges to add that come from a reader whose edge properties are the given ones of the database, in its
    /// order, and behind them perhaps the column that says what happens to each edge.
    pub fn of_reader(target: &Target, reader: Box<dyn Reader>) -> Self {
        let properties: Vec<PropertyRecord> = target.given_properties().cloned().collect();
        let places = (0..properties.len()).collect();
        let (notes, warnings) = (Vec::new(), Vec::new());
        let operation = reader.schema().operation;
        Self { reader, notes, warnings, purpose: Purpose::Add, properties, places, operation, again: None }
    }
}

impl EdgeInput {
    /// The same; to remove edges, their ends are enough, so that other columns are not read is a note.
    fn for_purpose(mut self) -> Self {
        if self.purpose == Purpose::Remove {
            self.notes.append(&mut self.warnings);
        }
        self
    }
}

/// The edge properties that an input must have.
pub(super) struct Wanted<'t> {
    pub(super) target: &'t Target,
    pub(super) purpose: Purpose,
    pub(super) properties: Vec<PropertyRecord>,
}

impl Wanted<'_> {
    /// Opens inputs and finds the properties in them.
    pub(super) fn open(
        &self,
        inputs: &[String],
        given: &ReadOptions,
        base: &ReadOptions,
    ) -> Result<EdgeInput> {
        let refused = match self.open_all(inputs, given, base.clone()) {
            Ok(input) => return Ok(input),
            Err(refused) => refused,
        };
        if self.purpose == Purpose::Remove {
            return Err(refused);
        }
        // What cannot be read twice was read.
        match is_repeatable(inputs, base)? {
            true => self.without_absent(inputs, given, base).transpose().unwrap_or(Err(refused)),
            false => Err(read_once(refused)),
        }
    }

    /// Opens inputs that lack columns of properties, of which no edge has a value then but a default. `None`
    /// if that is not why they could not be opened.
    fn without_absent(
        &self,
        inputs: &[String],
        given: &ReadOptions,
        base: &ReadOptions,
    ) -> Result<Option<EdgeInput>> {
        let Some((present, absent)) = self.divide(inputs, given, base)? else { return Ok(None) };
        let is_absent = |one: &DefaultValue| absent.iter().any(|property| property.name == one.name);
        let (defaults, others): (Vec<_>, Vec<_>) =
            self.target.defaults(given).into_iter().partition(is_absent);
        let others = others.into_iter().filter(|one| given.defaults.contains(one)).collect();
        let without = Self { properties: present, ..*self };
        let mut input = without.open_all(inputs, given, ReadOptions { defaults: others, ..base.clone() })?;
        let of_absent = |property: &PropertyRecord| AbsentProperty {
            name: property.name.clone(),
            property_type: property.property_type(),
        };
        let columns: Vec<AbsentProperty> = absent.iter().map(of_absent).collect();
        let first = input.reader.schema().properties.len();
        let named =
            |all: &[PropertyRecord], name: &str| all.iter().position(|property| property.name == name);
        let place = |property: &PropertyRecord| match named(&absent, &property.name) {
            Some(place) => Some(first + place),
            None => named(&without.properties, &property.name).map(|place| input.places[place]),
        };
        input.places = self.properties.iter().filter_map(place).collect();
        input.properties.clone_from(&self.properties);
        input.reader = with_absent(input.reader, &columns, &defaults)?;
        input.warnings.extend(absent.iter().map(|property| absence(property, &defaults)));
        Ok(Some(input))
    }

    /// The properties whose columns inputs have, and those that they lack; `None` if they lack none, or one
    /// that edges need or that a column without a name may be.
    fn divide(&self, inputs: &[String], given: &ReadOptions, base: &ReadOptions) -> Result<Option<Divided>> {
        let weight = if matches!(base.weight, Pick::Column(_)) { base.weight.clone() } else { Pick::Auto };
        let every = ReadOptions {
            weight,
            time: Pick::Skip,
            properties: PickProperties::All,
            defaults: Vec::new(),
            ..base.clone()
        };
        let Ok(opened) = open_any(inputs, &every) else { return Ok(None) };
        if opened.reader.table().is_some_and(|table| !table.named && table.columns > 2) {
            return Ok(None);
        }
        let schema = opened.reader.schema();
        let has = |property: &PropertyRecord| index_of(schema, &property.name, property.weight).is_some();
        let (present, absent): (Vec<_>, Vec<_>) = self.properties.iter().cloned().partition(has);
        let time = Declared::of(self.target.newest.manifest()).time;
        let is_needed_by_each = |one: &&PropertyRecord| one.kind || time.as_ref() == Some(&one.name);
        if let Some(PropertyRecord { name, kind, .. }) = absent.iter().find(is_needed_by_each) {
            let what = if *kind { "kinds" } else { "times" };
            return Err(Error::invalid(format!(
                "the input has no column {name}, which has the {what} of edges, and no edge is without one"
            )));
        }
        let is_needed = |property: &PropertyRecord| {
            let is_weight_given = property.weight && matches!(given.weight, Pick::Column(_));
            // One that is about to be added is there for the values of the input.
            let is_new = self.target.newest.edge_properties().all(|own| own.name != property.name);
            is_weight_given || is_new
        };
        Ok((!absent.is_empty() && !absent.iter().any(is_needed)).then_some((present, absent)))
    }

    /// Opens inputs that have all of the properties.
    fn open_all(&self, inputs: &[String], given: &ReadOptions, base: ReadOptions) -> Result<EdgeInput> {
        if self.properties.is_empty() {
            let opened = open_any(inputs, &ends_only(base))?;
            return Ok(EdgeInput::of(opened, self.purpose, Vec::new(), Vec::new()));
        }
        let by_name = open_any(inputs, &self.by_name(&base)).and_then(|opened| self.complete(opened));
        let first = match by_name {
            Ok(input) => return Ok(input),
            Err(error) => error,
        };
        // Formats with fixed columns, and files without a header, can have a weight but have no column names.
        let only_weight = matches!(&self.properties[..], [only] if only.weight);
        if !only_weight || !is_repeatable(inputs, &base)? {
            return Err(blamed(first, given));
        }
        let by_position = ReadOptions { time: Pick::Skip, properties: PickProperties::None, ..base };
        match open_any(inputs, &by_position).and_then(|opened| self.complete(opened)) {
            Ok(input) => Ok(input),
            Err(second) => {
                // That columns are missing says less than what is wrong with the file.
                let tells_more = matches!((&first, &second), (Error::Input { .. }, Error::Invalid(_)));
                let is_given = matches!(given.weight, Pick::Column(_));
                Err(blamed(if is_given || tells_more { first } else { second }, given))
            }
        }
    }

    /// Opens inputs of edges to remove from a database of kinds: those of the kind that a row names. Where
    /// inputs have no column of kinds, nor any other that may be one, rows mean the edges of all kinds.
    pub(super) fn of_kinds(
        &self,
        kind: &PropertyRecord,
        inputs: &[String],
        given: &ReadOptions,
        base: &ReadOptions,
    ) -> Result<EdgeInput> {
        let properties = self.properties.iter().chain([kind]).cloned().collect();
        let with_kind = Self { properties, ..*self };
        let refused = match with_kind.open(inputs, given, base) {
            Ok(input) => return Ok(input),
            Err(error) => error,
        };
        if !is_repeatable(inputs, base)? {
            let kind = &kind.name;
            return Err(Error::invalid(format!(
                "{}; edges have kinds, so give those to remove with a column {kind}, or in a file instead of standard input",
                refused.message()
            )));
        }
        let options = if self.properties.is_empty() { ends_only(base.clone()) } else { self.by_name(base) };
        let expected = 2 + self.properties.len();
        for one in expand(inputs, &base.cancel)? {
            let Ok(opened) = open_inputs(std::slice::from_ref(&one), &options) else { continue };
            if opened.reader.table().is_some_and(|table| table.columns as usize > expected) {
                return Err(Error::invalid(format!(
                    "{}: the edges of {} have kinds, but no column is called {:?}, so rows do not say which of several \
                     edges to remove: call the column of the kinds so, or leave the ends alone in the file to remove the \
                     edges of all kinds",
                    one.name(),
                    self.target.name,
                    kind.name
                )));
            }
        }
        let mut input = self.open(inputs, given, base)?;
        input.notes.push(format!("no column {:?}: edges of all kinds are removed", kind.name).into());
        Ok(input)
    }

    /// Options that read the edge properties by name.
    fn by_name(&self, base: &ReadOptions) -> ReadOptions {
        let weight = match (&base.weight, self.properties.iter().find(|property| property.weight)) {
            (Pick::Column(column), _) => Pick::Column(column.clone()),
            (_, Some(weight)) => Pick::Column(weight.name.clone()),
            (_, None) => Pick::Skip,
        };
        let others = self.properties.iter().filter(|property| !property.weight);
        // The database determines the type, so text that looks like a number stays text.
        let typed =
            others.map(|property| match property.is_number() && property.element != ElementType::U64 {
                true => format!("{}:number", property.name),
                false => format!("{}:{}", property.name, property.type_name()),
            });
        let properties = PickProperties::Columns(typed.collect());
        ReadOptions { weight, time: Pick::Skip, properties, ..base.clone() }
    }

    /// Refuses a column that says what happens to edges and holds the numbers of a property as well.
    fn expect_words(&self, schema: &Schema, places: &[usize]) -> Result<()> {
        let mut shared =
            places.iter().zip(&self.properties).filter(|(place, _)| schema.operation == Some(**place));
        let property = shared.find(|(_, property)| !property.is_text());
        property.map_or(Ok(()), |(_, property)| Err(holds_no_words(property)))
    }

    /// The input, if it has all of these edge properties.
    fn complete(&self, opened: Opened) -> Result<EdgeInput> {
        let schema = opened.reader.schema();
        let places: Vec<Option<usize>> = self
            .properties
            .iter()
            .map(|property| index_of(schema, &property.name, property.weight))
            .collect();
        let missing: Vec<&str> = places
            .iter()
            .zip(&self.properties)
            .filter(|(index, _)| index.is_none())
            .map(|(_, property)| property.name.as_str())
            .collect();
        if missing.is_empty() {
            let places: Vec<usize> = places.into_iter().flatten().collect();
            self.expect_words(schema, &places)?;
            return Ok(EdgeInput::of(opened, self.purpose, self.properties.clone(), places));
        }
        let names = missing.join(", ");
        if self.purpose == Purpose::Remove {
            return Err(Error::invalid(format!(
                "the input has no column {names}, whose values the edges to remove must have"
            )));
        }
        let weight = self.target.edge_properties.iter().find(|property| property.weight);
        let remedy = match weight {
            Some(weight) if missing.contains(&weight.name.as_str()) => {
                message!["; if the weight is in a column with another name, give it with ", Setting::Weight]
            }
            _ => Message::default(),
        };
        let edges = self.target.describe_edges();
        Err(Error::invalid(message![
            format!(
                "the input has no column {names}: {edges}, and every edge needs a value for each of them"
            ),
            remedy,
        ]))
    }
}

/// The error for a column that is to say what happens to edges and is that of a property of numbers.
pub(super) fn holds_no_words(property: &PropertyRecord) -> Error {
    let PropertyRecord { name, .. } = property;
    Error::usage(message![
        Setting::Op.to_name(name),
        format!(
            ": the column is that of the edge property {name:?} of type {}, and what happens to edges is said in words",
            property.type_name()
        ),
    ])
}

/// Properties whose columns inputs have, and those that they lack.
type Divided = (Vec<PropertyRecord>, Vec<PropertyRecord>);

/// The warning that an input lacks the column of a property.
fn absence(property: &PropertyRecord, defaults: &[DefaultValue]) -> Message {
    let name = &property.name;
    match defaults.iter().find(|one| one.name == *name) {
        Some(DefaultValue { value, .. }) if !value.is_empty() => {
            format!("there is no column {name:?}: the edges get the default {value:?}").into()
        }
        _ if property.weight => message![
            format!(
                "there is no column {name:?}: the edges get no {name}; a column of another name is given with "
            ),
            Setting::Weight,
        ],
        _ => format!("there is no column {name:?}: the edges get no {name}").into(),
    }
}

/// The error for a missing column: unless options name columns, the database asks for it.
fn blamed(error: Error, given: &ReadOptions) -> Error {
    match error {
        Error::Usage(reason) if !names_columns(given) => Error::invalid(reason),
        error => error,
    }
}

/// The error for an input that cannot be opened again to see which columns it lacks.
fn read_once(error: Error) -> Error {
    const REMEDY: &str = "; edges of a file that lacks it would get none, but what comes through a pipe is read once: write it to a file first";
    match error {
        Error::Usage(reason) => Error::usage(message![reason, REMEDY]),
        Error::Invalid(reason) => Error::invalid(message![reason, REMEDY]),
        error => error,
    }
}

/// Whether options name columns.
fn names_columns(given: &ReadOptions) -> bool {
    let ends = given.source.is_some() || given.target.is_some() || !given.schema.is_empty();
    let ends = ends || given.operation.is_some();
    let picks = [&given.weight, &given.time].into_iter().any(|pick| matches!(pick, Pick::Column(_)));
    ends || picks || matches!(given.properties, PickProperties::Columns(_))
}

/// Whether inputs, and the vertices beside them, can be opened more than once: none is standard input or a
/// pipe.
fn is_repeatable(inputs: &[String], options: &ReadOptions) -> Result<bool> {
    // A number of vertices, which no file is called, is no input.
    let is_number = |name: &&String| name.bytes().all(|byte| byte.is_ascii_digit());
    let vertices = options.vertices.iter().filter(|name| !is_number(name));
    let names: Vec<&String> = inputs.iter().chain(vertices).collect();
    Ok(expand(&names, &options.cancel)?.iter().all(Input::is_repeatable))
}

/// Opens the inputs; without inputs, `options` can still name a file of vertices.
fn open_any(inputs: &[String], options: &ReadOptions) -> Result<Opened> {
    if !inputs.is_empty() {
        return open(inputs, options);
    }
    let options = ReadOptions { format: Some(Format::EdgeList), ..options.clone() };
    let mut opened = open_inputs(&[Input::memory("no edges", Vec::new())], &options)?;
    opened.notes = opened.reader.notes();
    Ok(opened)
}

/// Options that read the ends of edges only.
fn ends_only(options: ReadOptions) -> ReadOptions {
    ReadOptions { weight: Pick::Skip, time: Pick::Skip, properties: PickProperties::None, ..options }
}

fn index_of(schema: &Schema, name: &str, weight: bool) -> Option<usize> {
    schema
        .weight
        .filter(|_| weight)
        .or_else(|| schema.properties.iter().position(|property| property == name))
}
