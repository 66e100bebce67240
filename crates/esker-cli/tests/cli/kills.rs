//! A stream, its expiry and merges, and those who follow it, all killed at once.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::place::{Place, limited};

const EDGES: u64 = 9_000;
/// Seconds that edges are kept, and those of a window.
const AGE: u64 = 300;
const WINDOW: &str = "--window 100s --time sent --time-unit s";
const STREAM: &str = "stream s.esker a.csv --commit-every 100";

/// Edges in the order of their times, three a second, but that some are late, and some stand there twice.
fn rows() -> Vec<String> {
    let row = |i: u64| {
        let late = if i % 37 == 5 { 45 } else { 0 };
        format!("{},{},{}", i * 7 % 211, i * i % 197, 1_000_000 + i / 3 - late)
    };
    (0..EDGES).map(|i| row(if i % 50 == 9 { i - 1 } else { i })).collect()
}

fn stream() -> Place {
    let place = Place::new();
    place.file("none.csv", "from,to,sent\n");
    place.ok("import none.csv s.esker --duplicates keep --ids int --schema sent:i64 --event-time @0");
    place.ok(&format!("options s.esker --time sent --time-unit s --expire {AGE}s --freeze-size 16KiB"));
    place.file("a.csv", &format!("from,to,sent\n{}\n", rows().join("\n")));
    place
}

/// Values by vertex.
type Answer = BTreeMap<String, String>;

/// An answer that is followed.
struct Followed {
    algorithm: &'static str,
    window: &'static str,
    answer: Answer,
}

impl Followed {
    fn line(&self) -> String {
        format!("follow {} s.esker {} --keep --format csv", self.algorithm, self.window)
    }

    /// Takes the whole rows of changes that were printed.
    fn take(&mut self, printed: &str) {
        let whole = printed.rfind('\n').map_or("", |end| &printed[..end]);
        for row in whole.lines().filter(|row| !row.starts_with("version")) {
            let mut fields = row.rsplit(',');
            let (new, _, vertex) = (fields.next(), fields.next(), fields.next());
            let (Some(new), Some(vertex)) = (new, vertex) else { panic!("{row}") };
            match new {
                "" => drop(self.answer.remove(vertex)),
                new => drop(self.answer.insert(vertex.to_owned(), new.to_owned())),
            }
        }
    }

    /// Goes on from the kept state to the newest version, whose answer is computed anew to compare with.
    fn catch_up(&mut self, place: &Place) {
        self.take(&place.ok(&format!("{} --once", self.line())));
        let computed = place.ok(&format!("run {} s.esker {} --output -", self.algorithm, self.window));
        let rows = computed.lines().skip(1).filter_map(|row| row.split_once(','));
        let computed: Answer = rows
            .filter(|(_, value)| !value.is_empty())
            .map(|(vertex, value)| (vertex.to_owned(), value.to_owned()))
            .collect();
        assert_eq!(self.answer, computed, "{}", self.line());
    }
}

fn start(place: &Place, line: &str) -> Child {
    limited(place.command(line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
}

fn newest(place: &Place) -> (u64, String) {
    let log = place.json("log s.esker -n 1 --json");
    let version = &log["versions"][0];
    (version["version"].as_u64().unwrap(), version["message"].as_str().unwrap().to_owned())
}

/// How far the stream was read, as the newest version says: edges, late ones, watermark, fingerprint.
fn position(message: &str) -> &str {
    let position = message.rsplit_once("a.csv: ").map_or("", |(_, position)| position);
    // Each round has a file of its own.
    position.split_once(", file ").map_or(position, |(position, _)| position)
}

fn windows(place: &Place) -> String {
    place.ok("window wcc s.esker --length 60s --every 50s --format csv")
}

fn edges(place: &Place) -> Vec<String> {
    let mut rows: Vec<_> =
        place.ok("export s.esker - --format csv").lines().skip(1).map(str::to_owned).collect();
    rows.sort_unstable();
    rows
}

/// `ESKER_TEST_KILLS`: how many.
#[test]
fn a_stream_and_its_followers_that_are_killed_at_once_end_with_the_same_answers() {
    let wanted = std::env::var("ESKER_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let reference = stream();
    reference.ok(STREAM);
    let (expected, expected_windows) = (edges(&reference), windows(&reference));
    let expected_position = position(&newest(&reference).1).to_owned();
    assert!(
        expected_position.starts_with(&format!("{EDGES} edges, ")) && !expected_position.contains(" 0 late")
    );
    let young = |row: &&String| {
        row.rsplit(',').next().unwrap().parse::<u64>().unwrap() + AGE > 1_000_000 + (EDGES - 1) / 3
    };
    let mut all = rows();
    all.retain(|row| young(&row));
    all.sort_unstable();
    assert_eq!(expected, all, "edges that are late or there twice count once each");
    let (mut kills, mut round) = (0_u64, 0_u64);
    while kills < wanted {
        round += 1;
        kills += killed(round, (wanted - kills).min(60), |place| {
            assert_eq!(edges(place), expected);
            assert_eq!(windows(place), expected_windows);
            assert_eq!(position(&newest(place).1), expected_position, "late edges are counted once");
        });
    }
}

/// Streams all edges, killing everything now and then; returns the number of kills.
fn killed(round: u64, most: u64, at_end: impl Fn(&Place)) -> u64 {
    let place = stream();
    let mut followed = [("wcc", ""), ("degrees", WINDOW), ("wcc", WINDOW)]
        .map(|(algorithm, window)| Followed { algorithm, window, answer: Answer::new() });
    followed.iter_mut().for_each(|one| one.catch_up(&place));
    let mut kills = 0;
    for turn in 0.. {
        let (before, message) = newest(&place);
        if kills >= most || position(&message).starts_with(&format!("{EDGES} edges")) {
            break;
        }
        let mut children: Vec<Child> = followed.iter().map(|one| start(&place, &one.line())).collect();
        children.push(start(&place, "window wcc s.esker --length 60s --every 50s --follow"));
        children.push(start(&place, &format!("{STREAM} --rate 20000/s")));
        let begin = Instant::now();
        while newest(&place).0 == before && begin.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis((round * 31 + turn * 17) % 70));
        for (index, child) in children.iter().enumerate() {
            // Now and then a follower is asked to end.
            let signal = if index < 3 && (turn + index as u64) % 5 == 4 { Signal::INT } else { Signal::KILL };
            kill_process(Pid::from_child(child), signal).unwrap();
            kills += 1;
        }
        for (index, mut child) in children.into_iter().enumerate() {
            let mut printed = String::new();
            child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
            child.wait().unwrap();
            if let Some(one) = followed.get_mut(index) {
                one.take(&printed);
            }
        }
        if turn % 4 == 3 {
            place.ok("compact s.esker");
        }
        followed.iter_mut().for_each(|one| one.catch_up(&place));
    }
    place.ok(STREAM);
    followed.iter_mut().for_each(|one| one.catch_up(&place));
    place.ok("check s.esker");
    at_end(&place);
    kills
}
