//! Random conditions against what they mean of rows, on all doors that take them.

use std::collections::BTreeSet;

use esker::graph::random::Random;
use esker::graph::{Direction, Run, vertex};
use esker::local::{Incidence, LocalGraph, edges_of};
use esker::selection::{Condition, Conditions};
use esker::store::Version;
use esker::store::diff::{Difference, diff};
use esker::store::format::Encoding;

use crate::common::cases;

use super::world::{Facts, KINDS, LANDS, Row, World};

/// Whether a value that is there meets a comparison.
type KnownTest = Box<dyn Fn(&Known) -> bool>;

/// A condition and its text.
enum Wanted {
    Both(Box<Self>, Box<Self>),
    Either(Box<Self>, Box<Self>),
    Not(Box<Self>),
    /// Of a name: a comparison, or `None` for `is null`.
    Test(&'static str, Option<KnownTest>),
}

/// A value, as far as the test compares it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Known {
    Number(f64),
    Text(&'static str),
}

fn compared(random: &mut Random, name: &'static str, text: &mut String) -> Wanted {
    let is_text = matches!(name, "kind" | "source.land" | "target.land" | "vertex.land");
    let words: &[&'static str] = if name == "kind" { &KINDS } else { &LANDS };
    let shown =
        |value: f64| if name == "day" { format!("'1970-01-0{}'", value + 1.0) } else { value.to_string() };
    let quoted = |word: &str| format!("'{}'", word.replace('\'', "''"));
    let number = |random: &mut Random| match name {
        "rate" => random.below(8) as f64 / 4.0,
        "amount" => random.below(9) as f64 - 3.0,
        _ => random.below(5) as f64,
    };
    let test = |is_met: KnownTest| Wanted::Test(name, Some(is_met));
    match (random.below(5), is_text) {
        (0, _) if name.contains('.') || !matches!(name, "source" | "target" | "vertex") => {
            *text += &format!("{name} is null");
            Wanted::Test(name, None)
        }
        (1, false) => {
            let (least, most) = (number(random), number(random));
            *text += &format!("{name} between {} and {}", shown(least), shown(most));
            test(Box::new(move |known| matches!(known, Known::Number(own) if least <= *own && *own <= most)))
        }
        (1, true) => {
            *text += &format!("{name} like '%{}'", if name == "kind" { "e" } else { "_" });
            let ending = if name == "kind" { "e" } else { "" };
            test(Box::new(move |known| matches!(known, Known::Text(own) if own.ends_with(ending))))
        }
        (2, false) => {
            let values = [number(random), number(random)];
            *text += &format!("{name} in ({}, {})", shown(values[0]), shown(values[1]));
            test(Box::new(move |known| matches!(known, Known::Number(own) if values.contains(own))))
        }
        (_, false) => {
            let (wanted, sign) =
                (number(random), ["=", "!=", "<", ">=", "<=", ">"][random.below(6) as usize]);
            *text += &format!("{name} {sign} {}", shown(wanted));
            test(Box::new(move |known| {
                let Known::Number(own) = known else { return false };
                match sign {
                    "=" => *own == wanted,
                    "!=" => *own != wanted,
                    "<" => *own < wanted,
                    ">=" => *own >= wanted,
                    "<=" => *own <= wanted,
                    _ => *own > wanted,
                }
            }))
        }
        (_, true) => {
            let wanted = words[random.below(words.len() as u64) as usize];
            let sign = ["=", "<>", "in"][random.below(3) as usize];
            let value = quoted(wanted);
            *text +=
                &if sign == "in" { format!("{name} in ({value})") } else { format!("{name}{sign}{value}") };
            test(Box::new(move |known| (*known == Known::Text(wanted)) == (sign != "<>")))
        }
    }
}

impl Wanted {
    fn random(random: &mut Random, depth: u64, directed: bool, text: &mut String) -> Self {
        if depth == 0 || random.below(3) == 0 {
            const NAMES: [&str; 13] = [
                "amount",
                "rate",
                "kind",
                "day",
                "amount",
                "vertex",
                "vertex.group",
                "vertex.land",
                "source",
                "source.group",
                "target.land",
                "target",
                "source.land",
            ];
            let name = NAMES[random.below(if directed { 13 } else { 8 }) as usize];
            return compared(random, name, text);
        }
        if random.below(4) == 0 {
            *text += "not (";
            let part = Self::random(random, depth - 1, directed, text);
            *text += ")";
            return Self::Not(Box::new(part));
        }
        let is_both = random.below(2) == 0;
        *text += "(";
        let left = Box::new(Self::random(random, depth - 1, directed, text));
        *text += if is_both { " and " } else { " or " };
        let right = Box::new(Self::random(random, depth - 1, directed, text));
        *text += ")";
        if is_both { Self::Both(left, right) } else { Self::Either(left, right) }
    }

    /// True, false or unknown, as SQL defines it.
    fn of(&self, row: &Row, facts: &[Facts], vertex: u64) -> Option<bool> {
        match self {
            Self::Both(a, b) => match (a.of(row, facts, vertex), b.of(row, facts, vertex)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Self::Either(a, b) => match (a.of(row, facts, vertex), b.of(row, facts, vertex)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Self::Not(part) => part.of(row, facts, vertex).map(|is_met| !is_met),
            Self::Test(name, is_met) => {
                let (whose, fact) = name.split_once('.').unwrap_or((name, ""));
                let end = match whose {
                    "source" => row.ends[0],
                    "target" => row.ends[1],
                    _ => vertex,
                };
                let (group, land) = facts[end as usize];
                let number = |value: Option<i64>| value.map(|value| Known::Number(value as f64));
                let value = match (whose, fact) {
                    ("amount", _) => number(row.amount),
                    ("rate", _) => row.rate.map(Known::Number),
                    ("kind", _) => row.kind.map(Known::Text),
                    ("day", _) => Some(Known::Number(f64::from(row.day))),
                    (_, "group") => number(group),
                    (_, "land") => land.map(Known::Text),
                    _ => number(Some(end as i64)),
                };
                match is_met {
                    None => Some(value.is_none()),
                    Some(is_met) => value.map(|value| is_met(&value)),
                }
            }
        }
    }

    /// Whether an edge meets it with each of its ends as `vertex`.
    fn keeps(&self, row: &Row, facts: &[Facts]) -> bool {
        row.ends.iter().all(|&vertex| self.of(row, facts, vertex) == Some(true))
    }
}

/// The ends of the edges in all lists of a direction, by external id and sorted.
fn ends_of(version: &Version, list: impl Fn(u64) -> Vec<[u64; 2]>) -> Vec<[u64; 2]> {
    let mut all: Vec<_> = (0..version.num_vertices() as u64).flat_map(list).collect();
    all.sort_unstable();
    all
}

fn expect_on(version: &Version, condition: &str, wanted: &[[u64; 2]], directed: bool, run: &Run) {
    let parsed: Condition = condition.parse().unwrap();
    let conditions = Conditions::of(&[parsed], version, run).unwrap().unwrap();
    let id = |v| match version.ids().external_of(v).unwrap() {
        esker::store::ids::ExternalId::Int(id) => id,
        esker::store::ids::ExternalId::Text(_) => unreachable!("ids are integers"),
    };
    // Undirected edges stand in the lists of both ends.
    let mut arcs = wanted.to_vec();
    if !directed {
        arcs.extend(wanted.iter().filter(|[u, v]| u != v).map(|[u, v]| [*v, *u]));
    }
    arcs.sort_unstable();
    let view = version.view().filtered(conditions.clone(), None, false, run).unwrap();
    assert_eq!(view.num_edges(), wanted.len() as u64, "{condition}");
    let vertices: BTreeSet<u64> = arcs.iter().flatten().copied().collect();
    assert_eq!(view.num_present(run).unwrap(), vertices.len(), "{condition}");
    for direction in [Direction::Out, Direction::In] {
        let list = |v: u64| {
            let edges = view.kept_edges(direction, vertex(v as usize)).unwrap();
            edges.targets().iter().map(|&other| [id(vertex(v as usize)), id(other)]).collect()
        };
        let mut expected = arcs.clone();
        if direction == Direction::In && directed {
            expected.iter_mut().for_each(|ends| ends.reverse());
            expected.sort_unstable();
        }
        assert_eq!(ends_of(version, list), expected, "{condition}, {direction:?}");
    }
    for reach in [Incidence::Out, Incidence::In] {
        let list = |v: u64| {
            let graph = LocalGraph::new(version, Some(&conditions));
            let edges = edges_of(graph, vertex(v as usize), reach).unwrap();
            edges.iter().map(|edge| [id(edge.source), id(edge.target)]).collect()
        };
        assert_eq!(ends_of(version, list), arcs, "{condition}, {reach:?}");
    }
}

#[test]
fn conditions_mean_of_every_version_what_sql_says() {
    let (run, mut random) = (Run::with_threads(1).unwrap(), Random::new(47));
    for (directed, encoding) in
        [(true, Encoding::Plain), (false, Encoding::Compressed), (true, Encoding::Compressed)]
    {
        let place = tempfile::tempdir().unwrap();
        let world = World::new(place.path(), directed, encoding, &mut random);
        let store = esker::store::Store::open(&world.path).unwrap();
        let versions = [2, 3].map(|number| store.at(number).unwrap());
        for _ in 0..cases(600).cases {
            let mut text = String::new();
            let wanted = Wanted::random(&mut random, 3, world.directed, &mut text);
            let kept = |rows: std::ops::Range<usize>, facts: &[Facts]| {
                let kept = world.rows[rows].iter().filter(|row| wanted.keeps(row, facts));
                kept.map(|row| row.ends).collect::<Vec<_>>()
            };
            for (version, rows) in versions.iter().zip([30, 40]) {
                let facts = &world.facts[usize::from(rows == 40)];
                expect_on(version, &text, &kept(0..rows, facts), directed, &run);
            }
            let parsed = [text.parse::<Condition>().unwrap()];
            let of = |version| Conditions::of(&parsed, version, &run).unwrap().unwrap();
            let (former, later) = (of(&versions[0]), of(&versions[1]));
            let mut added = 0;
            diff(&versions[0], &versions[1], &run, |difference| {
                let kept = later.of_difference(&former, difference)?;
                added += usize::from(matches!(kept, Some(Difference::EdgeAdded(_))));
                Ok(())
            })
            .unwrap();
            assert_eq!(added, kept(30..40, &world.facts[1]).len(), "{text}");
        }
    }
}
