//! The examples of README.md and of the help of each verb run as they stand, in order.

use std::path::Path;
use std::process::Command;

use crate::place::Place;

/// Runs a line of a shell, with the command on the path and the directory as home.
fn shell(place: &Place, line: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_esker")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["-e", "-o", "pipefail", "-c", line]).current_dir(place.path());
    let output = command.env("PATH", path).env("HOME", place.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{line}: {said}{printed}");
    printed
}

/// A line without its comment, and with sizes for a test.
fn command_of(line: &str) -> String {
    let command = line.split("  #").next().unwrap().trim();
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    for i in 1..words.len() {
        let smaller = match words[i - 1].as_str() {
            "--scale" => "6",
            "--rows" | "--columns" => "9",
            "--samples" => "10",
            _ => continue,
        };
        words[i] = smaller.to_owned();
    }
    if words[..2] == ["esker", "doctor"] {
        words.push("--quick".to_owned());
    }
    words.join(" ")
}

/// A command that runs until it is stopped, stopped soon; any other as it is.
fn ended(command: &str) -> String {
    let waits = command.starts_with("esker follow ") && !command.contains("--once");
    let waits = waits || command.starts_with("esker serve ");
    match waits || command.contains("--follow") {
        true => format!("timeout --preserve-status 2 {command} || test $? = 130"),
        false => command.to_owned(),
    }
}

/// The files that examples read.
fn files(place: &Place) {
    place.file("edges.csv", "from,to,w\nalice,bob,1\nbob,carol,2\ncarol,dave,3\ndave,alice,4\n");
    place.file("more.csv", "from,to,w\nbob,dave,3\n");
    place.file("gone.csv", "from,to\nbob,dave\n");
    place.file("pages.csv", "id,title\nalice,Home\n");
    place.file("edges.txt", "1 2\n2 3\n");
    place.file("calls.csv", "caller,callee,medium\nalice,bob,phone\nalice,bob,mail\n");
    place.file("likes.csv", "source,target\nalice,bob\n");
    shell(place, "gzip edges.txt");
}

#[test]
fn the_tour_of_the_readme_runs_in_order() {
    let place = Place::new();
    files(&place);
    streams(&place);
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
    shell(place, "mkdir logs && printf 'from,to,seconds\\nalice,bob,1704157203\\n' > logs/1.csv");
    place.file("later.csv", "from,to,seconds\nalice,dave,1704157201\ndave,bob,1704157202\n");
    place.file("changes.csv", "op,from,to,seconds\ninsert,eve,bob,1704157204\ndelete,eve,bob,\n");
    place.file(
        "hours.csv",
        "from,to,seconds\nalice,bob,1704067200\nbob,carol,1704070800\ncarol,dave,1704157200\n",
    );
    place.ok("import hours.csv timed.esker --duplicates keep --time seconds");
}

/// The example database of the help of `edges` and `vertices`.
fn payments(place: &Place) {
    place.file(
        "pay.csv",
        "from,to,amount,kind,at\nann,bob,500,wire,2024-03-01T08:00:00Z\nbob,ann,50,fee,2024-03-02T09:00:00Z\n",
    );
    place.file("accounts.csv", "id,country,balance\nann,DE,1200\nbob,CH,70\n");
    place.ok("import pay.csv pay.esker --property all --duplicates keep --time at");
    place.ok("set pay.esker accounts.csv");
}

/// A database of eight versions, one with weights, and files for all examples of the help.
fn world() -> Place {
    let place = Place::new();
    files(&place);
    place.file("plain.csv", "from,to\nalice,bob\nbob,carol\ncarol,dave\ndave,alice\n");
    place.file("timed.csv", "from,to,since\nalice,carol,2020\n");
    place.file("friends.csv", "from,to,weight\nalice,bob,1\nbob,carol,2\n");
    place.file("today.csv", "from,to\nalice,bob\nbob,erin\n");
    place.file("changes.txt", "+ alice carol weight=1\n");
    place.file("closed-accounts.txt", "dave\n");
    place.file("people.csv", "id,age\nalice,40\n");
    place.file("pairs.csv", "from,to\nalice,dave\n");
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
    for name in ["day-1.parquet", "day-2.parquet", "part-1.parquet", "part-2.parquet", "follows.parquet"] {
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
            if verb == "delete" {
                place.file("kinds.csv", "from,to,kind\nbob,dave,road\n");
                place.ok("add web.esker kinds.csv --define kind:text");
                place.file("gone.csv", "from,to,kind\nbob,dave,road\n");
            }
            if ["backup", "restore"].contains(&verb) {
                place.ok("backup web.esker web.backup");
                shell(&place, "mkdir disk2");
            }
            if verb == "restore" {
                shell(&place, "rm -r web.esker");
            }
            if ["edges", "vertices"].contains(&verb) {
                payments(&place);
            }
            if verb == "import" {
                shell(&place, "rm -r web.esker");
            }
            let line = line.split("   ").next().unwrap();
            let line = line.replace("2026-11-01", today.trim()).replace("2026-11-21", today.trim());
            let command = command_of(&line);
            shell(&place, &ended(&command));
            count += 1;
        }
    }
    assert!(count >= 35, "{count} examples");
}

/// The commands of a page, in order, each with the output that it shows, if it shows any: those of blocks of
/// shell commands, those behind a `$` in blocks of output, and those of comments that begin with `first:`. `$
/// cat FILE` with its lines is a command that writes the file.
fn commands_of(page: &str) -> Vec<(String, Option<String>)> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(first) = line.strip_prefix("<!-- first: ") {
            // The page may have made the database before.
            found.push((format!("rm -rf *.esker; {}", first.trim_end_matches(" -->")), None));
        }
        let kind = line.strip_prefix("```");
        if kind.is_none() {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match kind {
            // A text that a command reads belongs to it.
            Some("sh") if block.iter().any(|line| line.contains("<<")) => {
                found.push((block.join("\n"), None));
            }
            Some("sh") => found.extend(block.iter().map(|line| (command_of(line), None))),
            Some("text") => {
                for example in block.join("\n").split("$ ").skip(1) {
                    let (command, shown) = example.split_once('\n').unwrap_or((example, ""));
                    let shown = shown.trim_end();
                    match command.strip_prefix("cat ") {
                        Some(file) => found.push((format!("cat > {file} <<'END'\n{shown}\nEND"), None)),
                        None => found.push((command_of(command), Some(shown.to_owned()))),
                    }
                }
            }
            _ => {}
        }
    }
    found.retain(|(command, _)| !command.is_empty());
    found
}

/// What the commands of the pages about streams and windows find in their directory.
fn streams(place: &Place) {
    let row = |i: u64| format!("p{},p{},{}\n", i % 7, (i * 3 + 1) % 7, 1_704_067_200 + i * 40_000);
    let rows = |range: std::ops::Range<u64>| range.map(row).collect::<String>();
    place.file("messages.csv", &format!("from,to,sent\n{}", rows(0..200)));
    place.file("today.csv", &format!("from,to,sent\n{}", rows(200..260)));
    place.file("roads.csv", "from,to,minutes\ndepot,inn,5\ninn,mill,7\n");
    place.ok("import roads.csv roads.esker --property minutes");
}

#[test]
fn the_commands_of_the_tutorials_run_in_order() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let expected = [
        ("import", 9),
        ("rank", 8),
        ("larger-than-memory", 9),
        ("time-travel", 15),
        ("windows", 16),
        ("follow", 6),
    ];
    for (name, least) in expected {
        let page = std::fs::read_to_string(repository.join(format!("docs/tutorials/{name}.md"))).unwrap();
        let place = match name {
            "follow" => world(),
            _ => Place::new(),
        };
        streams(&place);
        if name == "follow" {
            place.ok("import messages.csv messages.esker --duplicates keep --time sent");
        }
        let commands = commands_of(&page);
        assert!(commands.len() >= least, "{name}: {commands:?}");
        for (command, shown) in commands {
            let at_home = format!("{}/", repository.display());
            let command =
                command.replace("$REPO/", "").replace("docs/towns", &format!("{at_home}docs/towns"));
            let command = command.replace("examples/debian/", &format!("{at_home}examples/debian/"));
            // What comes is read at once here; a person would wait for more.
            let command = ended(&command.replace("tail -f ", "cat "));
            match shown.is_some_and(|shown| shown.starts_with("esker: ")) {
                true => shell(&place, &format!("({command}) || test $? -lt 3")),
                false => shell(&place, &command),
            };
        }
    }
}

/// Times, and other lines that vary, are left out of what the pages show.
#[test]
fn the_answers_of_the_tutorials_are_those_of_their_pages() {
    let tutorials = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorials");
    let expected =
        [("questions", 18), ("accounts", 12), ("packages", 15), ("flows", 15), ("social", 15), ("web", 14)];
    for (name, least) in expected {
        let page = std::fs::read_to_string(tutorials.join(format!("{name}.md"))).unwrap();
        let place = Place::new();
        let commands = commands_of(&page);
        assert!(commands.len() >= least, "{name}: {commands:?}");
        for (command, shown) in commands {
            let printed = shell(&place, &command);
            let mut lines = printed.lines();
            for line in shown.iter().flat_map(|shown| shown.lines()) {
                let is_printed = lines.any(|other| other == line);
                assert!(is_printed, "{name}: {command} does not print {line:?}: {printed}");
            }
        }
    }
}
