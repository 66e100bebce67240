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
    /// Looks at the lines of a block.
    pub(crate) fn look(&self, block: &InputBlock) {
        let Err(error) = std::str::from_utf8(&block.bytes) else { return };
        let at = error.valid_up_to();
        let (before, rest) = block.bytes.split_at(at);
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', rest).map_or(block.bytes.len(), |newline| at + newline);
        let place = (block.file, block.first_line + count_lines(before));
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
            "{path}:{line}: the line is not UTF-8, so its texts are not shown right, and Parquet has no place for them; convert the file, \
             for example: iconv -f LATIN1 -t UTF-8 old > new: {text:?}"
        ))
    }
}
