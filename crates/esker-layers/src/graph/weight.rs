//! The properties that can serve as weights.

use std::ops::Range;

use esker_format::{ElementType, Error, PropertyRecord, Result, Values};
use esker_graph::{Run, Weight};

use crate::layer::ListColumns;
use crate::tiles::{TileWeights, Tiles};

/// The weights of the arcs of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArcWeights {
    /// The number of the property that is the weight; unused if the weight is `()`.
    pub property: u32,
    /// The number of arcs of the version.
    pub num_arcs: u64,
}

/// A weight that the store can hand out: a column of exactly this type, or `()` for none.
pub trait ColumnWeight: Weight {
    /// Type of the column; `None` for `()`.
    const ELEMENT: Option<ElementType>;
    /// Whether few graphs have such weights. Then lists are handed over in boxed batches, and no algorithm is
    /// compiled into the scans of mapped lists with these weights: a smaller program, and scans that are a
    /// little slower.
    const RARE: bool;

    /// The weights of all arcs of some lists, verified.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if there is no such property of this type; cancellation.
    fn all<'a>(lists: &'a ListColumns, property: u32, run: &Run) -> Result<&'a [Self]>;

    /// The weights of the edges of tiles; none if there is nothing to read.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if the tiles do not have that property.
    fn of_tiles(tiles: &Tiles, property: u32) -> Result<Option<Box<dyn TileWeights<Self>>>>;

    /// The weights of some arcs, verified.
    ///
    /// # Errors
    /// As [`ColumnWeight::all`].
    fn some(lists: &ListColumns, property: u32, range: Range<usize>) -> Result<&[Self]>;

    /// Gives up the memory of the weights of some lists; they are read again when needed.
    fn release(lists: &ListColumns, property: u32);

    /// Hint: some weights will be read soon.
    fn will_need(lists: &ListColumns, property: u32, range: Range<usize>);

    /// Hint: weights will be read in no order; `false` takes it back.
    fn read_at_random(lists: &ListColumns, property: u32, at_random: bool);

    /// Whether two weights have the same bits.
    fn is_same(self, other: Self) -> bool;

    /// The smaller of two weights.
    #[must_use]
    fn smaller(self, other: Self) -> Self;

    /// A number of edges.
    fn of_count(count: usize) -> Self;

    /// The sum of some weights; `None` if it does not fit the type.
    fn sum(weights: impl Iterator<Item = Self>) -> Option<Self>;
}

impl ColumnWeight for () {
    const ELEMENT: Option<ElementType> = None;
    const RARE: bool = false;

    fn all<'a>(lists: &'a ListColumns, _property: u32, _run: &Run) -> Result<&'a [Self]> {
        Ok(lists.units())
    }

    fn of_tiles(_: &Tiles, _property: u32) -> Result<Option<Box<dyn TileWeights<Self>>>> {
        Ok(None)
    }

    fn some(lists: &ListColumns, _property: u32, range: Range<usize>) -> Result<&[Self]> {
        Ok(&lists.units()[..range.len()])
    }

    fn release(_: &ListColumns, _property: u32) {}

    fn will_need(_: &ListColumns, _property: u32, _range: Range<usize>) {}

    fn read_at_random(_: &ListColumns, _property: u32, _at_random: bool) {}

    fn is_same(self, (): Self) -> bool {
        true
    }

    fn smaller(self, (): Self) -> Self {}

    fn of_count(_: usize) -> Self {}

    fn sum(_: impl Iterator<Item = Self>) -> Option<Self> {
        Some(())
    }
}

macro_rules! stored_weights {
    ($($type:ty => $code:ident, $rare:expr, $sum:expr);*) => {$(
        impl ColumnWeight for $type {
            const ELEMENT: Option<ElementType> = Some(ElementType::$code);
            const RARE: bool = $rare;

            fn all<'a>(lists: &'a ListColumns, property: u32, run: &Run) -> Result<&'a [Self]> {
                match lists.property(property as usize) {
                    Some(Values::$code(column)) => column.all(run),
                    _ => Err(no_such(property, Self::ELEMENT)),
                }
            }

            fn of_tiles(tiles: &Tiles, property: u32) -> Result<Option<Box<dyn TileWeights<Self>>>> {
                Ok(Some(Box::new(tiles.property::<$type>(property)?)))
            }

            fn some(lists: &ListColumns, property: u32, range: Range<usize>) -> Result<&[Self]> {
                match lists.property(property as usize) {
                    Some(Values::$code(column)) => column.get(range),
                    _ => Err(no_such(property, Self::ELEMENT)),
                }
            }

            fn release(lists: &ListColumns, property: u32) {
                if let Some(Values::$code(column)) = lists.property(property as usize) {
                    column.release();
                }
            }

            fn will_need(lists: &ListColumns, property: u32, range: Range<usize>) {
                if let Some(Values::$code(column)) = lists.property(property as usize) {
                    column.will_need(range);
                }
            }

            fn read_at_random(lists: &ListColumns, property: u32, at_random: bool) {
                if let Some(Values::$code(column)) = lists.property(property as usize) {
                    column.read_at_random(at_random);
                }
            }

            #[inline(always)]
            fn is_same(self, other: Self) -> bool {
                self.to_ne_bytes() == other.to_ne_bytes()
            }

            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                if other < self { other } else { self }
            }

            fn of_count(count: usize) -> Self {
                count as Self
            }

            fn sum(mut weights: impl Iterator<Item = Self>) -> Option<Self> {
                weights.try_fold(Self::default(), $sum)
            }
        }
    )*};
}

stored_weights! {
    i32 => I32, false, i32::checked_add;
    i64 => I64, true, i64::checked_add;
    f32 => F32, true, |a, b| Some(a + b).filter(|sum| !sum.is_infinite());
    f64 => F64, false, |a, b| Some(a + b).filter(|sum| !sum.is_infinite())
}

fn no_such(property: u32, element: Option<ElementType>) -> Error {
    let element = element.map_or("nothing", ElementType::name);
    Error::invalid(format!("edge property number {property} does not hold {element}"))
}

/// The number of the property that is the weight, which must be of the type that is wanted.
pub fn check_weight<W: ColumnWeight>(weight: Option<&PropertyRecord>) -> Result<u32> {
    if let (Some(record), Some(wanted)) = (weight, W::ELEMENT)
        && (record.is_text() || record.element != wanted)
    {
        let found = if record.is_text() { "texts".to_owned() } else { record.type_name() };
        let message = format!("the edge property {:?} holds {found}, not {}", record.name, wanted.name());
        return Err(Error::invalid(message));
    }
    Ok(weight.map_or(0, |record| record.number))
}
