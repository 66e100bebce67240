//! Reads a file as a stream of words separated by blanks or line ends.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{Result, value::decimal};

use super::blocks::input_error;
use crate::read::head::InputHead;
use crate::read::input::InputStream;

/// Bytes that one word may have.
const WORD_BYTES_MAX: usize = 4096;

/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// Words of one input. Memory: 256 KiB.
pub(crate) struct InputWords {
    stream: InputStream,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    at_end: bool,
    is_last: bool,
}

/// The words of `bytes`.
pub(crate) fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| is_space(*byte)).filter(|word| !word.is_empty())
}

#[inline(always)]
fn is_space(byte: u8) -> bool {
    byte <= b' '
}

impl InputWords {
    /// From the beginning of an input.
    pub(crate) fn new(head: InputHead) -> Self {
        let mut buffer = head.bytes;
        let filled = buffer.len();
        buffer.resize(filled.max(BUFFER_BYTES), 0);
        Self { stream: head.stream, buffer, at: 0, filled, at_end: head.whole, is_last: false }
    }

    /// The path, for messages.
    pub(crate) fn path(&self) -> &Arc<PathBuf> {
        self.stream.path()
    }

    /// Bytes taken from the input since the last call.
    pub(crate) fn take_stored_bytes(&mut self) -> u64 {
        self.stream.take_stored_bytes()
    }

    /// Says whether the words read next are the last of the file.
    pub(crate) fn set_last(&mut self, is_last: bool) {
        self.is_last = is_last;
    }

    /// Moves the unread bytes to the front and reads more behind them. Returns whether there were more.
    fn refill(&mut self) -> Result<bool> {
        if self.at_end {
            return Ok(false);
        }
        self.buffer.copy_within(self.at..self.filled, 0);
        let kept = self.filled - self.at;
        self.at = 0;
        self.filled = self.stream.fill(&mut self.buffer, kept)?;
        self.at_end = self.filled < self.buffer.len();
        Ok(self.filled > kept)
    }

    /// The next word; empty at the end.
    pub(crate) fn next_word(&mut self) -> Result<&[u8]> {
        loop {
            while self.at < self.filled && is_space(self.buffer[self.at]) {
                self.at += 1;
            }
            let word =
                self.buffer[self.at..self.filled].iter().take(WORD_BYTES_MAX + 1).position(|b| is_space(*b));
            let length = match word {
                Some(length) => length,
                None if self.filled - self.at > WORD_BYTES_MAX => {
                    let reason =
                        format!("a word is longer than {WORD_BYTES_MAX} bytes: this is no adjacency graph");
                    return Err(input_error(self.path(), None, &self.buffer[self.at..self.filled], reason));
                }
                None if self.refill()? => continue,
                None => self.filled - self.at,
            };
            let start = self.at;
            self.at += length;
            return Ok(&self.buffer[start..self.at]);
        }
    }

    /// The next word as a count.
    pub(crate) fn next_count(&mut self, what: &str) -> Result<u64> {
        let word = self.next_word()?;
        match decimal::id(word) {
            Ok(count) => Ok(count),
            Err(_) if word.is_empty() => {
                let reason =
                    format!("the file ends where {what} belongs: it is cut short; copy or download it again");
                Err(input_error(self.path(), None, b"", reason))
            }
            Err(_) => {
                let word = word.to_vec();
                Err(input_error(self.path(), None, &word, format!("a word stands where {what} belongs")))
            }
        }
    }

    /// Skips `count` words; `what` names them in the error if some are missing.
    pub(crate) fn skip(&mut self, count: u64, what: &str) -> Result<()> {
        let missing = self.pass(count, |_| ())?;
        self.check_missing(missing, what)
    }

    /// Appends the next `count` words and the blanks between them to `out`; the error counts `later` more
    /// words as missing.
    pub(crate) fn take(&mut self, count: u64, later: u64, what: &str, out: &mut Vec<u8>) -> Result<()> {
        let missing = self.pass(count, |bytes| out.extend_from_slice(bytes))?;
        self.check_missing(if missing > 0 { missing + later } else { 0 }, what)
    }

    fn check_missing(&self, missing: u64, what: &str) -> Result<()> {
        if missing == 0 {
            return Ok(());
        }
        let reason =
            format!("the file ends {missing} {what} too early: it is cut short; copy or download it again");
        Err(input_error(self.path(), None, b"", reason))
    }

    /// Hands the bytes of `count` words to `sink`; returns how many words were missing.
    fn pass(&mut self, mut count: u64, mut sink: impl FnMut(&[u8])) -> Result<u64> {
        while count > 0 {
            let bytes = &self.buffer[self.at..self.filled];
            let (taken, words) = whole_words(bytes, count, self.at_end);
            sink(&bytes[..taken]);
            self.at += taken;
            count -= words;
            if count > 0 && !self.refill()? {
                if self.at_end && self.at == self.filled {
                    return Ok(count);
                }
                if !self.at_end {
                    let reason = "a word is longer than a buffer: this is no adjacency graph";
                    return Err(input_error(self.path(), None, &self.buffer[..80], reason));
                }
            }
        }
        Ok(0)
    }

    /// Checks that nothing follows, if these were the last words.
    pub(crate) fn check_end(&mut self, num_edges: u64) -> Result<()> {
        if !self.is_last || self.next_word()?.is_empty() {
            return Ok(());
        }
        let reason = format!(
            "more numbers follow than the {} of the header: the header is wrong, or two files were joined",
            esker_graph::counted(num_edges, "edge", "edges")
        );
        Err(input_error(self.path(), None, b"", reason))
    }
}

/// The length of the first `count` whole words of `bytes`, or of as many as there are, and how many these
/// are. A word at the very end is whole only `at_end`.
fn whole_words(bytes: &[u8], count: u64, at_end: bool) -> (usize, u64) {
    let mut words = 0;
    let mut end = 0;
    let mut in_word = false;
    for (at, byte) in bytes.iter().enumerate() {
        let space = is_space(*byte);
        if space && in_word {
            words += 1;
            end = at + 1;
            if words == count {
                return (end, words);
            }
        }
        in_word = !space;
    }
    if at_end {
        return (bytes.len(), words + u64::from(in_word));
    }
    (if in_word { end } else { bytes.len() }, words)
}
