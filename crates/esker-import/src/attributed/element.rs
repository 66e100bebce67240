//! The bytes of one element of a document, of which the beginning is known.

use crate::text::blocks::without_line_end;

/// The element that `bytes` begin with: in XML and JSON up to its end, else the line, or the lines up to the
/// bracket that closes the one at the end of the first. What does not end is all of `bytes`.
pub(super) fn element(bytes: &[u8]) -> &[u8] {
    let line = bytes.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = without_line_end(line);
    let end = match bytes.first() {
        Some(b'<') => xml_end(bytes),
        Some(b'{' | b'[') => bracket_end(bytes),
        _ if line.trim_ascii_end().ends_with(b"[") => bracket_end(bytes),
        _ => Some(line.len()),
    };
    &bytes[..end.unwrap_or(bytes.len())]
}

/// Behind the bracket that closes the first one. Brackets in quotes do not count.
fn bracket_end(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut in_quotes, mut at) = (0_usize, false, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if in_quotes => at += 1,
            b'"' => in_quotes = !in_quotes,
            b'{' | b'[' if !in_quotes => depth += 1,
            b'}' | b']' if !in_quotes => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Behind the tag that closes the first one, or behind the first if it closes itself.
fn xml_end(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        at += memchr::memchr(b'<', &bytes[at..])?;
        let rest = &bytes[at..];
        if let Some(end) = [(&b"<!--"[..], &b"-->"[..]), (b"<![CDATA[", b"]]>")]
            .iter()
            .find_map(|(begin, end)| rest.starts_with(begin).then_some(end))
        {
            at += memchr::memmem::find(rest, end)? + end.len();
            continue;
        }
        let end = tag_end(rest)?;
        depth = match rest[..end].ends_with(b"/>") {
            _ if rest.starts_with(b"</") => depth.saturating_sub(1),
            true => depth,
            false => depth + 1,
        };
        at += end;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Behind the end of the tag that `bytes` begin with. Values in quotes may have the sign of the end.
fn tag_end(bytes: &[u8]) -> Option<usize> {
    let mut quote = None;
    let is_end = |&byte: &u8| {
        match quote {
            Some(open) if open == byte => quote = None,
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            _ => {}
        }
        byte == b'>' && quote.is_none()
    };
    bytes.iter().position(is_end).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::element;

    #[test]
    fn elements_end_where_their_tag_or_bracket_closes() {
        for (text, expected) in [
            (r#"<edge a="1>2"/><edge/>"#, r#"<edge a="1>2"/>"#),
            (
                "<node><node><!-- </node> --></node>\n<![CDATA[</node>]]></node> <x/>",
                "<node><node><!-- </node> --></node>\n<![CDATA[</node>]]></node>",
            ),
            (r#"{"a": "}\"}", "b": [1, {"c": 2}]}, {}"#, r#"{"a": "}\"}", "b": [1, {"c": 2}]}"#),
            ("edge [\n source 1\n label \"x ] y\"\n]\nedge [", "edge [\n source 1\n label \"x ] y\"\n]"),
            ("1 2 5 [7] c Blue\r\n3 4", "1 2 5 [7] c Blue"),
            ("<edge source", "<edge source"),
        ] {
            assert_eq!(element(text.as_bytes()), expected.as_bytes(), "{text}");
        }
    }
}
