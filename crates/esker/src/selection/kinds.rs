//! Kinds of edges.

use esker_graph::{Direction, Run, Setting, message, vertex};
use esker_store::{Version, unknown_kind};

use super::test::PropertyTest;
use super::text::{Asked, Literal};
use crate::error::{Error, Result};

/// The test whether an edge is of one of some kinds; one that the version does not know is that of no edge.
pub(super) fn kinds_test(kinds: &[String], version: &Version, run: &Run) -> Result<PropertyTest> {
    let Some(property) = version.kind_property() else { return Err(no_kinds(version)) };
    let literal = |kind: &String| Literal { text: kind.clone(), is_quoted: true };
    let wanted = Asked::OneOf(kinds.iter().map(literal).collect());
    PropertyTest::of(property.clone(), &wanted, version, run)
}

fn no_kinds(version: &Version) -> Error {
    Error::usage(message![
        format!("the edges of {} have no kinds: import them with ", version.path().display()),
        Setting::Kind,
        ", which names the column that has them",
    ])
}

/// Refuses a kind that none of some versions of a database knows.
///
/// # Errors
/// [`Error::Usage`]; [`esker_store::Error::Corrupt`].
pub fn check_kinds(kinds: &[String], versions: &[&Version]) -> Result<()> {
    let mut known: Vec<String> = Vec::new();
    for version in versions.iter().filter(|_| !kinds.is_empty()) {
        if version.kind_property().is_none() {
            return Err(no_kinds(version));
        }
        for kind in kinds_of(version)? {
            if !known.contains(&kind) {
                known.push(kind);
            }
        }
    }
    match kinds.iter().find(|kind| !known.contains(kind)) {
        Some(kind) => Err(no_such_kind(kind, &known, versions)),
        None => Ok(()),
    }
}

/// The kinds of edges of a version, by code; none if its edges have no kinds.
///
/// # Errors
/// [`esker_store::Error::Corrupt`].
pub fn kinds_of(version: &Version) -> Result<Vec<String>> {
    let texts = version.kind_property().and_then(|kind| version.dictionary(kind.number));
    let Some(texts) = texts else { return Ok(Vec::new()) };
    let text = |code| Ok(String::from_utf8_lossy(texts.text(code)?).into_owned());
    (0..texts.len()).map(text).collect()
}

/// A kind of edges, and how many edges of a version are of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindCount {
    /// The kind.
    pub kind: String,
    /// The number of edges; an undirected one counts once.
    pub edges: u64,
}

/// The kinds of the edges of a version, by descending number of edges, then by name; without those of which
/// it has none. Reads the kinds of all edges.
///
/// # Errors
/// [`esker_store::Error::Corrupt`]; cancellation.
pub fn count_kinds(version: &Version, run: &Run) -> Result<Vec<KindCount>> {
    let Some(property) = version.kind_property() else { return Ok(Vec::new()) };
    let kinds = kinds_of(version)?;
    let mut counts = vec![0_u64; kinds.len()];
    for v in (0..version.num_vertices()).map(vertex) {
        if v & 0xfff == 0 {
            run.check().map_err(esker_store::Error::from)?;
        }
        let edges = version.edges(Direction::Out, v)?;
        for (index, &target) in edges.targets().iter().enumerate() {
            if version.is_directed() || v <= target {
                counts[edges.bits(property.number, index)? as usize] += 1;
            }
        }
    }
    let counted = kinds.into_iter().zip(counts).map(|(kind, edges)| KindCount { kind, edges });
    let mut counted: Vec<_> = counted.filter(|counted| counted.edges > 0).collect();
    counted.sort_by(|a, b| b.edges.cmp(&a.edges).then_with(|| a.kind.cmp(&b.kind)));
    Ok(counted)
}

fn no_such_kind(kind: &str, known: &[String], versions: &[&Version]) -> Error {
    let mut numbers: Vec<u64> = versions.iter().map(|version| version.number()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let of = format!("version{} {}", if numbers.len() == 1 { "" } else { "s" }, numbers.join(" and "));
    Error::usage(unknown_kind(kind, &of, known, known.len()))
}
