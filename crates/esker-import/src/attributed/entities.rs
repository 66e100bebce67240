//! Characters that GML and Pajek write by their numbers or names, as HTML does.

use std::borrow::Cow;

/// The names of the characters from U+00A0 to U+00FF, in order.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 \
    acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring \
    AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times \
    Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute \
    ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml \
    yacute thorn yuml";

/// The longest name or number of a character.
const NAME_BYTES_MAX: usize = 10;

/// A text with its characters for their names. What is none stays as it is.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        // Looking farther would look at a text of many such signs over and over.
        let end = rest.bytes().take(NAME_BYTES_MAX + 1).position(|byte| byte == b';');
        let name = end.map(|end| &rest[1..end]);
        match name.and_then(|name| Some((name, character(name)?))) {
            Some((name, character)) => {
                out.push(character);
                rest = &rest[name.len() + 2..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn character(name: &str) -> Option<char> {
    match name {
        "quot" => Some('"'),
        "amp" => Some('&'),
        "apos" => Some('\''),
        "lt" => Some('<'),
        "gt" => Some('>'),
        _ => match name.strip_prefix('#') {
            Some(number) => match number.strip_prefix(['x', 'X']) {
                Some(digits) => char::from_u32(u32::from_str_radix(digits, 16).ok()?),
                None => char::from_u32(number.parse().ok()?),
            },
            None => {
                let place = LATIN.split_ascii_whitespace().position(|own| own == name)?;
                char::from_u32(0xa0 + u32::try_from(place).ok()?)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_by_their_names_are_looked_for_nearby() {
        for (text, expected) in
            [("a&amp;b&#233;&eacute;", "a&béé"), ("&é;&thetasym;x", "&é;&thetasym;x"), ("&;&", "&;&")]
        {
            assert_eq!(decoded(text), expected);
        }
        // In time proportional to the length.
        let many = "&".repeat(1 << 22);
        assert_eq!(decoded(&many), many);
    }
}
