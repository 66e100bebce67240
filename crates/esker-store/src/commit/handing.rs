//! A batch as bytes, for another process.
//!
//! The bytes hold the changes by external ids, texts and values, in order. Reading them makes the changes
//! anew by the methods of [`Batch`], with all of their checks: so bytes that somebody else wrote are refused
//! as wrong changes are, and the batch has the types of the database as it is by then.

use esker_format::value::decimal::shown;
use esker_format::{
    Duplicates, EdgeId, ElementType, Error, FieldInput, FieldValue, PropertyRecord, PropertyType, Result,
    TimeUnit, Timestamp,
};
use esker_layers::ids::ExternalId;
use esker_layers::property::{PropertyValue, VectorValue};

use super::batch::Batch;
use super::change::{BatchOp, BatchValue};
use super::matching::EdgeMatch;
use crate::freeze::REMOVAL;

/// Codes of changes.
const EDGE: u8 = 0;
const REPLACED_EDGE: u8 = 1;
const NO_EDGE: u8 = 2;
const NO_EDGES: u8 = 3;
const VERTEX: u8 = 4;
const NO_VERTEX: u8 = 5;
const VALUE: u8 = 6;
const NO_VALUE: u8 = 7;
const EXPECTED_VERTEX: u8 = 8;

/// Codes of values.
const MISSING: u8 = 0;
const TEXT: u8 = 1;
const VECTOR: u8 = 2;
const NUMBER: u8 = 3;
const BOOLEAN: u8 = 4;
const DATE: u8 = 5;
const TIMESTAMP: u8 = 6;
const EDGE_ID: u8 = 7;

impl Batch {
    /// Appends the changes to `out`.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        self.edge_properties.put(out);
        self.ids.is_text().put(out);
        self.duplicates.put(out);
        self.refuses_unknown.put(out);
        self.counts_removed.put(out);
        self.counts_not_found.put(out);
        let defined = self.defined.iter();
        let defined: Vec<_> =
            defined.map(|(name, kind)| PropertyRecord::of_vertices(name, kind.clone())).collect();
        defined.put(out);
        let suggested = |(name, _): &(String, PropertyType)| self.suggested.contains(name);
        self.defined.iter().map(suggested).collect::<Vec<bool>>().put(out);
        self.names.put(out);
        (self.ops.len() as u64).put(out);
        let mut next = 0;
        for &op in &self.ops {
            self.put_change(op, next, out);
            next += op.num_ids();
        }
    }

    /// Appends the change whose ids begin at `first`.
    fn put_change(&self, op: BatchOp, first: usize, out: &mut Vec<u8>) {
        let code = match op {
            BatchOp::Edge(REMOVAL) => NO_EDGE,
            BatchOp::Edge(row) if self.replacing.contains(&row) => REPLACED_EDGE,
            BatchOp::Edge(_) => EDGE,
            BatchOp::RemoveEdges(_) => NO_EDGES,
            BatchOp::AddVertex => VERTEX,
            BatchOp::ExpectVertex => EXPECTED_VERTEX,
            BatchOp::RemoveVertex => NO_VERTEX,
            BatchOp::SetVertex(_, REMOVAL) => NO_VALUE,
            BatchOp::SetVertex(..) => VALUE,
        };
        code.put(out);
        for index in first..first + op.num_ids() {
            match self.ids.get(index) {
                ExternalId::Int(id) => id.put(out),
                ExternalId::Text(id) => put_bytes(id, out),
            }
        }
        match op {
            BatchOp::Edge(row) if row != REMOVAL => self.put_row(row as usize, out),
            BatchOp::RemoveEdges(index) => {
                let wanted = &self.matches[index as usize];
                wanted.at_most.put(out);
                (wanted.values.len() as u32).put(out);
                for (number, value) in &wanted.values {
                    number.put(out);
                    put_value(value.given(), out);
                }
            }
            BatchOp::SetVertex(name, index) => {
                name.put(out);
                if let Some(value) = self.value(index) {
                    put_value(value.given(), out);
                }
            }
            BatchOp::Edge(_) | BatchOp::AddVertex | BatchOp::ExpectVertex | BatchOp::RemoveVertex => {}
        }
    }

    /// Appends the values of an edge, without its id.
    fn put_row(&self, row: usize, out: &mut Vec<u8>) {
        for (number, property) in self.edge_properties.iter().enumerate() {
            if self.edge_ids == Some(number) {
                continue;
            }
            let bits = self.rows[number][row];
            let value = match property.is_text() {
                true => PropertyValue::from_text(property, &self.texts[number].list[bits as usize]),
                false if property.is_missing(bits) => PropertyValue::Missing,
                false => PropertyValue::from_bits(property.element, bits),
            };
            put_value(value, out);
        }
    }

    /// Makes the changes that [`Batch::put`] wrote, in this empty batch.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if they are none; [`Error::Invalid`] if they were made for other edge properties
    /// or another kind of ids; as the methods for each change.
    pub(crate) fn take(&mut self, input: &mut FieldInput<'_>) -> Result<()> {
        let properties = Vec::<PropertyRecord>::take(input)?;
        let names = |properties: &[PropertyRecord]| -> Vec<_> {
            let kind = |one: &PropertyRecord| (one.name.clone(), one.logical.clone(), one.weight, one.kind);
            properties.iter().map(kind).collect()
        };
        let is_text = bool::take(input)?;
        if names(&properties) != names(&self.edge_properties) || is_text != self.ids.is_text() {
            return Err(Error::invalid(
                "the changes were made for other properties or ids than the database has by now: make them \
                 again"
                    .to_owned(),
            ));
        }
        self.set_duplicates(Duplicates::take(input)?)?;
        self.refuses_unknown = bool::take(input)?;
        self.counts_removed = bool::take(input)?;
        self.counts_not_found = bool::take(input)?;
        let (defined, suggested) = (Vec::<PropertyRecord>::take(input)?, Vec::<bool>::take(input)?);
        for (PropertyRecord { name, element, logical, .. }, is_suggested) in
            defined.into_iter().zip(suggested)
        {
            match is_suggested {
                true => self.suggest_vertex_property(&name, PropertyType { element, logical }),
                false => self.define_vertex_property(&name, PropertyType { element, logical }),
            }
        }
        let names = Vec::<String>::take(input)?;
        for _ in 0..u64::take(input)? {
            self.take_change(&names, input)?;
        }
        Ok(())
    }

    fn take_change(&mut self, names: &[String], input: &mut FieldInput<'_>) -> Result<()> {
        let is_text = self.ids.is_text();
        let code = u8::take(input)?;
        let first = take_id(is_text, input)?;
        match code {
            EDGE | REPLACED_EDGE => {
                let second = take_id(is_text, input)?;
                let count = self.given_properties().count();
                let values = (0..count).map(|_| take_value(input)).collect::<Result<Vec<_>>>()?;
                match code {
                    EDGE => self.add_edge(first, second, &values),
                    _ => self.replace_edge(first, second, &values),
                }
            }
            NO_EDGE => self.remove_edge(first, take_id(is_text, input)?),
            NO_EDGES => {
                let (second, at_most) = (take_id(is_text, input)?, <Option<_> as FieldValue>::take(input)?);
                let count = u32::take(input)?;
                let value = |_| Ok((u32::take(input)?, take_value(input)?));
                let values = (0..count).map(value).collect::<Result<Vec<_>>>()?;
                self.remove_edges(first, second, &EdgeMatch { values: &values, at_most })
            }
            VERTEX => self.add_vertex(first),
            EXPECTED_VERTEX => self.expect_vertex(first),
            NO_VERTEX => self.remove_vertex(first),
            VALUE | NO_VALUE => {
                let name = names.get(u32::take(input)? as usize);
                let name = name.ok_or_else(|| input.corrupt("there is no property of this number"))?;
                let value = (code == VALUE).then(|| take_value(input)).transpose()?;
                self.set_vertex(first, name, value)
            }
            _ => Err(input.corrupt("the code of a change is unknown")),
        }
    }
}

impl BatchValue {
    /// The value as it was given.
    fn given(&self) -> PropertyValue<'_> {
        match self {
            Self::Number(number) => *number,
            Self::Text(text) => PropertyValue::Text(text),
            Self::Vector { bytes, is_wide } => PropertyValue::Vector(VectorValue::new(bytes, *is_wide)),
        }
    }
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    (bytes.len() as u32).put(out);
    out.extend_from_slice(bytes);
}

fn take_bytes<'i>(input: &mut FieldInput<'i>) -> Result<&'i [u8]> {
    let count = u32::take(input)? as usize;
    input.bytes(count)
}

fn take_id<'i>(is_text: bool, input: &mut FieldInput<'i>) -> Result<ExternalId<'i>> {
    Ok(if is_text { ExternalId::Text(take_bytes(input)?) } else { ExternalId::Int(u64::take(input)?) })
}

fn put_value(value: PropertyValue<'_>, out: &mut Vec<u8>) {
    match value {
        PropertyValue::Missing => MISSING.put(out),
        PropertyValue::Text(text) => {
            TEXT.put(out);
            put_bytes(text, out);
        }
        PropertyValue::Vector(vector) => {
            VECTOR.put(out);
            vector.is_wide().put(out);
            put_bytes(vector.bytes(), out);
        }
        PropertyValue::Boolean(value) => {
            BOOLEAN.put(out);
            value.put(out);
        }
        PropertyValue::Date(days) => {
            DATE.put(out);
            i64::from(days).put(out);
        }
        PropertyValue::Timestamp(time) => {
            TIMESTAMP.put(out);
            time.count.put(out);
            time.unit.put(out);
            time.offset_seconds.map(i64::from).put(out);
        }
        PropertyValue::EdgeId(id) => {
            EDGE_ID.put(out);
            id.bits().put(out);
        }
        number => {
            NUMBER.put(out);
            number.element().unwrap_or(ElementType::U64).put(out);
            number.bits().unwrap_or(0).put(out);
        }
    }
}

fn take_value<'i>(input: &mut FieldInput<'i>) -> Result<PropertyValue<'i>> {
    Ok(match u8::take(input)? {
        MISSING => PropertyValue::Missing,
        TEXT => PropertyValue::Text(take_bytes(input)?),
        VECTOR => {
            let (is_wide, bytes) = (bool::take(input)?, take_bytes(input)?);
            if !bytes.len().is_multiple_of(if is_wide { 8 } else { 4 }) {
                return Err(input.corrupt(format!("{:?} is no vector", shown(bytes))));
            }
            PropertyValue::Vector(VectorValue::new(bytes, is_wide))
        }
        NUMBER => {
            let element = ElementType::take(input)?;
            PropertyValue::from_bits(element, u64::take(input)?)
        }
        BOOLEAN => PropertyValue::Boolean(bool::take(input)?),
        DATE => PropertyValue::Date(take_narrow(input)?),
        TIMESTAMP => {
            let (count, unit) = (i64::take(input)?, TimeUnit::take(input)?);
            let offset_seconds = bool::take(input)?.then(|| take_narrow(input)).transpose()?;
            PropertyValue::Timestamp(Timestamp { count, unit, offset_seconds })
        }
        EDGE_ID => PropertyValue::EdgeId(EdgeId::from_bits(u64::take(input)?)),
        _ => return Err(input.corrupt("the code of a value is unknown")),
    })
}

fn take_narrow(input: &mut FieldInput<'_>) -> Result<i32> {
    i32::try_from(i64::take(input)?).map_err(|_| input.corrupt("a number has more than 32 bits"))
}
