//! The map that an import makes, of the vertices that the base layer has.

use esker_graph::{VertexId, vertex};

use super::external::ExternalId;
use super::files::{IdColumnFile, IdFiles};
use super::index::Index;
use super::names::Names;
use crate::error::Result;
use crate::format::{Column, IdMapKind};

/// The ids of the vertices `0..num_vertices`.
#[derive(Debug)]
pub(super) struct BaseMap {
    pub(super) num_vertices: usize,
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
    Indexed {
        names: Names,
        index: Box<Index>,
    },
}

impl BaseMap {
    pub(super) fn identity(base: u64, num_vertices: usize) -> Self {
        Self { num_vertices, form: Form::Identity { base } }
    }

    pub(super) fn open(files: &IdFiles<'_>, kind: IdMapKind, base: u64, num_vertices: usize) -> Result<Self> {
        let form = match kind {
            IdMapKind::Identity => Form::Identity { base },
            IdMapKind::Permuted => {
                let integers = files.open(IdColumnFile::Integers)?;
                let vertices = files.open(IdColumnFile::Vertices)?;
                integers.expect_len(num_vertices as u64)?;
                vertices.expect_len(num_vertices as u64)?;
                Form::Permuted { base, integers, vertices }
            }
            IdMapKind::Integers => {
                let names = Names::integers(files, IdColumnFile::Integers, num_vertices)?;
                Form::Indexed { names, index: Box::new(Index::open(files, num_vertices)?) }
            }
            IdMapKind::Texts => {
                let (texts, ends) = (IdColumnFile::Texts, IdColumnFile::TextEnds);
                let names = Names::texts(files, texts, ends, num_vertices)?;
                Form::Indexed { names, index: Box::new(Index::open(files, num_vertices)?) }
            }
        };
        Ok(Self { num_vertices, form })
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(&self.form, Form::Indexed { names, .. } if names.is_text())
    }

    /// If the ids are exactly the integers `base..base + n`, in whatever order the vertices are, the base.
    pub(super) fn dense_base(&self) -> Option<u64> {
        match self.form {
            Form::Identity { base } | Form::Permuted { base, .. } => Some(base),
            Form::Indexed { .. } => None,
        }
    }

    /// The vertex with an id of this map's kind.
    pub(super) fn vertex_of(&self, id: ExternalId<'_>) -> Result<Option<VertexId>> {
        match (&self.form, id) {
            (Form::Identity { base }, ExternalId::Int(id)) => Ok(self.dense(id, *base).map(vertex)),
            (Form::Permuted { base, vertices, .. }, ExternalId::Int(id)) => {
                self.dense(id, *base).map(|index| vertices.at(index)).transpose()
            }
            (Form::Indexed { names, index }, id) => {
                index.find(id.hash(), |v| Ok(names.get(v as usize)? == id))
            }
            _ => Ok(None),
        }
    }

    /// Position of a dense integer.
    fn dense(&self, id: u64, base: u64) -> Option<usize> {
        let index = usize::try_from(id.checked_sub(base)?).ok()?;
        (index < self.num_vertices).then_some(index)
    }

    /// The id of a vertex, which there is.
    pub(super) fn external_of(&self, v: VertexId) -> Result<ExternalId<'_>> {
        match &self.form {
            Form::Identity { base } => Ok(ExternalId::Int((v as usize as u64).wrapping_add(*base))),
            Form::Permuted { base, integers, .. } => {
                let integer = integers.at(v as usize)? as usize as u64;
                Ok(ExternalId::Int(integer.wrapping_add(*base)))
            }
            Form::Indexed { names, .. } => names.get(v as usize),
        }
    }
}
