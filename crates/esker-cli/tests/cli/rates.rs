//! The rates of the machine that `esker doctor` measures and keeps.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use esker::rates::{Known, Rate, Rates};

use crate::place::{Place, limited};

/// Puts rates where the command keeps them.
fn keep(place: &Place, rates: Rates) {
    keep_as(place, &Known::measured(rates, None, "/data".as_ref()));
}

fn keep_as(place: &Place, known: &Known) {
    known.write(&place.path().join("cache/esker/rates.json")).unwrap();
}

#[test]
fn rates_that_were_measured_are_shown() {
    let place = Place::new();
    let rates = Rates::default()
        .on_threads(3)
        .with(Rate::ReadBytes, 512.0 * f64::from(1 << 20))
        .with(Rate::Copy, 4.5e8);
    keep(&place, rates);
    let shown = place.ok("doctor");
    for part in ["512.00 MiB/s", "450 M arcs/s", "with 3 threads", "/data"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let report = place.json("doctor --json");
    assert_eq!(report["per_second"]["copy_arcs"], 4.5e8);
    assert_eq!(report["threads"], 3);
    assert_eq!(place.ok("doctor /data/"), shown, "its own directory is no other one");
    place.fails(2, "doctor .", "of the disk of /data: give --renew to measure that of .");
    for option in ["--threads 1", "--memory 1GiB"] {
        place.fails(2, &format!("doctor {option}"), "--renew");
    }
}

#[test]
fn rates_of_a_busy_machine_are_marked() {
    let place = Place::new();
    place.ok("generate kron --scale 6 --undirected g.esker");
    let explained = |load| {
        keep_as(&place, &Known::measured(Rates::default(), Some(load), "/data".as_ref()));
        place.ok("estimate pagerank g.esker --explain")
    };
    assert!(explained(0.6).contains("while the machine was busy; `esker doctor` measures again"));
    let calm = explained(0.05);
    assert!(calm.contains("with the disk of /data") && !calm.contains("busy"), "{calm}");
    let shown = place.ok("doctor");
    assert!(shown.contains("5 % of the processors") && !shown.contains("too low"), "{shown}");
    assert_eq!(place.json("doctor --json")["load"], 0.05);
}

#[test]
fn an_interrupted_measurement_says_why_it_measured_and_leaves_nothing() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("disk")).unwrap();
    std::fs::create_dir_all(place.path().join("cache/esker")).unwrap();
    place.file("cache/esker/rates.json", "{\"esker_rates\": 99}");
    let mut command = place.command("doctor disk");
    let mut child = limited(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let begin = Instant::now();
    // It makes a directory of its own first.
    while std::fs::read_dir(place.path().join("disk")).unwrap().count() == 0 {
        assert!(begin.elapsed() < Duration::from_secs(20) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(10));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("version 99") && message.contains("measuring anew"), "{message}");
    assert!(!message.contains("--renew"), "what is done is not advised: {message}");
    assert_eq!(std::fs::read_dir(place.path().join("disk")).unwrap().count(), 0);
    let kept = std::fs::read_to_string(place.path().join("cache/esker/rates.json")).unwrap();
    assert_eq!(
        kept, "{\"esker_rates\": 99}",
        "a file that is not understood is replaced by measured rates alone"
    );
}

#[test]
fn predicted_times_follow_from_the_rates_and_are_shown_beside_actual_ones() {
    let place = Place::new();
    place.ok("generate kron --scale 10 --undirected g.esker");
    let predicted =
        || place.json("estimate pagerank g.esker --json")["plan"]["predicted"]["seconds"].as_f64().unwrap();
    let before = predicted();
    assert!(before > 0.0);
    let slow =
        Rate::ALL.iter().fold(Rates::default(), |rates, &rate| rates.with(rate, rates.of(rate) / 10.0));
    keep(&place, slow);
    // Rates are of all threads together, and these were measured with as many as those of the constants.
    let ratio = predicted() / before;
    assert!((ratio - 10.0).abs() < 0.1, "{ratio}");
    let shown = place.ok("estimate pagerank g.esker");
    assert!(shown.contains("predicted: opening") && shown.contains("computing"), "{shown}");
    let explained = place.ok("estimate pagerank g.esker --explain");
    assert!(explained.contains("measured") && explained.contains("with the disk of /data"), "{explained}");
    place.file("cache/esker/rates.json", "{\"esker_rates\": 99}");
    let explained = place.ok("estimate pagerank g.esker --explain");
    assert!(explained.contains("version 99 of its form; `esker doctor` measures anew"), "{explained}");
    let output = place.run("run pagerank g.esker --explain");
    let message = String::from_utf8(output.stderr).unwrap();
    for part in ["took", "actual / predicted", "from the disk; predicted"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let actual = &place.json("run pagerank g.esker --json")["plan"]["actual"];
    assert!(actual["seconds"].as_f64().unwrap() > 0.0 && actual["predicted_seconds"].as_f64().unwrap() > 0.0);
    let parts = actual["parts"].as_object().unwrap();
    let sum: f64 = parts.values().map(|part| part.as_f64().unwrap()).sum();
    assert!(parts.len() == 3 && (sum - actual["seconds"].as_f64().unwrap()).abs() < 1e-6, "{actual}");
    // An import is no part of what was predicted.
    place.file("e.txt", "1 2\n2 3\n");
    let actual = &place.json("run pagerank e.txt --json")["plan"]["actual"];
    assert!(actual["parts"].get("opening").is_none(), "{actual}");
}
