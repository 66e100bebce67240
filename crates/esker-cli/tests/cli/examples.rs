//! The examples of README.md and of the help of each verb run as they stand, in order.

use std::path::Path;
use std::process::Command;

use crate::place::Place;

/// Runs a line of a shell, with the command on the path and the directory as home.
fn shell(place: &Place, line: &str) {
    let programs = Path::new(env!("CARGO_BIN_EXE_esker")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["-e", "-o", "pipefail", "-c", line]).current_dir(place.path());
    let output = command.env("PATH", path).env("HOME", place.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{line}: {said}{}", String::from_utf8_lossy(&output.stdout));
}

/// A line without its comment, and with sizes for a test.
fn command_of(line: &str) -> String {
    let command = line.split("  #").next().unwrap().trim();
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    for i in 1..words.len() {
        let smaller = match words[i - 1].as_str() {
            "--scale" => "6",
            "--rows" | "--columns" => "9",
            _ => continue,
        };
        words[i] = smaller.to_owned();
    }
    words.join(" ")
}

/// The files that examples read.
fn files(place: &Place) {
    place.file("edges.csv", "from,to,w\nalice,bob,1\nbob,carol,2\ncarol,dave,3\ndave,alice,4\n");
    place.file("more.csv", "from,to,w\nbob,dave,3\n");
    place.file("gone.csv", "from,to\nbob,dave\n");
    place.file("pages.csv", "id,title\nalice,Home\n");
    place.file("edges.txt", "1 2\n2 3\n");
    shell(place, "gzip edges.txt");
}

#[test]
fn the_tour_of_the_readme_runs_in_order() {
    let place = Place::new();
    files(&place);
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = std::fs::read_to_string(readme).unwrap();
    let tour = text.split("## A short tour").nth(1).unwrap().split("\n## ").next().unwrap();
    let is_command = |line: &&str| line.starts_with("esker ") || line.starts_with("printf ");
    let lines: Vec<&str> = tour.lines().filter(is_command).collect();
    assert!(lines.len() > 20, "{lines:?}");
    for line in lines {
        shell(&place, &command_of(line));
    }
}

/// The example databases of the help of `window`, `stream` and `follow` have times.
fn timed(place: &Place) {
    place.file("later.csv", "from,to,seconds\nalice,dave,1704157201\ndave,bob,1704157202\n");
    place.file(
        "hours.csv",
        "from,to,seconds\nalice,bob,1704067200\nbob,carol,1704070800\ncarol,dave,1704157200\n",
    );
    place.ok("import hours.csv timed.esker --duplicates keep --time seconds");
}

/// A database of eight versions, one with weights, and files for all examples of the help.
fn world() -> Place {
    let place = Place::new();
    files(&place);
    place.file("plain.csv", "from,to\nalice,bob\nbob,carol\ncarol,dave\ndave,alice\n");
    place.file("timed.csv", "from,to,since\nalice,carol,2020\n");
    place.file("friends.csv", "from,to,weight\nalice,bob,1\nbob,carol,2\n");
    place.file("changes.txt", "+ alice carol weight=1\n");
    place.file("closed-accounts.txt", "dave\n");
    place.file("people.csv", "id,age\nalice,40\n");
    shell(&place, "mkdir -p .local/share/bash-completion/completions");
    place.ok("import plain.csv web.esker");
    place.ok("import friends.csv friends.esker");
    for i in 0..8 {
        place.file("one.csv", &format!("from,to\nalice,friend{i}\n"));
        place.ok("add web.esker one.csv");
    }
    place.file("phones.csv", "id,phone\nalice,123\n");
    place.ok("set web.esker phones.csv");
    place.ok("tag web.esker 2 monday");
    for name in ["day-1.parquet", "day-2.parquet", "part-1.parquet", "part-2.parquet"] {
        place.ok(&format!("export web.esker {name} --at 1"));
    }
    place
}

#[test]
fn the_examples_of_help_run() {
    let base = world();
    let help = base.ok("--help");
    let verbs = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| line.starts_with("  "));
    let today = String::from_utf8(Command::new("date").args(["-u", "+%F"]).output().unwrap().stdout).unwrap();
    let mut count = 0;
    // The examples of clusters build on each other; those of their page are run in order.
    for verb in verbs
        .map(|line| line.split_whitespace().next().unwrap())
        .filter(|verb| !["help", "cluster"].contains(verb))
    {
        let help = base.ok(&format!("{verb} --help"));
        let examples = help.split("Example").nth(1).unwrap_or_default();
        let lines = examples.split_inclusive('\n').filter_map(|line| {
            let line = line.trim_start_matches("s:").trim_start_matches(": ").trim();
            (line.contains("esker ") && !line.ends_with(':')).then_some(line)
        });
        for line in lines {
            let place = Place::new();
            shell(&base, &format!("cp -r . {}", place.path().display()));
            if ["window", "stream", "follow", "expire", "options"].contains(&verb) {
                timed(&place);
            }
            if verb == "import" {
                shell(&place, "rm -r web.esker");
            }
            let line = line.split("   ").next().unwrap();
            let line = line.replace("2026-11-01", today.trim()).replace("2026-11-21", today.trim());
            let command = command_of(&line);
            let waits = verb == "follow" && !command.contains("--once");
            let line = match waits || command.contains("--follow") {
                // It runs until it is stopped.
                true => format!("timeout --preserve-status 2 {command} || test $? = 130"),
                false => command,
            };
            shell(&place, &line);
            count += 1;
        }
    }
    assert!(count >= 35, "{count} examples");
}
