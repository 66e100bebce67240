//! The id map that an import creates, for the vertices of the base layer.

use std::ops::Range;

use esker_format::{Column, Error, IdMapKind, Result};
use esker_graph::{Run, VertexId, vertex};

use super::external::ExternalId;
use super::files::{IdColumnFile, IdFiles};
use super::hash::IdHasher;
use super::index::{GROUP_LEN, IdIndex};
use super::list::IdList;

/// The ids of the vertices `0..num_vertices`.
#[derive(Debug)]
pub(super) struct BaseMap {
    pub(super) num_vertices: usize,
    form: BaseForm,
}

#[derive(Debug)]
enum BaseForm {
    /// No vertices.
    Empty {
        texts: bool,
    },
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
        ids: IdList,
        index: Box<IdIndex>,
    },
}

impl BaseMap {
    pub(super) fn identity(base: u64, num_vertices: usize) -> Self {
        Self { num_vertices, form: BaseForm::Identity { base } }
    }

    /// No ids, of a kind.
    pub(super) fn empty(texts: bool) -> Self {
        Self { num_vertices: 0, form: BaseForm::Empty { texts } }
    }

    pub(super) fn open(files: &IdFiles<'_>, kind: IdMapKind, base: u64, num_vertices: usize) -> Result<Self> {
        let form = match kind {
            IdMapKind::LayerIntegers | IdMapKind::LayerTexts if num_vertices == 0 => {
                BaseForm::Empty { texts: kind.is_text() }
            }
            IdMapKind::LayerIntegers | IdMapKind::LayerTexts => {
                return Err(Error::corrupt(files.directory, 0, "the complete layer does not hold all ids"));
            }
            IdMapKind::Identity => BaseForm::Identity { base },
            IdMapKind::Permuted => {
                let integers = files.open(IdColumnFile::Integers)?;
                let vertices = files.open(IdColumnFile::Vertices)?;
                integers.expect_len(num_vertices as u64)?;
                vertices.expect_len(num_vertices as u64)?;
                BaseForm::Permuted { base, integers, vertices }
            }
            IdMapKind::Integers => {
                let ids = IdList::integers(files, IdColumnFile::Integers, num_vertices)?;
                BaseForm::Indexed { ids, index: Box::new(IdIndex::open(files, num_vertices)?) }
            }
            IdMapKind::Texts => {
                let (texts, ends) = (IdColumnFile::Texts, IdColumnFile::TextEnds);
                let ids = IdList::texts(files, texts, ends, num_vertices)?;
                BaseForm::Indexed { ids, index: Box::new(IdIndex::open(files, num_vertices)?) }
            }
        };
        Ok(Self { num_vertices, form })
    }

    pub(super) fn is_text(&self) -> bool {
        match &self.form {
            BaseForm::Empty { texts } => *texts,
            BaseForm::Indexed { ids, .. } => ids.is_text(),
            BaseForm::Identity { .. } | BaseForm::Permuted { .. } => false,
        }
    }

    /// The base, if the ids are exactly the integers `base..base + n`, in any order.
    pub(super) fn dense_base(&self) -> Option<u64> {
        match self.form {
            BaseForm::Identity { base } | BaseForm::Permuted { base, .. } => Some(base),
            BaseForm::Empty { .. } | BaseForm::Indexed { .. } => None,
        }
    }

    /// The vertex with an id; `None` if the id is of another kind.
    pub(super) fn vertex_of(&self, id: ExternalId<'_>, hasher: &IdHasher) -> Result<Option<VertexId>> {
        match (&self.form, id) {
            (BaseForm::Identity { base }, ExternalId::Int(id)) => Ok(self.dense(id, *base).map(vertex)),
            (BaseForm::Permuted { base, vertices, .. }, ExternalId::Int(id)) => {
                self.dense(id, *base).map(|index| vertices.at(index)).transpose()
            }
            (BaseForm::Indexed { ids, index }, id) => {
                index.find(hasher.id(id), |v| Ok(ids.get(v as usize)? == id))
            }
            _ => Ok(None),
        }
    }

    /// Verifies all of it.
    pub(super) fn verify(&self, run: &Run) -> Result<()> {
        match &self.form {
            BaseForm::Indexed { ids, index } => ids.verify(run).and_then(|()| index.verify(run)),
            BaseForm::Permuted { vertices, .. } => vertices.all(run).map(drop),
            BaseForm::Empty { .. } | BaseForm::Identity { .. } => Ok(()),
        }
    }

    /// [`BaseMap::vertex_of`] for at most [`GROUP_LEN`] ids.
    pub(super) fn vertices_of(
        &self,
        ids: &[ExternalId<'_>],
        hasher: &IdHasher,
        found: &mut [Option<VertexId>],
    ) -> Result<()> {
        let BaseForm::Indexed { ids: own, index } = &self.form else {
            for (found, &id) in found.iter_mut().zip(ids) {
                *found = self.vertex_of(id, hasher)?;
            }
            return Ok(());
        };
        let mut hashes = [0; GROUP_LEN];
        hashes.iter_mut().zip(ids).for_each(|(hash, &id)| *hash = hasher.id(id));
        index.candidates(&hashes[..ids.len()], found)?;
        found.iter().flatten().for_each(|&v| own.prefetch_place(v as usize));
        found.iter().flatten().try_for_each(|&v| own.prefetch_text(v as usize))?;
        for ((found, &id), hash) in found.iter_mut().zip(ids).zip(hashes) {
            let Some(v) = *found else { continue };
            if own.get(v as usize)? != id {
                *found = index.find(hash, |v| Ok(own.get(v as usize)? == id))?;
            }
        }
        Ok(())
    }

    /// The position of a dense integer.
    fn dense(&self, id: u64, base: u64) -> Option<usize> {
        let index = usize::try_from(id.checked_sub(base)?).ok()?;
        (index < self.num_vertices).then_some(index)
    }

    /// Calls `take` with the ids of the vertices of a range that are in this map, in order.
    pub(super) fn each_external<'a>(
        &'a self,
        range: Range<usize>,
        take: &mut impl FnMut(ExternalId<'a>) -> Result<()>,
    ) -> Result<()> {
        let range = range.start.min(self.num_vertices)..range.end.min(self.num_vertices);
        match &self.form {
            BaseForm::Identity { base } => {
                range.map(|v| (v as u64).wrapping_add(*base)).try_for_each(|id| take(ExternalId::Int(id)))
            }
            BaseForm::Permuted { base, integers, .. } => {
                let ids = integers.get(range)?.iter().map(|&v| (v as usize as u64).wrapping_add(*base));
                ids.map(ExternalId::Int).try_for_each(take)
            }
            BaseForm::Indexed { ids, .. } => ids.each(range, take),
            BaseForm::Empty { .. } => Ok(()),
        }
    }

    /// The id of an existing vertex.
    pub(super) fn external_of(&self, v: VertexId) -> Result<ExternalId<'_>> {
        match &self.form {
            BaseForm::Identity { base } => Ok(ExternalId::Int((v as usize as u64).wrapping_add(*base))),
            BaseForm::Permuted { base, integers, .. } => {
                let integer = integers.at(v as usize)? as usize as u64;
                Ok(ExternalId::Int(integer.wrapping_add(*base)))
            }
            BaseForm::Indexed { ids, .. } => ids.get(v as usize),
            BaseForm::Empty { .. } => Err(Error::invalid(format!("no id was imported for vertex {v}"))),
        }
    }
}
