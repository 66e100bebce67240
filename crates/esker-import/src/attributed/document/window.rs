//! The part of a text that is in memory.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::Result;
use esker_graph::Cancel;

use super::syntax::Syntax;
use crate::read::format::ReadOptions;
use crate::read::input::InputStream;
use crate::text::blocks::{count_lines, input_error};

/// A window that moves over a text. Memory: a block, or an element if that is longer.
pub(super) struct Window {
    path: Arc<PathBuf>,
    stream: InputStream,
    cancel: Cancel,
    syntax: Box<dyn Syntax>,
    buffer: Vec<u8>,
    /// The line on which the buffer begins.
    line: u64,
    /// Whether the buffer has the end of the text.
    is_last: bool,
    is_done: bool,
    block_bytes: usize,
    element_bytes_max: usize,
}

impl Window {
    /// A window of a stream of which `read` was read.
    pub(super) fn new(
        path: Arc<PathBuf>,
        stream: InputStream,
        mut read: Vec<u8>,
        options: &ReadOptions,
        syntax: Box<dyn Syntax>,
    ) -> Self {
        if read.starts_with(b"\xef\xbb\xbf") {
            read.drain(..3);
        }
        Self {
            path,
            stream,
            cancel: options.cancel.clone(),
            syntax,
            buffer: read,
            line: 1,
            is_last: false,
            is_done: false,
            block_bytes: options.block_bytes.max(1),
            element_bytes_max: options.line_bytes_max.max(1),
        }
    }

    /// Lets `take` take elements from the beginning of the text: it gets the text, the number of its first
    /// line, whether it is the last, the bytes of input that it took, and the syntax, and returns how many
    /// bytes it has taken. `None` at the end.
    ///
    /// # Errors
    /// Those of `take`; if the input cannot be read, or an element is too long.
    pub(super) fn next<T>(
        &mut self,
        mut take: impl FnMut(&str, u64, bool, u64, &mut dyn Syntax) -> Result<(usize, T)>,
    ) -> Result<Option<T>> {
        if self.is_done {
            return Ok(None);
        }
        let (mut size, mut input_bytes) = (self.block_bytes, 0);
        loop {
            self.cancel.check()?;
            self.fill(size)?;
            let is_whole = self.is_last && self.buffer.len() <= size;
            let limit = if is_whole { self.buffer.len() } else { size.min(self.buffer.len()) };
            input_bytes += self.stream.take_stored_bytes();
            let text = text_of(&self.path, &self.buffer[..limit], self.line, is_whole)?;
            let (used, taken) = take(text, self.line, is_whole, input_bytes, self.syntax.as_mut())?;
            if used > 0 || is_whole {
                self.line += count_lines(&self.buffer[..used]);
                self.buffer.drain(..used);
                self.is_done = is_whole;
                return Ok(Some(taken));
            }
            if size > self.element_bytes_max {
                let reason = format!("an element is longer than {} bytes", self.element_bytes_max);
                return Err(input_error(&self.path, Some(self.line), &self.buffer, reason));
            }
            size = size.saturating_mul(2).min(self.element_bytes_max + 1).max(size + 1);
        }
    }

    fn fill(&mut self, size: usize) -> Result<()> {
        let filled = self.buffer.len();
        if filled < size && !self.is_last {
            self.buffer.resize(size, 0);
            let end = self.stream.fill(&mut self.buffer, filled)?;
            self.is_last = end < size;
            self.buffer.truncate(end);
        }
        Ok(())
    }
}

/// Bytes that begin on a line, as text, but for a character that their end cuts.
fn text_of<'b>(path: &Arc<PathBuf>, bytes: &'b [u8], line: u64, is_whole: bool) -> Result<&'b str> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(text),
        Err(error) => error,
    };
    let (text, rest) = bytes.split_at(error.valid_up_to());
    if error.error_len().is_none() && !is_whole {
        return Ok(std::str::from_utf8(text).unwrap_or_default());
    }
    let reason = "the text is not UTF-8; convert it, for example with iconv";
    Err(input_error(path, Some(line + count_lines(text)), rest, reason))
}
