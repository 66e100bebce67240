//! Whether the first line of a table names its columns.

use std::collections::HashSet;

use esker_format::value::decimal;

use super::kinds::ValueKind;
use super::missing::says_missing;
use super::names::{NameRank, is_column_word, words};
use super::neo4j::{edge_columns, vertex_columns};
use super::pairs::{NamedPair, PairKind, end_words, named_pairs};

/// What the first line of a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstLine {
    /// The names of the columns.
    Header,
    /// A row like others.
    Row,
    /// Nothing tells which.
    Unclear,
}

/// Rows whose values are compared with the first line.
const ROWS_MAX: usize = 100_000;

/// Decides what the first of these rows is; `body` are the rows below it. Formats that rarely have a header
/// are not `by_looks`: then what is not clear is a row.
pub(crate) fn first_line(first: &[Vec<u8>], body: &[&[Vec<u8>]], by_looks: bool) -> FirstLine {
    let trailing = first.iter().rev().take_while(|name| name.is_empty()).count();
    let first = &first[..first.len() - trailing];
    if first.len() < 2 {
        return FirstLine::Row;
    }
    match told(first, body, by_looks) {
        FirstLine::Unclear if !by_looks => FirstLine::Row,
        found => found,
    }
}

fn told(first: &[Vec<u8>], body: &[&[Vec<u8>]], by_looks: bool) -> FirstLine {
    let kinds: Vec<ValueKind> = (0..first.len()).map(|column| ValueKind::of(values(body, column))).collect();
    if numbers_columns(first, &kinds) {
        return FirstLine::Header;
    }
    let names: Vec<String> = first.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    if edge_columns(&names).is_some() || vertex_columns(&names).is_some() {
        return FirstLine::Header;
    }
    let pairs = named_pairs(&names.iter().map(|name| end_words(name)).collect::<Vec<_>>());
    let is_counted = |pair: &NamedPair| {
        let known = NameRank::Bare < pair.rank && pair.rank <= NameRank::Name;
        known && !has_first_word(&names[pair.ends.source], values(body, pair.ends.source))
    };
    let is_strong = pairs.iter().any(|pair| matches!(pair.kind, PairKind::Strong | PairKind::Crossed));
    let is_weak = pairs.iter().any(|pair| pair.kind == PairKind::Weak);
    let is_counted = pairs.iter().any(|pair| pair.kind == PairKind::Counted && is_counted(pair));
    if first.iter().any(|field| ValueKind::of_value(field).is_typed()) {
        return match () {
            () if is_strong && !comes_again(first, body) => FirstLine::Header,
            () if is_strong || is_weak || is_counted => FirstLine::Unclear,
            () => FirstLine::Row,
        };
    }
    // Tables with an index, as pandas writes them, have no name above it.
    let is_index = first[0].is_empty()
        && kinds[0] == ValueKind::Integers
        && first[1..].iter().all(|name| !name.is_empty());
    let is_above_types =
        first.iter().zip(&kinds).any(|(name, kind)| kind.is_typed() && !says_missing(name) && *name != b"?");
    if is_index || is_above_types || is_strong && by_looks {
        return FirstLine::Header;
    }
    if comes_again(first, body) {
        let is_known = |column: usize| {
            is_column_word(&words(&names[column])) && !has_first_word(&names[column], values(body, column))
        };
        let known = (0..names.len()).filter(|&column| is_known(column)).count();
        let may_name = is_strong || is_weak || known * 2 >= names.len();
        return if may_name { FirstLine::Unclear } else { FirstLine::Row };
    }
    match is_strong || is_counted || by_looks && (is_weak || stand_out(first, &kinds, body)) {
        true => FirstLine::Header,
        false => FirstLine::Unclear,
    }
}

fn values<'r>(body: &'r [&[Vec<u8>]], column: usize) -> impl Iterator<Item = &'r [u8]> {
    body.iter().take(ROWS_MAX).filter_map(move |row| row.get(column)).map(Vec::as_slice)
}

/// Whether the first line counts the columns from 0, above texts: names that a program gave.
fn numbers_columns(first: &[Vec<u8>], kinds: &[ValueKind]) -> bool {
    let index = usize::from(first[0].is_empty());
    let counts = |(at, field): (usize, &Vec<u8>)| decimal::unsigned(field) == Some(at as u64);
    let is_counted = first[index..].iter().enumerate().all(counts);
    is_counted && first.len() > index && kinds[index..].iter().all(|kind| *kind == ValueKind::Texts)
}

/// Whether some values begin with the first word of a name: `node3` and `node1` are alike.
fn has_first_word<'v>(name: &str, mut values: impl Iterator<Item = &'v [u8]>) -> bool {
    let first = |text: &str| words(text).into_iter().next();
    values.any(|value| std::str::from_utf8(value).is_ok_and(|value| first(value) == first(name)))
}

/// Whether a value of the first line stands in a row below: in its column, or in one of the first two, which
/// are the ends where there are no names.
fn comes_again(first: &[Vec<u8>], body: &[&[Vec<u8>]]) -> bool {
    let ends: HashSet<&[u8]> = first.iter().take(2).map(Vec::as_slice).collect();
    let again = |row: &&[Vec<u8>]| {
        row.iter().zip(first).any(|(value, name)| value == name && !value.is_empty())
            || row.iter().take(2).any(|value| !value.is_empty() && ends.contains(value.as_slice()))
    };
    body.iter().take(ROWS_MAX).any(again)
}

/// Rows below a first line that are needed to call it different.
const ALIKE_MIN: usize = 10;

/// Whether in each column of texts the value of the first line lacks a sign that all others have, such as a
/// digit.
fn stand_out(first: &[Vec<u8>], kinds: &[ValueKind], body: &[&[Vec<u8>]]) -> bool {
    let signs: [fn(u8) -> bool; 5] = [
        |sign| sign.is_ascii_digit(),
        |sign| sign == b'@',
        |sign| sign == b'.',
        |sign| sign == b'/',
        |sign| sign == b':',
    ];
    let has = |value: &[u8], sign: &fn(u8) -> bool| value.iter().any(|byte| sign(*byte));
    let mut texts = (0..first.len()).filter(|&column| kinds[column] == ValueKind::Texts).peekable();
    texts.peek().is_some()
        && texts.all(|column| {
            signs.iter().filter(|sign| !has(&first[column], sign)).any(|sign| {
                let (mut given, mut with) = (0, 0);
                for value in values(body, column).filter(|value| !value.is_empty()) {
                    given += 1;
                    with += usize::from(has(value, sign));
                }
                given >= ALIKE_MIN && with == given
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(table: &str) -> FirstLine {
        let rows: Vec<Vec<Vec<u8>>> = table
            .lines()
            .map(|line| line.split(',').map(|field| field.as_bytes().to_vec()).collect())
            .collect();
        let body: Vec<&[Vec<u8>]> = rows[1..].iter().map(Vec::as_slice).collect();
        first_line(&rows[0], &body, true)
    }

    #[test]
    fn a_first_line_is_told_by_types_names_and_values() {
        use FirstLine::{Header, Row, Unclear};
        let table = [
            ("a,b\n1,2", Header),
            ("1,2\n3,4", Row),
            ("person,friend\nalice,bob\nbob,carol", Header),
            ("date,sender,receiver\n2024-01-01,a,b", Header),
            ("x,y,since\na,b,2024-01-01", Header),
            ("2024-01-01,a,b\n2024-01-02,b,c", Row),
            ("a,b,true\nc,d,false", Row),
            ("alice,bob\nbob,carol", Row),
            ("alice,bob\ncarol,dave", Unclear),
            ("chef,worker\nbob,carol\ncarol,dave", Unclear),
            ("chef,worker\np1,p2\np3,p1\np2,p3", Unclear),
            ("chef,worker\np1,p2\np3,p1\np2,p3\np4,p5\np1,p6\np7,p8\np9,p1\np2,p2\np2,p8\np9,p8", Header),
            ("node1,node2\nann,bob\ncy,dan", Header),
            ("node1,node2\nnode3,node4", Unclear),
            ("from,to\na,b\nb,to", Header),
            (",who,whom\n0,a,b\n1,b,c", Header),
            ("0,1\na,b\nb,c", Header),
            (",0,1\n0,a,b\n1,b,c", Header),
            ("source,b\nc,source", Row),
            ("source,b\nc,d", Unclear),
            ("employee,manager,role\nann,bob,manager\ncy,bob,engineer", Unclear),
            ("file,upload\nking,queen", Unclear),
            ("import-fresh,parent-module\na,b", Unclear),
            ("i,j\nj,k\nk,l", Unclear),
            ("left,right\nright,up", Unclear),
            ("alice,bob,NA\ncarol,dave,3", Unclear),
            ("node1,node2,\na,b,", Header),
            ("who,whom,\na,b,", Unclear),
            ("source,target,2020\na,b,5", Header),
            ("node1,node2\nnode2,node3", Row),
        ];
        for (text, expected) in table {
            assert_eq!(told(text), expected, "{text}");
        }
    }
}
