//! Kills a process that commits, freezes, merges, tags and forgets versions at random moments: everything
//! that it acknowledged is there afterwards. `ESKER_TEST_KILLS` sets the number of kills; the last thousand
//! ran on 2026-11-21.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use esker_graph::Run;
use esker_graph::random::{Random, hash};
use esker_store::io::RealDisk;
use esker_store::{Database, DatabaseOptions, Store};

use super::model::{Edges, changes_of, fill, sums_of};

const WORKS_ON: &str = "ESKER_TEST_COMMITS_TO";
/// Kills of one database; then a new one begins.
const KILLS_OF_ONE: u64 = 25;

fn options() -> DatabaseOptions {
    // Small, so that layers and segments come and go during the test.
    DatabaseOptions {
        threads: 1,
        segment_bytes: 20_000,
        freeze_bytes: Some(100_000),
        ..DatabaseOptions::default()
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

/// The test below runs it in a process of its own: works until it is killed, and prints each step before and
/// after it.
#[test]
fn worker() {
    let Some(path) = std::env::var_os(WORKS_ON) else { return };
    let db = Database::open(Path::new(&path), options()).unwrap();
    let run = Run::with_threads(1).unwrap();
    let newest = || db.versions().last().unwrap().number;
    let mut noise = Random::new(newest());
    say("\nopen");
    loop {
        let version = newest() + 1;
        let mut batch = db.batch();
        fill(&mut batch, &changes_of(version)).unwrap();
        say(&format!("try commit {version}"));
        assert_eq!(db.commit(batch, "").unwrap(), version);
        say(&format!("commit {version}"));
        match noise.below(12) {
            0 => drop(db.freeze(&run).unwrap()),
            1 => drop(db.merge(&run).unwrap()),
            2 if version.is_multiple_of(4) => drop(db.compact(&run).unwrap()),
            3 => {
                let name = noise.below(3);
                say(&format!("try tag {name} {version}"));
                db.tag(&name.to_string(), version).unwrap();
                say(&format!("tag {name} {version}"));
            }
            4 | 5 => {
                let versions = db.versions();
                let tags = db.manifest().tags.clone();
                let version = versions[noise.below(versions.len() as u64) as usize].number;
                if version < newest() && !tags.values().any(|tagged| *tagged == version) {
                    say(&format!("try forget {version}"));
                    db.forget(version).unwrap();
                    say(&format!("forget {version}"));
                }
            }
            _ => {}
        }
    }
}

/// The required contents of the database, from the output of the processes.
#[derive(Debug)]
struct Known {
    newest: u64,
    forgotten: BTreeSet<u64>,
    tags: BTreeMap<String, u64>,
    /// The step that began last, and may be done.
    tried: Option<String>,
}

impl Known {
    fn new() -> Self {
        Self { newest: 1, forgotten: BTreeSet::new(), tags: BTreeMap::new(), tried: None }
    }

    fn take(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |word: &str| word.parse::<u64>().unwrap();
        match words[..] {
            ["try", ..] => self.tried = Some(line["try ".len()..].to_owned()),
            ["commit", version] => self.newest = number(version),
            ["forget", version] => drop(self.forgotten.insert(number(version))),
            ["tag", name, version] => drop(self.tags.insert(name.to_owned(), number(version))),
            _ => {}
        }
        if self.tried.as_deref() == Some(line) {
            self.tried = None;
        }
    }

    /// Compares with a database, and adds the last step if it was done.
    fn settle(&mut self, store: &Store) {
        let versions: Vec<u64> = store.versions().unwrap().iter().map(|version| version.number).collect();
        if let Some(tried) = self.tried.take() {
            let words: Vec<&str> = tried.split(' ').collect();
            let last = words[words.len() - 1].parse().unwrap();
            let is_done = match words[0] {
                "commit" => versions.contains(&last),
                "forget" => !versions.contains(&last),
                _ => store.manifest().tags.get(words[1]) == Some(&last),
            };
            if is_done {
                self.take(&tried);
            }
        }
        let expected: Vec<u64> =
            (1..=self.newest).filter(|version| !self.forgotten.contains(version)).collect();
        assert_eq!(versions, expected);
        assert_eq!(*store.manifest().tags, self.tags);
    }
}

/// The sums of all versions up to one.
struct Sums {
    edges: Edges,
    sums: Vec<u64>,
}

impl Sums {
    fn at(&mut self, version: u64) -> u64 {
        while (self.sums.len() as u64) < version {
            self.edges.change(&changes_of(self.sums.len() as u64 + 1));
            self.sums.push(self.edges.sum(0, 1));
        }
        self.sums[version as usize - 1]
    }

    fn verify(&mut self, store: &Store, version: u64) {
        let found = sums_of(&store.at(version).unwrap(), 1).unwrap();
        assert_eq!(found[0], self.at(version), "version {version}");
    }
}

fn spawn(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["commits::kill::worker", "--exact", "--nocapture"]).env(WORKS_ON, path);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Lets a process work, kills it, and reads its output.
fn work_and_kill(path: &Path, wait_ms: u64, known: &mut Known) {
    let mut child = spawn(path);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    if wait_ms.is_multiple_of(4) {
        // Kill some of them while they open the database.
        std::thread::sleep(Duration::from_millis(wait_ms / 4));
    } else {
        assert!(lines.by_ref().any(|line| line == "open"), "a worker could not open the database");
        std::thread::sleep(Duration::from_millis(wait_ms));
    }
    child.kill().unwrap();
    lines.for_each(|line| known.take(&line));
    child.wait().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn killed_at_random_moments_nothing_is_lost() {
    let kills: u64 = std::env::var("ESKER_TEST_KILLS").map_or(20, |kills| kills.parse().unwrap());
    for first in (0..kills).step_by(KILLS_OF_ONE as usize) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("web.esker");
        let mut sums = Sums { edges: Edges::imported(), sums: vec![Edges::imported().sum(0, 1)] };
        sums.edges.import(&(Arc::new(RealDisk) as _), &path);
        let mut known = Known::new();
        for kill in first..kills.min(first + KILLS_OF_ONE) {
            work_and_kill(&path, hash(kill) % 200, &mut known);
            // Before a writer recovers it, and after.
            let store = Store::open(&path).unwrap();
            known.settle(&store);
            let kept = store.versions().unwrap();
            let last = kept.len().saturating_sub(10);
            let some = (0..10).map(|k| hash(kill * 10 + k) as usize % kept.len());
            some.chain(last..kept.len()).for_each(|index| sums.verify(&store, kept[index].number));
        }
        Database::open(&path, options()).unwrap().close().unwrap();
        let store = Store::open(&path).unwrap();
        known.settle(&store);
        for version in store.versions().unwrap() {
            sums.verify(&store, version.number);
        }
    }
}
