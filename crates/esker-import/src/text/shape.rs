//! What the first bytes of a table say: what separates columns, whether a header names them, what is a
//! comment.

use std::collections::{BTreeSet, HashSet};

use esker_format::value::decimal;

use super::blocks::check_encoding;
use super::likeliest::{LineRange, likeliest};
use super::line::{BadQuote, Comments, Dialect, Field, Separator, split};
use crate::columns::expected::names_ends;
use crate::columns::header::{FirstLine, first_line};
use crate::columns::missing::{MissingWords, TextField, says_missing};
use crate::read::format::ReadOptions;

/// What separates the columns of a list of edges.
pub(crate) const LIST: &[Separator] = &[
    Separator::Blank,
    Separator::Byte(b','),
    Separator::Byte(b';'),
    Separator::Byte(b'|'),
    // Where ids hold blanks.
    Separator::Byte(b'\t'),
];

/// Lines of a sample that are looked at, where they decide.
pub(crate) const SAMPLE_LINES: usize = 1000;

/// Lines of a sample that are looked at where fewer leave a question open.
pub(crate) const SAMPLE_LINES_MAX: usize = 50_000;

/// Rows that tell whether dates of a column have a format, to recognise a header.
const HEADER_ROWS_MAX: usize = 20;

/// The word before the names of the columns in a log of Zeek.
const ZEEK_FIELDS: &[u8] = b"#fields";

/// The word before what a log of Zeek writes for no value, and that before what it writes for the empty text.
const ZEEK_UNSET: &[u8] = b"#unset_field";
const ZEEK_EMPTY: &[u8] = b"#empty_field";

const DRAWN: &str =
    "the table is drawn with lines of dashes, as Markdown and terminals show it; export it as CSV";

const SINGLE_QUOTES: &str = "the fields stand in single quotes, which would be part of ids; write double quotes, or turn quotes off \
                             to keep them";

const BAD_QUOTE_ABOVE_HEADER: &str = "the quotes of a line above the header are wrong: a quote opens a field and never closes, or \
                                      something follows a closing quote; mend the line, or turn quotes off";

const COMMAS_BESIDE_COMMAS: &str = "commas separate the columns, so no decimal comma can be told from them: put such numbers in \
                                    quotes, as in \"1,5\", or separate the columns by semicolons";

/// The shape of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableShape {
    /// How its lines are to be read.
    pub(crate) dialect: Dialect,
    /// Bytes before the first row.
    pub(crate) skip_bytes: usize,
    /// Lines in those bytes.
    pub(crate) skip_lines: u64,
    /// Names of the columns, if a header gives them.
    pub(crate) header: Option<Vec<String>>,
    /// The first line, if nothing tells whether it names the columns: a row, if at all.
    pub(crate) unclear: Option<String>,
    /// Number of columns; 0 if there is no row and no header.
    pub(crate) columns: usize,
    /// The first rows.
    pub(crate) rows: Vec<Vec<Vec<u8>>>,
    /// Row and column of the fields with words that say that there is no value.
    pub(crate) words: HashSet<(usize, usize)>,
    /// The columns that have such a word without quotes.
    pub(crate) columns_with_words: BTreeSet<usize>,
    /// The words for no value in any column.
    pub(crate) missing: MissingWords,
}

/// Tells the shape of the table that begins with `head`; `whole` says whether that is all of it. `Ok(None)`
/// if a larger head is needed: it holds no row yet. `separators`: what may separate columns, the likeliest
/// first. `lines_max`: the lines that are looked at.
///
/// # Errors
/// The text is UTF-16, or binary, or has wrong quotes above its header, in words for [`Error::Input`].
pub(crate) fn shape(
    head: &[u8],
    whole: bool,
    separators: &'static [Separator],
    lines_max: usize,
    options: &ReadOptions,
) -> Result<Option<TableShape>, String> {
    check_encoding(head)?;
    let start = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let (named, start) = match separator_line(&head[start..]) {
        Some((separator, bytes)) => (options.delimiter.or(Some(separator)), start + bytes),
        None => (options.delimiter, start),
    };
    let lines = lines(head, start, whole, lines_max);
    let named = named.map(Separator::of);
    let candidates = named.as_ref().map_or(separators, std::slice::from_ref);
    let candidates = with_remembered(candidates, named.is_none() && separators.len() > 1, options);
    let separator = likeliest(head, &lines, &candidates, options);
    let remembered = options.expected.as_ref().and_then(|expected| expected.quotes);
    let quotes = options.quotes.or(remembered).unwrap_or_else(|| quotes_by_default(head, &lines, separator));
    let plain = Dialect { separator, quotes, comments: Comments::None };
    let (mut rows, first_bad) = rows(head, &lines, plain);
    let usual = usual_columns(&rows);
    let leading = rows.iter().take_while(|row| is_leading_comment(head, row, usual)).count();
    let fields = zeek_fields(&rows[..leading]);
    let missing = missing_words(&rows[..leading], fields.is_some(), options);
    let columns_with_words = empty_missing(&mut rows[leading..], &missing);
    let rows = &rows[leading..];
    check_rows(rows, options)?;
    let Some(first) = rows.first() else {
        return Ok(if whole { Some(empty(plain, head, fields, missing)) } else { None });
    };
    let found = match (options.header, &fields) {
        (Some(true), _) => FirstLine::Header,
        (Some(false), _) | (_, Some(_)) => FirstLine::Row,
        (None, None) => remembered_header(rows, separators != LIST, options),
    };
    let header = found == FirstLine::Header;
    let first_bad = first_bad.filter(|&bad| bad < first.start);
    // The first line is the one whose quotes are wrong.
    let is_unclear = found == FirstLine::Unclear && first_bad.is_none();
    let body = &rows[usize::from(header).min(rows.len())..];
    if separator == Separator::Byte(b',') && !(header && first.fields.len() == usual) {
        refuse_unquoted_commas(rows, options)?;
    }
    if header && first_bad.is_some() {
        return Err(BAD_QUOTE_ABOVE_HEADER.into());
    }
    // The parser reports a line whose quotes are wrong, so the rows begin there.
    let skip_bytes = if header { first.next } else { first_bad.unwrap_or(first.start) };
    let comments = if fields.is_some() { Comments::Marked } else { comments_by_default(body, separator) };
    let dialect = Dialect { comments, ..plain };
    let is_edge = |row: &&Row| !dialect.is_comment(head[row.start..row.next].trim_ascii_end());
    Ok(Some(TableShape {
        dialect,
        skip_bytes,
        skip_lines: super::blocks::count_lines(&head[..skip_bytes]),
        columns: match (&fields, header) {
            (Some(fields), _) => fields.len(),
            (None, true) => first.fields.len(),
            (None, false) => usual,
        },
        header: fields.or_else(|| header.then(|| names(&first.whole()))),
        unclear: is_unclear.then(|| shown_line(head, first)),
        rows: body.iter().filter(is_edge).map(Row::whole).collect(),
        words: places_of_words(body.iter().filter(is_edge)),
        columns_with_words,
        missing,
    }))
}

/// Which lines are comments where nothing says so.
fn comments_by_default(rows: &[Row], separator: Separator) -> Comments {
    let is_text = |field: &Vec<u8>| decimal::id(field).is_err();
    match separator {
        Separator::Byte(b',' | b';' | b'|') => Comments::None,
        _ if unmarked(rows).flat_map(|row| row.fields.iter().take(2)).any(is_text) => Comments::Spaced,
        _ => Comments::Marked,
    }
}

/// The separator that spreadsheets name in a line above the table, `sep=;`, and the bytes of the line.
fn separator_line(text: &[u8]) -> Option<(u8, usize)> {
    let (end, next) = super::line::line_end(text, 0);
    let line = text[..end].strip_suffix(b"\r").unwrap_or(&text[..end]);
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [mark @ .., separator] if mark.eq_ignore_ascii_case(b"sep=") => Some((*separator, next)),
        _ => None,
    }
}

/// Refuses tables that are made for eyes, and quotes that are none here.
fn check_rows(rows: &[Row], options: &ReadOptions) -> Result<(), String> {
    let is_rule = |field: &Vec<u8>| field.iter().all(|byte| b"-=+:|".contains(byte));
    let is_long =
        |field: &Vec<u8>| field.starts_with(b"---") || field.starts_with(b"===") || field.starts_with(b"+--");
    if rows.iter().take(3).any(|row| row.fields.iter().all(is_rule) && row.fields.iter().any(is_long)) {
        return Err(DRAWN.into());
    }
    let is_single = |field: &Vec<u8>| field.len() > 1 && field.starts_with(b"'") && field.ends_with(b"'");
    let are_single = |row: &Row| row.fields.len() > 1 && row.fields.iter().all(is_single);
    match options.quotes != Some(false) && rows.len() > 1 && rows.iter().take(2).all(are_single) {
        true => Err(SINGLE_QUOTES.into()),
        false => Ok(()),
    }
}

/// Refuses decimal commas between commas, unless a field has a comma in it, which only quotes allow there.
fn refuse_unquoted_commas(rows: &[Row], options: &ReadOptions) -> Result<(), String> {
    let has_quoted = rows.iter().flat_map(|row| &row.fields).any(|field| field.contains(&b','));
    match options.notation.has_decimal_comma() && !has_quoted {
        true => Err(COMMAS_BESIDE_COMMAS.into()),
        false => Ok(()),
    }
}

fn empty(dialect: Dialect, head: &[u8], header: Option<Vec<String>>, missing: MissingWords) -> TableShape {
    TableShape {
        dialect,
        skip_bytes: head.len(),
        skip_lines: super::blocks::count_lines(head),
        columns: header.as_ref().map_or(0, Vec::len),
        header,
        unclear: None,
        rows: Vec::new(),
        words: HashSet::new(),
        columns_with_words: BTreeSet::new(),
        missing,
    }
}

fn names(fields: &[Vec<u8>]) -> Vec<String> {
    fields.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect()
}

/// A row as messages show it.
fn shown_line(head: &[u8], row: &Row) -> String {
    super::blocks::excerpt(head[row.start..row.next].trim_ascii_end())
}

/// The names of the columns that a log of Zeek has in one of its first comments.
fn zeek_fields(comments: &[Row]) -> Option<Vec<String>> {
    let named = comments.iter().rfind(|row| row.fields.len() > 2 && row.fields[0] == ZEEK_FIELDS)?;
    Some(names(&named.fields[1..]))
}

/// The words for no value: those of the options, and those that a log of Zeek names in its first comments.
fn missing_words(comments: &[Row], is_zeek: bool, options: &ReadOptions) -> MissingWords {
    let mut words = MissingWords::of(options);
    for row in comments.iter().filter(|_| is_zeek) {
        match row.fields.as_slice() {
            [name, word] if name == ZEEK_UNSET => words.name(word),
            [name, word] if name == ZEEK_EMPTY => words.set_empty(word),
            _ => {}
        }
    }
    words
}

/// Empties the fields that say that there is no value, so that they do not decide what a column holds.
/// Returns the columns that have words for it.
fn empty_missing(rows: &mut [Row], missing: &MissingWords) -> BTreeSet<usize> {
    let mut with_words = BTreeSet::new();
    for row in rows {
        for (column, field) in row.fields.iter_mut().enumerate().filter(|(_, field)| !field.is_empty()) {
            let is_quoted = row.quoted[column];
            if says_missing(field) || !is_quoted && missing.text(field) != TextField::Given {
                with_words.extend((!is_quoted).then_some(column));
                row.words.push((column, std::mem::take(field)));
            }
        }
    }
    with_words
}

/// Row and column of the words for no value.
fn places_of_words<'r>(rows: impl Iterator<Item = &'r Row>) -> HashSet<(usize, usize)> {
    let of_row = |(index, row): (usize, &'r Row)| row.words.iter().map(move |(column, _)| (index, *column));
    rows.enumerate().flat_map(of_row).collect()
}

fn lines(head: &[u8], start: usize, whole: bool, lines_max: usize) -> Vec<LineRange> {
    let mut lines = Vec::new();
    let mut at = start;
    while at < head.len() && lines.len() < lines_max {
        let (end, next) = super::line::line_end(head, at);
        // The last line of a sample is cut somewhere.
        if next == head.len() && head[next - 1] != b'\n' && !whole {
            break;
        }
        lines.push((at, end));
        at = next;
    }
    lines
}

/// Commas, semicolons and bars come with quotes; between blanks a quote counts as one if all fields that
/// begin with one also end with one.
fn quotes_by_default(head: &[u8], lines: &[LineRange], separator: Separator) -> bool {
    if !matches!(separator, Separator::Byte(b'\t') | Separator::Blank) {
        return true;
    }
    let (Some(&(start, _)), Some(&(_, end))) = (lines.first(), lines.last()) else { return false };
    let sample = &head[..end];
    let dialect = Dialect { separator, quotes: true, comments: Comments::Marked };
    let mut fields = Vec::new();
    let (mut at, mut quoted) = (start, false);
    while at < end {
        let (line_end, next_line) = super::line::line_end(sample, at);
        if dialect.is_comment(&sample[at..line_end]) {
            at = next_line;
            continue;
        }
        match split(sample, at, &dialect, usize::MAX, &mut fields) {
            Ok(line) => {
                quoted |= fields.iter().any(|field| field.start > 0 && sample[field.start - 1] == b'"');
                at = line.next;
            }
            // The sample may end within a field, which tells nothing new.
            Err((BadQuote::Unclosed, _)) => return quoted,
            Err((BadQuote::Followed, _)) => return false,
        }
    }
    quoted
}

/// A row of the sample.
struct Row {
    start: usize,
    next: usize,
    fields: Vec<Vec<u8>>,
    /// Whether each field is in quotes.
    quoted: Vec<bool>,
    /// The columns of fields that were emptied, and what stood there.
    words: Vec<(usize, Vec<u8>)>,
}

impl Row {
    /// The fields as they are in the file.
    fn whole(&self) -> Vec<Vec<u8>> {
        let mut fields = self.fields.clone();
        self.words.iter().for_each(|(column, word)| fields[*column].clone_from(word));
        fields
    }
}

/// The rows of the sample, and where the first line begins whose quotes are wrong. Lines that begin as
/// comments do may hold any quotes.
fn rows(head: &[u8], lines: &[LineRange], dialect: Dialect) -> (Vec<Row>, Option<usize>) {
    let Some(&(_, sample_end)) = lines.last() else { return (Vec::new(), None) };
    let sample = &head[..sample_end];
    let (mut rows, mut first_bad) = (Vec::new(), None);
    let mut fields = Vec::new();
    let mut at = lines[0].0;
    while at < sample.len() {
        let next = match split(sample, at, &dialect, usize::MAX, &mut fields) {
            Ok(line) => {
                if !sample[at..line.end].trim_ascii().is_empty() {
                    let texts = fields.iter().map(|field| text(sample, *field)).collect();
                    // Behind the line end, which the sample has cut off for its last line.
                    let next = super::line::line_end(head, line.end).1;
                    let quoted = fields.iter().map(|field| is_quoted(sample, *field)).collect();
                    rows.push(Row { start: at, next, fields: texts, quoted, words: Vec::new() });
                }
                line.next
            }
            Err((_, line)) => {
                if !matches!(sample[at], b'#' | b'%') {
                    first_bad = first_bad.or(Some(at));
                }
                line.next
            }
        };
        at = next;
    }
    (rows, first_bad)
}

/// Whether quotes are around a field.
pub(crate) fn is_quoted(bytes: &[u8], field: Field) -> bool {
    field.start > 0 && bytes[field.start - 1] == b'"' && bytes.get(field.end) == Some(&b'"')
}

/// The text of a field, its doubled quotes undone.
pub(crate) fn text(bytes: &[u8], field: Field) -> Vec<u8> {
    let raw = &bytes[field.start..field.end];
    if !field.doubled {
        return raw.to_vec();
    }
    let mut text = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'"', &raw[at..]) {
        text.extend_from_slice(&raw[at..=at + quote]);
        at += quote + 2;
    }
    text.extend_from_slice(raw.get(at..).unwrap_or_default());
    text
}

/// The rows that do not begin with the mark of a comment; all if all do.
fn unmarked(rows: &[Row]) -> impl Iterator<Item = &Row> {
    let is_marked = |row: &Row| matches!(row.fields[0].first(), Some(b'#' | b'%'));
    let all_are_marked = rows.iter().all(is_marked);
    rows.iter().filter(move |row| all_are_marked || !is_marked(row))
}

fn usual_columns(rows: &[Row]) -> usize {
    let mut counts = std::collections::BTreeMap::new();
    for row in unmarked(rows) {
        *counts.entry(row.fields.len()).or_insert(0usize) += 1;
    }
    counts
        .into_iter()
        .max_by_key(|&(columns, rows)| (rows, std::cmp::Reverse(columns)))
        .map_or(0, |(columns, _)| columns)
}

/// Lines before the first row that begin with `#` or `%` are comments, unless they look like rows of texts.
fn is_leading_comment(head: &[u8], row: &Row, usual: usize) -> bool {
    let line = &head[row.start..row.next];
    matches!(line, [b'#' | b'%', b' ' | b'\t' | b'#' | b'%' | b'\r' | b'\n', ..])
        || matches!(line, [b'#' | b'%', ..]) && (row.fields.len() != usual || !has_text_ids(row))
        || matches!(line, [b'#' | b'%'])
}

fn has_text_ids(row: &Row) -> bool {
    row.fields.iter().skip(1).take(1).any(|field| decimal::id(field).is_err())
}

/// What may separate columns; first, if there is a choice, what did in the import, which may be unusual.
fn with_remembered(candidates: &[Separator], is_open: bool, options: &ReadOptions) -> Vec<Separator> {
    let remembered = options.expected.as_ref().and_then(|expected| expected.delimiter).map(Separator::of);
    remembered.filter(|_| is_open).into_iter().chain(candidates.iter().copied()).collect()
}

/// As [`has_header`], where the database may remember the names of the ends: a first line that has both is
/// the header. Where it remembers columns without names, a line that may be an edge is one.
fn remembered_header(rows: &[Row], by_looks: bool, options: &ReadOptions) -> FirstLine {
    match (&options.expected, has_header(rows, by_looks, options)) {
        (Some(expected), _) if names_ends(expected, &names(&rows[0].fields)) => FirstLine::Header,
        (Some(expected), FirstLine::Unclear) if !expected.named => FirstLine::Row,
        (_, found) => found,
    }
}

/// A first line that has a name which an option gives is the header; others are told by their values.
fn has_header(rows: &[Row], by_looks: bool, options: &ReadOptions) -> FirstLine {
    let first = &rows[0].fields;
    let mut given = options.named_columns().filter(|name| name.parse::<usize>().is_err());
    if given.any(|name| first.iter().any(|field| field == name.as_bytes())) {
        return FirstLine::Header;
    }
    let body: Vec<&[Vec<u8>]> = unmarked(&rows[1..]).map(|row| row.fields.as_slice()).collect();
    // `#source target`: a header in a comment, or the one id that begins so.
    let is_marked = |row: &Row| matches!(row.fields[0].first(), Some(b'#' | b'%'));
    let is_odd = is_marked(&rows[0]) && rows.len() > 2 && !rows[1..].iter().any(is_marked);
    let told = match options.notation.is_common() {
        true => first_line(first, &body, by_looks),
        false => common_first_line(first, &body, by_looks, options),
    };
    match told {
        FirstLine::Row if is_odd => FirstLine::Unclear,
        found => found,
    }
}

/// What the first line is, by its fields and those below as they are in the common notation.
fn common_first_line(
    first: &[Vec<u8>],
    body: &[&[Vec<u8>]],
    by_looks: bool,
    options: &ReadOptions,
) -> FirstLine {
    let read: Vec<Vec<Vec<u8>>> =
        body.iter().take(HEADER_ROWS_MAX).map(|row| in_common_notation(row, body, options)).collect();
    let read: Vec<&[Vec<u8>]> = read.iter().map(Vec::as_slice).collect();
    first_line(&in_common_notation(first, body, options), &read, by_looks)
}

/// The fields of a row in the common notation, as far as they fit that of their columns.
fn in_common_notation(row: &[Vec<u8>], body: &[&[Vec<u8>]], options: &ReadOptions) -> Vec<Vec<u8>> {
    let read = |(column, field): (usize, &Vec<u8>)| {
        let values = body.iter().filter_map(|row| row.get(column)).map(Vec::as_slice);
        let notation = options.notation.of_column(|_| false, values.take(HEADER_ROWS_MAX));
        let read = notation.sample(std::iter::once(field.as_slice()));
        read.first().map_or_else(|| field.clone(), |read| read.to_vec())
    };
    row.iter().enumerate().map(read).collect()
}
