//! How commands end that a signal, a full disk or another program hinders, and what a terminal is sent.

use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::place::{Place, limited};

/// A run that takes some seconds: rounds that change nothing count, too.
const LONG_RUN: &str = "run pagerank g.esker --tolerance 0 --rounds";

fn generated() -> Place {
    let place = Place::on_disk();
    place.ok("generate rmat --scale 12 --degree 8 --directed g.esker");
    place
}

fn start(place: &Place, line: &str) -> Child {
    limited(place.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

/// The files of the database that a process has mapped, once there are some.
fn mapped_files(child: &mut Child) -> Vec<PathBuf> {
    let begun = Instant::now();
    loop {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it mapped a layer");
        assert!(begun.elapsed() < Duration::from_secs(60));
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap_or_default();
        let paths = maps.lines().filter_map(|line| Some(PathBuf::from(&line[line.find('/')?..])));
        let layers: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().contains("/layers/")).collect();
        if !layers.is_empty() {
            return layers;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_layer_that_is_overwritten_during_a_run_is_an_error_of_the_run() {
    let place = generated();
    let mut run = start(&place, &format!("{LONG_RUN} 200 --format csv -o -"));
    for path in mapped_files(&mut run) {
        let mut file = std::fs::File::options().write(true).open(path).unwrap();
        let middle = file.metadata().unwrap().len() / 2;
        file.seek(SeekFrom::Start(middle)).unwrap();
        file.write_all(&[0x5a; 512]).unwrap();
    }
    let output = run.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("g.esker/layers/") && said.contains("is damaged at byte"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

/// Ends a command by a signal, some time after it began.
fn ended_by(child: Child, signal: Signal) -> Output {
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait_with_output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_termination_is_told_with_the_exit_code_of_an_interruption() {
    let place = generated();
    for signal in [Signal::TERM, Signal::INT] {
        let mut run = start(&place, &format!("{LONG_RUN} 1000000"));
        mapped_files(&mut run);
        let output = ended_by(run, signal);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{said}");
        assert!(said.ends_with("esker: interrupted\n"), "{said}");
    }
    // It waits for the script, and has begun nothing.
    let script = place.command("commit g.esker").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let script = limited(script.unwrap());
    std::thread::sleep(Duration::from_millis(500));
    let output = ended_by(script, Signal::TERM);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*said), (Some(130), "esker: interrupted\n"));
}

/// Runs a command where files may have some blocks of 512 bytes (in some shells 1024).
fn with_short_files(place: &Place, line: &str) -> Output {
    let command = place.command(line);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "ulimit -f 32; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args());
    shell.current_dir(place.path()).output().unwrap()
}

#[test]
fn a_file_beyond_the_greatest_size_is_a_failure_as_on_a_full_disk() {
    let place = generated();
    place.ok("export g.esker all.csv");
    for line in ["import all.csv n.esker", "export g.esker o.csv", "run pagerank g.esker -o o.csv"] {
        let output = with_short_files(&place, line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(said.contains("File too large"), "{line}: {said}");
    }
    assert!(!place.path().join("n.esker").exists() && !place.path().join("o.csv").exists());
    place.ok("check g.esker");
    // Nothing that is too large for the log is committed.
    let output = with_short_files(&place, "add g.esker all.csv");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(place.json("info g.esker --json")["version"], 1);
}

/// What a command sends to a terminal; `None` where there is no `script`, which makes one.
fn on_terminal(place: &Place, words: &[&str]) -> Option<String> {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
    let line = format!("'{}' {} 2>errors", env!("CARGO_BIN_EXE_esker"), quoted.join(" "));
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(place.path()).stdin(Stdio::null());
    let output = script.output().ok()?;
    let sent = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{line}: {sent}");
    Some(sent)
}

#[cfg(target_os = "linux")]
#[test]
fn escape_sequences_of_ids_and_texts_are_shown_and_not_sent_to_a_terminal() {
    let place = Place::new();
    let wild = "a\u{1b}]0;title\u{7}\u{1b}[31m";
    place.file("wild.csv", &format!("source,target,note\n{wild},b,\u{1b}[2J\nb,c,n\n"));
    place.ok("import wild.csv g.esker --schema note:text");
    let commands: [&[&str]; 6] = [
        &["run", "wcc", "g.esker", "--format", "csv", "-o", "-"],
        &["run", "wcc", "g.esker"],
        &["get", "g.esker", wild],
        &["get", "g.esker", wild, "--format", "csv"],
        &["neighbors", "g.esker", "b", "--direction", "in"],
        &["export", "g.esker", "-", "--format", "csv"],
    ];
    for words in commands {
        let Some(sent) = on_terminal(&place, words) else { return };
        assert!(!sent.contains(['\u{1b}', '\u{7}']), "{words:?}: {sent:?}");
        assert!(sent.contains("\\u{1b}"), "{words:?}: {sent:?}");
    }
    // A pipe gets them as they are.
    assert!(place.ok("export g.esker - --format csv").contains(wild));
}
