//! `esker stream`: edges that are committed as they come.

use std::io::Write;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::place::Place;

/// An empty multigraph whose edges have a time in seconds, with versions that may begin at any time.
fn place() -> Place {
    let place = Place::new();
    place.file("none.csv", "from,to,sent\n");
    place.ok("import none.csv s.esker --duplicates keep --ids int --schema sent:i64 --event-time @0");
    place
}

/// A CSV of edges from `i` to `i + 1` at the time `time(i)`.
fn rows(range: std::ops::Range<u64>, time: impl Fn(u64) -> u64) -> String {
    range.map(|i| format!("{i},{},{}\n", i + 1, time(i))).collect()
}

/// The edges and times of the newest version, in order.
fn edges(place: &Place) -> Vec<String> {
    place.ok("export s.esker - --format csv").lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort_unstable();
    rows
}

fn expected(text: &str) -> Vec<String> {
    sorted(text.lines().map(str::to_owned).collect())
}

/// The report of a stream, behind the states of each second.
fn report(place: &Place, line: &str) -> Value {
    serde_json::from_str(place.ok(line).lines().last().unwrap()).unwrap()
}

/// All versions, oldest first.
fn versions(place: &Place) -> Vec<Value> {
    let mut versions = place.json("log s.esker --json")["versions"].as_array().unwrap().clone();
    versions.reverse();
    versions
}

/// Waits until `holds`; panics after a time that only a hanging command takes.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn newest_edges(place: &Place) -> usize {
    edges(place).len()
}

fn start(place: &Place, line: &str) -> Child {
    place.command(line).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end(child: Child, signal: rustix::process::Signal) -> Output {
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn versions_have_the_edges_in_order_and_the_watermark_as_their_time() {
    let place = place();
    let text = rows(0..250, |i| 1_704_067_200 + i);
    place.file("a.csv", &format!("from,to,sent\n{text}"));
    let found = report(&place, "stream s.esker a.csv --commit-every 100 --json");
    assert_eq!((&found["edges"], &found["versions"], &found["late"]), (&250.into(), &3.into(), &0.into()));
    assert_eq!(sorted(edges(&place)), expected(&text));
    let versions = versions(&place);
    let times: Vec<&str> = versions.iter().map(|version| version["time"].as_str().unwrap()).collect();
    // More edges of the last time might have come.
    assert_eq!(times[1..], ["2024-01-01T00:01:38Z", "2024-01-01T00:03:18Z", "2024-01-01T00:04:08Z"]);
    assert_eq!(place.json("info s.esker --at 2024-01-01T00:03:20 --json")["edges"], 200);
    let second = versions[2]["message"].as_str().unwrap();
    assert!(second.contains("a.csv: 200 edges, 0 late, until 1704067398, mark "), "{second}");
    // All of it is there.
    let again = report(&place, "stream s.esker a.csv --json");
    assert_eq!((&again["edges"], &again["passed_over"]), (&0.into(), &250.into()));
    let more = rows(250..260, |i| 1_704_067_200 + i);
    place.file("a.csv", &format!("from,to,sent\n{text}{more}"));
    assert_eq!(report(&place, "stream s.esker a.csv --json")["edges"], 10);
    assert_eq!(sorted(edges(&place)), expected(&format!("{text}{more}")));
    let refused = |how: &str| {
        place.fails(1, "stream s.esker a.csv", "have the first 260 edges of");
        place.fails(1, "stream s.esker a.csv", how);
    };
    place.file("a.csv", "from,to,sent\n1,2,3\n");
    refused("a.csv, but it has 1 edge now");
    // As long, but another file: an earlier line went, and a later one came.
    place.file("a.csv", &format!("from,to,sent\n{}", rows(1..261, |i| 1_704_067_200 + i)));
    refused("but edge 260 of it is another one now");
    assert_eq!(edges(&place).len(), 260);
    place.file("a.csv", "from,to,sent\n1,2,3\n");
    assert_eq!(report(&place, "stream s.esker a.csv --from-start --json")["late"], 1);
    // What a forgotten version said of the stream stays known.
    place.file("b.csv", "from,to,sent\n8,9,4\n");
    place.ok("add s.esker b.csv --event-time now");
    place.ok("retain s.esker last 1");
    let last = report(&place, "stream s.esker a.csv --json");
    assert_eq!((&last["edges"], &last["passed_over"]), (&0.into(), &1.into()));
    place.file("a.csv", "from,to,sent\n1,2,3\n5,6,1704067500\n");
    assert_eq!(report(&place, "stream s.esker a.csv --json")["edges"], 1);
}

#[test]
fn late_edges_are_taken_rejected_or_refused_and_always_counted() {
    // In order but for two: the first comes with the version that it belongs to, the second after the next.
    let text = "1,2,100\n2,3,90\n3,4,110\n4,5,120\n5,6,109\n6,7,130\n";
    for (late, taken, rejected) in [("next", 6, ""), ("reject:late.csv", 5, "source,target,sent\n5,6,109\n")]
    {
        let place = place();
        place.file("a.csv", &format!("from,to,sent\n{text}"));
        let found = report(&place, &format!("stream s.esker a.csv --commit-every 2 --late {late} --json"));
        assert_eq!((&found["late"], &found["committed"]), (&1.into(), &taken.into()), "{late}");
        assert_eq!(edges(&place).len(), taken, "{late}");
        assert_eq!(std::fs::read_to_string(place.path().join("late.csv")).unwrap_or_default(), rejected);
    }
    let place = place();
    place.file("a.csv", &format!("from,to,sent\n{text}"));
    let refused = "stream s.esker a.csv --commit-every 2 --late refuse --time-unit s";
    place.fails(1, refused, "the edge from 5 to 6 is late: its time is 1970-01-01T00:01:49Z");
    assert_eq!(edges(&place).len(), 4, "what came before it is committed");
    place.fails(1, refused, "the edge from 5 to 6 is late: its time is 1970-01-01T00:01:49Z");
    place.fails(2, "stream s.esker a.csv --late reject:a.csv", "cannot be appended to the file that is read");
    let twice = "stream s.esker a.csv --late reject:no.csv --rejects ./no.csv";
    place.fails(2, twice, "--late and --rejects both name the file ./no.csv: give them different files");
    let again = report(&place, "stream s.esker a.csv --from-start --json");
    assert_eq!(again["late"], 4, "those until the watermark of the newest version, whatever was read before");
    let place = self::place();
    place.file("a.csv", &format!("from,to,sent\n{text}"));
    assert_eq!(report(&place, "stream s.esker a.csv --commit-every 2 --delay 11s --json")["late"], 0);
}

#[test]
fn edges_that_are_taken_together_make_the_versions_of_edges_that_are_taken_one_by_one() {
    let late = |i: u64| i > 2000 && i % 1000 < 30;
    let time = |i: u64| 1_704_067_200 + if late(i) { i - i % 1000 - 600 + i % 7 } else { i };
    let text = format!("from,to,sent\n{}", rows(0..6000, time));
    let made = ["", "--rate 1e12/s"].map(|pace| {
        let place = place();
        place.file("a.csv", &text);
        let line =
            "stream s.esker a.csv --commit-every 700 --delay 20s --late reject:late.csv --time-unit s --json";
        let report = report(&place, &format!("{line} {pace}"));
        let versions = versions(&place).into_iter().map(|one| {
            // The file is another one in each place.
            let message = one["message"].as_str().unwrap().split(", file ").next().unwrap();
            (message.rsplit(": ").next().unwrap().to_owned(), one["edges"].clone(), one["time"].clone())
        });
        let late = std::fs::read_to_string(place.path().join("late.csv")).unwrap();
        // Those of the import have the time of the clock.
        (report["late"].as_u64(), versions.skip(1).collect::<Vec<_>>(), late, edges(&place))
    });
    assert!(made[0].0 > Some(20) && made[0].1.len() > 7, "{:?} {:?}", made[0].0, made[0].1);
    assert!(made[0] == made[1], "{:?} {:?}", made[0].1, made[1].1);
}

#[test]
fn a_line_in_a_pipe_is_committed_before_the_pipe_ends() {
    let place = place();
    let mut child = start(&place, "stream s.esker - --commit-every 10ms");
    let pipe = child.stdin.as_mut().unwrap();
    pipe.write_all(b"from,to,sent\n1,2,100\n").unwrap();
    until("the first line is committed", || newest_edges(&place) == 1);
    child.stdin.as_mut().unwrap().write_all(b"2,3,101\n3,4,").unwrap();
    until("the second line is committed", || newest_edges(&place) == 2);
    child.stdin.as_mut().unwrap().write_all(b"102\n4,5,103").unwrap();
    drop(child.stdin.take());
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(newest_edges(&place), 4, "the last line needs no end");
}

#[test]
fn a_growing_file_is_followed_until_a_signal_which_commits_what_was_read() {
    let place = place();
    place.file("a.csv", "from,to,sent\n");
    let mut child = start(&place, "stream s.esker a.csv --follow --commit-every 1w");
    let append = |text: &str| {
        let mut file = std::fs::File::options().append(true).open(place.path().join("a.csv")).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    append("1,2,100\n");
    append("2,3,101\n3,4");
    // The second line on standard error, once a second, says that both lines were read.
    let mut shown = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("no version yet: 2 edges") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut shown, &mut line).unwrap() > 0, "the command ended");
    }
    let output = end(child, rustix::process::Signal::TERM);
    assert!(output.status.success());
    assert_eq!(edges(&place), ["1,2,100", "2,3,101"], "half a line is not taken");
    append(",102\n");
    assert_eq!(report(&place, "stream s.esker a.csv --json")["edges"], 1);
    assert_eq!(edges(&place).len(), 3);
}

#[test]
fn windows_follow_a_stream_once_the_watermark_has_passed_their_ends() {
    let place = place();
    let first = 1_704_067_200;
    place.file("a.csv", &format!("from,to,sent\n{}", rows(0..61, |i| first + i)));
    place.ok("stream s.esker a.csv");
    let line = "window wcc s.esker --length 1m --length 2m --every 1m --follow --format csv";
    let mut follower = start(&place, line);
    let mut shown = std::io::BufReader::new(follower.stdout.take().unwrap());
    let mut read = || {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut shown, &mut line).unwrap();
        let fields: Vec<&str> = line.trim().split(',').collect();
        fields[..4].join(",")
    };
    assert_eq!(read(), "until,length,vertices,edges");
    assert_eq!(read(), "2024-01-01T00:00:59Z,1m,61,60", "the newest that has ended");
    assert_eq!(read(), "2024-01-01T00:00:59Z,2m,61,60");
    // Three more minutes; the last has not ended. Windows that end together are shown one after
    // another.
    place.file("b.csv", &format!("from,to,sent\n{}", rows(61..200, |i| first + i)));
    place.ok("stream s.esker b.csv --commit-every 10");
    for (until, long) in [("01:59", 120), ("02:59", 120)] {
        assert_eq!(read(), format!("2024-01-01T00:{until}Z,1m,61,60"));
        assert_eq!(read(), format!("2024-01-01T00:{until}Z,2m,{},{long}", long + 1));
    }
    let output = end(follower, rustix::process::Signal::INT);
    assert_eq!(output.status.code(), Some(130));
    let skipping = "window wcc s.esker --length 1m --from 2024-01-01 --overrun skip --follow";
    let mut follower = start(&place, skipping);
    let mut noted = String::new();
    let mut said = std::io::BufReader::new(follower.stderr.take().unwrap());
    while !noted.contains("left out 2 windows that had ended before the newest") {
        assert!(std::io::BufRead::read_line(&mut said, &mut noted).unwrap() > 0, "{noted}");
    }
    end(follower, rustix::process::Signal::INT);
    // All are shown, and how late they are is said: of those that had ended before only if that is asked for.
    let waiting = skipping.replace("skip", "wait");
    for (line, minutes) in
        [(waiting.as_str(), [0, 1, 2]), (&waiting.replace("--overrun wait ", ""), [3, 4, 5])]
    {
        let mut follower = start(&place, line);
        let mut shown = std::io::BufReader::new(follower.stdout.take().unwrap());
        let mut expect_rows = |minutes: [u64; 3]| {
            for minute in minutes {
                let mut row = String::new();
                std::io::BufRead::read_line(&mut shown, &mut row).unwrap();
                assert!(row.contains(&format!("0{minute}:59")), "{row}");
            }
        };
        expect_rows([0, 1, 2]);
        if minutes[0] > 0 {
            place.file("c.csv", &format!("from,to,sent\n{}", rows(200..400, |i| first + i)));
            place.ok("stream s.esker c.csv");
            expect_rows(minutes);
        }
        let mut noted = String::new();
        let mut said = std::io::BufReader::new(follower.stderr.take().unwrap());
        assert!(std::io::BufRead::read_line(&mut said, &mut noted).unwrap() > 0);
        assert_eq!(
            noted,
            format!(
                "2 windows that have ended wait while that until 2024-01-01T00:0{}:59Z is computed; the newest ended 2m later\n",
                minutes[0]
            )
        );
        end(follower, rustix::process::Signal::INT);
    }
    place.fails(2, "window wcc s.esker --length 1m --follow --format table", "as jsonl or csv");
    place.fails(2, "window wcc s.esker --length 1m --overrun skip", "--follow");
}

#[test]
fn windows_of_a_stream_without_edges_begin_with_the_first() {
    let place = place();
    let mut follower = start(&place, "window wcc s.esker --length 1m --follow --format csv");
    let mut noted = String::new();
    let mut said = std::io::BufReader::new(follower.stderr.take().unwrap());
    while !noted.contains("waiting for the first") {
        assert!(std::io::BufRead::read_line(&mut said, &mut noted).unwrap() > 0, "{noted}");
    }
    // In milliseconds, which only these times show.
    place.file("a.csv", &format!("from,to,sent\n{}", rows(0..121, |i| 1_704_067_200_000 + 1000 * i)));
    place.ok("stream s.esker a.csv");
    let mut shown = std::io::BufReader::new(follower.stdout.take().unwrap());
    for expected in [
        "until,length,vertices,edges",
        "2024-01-01T00:00:59.999Z,1m,61,60",
        "2024-01-01T00:01:59.999Z,1m,61,60",
    ] {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut shown, &mut line).unwrap();
        assert!(line.starts_with(expected), "{line}");
    }
    end(follower, rustix::process::Signal::INT);
}

#[test]
fn a_stream_that_is_killed_goes_on_without_loss_or_repetition() {
    let place = place();
    let text = rows(0..20_000, |i| 1_000_000 + i / 3);
    place.file("a.csv", &format!("from,to,sent\n{text}"));
    let mut kills = 0;
    while newest_edges(&place) < 20_000 && kills < 12 {
        let line = "stream s.esker a.csv --commit-every 100 --rate 20000/s";
        let before = newest_edges(&place);
        let child = start(&place, line);
        until("it commits", || newest_edges(&place) > before);
        std::thread::sleep(Duration::from_millis(kills * 7 % 50));
        end(child, rustix::process::Signal::KILL);
        kills += 1;
    }
    assert!(kills >= 2, "it was killed in between");
    place.ok("stream s.esker a.csv");
    assert_eq!(sorted(edges(&place)), expected(&text));
    assert_eq!(report(&place, "stream s.esker a.csv --json")["late"], 0);
}

#[test]
fn what_was_read_before_an_error_is_committed() {
    let place = place();
    let mut child = start(&place, "stream s.esker - --commit-every 1w");
    let pipe = child.stdin.as_mut().unwrap();
    pipe.write_all(b"from,to,sent\n1,2,100\n2,3,101\n").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    // The first edge lies in one block of lines with the line that ends the stream.
    pipe.write_all(b"3,1,101\ngarbage\n4,4,104\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("garbage"));
    assert_eq!(edges(&place), ["1,2,100", "2,3,101", "3,1,101"]);
    // A file that is followed, and then cut short, as a rotation by copying does.
    place.file("a.csv", "from,to,sent\n3,4,102\n4,5,103\n");
    let mut child = start(&place, "stream s.esker a.csv --follow --commit-every 100ms");
    until("both lines are committed", || newest_edges(&place) == 5);
    std::fs::File::create(place.path().join("a.csv")).unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut said).unwrap();
    assert!(said.contains("cut short while it was followed") && said.contains("by renaming"), "{said}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(edges(&place).len(), 5);
}

#[test]
fn a_file_that_is_rotated_is_followed_without_loss_or_repetition() {
    let place = place();
    let path = |name: &str| place.path().join(name);
    let append = |name: &str, text: &str| {
        let mut file = std::fs::File::options().append(true).create(true).open(path(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    let rotate = || {
        if path("log.1").exists() {
            std::fs::rename(path("log.1"), path("log.2")).unwrap();
        }
        std::fs::rename(path("log"), path("log.1")).unwrap();
    };
    append("log", "from,to,sent\n1,2,101\n");
    let line = "stream s.esker log --follow --commit-every 50ms";
    let child = start(&place, line);
    until("the first line", || newest_edges(&place) == 1);
    rotate();
    // Its writer may still have it open, and write to the new one only later.
    append("log.1", "2,3,102\n");
    append("log", "");
    append("log.1", "3,4,103");
    append("log", "from,to,sent\n4,5,104\n");
    until("lines of both files", || newest_edges(&place) == 4);
    append("log", "5,6,105\n");
    until("a line of the new file", || newest_edges(&place) == 5);
    end(child, rustix::process::Signal::TERM);
    // Rotated twice while nobody reads.
    append("log", "6,7,106\n");
    rotate();
    append("log", "from,to,sent\n7,8,107\n");
    rotate();
    append("log", "from,to,sent\n8,9,108\n");
    append("log-errors", "from,to,sent\n70,80,109\n");
    place.ok("stream s.esker log");
    assert_eq!(sorted(edges(&place)), expected(&rows(1..9, |i| 100 + i)));
    // The system may give a new file the number of a removed one.
    let child = start(&place, line);
    for i in 9..13 {
        std::fs::remove_file(path("log.2")).unwrap();
        rotate();
        append("log", &format!("from,to,sent\n{i},{},{}\n", i + 1, 100 + i));
        until("the next file", || newest_edges(&place) == i);
    }
    end(child, rustix::process::Signal::TERM);
    assert_eq!(sorted(edges(&place)), expected(&rows(1..13, |i| 100 + i)));
    assert_eq!(report(&place, "stream s.esker log --json")["edges"], 0, "nothing is read twice");
}

#[test]
fn files_of_a_pattern_come_by_name_and_new_ones_as_they_appear() {
    let place = place();
    place.file("p1.csv", "from,to,sent\n1,2,101\n");
    place.file("p2.csv", "from,to,sent\n2,3,102\n");
    let child = start(&place, "stream s.esker p*.csv --follow --commit-every 50ms");
    until("both files", || newest_edges(&place) == 2);
    place.file("p3.csv", "from,to,sent\n3,4,103\n");
    until("the new file", || newest_edges(&place) == 3);
    end(child, rustix::process::Signal::TERM);
    // A renamed file is the same one.
    std::fs::rename(place.path().join("p3.csv"), place.path().join("p4.csv")).unwrap();
    place.file("p5.csv", "from,to,sent\n4,5,104\n");
    assert_eq!(report(&place, "stream s.esker p1.csv p2.csv p4.csv p5.csv --json")["edges"], 1);
    assert_eq!(sorted(edges(&place)), expected(&rows(1..5, |i| 100 + i)));
    place.fails(1, "stream s.esker nothing*.csv", "no file matches the pattern");
    place.fails(2, "stream s.esker - p1.csv", "standard input (-) is streamed alone");
}

#[test]
fn times_of_another_unit_than_those_of_earlier_edges_are_refused() {
    let place = place();
    place.file("a.csv", &format!("from,to,sent\n{}", rows(0..3, |i| 1_704_067_200 + i)));
    place.ok("stream s.esker a.csv");
    place.file("b.csv", "from,to,sent\n7,8,1704067203000\n");
    let line = "stream s.esker b.csv";
    place.fails(1, line, "1704067203000 looks as if it were in milliseconds, but 1704067202, the latest");
    assert_eq!(edges(&place).len(), 3);
    place.ok(&format!("{line} --time-unit ms"));
    assert_eq!(edges(&place).len(), 4);
}

/// One time in nanoseconds made all others, in seconds, old.
#[test]
fn times_after_the_year_9999_are_refused() {
    let place = place();
    let rows =
        |sent: &str| format!("from,to,sent\n1,2,1704067201\n7,8,1704067203\n8,9,{sent}\n9,10,1704067205\n");
    place.file("a.csv", &rows("1704067204000000000"));
    let refused = "1704067204000000000, which in seconds is after the year 9999";
    for unit in ["", "--time-unit s"] {
        place.fails(1, &format!("stream s.esker a.csv --from-start --expire 30d {unit}"), refused);
    }
    assert_eq!(edges(&place).len(), 4, "twice those before it");
    place.file("b.csv", &rows("1704067204000"));
    place.ok("options s.esker --time sent --time-unit s");
    place.fails(2, "stream s.esker b.csv --time-unit ms", "are in seconds, not in milliseconds");
    let refused =
        "8 to 9 has the time 1704067204000, which in seconds is after the year 9999: convert the times";
    place.fails(1, "stream s.esker b.csv --from-start", refused);
    let before = edges(&place).len();
    place.fails(1, "add s.esker b.csv --event-time now", refused);
    assert_eq!(edges(&place).len(), before);
}

#[test]
fn no_message_passes_for_the_position_of_a_stream() {
    let place = place();
    place.file("a.csv", "from,to,sent\n1,2,100\n");
    place.ok("stream s.esker a.csv");
    let forged = versions(&place).last().unwrap()["message"].as_str().unwrap().replace("1 edge", "9 edges");
    let mut command = place.command("add s.esker a.csv -m");
    let output = command.arg(&forged).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("would say how far a stream was read"), "{said}");
    let mut command = place.command("add s.esker a.csv -m");
    let output = command.arg("expire 9 edges until 2024-03-04T10:02:19Z").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("would say which edges have expired"), "{said}");
    assert_eq!(versions(&place).len(), 2);
    place.ok("add s.esker a.csv -m stream --event-time now");
}

/// The bits of a number with a fraction were taken for a time, and the times of all versions became such
/// numbers.
#[test]
fn a_time_with_a_fraction_is_refused() {
    let place = place();
    place.file("a.csv", "from,to,sent\n1,2,1700000001\n3,4,1700000002.5\n");
    place.fails(1, "stream s.esker a.csv", "the edge from 3 to 4 has the time 1700000002.5");
    assert_eq!(edges(&place).len(), 1, "what came before it is committed");
    // Nor may another command make the times of a declared stream such numbers.
    place.ok("options s.esker --time sent --time-unit s");
    place.fails(1, "add s.esker a.csv --event-time now", "sent has a fraction");
    assert_eq!(edges(&place).len(), 1);
    // The stream goes on with the edge that ended it.
    place.file("a.csv", "from,to,sent\n1,2,1700000001\n3,4,1700000002\n");
    assert_eq!(report(&place, "stream s.esker a.csv --json")["committed"], 1);
    assert_eq!(edges(&place).len(), 2);
}

#[test]
fn a_stream_is_paced_by_a_rate_or_by_the_times_of_its_edges() {
    let place = place();
    place.file("a.csv", &format!("from,to,sent\n{}", rows(0..31, |i| 1_704_067_200 + i)));
    for pace in ["--rate 100/s", "--replay 100x"] {
        let begin = Instant::now();
        place.ok(&format!("stream s.esker a.csv --from-start {pace}"));
        assert!(begin.elapsed() >= Duration::from_millis(300), "{pace}");
    }
}

#[test]
fn without_times_versions_have_the_time_of_their_commit() {
    let place = Place::new();
    place.file("a.csv", "from,to,weight\n1,2,3\n");
    place.ok("import a.csv s.esker");
    place.file("b.csv", "from,to,weight\n2,3,1\n3,4,7\n");
    let found = report(&place, "stream s.esker b.csv --json");
    assert_eq!((&found["edges"], &found["late"], &found["watermark"]), (&2.into(), &0.into(), &Value::Null));
    let newest = &versions(&place)[1];
    assert_eq!(newest["time"], newest["committed"]);
    let no_times = "no edge property but the weight can hold times";
    place.fails(1, "stream s.esker b.csv --delay 1s", no_times);
    place.fails(2, "expire s.esker 5", no_times);
    place.fails(2, "options s.esker --expire 5", no_times);
    assert!(place.ok("expire s.esker 5 --time weight").contains("1 edge removed"));
    for late in ["s.esker/MANIFEST", "s.esker/new.csv", "./s.esker/log/../late.csv"] {
        let stream = format!("stream s.esker b.csv --time weight --late reject:{late}");
        place.fails(1, &stream, "lies in the database itself");
    }
    place.ok("check s.esker");
}

#[test]
fn what_cannot_be_streamed_is_refused_with_a_reason() {
    let place = place();
    place.file("a.csv", "from,to,sent\n1,2,3\n");
    place.file("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 3\n");
    std::fs::write(place.path().join("a.csv.gz"), [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]).unwrap();
    for (code, line, fragment) in [
        (2, "stream s.esker - --follow", "--follow has no effect on standard input"),
        (2, "stream s.esker a.csv --commit-every 0", "at least 1 edge"),
        (2, "stream s.esker a.csv --commit-every soon", "neither a time, such as 500ms"),
        (2, "stream s.esker a.csv --late drop", "late edges are taken by the next version"),
        (2, "stream s.esker a.csv --rate=-1", "is no rate"),
        (1, "stream s.esker a.mtx --follow", "only tables of edges can be followed"),
        (1, "stream s.esker a.csv.gz --follow", "only plain text can be followed"),
        (2, "stream s.esker a.csv --time length", "length"),
        (1, "stream none.esker a.csv", "none.esker does not exist: check the path"),
        (1, "stream s.esker a.csv --delay 1ms --time-unit s", "the length 1ms must be a whole number"),
    ] {
        place.fails(code, line, fragment);
    }
    assert_eq!(newest_edges(&place), 0);
}

/// The edges of a second were one commit, which was refused where they did not fit.
#[test]
fn a_fast_stream_is_committed_before_it_exceeds_the_memory_limit() {
    const EDGES: u64 = 300_000;
    let place = place();
    place.file("fast.csv", &format!("from,to,sent\n{}", rows(0..EDGES, |i| i)));
    let last = report(&place, "stream s.esker fast.csv --commit-every 1h --memory 16MiB --json");
    assert_eq!(last["edges"], EDGES, "{last}");
    let versions = versions(&place);
    assert!((5..100).contains(&versions.len()), "{}", versions.len());
    assert_eq!(newest_edges(&place) as u64, EDGES);
    // A number of edges is a promise.
    let place = self::place();
    place.file("fast.csv", &format!("from,to,sent\n{}", rows(0..EDGES, |i| i)));
    let line = "stream s.esker fast.csv --commit-every 250000 --memory 16MiB --no-scratch";
    place.fails(1, line, "a commit of 250000 changes needs ");
    assert_eq!(newest_edges(&place), 0);
    assert_eq!(
        report(&place, "stream s.esker fast.csv --commit-every 10000 --memory 16MiB --json")["edges"],
        EDGES
    );
    assert_eq!(newest_edges(&place) as u64, EDGES);
}

#[test]
fn old_edges_leave_a_stream() {
    let place = place();
    let text = rows(0..1000, |i| 1_704_067_200 + i);
    place.file("a.csv", &format!("from,to,sent\n{text}"));
    let found = report(&place, "stream s.esker a.csv --commit-every 50 --expire 100s --json");
    assert_eq!((&found["edges"], &found["expired"]), (&1000.into(), &900.into()));
    let young: String = text.lines().skip(900).map(|line| format!("{line}\n")).collect();
    assert_eq!(sorted(edges(&place)), expected(&young));
    // While edges came, too: no version had many more than it may.
    let most = versions(&place).iter().map(|version| version["edges"].as_u64().unwrap_or(0)).max();
    assert!(most <= Some(160), "{most:?}");
    // The stream goes on after the last edge that a version had.
    let again = report(&place, "stream s.esker a.csv --expire 100s --json");
    assert_eq!((&again["edges"], &again["passed_over"]), (&0.into(), &1000.into()));
    assert_eq!(
        place.ok("expire s.esker 10s"),
        "s.esker: version 40: 90 edges removed, until 2024-01-01T00:16:29Z\n"
    );
    assert_eq!(place.ok("expire s.esker 10s"), "s.esker: no edge is from 2024-01-01T00:16:29Z or before\n");
    assert_eq!(newest_edges(&place), 10);
    let newest = versions(&place).pop().unwrap();
    let message = newest["message"].as_str().unwrap();
    assert!(message.starts_with("expire 90 edges until 2024-01-01T00:16:29Z; stream "), "{message}");
    // Also if only the version without the old edges is left.
    place.ok("retain s.esker last 1");
    let again = report(&place, "stream s.esker a.csv --json");
    assert_eq!((&again["edges"], &again["passed_over"]), (&0.into(), &1000.into()));
}

#[test]
fn a_declared_stream_needs_no_options() {
    let place = place();
    assert_eq!(place.json("info s.esker --json")["stream"], Value::Null);
    place.fails(2, "expire s.esker", "keeps no age from which edges are removed: give one, such as 30d");
    place.fails(
        2,
        "options s.esker --time from",
        "\"from\" is no edge property that can hold times: name one of sent",
    );
    place.fails(2, "options s.esker --time-unit s --expire 5001ms", "must be a whole number of them");
    assert_eq!(place.json("info s.esker --json")["stream"], Value::Null, "a refused declaration is not kept");
    assert_eq!(
        place.ok("options s.esker --time-unit s --delay 10s --expire 100s"),
        "s.esker: copy mixed, freeze at 64.00 MiB, merge auto\n\
         s.esker: times in \"sent\" (seconds), delay 10s, edges expire after 100s\n\
         s.esker: files are read as csv with header, separated by ','; source from, target to, sent\n\
         s.esker: event times are given\n"
    );
    assert!(place.ok("info s.esker").contains("edges expire after 100s"));
    let text = rows(0..1000, |i| 1_704_067_200 + i);
    place.file("a.csv", &format!("from,to,sent\n{text}"));
    let found = report(&place, "stream s.esker a.csv --commit-every 50 --json");
    assert_eq!((&found["edges"], &found["expired"]), (&1000.into(), &900.into()));
    assert_eq!(found["watermark"], 1_704_067_200 + 999 - 10 - 1);
    let young: String = text.lines().skip(900).map(|line| format!("{line}\n")).collect();
    assert_eq!(sorted(edges(&place)), expected(&young));

    // Small numbers would be seconds, too; milliseconds show that windows take the unit from the declaration.
    place.ok("options s.esker --time-unit ms --delay none --expire never");
    let kept =
        serde_json::json!({ "time": "sent", "time_unit": "milliseconds", "delay": null, "expire": null });
    assert_eq!(place.json("options s.esker --json")["stream"], kept);
    let windowed = place.json("run wcc s.esker --window 1s --json");
    assert_eq!(
        (&windowed["window"]["unit"], &windowed["window"]["property"]),
        (&"milliseconds".into(), &"sent".into())
    );

    // An age that is set later is obeyed by the next expiry or compaction, whoever wrote the edges.
    place.ok("options s.esker --time-unit s --expire 50");
    assert_eq!(
        place.ok("expire s.esker").split(": ").nth(2),
        Some("50 edges removed, until 2024-01-01T00:15:49Z\n")
    );
    place.ok("options s.esker --expire 20s");
    assert_eq!(place.json("compact s.esker --json")["expired"], 30);
    assert_eq!(newest_edges(&place), 20);
    assert_eq!(place.json("info s.esker --json")["stream"]["expire"], "20s", "merging keeps the declaration");
    assert_eq!(place.json("compact s.esker --json")["expired"], 0);
    place.ok("check s.esker");
}

/// Kills come while edges are committed, while they expire, and between the two. `ESKER_TEST_KILLS`: how
/// many.
#[test]
fn a_stream_that_is_killed_while_edges_expire_ends_with_the_same_edges() {
    const EDGES: u64 = 12_000;
    let wanted = std::env::var("ESKER_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let (mut kills, mut round) = (0_u64, 0_u64);
    while kills < wanted {
        round += 1;
        let place = place();
        place.ok("options s.esker --time-unit s --expire 500s --freeze-size 64KiB");
        let text = rows(0..EDGES, |i| 1_000_000 + i / 3);
        place.file("a.csv", &format!("from,to,sent\n{text}"));
        let line = "stream s.esker a.csv --commit-every 100 --rate 30000/s";
        let is_done = |place: &Place| {
            let read = versions(place)
                .iter()
                .filter(|v| v["message"].as_str().unwrap().contains("a.csv: 12000 edges"))
                .count();
            read > 0
        };
        for kill in 0..12 {
            let before = versions(&place).len();
            let child = start(&place, line);
            until("it commits", || versions(&place).len() > before || is_done(&place));
            std::thread::sleep(Duration::from_millis((round * 31 + kill * 17) % 90));
            end(child, rustix::process::Signal::KILL);
            kills += 1;
            // Each version is a window of the stream and the commits since: nothing young is missing.
            let newest = edges(&place);
            let latest =
                newest.iter().map(|row| row.rsplit(',').next().unwrap().parse::<u64>().unwrap()).max();
            let young = |row: &&str| {
                row.rsplit(',').next().unwrap().parse::<u64>().unwrap() + 500 > latest.unwrap_or(0)
            };
            let came: Vec<&str> = text
                .lines()
                .filter(|row| row.rsplit(',').next().unwrap().parse::<u64>().unwrap() < latest.unwrap_or(0))
                .collect();
            for row in came.iter().filter(|row| young(row)) {
                assert!(newest.iter().any(|found| found == row), "{row} is missing");
            }
            if is_done(&place) {
                break;
            }
        }
        // The last run may have been killed when all edges were committed and some had not expired.
        place.ok("stream s.esker a.csv");
        let young: String =
            text.lines().skip(EDGES as usize - 1500).map(|line| format!("{line}\n")).collect();
        assert_eq!(sorted(edges(&place)), expected(&young));
        place.ok("check s.esker");
    }
}

#[test]
fn a_line_that_is_being_written_is_waited_for_though_the_next_file_has_begun() {
    let place = place();
    place.file("p1.csv", "from,to,sent\n1,2,101\n2,3,10");
    let child = start(&place, "stream s.esker p*.csv --follow --commit-every 50ms");
    until("the first line", || newest_edges(&place) == 1);
    place.file("p2.csv", "from,to,sent\n3,4,103\n");
    std::thread::sleep(std::time::Duration::from_millis(600));
    let mut first = std::fs::OpenOptions::new().append(true).open(place.path().join("p1.csv")).unwrap();
    std::io::Write::write_all(&mut first, b"2\n").unwrap();
    until("both files", || newest_edges(&place) == 3);
    // A file that ends without a line end is complete once it has not changed for a while.
    place.file("p3.csv", "from,to,sent\n4,5,104");
    place.file("p4.csv", "from,to,sent\n5,6,105\n");
    until("all files", || newest_edges(&place) == 5);
    end(child, rustix::process::Signal::TERM);
    assert_eq!(sorted(edges(&place)), expected(&rows(1..6, |i| 100 + i)));
}

#[test]
fn a_file_that_is_rotated_by_copying_is_not_read_twice() {
    let place = place();
    place.file("log.csv", "from,to,sent\n1,2,101\n2,3,102\n");
    let mut child = start(&place, "stream s.esker log* --follow --commit-every 50ms");
    until("the first lines", || newest_edges(&place) == 2);
    std::fs::copy(place.path().join("log.csv"), place.path().join("log.csv.1")).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(1));
    assert_eq!(newest_edges(&place), 2);
    place.fails(1, "stream s.esker log*", "is a copy of");
}
