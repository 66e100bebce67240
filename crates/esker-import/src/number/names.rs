//! The ids behind the numbers, written as the files of an id map: by vertex, and by hash.

use esker_format::{IdMapKind, Result};
use esker_graph::{VertexId, vertex};
use esker_layers::ids::{IdFiles, IndexWriter};

use super::context::{CUT_BITS, Context, on_each};
use super::key::{Kind, garbled};
use super::lane::{Lane, LaneWriter};
use super::part::{FIRST, Spread};
use super::place::{self, PLACES};
use super::rank::KeyGather;
use crate::keys::NumberedIds;
use crate::sort::spool::Spool;

/// All distinct ids of an import.
pub(super) struct DistinctIds<K> {
    context: Context,
    /// The partition of each number.
    route: Lane<u8>,
    /// The ids of each partition, by ascending number.
    keys: Vec<Lane<u8>>,
    kind: std::marker::PhantomData<fn() -> K>,
}

impl<K: Kind> NumberedIds for DistinctIds<K> {
    fn kind(&self) -> IdMapKind {
        K::ID_MAP
    }

    fn name(&self, number: u64) -> Result<String> {
        let mut keys = KeyGather::<K>::new(self.route.reader(), self.keys.clone());
        for _ in 0..number {
            keys.next_encoded()?;
        }
        let encoded = keys.next_encoded()?.ok_or_else(garbled)?;
        Ok(K::name(K::decode(encoded)?.0))
    }

    fn write(self: Box<Self>, files: &IdFiles<'_>, renumbered: Option<&Spool<VertexId>>) -> Result<()> {
        self.write_index(files, renumbered)?;
        let mut writer = K::create(files)?;
        match renumbered {
            None => self.for_each(|encoded| K::write(&mut writer, K::decode(encoded)?.0))?,
            Some(renumbered) => {
                for arranged in self.arranged(renumbered)? {
                    let mut reader = arranged.into_reader();
                    while reader.next_block()? {
                        self.context.work.check()?;
                        let mut rest = reader.rest();
                        while !rest.is_empty() {
                            let key;
                            (key, rest) = K::decode(rest)?;
                            K::write(&mut writer, key)?;
                        }
                    }
                }
            }
        }
        K::finish(writer)
    }
}

impl<K: Kind> DistinctIds<K> {
    /// The ids of some partitions: `route` gives the partition of each number, `keys` those of each partition
    /// by ascending number.
    pub(super) fn new(context: Context, route: Lane<u8>, keys: Vec<Lane<u8>>) -> Self {
        Self { context, route, keys, kind: std::marker::PhantomData }
    }

    /// Calls `visit` with each id, encoded, in the order of the numbers.
    fn for_each(&self, mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut keys = KeyGather::<K>::new(self.route.reader(), self.keys.clone());
        while let Some(encoded) = keys.next_encoded()? {
            visit(encoded)?;
        }
        Ok(())
    }

    /// The ids in the order of their vertices: the lanes one after another.
    fn arranged(&self, renumbered: &Spool<VertexId>) -> Result<Vec<Lane<u8>>> {
        let context = &self.context;
        let stretch = place::stretch(self.route.len());
        let mut places: Vec<_> =
            (0..PLACES).map(|_| LaneWriter::new(&context.shelf, context.block_bytes)).collect();
        let mut vertices = renumbered.cursor();
        let mut record = Vec::new();
        self.for_each(|encoded| {
            let vertex = vertices.next_record()?.ok_or_else(garbled)? as usize as u64;
            let place = places.get_mut((vertex / stretch) as usize).ok_or_else(garbled)?;
            place::encode(&mut record, vertex, encoded);
            place.extend(&record)
        })?;
        let places = places.into_iter().map(LaneWriter::finish).collect::<Result<Vec<_>>>()?;
        let starts = (0..).step_by(stretch as usize);
        let places = places.into_iter().zip(starts).collect();
        on_each(context, places, |(records, start)| place::arrange::<K>(context, &records, start, stretch))
    }

    fn write_index(&self, files: &IdFiles<'_>, renumbered: Option<&Spool<VertexId>>) -> Result<()> {
        let context = &self.context;
        let mut index = IndexWriter::create(files, self.route.len())?;
        let parts = self.keys.iter().zip(self.vertices_of_parts(renumbered)?).collect();
        let sorted = on_each(context, parts, |(keys, vertices)| {
            let pairs = self.pairs(keys, vertices)?;
            let mut sorted = LaneWriter::new(&context.shelf, context.block_bytes);
            sort_pairs(context, pairs, FIRST, &mut sorted)?;
            sorted.finish()
        })?;
        for pairs in sorted {
            let mut reader = pairs.into_reader();
            while let Some([hash, vertex]) = reader.next()? {
                index.push(hash, vertex as VertexId)?;
            }
        }
        index.finish()
    }

    /// For each partition, the vertices of its ids.
    fn vertices_of_parts(&self, renumbered: Option<&Spool<VertexId>>) -> Result<Vec<Lane<VertexId>>> {
        let writer = |_| LaneWriter::new(&self.context.shelf, self.context.block_bytes);
        let mut parts: Vec<_> = (0..self.keys.len()).map(writer).collect();
        let mut vertices = renumbered.map(Spool::cursor);
        let mut route = self.route.reader();
        let mut number = 0;
        while let Some(part) = route.next()? {
            let vertex = match &mut vertices {
                None => vertex(number),
                Some(vertices) => vertices.next_record()?.ok_or_else(garbled)?,
            };
            parts[usize::from(part)].push(vertex)?;
            number += 1;
        }
        parts.into_iter().map(LaneWriter::finish).collect()
    }

    /// Hash and vertex of each id of a partition.
    fn pairs(&self, keys: &Lane<u8>, vertices: Lane<VertexId>) -> Result<Lane<[u64; 2]>> {
        let mut pairs = LaneWriter::new(&self.context.shelf, self.context.block_bytes);
        let mut vertices = vertices.into_reader();
        keys.for_each_block(|mut rest| {
            self.context.work.check()?;
            while !rest.is_empty() {
                let key;
                (key, rest) = K::decode(rest)?;
                let vertex = vertices.next()?.ok_or_else(garbled)?;
                pairs.push([K::hash(&self.context.hasher, key), vertex as usize as u64])?;
            }
            Ok(())
        })?;
        pairs.finish()
    }
}

/// Sorts pairs of hash and vertex that were spread so far: in memory if the budget has room for them, else
/// cut again.
fn sort_pairs(
    context: &Context,
    pairs: Lane<[u64; 2]>,
    spread: Spread,
    sorted: &mut LaneWriter<[u64; 2]>,
) -> Result<()> {
    let bytes = pairs.len() * size_of::<[u64; 2]>() as u64;
    let held = context.work.budget.try_reserve(bytes);
    let next = spread.next(CUT_BITS).filter(|_| held.is_none() && bytes > context.allowance_bytes);
    let Some(next) = next else {
        let mut all = Vec::with_capacity(pairs.len() as usize);
        let mut reader = pairs.into_reader();
        while let Some(pair) = reader.next()? {
            all.push(pair);
        }
        all.sort_unstable();
        return all.into_iter().try_for_each(|pair| sorted.push(pair));
    };
    let mut parts: Vec<_> =
        (0..next.num_parts()).map(|_| LaneWriter::new(&context.shelf, context.block_bytes)).collect();
    let mut reader = pairs.into_reader();
    while let Some(pair) = reader.next()? {
        parts[usize::from(next.part_of(pair[0]))].push(pair)?;
    }
    parts.into_iter().try_for_each(|part| sort_pairs(context, part.finish()?, next, sorted))
}
