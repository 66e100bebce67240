//! Lines that are not UTF-8, as those of Latin-1 files.

use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;

use super::blocks::{count_lines, excerpt};
use crate::read::source::InputBlock;

/// The first such line of all inputs: its input, its number, and what it has.
#[derive(Debug, Default)]
pub(crate) struct OddLine(Mutex<Option<(usize, u64, String)>>);

impl OddLine {
    /// Looks at the lines of a block of the input `file`.
    pub(crate) fn look(&self, file: usize, block: &InputBlock) {
        let Err(error) = std::str::from_utf8(&block.bytes) else { return };
        let at = error.valid_up_to();
        let (before, rest) = block.bytes.split_at(at);
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', rest).map_or(block.bytes.len(), |newline| at + newline);
        let place = (file, block.first_line + count_lines(before));
        let mut odd = self.0.lock();
        if odd.as_ref().is_none_or(|(file, line, _)| place < (*file, *line)) {
            *odd = Some((place.0, place.1, excerpt(&block.bytes[start..end])));
        }
    }

    /// What to say of it; `paths` are those of the inputs.
    pub(crate) fn warning(&self, paths: &[Arc<PathBuf>]) -> Option<String> {
        let odd = self.0.lock();
        let (file, line, text) = odd.as_ref()?;
        let path = paths.get(*file)?.display();
        Some(format!(
            "{path}:{line}: the line is not UTF-8, so its texts are not shown right, and Parquet has no place for them; {CONVERT}: \
             {text:?}"
        ))
    }
}

/// What to do with a file that is not UTF-8.
const CONVERT: &str = "convert the file, for example: iconv -f LATIN1 -t UTF-8 old > new";

/// The warning for the first line that is not UTF-8 of a text that is read whole, if there is one.
pub fn odd_line_warning(path: PathBuf, bytes: Vec<u8>) -> (Option<String>, Vec<u8>) {
    let block = InputBlock { bytes, first_line: 1, file: 0, input_bytes: 0 };
    let odd = OddLine::default();
    odd.look(0, &block);
    (odd.warning(&[Arc::new(path)]), block.bytes)
}

/// Checks the name of a property, which a header of other bytes than UTF-8 gives with the sign for them.
///
/// # Errors
/// That it has the sign, in words.
pub fn check_name(name: &str) -> std::result::Result<(), String> {
    match name.contains(char::REPLACEMENT_CHARACTER) {
        true => Err(format!("the name {name:?} of a column is not UTF-8; {CONVERT}")),
        false => Ok(()),
    }
}
