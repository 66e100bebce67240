//! Writing columns whose element type is known only at run time.

use std::path::Path;

use crate::error::Result;
use crate::file::header::{ColumnSpec, ElementType};
use crate::file::writer::ColumnWriter;
use crate::io::Files;

/// Values that a [`ValuesWriter`] converts at a time, and so the size of its buffer.
pub const VALUES_AT_ONCE: usize = 1 << 11;

macro_rules! values_writer {
    ($($code:ident($type:ty)),*) => {
        /// Writes a column of a type known only at run time from the bits of its values.
        #[derive(Debug)]
        pub enum ValuesWriter {
            $(#[doc = concat!("Values of type `", stringify!($type), "`, and a buffer.")] $code(ColumnWriter<$type>, Vec<$type>),)*
        }

        impl ValuesWriter {
            /// Creates the file of a column, with a buffer of `buffer_bytes`, rounded up to whole blocks.
            ///
            /// # Errors
            /// As [`ColumnWriter::create`].
            pub fn create(files: &dyn Files, path: &Path, spec: ColumnSpec, element: ElementType, buffer_bytes: usize) -> Result<Self> {
                Ok(match element {
                    $(ElementType::$code => {
                        Self::$code(ColumnWriter::create_buffered(files, path, spec, buffer_bytes)?, Vec::new())
                    })*
                })
            }

            /// Appends values.
            ///
            /// # Errors
            /// As [`ColumnWriter::append`].
            pub fn append(&mut self, bits: impl Iterator<Item = u64>) -> Result<()> {
                match self {
                    $(Self::$code(column, buffer) => {
                        let mut values = bits.map(|bits| {
                            let mut bytes = [0; size_of::<$type>()];
                            bytes.copy_from_slice(&bits.to_le_bytes()[..size_of::<$type>()]);
                            <$type>::from_le_bytes(bytes)
                        });
                        loop {
                            buffer.clear();
                            buffer.extend(values.by_ref().take(VALUES_AT_ONCE));
                            if buffer.is_empty() {
                                return Ok(());
                            }
                            column.append(buffer)?;
                        }
                    })*
                }
            }

            /// Completes and syncs the file.
            ///
            /// # Errors
            /// As [`ColumnWriter::finish`].
            pub fn finish(self) -> Result<()> {
                match self {
                    $(Self::$code(column, _) => column.finish().map(|_| ()),)*
                }
            }
        }
    };
}

values_writer!(U8(u8), U16(u16), U32(u32), U64(u64), I32(i32), I64(i64), F32(f32), F64(f64));
