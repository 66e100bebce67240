//! Writes the changes that one layer makes to a vertex property.

use esker_format::{ColumnWriter, Element, ElementType, Error, Result};
use esker_graph::VertexId;

use super::column::UNSET;
use super::files::{PropertyFile, PropertyFiles};
use super::value::PropertyValue;

/// Elements gathered before they are appended to a column.
const OPEN_LEN: usize = 1 << 13;

/// A column and what is to be appended to it.
struct Open<T> {
    column: ColumnWriter<T>,
    open: Vec<T>,
}

impl<T: Element> Open<T> {
    fn create(files: &PropertyFiles<'_>, part: PropertyFile) -> Result<Self> {
        Ok(Self { column: files.create(part)?, open: Vec::new() })
    }

    #[inline]
    fn push(&mut self, value: T) -> Result<()> {
        self.open.push(value);
        if self.open.len() == OPEN_LEN {
            self.column.append(&self.open)?;
            self.open.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> Result<u64> {
        self.column.append(&self.open)?;
        self.column.finish()
    }
}

macro_rules! value_writer {
    ($($code:ident($type:ty)),*) => {
        enum ValueWriter {
            $($code(Open<$type>),)*
            /// Texts, or vectors of so many bytes.
            Texts { texts: ColumnWriter<u8>, ends: Open<u64>, end: u64, vector_bytes: Option<usize> },
        }

        impl ValueWriter {
            fn fixed(files: &PropertyFiles<'_>) -> Result<Self> {
                Ok(match files.record.element {
                    $(ElementType::$code => Self::$code(Open::create(files, PropertyFile::Values)?),)*
                })
            }

            /// Appends a value, or what stands for none. `false`: it is of another type.
            fn push(&mut self, value: Option<PropertyValue<'_>>) -> Result<bool> {
                match (self, value) {
                    $((Self::$code(values), None) => values.push(<$type>::default())?,)*
                    $((Self::$code(values), Some(PropertyValue::$code(value))) => values.push(value)?,)*
                    (Self::Texts { texts, ends, end, vector_bytes: Some(bytes) }, Some(PropertyValue::Vector(vector)))
                        if *bytes == vector.bytes().len() =>
                    {
                        texts.append(vector.bytes())?;
                        *end += *bytes as u64;
                        ends.push(*end)?;
                    }
                    (Self::Texts { texts, ends, end, vector_bytes: None }, Some(PropertyValue::Text(text))) => {
                        texts.append(text)?;
                        *end += text.len() as u64;
                        ends.push(*end)?;
                    }
                    (Self::Texts { ends, end, .. }, None) => ends.push(*end)?,
                    _ => return Ok(false),
                }
                Ok(true)
            }

            fn finish(self) -> Result<()> {
                match self {
                    $(Self::$code(values) => values.finish().map(drop),)*
                    Self::Texts { texts, ends, .. } => {
                        texts.finish()?;
                        ends.finish().map(drop)
                    }
                }
            }
        }
    };
}

value_writer!(U8(u8), U16(u16), U32(u32), U64(u64), I32(i32), I64(i64), F32(f32), F64(f64));

/// Writes the changes of a property in one layer. Memory: some buffers of at most 64 KiB and 1 MiB a column.
pub struct PropertyWriter {
    name: String,
    /// `None`: texts.
    element: Option<ElementType>,
    vertices: Open<VertexId>,
    codes: Open<u32>,
    values: ValueWriter,
    last: Option<(VertexId, u32)>,
}

impl PropertyWriter {
    /// Makes the files.
    ///
    /// # Errors
    /// If they cannot be made.
    pub fn create(files: &PropertyFiles<'_>) -> Result<Self> {
        let values = if files.record.holds_bytes() {
            let (texts, ends) =
                (files.create(PropertyFile::Texts)?, Open::create(files, PropertyFile::Ends)?);
            ValueWriter::Texts { texts, ends, end: 0, vector_bytes: files.record.vector_bytes() }
        } else {
            ValueWriter::fixed(files)?
        };
        Ok(Self {
            name: files.record.name.clone(),
            element: (!files.record.holds_bytes()).then_some(files.record.element),
            vertices: Open::create(files, PropertyFile::Vertices)?,
            codes: Open::create(files, PropertyFile::Codes)?,
            values,
            last: None,
        })
    }

    /// From the version with this code on, `vertex` has this value, or none. Changes come by ascending
    /// vertex, those of one vertex by ascending code.
    ///
    /// # Errors
    /// If files cannot be written; [`Error::Invalid`] if a change is out of order or its value of another
    /// type.
    pub fn push(&mut self, vertex: VertexId, code: u32, value: Option<PropertyValue<'_>>) -> Result<()> {
        if code >= UNSET || self.last.is_some_and(|last| last >= (vertex, code)) {
            return Err(Error::invalid(format!(
                "changes of {:?} are out of order at vertex {vertex}, code {code}",
                self.name
            )));
        }
        self.last = Some((vertex, code));
        if !self.values.push(value.map(|value| value.stored_as(self.element)))? {
            return Err(wrong_kind(&self.name, value));
        }
        self.vertices.push(vertex)?;
        self.codes.push(if value.is_none() { code | UNSET } else { code })
    }

    /// Completes and syncs the files; the number of changes.
    ///
    /// # Errors
    /// If files cannot be written.
    pub fn finish(self) -> Result<u64> {
        self.values.finish()?;
        self.codes.finish()?;
        self.vertices.finish()
    }
}

/// An error about a value that is not of the type of its property.
fn wrong_kind(name: &str, value: Option<PropertyValue<'_>>) -> Error {
    let found = value.as_ref().map_or("none", PropertyValue::kind);
    Error::invalid(format!("values of {name:?} are not {found}"))
}
