//! Lists of ids, and of pairs of ids, for questions about vertices.

use esker_format::Result;
use esker_graph::Message;

use super::blocks::{check_encoding, count_lines, input_error};
use super::line::{Comments, Dialect, Separator, line_end, split};
use super::shape::text;
use super::vertices::{IdLine, header_line, one_id_a_line, take_id_line};
use crate::columns::pairs::{end_words, named_end};
use crate::read::format::ReadOptions;
use crate::read::input::Input;

/// The ids that a file names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdLines {
    /// They, in the order of the lines.
    pub ids: Vec<String>,
    /// The first line, if it has a usual name for the column of ids, and is none.
    pub header: Option<String>,
}

/// Reads the ids of a file that has one a line, as files of vertices are read. Memory: the file, and the ids.
///
/// # Errors
/// If the file cannot be read or is no text; [`esker_format::Error::Input`] for a line that is no id.
pub fn ids_of_lines(input: &Input, options: &ReadOptions) -> Result<IdLines> {
    let (bytes, path) = (whole(input)?, input.path());
    let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let failed = |line, text: &[u8], reason: Message| input_error(&path, line, text, reason);
    check_encoding(content).map_err(|reason| failed(None, b"", reason.into()))?;
    let dialect = one_id_a_line(options);
    let (mut at, header) = match header_line(content, &dialect, options) {
        Some((end, name)) => (end, Some(name)),
        None => (0, None),
    };
    let (mut ids, mut fields) = (Vec::new(), Vec::new());
    while at < content.len() {
        let Some(IdLine { start, text, id }) = take_id_line(content, &mut at, &dialect, &mut fields) else {
            continue;
        };
        let id = id.and_then(|id| String::from_utf8(id.into_owned()).map_err(|_| "the id is not UTF-8"));
        let line = || Some(count_lines(&content[..start]) + 1);
        ids.push(id.map_err(|reason| failed(line(), text.trim_ascii(), reason.into()))?);
    }
    Ok(IdLines { ids, header })
}

/// The bytes of an input, and a line end.
fn whole(input: &Input) -> Result<Vec<u8>> {
    const STEP_BYTES: usize = 1 << 16;
    let mut stream = input.open()?;
    let mut bytes = Vec::new();
    loop {
        let start = bytes.len();
        bytes.resize(start + STEP_BYTES, 0);
        let filled = stream.fill(&mut bytes, start)?;
        bytes.truncate(filled);
        if filled < start + STEP_BYTES {
            break;
        }
    }
    bytes.push(b'\n');
    Ok(bytes)
}

/// The pairs of ids that a file names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairLines {
    /// They, in the order of the lines.
    pub pairs: Vec<[String; 2]>,
    /// The first line, if it has usual names for the columns of ends, and is none of the pairs.
    pub header: Option<[String; 2]>,
}

/// Reads the pairs of ids of a file that has one a line. Tabs separate them, or commas, or blanks: the first
/// of these that the first line has outside quotes. Memory: the file, and the ids.
///
/// # Errors
/// If the file cannot be read or is no text; [`esker_format::Error::Input`] for a line that is no pair.
pub fn pairs_of_lines(input: &Input, options: &ReadOptions) -> Result<PairLines> {
    let (bytes, path) = (whole(input)?, input.path());
    let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let failed = |line, text: &[u8], reason: Message| input_error(&path, line, text, reason);
    check_encoding(content).map_err(|reason| failed(None, b"", reason.into()))?;
    let (mut at, mut dialect, mut fields) = (0, None, Vec::new());
    let mut found = PairLines::default();
    while at < content.len() {
        let (start, (end, next)) = (at, line_end(content, at));
        let line = content[start..end].trim_ascii();
        at = next;
        if line.is_empty() || one_id_a_line(options).is_comment(line) {
            continue;
        }
        let refused = |reason: &str| {
            let number = count_lines(&content[..start]) + 1;
            failed(Some(number), line, Message::from(reason.to_owned()))
        };
        let dialect = *dialect.get_or_insert_with(|| separated(content, start, &mut fields));
        let split =
            split(content, start, &dialect, 3, &mut fields).map_err(|(fault, _)| refused(fault.reason()))?;
        at = split.next;
        if split.columns != 2 || fields.iter().take(2).any(|field| field.start == field.end) {
            let by = dialect.separator.describe();
            return Err(refused(&format!(
                "a line has the ids of two vertices, separated by {by} as the first line is"
            )));
        }
        let id = |place: usize| {
            String::from_utf8(text(content, fields[place])).map_err(|_| refused("an id is not UTF-8"))
        };
        let pair = [id(0)?, id(1)?];
        let is_first = found.pairs.is_empty() && found.header.is_none();
        match is_first && are_names_of_ends(&pair) {
            true => found.header = Some(pair),
            false => found.pairs.push(pair),
        }
    }
    Ok(found)
}

/// How the pairs of a file are separated, by the line at a place.
fn separated(content: &[u8], start: usize, fields: &mut Vec<super::line::Field>) -> Dialect {
    let dialect = |separator| Dialect { separator, quotes: true, comments: Comments::Spaced };
    let choices = [Separator::Byte(b'\t'), Separator::Byte(b','), Separator::Blank].map(dialect);
    let fits =
        |dialect: &&Dialect| split(content, start, dialect, 3, fields).is_ok_and(|line| line.columns > 1);
    choices.iter().find(fits).copied().unwrap_or(choices[1])
}

/// Whether two texts are usual names for the columns of a source and a target, and hardly ids.
fn are_names_of_ends(pair: &[String; 2]) -> bool {
    pair.each_ref().map(|name| named_end(&end_words(name))) == [Some(true), Some(false)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &[u8]) -> std::result::Result<PairLines, String> {
        pairs_of_lines(&Input::memory("p", text.to_vec()), &ReadOptions::default())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn pairs_are_separated_as_the_first_line_says() {
        let expected = |header: Option<[&str; 2]>, pairs: &[[&str; 2]]| {
            let own = |pair: &[&str; 2]| pair.map(str::to_owned);
            Ok(PairLines { pairs: pairs.iter().map(own).collect(), header: header.as_ref().map(own) })
        };
        assert_eq!(pairs(b"a\tb c\nd\te,f\n"), expected(None, &[["a", "b c"], ["d", "e,f"]]));
        assert_eq!(
            pairs(b"\xef\xbb\xbffrom,to\r\n\r\n\"a,b\",c\r\n"),
            expected(Some(["from", "to"]), &[["a,b", "c"]])
        );
        assert_eq!(pairs(b"# pairs\n1 2\n 3   4\n"), expected(None, &[["1", "2"], ["3", "4"]]));
        assert_eq!(pairs(b"a,to\n"), expected(None, &[["a", "to"]]));
        assert_eq!(pairs(b"a b\nx y\nu v\n"), expected(None, &[["a", "b"], ["x", "y"], ["u", "v"]]));
        assert_eq!(pairs(b"\"x y\" b\n"), expected(None, &[["x y", "b"]]));
        assert_eq!(pairs(b""), expected(None, &[]));
        for (text, line) in [
            (&b"a\n"[..], 1),
            (b"a b\nc\n", 2),
            (b"a,b\nc,d,e\n", 2),
            (b"a,b\n,d\n", 2),
            (b"a\tb\n\"c\td\n", 2),
        ] {
            let told = pairs(text).unwrap_err();
            assert!(told.starts_with(&format!("p:{line}: ")), "{told}");
        }
        assert!(pairs(b"a,\xff\n").is_err());
    }
}
