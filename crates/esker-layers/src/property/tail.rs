//! What commits have changed of a vertex property since the last freeze: in memory, growing.

use std::collections::BTreeMap;

use esker_format::{ElementType, LogicalType, PropertyRecord, Result};
use esker_graph::VertexId;

use super::column::Change;
use super::files::PropertyFiles;
use super::merge::Output;
use super::value::PropertyValue;
use super::write::{PropertyWriter, wrong_kind};

/// Changes of a property by vertex and version. Memory: some 60 bytes a change, and the text.
#[derive(Debug, Clone)]
pub struct PropertyTail {
    name: String,
    /// `None`: texts.
    element: Option<ElementType>,
    logical: LogicalType,
    changes: BTreeMap<(VertexId, u64), Kept>,
}

/// A value that is owned; the type is that of the tail.
#[derive(Debug, Clone)]
enum Kept {
    Unset,
    Number(u64),
    Text(Box<[u8]>),
}

impl PropertyTail {
    /// No changes yet.
    pub fn new(record: &PropertyRecord) -> Self {
        let element = (!record.is_text()).then_some(record.element);
        Self { name: record.name.clone(), element, logical: record.logical.clone(), changes: BTreeMap::new() }
    }

    /// Number of changes.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// From this version on, `vertex` has this value, or none. The last of several changes in one version counts.
    ///
    /// # Errors
    /// [`esker_format::Error::Invalid`] if the value is not of the type of the property.
    pub fn set(&mut self, vertex: VertexId, version: u64, value: Option<PropertyValue<'_>>) -> Result<()> {
        let kept = match value {
            None => Kept::Unset,
            Some(value) if value.element() != self.element => {
                return Err(wrong_kind(&self.name, Some(value)));
            }
            Some(PropertyValue::Text(text)) => Kept::Text(text.into()),
            Some(number) => Kept::Number(number.bits().unwrap_or(0)),
        };
        self.changes.insert((vertex, version), kept);
        Ok(())
    }

    /// What a version sees of `vertex`; `None`: nothing was changed, ask the layers.
    pub fn get(&self, vertex: VertexId, version: u64) -> Option<Option<PropertyValue<'_>>> {
        let (_, kept) = self.changes.range((vertex, 0)..=(vertex, version)).next_back()?;
        Some(self.value(kept))
    }

    fn value<'k>(&self, kept: &'k Kept) -> Option<PropertyValue<'k>> {
        match (kept, self.element) {
            (Kept::Number(bits), Some(element)) => {
                Some(PropertyValue::from_bits(element, *bits).as_logical(&self.logical))
            }
            (Kept::Text(text), _) => Some(PropertyValue::Text(text)),
            _ => None,
        }
    }

    /// Forgets the changes of this version and of later ones: those of a commit that failed.
    pub fn forget_from(&mut self, version: u64) {
        self.changes.retain(|&(_, changed), _| changed < version);
    }

    /// Forgets the changes of this version and of older ones, which a layer has now.
    pub fn release(&mut self, version: u64) {
        self.changes.retain(|&(_, changed), _| changed > version);
    }

    /// Writes the changes up to the last of `versions` as those of a layer that tells these versions apart; the
    /// number of changes written. None: no files are made.
    ///
    /// # Errors
    /// If files cannot be written.
    pub fn write(&self, files: &PropertyFiles<'_>, versions: &[u64]) -> Result<u64> {
        let last = versions.last().copied().unwrap_or(0);
        let mut changes = self.changes.iter().filter(|((_, version), _)| *version <= last).peekable();
        if changes.peek().is_none() {
            return Ok(0);
        }
        let mut output = Output::new(PropertyWriter::create(files)?, false);
        for (&(vertex, version), kept) in changes {
            let code = versions.partition_point(|&told| told < version) as u32 + 1;
            output.push(Change { vertex, code, value: self.value(kept) })?;
        }
        output.finish()
    }
}
