//! Text for a terminal. Ids and names come from inputs, and may hold control characters that move the cursor,
//! colour the terminal or give it a title: a terminal gets them escaped. Files and pipes get them as they
//! are.

use std::borrow::Cow;
use std::io::{self, Write};

/// Whether a terminal acts on a character instead of showing it: control characters, and those that reverse
/// the order of what follows.
fn is_control(c: char) -> bool {
    let reorders =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || reorders
}

/// A text with its control characters escaped, but for those of `kept`.
pub fn escaped<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    let is_unfit = |c: char| is_control(c) && !kept.contains(&c);
    if !text.contains(is_unfit) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_unfit(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Escapes the control characters of what is written, but for the ends of lines and tabs. Bytes that are no
/// UTF-8 become U+FFFD.
#[derive(Debug)]
pub struct Escaped<W> {
    out: W,
    /// The first bytes of a character whose others come with the next write.
    begun: Vec<u8>,
}

impl<W: Write> Escaped<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out, begun: Vec::new() }
    }
}

/// Length of the bytes before a character that the end cuts in two.
fn complete(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    let start = bytes[tail..].iter().rposition(|byte| *byte >= 0xC0).map_or(bytes.len(), |at| tail + at);
    match std::str::from_utf8(&bytes[start..]) {
        Err(error) if error.error_len().is_none() => start,
        _ => bytes.len(),
    }
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let rest = self.begun.split_off(complete(&self.begun));
        let text = std::mem::replace(&mut self.begun, rest);
        self.out.write_all(escaped(&String::from_utf8_lossy(&text), &['\n', '\t']).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_letters_are_not() {
        assert_eq!(escaped("Grüße, 世界", &[]), "Grüße, 世界");
        assert_eq!(escaped("\u{1b}]0;owned\u{7}\t\n\r\u{7f}", &[]), "\\u{1b}]0;owned\\u{7}\\t\\n\\r\\u{7f}");
        assert_eq!(escaped("\u{9b}31m\u{202e}cod", &[]), "\\u{9b}31m\\u{202e}cod");
        assert_eq!(escaped("two\nlines\u{1b}[2J", &['\n']), "two\nlines\\u{1b}[2J");
    }

    #[test]
    fn a_character_in_two_writes_stays_whole() {
        let text = "+ a\u{1b} ü世\u{1f600}b\n";
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let mut out = Vec::new();
                let mut writer = Escaped::new(&mut out);
                let bytes = text.as_bytes();
                for part in [&bytes[..first], &bytes[first..second], &bytes[second..]] {
                    writer.write_all(part).unwrap();
                }
                assert_eq!(String::from_utf8(out).unwrap(), "+ a\\u{1b} ü世\u{1f600}b\n", "{first} {second}");
            }
        }
    }
}
