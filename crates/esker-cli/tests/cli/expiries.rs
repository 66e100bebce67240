//! Windows and answers that follow a stream whose old edges expire.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use crate::place::Place;

const FIRST: u64 = 1_704_067_200;

/// A thousand edges, one a second; those of the last `age` seconds are left.
fn stream(age: u64) -> Place {
    let place = Place::new();
    place.file("none.csv", "from,to,sent\n");
    place.ok("import none.csv s.esker --duplicates keep --ids int --schema sent:i64 --event-time @0");
    let rows: String = (0..1000).map(|i| format!("{i},{},{}\n", i + 1, FIRST + i)).collect();
    place.file("a.csv", &format!("from,to,sent\n{rows}"));
    place.ok(&format!("stream s.esker a.csv --commit-every 50 --expire {age}s"));
    place
}

fn start(place: &Place, line: &str) -> Child {
    place.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The first rows that a command prints, which is then ended, and what it said.
fn first_rows(place: &Place, line: &str, count: usize) -> (Vec<String>, String) {
    let mut child = start(place, line);
    let shown = BufReader::new(child.stdout.take().unwrap());
    let rows = shown.lines().skip(1).take(count).map(Result::unwrap).collect();
    child.kill().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    child.wait().unwrap();
    (rows, said)
}

/// A window was computed on the newest version, where expired edges are missing.
#[test]
fn windows_of_a_stream_have_the_edges_that_have_expired_since() {
    let place = stream(100);
    let line = |rest: &str| format!("window wcc s.esker --from 2024-01-01 --follow --format csv {rest}");
    let (rows, said) = first_rows(&place, &line("--length 1m --length 90s --every 1m"), 32);
    assert_eq!(said, "", "no edge is missing");
    for (i, pair) in rows.chunks(2).enumerate() {
        let end = format!("2024-01-01T00:{i:02}:59Z");
        let long = if i == 0 { 60 } else { 90 };
        assert_eq!(pair, [format!("{end},1m,61,60,1"), format!("{end},90s,{},{long},1", long + 1)]);
    }
    // More edges than expire together, or than there are at a time, count as well.
    for (every, count) in [(70, 14), (160, 6), (400, 2)] {
        let (rows, said) = first_rows(&place, &line(&format!("--length 1m --every-edges {every}")), count);
        assert_eq!(said, "");
        for (i, row) in rows.iter().enumerate() {
            let end = every * (i + 1) - 1;
            let (minute, second) = (end / 60, end % 60);
            assert_eq!(*row, format!("2024-01-01T00:{minute:02}:{second:02}Z,1m,61,60,1"));
        }
    }
}

#[test]
fn windows_that_lack_expired_edges_are_named() {
    let place = stream(100);
    // Longer than edges are kept.
    let (rows, said) =
        first_rows(&place, "window wcc s.esker --length 5m --from 2024-01-01 --follow --format csv -q", 2);
    let lacks =
        "the window of 5m until 2024-01-01T00:04:59Z lacks its edges until 2024-01-01T00:04:59Z: version ";
    assert!(said.starts_with(lacks), "{said}");
    assert_eq!(rows, ["2024-01-01T00:04:59Z,5m,0,0,0", "2024-01-01T00:09:59Z,5m,0,0,0"]);
    // The versions that had them were forgotten.
    place.ok("retain s.esker last 1");
    let line = "window wcc s.esker --length 1m --from 2024-01-01T00:14 --follow --format csv";
    let (rows, said) = first_rows(&place, line, 2);
    let lacks =
        "the window of 1m until 2024-01-01T00:14:59Z lacks its edges until 2024-01-01T00:14:59Z: version ";
    assert!(said.starts_with(lacks) && said.lines().count() == 1, "{said}");
    assert_eq!(rows, ["2024-01-01T00:14:59Z,1m,0,0,0", "2024-01-01T00:15:59Z,1m,61,60,1"]);
}

#[test]
fn an_answer_that_moves_in_steps_begins_with_all_edges_of_its_window() {
    let place = stream(60);
    let rows =
        place.ok("follow wcc s.esker --window 1m --every 1m --time-unit s --initial --once --format csv");
    assert_eq!(rows.lines().count(), 62, "{rows}");
    assert!(rows.lines().skip(1).all(|row| row.contains(",2024-01-01T00:15:59Z,")), "{rows}");
}
