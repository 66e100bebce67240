//! Alerts of `follow` and `window --follow`, against plain comparison of the answers.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use esker::graph::random::Random;
use serde_json::Value;

use crate::place::{Place, limited};

/// The values of an answer by vertex; `None` for a vertex without one.
type Answer = BTreeMap<String, Option<String>>;

/// A database of text ids with one edge.
fn graph(place: &Place) {
    place.file("a.csv", "from,to\nv0,v1\n");
    place.ok("import a.csv g.esker");
}

/// Commits a random change: edges come or go, or a vertex goes.
fn change(place: &Place, random: &mut Random) {
    let mut edge = || format!("v{},v{}\n", random.below(9), random.below(9));
    place.file("some.csv", &format!("from,to\n{}{}{}", edge(), edge(), edge()));
    match random.below(6) {
        0 => {
            place.file("v", &format!("v{}\n", 1 + random.below(8)));
            // It may not be there.
            place.run("delete g.esker --vertices v");
        }
        1 => drop(place.run("delete g.esker some.csv")),
        _ => drop(place.ok("add g.esker some.csv")),
    }
}

fn newest(place: &Place) -> u64 {
    place.json("info g.esker --json")["version"].as_u64().unwrap()
}

fn answer(place: &Place, options: &str, version: u64) -> Answer {
    let rows = place.ok(&format!("run {options} g.esker --output - --at {version}"));
    let cells = rows.lines().skip(1).map(|row| row.split(',').take(2).collect::<Vec<_>>());
    let value = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    cells.map(|row| (row[0].to_owned(), value(row[1]))).collect()
}

/// The sizes of the groups of an answer.
fn sizes(answer: &Answer) -> Answer {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    answer.values().flatten().for_each(|label| *sizes.entry(label.clone()).or_default() += 1);
    sizes.into_iter().map(|(label, size)| (label, Some(size.to_string()))).collect()
}

/// A command, and what it raises alerts about, as plain comparisons.
struct Case {
    run: &'static str,
    follow: &'static str,
    alerts: &'static [&'static str],
    of_groups: bool,
    is_met: fn(&str, Option<f64>) -> bool,
    tells_new: bool,
}

const CASES: [Case; 5] = [
    Case {
        run: "degrees",
        follow: "degrees g.esker",
        alerts: &["--alert", "degree >= 2 and id like 'v%' and not vertex = 'v3'"],
        of_groups: false,
        is_met: |id, value| id != "v3" && value.is_some_and(|value| value >= 2.0),
        tells_new: false,
    },
    Case {
        run: "bfs --source v0",
        follow: "bfs g.esker -p source=v0",
        alerts: &["--alert", "depth is null or depth > 1"],
        of_groups: false,
        is_met: |_, value| value.is_none_or(|value| value > 1.0),
        tells_new: false,
    },
    Case {
        run: "wcc",
        follow: "wcc g.esker",
        alerts: &["--alert", "size between 3 and 5"],
        of_groups: true,
        is_met: |_, value| value.is_some_and(|value| (3.0..=5.0).contains(&value)),
        tells_new: false,
    },
    Case {
        run: "kcore",
        follow: "kcore g.esker",
        alerts: &["--alert", "coreness > 1", "--alert-new"],
        of_groups: false,
        is_met: |_, value| value.is_some_and(|value| value > 1.0),
        tells_new: true,
    },
    Case {
        run: "lcc",
        follow: "lcc g.esker",
        alerts: &["--alert", "coefficient >= 0.5"],
        of_groups: false,
        is_met: |_, value| value.is_some_and(|value| value >= 0.5),
        tells_new: false,
    },
];

/// Why an alert was raised.
fn reason_of(alert: &Value) -> &'static str {
    let reasons = ["condition", "new", "both"];
    reasons.into_iter().find(|reason| alert["alert"] == *reason).unwrap()
}

impl Case {
    /// The alerts of versions: the version, the row and the reason.
    fn expected(&self, place: &Place, from: u64, to: u64) -> BTreeSet<(u64, String, &'static str)> {
        let mut expected = BTreeSet::new();
        let mut before = Answer::new();
        for version in from..=to {
            let found = answer(place, self.run, version);
            let now = if self.of_groups { sizes(&found) } else { found };
            let number = |value: &Option<String>| value.as_ref().map(|value| value.parse::<f64>().unwrap());
            for (id, value) in &now {
                let had = before.get(id).filter(|had| had.is_some());
                if had.is_none() && value.is_none() {
                    continue;
                }
                let met_before = had.is_some_and(|had| (self.is_met)(id, number(had)));
                let begins = (self.is_met)(id, number(value)) && !met_before;
                let is_new = self.tells_new && version > from && had.is_none() && value.is_some();
                let reason = match (begins, is_new) {
                    (true, true) => "both",
                    (true, false) => "condition",
                    (false, true) => "new",
                    (false, false) => continue,
                };
                expected.insert((version, id.clone(), reason));
            }
            before = now;
        }
        expected
    }

    fn raised(&self, place: &Place, more: &str) -> Vec<(u64, String, &'static str)> {
        let mut command = place.command(&format!("follow {} --once {more}", self.follow));
        let output = command.args(self.alerts).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let key = if self.of_groups { "component" } else { "vertex" };
        let alerts = String::from_utf8(output.stdout).unwrap();
        let alerts = alerts.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        alerts
            .map(|alert| {
                let reason = reason_of(&alert);
                (alert["version"].as_u64().unwrap(), alert[key].as_str().unwrap().to_owned(), reason)
            })
            .collect()
    }
}

#[test]
fn alerts_are_those_of_plain_comparison_over_random_histories() {
    let place = Place::new();
    graph(&place);
    let mut random = Random::new(7);
    (0..24).for_each(|_| change(&place, &mut random));
    let to = newest(&place);
    let mut count = 0;
    for case in &CASES {
        let raised = case.raised(&place, "--from 1");
        let distinct: BTreeSet<_> = raised.iter().cloned().collect();
        assert_eq!(distinct.len(), raised.len(), "{}: {raised:?}", case.run);
        assert_eq!(distinct, case.expected(&place, 1, to), "{}", case.run);
        count += raised.len();
    }
    assert!(count > 20, "{count} alerts");
}

#[test]
fn a_follower_that_is_begun_again_raises_each_alert_once() {
    let place = Place::new();
    graph(&place);
    let mut random = Random::new(3);
    (0..2).for_each(|_| change(&place, &mut random));
    let from = newest(&place);
    let cases = || CASES.iter().filter(|case| case.run != "lcc");
    let mut raised: Vec<Vec<_>> = cases().map(|case| case.raised(&place, "--keep")).collect();
    for round in 0..4 {
        (0..=round % 3).for_each(|_| change(&place, &mut random));
        if round == 2 {
            place.ok("compact g.esker");
        }
        for (case, raised) in cases().zip(&mut raised) {
            raised.extend(case.raised(&place, "--keep"));
        }
    }
    let to = newest(&place);
    for (case, raised) in cases().zip(&raised) {
        let distinct: BTreeSet<_> = raised.iter().cloned().collect();
        assert_eq!(distinct.len(), raised.len(), "{}: {raised:?}", case.run);
        assert_eq!(distinct, case.expected(&place, from, to), "{}", case.run);
    }
}

#[test]
fn another_condition_goes_on_from_a_state_of_its_own() {
    let place = Place::new();
    graph(&place);
    let raised = |condition: &str| {
        let mut command = place.command("follow degrees g.esker --keep --once");
        let output = command.args(["--alert", condition]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().lines().count()
    };
    let all = place.ok("run degrees g.esker --output -").lines().count() - 1;
    assert_eq!(raised("degree > 1000"), 0);
    assert_eq!(raised("degree >= 0"), all, "rows that meet a new condition are told");
    assert_eq!(raised("degree >= 0"), 0, "once");
    // A follower without alerts does not take the changes from one with them.
    place.file("one.csv", "from,to\nv0,newcomer\n");
    place.ok("add g.esker one.csv");
    place.ok("follow degrees g.esker --keep --once");
    assert_eq!(raised("degree >= 0"), 1);
}

#[test]
fn a_command_gets_each_alert_and_its_failure_loses_none() {
    let place = Place::new();
    graph(&place);
    for to in 2..5 {
        place.file("one.csv", &format!("from,to\nv0,v{to}\n"));
        place.ok("add g.esker one.csv");
    }
    let mut command = place.command("follow degrees g.esker --from 1 --once --format csv");
    let output = command.args(["--alert", "degree > 1", "--exec", "cat >> got; exit 3"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("failed: exit status: 3; the alert was {"), "{said}");
    assert!(said.contains("failed on 1 alert"), "{said}");
    // Rows are printed as without alerts.
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("version,vertex,old,new\n2,v0,1,2\n"));
    let mut command = place.command("follow degrees g.esker --from 1 --once");
    let line = "case $(cat) in *v2*) exit 1;; esac; echo told >> new";
    let output = command.args(["--alert-new", "--exec", line]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let read = |name| std::fs::read_to_string(place.path().join(name)).unwrap();
    assert_eq!(
        read("got"),
        "{\"alert\":\"condition\",\"before\":{\"degree\":1},\"degree\":2,\"version\":2,\"vertex\":\"v0\"}\n"
    );
    assert_eq!(read("new"), "told\ntold\n");
}

#[test]
fn small_changes_add_up_until_they_are_told() {
    let place = Place::new();
    graph(&place);
    for to in 2..8 {
        place.file("one.csv", &format!("from,to\nv0,v{to}\n"));
        place.ok("add g.esker one.csv");
    }
    let follow = "follow degrees g.esker --from 1 --once --format csv --min-change 3";
    let rows = place.ok(follow);
    let of_first: Vec<_> = rows.lines().filter(|row| row.contains(",v0,")).collect();
    assert_eq!(of_first, ["4,v0,1,4", "7,v0,4,7"]);
    // A value that comes is told, however small.
    assert!(rows.contains("\n2,v2,,0\n"), "{rows}");
    let mut command = place.command(&follow.replace(" --format csv", ""));
    let output = command.args(["--alert", "degree >= 3"]).output().unwrap();
    let alerts = String::from_utf8(output.stdout).unwrap();
    assert!(alerts.lines().count() == 1 && alerts.contains("\"version\":4"), "{alerts}");
}

#[test]
fn what_cannot_be_asked_is_refused_before_the_first_answer() {
    let place = Place::new();
    graph(&place);
    place.file("t.csv", "from,to,at\n1,2,10\n");
    place.ok("import t.csv t.esker --time at");
    let fails = |line: &str, condition: &str, fragment: &str| {
        let output = place.command(line).args(["--alert", condition]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{said}");
        assert!(said.contains(fragment) && !said.contains("following"), "{said}");
    };
    fails("follow degrees g.esker", "rank > 1", "the rows have no column rank; they have vertex, degree");
    fails("follow degrees g.esker", "degree = 0.5", "it holds integers");
    fails("follow pagerank g.esker", "rank like 'a'", "it holds no texts");
    fails("follow degrees g.esker", "vertex.age > 3", "is a property");
    fails(
        "follow wcc g.esker",
        "vertex = 'v0' and size > 3",
        "no column vertex; they have component, vertices",
    );
    fails("follow degrees g.esker --format csv", "degree > 1", "--format has no effect");
    fails("follow degrees g.esker --top 3", "degree > 1", "--top has no effect");
    fails("follow wcc g.esker --min-change 1", "size > 1", "labels of groups");
    fails("window degrees t.esker --length 5s", "degree > 1", "belong to --follow");
    fails("window degrees t.esker --length 5s --follow", "rank > 1", "no column rank");
    place.fails(2, "follow degrees g.esker --exec cat", "--exec has no effect without alerts");
    place.fails(2, "follow degrees g.esker --min-change 1 --top 3", "--min-change has no effect");
    place.fails(2, "follow triangles g.esker --min-change 1", "figures only");
    place.fails(2, "follow wcc g.esker --min-change 1", "labels of groups");
    place.fails(2, "follow degrees g.esker --min-change 1 --keep", "cannot be used with");
}

#[test]
fn windows_raise_alerts_as_they_end() {
    let place = Place::new();
    let mut random = Random::new(5);
    let mut edges = String::new();
    for at in 0..200 {
        edges.push_str(&format!("v{},v{},{}\n", random.below(6), random.below(6), 1_704_067_200 + at));
    }
    place.file("t.csv", &format!("from,to,at\n{edges}"));
    place.file("none.csv", "from,to,at\n");
    place.ok("import none.csv t.esker --duplicates keep --ids text --schema at:i64 --event-time @0");
    place.ok("stream t.esker t.csv --commit-every 20");
    let of_windows = "degrees t.esker --length 20s --every 10s --from 2024-01-01";
    let rows = place.ok(&format!("window {of_windows} --output -"));
    let mut answers: BTreeMap<String, Answer> = BTreeMap::new();
    for row in rows.lines().skip(1) {
        let [until, _, vertex, value] = row.split(',').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let values = answers.entry(until.to_owned()).or_default();
        values.insert(vertex.to_owned(), Some(value.to_owned()));
    }
    let (mut expected, mut before) = (Vec::new(), None::<Answer>);
    // The watermark may not have passed the end of the last window.
    let ended = "2024-01-01T00:03:09Z";
    for (until, now) in answers.into_iter().filter(|(until, _)| until.as_str() <= ended) {
        let degree = |answer: &Answer, vertex: &str| {
            answer.get(vertex).and_then(|value| value.as_ref()?.parse::<u64>().ok())
        };
        for vertex in now.keys() {
            let had = before.as_ref().and_then(|before| degree(before, vertex));
            let is_met = |degree: Option<u64>| degree.is_some_and(|degree| degree > 4);
            let begins = is_met(degree(&now, vertex)) && !is_met(had);
            let reason = match (begins, before.is_some() && had.is_none()) {
                (true, true) => "both",
                (true, false) => "condition",
                (false, true) => "new",
                (false, false) => continue,
            };
            expected.push((until.clone(), vertex.clone(), reason));
        }
        before = Some(now);
    }
    assert!(expected.len() > 10, "{expected:?}");
    let mut command = place.command(&format!("window {of_windows} --follow --alert-new"));
    let child = command.args(["--alert", "degree > 4"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = limited(child.spawn().unwrap());
    let shown = BufReader::new(child.stdout.take().unwrap());
    let lines: Vec<String> = shown.lines().take(expected.len()).map(Result::unwrap).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let mut raised: Vec<_> = lines
        .iter()
        .map(|line| {
            let alert: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| alert[name].as_str().unwrap().to_owned();
            (text("until"), text("vertex"), reason_of(&alert))
        })
        .collect();
    raised.sort();
    expected.sort();
    assert_eq!(raised, expected);
}
