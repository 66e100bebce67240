//! What the keys and measures of a query read of edges.

use esker_store::format::ElementType;
use esker_store::{ReservedBits, View};

use super::keys::{GroupEnd, KeyColumn, key_bits};
use super::measures::MeasureColumn;
use crate::edge_rows::{EdgeRowBlock, EdgeScan};
use crate::error::Result;

/// The scan of a query, and where its keys and measures find their values.
pub(super) struct QueryScan {
    pub(super) scan: EdgeScan,
    /// The place of each key among the properties that are read; `None` if it reads none.
    pub(super) keys: Vec<Option<usize>>,
    /// The place of each measure; `None` for a count.
    pub(super) measures: Vec<Option<usize>>,
}

impl QueryScan {
    /// # Errors
    /// As [`EdgeScan::new`] and [`EdgeScan::read`].
    pub(super) fn new(view: &View, keys: &[KeyColumn], measures: &[MeasureColumn]) -> Result<Self> {
        let mut scan = EdgeScan::new(view.clone())?;
        if keys.iter().any(KeyColumn::is_of_both_ends) {
            scan = scan.of_both_ends();
        }
        let places = keys.iter().map(|key| match key {
            KeyColumn::End(_) | KeyColumn::EndProperty(..) => Ok(None),
            KeyColumn::Property(property) => scan.read(property).map(Some),
            KeyColumn::Step(step) => scan.read(&step.property).map(Some),
        });
        let keys = places.collect::<Result<_>>()?;
        let places = measures.iter().map(|measure| measure.reads().map(|one| scan.read(one)).transpose());
        let measures = places.collect::<Result<_>>()?;
        Ok(Self { scan, keys, measures })
    }

    /// Calls `take` with each row of a block and its value of a key.
    ///
    /// # Errors
    /// As [`crate::window::Times::grid`].
    pub(super) fn each_key(
        &self,
        block: &EdgeRowBlock,
        number: usize,
        key: &KeyColumn,
        mut take: impl FnMut(usize, Option<u64>),
    ) -> Result<()> {
        let vertices_of = |end: GroupEnd| match end {
            GroupEnd::Source => block.sources(),
            GroupEnd::Target => block.targets(),
            GroupEnd::Vertex => block.ends(),
        };
        match key {
            KeyColumn::End(end) => {
                for (row, &v) in vertices_of(*end).iter().enumerate() {
                    take(row, Some(u64::from(v)));
                }
            }
            KeyColumn::EndProperty(end, values) => {
                for (row, &v) in vertices_of(*end).iter().enumerate() {
                    take(row, values.of(v));
                }
            }
            KeyColumn::Property(property) => self.each_value(block, self.keys[number], |row, bits| {
                take(row, bits.map(|bits| key_bits(property, bits)));
            }),
            KeyColumn::Step(step) => {
                let is_short = step.property.element == ElementType::I32;
                let time = |bits: u64| if is_short { i64::from(bits as i32) } else { bits.cast_signed() };
                let mut end_of = step.ends()?;
                self.each_value(block, self.keys[number], |row, bits| {
                    take(row, bits.map(|bits| end_of(time(bits))));
                });
            }
        }
        Ok(())
    }

    fn each_value(
        &self,
        block: &EdgeRowBlock,
        place: Option<usize>,
        mut take: impl FnMut(usize, Option<u64>),
    ) {
        let Some(place) = place else { return };
        let reserved = self.scan.reserved(place);
        for (row, &bits) in block.bits(place).iter().enumerate() {
            take(row, (!reserved.has(bits)).then_some(bits));
        }
    }

    /// The values of a measure, and what stands for a missing one; `None` for a count.
    pub(super) fn values<'b>(
        &self,
        block: &'b EdgeRowBlock,
        measure: usize,
    ) -> Option<(&'b [u64], ReservedBits)> {
        self.measures[measure].map(|place| (block.bits(place), self.scan.reserved(place)))
    }
}
