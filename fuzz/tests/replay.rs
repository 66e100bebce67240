//! Replays the corpus, and runs a few fresh cases of each reader.

use std::sync::Arc;

use esker_fuzz::outcome::Outcome;
use esker_fuzz::run::{Campaign, attempt, corpus, run};
use esker_fuzz::target::{TARGETS, WAYS};

#[test]
fn every_input_of_the_corpus_is_read_or_refused_in_every_way() {
    let mut inputs = 0;
    for target in &TARGETS {
        let folder = corpus(target.name);
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for file in files {
            let bytes: Arc<[u8]> = std::fs::read(&file).unwrap().into();
            for way in 0..WAYS {
                let outcome = attempt(target, &bytes, way);
                assert!(outcome.is_ok(), "{}, way {way}: {outcome:?}", file.display());
            }
            inputs += 1;
        }
    }
    assert!(inputs > 100, "only {inputs} inputs: is the corpus there?");
}

#[test]
fn most_seeds_are_read_and_the_others_refused() {
    for target in &TARGETS {
        let seeds = (target.seeds)();
        let read = |bytes: &Vec<u8>| {
            matches!(attempt(target, &bytes.clone().into(), 0).unwrap(), Outcome::Read { .. })
        };
        let count = seeds.iter().filter(|bytes| read(bytes)).count();
        assert!(
            count > 0 && 2 * count >= seeds.len(),
            "{}: {count} of {} are read",
            target.name,
            seeds.len()
        );
    }
}

#[test]
fn two_thousand_fresh_cases_of_each_reader_pass() {
    let campaign = Campaign { inputs: 2000, seed: 7, threads: 2 };
    for target in &TARGETS {
        let report = run(target, &campaign, |case| panic!("{}: case {case} hangs", target.name), |_| ());
        assert_eq!(report.inputs, 2000);
        assert!(report.failures.is_empty(), "{}: {:?}", target.name, report.failures.values());
        assert!(
            report.read > 0 && report.kinds.len() > 1,
            "{} reaches little: {:?}",
            target.name,
            report.kinds.keys()
        );
    }
}
