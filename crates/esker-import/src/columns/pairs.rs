//! Pairs of columns whose names say that edges lead from one to the other.

use super::names::{NameRank, is_id_part, words};

/// Two words of names.
struct EndWords {
    source: &'static str,
    target: &'static str,
    /// Whether they are used for little else.
    is_strong: bool,
}

const fn strong(source: &'static str, target: &'static str) -> EndWords {
    EndWords { source, target, is_strong: true }
}

const fn weak(source: &'static str, target: &'static str) -> EndWords {
    EndWords { source, target, is_strong: false }
}

/// Words for the ends of edges.
const END_WORDS: &[EndWords] = &[
    strong("src", "dst"),
    strong("src", "dest"),
    strong("src", "tgt"),
    strong("source", "target"),
    strong("source", "destination"),
    strong("source", "dest"),
    strong("from", "to"),
    strong("sender", "receiver"),
    strong("sender", "recipient"),
    strong("sent", "received"),
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
    strong("debit", "credit"),
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
    weak("start", "end"),
    weak("head", "tail"),
    weak("left", "right"),
    weak("sa", "da"),
    weak("i", "j"),
    weak("user", "friend"),
    weak("person", "friend"),
    weak("dependent", "dependency"),
    weak("package", "dependency"),
];

/// Last words of names that count two ends of the same kind.
const COUNTED: [[&str; 2]; 4] = [["1", "2"], ["0", "1"], ["a", "b"], ["x", "y"]];

/// Two columns by their places, source first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Whether the words are those of an interval, too.
    pub(crate) may_be_interval: bool,
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
        for (column, name) in names.iter().enumerate() {
            sides.extend(without(name, word(pair)).map(|rest| Side { column, words, rest }));
        }
    }
    sides
}

/// All pairs of columns whose names fit each other; `names` has the words of each.
pub(crate) fn named_pairs(names: &[Vec<String>]) -> Vec<NamedPair> {
    let (sources, targets) = (sides(names, |pair| pair.source), sides(names, |pair| pair.target));
    let mut pairs: Vec<NamedPair> = Vec::new();
    let mut add = |source: &Side, target: &Side, kind: PairKind| {
        let ends = EdgeEnds { source: source.column, target: target.column };
        let is_new = source.column != target.column && !pairs.iter().any(|known| known.ends == ends);
        if is_new && source.rest == target.rest {
            let may_be_interval = matches!(END_WORDS[source.words].source, "from" | "start");
            pairs.push(NamedPair { ends, kind, rank: NameRank::of(&source.rest), may_be_interval });
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

fn counted_pairs(pairs: &mut Vec<NamedPair>, names: &[Vec<String>]) {
    for (source, of_source) in names.iter().enumerate() {
        for (target, of_target) in names.iter().enumerate().skip(source + 1) {
            let shared = of_source.iter().zip(of_target).take_while(|(a, b)| a == b).count();
            let (left, right) = (&of_source[shared..], &of_target[shared..]);
            let (ends, back) = (EdgeEnds { source, target }, EdgeEnds { source: target, target: source });
            let counted = match (left, right) {
                // A name that comes twice, also as other programs write it again.
                ([], []) if shared > 0 => Some(ends),
                ([], [number]) if shared > 0 && matches!(number.as_str(), "1" | "2" | "b") => Some(ends),
                ([one], [two]) if COUNTED.contains(&[one.as_str(), two.as_str()]) => Some(ends),
                ([two], [one]) if COUNTED.contains(&[one.as_str(), two.as_str()]) => Some(back),
                _ => None,
            };
            let (Some(ends), rank) = (counted, NameRank::of(&of_source[..shared])) else { continue };
            if rank != NameRank::Attribute && !pairs.iter().any(|known| known.ends == ends) {
                pairs.push(NamedPair { ends, kind: PairKind::Counted, rank, may_be_interval: false });
            }
        }
    }
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
