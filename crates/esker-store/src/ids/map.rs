//! Reading an id map.

use std::ops::Range;

use esker_graph::{VertexId, vertex};

use super::external::{ExternalId, parse_int};
use super::files::{IdColumnFile, IdFiles};
use super::hash::{hash_int, hash_text};
use super::index::{Index, check_len};
use super::suggest::suggest;
use crate::error::{Error, Result};
use crate::format::{Column, IdMapKind};

/// The map between external ids and vertices. Nothing of it is loaded: files are mapped, and a look-up verifies the
/// blocks that it touches.
#[derive(Debug)]
pub struct IdMap {
    num_vertices: usize,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Identity {
        base: u64,
    },
    Permuted {
        base: u64,
        /// For each vertex, its integer less the base.
        integers: Column<VertexId>,
        /// For each integer less the base, its vertex.
        vertices: Column<VertexId>,
    },
    Integers {
        integers: Column<u64>,
        index: Index,
    },
    Texts {
        texts: Column<u8>,
        ends: Column<u64>,
        index: Index,
    },
}

impl IdMap {
    /// The ids `base..base + num_vertices` in the order of the vertices. It has no files.
    pub fn identity(base: u64, num_vertices: usize) -> Self {
        Self { num_vertices, form: Form::Identity { base } }
    }

    /// Opens the map that the manifest describes. `base` counts for dense integers only.
    ///
    /// # Errors
    /// If a file is missing, damaged in its header, or not of `num_vertices`.
    pub fn open(files: &IdFiles<'_>, kind: IdMapKind, base: u64, num_vertices: usize) -> Result<Self> {
        let form = match kind {
            IdMapKind::Identity => Form::Identity { base },
            IdMapKind::Permuted => {
                let integers = files.open(IdColumnFile::Integers)?;
                let vertices = files.open(IdColumnFile::Vertices)?;
                check_len(&integers, num_vertices)?;
                check_len(&vertices, num_vertices)?;
                Form::Permuted { base, integers, vertices }
            }
            IdMapKind::Integers => {
                let integers = files.open(IdColumnFile::Integers)?;
                check_len(&integers, num_vertices)?;
                Form::Integers { integers, index: Index::open(files, num_vertices)? }
            }
            IdMapKind::Texts => {
                let (texts, ends) = (files.open(IdColumnFile::Texts)?, files.open(IdColumnFile::TextEnds)?);
                check_len(&ends, num_vertices)?;
                Form::Texts { texts, ends, index: Index::open(files, num_vertices)? }
            }
        };
        Ok(Self { num_vertices, form })
    }

    /// Number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.num_vertices
    }

    /// Whether the ids are texts; else they are integers.
    pub fn is_text(&self) -> bool {
        matches!(self.form, Form::Texts { .. })
    }

    /// If the ids are exactly the integers `base..base + n`, in whatever order the vertices are, the base.
    pub fn dense_base(&self) -> Option<u64> {
        match self.form {
            Form::Identity { base } | Form::Permuted { base, .. } => Some(base),
            _ => None,
        }
    }

    /// The vertex with an id, if there is one. An integer is never the id of a vertex whose id is a text, nor the
    /// other way round; [`IdMap::parse`] makes the right kind of what a user typed.
    ///
    /// Expected cost: at most four blocks of 64 KiB, less what was touched before.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a touched block is damaged.
    pub fn vertex_of(&self, id: ExternalId<'_>) -> Result<Option<VertexId>> {
        match (&self.form, id) {
            (Form::Identity { base }, ExternalId::Int(id)) => Ok(self.dense(id, *base).map(vertex)),
            (Form::Permuted { base, vertices, .. }, ExternalId::Int(id)) => {
                self.dense(id, *base).map(|index| vertices.at(index)).transpose()
            }
            (Form::Integers { integers, index }, ExternalId::Int(id)) => {
                index.find(hash_int(id), |v| Ok(integers.at(v as usize)? == id))
            }
            (Form::Texts { texts, ends, index }, ExternalId::Text(id)) => {
                index.find(hash_text(id), |v| Ok(text_of(texts, ends, v)? == id))
            }
            _ => Ok(None),
        }
    }

    /// Position of a dense integer.
    fn dense(&self, id: u64, base: u64) -> Option<usize> {
        let index = usize::try_from(id.checked_sub(base)?).ok()?;
        (index < self.num_vertices).then_some(index)
    }

    /// The id of a vertex.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a touched block is damaged; [`Error::Invalid`] if there is no such vertex.
    pub fn external_of(&self, v: VertexId) -> Result<ExternalId<'_>> {
        if v as usize >= self.num_vertices {
            return Err(Error::Invalid(format!("there is no vertex {v}: there are {}", self.num_vertices)));
        }
        match &self.form {
            Form::Identity { base } => Ok(ExternalId::Int((v as usize as u64).wrapping_add(*base))),
            Form::Permuted { base, integers, .. } => {
                let integer = integers.at(v as usize)? as usize as u64;
                Ok(ExternalId::Int(integer.wrapping_add(*base)))
            }
            Form::Integers { integers, .. } => Ok(ExternalId::Int(integers.at(v as usize)?)),
            Form::Texts { texts, ends, .. } => Ok(ExternalId::Text(text_of(texts, ends, v)?)),
        }
    }

    /// The ids of a range of vertices, in their order.
    pub fn externals(&self, range: Range<usize>) -> impl Iterator<Item = Result<ExternalId<'_>>> {
        range.map(|index| self.external_of(vertex(index)))
    }

    /// What a user typed, as an id of this map's kind.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the ids are integers and the text is none.
    pub fn parse<'a>(&self, text: &'a str) -> Result<ExternalId<'a>> {
        if self.is_text() {
            return Ok(ExternalId::Text(text.as_bytes()));
        }
        parse_int(text)
            .map(ExternalId::Int)
            .ok_or_else(|| Error::Invalid(format!("{text:?} is no id: {}", self.describe())))
    }

    /// The vertex whose id a user typed.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none, with the nearest remedy; [`Error::Corrupt`] as [`IdMap::vertex_of`].
    pub fn find(&self, text: &str) -> Result<VertexId> {
        let id = self.parse(text)?;
        match self.vertex_of(id)? {
            Some(v) => Ok(v),
            None => {
                let exists = |other: &str| Ok(self.vertex_of(ExternalId::from(other))?.is_some());
                let near = if self.is_text() { suggest(text, exists)? } else { None };
                let remedy = match near {
                    Some(other) => format!("did you mean {other:?}?"),
                    None => self.describe(),
                };
                Err(Error::Invalid(format!("no vertex has the id {text:?}: {remedy}")))
            }
        }
    }

    /// The ids in a few words.
    fn describe(&self) -> String {
        let Some(last) = self.num_vertices.checked_sub(1) else {
            return "this graph has no vertices".to_owned();
        };
        let form = if self.is_text() { "texts" } else { "integers" };
        match (&self.form, self.external_of(0)) {
            (Form::Identity { base } | Form::Permuted { base, .. }, _) => {
                format!(
                    "the ids of this graph are the integers {base} to {}",
                    base.saturating_add(last as u64)
                )
            }
            (_, Ok(first)) => format!("the ids of this graph are {form} such as {:?}", first.to_string()),
            (_, Err(_)) => format!("the ids of this graph are {form}"),
        }
    }
}

/// The text of a vertex.
fn text_of<'a>(texts: &'a Column<u8>, ends: &Column<u64>, v: VertexId) -> Result<&'a [u8]> {
    let v = v as usize;
    let (start, end) = match v.checked_sub(1) {
        None => (0, ends.at(0)?),
        Some(before) => match ends.get(before..v.saturating_add(1))? {
            &[start, end] => (start, end),
            _ => return Ok(&[]),
        },
    };
    texts.get(start as usize..end as usize)
}
