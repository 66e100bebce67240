//! Conditions on texts: what they compare keeps to the budget and can be cancelled.

use esker::graph::{Budget, Cancel, Run, RunOptions};
use esker::import::{ImportOptions, Input, PickProperties, ReadOptions, import_inputs};
use esker::selection::{Condition, Conditions};
use esker::store::Store;

const TEXTS: usize = 40_000;

fn run(budget: Budget, cancel: Cancel) -> Run {
    Run::new(RunOptions { threads: 2, budget, cancel, ..RunOptions::default() }).unwrap()
}

#[test]
fn texts_are_compared_within_the_budget_until_they_are_cancelled() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("g.esker");
    let note = |at: usize| if at.is_multiple_of(3) { String::new() } else { format!("note {at}") };
    let rows: String = (0..TEXTS).map(|at| format!("{},{},{}\n", at % 99, at % 97, note(at))).collect();
    let read = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    let input = Input::memory("edges.csv", format!("source,target,note\n{rows}").into_bytes());
    import_inputs(&[input], &path, &read, &ImportOptions { threads: 1, ..ImportOptions::default() }).unwrap();
    let version = Store::open(&path).unwrap().latest().unwrap();
    for (text, is_looked_up) in [
        ("note = 'note 7'", true),
        ("note <> 'note 7'", true),
        ("note in ('note 7', 'another')", true),
        ("note is null", true),
        ("note is not null", true),
        ("note < 'note 7'", false),
        ("note like '%7%'", false),
        ("not note like 'note%'", false),
    ] {
        let condition: Condition = text.parse().unwrap();
        let of = |run: &Run| Conditions::of(std::slice::from_ref(&condition), &version, run).map(drop);
        of(&run(Budget::default(), Cancel::default())).unwrap();
        let tight = of(&run(Budget::new(100), Cancel::default()));
        let cancel = Cancel::default();
        cancel.cancel();
        let cancelled = of(&run(Budget::default(), cancel));
        if is_looked_up {
            assert!(tight.is_ok() && cancelled.is_ok(), "{text}");
        } else {
            let tight = tight.unwrap_err().to_string();
            assert!(tight.contains("the texts that meet conditions"), "{text}: {tight}");
            assert!(cancelled.unwrap_err().to_string().contains("cancel"), "{text}");
        }
    }
}
