//! Values in the blocks of an exchange, and rows of answers, many of which travel one after another: integers
//! are little-endian; an integer id takes eight bytes, a text four of length and its own.

use esker_format::{Error, Result};
use esker_store::ids::ExternalId;

/// The most bytes of a message from a worker to the command.
pub(crate) const MESSAGE_BYTES_MAX: u32 = 1 << 26;

/// Appends an id.
pub(crate) fn put_id(out: &mut Vec<u8>, id: ExternalId<'_>) {
    match id {
        ExternalId::Int(id) => out.extend_from_slice(&id.to_le_bytes()),
        ExternalId::Text(text) => put_bytes(out, text),
    }
}

/// Appends a length and bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// Appends an integer.
pub(crate) fn put_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// What is left of a block.
pub(crate) struct Taker<'a>(pub(crate) &'a [u8]);

impl<'a> Taker<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(|| {
            let missing = count - self.0.len();
            Error::invalid(format!(
                "a message between processes ends {} too early: all processes must run the same Esker",
                esker_graph::counted(missing, "byte", "bytes")
            ))
        })?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.bytes(4)?);
        Ok(u32::from_le_bytes(bytes))
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.bytes(8)?);
        Ok(u64::from_le_bytes(bytes))
    }

    pub(crate) fn counted(&mut self) -> Result<&'a [u8]> {
        let count = self.u32()? as usize;
        self.bytes(count)
    }

    pub(crate) fn id(&mut self, is_text: bool) -> Result<ExternalId<'a>> {
        Ok(if is_text { ExternalId::Text(self.counted()?) } else { ExternalId::Int(self.u64()?) })
    }
}

/// A number of a fixed width, many of which travel one after another.
pub(crate) trait Travels: Sized {
    /// Appends some to a block.
    fn put_all(numbers: impl ExactSizeIterator<Item = Self>, block: &mut Vec<u8>);

    /// Takes a number of them from a block.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the block ends before.
    fn take<'b>(block: &mut Taker<'b>, count: usize) -> Result<impl Iterator<Item = Self> + 'b>;
}

macro_rules! travels {
    ($type:ty) => {
        impl Travels for $type {
            fn put_all(numbers: impl ExactSizeIterator<Item = Self>, block: &mut Vec<u8>) {
                let start = block.len();
                block.resize(start + numbers.len() * size_of::<Self>(), 0);
                let (places, _) = block[start..].as_chunks_mut::<{ size_of::<Self>() }>();
                places.iter_mut().zip(numbers).for_each(|(place, number)| *place = number.to_le_bytes());
            }

            fn take<'b>(block: &mut Taker<'b>, count: usize) -> Result<impl Iterator<Item = Self> + 'b> {
                let bytes = block.bytes(count * size_of::<Self>())?;
                let (numbers, _) = bytes.as_chunks::<{ size_of::<Self>() }>();
                Ok(numbers.iter().map(|number| Self::from_le_bytes(*number)))
            }
        }
    };
}

travels!(u64);
travels!(f32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_too_short_says_how_many_bytes_are_missing() {
        let message = Taker(&[1, 2, 3, 4, 5]).u64().expect_err("short").to_string();
        assert!(message.contains("ends 3 bytes too early"), "{message}");
    }
}
