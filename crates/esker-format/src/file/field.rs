//! Tables of fields and their encoding: integers are little-endian; a 32-bit count precedes texts and lists.

use std::path::Path;

use crate::error::{Error, Result};

/// A value with an encoding in files.
pub trait FieldValue: Sized {
    /// The type's name in `docs/format.md`.
    #[cfg(test)]
    fn type_name() -> String;

    /// Appends the encoded value.
    fn put(&self, out: &mut Vec<u8>);

    /// Decodes a value that [`FieldValue::put`] encoded.
    ///
    /// # Errors
    /// [`Error::Corrupt`] at the first byte that does not fit.
    fn take(input: &mut FieldInput<'_>) -> Result<Self>;
}

/// Bytes of a file during decoding. Errors name the file and the offset.
#[derive(Debug)]
pub struct FieldInput<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    /// Offset of `bytes` in the file.
    start: u64,
    position: usize,
}

impl<'a> FieldInput<'a> {
    /// The `bytes` at offset `start` of the file at `path`.
    pub fn new(path: &'a Path, bytes: &'a [u8], start: u64) -> Self {
        Self { path, bytes, start, position: 0 }
    }

    /// Offset of the next value in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.start + self.position as u64
    }

    /// Number of bytes left.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if there are fewer.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        match self.bytes[self.position..].get(..count) {
            Some(bytes) => {
                self.position += count;
                Ok(bytes)
            }
            None => Err(self.corrupt(format!(
                "{} expected here, but {} left",
                esker_graph::counted(count, "byte", "bytes"),
                self.remaining()
            ))),
        }
    }

    /// An [`Error::Corrupt`] at the current offset.
    pub fn corrupt(&self, reason: impl Into<String>) -> Error {
        Error::corrupt(self.path, self.offset(), reason)
    }

    /// An error unless all bytes were decoded.
    ///
    /// # Errors
    /// [`Error::Corrupt`] at the first byte left.
    pub fn finish(self) -> Result<()> {
        if self.remaining() == 0 { Ok(()) } else { Err(self.corrupt("unexpected bytes follow")) }
    }
}

macro_rules! integer_values {
    ($($integer:ty),*) => {$(
        impl FieldValue for $integer {
            #[cfg(test)]
            fn type_name() -> String {
                stringify!($integer).to_owned()
            }

            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn take(input: &mut FieldInput<'_>) -> Result<Self> {
                let mut bytes = [0; size_of::<$integer>()];
                bytes.copy_from_slice(input.bytes(size_of::<$integer>())?);
                Ok(Self::from_le_bytes(bytes))
            }
        }
    )*};
}

integer_values!(u8, u16, u32, u64, i64);

impl FieldValue for bool {
    #[cfg(test)]
    fn type_name() -> String {
        "u8, 0 or 1".to_owned()
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(input: &mut FieldInput<'_>) -> Result<Self> {
        let wrong = input.corrupt("a truth value is neither 0 nor 1");
        match u8::take(input)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(wrong),
        }
    }
}

impl<const N: usize> FieldValue for [u8; N] {
    #[cfg(test)]
    fn type_name() -> String {
        format!("{N} bytes")
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn take(input: &mut FieldInput<'_>) -> Result<Self> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(input.bytes(N)?);
        Ok(bytes)
    }
}

impl FieldValue for String {
    #[cfg(test)]
    fn type_name() -> String {
        "text: u32 bytes, then UTF-8".to_owned()
    }

    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn take(input: &mut FieldInput<'_>) -> Result<Self> {
        let bytes = u32::take(input)? as usize;
        let wrong = input.corrupt("a text is not valid UTF-8");
        Self::from_utf8(input.bytes(bytes)?.to_vec()).map_err(|_| wrong)
    }
}

impl<T: FieldValue> FieldValue for Option<T> {
    #[cfg(test)]
    fn type_name() -> String {
        format!("u8, 0 or 1; if 1, then {}", T::type_name())
    }

    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(input: &mut FieldInput<'_>) -> Result<Self> {
        if bool::take(input)? { Ok(Some(T::take(input)?)) } else { Ok(None) }
    }
}

impl<T: FieldValue> FieldValue for Vec<T> {
    #[cfg(test)]
    fn type_name() -> String {
        format!("list: u32 count, then each {}", T::type_name())
    }

    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        self.iter().for_each(|value| value.put(out));
    }

    fn take(input: &mut FieldInput<'_>) -> Result<Self> {
        // Values are pushed one by one: a wrong count fails at the end of the input and does not allocate.
        (0..u32::take(input)?).map(|_| T::take(input)).collect()
    }
}

/// A type with a chapter in `docs/format.md`.
#[cfg(test)]
pub(crate) trait Documented {
    /// Name, description, and rows: (field, type, meaning) or (code, name, meaning).
    fn table() -> (&'static str, String, Vec<(String, String, String)>);
}

/// Declares a struct whose fields are stored in order, without gaps.
macro_rules! layout {
    ($(#[doc = $doc:literal])* $(#[derive($($derive:ident),*)])? $vis:vis struct $name:ident { $($(#[doc = $field_doc:literal])* $field:ident: $type:ty,)* }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Eq $(, $($derive),*)?)]
        $vis struct $name { $($(#[doc = $field_doc])* $vis $field: $type,)* }

        impl $crate::file::field::FieldValue for $name {
            #[cfg(test)]
            fn type_name() -> String {
                stringify!($name).to_owned()
            }

            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }

            fn take(input: &mut $crate::file::field::FieldInput<'_>) -> $crate::error::Result<Self> {
                Ok(Self { $($field: $crate::file::field::FieldValue::take(input)?,)* })
            }
        }

        #[cfg(test)]
        impl $crate::file::field::Documented for $name {
            fn table() -> (&'static str, String, Vec<(String, String, String)>) {
                let rows = vec![$((
                    stringify!($field).to_owned(),
                    <$type as $crate::file::field::FieldValue>::type_name(),
                    concat!($($field_doc),*).trim().to_owned(),
                ),)*];
                (stringify!($name), concat!($($doc),*).trim().to_owned(), rows)
            }
        }
    };
}

/// Declares an enum whose variants are stored as integers.
macro_rules! codes {
    ($(#[doc = $doc:literal])* $vis:vis enum $name:ident: $integer:ident { $($(#[doc = $code_doc:literal])* $variant:ident = $code:literal,)* }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $vis enum $name { $($(#[doc = $code_doc])* $variant = $code,)* }

        impl $crate::file::field::FieldValue for $name {
            #[cfg(test)]
            fn type_name() -> String {
                concat!(stringify!($integer), ", ", stringify!($name)).to_owned()
            }

            fn put(&self, out: &mut Vec<u8>) {
                (*self as $integer).put(out);
            }

            fn take(input: &mut $crate::file::field::FieldInput<'_>) -> $crate::error::Result<Self> {
                let wrong = input.corrupt(concat!("the code of ", stringify!($name), " is unknown"));
                match <$integer as $crate::file::field::FieldValue>::take(input)? {
                    $($code => Ok(Self::$variant),)*
                    _ => Err(wrong),
                }
            }
        }

        #[cfg(test)]
        impl $crate::file::field::Documented for $name {
            fn table() -> (&'static str, String, Vec<(String, String, String)>) {
                let rows = vec![$((
                    stringify!($code).to_owned(),
                    stringify!($variant).to_owned(),
                    concat!($($code_doc),*).trim().to_owned(),
                ),)*];
                (stringify!($name), concat!($($doc),*).trim().to_owned(), rows)
            }
        }
    };
}

pub(crate) use {codes, layout};

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: FieldValue + PartialEq + std::fmt::Debug>(value: &T) {
        let mut bytes = Vec::new();
        value.put(&mut bytes);
        let mut input = FieldInput::new(Path::new("f"), &bytes, 100);
        assert_eq!(&T::take(&mut input).unwrap(), value);
        input.finish().unwrap();
        for cut in 0..bytes.len() {
            let error = T::take(&mut FieldInput::new(Path::new("f"), &bytes[..cut], 100)).unwrap_err();
            assert!(
                matches!(error, Error::Corrupt { offset, .. } if offset >= 100 && offset <= 100 + cut as u64)
            );
        }
    }

    #[test]
    fn values_round_trip_and_truncated_ones_are_errors() {
        round_trip(&0x0123_4567_89AB_CDEF_u64);
        round_trip(&-5_i64);
        round_trip(&true);
        round_trip(&[1_u8, 2, 3]);
        round_trip(&"Grüße".to_owned());
        round_trip(&Some("x".to_owned()));
        round_trip(&None::<u16>);
        round_trip(&vec![1_u32, 2, 3]);
    }

    #[test]
    fn a_text_length_beyond_the_file_allocates_nothing() {
        let bytes = [0xFF, 0xFF, 0xFF, 0x7F, b'x'];
        let error = String::take(&mut FieldInput::new(Path::new("f"), &bytes, 0)).unwrap_err();
        assert!(error.to_string().contains("f is damaged at byte 4"), "{error}");
    }
}
