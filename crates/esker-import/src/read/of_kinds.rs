//! Several inputs, each of which has the edges of one kind, read one after another as one.

use std::sync::Arc;

use arrow_array::BinaryArray;
use esker_format::{Error, PropertyType, Result};
use esker_graph::{Message, Setting, message};

use crate::read::source::{BlockParser, EdgeBatch, InputBlock, Reader, Schema};

/// The name of the property that holds the kinds of such edges.
pub const KIND_PROPERTY: &str = "kind";

/// An input whose edges are of one kind.
pub struct OfKind {
    /// The kind.
    pub kind: String,
    /// The name of the input, for messages.
    pub name: String,
    /// Its edges, without their kinds.
    pub reader: Box<dyn Reader>,
}

/// The numbers of files of the inputs are this far apart.
const FILES_PER_INPUT: usize = 1 << 24;

/// A reader of inputs of one kind each: their edges have a property more, which holds the kinds.
pub(crate) struct OfKinds {
    schema: Schema,
    inputs: Vec<OfKind>,
    /// For each input, the places of the properties of the schema among its own.
    places: Arc<Vec<Vec<usize>>>,
    /// The input that is read.
    current: usize,
}

impl OfKinds {
    /// Reads `inputs`, at least one, one after another. The property `name` has the kinds.
    ///
    /// # Errors
    /// If they differ in their ids, properties or directions.
    pub(crate) fn new(inputs: Vec<OfKind>, name: &str) -> Result<Self> {
        let Some(first) = inputs.first() else { return Err(Error::invalid("no input is named")) };
        let own = first.reader.schema().clone();
        if own.properties.iter().any(|own| own == name) {
            let told = format!(
                "{} has a property {name:?} already, beside the kind {:?}: give all files together, and the column with ",
                first.name, first.kind
            );
            return Err(Error::usage(message![told, Setting::Kind.to_name(name)]));
        }
        let places = inputs.iter().map(|input| places(first, input)).collect::<Result<Vec<_>>>()?;
        let mut schema = own;
        // The kind that is given for each file counts.
        schema.kind = None;
        schema.types.resize(schema.properties.len(), None);
        schema.properties.push(name.to_owned());
        schema.types.push(Some(PropertyType::text()));
        schema.input_bytes = inputs.iter().map(|input| input.reader.schema().input_bytes).sum();
        Ok(Self { schema, inputs, places: Arc::new(places), current: 0 })
    }
}

/// The places of the properties of the first input among those of another.
fn places(first: &OfKind, other: &OfKind) -> Result<Vec<usize>> {
    let (a, b) = (first.reader.schema(), other.reader.schema());
    let differ = |what: &str, remedy: Message| {
        let told = format!("{} and {} differ in {what}: ", first.name, other.name);
        Err(Error::usage(message![told, remedy]))
    };
    if a.ids != b.ids {
        return differ("their ids", message!["read all as texts with ", Setting::Ids.to("text")]);
    }
    if (a.directed, a.both_ends) != (b.directed, b.both_ends) {
        return differ("the directions of their edges", message!["import files of one format"]);
    }
    let same = message!["name the properties to read with ", Setting::Property];
    if a.properties.len() != b.properties.len() {
        return differ("the properties of their edges", same);
    }
    let mut places = Vec::new();
    for (index, name) in a.properties.iter().enumerate() {
        let Some(place) = b.properties.iter().position(|other| other == name) else {
            return differ("the properties of their edges", same);
        };
        let is_role = |role: Option<usize>, place: usize| role == Some(place);
        let is_same = is_role(a.weight, index) == is_role(b.weight, place)
            && is_role(a.time, index) == is_role(b.time, place)
            && a.declared(index) == b.declared(place);
        if !is_same {
            let remedy = message!["give its type with ", Setting::Schema];
            return differ(&format!("the type of the property {name:?}"), remedy);
        }
        places.push(place);
    }
    Ok(places)
}

impl Reader for OfKinds {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn limit_memory(&mut self, bytes: u64, threads: usize) -> Result<u64> {
        let each = bytes / self.inputs.len() as u64;
        self.inputs.iter_mut().map(|input| input.reader.limit_memory(each, threads)).sum()
    }

    fn entries_add_up(&self) -> Result<bool> {
        let Some((first, others)) = self.inputs.split_first() else { return Ok(false) };
        let add_up = first.reader.entries_add_up()?;
        for other in others {
            if other.reader.entries_add_up()? != add_up {
                let (one, none) = if add_up { (first, other) } else { (other, first) };
                let told = format!(
                    "the entries of {} for one pair add up, but not those of {}: say what is done with edges that come twice with ",
                    one.name, none.name
                );
                return Err(Error::usage(message![told, Setting::Duplicates]));
            }
        }
        Ok(add_up)
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        let of_input = |input: &OfKind| KindParser {
            kind: input.kind.clone().into_bytes(),
            parser: input.reader.parser(),
        };
        let parsers = self.inputs.iter().map(of_input).collect();
        Arc::new(KindParsers { parsers, places: Arc::clone(&self.places) })
    }

    fn notes(&self) -> Vec<Message> {
        self.inputs.iter().flat_map(|input| input.reader.notes()).collect()
    }

    fn warnings(&self) -> Vec<Message> {
        self.inputs.iter().flat_map(|input| input.reader.warnings()).collect()
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        while let Some(input) = self.inputs.get_mut(self.current) {
            if let Some(mut block) = input.reader.next_block()? {
                block.file += self.current * FILES_PER_INPUT;
                return Ok(Some(block));
            }
            self.current += 1;
        }
        Ok(None)
    }
}

struct KindParser {
    kind: Vec<u8>,
    parser: Arc<dyn BlockParser>,
}

struct KindParsers {
    parsers: Vec<KindParser>,
    places: Arc<Vec<Vec<usize>>>,
}

impl BlockParser for KindParsers {
    fn parse(&self, mut block: InputBlock) -> Result<EdgeBatch> {
        let input = block.file / FILES_PER_INPUT;
        block.file %= FILES_PER_INPUT;
        let (KindParser { kind, parser }, places) = (&self.parsers[input], &self.places[input]);
        let mut batch = parser.parse(block)?;
        batch.properties = places.iter().map(|&place| Arc::clone(&batch.properties[place])).collect();
        for wide in &mut batch.wide {
            let own = places.iter().position(|&place| place == wide.property);
            wide.property = own.unwrap_or(wide.property);
        }
        let kinds = std::iter::repeat_n(kind.as_slice(), batch.len());
        batch.properties.push(Arc::new(BinaryArray::from_iter_values(kinds)));
        Ok(batch)
    }

    fn warnings(&self) -> Vec<Message> {
        self.parsers.iter().flat_map(|parser| parser.parser.warnings()).collect()
    }
}
