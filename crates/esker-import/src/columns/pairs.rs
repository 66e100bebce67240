//! Pairs of columns whose names say that edges lead from one to the other.

use std::collections::{BTreeMap, HashSet};

use super::names::{NameRank, is_id_part, words};

/// Two words of names.
struct EndWords {
    source: &'static str,
    target: &'static str,
    /// Whether they are used for little else.
    is_strong: bool,
    /// What they may be beside the ends of edges.
    also: Also,
}

/// What two columns may be beside the ends of edges, if they hold numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Also {
    /// Nothing usual.
    Nothing,
    /// The beginning and the end of a time.
    Interval,
    /// Two amounts.
    Quantities,
}

const fn strong(source: &'static str, target: &'static str) -> EndWords {
    EndWords { source, target, is_strong: true, also: Also::Nothing }
}

const fn weak(source: &'static str, target: &'static str) -> EndWords {
    EndWords { source, target, is_strong: false, also: Also::Nothing }
}

/// Words for the ends of edges.
const END_WORDS: &[EndWords] = &[
    strong("src", "dst"),
    strong("src", "dest"),
    strong("src", "tgt"),
    strong("source", "target"),
    strong("source", "destination"),
    strong("source", "dest"),
    EndWords { also: Also::Interval, ..strong("from", "to") },
    strong("sender", "receiver"),
    strong("sender", "recipient"),
    strong("payer", "payee"),
    strong("payor", "payee"),
    strong("caller", "callee"),
    strong("calling", "called"),
    strong("parent", "child"),
    strong("orig", "resp"),
    strong("orig", "dest"),
    strong("origin", "destination"),
    strong("origin", "dest"),
    strong("originator", "beneficiary"),
    strong("originator", "responder"),
    strong("follower", "followee"),
    strong("follower", "followed"),
    strong("follower", "following"),
    strong("citing", "cited"),
    strong("debtor", "creditor"),
    strong("donor", "recipient"),
    strong("lender", "borrower"),
    strong("seller", "buyer"),
    strong("truster", "trustee"),
    strong("rater", "ratee"),
    strong("predecessor", "successor"),
    strong("ancestor", "descendant"),
    strong("subject", "object"),
    strong("saddr", "daddr"),
    strong("srcaddr", "dstaddr"),
    strong("sip", "dip"),
    weak("u", "v"),
    EndWords { also: Also::Interval, ..weak("start", "end") },
    EndWords { also: Also::Quantities, ..weak("sent", "received") },
    EndWords { also: Also::Quantities, ..weak("debit", "credit") },
    weak("head", "tail"),
    EndWords { also: Also::Quantities, ..weak("left", "right") },
    weak("sa", "da"),
    weak("i", "j"),
    weak("user", "friend"),
    weak("person", "friend"),
    weak("dependent", "dependency"),
    weak("package", "dependency"),
    weak("project", "dependency"),
];

/// Last words of names that count two ends of the same kind.
const COUNTED: [[&str; 2]; 4] = [["1", "2"], ["0", "1"], ["a", "b"], ["x", "y"]];

/// Two columns by their places, source first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EdgeEnds {
    pub(crate) source: usize,
    pub(crate) target: usize,
}

/// What the names of two columns say; the clearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PairKind {
    /// Two words that are used for ends and for little else.
    Strong,
    /// A word for a source and one for a target that do not belong together.
    Crossed,
    /// Two words that are used for other things as well.
    Weak,
    /// One name twice, or with two numbers or letters behind it.
    Counted,
}

/// Two columns whose names fit each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NamedPair {
    pub(crate) ends: EdgeEnds,
    pub(crate) kind: PairKind,
    /// What the names say besides.
    pub(crate) rank: NameRank,
    /// What the columns may be instead.
    pub(crate) also: Also,
}

/// The words of a name. A text of one piece is cut behind a word for an end, as in `srcip`.
pub(crate) fn end_words(name: &str) -> Vec<String> {
    let cut = |word: String| -> Vec<String> {
        let sides =
            END_WORDS.iter().flat_map(|pair| [pair.source, pair.target]).filter(|side| side.len() > 1);
        let is_side = sides.clone().any(|side| side == word);
        let parts = sides.filter_map(|side| {
            let behind = word.strip_prefix(side).filter(|rest| is_id_part(rest));
            let before = word.strip_suffix(side).filter(|rest| is_id_part(rest));
            behind
                .map(|rest| vec![side.to_owned(), rest.to_owned()])
                .or(before.map(|rest| vec![rest.to_owned(), side.to_owned()]))
        });
        let parts =
            if is_side { None } else { parts.max_by_key(|parts| parts.iter().map(String::len).max()) };
        parts.unwrap_or_else(|| vec![word])
    };
    words(name).into_iter().flat_map(cut).collect()
}

/// The other words of a name that has `side` among them.
fn without(words: &[String], side: &str) -> Option<Vec<String>> {
    let at = words.iter().position(|word| word == side)?;
    // A letter is a name of its own, not a part of others.
    if side.len() == 1 && words.len() > 1 {
        return None;
    }
    Some(words.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, word)| word.clone()).collect())
}

/// Names for one end, or of one counted group, that are compared with others: a table has few, and a line of
/// thousands of equal words is no header.
const ALIKE_MAX: usize = 64;

/// A column whose name has a word for an end.
struct Side {
    column: usize,
    /// The index of the word in [`END_WORDS`].
    words: usize,
    rest: Vec<String>,
}

/// The columns that `word` of some pair of words makes an end.
fn sides(names: &[Vec<String>], word: fn(&EndWords) -> &'static str) -> Vec<Side> {
    let mut sides = Vec::new();
    for (words, pair) in END_WORDS.iter().enumerate() {
        let found = names
            .iter()
            .enumerate()
            .filter_map(|(column, name)| without(name, word(pair)).map(|rest| Side { column, words, rest }));
        sides.extend(found.take(ALIKE_MAX));
    }
    sides
}

/// All pairs of columns whose names fit each other; `names` has the words of each.
pub(crate) fn named_pairs(names: &[Vec<String>]) -> Vec<NamedPair> {
    let (sources, targets) = (sides(names, |pair| pair.source), sides(names, |pair| pair.target));
    let mut pairs: Vec<NamedPair> = Vec::new();
    let mut known = HashSet::new();
    let mut add = |source: &Side, target: &Side, kind: PairKind| {
        let ends = EdgeEnds { source: source.column, target: target.column };
        if source.column != target.column && source.rest == target.rest && known.insert(ends) {
            let rank = NameRank::of(&source.rest);
            // What is called an id is neither a time nor an amount.
            let may_be_else = matches!(rank, NameRank::Bare | NameRank::Other);
            let also = if may_be_else { END_WORDS[source.words].also } else { Also::Nothing };
            pairs.push(NamedPair { ends, kind, rank, also });
        }
    };
    for source in &sources {
        let kind = if END_WORDS[source.words].is_strong { PairKind::Strong } else { PairKind::Weak };
        targets
            .iter()
            .filter(|target| target.words == source.words)
            .for_each(|target| add(source, target, kind));
    }
    let is_strong = |side: &&Side| END_WORDS[side.words].is_strong;
    for source in sources.iter().filter(is_strong) {
        targets.iter().filter(is_strong).for_each(|target| add(source, target, PairKind::Crossed));
    }
    if pairs.iter().any(|pair| pair.kind == PairKind::Strong) {
        pairs.retain(|pair| pair.kind != PairKind::Crossed);
    }
    counted_pairs(&mut pairs, names);
    pairs
}

/// Pairs of names that differ in the last word at most, a number or a letter.
fn counted_pairs(pairs: &mut Vec<NamedPair>, names: &[Vec<String>]) {
    let mut known: HashSet<EdgeEnds> = pairs.iter().map(|pair| pair.ends).collect();
    for (stem, members) in counted_groups(names) {
        let rank = NameRank::of(stem);
        if rank == NameRank::Attribute {
            continue;
        }
        for (at, &(one, of_one)) in members.iter().enumerate() {
            for &(other, of_other) in &members[at + 1..] {
                let (ends, back) =
                    (EdgeEnds { source: one, target: other }, EdgeEnds { source: other, target: one });
                let counted = match [of_one, of_other] {
                    // A name that comes twice, also as other programs write it again.
                    ["", ""] => Some(ends),
                    ["", "1" | "2" | "b"] => Some(ends),
                    counts if COUNTED.contains(&counts) => Some(ends),
                    counts if COUNTED.contains(&[counts[1], counts[0]]) => Some(back),
                    _ => None,
                };
                if let Some(ends) = counted.filter(|ends| known.insert(*ends)) {
                    pairs.push(NamedPair { ends, kind: PairKind::Counted, rank, also: Also::Nothing });
                }
            }
        }
    }
}

/// Columns with the last words of their names, by the words before; in a group, as many as are compared.
fn counted_groups(names: &[Vec<String>]) -> BTreeMap<&[String], Vec<(usize, &str)>> {
    let mut groups: BTreeMap<&[String], Vec<(usize, &str)>> = BTreeMap::new();
    let mut add = |stem, column, last| {
        let group = groups.entry(stem).or_default();
        if group.len() < ALIKE_MAX {
            group.push((column, last));
        }
    };
    for (column, name) in names.iter().enumerate() {
        let Some((last, stem)) = name.split_last() else { continue };
        add(&name[..], column, "");
        if COUNTED.iter().flatten().any(|count| count == last) {
            add(stem, column, last.as_str());
        }
    }
    groups
}

/// Whether a name has a word that is used for an end of edges, and for little else: `Some(true)` for a
/// source.
pub(crate) fn named_end(words: &[String]) -> Option<bool> {
    let strong = END_WORDS.iter().filter(|pair| pair.is_strong);
    let mut sides = strong.flat_map(|pair| [(pair.source, true), (pair.target, false)]);
    sides.find_map(|(side, is_source)| {
        let rest = without(words, side)?;
        (NameRank::of(&rest) <= NameRank::Name).then_some(is_source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs that names have, as `source target kind`.
    fn pairs(names: &[&str]) -> Vec<String> {
        let words: Vec<_> = names.iter().map(|name| end_words(name)).collect();
        let shown = |pair: &NamedPair| {
            format!("{}>{} {:?} {:?}", names[pair.ends.source], names[pair.ends.target], pair.kind, pair.rank)
        };
        named_pairs(&words).iter().map(shown).collect()
    }

    #[test]
    fn names_that_fit_each_other_are_found_in_any_spelling() {
        let table: &[(&[&str], &[&str])] = &[
            (&["fromnodeid", "tonodeid"], &["fromnodeid>tonodeid Strong Id"]),
            (&["Target", "Source", "Type"], &["Source>Target Strong Bare"]),
            (&["srcip", "sport", "dstip", "dsport"], &["srcip>dstip Strong Vertex"]),
            (&["nameOrig", "oldbalanceOrg", "nameDest"], &["nameOrig>nameDest Strong Name"]),
            (
                &["id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p"],
                &["id.orig_h>id.resp_h Strong Id", "id.orig_p>id.resp_p Strong Attribute"],
            ),
            (
                &["From Bank", "Account", "To Bank", "Account.1"],
                &["From Bank>To Bank Strong Other", "Account>Account.1 Counted Vertex"],
            ),
            (&["protein1", "protein2", "score"], &["protein1>protein2 Counted Vertex"]),
            (&["lat1", "lat2"], &[]),
            (&["from", "recipient"], &["from>recipient Crossed Bare"]),
            (&["token", "totals"], &[]),
            (&["u", "v"], &["u>v Weak Bare"]),
        ];
        for (names, expected) in table {
            assert_eq!(pairs(names), *expected, "{names:?}");
        }
    }
}
