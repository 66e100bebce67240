//! The command as a person meets it: what it prints, where, and how it ends.

use std::io::Write;
use std::process::Stdio;

use esker::catalogue::CATALOGUE;

use crate::place::{Place, limited};

const FRIENDS: &str =
    "from,to,kind,since\nalice,bob,friend,3\nbob,carol,friend,5\ncarol,alice,rival,1\ndan,eve,friend,2\n";

#[test]
fn from_a_file_to_answers() {
    let place = Place::new();
    place.file("friends.csv", FRIENDS);
    let report = place.json("import friends.csv friends.esker --weight since --property kind --json");
    assert_eq!((&report["vertices"], &report["edges"]), (&5.into(), &4.into()));
    let info = place.json("info friends.esker --json");
    assert_eq!(info["edge_properties"][0]["name"], "since");
    assert_eq!(info["edge_properties"][1]["type"], "text");

    let depths = place.ok("run bfs friends.esker --source alice --output -");
    assert_eq!(depths, "vertex,value\nalice,0\nbob,1\ncarol,2\ndan,\neve,\n");
    let distances = place.ok("run sssp friends.esker --source alice --output - --verify");
    assert_eq!(distances, "vertex,value\nalice,0\nbob,3\ncarol,8\ndan,\neve,\n");
    let parents = place.ok("run bfs friends.esker --source alice --parents --top 2");
    assert!(
        parents.starts_with("vertex  depth  parent\ncarol       2  bob\nbob         1  alice\n"),
        "{parents}"
    );
    let parents = place.json("run bfs friends.esker --source alice --parents --top 1 --json");
    assert_eq!(parents["top"][0]["parent"], "bob");
    let components = place.json("run wcc friends.esker --json --top 1");
    assert_eq!(components["answers"]["components"], 2);
    assert_eq!(components["top"][0]["value"], 3);
    let report = place.json("check friends.esker --json");
    assert_eq!(report["sound"], true);

    place.ok("export friends.esker again.csv");
    place.ok("import again.csv again.esker --weight since --property kind");
    let again = place.ok("run pagerank again.esker --output -");
    assert_eq!(again, place.ok("run pagerank friends.esker --output -"));
}

#[test]
fn every_algorithm_runs_verified_straight_on_a_file() {
    let place = Place::new();
    place.ok("generate rmat --scale 8 --degree 4 --directed g.el");
    for entry in CATALOGUE.iter().filter(|entry| !entry.undirected) {
        let algorithm = entry.name;
        let required = entry.options.iter().filter(|option| option.required);
        let options: String = required.map(|option| format!(" --{} 1", option.name)).collect();
        let report = place.json(&format!("run {algorithm} g.el{options} --verify --json"));
        assert_eq!(report["verified"], true, "{algorithm}");
        assert!(
            report["seconds"].as_f64().unwrap() > 0.0 && report["peak_memory_bytes"].as_u64().unwrap() > 0
        );
    }
}

#[test]
fn the_help_of_an_algorithm_shows_its_options_and_no_others() {
    let place = Place::new();
    let named = |help: &str, name: &str| help.split_whitespace().any(|word| word == format!("--{name}"));
    for entry in CATALOGUE {
        let help = place.ok(&format!("run {} --help", entry.name));
        assert!(help.starts_with(entry.summary.split(' ').next().unwrap()), "{help}");
        assert!(named(&help, "verify") && named(&help, "memory"), "{help}");
        for option in CATALOGUE.iter().flat_map(|other| other.options) {
            assert_eq!(
                named(&help, option.name),
                entry.option(option.name).is_some(),
                "{}: {help}",
                option.name
            );
        }
    }
}

/// The names of the commands or algorithms that a text lists under a heading.
fn listed(text: &str, heading: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    let names = lines.take_while(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn the_short_help_of_each_verb_fits_a_screen() {
    let place = Place::new();
    let verbs = listed(&place.ok("--help"), "Commands:");
    let of_cluster = listed(&place.ok("cluster --help"), "Commands:");
    // These list verbs or algorithms themselves.
    let lists = ["help", "run", "estimate", "cluster"];
    let verbs = verbs.into_iter().filter(|verb| !lists.contains(&verb.as_str()));
    let of_cluster =
        of_cluster.into_iter().filter(|verb| verb != "help").map(|verb| format!("cluster {verb}"));
    // Those with most options have the longest help.
    let mut entries: Vec<_> = CATALOGUE.iter().collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.options.len()));
    let runs = entries.iter().take(8).map(|entry| format!("run {}", entry.name));
    let mut count = 0;
    for verb in verbs.chain(of_cluster).chain(runs) {
        let help = place.ok(&format!("{verb} -h"));
        // The notation of scripts is what a person looks up.
        let most = if verb == "commit" { 31 } else { 24 };
        assert!(help.lines().count() <= most, "{verb}:\n{help}");
        count += 1;
        if verb.starts_with("run ") {
            continue;
        }
        let whole = place.ok(&format!("{verb} --help"));
        for line in help.lines().filter(|line| line.trim_start().starts_with("--")) {
            assert!(whole.contains(line.split_whitespace().next().unwrap()), "{verb}: {line}");
        }
    }
    assert!(count > 50, "{count}");
}

/// An estimate of what a run refuses was given as if the run could begin.
#[test]
fn an_estimate_refuses_what_the_run_refuses() {
    let place = Place::new();
    place.file("a.csv", "source,target,kind\n1,2,x\n2,3,y\n");
    place.ok("import a.csv g.esker --property kind");
    for rest in [
        "bfs g.esker --source 7",
        "bfs g.esker --source x",
        "quality g.esker --labels nope",
        "msf g.esker",
        "wcc g.esker --method contraction",
        "wcc g.esker --weight kind",
    ] {
        let [estimate, run] = ["estimate", "run"].map(|verb| place.run(&format!("{verb} {rest}")));
        assert_eq!(estimate.status.code(), run.status.code(), "{rest}");
        let said = |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!run.status.success() && !said(&estimate).is_empty(), "{rest}: {}", said(&run));
    }
    place.ok("estimate bfs g.esker --source 1");
    place.ok("estimate msf g.esker --as-undirected");
}

/// A search without its source was estimated.
#[test]
fn an_estimate_needs_what_the_run_needs() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\n1,2,1\n2,3,2\n");
    place.ok("import a.csv g.esker --undirected");
    place.file("none.txt", "\n");
    for entry in CATALOGUE {
        let required: Vec<_> = entry.options.iter().filter(|option| option.required).collect();
        let all = |left_out: Option<&str>| {
            let given = required.iter().filter(|option| Some(option.name) != left_out);
            given.enumerate().map(|(at, option)| format!(" --{} {}", option.name, at + 1)).collect::<String>()
        };
        let choices = ["", " --encoding tiles", " --residency pooled", " --weight nope", " --kind x"];
        let wholes = choices.map(|choice| all(None) + choice);
        let lacking = required.iter().map(|option| all(Some(option.name)));
        for options in wholes.into_iter().chain(lacking) {
            let [estimate, run] = ["estimate", "run"]
                .map(|verb| place.run(&format!("{verb} {} g.esker{options}", entry.name)).status.code());
            assert_eq!(estimate, run, "{}{options}", entry.name);
        }
    }
    place.fails(2, "estimate bfs g.esker --ids-from none.txt", "no ids");
}

/// One of the two values was dropped.
#[test]
fn a_name_is_given_one_value() {
    let place = Place::new();
    place.file("a.csv", "source,target,w,day\n1,2,1,2026-01-02\n");
    place.file("v.csv", "id,n\n1,2026-01-02\n");
    place.ok("import a.csv g.esker --property w");
    for (line, option) in [
        ("import a.csv b.esker --default w=1 --default w=3", "--default"),
        ("import a.csv b.esker --default w=1 --default w=1", "--default"),
        ("import a.csv b.esker --schema w:i64,w:f64", "--schema"),
        ("import a.csv b.esker --schema w:i64 --schema w:f64", "--schema"),
        ("import a.csv b.esker --date-format day=%Y-%m-%d --date-format day=%d.%m.%Y", "--date-format"),
        ("import b.esker --kind x=a.csv --kind x=a.csv", "--kind"),
        ("add g.esker a.csv --default w=1 --default w=3", "--default"),
        ("add g.esker a.csv --schema w:i64 --schema w:i64", "--schema"),
        ("sync g.esker a.csv --default w=1 --default w=3", "--default"),
        ("options g.esker --column w=w --column w=day", "--column"),
        ("set g.esker v.csv --schema n:i64 --schema n:f64", "--schema"),
        ("add g.esker a.csv --define z:i64 --define z:f64", "--define"),
        ("set g.esker v.csv --date-format n=%Y-%m-%d --date-format n=%d.%m.%Y", "--date-format"),
    ] {
        place.fails(2, line, &format!("{option} names"));
        place.fails(2, line, "twice: leave one out");
    }
    for line in [
        "set g.esker --vertex 1 n=1 n=2",
        "set g.esker --vertex 1 n=1 \"n\"=",
        "set g.esker --vertex 1 n= n=",
    ] {
        place.fails(2, line, "the property \"n\" is given two values: leave one out");
    }
}

#[test]
fn two_outputs_are_two_files() {
    let place = Place::new();
    place.ok("generate kron --scale 5 --degree 4 g.esker");
    for (line, named) in [
        (
            "export g.esker a.csv --vertices ./a.csv --force",
            "OUTPUT and --vertices both name the file ./a.csv",
        ),
        ("export g.esker a.csv --vertex-properties a.csv", "OUTPUT and --vertex-properties both name"),
        ("export g.esker - --vertices -", "OUTPUT and --vertices both name"),
        (
            "export g.esker a.csv --vertices b.csv --vertex-properties b.csv",
            "--vertices and --vertex-properties both",
        ),
        ("draw g.esker -o a.svg --positions ./a.svg", "--output and --positions both name the file ./a.svg"),
    ] {
        place.fails(2, line, named);
        place.fails(2, line, "give them different files");
    }
    assert!(!place.path().join("a.csv").exists());
    assert!(!place.path().join("a.svg").exists());
}

#[test]
fn a_name_of_two_columns_is_not_read_as_either() {
    let place = Place::new();
    place.file("a.csv", "source,target,n,n\n1,2,3,4\n");
    place.file("w.csv", "source,target,weight,weight\n1,2,3,4\n");
    place.file("t.csv", "source,target,time,time\n1,2,3,4\n");
    place.fails(
        2,
        "import a.csv g.esker --property n",
        "two columns are called \"n\": give one of them another name, or choose one by its number, as in 3",
    );
    place.fails(1, "import w.csv g.esker", "two columns are called \"weight\"");
    place.fails(1, "import t.csv g.esker", "two columns are called \"time\"");
    place.fails(1, "import a.csv g.esker --property all", "two edge properties would be called \"n\"");
    place.ok("import a.csv g.esker --property 4");
    assert_eq!(place.ok("edges g.esker --json --quiet").matches("\"n\": 4").count(), 1);
}

#[test]
fn an_estimate_and_the_explanation_of_a_run_are_the_same() {
    let place = Place::new();
    place.ok("generate kron --scale 10 --degree 8 g.esker");
    for algorithm in ["pagerank", "triangles"] {
        let rest = format!("{algorithm} g.esker --explain --memory 1GiB");
        let estimate = place.ok(&format!("estimate {rest}"));
        let run = place.run(&format!("run {rest}"));
        assert!(String::from_utf8_lossy(&run.stderr).starts_with(&estimate), "{run:?}");
    }
}

#[test]
fn standard_input_and_results_in_files() {
    let place = Place::new();
    let mut child = place
        .command("import - piped.esker --undirected")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"0 1\n1 2\n").unwrap();
    assert!(child.wait().unwrap().success());
    for name in ["out.csv", "out.parquet", "out.arrow", "out.npy"] {
        place.ok(&format!("run pagerank piped.esker --output {name}"));
        assert!(std::fs::metadata(place.path().join(name)).unwrap().len() > 0, "{name}");
    }
    let text = std::fs::read_to_string(place.path().join("out.csv")).unwrap();
    assert_eq!(text.lines().count(), 4);
    let again = place.run("run pagerank piped.esker --output out.csv");
    assert_eq!(again.status.code(), Some(1), "a file that exists is not replaced unasked");
}

#[test]
fn estimates_tell_whether_a_run_fits_and_runs_keep_to_it() {
    let place = Place::new();
    place.ok("generate grid --rows 50 --columns 50 g.esker");
    let estimate = place.json("estimate pagerank g.esker --json --memory 1KiB");
    assert_eq!(estimate["fits"], false);
    // The arrays, and the process itself.
    let needed = estimate["memory_bytes"].as_u64().unwrap() + (32 << 20);
    for limit in [1024, 31 << 20, needed - 1] {
        let refused = place.run(&format!("run pagerank g.esker --memory {limit}"));
        assert_eq!(refused.status.code(), Some(1), "{limit}");
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("raise the limit to at least 33 MiB"), "{limit}: {said}");
    }
    place.ok(&format!("run pagerank g.esker --memory {needed}"));
    assert_eq!(place.json(&format!("estimate pagerank g.esker --json --memory {needed}"))["fits"], true);
}

#[test]
fn bad_requests_end_with_a_message_and_the_right_code() {
    let place = Place::new();
    place.file("friends.csv", FRIENDS);
    place.ok("import friends.csv friends.esker");
    place.file("number.wel", "1 2 3\n2 3 x\n");
    place.file("ids.el", &("1 2\n".repeat(3000) + "x 1\n"));
    place.file("wide.txt", "1 2\n1 2 3\n");
    place.file("rect.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n");
    place.file("short.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 3\n");
    place.file("junk", "\0\u{1}\u{2}\u{3}");
    let cases = [
        (2, "frobnicate", "unrecognized subcommand"),
        (2, "import friends.csv", "the database to create"),
        (1, "import missing.csv x.esker", "missing.csv"),
        (1, "import friends.csv friends.esker", "exists"),
        (2, "import friends.csv x.esker --src nobody", "nobody"),
        (2, "import friends.csv x.esker --format xml", "no format is called"),
        (2, "import friends.csv x.esker --delimiter ab", "delimiter"),
        (1, "import friends.csv x.esker --memory 1KiB", "memory"),
        (2, "import friends.csv x.esker --memory lots", "256MiB"),
        (1, "import number.wel x.esker", "number.wel:2"),
        (1, "import ids.el x.esker", "--ids text"),
        (1, "import wide.txt x.esker", "wide.txt:2"),
        (1, "import rect.mtx x.esker", "the matrix is 2 x 3"),
        (1, "import short.mtx x.esker", "short.mtx"),
        (1, "import junk x.esker", "binary"),
        (1, "info friends.csv", "not a database"),
        (1, "info nowhere.esker", "does not exist"),
        (2, "run walk friends.esker", "no algorithm is called"),
        (2, "run bfs friends.esker", "--source"),
        (1, "run bfs friends.esker --source alicia", "no vertex has the id \"alicia\""),
        (2, "run wcc friends.esker --damping 0.5", "unexpected argument '--damping'"),
        (2, "run sssp friends.esker --source alice --source bob", "cannot be used multiple times"),
        (2, "run mis friends.esker --first last", "degree or random"),
        (2, "run pagerank friends.esker --damping high", "takes a number"),
        (2, "run pagerank friends.esker --output ranks.doc", ".parquet"),
        (2, "run pagerank friends.esker --threads 0", "--threads"),
        (2, "generate kron --scale 60 x.esker", "the scale can be"),
        (1, "export friends.esker x.xyz", "--format"),
    ];
    for (code, line, fragment) in cases {
        let output = place.run(line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{line}: {message}");
        assert!(message.contains(fragment), "{line}: {message}");
        assert!(!place.path().join("x.esker").exists(), "{line} left a database");
    }
}

#[test]
fn bad_lines_are_skipped_and_reported_when_asked() {
    let place = Place::new();
    place.file("some.wel", "1 2 3\n2 3 x\n3 1 5\n");
    let report = place.json("import some.wel g.esker --bad-lines skip --json");
    assert_eq!((&report["edges"], &report["rejected"]), (&2.into(), &1.into()));
    assert_eq!(report["rejected_sample"][0]["line"], 2);
}

#[test]
fn completions_name_the_verbs() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.ok(&format!("completions {shell}")).contains("estimate"), "{shell}");
    }
}

#[test]
fn graph500_validates_and_reports_by_the_official_names() {
    let place = Place::new();
    let text = place.ok("graph500 --scale 8 --roots 5 --database g.esker");
    for name in ["SCALE:", "construction_time:", "bfs  harmonic_mean_TEPS:", "sssp  median_time:"] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{text}");
    }
    let report = place.json("graph500 --scale 8 --roots 5 --kernels bfs --encoding compressed --json");
    assert_eq!(report["encoding"], "compressed");
    assert_eq!(report["NBFS"], 5);
    assert_eq!(report["searches"]["bfs"].as_array().unwrap().len(), 5);
    assert!(report["searches"].get("sssp").is_none());
    let residencies = [
        ("--residency headed --head 2", "lists, headed"),
        ("--residency headed", "lists, headed"),
        ("--encoding tiles", "tiles, mapped"),
        ("--encoding tiles --residency pooled", "tiles, pooled"),
        ("--encoding compressed --residency pooled", "lists, pooled"),
    ];
    for (options, name) in residencies {
        let report = place.json(&format!("graph500 --scale 8 --roots 3 --memory 300MiB --json {options}"));
        assert_eq!(report["searches"]["sssp"].as_array().unwrap().len(), 3);
        assert!(report["residency"].as_str().unwrap().starts_with(name), "{report}");
    }
    let again = place.run("graph500 --scale 8 --database g.esker");
    assert_eq!(again.status.code(), Some(1));
    let refused = place.run("graph500 --scale 80");
    assert_ne!(refused.status.code(), Some(0));
    assert!(!String::from_utf8_lossy(&refused.stderr).contains("panicked"));
}

#[test]
fn lists_of_several_layers_are_copied_to_memory_on_request() {
    let place = Place::new();
    place.ok("generate kron --scale 9 --degree 8 --weights 20 g.esker");
    place.file("more.csv", "from,to,weight\n1,2,3\n500,7,1\n8,9,2\n");
    place.ok("add g.esker more.csv --freeze");
    for request in
        ["bfs g.esker --source 1", "kcore g.esker", "triangles g.esker", "bellman-ford g.esker --source 1"]
    {
        let run = |options: &str| place.json(&format!("run {request} {options} --verify --json"));
        let (mapped, copied) = (run("--residency mapped"), run("--residency memory"));
        assert_eq!(copied["answers"], mapped["answers"], "{request}");
        assert_eq!(copied["plan"]["residency"], "memory");
        assert!(copied["plan"]["predicted"]["gathering_seconds"].as_f64().unwrap() > 0.0);
        assert_eq!(mapped["plan"]["predicted"]["gathering_seconds"], 0.0);
    }
    let shown = place.run("run wcc g.esker --residency memory --explain");
    assert!(String::from_utf8_lossy(&shown.stderr).contains("lists, memory: all of its"), "{shown:?}");
    place.fails(2, "run wcc g.esker --residency memory --encoding tiles", "--encoding lists");
    place.fails(2, "run wcc g.esker --residency memory --head 3", "--residency headed");
    place.fails(1, "run wcc g.esker --residency memory --memory 32MiB", "raise the limit to at least");
}

#[test]
fn every_encoding_gives_the_same_answers() {
    let place = Place::new();
    place.ok("generate kron --scale 9 --degree 8 --weights 20 g.esker");
    let facts = |options: &str| {
        let mut requests = vec!["bfs --source 1", "wcc", "kcore", "bellman-ford --source 1"];
        requests.extend((!options.contains("tiles")).then_some("triangles"));
        let answers = requests.into_iter().map(|request| {
            let (algorithm, rest) = request.split_once(' ').unwrap_or((request, ""));
            let report = place.json(&format!("run {algorithm} g.esker {rest} {options} --verify --json"));
            report["answers"].clone()
        });
        answers.collect::<Vec<_>>()
    };
    let plain = facts("");
    assert_eq!(facts("--residency headed --head 2 --memory 200MiB"), plain);
    assert_eq!(facts("--residency headed --memory 200MiB"), plain);
    assert_eq!(facts("--residency pooled --memory 200MiB"), plain);
    assert!(place.ok("compact g.esker --heads 3").contains("heads: the first 3 neighbours of each vertex"));
    for head in ["", "--head 2", "--head 3", "--head 4"] {
        assert_eq!(facts(&format!("--residency headed --memory 200MiB {head}")), plain);
    }
    assert_eq!(place.json("info g.esker --json")["head_length"], 3);
    assert!(place.ok("info g.esker").contains("of at most 3 neighbours"));
    place.ok("check g.esker");
    assert!(place.json("compact g.esker --heads --memory 64MiB --json")["head_length"].as_u64().unwrap() > 3);
    assert_eq!(place.json("compact g.esker --heads 4 --encoding compressed --json")["head_length"], 4);
    assert_eq!(place.json("info g.esker --json")["head_length"], 4);
    for head in ["", "--head 2", "--head 7"] {
        assert_eq!(facts(&format!("--residency headed --memory 200MiB {head}")), plain);
    }
    place.ok("check g.esker");
    assert_eq!(facts(""), plain);
    assert_eq!(facts("--residency pooled --memory 200MiB"), plain);
    place.ok("compact g.esker --encoding tiles");
    // Triangles are counted list by list.
    assert_eq!(facts("--encoding tiles"), plain[..4]);
    assert_eq!(facts("--encoding tiles --residency pooled --memory 200MiB"), plain[..4]);
    let refused = place.run("run triangles g.esker --encoding tiles");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("triangles reads single lists"), "{refused:?}");
    assert_eq!(facts("--residency pooled --memory 200MiB"), plain);
    place.ok("check g.esker");
    place.ok("generate kron --scale 9 --degree 8 --weights 20 g.esker --encoding tiles --force");
    assert_eq!(facts("--encoding tiles"), plain[..4]);
    place.file("few.el", "1 2\n2 3\n7 8\n");
    let report = place.json("import few.el h.esker --encoding tiles --memory 300MiB --json");
    assert!(report["tile_bytes"].as_u64().unwrap() > 0, "{report}");
    place.ok("run wcc h.esker --encoding tiles --verify");
    assert!(place.ok("import few.el h.esker --encoding tiles --force").contains("tiles     3 edges"));
    assert!(
        place
            .ok("import few.el h.esker --heads 1 --force")
            .contains("heads     the neighbour of highest degree of each vertex")
    );
    place.ok("run wcc h.esker --residency headed --verify");
}

#[test]
fn compact_keeps_tiles_until_lists_are_asked_for_and_counts_its_work() {
    let place = Place::new();
    place.ok("generate kron --scale 9 --degree 8 g.esker --encoding tiles");
    place.file("more.el", "1 2\n400 401\n");
    place.ok("add g.esker more.el");
    let merged = place.json("compact g.esker --json");
    assert_eq!((&merged["tile_groups_rebuilt"], &merged["tile_groups_copied"]), (&1.into(), &0.into()));
    assert_eq!(merged["tile_bytes_copied"], 0);
    // Nothing but versions goes, so the tiles are copied.
    place.ok("forget g.esker 1");
    let copied = place.json("compact g.esker --json");
    assert_eq!((&copied["tile_groups_rebuilt"], &copied["tile_groups_copied"]), (&0.into(), &1.into()));
    assert_eq!(copied["tile_bytes_copied"], copied["tile_bytes"]);
    place.ok("check g.esker");
    place.ok("run wcc g.esker --encoding tiles --verify");
    place.file("others.el", "600 601\n");
    place.ok("add g.esker others.el");
    let text = place.ok("compact g.esker");
    assert!(text.contains("; 0 groups copied (0 B), 0 shared (0 B), 1 rebuilt"), "{text}");
    let plain = place.json("compact g.esker --encoding plain --json");
    assert_eq!(plain["tile_bytes"], serde_json::Value::Null);
    // No layer is new, but tiles and heads are written.
    for (option, of_kind) in
        [("--encoding tiles", "bytes_written_tiles"), ("--heads 2", "bytes_written_heads")]
    {
        let made = place.json(&format!("compact g.esker {option} --json"));
        assert!(made[of_kind].as_u64().unwrap() > 0 && made["bytes_written"] == made[of_kind], "{made}");
    }
    place.ok("compact g.esker --encoding plain");
    assert_eq!(place.run("run wcc g.esker --encoding tiles").status.code(), Some(1));
    place.ok("add g.esker more.el");
    assert_eq!(place.json("compact g.esker --json")["tile_bytes"], serde_json::Value::Null);
}

#[test]
fn after_a_run_explain_says_what_was_read_and_how() {
    let place = Place::new();
    place.ok("generate kron --scale 12 --degree 8 --undirected g.esker --encoding tiles");
    let pooled = "run pagerank g.esker --encoding tiles --residency pooled --memory 200MiB";
    let explained = place.run(&format!("{pooled} --explain"));
    let message = String::from_utf8_lossy(&explained.stderr).into_owned();
    for part in [
        "layers/1/tiles.data, pool  ",
        " found in memory (",
        "mapped files  ",
        ", mapped  ",
        " looked at",
        " from the disk; predicted: ",
        " at the peak; predicted: ",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let actual = |line: &str| place.json(&format!("{line} --json"))["plan"]["actual"].clone();
    let reads = actual(pooled)["reads"][0].clone();
    assert_eq!((&reads["file"], &reads["way"]), (&"layers/1/tiles.data".into(), &"pool".into()));
    let tiles = std::fs::metadata(place.path().join("g.esker/layers/1/tiles.data")).unwrap().len();
    let read = reads["read_bytes"].as_u64().unwrap();
    assert!(read > 0 && read <= tiles, "{reads}: read once, and then kept");
    assert!(reads["kept_bytes"].as_u64().unwrap() >= 2 * read, "{reads}");
    let headed = "run bfs g.esker --source 1 --residency headed --head 2 --memory 200MiB";
    let ways = || {
        let all = actual(headed)["reads"].as_array().unwrap().clone();
        all.iter().map(|reads| reads["way"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ways(), ["gathering heads", "tails"]);
    place.ok("compact g.esker --heads 2");
    assert!(ways().contains(&"stored heads".to_owned()) && !ways().contains(&"gathering heads".to_owned()));
    let mapped = actual("run bfs g.esker --source 1");
    assert_eq!(mapped["reads"], serde_json::json!([]));
    assert_eq!(mapped["mapped_bytes"], mapped["disk_bytes"], "nothing is read past the page cache");
    let files = mapped["mapped_files"].as_array().unwrap();
    let looked_at = |name: &str| {
        files.iter().find(|file| file["file"] == name).map(|file| file["bytes_looked_at"].as_u64().unwrap())
    };
    let lists = std::fs::metadata(place.path().join("g.esker/layers/1.columns")).unwrap().len();
    assert!(looked_at("layers/1.columns").is_some_and(|bytes| bytes >= lists / 2), "{files:?}");
    assert!(mapped["predicted_memory_bytes"].as_u64().unwrap() > 0, "{mapped}");
}

#[test]
fn a_run_says_what_it_reads_and_why() {
    let place = Place::new();
    place.ok("generate kron --scale 12 --degree 8 --undirected g.esker");
    let explained = place.run("run wcc g.esker --explain --memory 1GiB");
    let message = String::from_utf8_lossy(&explained.stderr).into_owned();
    assert!(explained.status.success() && message.contains("lists, mapped  chosen; "), "{message}");
    assert!(message.contains("tiles, pooled  not possible"), "{message}");
    let chosen = |options: &str| {
        let run = place.json(&format!("run pagerank g.esker --json {options}"))["plan"].clone();
        let estimate = place.json(&format!("estimate pagerank g.esker --json {options}"));
        for part in ["encoding", "residency", "candidates"] {
            assert_eq!(estimate["plan"][part], run[part], "{part}, {options}");
        }
        assert_eq!(estimate["fits"], true, "{options}");
        format!("{}, {}", run["encoding"].as_str().unwrap(), run["residency"].as_str().unwrap())
    };
    assert_eq!(chosen(""), "lists, mapped");
    let candidates = place.json("estimate pagerank g.esker --json")["plan"]["candidates"].clone();
    assert_eq!(
        (&candidates[0]["encoding"], &candidates[0]["residency"]),
        (&"lists".into(), &"mapped".into())
    );
    let lists = candidates[0]["whole_memory_bytes"].as_u64().unwrap();
    assert_eq!(chosen(&format!("--memory {lists}")), "lists, mapped");
    // A copy needs less than the mapped layer: no ids, no properties.
    assert_eq!(chosen(&format!("--memory {}", lists - 1)), "lists, memory");
    assert_eq!(chosen("--residency headed --head 3 --memory 200MiB"), "lists, headed");
    assert_eq!(chosen("--residency pooled --memory 200MiB"), "lists, pooled");
    place.ok("compact g.esker --encoding tiles");
    assert_eq!(chosen(&format!("--memory {}", lists - (64 << 10))), "tiles, mapped");
    assert_eq!(chosen("--residency pooled --memory 1GiB"), "lists, pooled");
    assert_eq!(chosen("--residency pooled --encoding tiles --memory 1GiB"), "tiles, pooled");
    let text = place.ok("estimate bfs g.esker --source 1 --explain --memory 1GiB");
    assert!(text.contains("chosen; ") && text.contains("lists, headed  "), "{text}");
    let text = place.ok("estimate bfs g.esker --source 1 --residency headed --head 4 --memory 1GiB");
    assert!(text.contains("heads of 4 neighbours"), "{text}");
    let text = place.ok("estimate bfs g.esker --source 1 --memory 1KiB");
    assert!(text.contains("is refused: bfs needs"), "{text}");
}

#[test]
fn a_graph_that_changed_is_read_in_every_residency() {
    let place = Place::new();
    place.ok("generate kron --scale 10 --degree 8 --undirected --encoding tiles g.esker");
    place.file("more.el", "1 900\n2 901\n");
    place.ok("add g.esker more.el");
    for freeze in ["", " --freeze"] {
        place.ok(&format!("add g.esker more.el{freeze}"));
        for way in [
            "--residency headed",
            "--residency pooled --encoding lists",
            "--encoding tiles",
            "--residency pooled",
        ] {
            for at in ["", " --at 1"] {
                place.ok(&format!("run wcc g.esker {way}{at} --memory 200MiB --verify"));
            }
        }
    }
}

#[test]
fn residencies_that_cannot_be_had_end_with_a_message_and_the_right_code() {
    let place = Place::new();
    place.ok("generate kron --scale 10 --degree 8 --undirected plain.esker");
    place.ok("generate kron --scale 10 --degree 8 --undirected --encoding compressed small.esker");
    place.ok("compact small.esker --heads 3");
    place.ok("run wcc small.esker --residency headed --verify");
    place.ok("graph500 --scale 8 --encoding compressed --residency headed");
    let cases = [
        (1, "run wcc plain.esker --encoding lists --residency pooled --memory 40MiB", "raise the limit"),
        (2, "run wcc plain.esker --encoding tiles --residency headed", "--encoding lists"),
        (2, "run wcc plain.esker --residency mapped --head 4", "--residency headed"),
        (2, "run wcc plain.esker --residency headed --head 0", "--head"),
        (2, "run wcc plain.esker --residency nowhere", "headed"),
        (1, "run wcc plain.esker --encoding tiles", "esker compact --encoding tiles"),
        (1, "run wcc plain.esker --residency headed --memory 1MiB", "raise the limit"),
        (1, "run wcc plain.esker --memory 1KiB", "raise the limit"),
        (2, "graph500 --scale 8 --encoding tiles --residency headed", "--encoding lists"),
        (1, "graph500 --scale 8 --residency headed --memory 20MiB", "raise the limit"),
    ];
    for (code, line, fragment) in cases {
        let output = place.run(line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{line}: {message}");
        assert!(message.contains(fragment), "{line}: {message}");
        assert!(!message.contains("panicked"), "{line}: {message}");
    }
    // What is named suffices.
    let refused = place.run("run kcore plain.esker --residency headed --memory 1MiB");
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    let needed =
        message.split(" needs ").nth(1).unwrap().split(" of memory").next().unwrap().replace(' ', "");
    place.ok(&format!("run kcore plain.esker --residency headed --memory {needed} --verify"));
    place.ok("compact plain.esker --encoding tiles");
    let refused = place.run("run wcc plain.esker --residency pooled --memory 1MiB");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("raise the limit"));
}

#[test]
fn tiles_can_be_stored_instead_of_lists() {
    let place = Place::new();
    let graph = "generate kron --scale 10 --degree 8 --weights 20";
    place.ok(&format!("{graph} usual.esker"));
    place.ok(&format!("{graph} g.esker --encoding tiles --only"));
    place.ok("export g.esker edges.csv");
    place.ok("import edges.csv imported.esker --encoding tiles --only --undirected");
    place.ok("compact imported.esker --encoding plain --heads 2");
    place.ok("compact imported.esker --encoding tiles --only");
    assert!(place.ok("info g.esker").contains("tiles only"));
    assert_eq!(place.json("info g.esker --json")["encoding"], "tiles");
    let answers = |line: &str| place.json(&format!("{line} --json"))["answers"].clone();
    place.ok("run pagerank g.esker --verify");
    for run in ["wcc", "triangles", "bfs --source 1", "kcore"] {
        assert_eq!(
            answers(&format!("run {run} g.esker")),
            answers(&format!("run {run} usual.esker")),
            "{run}"
        );
    }
    for name in ["g.esker", "imported.esker"] {
        place.ok(&format!("check {name}"));
        for reading in ["--residency pooled --encoding lists", "--residency headed"] {
            let refused = place.run(&format!("run wcc {name} {reading} --memory 400MiB"));
            let message = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert_eq!(refused.status.code(), Some(1), "{message}");
            assert!(message.contains("the lists are kept as tiles only"), "{message}");
        }
    }
    // Single lists at random: what is advised works.
    for (reading, remedy) in [
        ("--residency pooled", "run it with --residency mapped, which decodes"),
        ("--encoding tiles", "run it with --encoding lists --residency mapped"),
        ("--residency headed", "run it with --residency mapped, which decodes"),
        ("--residency pooled --encoding tiles", "run it with --encoding lists --residency mapped"),
    ] {
        place.fails(1, &format!("run lcc g.esker {reading}"), remedy);
    }
    let advised = answers("run lcc g.esker --encoding lists --residency mapped");
    assert_eq!(advised, answers("run lcc usual.esker"));
    assert_eq!(answers("run lcc g.esker --residency mapped"), answers("run lcc usual.esker"));
    for wrong in [
        "compact g.esker --only",
        "compact g.esker --encoding plain --only",
        "compact g.esker --encoding tiles --only --heads 2",
        "import edges.csv other.esker --only",
    ] {
        assert_eq!(place.run(wrong).status.code(), Some(2), "{wrong}");
    }
    // Changes stay readable, and merging keeps the database so.
    place.file("more.csv", "source,target,weight\n0,1023,5\n7,1022,5\n");
    for name in ["g.esker", "usual.esker"] {
        place.ok(&format!("add {name} more.csv --freeze"));
        place.ok(&format!("delete {name} more.csv"));
        place.ok(&format!("add {name} more.csv"));
    }
    place.ok("compact g.esker");
    assert_eq!(place.json("info g.esker --json")["encoding"], "tiles");
    assert_eq!(answers("run wcc g.esker"), answers("run wcc usual.esker"));
    place.ok("compact g.esker --encoding tiles");
    assert_eq!(place.json("info g.esker --json")["encoding"], "tiles");
    place.ok("compact g.esker --encoding compressed");
    assert_eq!(place.json("info g.esker --json")["encoding"], "compressed");
    assert_eq!(answers("run wcc g.esker"), answers("run wcc usual.esker"));
}

#[test]
fn windows_of_timestamps_are_read_from_tiles_too() {
    let place = Place::new();
    let edge =
        |i: u32| format!("{},{},2026-01-{:02}T08:00:00Z,{}\n", i * 7 % 90, i * i % 90, 1 + i / 50, i % 5 + 1);
    let edges: String = (0..1500).map(edge).collect();
    place.file("edges.csv", &format!("source,target,time,weight\n{edges}"));
    for name in ["lists.esker", "tiles.esker", "only.esker"] {
        place.ok(&format!("import edges.csv {name} --time time --weight weight --duplicates keep"));
    }
    place.ok("compact tiles.esker --encoding tiles");
    place.ok("compact only.esker --encoding tiles --only");
    for run in ["wcc", "bfs --source 3", "kcore", "triangles", "degrees"] {
        for window in ["--window 5d", "--window 9d --at 2026-01-15", "--window 3d --copies distinct"] {
            let answers = |database: &str| {
                place.json(&format!("run {run} {database} {window} --json"))["answers"].clone()
            };
            let expected = answers("lists.esker");
            for database in ["tiles.esker", "only.esker", "only.esker --residency mapped --encoding lists"] {
                assert_eq!(answers(database), expected, "{run} {database} {window}");
            }
            let of_tiles = ["wcc", "degrees"].contains(&run) && !window.contains("distinct");
            if of_tiles {
                assert_eq!(answers("tiles.esker --encoding tiles"), expected, "{run} {window}");
            }
        }
    }
}

/// Ids and messages come from inputs, and a terminal acts on control characters.
#[test]
fn control_characters_of_ids_and_messages_are_escaped_in_lines_for_people_only() {
    let place = Place::new();
    place.file("a.csv", "source,target\na\u{1b}]0;owned\u{7},b\nb,a\u{1b}]0;owned\u{7}\n");
    place.ok("import a.csv a.esker");
    place.file("more.csv", "source,target\nb,c\n");
    let message = "evil\u{1b}[2J";
    let mut command = place.command("add a.esker more.csv -m");
    assert!(command.arg(message).output().unwrap().status.success());
    let has_control = |text: &str| text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    let top = place.ok("run pagerank a.esker");
    assert!(top.contains("a\\u{1b}]0;owned\\u{7}  ") && !has_control(&top), "{top:?}");
    let log = place.ok("log a.esker");
    assert!(log.contains("evil\\u{1b}[2J") && !has_control(&log), "{log:?}");
    assert_eq!(place.json("log a.esker --json")["versions"][0]["message"], message);
    assert!(place.ok("run pagerank a.esker --output -").contains("\na\u{1b}]0;owned\u{7},"));
}

/// The files of a database that only its owner may read, made later.
#[test]
fn a_private_database_stays_private() {
    use std::os::unix::fs::PermissionsExt;
    fn modes(path: &std::path::Path) -> Vec<(std::path::PathBuf, u32)> {
        let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        let of = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        entries
            .flat_map(|path| if path.is_dir() { modes(&path) } else { vec![(path.clone(), of(&path))] })
            .collect()
    }
    let place = Place::new();
    place.file("a.csv", "source,target\na,b\n");
    place.file("more.csv", "source,target\nb,c\n");
    place.ok("import a.csv a.esker");
    let database = place.path().join("a.esker");
    let private = std::fs::Permissions::from_mode(0o700);
    for directory in [database.clone(), database.join("layers")] {
        std::fs::set_permissions(directory, private.clone()).unwrap();
    }
    for (file, _) in modes(&database) {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    for line in ["add a.esker more.csv --freeze", "delete a.esker more.csv", "compact a.esker"] {
        place.ok(line);
        let open: Vec<_> = modes(&database).into_iter().filter(|(_, mode)| mode & 0o077 != 0).collect();
        assert!(open.is_empty(), "{line}: {open:?}");
    }
    place.ok("import --force a.csv a.esker");
    assert!(modes(&database).iter().all(|(_, mode)| mode & 0o077 == 0), "{:?}", modes(&database));
    assert_eq!(database.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

/// A signal ended commands that had not begun their work, or have none that must end in good order, instead
/// of an exit code.
#[test]
fn an_interrupted_command_ends_with_an_exit_code() {
    let place = Place::new();
    // Its output does not fit in a pipe that nobody reads.
    let mut command = place.command("completions bash");
    let mut child = limited(command.stdout(std::process::Stdio::piped()).spawn().unwrap());
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
