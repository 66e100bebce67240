//! Dictionaries as Python writes them: `{'weight': 2.5, 'kind': "it's"}`.

use std::borrow::Cow;

use crate::attributed::value::Attribute;

/// Names, and their values; `None` is a missing value.
pub(super) type Pairs<'a> = Vec<(Cow<'a, str>, Option<Attribute<'a>>)>;

/// Reads a dictionary that is all of `text`.
///
/// # Errors
/// What is wrong with it.
pub(super) fn dictionary(text: &str) -> Result<Pairs<'_>, &'static str> {
    let inside = text.trim_ascii().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let mut rest = inside.ok_or("a dictionary in braces belongs behind the vertices")?.trim_ascii();
    let mut pairs = Vec::new();
    while !rest.is_empty() {
        let (name, behind) = string(rest).ok_or("a name of the dictionary is not in quotes")?;
        let behind =
            behind.trim_ascii_start().strip_prefix(':').ok_or("a colon is missing in the dictionary")?;
        let (value, behind) =
            value(behind.trim_ascii_start()).ok_or("a value of the dictionary does not end")?;
        pairs.push((name, value));
        rest = behind.trim_ascii_start();
        match rest.strip_prefix(',') {
            Some(behind) => rest = behind.trim_ascii_start(),
            None if rest.is_empty() => {}
            None => return Err("a comma is missing in the dictionary"),
        }
    }
    Ok(pairs)
}

/// A value, and what stands behind it.
fn value(text: &str) -> Option<(Option<Attribute<'_>>, &str)> {
    if text.starts_with(['\'', '"']) {
        let (text, rest) = string(text)?;
        return Some((Some(Attribute::Text(text)), rest));
    }
    let (own, rest) = text.split_at(value_len(text)?);
    let own = own.trim_ascii_end();
    // NumPy writes its numbers so.
    let inside = own
        .strip_prefix("np.")
        .and_then(|own| own.split_once('('))
        .and_then(|(_, own)| own.strip_suffix(')'));
    let value = match inside.unwrap_or(own) {
        "" => return None,
        "None" | "nan" => None,
        "True" => Some(Attribute::Boolean(true)),
        "False" => Some(Attribute::Boolean(false)),
        digits => {
            Some(Attribute::of_number(digits.as_bytes()).unwrap_or(Attribute::Text(Cow::Borrowed(own))))
        }
    };
    Some((value, rest))
}

/// How many bytes a value takes: to a comma outside of brackets and quotes.
fn value_len(text: &str) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    while at < text.len() {
        match text.as_bytes()[at] {
            b'\'' | b'"' => {
                at = text.len() - string(&text[at..])?.1.len();
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => return Some(at),
            _ => {}
        }
        at += 1;
    }
    (depth == 0).then_some(at)
}

/// A text in quotes of either kind, and what stands behind it.
fn string(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let inside = &text[1..];
    let end = inside.find([quote, '\\'])?;
    if inside[end..].starts_with(quote) {
        return Some((Cow::Borrowed(&inside[..end]), &inside[end + 1..]));
    }
    let (mut out, mut characters) = (String::new(), inside.chars());
    loop {
        match characters.next()? {
            '\\' => out.push(escaped(&mut characters)?),
            character if character == quote => return Some((Cow::Owned(out), characters.as_str())),
            character => out.push(character),
        }
    }
}

fn escaped(characters: &mut std::str::Chars<'_>) -> Option<char> {
    Some(match characters.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'x' => return hexadecimal(characters, 2),
        'u' => return hexadecimal(characters, 4),
        'U' => return hexadecimal(characters, 8),
        other => other,
    })
}

fn hexadecimal(characters: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let rest = characters.as_str();
    let text = rest.get(..digits)?;
    *characters = rest[digits..].chars();
    u32::from_str_radix(text, 16).ok().and_then(char::from_u32)
}
