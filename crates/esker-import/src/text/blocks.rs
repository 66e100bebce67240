//! Cuts inputs into blocks at line ends. One thread runs this; it counts lines and touches each byte once or
//! twice.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use esker_format::{Error, Result};
use esker_graph::Message;
use memchr::memchr_iter;

use super::line::{Dialect, last_line_end};
use crate::read::format::ReadOptions;
use crate::read::input::{Input, InputStream};
use crate::read::live::{GrowingInput, Growth};
use crate::read::source::{InputBlock, RejectedText, RowText};

/// One input of several, and where in it the lines to cut begin.
pub(crate) struct PartialInput {
    /// The input.
    pub(crate) input: Input,
    /// Bytes before the first line: a byte order mark, comments, a header.
    pub(crate) skip_bytes: usize,
    /// Lines in those bytes.
    pub(crate) skip_lines: u64,
    /// If quotes may hold line ends: how lines are read.
    pub(crate) quoted: Option<Dialect>,
    /// The stream and what was read from it, of an input that cannot be opened twice.
    pub(crate) opened: Option<(InputStream, Vec<u8>)>,
}

/// Blocks of whole lines of several inputs in order. Memory: two blocks, or one line if that is longer.
pub(crate) struct LineBlocks {
    parts: Vec<PartialInput>,
    next_part: usize,
    open: Option<OpenPart>,
    block_bytes: usize,
    line_bytes_max: usize,
    live: Option<GrowingInput>,
}

struct OpenPart {
    input: Input,
    stream: InputStream,
    /// Bytes that were read and not handed out.
    rest: Vec<u8>,
    /// Number of the line with which `rest` begins.
    line: u64,
    quoted: Option<Dialect>,
    /// Whether the rest of a line that is too long comes next: its beginning was handed out.
    in_long_line: bool,
}

impl LineBlocks {
    /// Cuts `parts` in order.
    pub(crate) fn new(parts: Vec<PartialInput>, options: &ReadOptions) -> Self {
        let block_bytes = options.block_bytes.max(1);
        let (line_bytes_max, live) = (options.line_bytes_max.max(1), options.live.clone());
        Self { parts, next_part: 0, open: None, block_bytes, line_bytes_max, live }
    }

    /// The next block; [`InputBlock::file`] is the index of its part.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub(crate) fn next_block(&mut self) -> Result<Option<InputBlock>> {
        loop {
            if self.open.is_none() {
                let Some(part) = self.parts.get_mut(self.next_part) else { return Ok(None) };
                self.open = Some(OpenPart::new(part)?);
                self.next_part += 1;
            }
            if let Some(open) = &mut self.open {
                let (bytes, at_end) = match &self.live {
                    None => open.cut(self.block_bytes, self.line_bytes_max)?,
                    Some(live) => open.cut_live(self.block_bytes, self.line_bytes_max, live)?,
                };
                let first_line = open.line;
                let input_bytes = open.stream.take_stored_bytes();
                open.line += count_lines(&bytes);
                if at_end {
                    self.open = None;
                }
                // The bytes of an empty part or of a compressed end count for progress too.
                if !bytes.is_empty() || input_bytes > 0 {
                    return Ok(Some(InputBlock { bytes, first_line, file: self.next_part - 1, input_bytes }));
                }
            }
        }
    }
}

impl OpenPart {
    fn new(part: &mut PartialInput) -> Result<Self> {
        let (mut stream, mut rest) = match part.opened.take() {
            Some(opened) => opened,
            None => (part.input.open()?, Vec::new()),
        };
        if rest.len() < part.skip_bytes {
            let filled = rest.len();
            rest.resize(part.skip_bytes, 0);
            let filled = stream.fill(&mut rest, filled)?;
            rest.truncate(filled);
        }
        rest.drain(..part.skip_bytes.min(rest.len()));
        let (input, line, quoted) = (part.input.clone(), part.skip_lines + 1, part.quoted);
        Ok(Self { input, stream, rest, line, quoted, in_long_line: false })
    }

    /// Whole lines, and whether they are the last.
    fn cut(&mut self, block_bytes: usize, line_bytes_max: usize) -> Result<(Vec<u8>, bool)> {
        let mut bytes = std::mem::take(&mut self.rest);
        let mut size = block_bytes;
        loop {
            let filled = bytes.len();
            bytes.resize(size.max(filled), 0);
            let filled = self.stream.fill(&mut bytes, filled)?;
            let at_end = filled < bytes.len();
            bytes.truncate(filled);
            self.leave_long_line(&mut bytes);
            if at_end {
                return Ok((bytes, true));
            }
            if let Some(end) = last_line_end(&bytes, self.quoted.as_ref()) {
                self.rest = bytes.split_off(end);
                return Ok((bytes, false));
            }
            if bytes.len() > line_bytes_max {
                return Ok((self.beginning(bytes, line_bytes_max), false));
            }
            size = size.max((bytes.len() * 2).min(line_bytes_max + 1));
        }
    }

    /// The whole lines that there are, once there are some, and whether they are the last.
    fn cut_live(
        &mut self,
        block_bytes: usize,
        line_bytes_max: usize,
        live: &GrowingInput,
    ) -> Result<(Vec<u8>, bool)> {
        let mut bytes = std::mem::take(&mut self.rest);
        loop {
            self.leave_long_line(&mut bytes);
            if let Some(end) = last_line_end(&bytes, self.quoted.as_ref()) {
                self.rest = bytes.split_off(end);
                return Ok((bytes, false));
            }
            let filled = bytes.len();
            if filled > line_bytes_max {
                return Ok((self.beginning(bytes, line_bytes_max), false));
            }
            bytes.resize(filled + block_bytes, 0);
            let (mut is_complete, since) = (false, Instant::now());
            let read = loop {
                let read = self.stream.read_some(&mut bytes[filled..])?;
                if read > 0
                    || is_complete && (filled == 0 || live.has_settled(&self.input, &self.stream, since))
                {
                    break read;
                }
                if is_complete {
                    // A line that has begun may be finished although the next file has its first lines.
                    is_complete = !live.stop.is_cancelled();
                    if !is_complete {
                        break 0;
                    }
                    continue;
                }
                match live.waits(&self.input, &self.stream) {
                    Ok(Growth::Awaited) => {}
                    Ok(Growth::Ended) => break 0,
                    // Lines may have been appended between the last look and the change of files.
                    Ok(Growth::Complete) => is_complete = true,
                    // Lines may have been appended between the last look and the renaming.
                    Err(gone) => match self.stream.read_some(&mut bytes[filled..])? {
                        0 => return Err(gone),
                        read => break read,
                    },
                }
            };
            bytes.truncate(filled + read);
            if read == 0 {
                // The end of a line that is being written is still to come.
                let last = if live.follow && !is_complete { Vec::new() } else { bytes };
                return Ok((last, true));
            }
        }
    }

    /// The beginning of a line that is too long, as a line that the parser refuses: nobody holds all of it.
    fn beginning(&mut self, mut bytes: Vec<u8>, line_bytes_max: usize) -> Vec<u8> {
        // A quote that never closes: the line ends where it would without quotes.
        if let Some(end) = memchr::memchr(b'\n', &bytes) {
            self.rest = bytes.split_off(end + 1);
            return bytes;
        }
        bytes.truncate(line_bytes_max + 1);
        bytes.push(b'\n');
        self.in_long_line = true;
        bytes
    }

    /// Drops the rest of a line that is too long.
    fn leave_long_line(&mut self, bytes: &mut Vec<u8>) {
        if self.in_long_line {
            let end = memchr::memchr(b'\n', bytes);
            self.in_long_line = end.is_none();
            bytes.drain(..end.map_or(bytes.len(), |end| end + 1));
        }
    }
}

/// Why the line at `at` is too long; `None` if it is not.
pub(crate) fn too_long(bytes: &[u8], at: usize, line_bytes_max: usize) -> Option<String> {
    if bytes.len() - at <= line_bytes_max || memchr::memchr(b'\n', &bytes[at..=at + line_bytes_max]).is_some()
    {
        return None;
    }
    Some(format!(
        "the line is longer than {line_bytes_max} bytes, so this is no list of edges; name the format if it is another"
    ))
}

/// Line feeds in `bytes`.
pub(crate) fn count_lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// The start of an offending text, fit to be shown.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= 80 {
        String::from_utf8_lossy(line).into_owned()
    } else {
        format!("{}...", String::from_utf8_lossy(&line[..77]).trim_end_matches('\u{fffd}'))
    }
}

/// What is kept of a rejected line.
pub(crate) fn rejected_line(bytes: &[u8], kept: RejectedText) -> RowText {
    match kept {
        RejectedText::Excerpts => excerpt(bytes.trim_ascii()).into(),
        RejectedText::Rows => without_line_end(bytes).into(),
    }
}

/// A line without the bytes that end it.
pub(crate) fn without_line_end(bytes: &[u8]) -> &[u8] {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Refuses what is not text of one byte a letter.
///
/// # Errors
/// What it is instead, and what to do, in words.
pub fn check_encoding(head: &[u8]) -> std::result::Result<(), String> {
    let utf16 = "the text is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8 old > new";
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(utf16.into());
    }
    let sample = &head[..head.len().min(4096)];
    let zeros_at = |odd: usize| sample.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros_at(0), zeros_at(1));
    let half = sample.len() / 2;
    if half >= 4 && (even == 0 && odd * 10 >= half * 9 || odd == 0 && even * 10 >= half * 9) {
        return Err(utf16.into());
    }
    if let Some(at) = memchr::memchr(0, sample) {
        let line = count_lines(&sample[..at]) + 1;
        return Err(format!(
            "line {line} has a zero byte (at offset {at}), and the text is not UTF-16: the file is binary, and of no \
             known kind (name its format), or damaged (remove such bytes: tr -d '\\0' < old > new)"
        ));
    }
    if !head.contains(&b'\n') && head.iter().rev().skip(1).any(|&byte| byte == b'\r') {
        let reason = "the lines end in carriage returns without line feeds; convert them first: tr '\\r' '\\n' < old > new";
        return Err(reason.into());
    }
    Ok(())
}

/// An [`Error::Input`].
pub(crate) fn input_error(
    path: &Arc<PathBuf>,
    line: Option<u64>,
    text: &[u8],
    reason: impl Into<Message>,
) -> Error {
    Error::Input { path: path.to_path_buf(), line, text: excerpt(text), reason: reason.into() }
}
