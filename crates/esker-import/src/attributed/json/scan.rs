//! Finds where values of JSON end.

use memchr::memchr;

/// Where the value that begins at `from` ends; `None` if that is behind `bytes`.
pub(super) fn value_end(bytes: &[u8], from: usize, is_whole: bool) -> Option<usize> {
    let (mut at, mut depth) = (from, 0_usize);
    loop {
        match *bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?;
                if depth == 0 {
                    return Some(at);
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return Some(at),
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ if depth == 0 => return scalar_end(bytes, at, is_whole),
            _ => {}
        }
        at += 1;
    }
}

fn scalar_end(bytes: &[u8], from: usize, is_whole: bool) -> Option<usize> {
    let is_end = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, b',' | b':' | b'}' | b']' | b'{' | b'[' | b'"')
    };
    match bytes[from..].iter().position(is_end) {
        Some(len) => Some(from + len),
        None => is_whole.then_some(bytes.len()),
    }
}

/// Behind the quote that ends the string which begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    // Most strings have no escapes.
    loop {
        let quote = at + memchr(b'"', bytes.get(at..)?)?;
        match memchr(b'\\', &bytes[at..quote]) {
            None => return Some(quote + 1),
            Some(escape) => at += escape + 2,
        }
    }
}
