//! Rust source as text with everything removed that is not code.

/// Blanks out comments, string and character literals, keeping line breaks, so that line numbers stay.
pub(crate) fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut i = 0;
    while i < bytes.len() {
        let end = literal_end(bytes, i);
        if end > i {
            out.extend(bytes[i..end].iter().map(|&b| if b == b'\n' { '\n' } else { ' ' }));
            i = end;
        } else {
            out.push(char::from(bytes[i]));
            i += 1;
        }
    }
    out
}

/// The end of the comment or literal that begins at `i`, or `i` if none does.
fn literal_end(bytes: &[u8], i: usize) -> usize {
    let rest = &bytes[i..];
    let before = if i == 0 { b' ' } else { bytes[i - 1] };
    let in_word = before.is_ascii_alphanumeric() || before == b'_';
    if rest.starts_with(b"//") {
        i + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
    } else if rest.starts_with(b"/*") {
        i + find(rest, b"*/").map_or(rest.len(), |at| at + 2)
    } else if rest[0] == b'"' {
        i + escaped_end(rest, b'"')
    } else if rest[0] == b'r' && !in_word && raw_hashes(rest).is_some() {
        let hashes = raw_hashes(rest).unwrap_or(0);
        let close = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
        let open = hashes + 2;
        i + find(&rest[open..], &close).map_or(rest.len(), |at| open + at + close.len())
    } else if rest[0] == b'\'' && is_char(rest) {
        i + escaped_end(rest, b'\'')
    } else {
        i
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// Length of a literal whose first byte is its quote.
fn escaped_end(rest: &[u8], quote: u8) -> usize {
    let mut i = 1;
    while i < rest.len() && rest[i] != quote {
        i += if rest[i] == b'\\' { 2 } else { 1 };
    }
    (i + 1).min(rest.len())
}

/// For `r"`, `r#"` and so on: the number of `#`.
fn raw_hashes(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&b| b == b'#').count();
    (rest.get(1 + hashes) == Some(&b'"')).then_some(hashes)
}

/// Whether a quote begins a character and not a lifetime.
fn is_char(rest: &[u8]) -> bool {
    match rest.get(1) {
        Some(b'\\') => true,
        Some(b) if b.is_ascii() => rest.get(2) == Some(&b'\''),
        Some(_) => true,
        None => false,
    }
}

/// Removes items under `#[cfg(test)]` (blanked, so that line numbers stay). `code` comes from [`code_only`].
pub(crate) fn without_tests(code: &str) -> String {
    let mut out = code.as_bytes().to_vec();
    let mut from = 0;
    while let Some(at) = code[from..].find("#[cfg(test)]").map(|at| from + at) {
        let end = item_end(code.as_bytes(), at);
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        from = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The end of the item after `at`: its matching brace, or the semicolon before any brace.
fn item_end(code: &[u8], at: usize) -> usize {
    let mut depth = 0;
    for (i, &byte) in code.iter().enumerate().skip(at) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return i + 1,
            b'}' => depth -= 1,
            b';' if depth == 0 => return i + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::{code_only, without_tests};

    #[test]
    fn literals_and_comments_are_blanked() {
        let text =
            "let a = \"// no\"; // yes\nlet b = '\\''; let c: &'static str = r#\"x \" y\"#; /* z\n */ d";
        let code = code_only(text);
        assert_eq!(code.lines().count(), text.lines().count());
        for gone in ["no", "yes", "x \"", "z"] {
            assert!(!code.contains(gone), "{gone} in {code}");
        }
        for kept in ["let a =", "let b =", "&'static str", "d"] {
            assert!(code.contains(kept), "{kept} not in {code}");
        }
    }

    #[test]
    fn tests_are_blanked() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { if x {} }\n}\nfn c() {}\n";
        let left = without_tests(code);
        assert!(left.contains("fn a") && left.contains("fn c") && !left.contains("fn b"), "{left}");
    }
}
