//! Conditions on kinds of edges, however they are written, and what changed of the edges that meet some.

use std::collections::BTreeMap;
use std::path::Path;

use esker::graph::random::Random;
use esker::graph::{Direction, Run, vertex};
use esker::import::{ImportOptions, Input, Pick, PickProperties, ReadOptions, import_inputs};
use esker::selection::{Condition, Conditions, check_kinds};
use esker::store::diff::{DiffEdge, Difference, diff};
use esker::store::format::Duplicates;
use esker::store::property::PropertyValue;
use esker::store::{Database, DatabaseOptions, Version};

use crate::common::cases;

const KINDS: [&str; 4] = ["a", "ab", "b", "c"];

/// Edges with a weight and a kind of up to three kinds, and random commits to them; those of the fourth kind
/// come with the last.
fn database(directory: &Path, duplicates: Duplicates, directed: bool, random: &mut Random) -> Database {
    let mut csv = "source,target,w,kind\n".to_owned();
    for _ in 0..40 {
        let (u, v, w, kind) = (random.below(6), random.below(6), random.below(4), random.below(3) as usize);
        csv += &format!("{u},{v},{w},{}\n", KINDS[kind]);
    }
    let read = ReadOptions {
        properties: PickProperties::All,
        kind: Some("kind".to_owned()),
        weight: Pick::Column("w".to_owned()),
        ..ReadOptions::default()
    };
    let path = directory.join("kinds.esker");
    let kind = Some("kind".to_owned());
    let import = ImportOptions { directed: Some(directed), duplicates, kind, ..ImportOptions::default() };
    import_inputs(&[Input::memory("edges.csv", csv.into_bytes())], &path, &read, &import).unwrap();
    let database =
        Database::open(&path, DatabaseOptions { threads: 1, ..DatabaseOptions::default() }).unwrap();
    let names: Vec<_> = database.latest().unwrap().edge_properties().map(|one| one.name.clone()).collect();
    for version in 2..=5 {
        let mut batch = database.batch();
        for _ in 0..12 {
            let [u, v] = [random.below(6), random.below(6)];
            if random.below(3) == 0 {
                batch.remove_edge(u, v).unwrap();
            } else {
                let (w, kind) = (random.below(4) as i64, KINDS[random.below(version - 1) as usize]);
                let value = |name: &String| match &**name {
                    "w" => PropertyValue::from(w),
                    _ => PropertyValue::Text(kind.as_bytes()),
                };
                batch.add_edge(u, v, &names.iter().map(value).collect::<Vec<_>>()).unwrap();
            }
        }
        database.commit(batch, "some").unwrap();
        if random.below(3) == 0 {
            database.freeze(&Run::with_threads(1).unwrap()).unwrap();
        }
    }
    database
}

fn conditions(texts: &[&str], kinds: &[&str], version: &Version) -> Conditions {
    let parsed: Vec<Condition> = texts.iter().map(|text| text.parse().unwrap()).collect();
    let kinds: Vec<String> = kinds.iter().map(|kind| (*kind).to_owned()).collect();
    let run = Run::with_threads(1).unwrap();
    let made = Conditions::with_checked_kinds(&parsed, &kinds, version, &run).unwrap().unwrap();
    std::sync::Arc::into_inner(made).unwrap()
}

/// Whether the edges that meet conditions are taken for those of one kind.
fn are_of_one_kind(texts: &[&str], kinds: &[&str], version: &Version) -> bool {
    let run = Run::with_threads(1).unwrap();
    let conditions = std::sync::Arc::new(conditions(texts, kinds, version));
    !version.view().filtered(conditions, None, false, &run).unwrap().may_have_parallel()
}

/// A condition on the kind or on another value.
fn random_condition(random: &mut Random, depth: u64) -> String {
    let mut kind = || format!("'{}'", ["a", "ab", "b", "a\u{1}", ""][random.below(5) as usize]);
    let [one, two] = [kind(), kind()];
    match random.below(if depth == 0 { 9 } else { 13 }) {
        0..=1 => format!("kind = {one}"),
        2 => format!("kind != {one}"),
        3 => format!("kind in ({one}, {two})"),
        4 => format!("kind like '{}'", ["a", "a%", "%b", "_"][random.below(4) as usize]),
        5 => format!("kind between {one} and {two}"),
        6 => format!("kind {} {one}", ["<", "<=", ">", ">="][random.below(4) as usize]),
        7 => format!("w > {}", random.below(4)),
        8 => ["kind is null", "source < 3", "vertex > 1"][random.below(3) as usize].to_owned(),
        9 => format!("not ({})", random_condition(random, depth - 1)),
        10 => {
            let [a, b] = [random_condition(random, depth - 1), random_condition(random, depth - 1)];
            format!("({a}) or ({b})")
        }
        _ => {
            let [a, b] = [random_condition(random, depth - 1), random_condition(random, depth - 1)];
            format!("({a}) and ({b})")
        }
    }
}

#[test]
fn what_is_joined_does_not_depend_on_how_a_condition_is_written() {
    let mut random = Random::new(11);
    let place = tempfile::tempdir().unwrap();
    let database = database(place.path(), Duplicates::Last, true, &mut random);
    let versions = [1, 5].map(|number| database.at(number).unwrap());
    for version in &versions {
        let one: [&[&str]; 9] = [
            &["kind = a"],
            &["kind=a", "w>1"],
            &["kind=a and w>1"],
            &["kind like 'a'"],
            &["not kind != a"],
            &["kind=a or kind=a"],
            &["kind in (a, b) and kind != 'b'"],
            &["kind between 'a' and 'a'"],
            &["kind in (a, ab)", "kind like 'a' or kind > 'b' and source = 1"],
        ];
        for texts in one {
            assert!(are_of_one_kind(texts, &[], version), "{texts:?}");
        }
        // Whatever kinds a version has: other versions have more.
        let several: [&[&str]; 6] = [
            &["kind != b"],
            &["kind like 'a%'"],
            &["w>1"],
            &["kind=a or w>1"],
            &["kind>='c'"],
            &["kind<'b'"],
        ];
        for texts in several {
            assert!(!are_of_one_kind(texts, &[], version), "{texts:?}");
        }
        assert!(are_of_one_kind(&[], &["a"], version) && !are_of_one_kind(&[], &["a", "b"], version));
        assert!(are_of_one_kind(&["kind != b"], &["a", "b"], version));
    }
    let mut joined = 0;
    for _ in 0..cases(2000).cases {
        let text = random_condition(&mut random, 3);
        let is_one = are_of_one_kind(&[&text], &[], &versions[1]);
        joined += usize::from(is_one);
        let same = [
            format!("not (not ({text}))"),
            format!("({text}) or ({text})"),
            format!("({text}) and (w >= 0 or w < 0)"),
            format!("({text}) and not (w < 0 and w > 0)"),
        ];
        for other in &same {
            assert_eq!(are_of_one_kind(&[other], &[], &versions[1]), is_one, "{text}, as {other}");
        }
        assert_eq!(are_of_one_kind(&[&text], &[], &versions[0]), is_one, "{text} of another version");
        if is_one {
            // Never where edges of two kinds meet it, of the kinds that there are.
            let both = conditions(&[&text], &[], &versions[1]);
            let kinds: std::collections::BTreeSet<_> = edges_of(&versions[1], Some(&both))
                .into_keys()
                .map(|edge| edge.rsplit('=').next().unwrap().to_owned())
                .collect();
            assert!(kinds.len() < 2, "{text}: {kinds:?}");
        }
    }
    assert!(joined > 50, "{joined} conditions leave one kind");
}

/// Edges by their ends and values, and how many there are of each.
type Edges = BTreeMap<String, i64>;

fn shown(version: &Version, edge: &DiffEdge<'_>) -> String {
    let ends = [edge.source, edge.target].map(|v| version.ids().external_of(v).unwrap().to_string());
    let values =
        ["w", "kind"].map(|name| edge.value(version.edge_property(name).unwrap()).unwrap().to_string());
    format!("{} {} w={} kind={}", ends[0], ends[1], values[0], values[1])
}

/// The edges of a version that meet conditions: read from its lists, not as differences.
fn edges_of(version: &Version, conditions: Option<&Conditions>) -> Edges {
    use esker::store::windows::{ArcFilter, ListedArc};
    let mut found = Edges::new();
    for v in (0..version.num_vertices()).map(vertex) {
        let edges = version.edges(Direction::Out, v).unwrap();
        let kept = edges.filtered(|other, lists, index| {
            let arc = ListedArc::of_list(Direction::Out, v, other, lists, index);
            conditions.map_or(Ok(true), |conditions| conditions.keeps(&arc))
        });
        let kept = kept.unwrap();
        for (index, &target) in kept.targets().iter().enumerate() {
            if !version.is_directed() && target < v {
                continue;
            }
            let ends = [v, target].map(|v| version.ids().external_of(v).unwrap().to_string());
            let values = ["w", "kind"].map(|name| {
                let property = version.edge_property(name).unwrap();
                version.edge_value(property, kept.bits(property.number, index).unwrap()).unwrap().to_string()
            });
            *found
                .entry(format!("{} {} w={} kind={}", ends[0], ends[1], values[0], values[1]))
                .or_default() += 1;
        }
    }
    found
}

#[test]
fn differences_under_conditions_lead_from_the_edges_that_met_them_to_those_that_do() {
    let (run, mut random) = (Run::with_threads(1).unwrap(), Random::new(23));
    let rules = [Duplicates::Keep, Duplicates::Last, Duplicates::Sum];
    for (directed, duplicates) in rules.map(|rule| [true, false].map(|directed| (directed, rule))).concat() {
        let place = tempfile::tempdir().unwrap();
        let database = database(place.path(), duplicates, directed, &mut random);
        let chosen: [(&[&str], &[&str]); 6] = [
            (&["w>=2"], &[]),
            (&[], &["a"]),
            (&[], &["c"]),
            (&["not w=1"], &["ab", "c"]),
            (&["kind=c or w=0"], &[]),
            (&["source<3 and kind!=b"], &[]),
        ];
        for (texts, kinds) in
            chosen.into_iter().filter(|chosen| directed || !chosen.0.contains(&"source<3 and kind!=b"))
        {
            for (a, b) in [(1, 5), (5, 1), (2, 3), (4, 2), (3, 5)] {
                let [a, b] = [a, b].map(|number| database.at(number).unwrap());
                let [before, after] = [&a, &b].map(|version| conditions(texts, kinds, version));
                let [mut replayed, wanted] = [(&a, &before), (&b, &after)].map(|(v, c)| edges_of(v, Some(c)));
                diff(&a, &b, &run, |difference| {
                    let Some(kept) = after.of_difference(&before, difference)? else { return Ok(()) };
                    let (gone, come) = match kept {
                        Difference::EdgeAdded(edge) => (None, Some(edge)),
                        Difference::EdgeRemoved(edge) => (Some(edge), None),
                        Difference::EdgeChanged(old, new) => (Some(old), Some(new)),
                        _ => (None, None),
                    };
                    gone.iter().for_each(|edge| *replayed.entry(shown(&a, edge)).or_default() -= 1);
                    come.iter().for_each(|edge| *replayed.entry(shown(&b, edge)).or_default() += 1);
                    Ok(())
                })
                .unwrap();
                replayed.retain(|_, count| *count != 0);
                assert_eq!(replayed, wanted, "{texts:?} {kinds:?}, {} to {}", a.number(), b.number());
            }
        }
    }
}

#[test]
fn a_kind_of_one_version_alone_is_known_to_both() {
    let mut random = Random::new(3);
    let place = tempfile::tempdir().unwrap();
    let database = database(place.path(), Duplicates::Last, true, &mut random);
    let [first, last] = [1, 5].map(|number| database.at(number).unwrap());
    let kinds = |kind: &str| [kind.to_owned()];
    assert!(check_kinds(&kinds("c"), &[&first, &last]).is_ok() && check_kinds(&kinds("c"), &[&last]).is_ok());
    let refused = check_kinds(&kinds("d"), &[&first, &last]).unwrap_err().to_string();
    assert!(refused.contains("\"d\" in versions 1 and 5; there are a"), "{refused}");
    let refused = check_kinds(&kinds("d"), &[&first]).unwrap_err().to_string();
    assert!(refused.contains("\"d\" in version 1; there are a"), "{refused}");
}
