//! Lines of a document, and the words of a line.

/// The whole lines of a text: all if it is the last.
pub(crate) fn whole_lines(text: &str, is_last: bool) -> &str {
    if is_last { text } else { &text[..text.rfind('\n').map_or(0, |end| end + 1)] }
}

/// Lines that are not empty, without the blanks at their ends, with the place where each begins.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let all = text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_ascii())
    });
    all.filter(|(_, line)| !line.is_empty())
}

/// A word of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) is_quoted: bool,
}

/// The words of a line; blanks within double quotes belong to a word. `None`: a quote does not end.
pub(crate) fn words(line: &str) -> Option<Vec<Word<'_>>> {
    let (mut found, mut rest) = (Vec::new(), line.trim_ascii_start());
    while !rest.is_empty() {
        let (text, is_quoted, behind) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.find('"')?;
                (&quoted[..end], true, &quoted[end + 1..])
            }
            None => {
                let end = rest.find(|sign: char| sign.is_ascii_whitespace()).unwrap_or(rest.len());
                (&rest[..end], false, &rest[end..])
            }
        };
        found.push(Word { text, is_quoted });
        rest = behind.trim_ascii_start();
    }
    Some(found)
}
