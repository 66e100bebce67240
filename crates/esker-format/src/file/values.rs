//! Columns whose element type is known only at run time.

use std::any::Any;
use std::ops::Range;
use std::path::Path;

use esker_graph::Run;

use crate::error::Result;
use crate::file::column::{Column, PageHint};
use crate::file::header::{
    COLUMN_MAGIC, ColumnHeader, ColumnSpec, Element, ElementType, Origin, read_header_page_at,
};
use crate::file::size::PAGE_BYTES;
use crate::io::Files;

fn header_of(files: &dyn Files, path: &Path) -> Result<ColumnHeader> {
    let file = files.open(path)?;
    let map = file.map()?;
    let page = map.load(0..map.len().min(PAGE_BYTES))?;
    read_header_page_at(file.path(), map.start() as u64, page, COLUMN_MAGIC)
}

macro_rules! values {
    ($($code:ident($type:ty)),*) => {
        /// A column of any element type.
        #[derive(Debug)]
        pub enum Values {
            $(#[doc = concat!("Elements of type ", stringify!($type), ".")] $code(Column<$type>),)*
        }

        /// Verified elements of a column of any element type.
        #[derive(Debug, Clone, Copy)]
        pub enum ValueSlice<'a> {
            $(#[doc = concat!("Elements of type ", stringify!($type), ".")] $code(&'a [$type]),)*
        }

        impl ValueSlice<'_> {
            /// Appends the bits of a range of elements, as [`Values::bits_at`] returns them. Panics if the
            /// range exceeds the slice.
            pub fn append_bits(&self, range: Range<usize>, out: &mut Vec<u64>) {
                match self {
                    $(Self::$code(values) => out.extend(values[range].iter().map(|value| {
                        let mut bytes = [0; 8];
                        bytes[..size_of::<$type>()].copy_from_slice(&value.to_le_bytes());
                        u64::from_le_bytes(bytes)
                    })),)*
                }
            }
        }

        impl ValueSlice<'_> {
            /// The bits of an element, as [`Values::bits_at`] returns them. Panics if `index` exceeds the
            /// slice.
            #[inline]
            pub fn bits_at(&self, index: usize) -> u64 {
                match self {
                    $(Self::$code(values) => {
                        let mut bytes = [0; 8];
                        bytes[..size_of::<$type>()].copy_from_slice(&values[index].to_le_bytes());
                        u64::from_le_bytes(bytes)
                    })*
                }
            }

            /// Copies the bits of ranges of elements to `out`, each to the position given with it. Panics if
            /// a range exceeds the slice or `out`.
            pub fn put_bits(&self, runs: impl Iterator<Item = (usize, Range<usize>)>, out: &mut [u64]) {
                match self {
                    $(Self::$code(values) => runs.for_each(|(to, range)| {
                        for (bits, value) in out[to..to + range.len()].iter_mut().zip(&values[range]) {
                            let mut bytes = [0; 8];
                            bytes[..size_of::<$type>()].copy_from_slice(&value.to_le_bytes());
                            *bits = u64::from_le_bytes(bytes);
                        }
                    }),)*
                }
            }
        }

        impl Values {
            /// All elements, verified.
            ///
            /// # Errors
            /// As [`Column::all`].
            pub fn all(&self, run: &Run) -> Result<ValueSlice<'_>> {
                Ok(match self {
                    $(Self::$code(column) => ValueSlice::$code(column.all(run)?),)*
                })
            }

            /// Elements of a range, verified.
            ///
            /// # Errors
            /// As [`Column::get`].
            pub(crate) fn get(&self, range: Range<usize>) -> Result<ValueSlice<'_>> {
                Ok(match self {
                    $(Self::$code(column) => ValueSlice::$code(column.get(range)?),)*
                })
            }

            /// As [`Column::open`], for elements of type `element`.
            ///
            /// # Errors
            /// As [`Column::open`].
            pub fn open(files: &dyn Files, path: &Path, spec: ColumnSpec, element: ElementType) -> Result<Self> {
                Ok(match element {
                    $(ElementType::$code => Self::$code(Column::open(files, path, spec)?),)*
                })
            }

            /// As [`Column::open`], for elements of the type in the file's header.
            ///
            /// # Errors
            /// As [`Column::open`].
            pub fn open_of_kind(files: &dyn Files, path: &Path, spec: ColumnSpec) -> Result<Self> {
                Self::open(files, path, spec, header_of(files, path)?.element)
            }

            /// Opens a column of any kind and element type.
            ///
            /// # Errors
            /// As [`Column::open`].
            pub fn open_any(files: &dyn Files, path: &Path, origin: Origin) -> Result<Self> {
                let header = header_of(files, path)?;
                Self::open(files, path, ColumnSpec { origin, kind: header.kind }, header.element)
            }

            /// Type of the elements.
            pub fn element(&self) -> ElementType {
                match self {
                    $(Self::$code(_) => ElementType::$code,)*
                }
            }

            /// The column, if its elements have type `T`.
            pub fn typed<T: Element>(&self) -> Option<&Column<T>> {
                match self {
                    $(Self::$code(column) => (column as &dyn Any).downcast_ref(),)*
                }
            }

            /// Number of elements.
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$code(column) => column.len(),)*
                }
            }

            /// Whether the column has no elements.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The file that holds it.
            pub fn path(&self) -> &Path {
                match self {
                    $(Self::$code(column) => column.path(),)*
                }
            }

            /// As [`Column::first_byte`].
            pub fn first_byte(&self) -> u64 {
                match self {
                    $(Self::$code(column) => column.first_byte(),)*
                }
            }

            /// As [`Column::expect_len`].
            ///
            /// # Errors
            /// As [`Column::expect_len`].
            pub fn expect_len(&self, expected: u64) -> Result<()> {
                match self {
                    $(Self::$code(column) => column.expect_len(expected),)*
                }
            }

            /// Size in bytes, header and checksums included.
            pub fn file_bytes(&self) -> u64 {
                match self {
                    $(Self::$code(column) => column.file_bytes(),)*
                }
            }

            /// As [`Column::release`].
            pub fn release(&self) {
                match self {
                    $(Self::$code(column) => column.release(),)*
                }
            }

            /// As [`Column::hint`].
            pub fn hint(&self, hint: PageHint) {
                match self {
                    $(Self::$code(column) => column.hint(hint),)*
                }
            }

            /// As [`Column::value_range`].
            pub fn value_range(&self) -> Option<(i64, i64)> {
                match self {
                    $(Self::$code(column) => column.value_range(),)*
                }
            }

            /// Verifies all checksums, and the range that the header states.
            ///
            /// # Errors
            /// As [`Column::all`]; [`crate::Error::Corrupt`] if the values have another range.
            pub fn verify(&self, run: &Run) -> Result<()> {
                match self {
                    $(Self::$code(column) => column.expect_range(run),)*
                }
            }

            /// The bits of an element, zero-extended to 64.
            ///
            /// # Errors
            /// If its block is damaged, or the column has no such element.
            pub fn bits_at(&self, index: usize) -> Result<u64> {
                match self {
                    $(Self::$code(column) => column.at(index).map(|value| {
                        let mut bytes = [0; 8];
                        bytes[..size_of::<$type>()].copy_from_slice(&value.to_le_bytes());
                        u64::from_le_bytes(bytes)
                    }),)*
                }
            }

            /// Appends the bits of a range of elements, as [`Values::bits_at`] returns them.
            ///
            /// # Errors
            /// As [`Column::get`].
            pub fn append_bits(&self, range: Range<usize>, out: &mut Vec<u64>) -> Result<()> {
                let count = range.len();
                self.get(range)?.append_bits(0..count, out);
                Ok(())
            }
        }
    };
}

values!(U8(u8), U16(u16), U32(u32), U64(u64), I32(i32), I64(i64), F32(f32), F64(f64));
