//! Names of properties and columns as people write them: plain, or in double quotes, as in conditions.

/// A name without the double quotes around it, in which two quotes stand for one; `None` for a plain name.
pub fn unquoted(name: &str) -> Option<String> {
    let (inside, after) = quoted_start(name)?;
    after.is_empty().then_some(inside)
}

/// Whether something is meant by a name, which may stand in double quotes.
pub fn is_called(own: &str, name: &str) -> bool {
    own == name || unquoted(name).is_some_and(|name| name == own)
}

/// A name without the double quotes around it, if there are any.
pub fn plain(name: &str) -> String {
    unquoted(name).unwrap_or_else(|| name.to_owned())
}

/// The place of what `name` means among things that have names: one of exactly this name first, then the one
/// whose name it has in double quotes.
pub fn place_of_name<'n>(name: &str, mut names: impl Iterator<Item = &'n str> + Clone) -> Option<usize> {
    names.clone().position(|own| own == name).or_else(|| {
        let name = unquoted(name)?;
        names.position(|own| own == name)
    })
}

/// A name and what stands behind the first `sign` behind it. A name in double quotes may have the sign.
/// `None` if there is no such sign, or the name is empty.
pub fn split_name(text: &str, sign: char) -> Option<(String, &str)> {
    if let Some((name, after)) = quoted_start(text)
        && let Some(rest) = after.strip_prefix(sign)
    {
        return (!name.is_empty()).then_some((name, rest));
    }
    let (name, rest) = text.split_once(sign)?;
    (!name.is_empty()).then(|| (name.to_owned(), rest))
}

/// The name in double quotes with which a text begins, and what is behind it.
pub fn quoted_start(text: &str) -> Option<(String, &str)> {
    let (mut name, mut rest) = (String::new(), text.strip_prefix('"')?);
    loop {
        let (part, after) = rest.split_once('"')?;
        name.push_str(part);
        match after.strip_prefix('"') {
            None => return Some((name, after)),
            Some(after) => {
                name.push('"');
                rest = after;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_or_in_quotes() {
        for (text, expected) in [
            ("plain", None),
            ("\"two words\"", Some("two words")),
            ("\"say \"\"x\"\"\"", Some("say \"x\"")),
            ("\"\"", Some("")),
            ("\"", None),
            ("\"open", None),
            ("\"a\"b", None),
            ("\"a\"\"", None),
        ] {
            assert_eq!(unquoted(text).as_deref(), expected, "{text}");
        }
        for (text, expected) in [
            ("a=1", Some(("a", "1"))),
            ("a=b=1", Some(("a", "b=1"))),
            ("\"a=b\"=1", Some(("a=b", "1"))),
            ("\"a\"b=1", Some(("\"a\"b", "1"))),
            ("=1", None),
            ("\"\"=1", None),
            ("a", None),
        ] {
            let split = split_name(text, '=');
            assert_eq!(split.as_ref().map(|(name, rest)| (name.as_str(), *rest)), expected, "{text}");
        }
        let names = ["\"b\"", "a", "b"];
        let place = |name| place_of_name(name, names.into_iter());
        assert_eq!(
            (place("\"b\""), place("\"a\""), place("b"), place("c")),
            (Some(0), Some(1), Some(2), None)
        );
    }
}
