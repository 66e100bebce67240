//! LAMA, the large multiversioned array: pages of elements behind an indirection table. Clones share pages; a
//! write copies a shared page.
//!
//! A clone copies the indirection table (8 bytes a page) and increments the reference count of each page. The
//! first write of a clone to a shared page copies the page. Growing adds entries that all point to one page
//! of defaults, so a large capacity costs only its table. Reading an element takes one load more than in a
//! flat array.
//!
//! Pages hold 2^m elements, with the largest m that fits 8 KiB. The thesis found 4 and 8 KiB to work well;
//! the larger size keeps the table, which every clone copies, small (0.8 MB for 10^8 entries of 8 bytes).
//! Pages are arrays of a length known to the compiler, so their pointers are thin and reads need no length
//! check.
//!
//! Source: P. Macko, "LLAMA" (thesis), section 4.2.1.

use parking_lot::Mutex;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use esker_graph::{Run, Stop};

/// A page holds the largest power of two of elements that fits in this many bytes.
const PAGE_BYTES_MAX: usize = 8 << 10;
/// Pages that a worker takes at a time: half a megabyte.
const UNIT_PAGES: usize = 64;

/// An element type of a [`Lama`].
pub trait Paged: Copy + Default + Send + Sync {
    /// An array of [`Paged::PAGE_LEN`] elements.
    type Page: AsRef<[Self]> + AsMut<[Self]> + Clone + Send + Sync;
    /// Elements of a page: a power of two.
    const PAGE_LEN: usize;

    /// A page of defaults.
    fn blank() -> Arc<Self::Page>;
}

macro_rules! paged {
    ($($type:ty),*) => {$(
        impl Paged for $type {
            type Page = [$type; <$type as Paged>::PAGE_LEN];
            const PAGE_LEN: usize = 1 << (PAGE_BYTES_MAX / size_of::<$type>()).ilog2();

            fn blank() -> Arc<Self::Page> {
                Arc::new([<$type>::default(); <$type as Paged>::PAGE_LEN])
            }
        }
    )*};
}

paged!(u8, u16, u32, u64, i32, i64, f32, f64, (u64, u32));

/// An array with cheap clones. Elements that were never written hold the default value.
///
/// Memory: the table, and the pages that no other clone shares. Uses no locks: each clone has one owner.
pub struct Lama<T: Paged> {
    pages: Vec<Arc<T::Page>>,
    /// The page of defaults that growing adds; created when first needed.
    blank: Option<Arc<T::Page>>,
    len: usize,
}

impl<T: Paged> fmt::Debug for Lama<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lama")
            .field("len", &self.len)
            .field("pages", &self.pages.len())
            .finish_non_exhaustive()
    }
}

impl<T: Paged> Clone for Lama<T> {
    fn clone(&self) -> Self {
        Self { pages: self.pages.clone(), blank: self.blank.clone(), len: self.len }
    }
}

impl<T: Paged> Default for Lama<T> {
    fn default() -> Self {
        Self { pages: Vec::new(), blank: None, len: 0 }
    }
}

impl<T: Paged> Lama<T> {
    /// Elements of a page: a power of two.
    pub(crate) const PAGE_LEN: usize = T::PAGE_LEN;
    const BITS: u32 = T::PAGE_LEN.trailing_zeros();

    /// An array of `len` defaults. Memory: the table, and one page.
    pub(crate) fn with_len(len: usize) -> Self {
        let mut array = Self::default();
        array.grow(len);
        array
    }

    /// Number of elements.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The element at `index`. An index of [`Lama::len`] or more gives a default within the last page and
    /// panics beyond it.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> T {
        T::Page::as_ref(&self.pages[index >> Self::BITS])[index & (Self::PAGE_LEN - 1)]
    }

    /// All elements in order.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        (0..self.num_pages()).flat_map(|page| self.page(page).iter().copied())
    }

    /// Writes one element; copies its page if another clone shares it.
    ///
    /// # Panics
    /// If `index` is not below [`Lama::len`].
    #[inline]
    pub(crate) fn set(&mut self, index: usize, value: T) {
        assert!(index < self.len, "element {index} of {}", self.len);
        let page = Arc::make_mut(&mut self.pages[index >> Self::BITS]);
        page.as_mut()[index & (Self::PAGE_LEN - 1)] = value;
    }

    /// Grows the array to at least `len` elements; new elements hold the default value.
    pub(crate) fn grow(&mut self, len: usize) {
        self.len = self.len.max(len);
        let pages = self.len.div_ceil(Self::PAGE_LEN);
        if pages > self.pages.len() {
            let blank = self.blank.get_or_insert_with(T::blank);
            self.pages.resize(pages, Arc::clone(blank));
        }
    }

    /// Number of pages. Page `p` begins with element `p * PAGE_LEN`.
    pub(crate) fn num_pages(&self) -> usize {
        self.pages.len()
    }

    /// The elements of a page: `PAGE_LEN`, or fewer in the last.
    #[inline]
    pub(crate) fn page(&self, page: usize) -> &[T] {
        &T::Page::as_ref(&self.pages[page])[..Self::range(page, self.len).len()]
    }

    /// The range of elements in a page.
    fn range(page: usize, len: usize) -> Range<usize> {
        let first = page << Self::BITS;
        first..len.min(first + Self::PAGE_LEN)
    }

    /// Bytes of the table and of the pages that no other clone shares.
    #[cfg(test)]
    pub(crate) fn owned_bytes(&self) -> usize {
        let own = self.pages.iter().filter(|page| Arc::strong_count(page) == 1).count();
        self.table_bytes() + own * Self::PAGE_LEN * size_of::<T>()
    }

    /// Bytes of the indirection table, which are the cost of a clone.
    #[cfg(test)]
    pub(crate) fn table_bytes(&self) -> usize {
        self.pages.capacity() * size_of::<Arc<T::Page>>()
    }

    /// Builds an array of `len` elements on the threads of `run`: calls `fill` once a page, with the index of
    /// the page's first element and its elements, which hold the default value.
    ///
    /// # Errors
    /// The first error of `fill`; cancellation.
    pub(crate) fn build<E: From<Stop> + Send>(
        run: &Run,
        len: usize,
        fill: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
    ) -> Result<Self, E> {
        let mut array = Self::with_len(len);
        array.edit(run, |_| true, fill)?;
        Ok(array)
    }

    /// Changes pages on the threads of `run`. Calls `edit` for each page whose range of indexes `wants`
    /// accepts, with the index of the page's first element and its elements; copies the page first if another
    /// clone shares it.
    ///
    /// # Errors
    /// The first error of `edit`; cancellation. Some pages may then be changed and others not.
    pub(crate) fn edit<E: From<Stop> + Send>(
        &mut self,
        run: &Run,
        wants: impl Fn(Range<usize>) -> bool + Sync,
        edit: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let len = self.len;
        let units: Vec<_> = self.pages.chunks_mut(UNIT_PAGES).map(Mutex::new).collect();
        run.share(
            units.len(),
            || (),
            |(), unit| {
                let mut pages = units[unit].lock();
                for (page, values) in (unit * UNIT_PAGES..).zip(pages.iter_mut()) {
                    let range = Self::range(page, len);
                    if wants(range.clone()) {
                        edit(range.start, &mut Arc::make_mut(values).as_mut()[..range.len()])?;
                    }
                }
                Ok::<(), E>(())
            },
        )?;
        Ok(())
    }
}

impl<T: Paged> FromIterator<T> for Lama<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut array = Self::default();
        let mut values = values.into_iter();
        let mut open = Vec::with_capacity(Self::PAGE_LEN);
        loop {
            open.extend(values.by_ref().take(Self::PAGE_LEN));
            array.len += open.len();
            let complete = open.len() == Self::PAGE_LEN;
            if !open.is_empty() {
                let mut page = T::blank();
                Arc::make_mut(&mut page).as_mut()[..open.len()].copy_from_slice(&open);
                array.pages.push(page);
                open.clear();
            }
            if !complete {
                return array;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An entry such as a vertex table holds.
    type Entry = (u64, u32);

    const PAGE: usize = Lama::<Entry>::PAGE_LEN;

    #[test]
    fn a_page_takes_between_four_and_eight_kibibytes() {
        assert_eq!(Lama::<u8>::PAGE_LEN, 8192);
        assert_eq!(Lama::<u64>::PAGE_LEN, 1024);
        assert_eq!(PAGE, 512);
        assert_eq!(Lama::<u16>::PAGE_LEN, 4096);
    }

    #[test]
    fn a_large_capacity_costs_only_its_table() {
        let array = Lama::<u64>::with_len(1_000_000);
        assert_eq!(array.num_pages(), 977);
        assert_eq!(array.owned_bytes(), array.table_bytes());
        assert!(array.owned_bytes() < 16 << 10);
        assert_eq!(array.iter().count(), 1_000_000);
        assert_eq!(array.get(999_999), 0);
    }

    #[test]
    fn a_write_copies_only_its_page() {
        let run = Run::with_threads(2).unwrap();
        let old = Lama::<u64>::build::<Stop>(&run, 5000, |first, page| {
            (first as u64..).zip(page).for_each(|(i, value)| *value = i);
            Ok(())
        })
        .unwrap();
        let mut new = old.clone();
        new.set(2000, 7);
        assert_eq!((old.get(2000), new.get(2000), new.get(2001)), (2000, 7, 2001));
        assert_eq!(new.owned_bytes() - new.table_bytes(), 8 << 10);
        drop(new);
        assert_eq!(old.owned_bytes() - old.table_bytes(), 5 * (8 << 10));
    }

    #[test]
    #[should_panic(expected = "element 5 of 5")]
    fn a_write_past_the_end_panics() {
        Lama::<u32>::with_len(5).set(5, 1);
    }

    #[derive(Debug, Clone)]
    enum CloneEdit {
        Set(usize, Entry),
        Grow(usize),
        Fill { every: usize, value: Entry },
        Clone(usize),
        Drop(usize),
    }

    fn step() -> impl Strategy<Value = CloneEdit> {
        prop_oneof![
            8 => (any::<usize>(), any::<Entry>()).prop_map(|(i, value)| CloneEdit::Set(i, value)),
            1 => (0..6 * PAGE).prop_map(CloneEdit::Grow),
            1 => (1..4_usize, any::<Entry>()).prop_map(|(every, value)| CloneEdit::Fill { every, value }),
            2 => any::<usize>().prop_map(CloneEdit::Clone),
            1 => any::<usize>().prop_map(CloneEdit::Drop),
        ]
    }

    /// Applies an edit to one of the clones, and to the vector that models it.
    fn apply(step: &CloneEdit, run: &Run, clones: &mut Vec<(Lama<Entry>, Vec<Entry>)>, at: usize) {
        let count = clones.len();
        let (array, model) = &mut clones[at % count];
        match *step {
            CloneEdit::Set(index, value) if !model.is_empty() => {
                let index = index % model.len();
                array.set(index, value);
                model[index] = value;
            }
            CloneEdit::Set(..) => {}
            CloneEdit::Grow(len) => {
                array.grow(len);
                model.resize(len.max(model.len()), Entry::default());
            }
            CloneEdit::Fill { every, value } => {
                let wants = |range: Range<usize>| (range.start / PAGE).is_multiple_of(every);
                let fill = |first: usize, page: &mut [Entry]| {
                    page.iter_mut().enumerate().for_each(|(i, entry)| *entry = (value.0, (first + i) as u32));
                    Ok::<(), Stop>(())
                };
                array.edit(run, wants, fill).unwrap();
                for (i, entry) in model.iter_mut().enumerate() {
                    if (i / PAGE).is_multiple_of(every) {
                        *entry = (value.0, i as u32);
                    }
                }
            }
            CloneEdit::Clone(of) => {
                let copy = clones[of % count].clone();
                clones.push(copy);
            }
            CloneEdit::Drop(of) if count > 1 => drop(clones.swap_remove(of % count)),
            CloneEdit::Drop(_) => {}
        }
    }

    proptest! {
        #![proptest_config(esker_format::testing::cases(60))]
        #[test]
        fn clones_behave_as_separate_vectors(
            first in prop::collection::vec(any::<Entry>(), 0..3 * PAGE), steps in prop::collection::vec((step(), any::<usize>()), 0..60),
        ) {
            let run = Run::with_threads(2).unwrap();
            let mut clones = vec![(first.iter().copied().collect::<Lama<Entry>>(), first)];
            for (step, at) in &steps {
                apply(step, &run, &mut clones, *at);
            }
            for (array, model) in &clones {
                prop_assert_eq!(array.len(), model.len());
                prop_assert!(array.iter().eq(model.iter().copied()));
                prop_assert!((0..model.len()).all(|i| array.get(i) == model[i]));
            }
        }
    }
}
