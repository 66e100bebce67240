//! Whether conditions leave edges of one kind alone, whatever kinds there are and however they are written.
//!
//! What they say of a kind is asked for samples: each text that they compare kinds with, and, for the texts
//! between two of these in the order of bytes, about which comparisons say the same, two texts. What they ask
//! of anything else than the kind may be answered either way.

use std::collections::BTreeSet;

use esker_store::property::PropertyValue;

use super::test::EdgeTest;
use super::value::{TextTest, ValueTest};

/// A kind that an edge may have.
enum SampleKind {
    Missing,
    /// One that the conditions name.
    Named(String),
    /// One of several that they do not name. Patterns may fit some of these.
    Other(String),
}

/// The answers that a condition may have.
#[derive(Clone, Copy)]
struct Possible {
    is_met: bool,
    is_refuted: bool,
}

impl Possible {
    const EITHER: Self = Self { is_met: true, is_refuted: true };
}

/// Whether edges that meet all of these are of one kind at most.
pub(super) fn leave_one_kind(tests: &[EdgeTest]) -> bool {
    let mut named = BTreeSet::new();
    tests.iter().for_each(|test| add_named(test, &mut named));
    let after = |text: &str| [format!("{text}\0"), format!("{text}\0\0")];
    let between = named.iter().flat_map(|text| after(text)).chain([String::new(), "\0".to_owned()]);
    let others: BTreeSet<String> = between.filter(|text| !named.contains(text)).collect();
    let others = others.into_iter().map(SampleKind::Other);
    let kinds = named.into_iter().map(SampleKind::Named).chain(others).chain([SampleKind::Missing]);
    let are_left = |kind: &SampleKind| tests.iter().all(|test| of_kind(test, kind).is_met);
    kinds.filter(are_left).take(2).count() < 2
}

/// Adds the texts that are compared with kinds.
fn add_named(test: &EdgeTest, named: &mut BTreeSet<String>) {
    match test {
        EdgeTest::All(parts) | EdgeTest::Any(parts) => parts.iter().for_each(|part| add_named(part, named)),
        EdgeTest::Not(part) => add_named(part, named),
        EdgeTest::Value(test) => match test.of_kind() {
            Some(ValueTest::Texts(TextTest::Order(_, text))) => drop(named.insert(text.clone())),
            Some(ValueTest::Texts(TextTest::OneOf(texts))) => named.extend(texts.iter().cloned()),
            Some(ValueTest::Texts(TextTest::Like(pattern))) => named.extend(pattern.only_text()),
            Some(ValueTest::Null | ValueTest::Values(_) | ValueTest::Numbers(_)) | None => {}
        },
        EdgeTest::End(_) => {}
    }
}

/// What a condition may say of an edge of a kind.
fn of_kind(test: &EdgeTest, kind: &SampleKind) -> Possible {
    let several = |parts: &[EdgeTest]| parts.iter().map(|part| of_kind(part, kind)).collect::<Vec<_>>();
    match test {
        EdgeTest::All(parts) => {
            let parts = several(parts);
            Possible {
                is_met: parts.iter().all(|part| part.is_met),
                is_refuted: parts.iter().any(|part| part.is_refuted),
            }
        }
        EdgeTest::Any(parts) => {
            let parts = several(parts);
            Possible {
                is_met: parts.iter().any(|part| part.is_met),
                is_refuted: parts.iter().all(|part| part.is_refuted),
            }
        }
        EdgeTest::Not(part) => {
            let Possible { is_met, is_refuted } = of_kind(part, kind);
            Possible { is_met: is_refuted, is_refuted: is_met }
        }
        EdgeTest::Value(test) => test.of_kind().map_or(Possible::EITHER, |test| of_value(test, kind)),
        EdgeTest::End(_) => Possible::EITHER,
    }
}

fn of_value(test: &ValueTest, kind: &SampleKind) -> Possible {
    let text = match kind {
        SampleKind::Missing => None,
        SampleKind::Named(text) => Some(text),
        SampleKind::Other(text) => match test {
            ValueTest::Texts(TextTest::Like(pattern)) if pattern.only_text().is_none() => {
                return Possible::EITHER;
            }
            _ => Some(text),
        },
    };
    let answer =
        test.is_met(&text.map_or(PropertyValue::Missing, |text| PropertyValue::Text(text.as_bytes())));
    Possible { is_met: answer == Some(true), is_refuted: answer == Some(false) }
}
