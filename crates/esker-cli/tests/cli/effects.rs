//! What has no effect is refused, what is assumed is said, and standard output has the answer alone.

use esker::catalogue::{CATALOGUE, Question};

use crate::place::Place;

const EDGES: &str = "from,to,weight,kind\nx,y,3,depends\ny,z,4,breaks\nx,z,9,depends\n";

/// A directed weighted database `w.esker` with text ids.
fn weighted() -> Place {
    let place = Place::new();
    place.file("w.csv", EDGES);
    place.ok("import w.csv w.esker --property kind");
    place
}

/// What a command prints on standard output and standard error.
fn printed(place: &Place, line: &str) -> (String, String) {
    let output = place.run(line);
    assert!(output.status.success(), "{line}: {output:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// A command that is refused as bad usage, and its message.
fn refused(place: &Place, line: &str) -> String {
    let output = place.run(line);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{line}: {message}");
    assert!(output.stdout.is_empty(), "{line}");
    message
}

#[test]
fn options_of_reading_are_refused_where_a_database_is_read() {
    let place = weighted();
    let options = [
        "--src nope",
        "--no-weight",
        "--undirected",
        "--directed",
        "--ids text",
        "--input-format csv",
        "--header",
        "--duplicates keep",
        "--no-in-edges",
        "--bad-lines skip",
    ];
    for option in options {
        let message = refused(&place, &format!("run wcc w.esker {option}"));
        let name = option.split(' ').next().unwrap();
        assert!(message.contains(&format!("{name} has no effect on w.esker")), "{message}");
    }
    place.ok("run wcc w.csv --undirected --ids text --header --duplicates keep");
}

/// The degrees of a cycle do not vary, so they have no correlation.
#[test]
fn a_figure_without_a_value_is_said_to_be_undefined() {
    let place = Place::new();
    place.file("cycle.csv", "from,to\na,b\nb,c\nc,a\n");
    place.ok("import cycle.csv cycle.esker --undirected");
    assert_eq!(place.ok("run assortativity cycle.esker"), "assortativity\nundefined\n");
    assert_eq!(place.ok("run assortativity cycle.esker --format jsonl"), "{\"assortativity\":null}\n");
    place.file("timed.csv", "from,to,at\na,b,1\nb,c,2\nc,a,3\n");
    place.ok("import timed.csv timed.esker --undirected --time at");
    let window = "window assortativity timed.esker --length 5 --time-unit s --from 0 --to 10 -q";
    let table = place.ok(window);
    assert!(table.lines().skip(1).all(|line| line.ends_with("undefined")), "{table}");
    assert!(place.ok(&format!("{window} --format csv")).lines().skip(1).all(|line| line.ends_with(',')));
    let report = place.ok("run assortativity cycle.esker --json --verify");
    assert!(report.contains("\"assortativity\": null"), "{report}");
}

#[test]
fn options_of_output_are_refused_where_there_are_figures_only() {
    let place = weighted();
    place.ok("import w.csv u.esker --undirected");
    for entry in CATALOGUE {
        let required = entry.options.iter().filter(|option| option.required);
        let options: String = required.map(|option| format!(" --{} x", option.name)).collect();
        let line = format!("run {} u.esker{options} --top 1", entry.name);
        if entry.has_rows() {
            let (rows, _) = printed(&place, &line);
            assert!(rows.lines().count() >= 1, "{line}: {rows}");
        } else {
            assert!(refused(&place, &line).contains("figures only"), "{line}");
        }
    }
    assert!(refused(&place, "run wcc w.esker --force").contains("--output"));
    let message = refused(&place, "run wcc w.esker --beta 0.5");
    assert!(message.contains("--beta has no effect without --method contraction"), "{message}");
}

#[test]
fn values_out_of_range_are_bad_usage_and_the_message_says_what_would_do() {
    let place = weighted();
    let cases = [
        ("pagerank w.esker --damping 1.5", "--damping takes a number from 0 to 1"),
        ("pagerank w.esker --damping nan", "--damping takes a number from 0 to 1"),
        ("pagerank w.esker --tolerance -1", "--tolerance takes a number from 0"),
        ("sssp w.esker --source x --delta 0", "--delta takes a number above 0, or auto"),
        ("cliques w.esker --k 0", "--k takes a whole number from 1"),
        ("triangles w.esker --method sample --samples 0", "--samples takes a whole number from 1"),
        ("densest w.esker --epsilon inf", "--epsilon takes a number above 0"),
        ("ldd w.esker --beta 21", "--beta takes a number from 0.001 to 20"),
    ];
    for (line, words) in cases {
        let message = refused(&place, &format!("run {line}"));
        assert!(message.contains(words), "{line}: {message}");
    }
}

#[test]
fn an_unknown_algorithm_is_answered_with_the_nearest_name() {
    let place = weighted();
    for (name, nearest) in
        [("pagrank", "pagerank"), ("pr", ""), ("coloring", "colouring"), ("k-core", "kcore")]
    {
        let message = refused(&place, &format!("run {name} w.esker"));
        assert_eq!(message.contains("did you mean"), !nearest.is_empty(), "{message}");
        assert!(message.contains(nearest) && message.contains("esker run --list"), "{message}");
    }
    let list = place.ok("run --list");
    assert_eq!(list, place.ok("estimate --list"));
    assert_eq!(list.lines().count(), CATALOGUE.len() + Question::ALL.len());
    assert!(Question::ALL.iter().all(|question| list.lines().any(|line| line == question.text())), "{list}");
    assert!(CATALOGUE.iter().all(|entry| list.contains(entry.summary)), "{list}");
}

#[test]
fn standard_output_has_the_rows_and_standard_error_the_facts() {
    let place = weighted();
    let (rows, facts) = printed(&place, "run pagerank w.esker --top 2");
    let lines: Vec<&str> = rows.lines().collect();
    assert_eq!(lines.len(), 3, "{rows}");
    assert!(lines[0].starts_with("vertex  ") && lines[0].ends_with("  rank"), "{rows}");
    for name in ["error", "converged", "weight", "rounds", "time", "memory"] {
        assert!(facts.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {facts}");
    }
    assert!(facts.contains("weight, which pagerank reads only with --weight weight"), "{facts}");
    assert_eq!(printed(&place, "run pagerank w.esker --top 2 --quiet"), (rows, String::new()));
    assert_eq!(printed(&place, "-q run triangles w.esker --format csv").0, "triangles\n1\n");
    assert_eq!(printed(&place, "-q import w.csv again.esker --property all").1, "");
}

#[test]
fn top_and_output_and_json_and_format_combine() {
    let place = weighted();
    let bfs = "run bfs w.esker --source x --quiet";
    let all = "vertex,value\nx,0\ny,1\nz,1\n";
    assert_eq!(place.ok(&format!("{bfs} -o -")), all);
    assert_eq!(place.ok(&format!("{bfs} --top 1 -o -")), "vertex,value\ny,1\n");
    assert_eq!(place.ok(&format!("{bfs} --top 1 --format csv")), "vertex,value\ny,1\n");
    assert_eq!(place.ok(&format!("{bfs} --top 1 --format jsonl")), "{\"value\":1,\"vertex\":\"y\"}\n");
    let rows = place.json(&format!("{bfs} --top 9 --format json -o -"));
    assert_eq!(rows.as_array().unwrap().len(), 3);
    assert_eq!(place.ok(&format!("{bfs} --top 1")), "vertex  depth\ny           1\n");
    let (rows, report) = printed(&place, &format!("{bfs} -o - --json"));
    assert_eq!(rows, all);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&report).unwrap()["answers"]["reached"], 3);
    let (rows, report) = printed(&place, &format!("{bfs} --top 1 -o - --json"));
    assert_eq!(rows, "vertex,value\ny,1\n");
    assert!(report.contains("\"reached\":3"), "{report}");
    let groups = place.ok("run wcc w.esker --quiet --format csv");
    assert_eq!(groups, "component,vertices\nx,3\n");
    place.ok(&format!("{bfs} --top 1 -o all.csv"));
    assert_eq!(std::fs::read_to_string(place.path().join("all.csv")).unwrap(), all);
}

#[test]
fn how_a_file_is_read_is_said() {
    let place = Place::new();
    place.file("c.csv", "a,b,cost\nx,y,3\ny,z,4\n");
    let (_, said) = printed(&place, "run sssp c.csv --source x");
    assert!(said.contains("Reading c.csv as CSV: source a, target b (text ids)\n"), "{said}");
    assert!(said.contains("warning: c.csv: the column cost is not read; --property all"), "{said}");
    assert!(said.contains("none: each edge counts as 1"), "{said}");
    let (_, said) = printed(&place, "run sssp c.csv --source x --weight cost");
    assert!(!said.contains("not read") && said.contains("weight   cost"), "{said}");
    place.file("h.csv", "foo,bar\nann,bob\nbob,cy\n");
    place.fails(1, "import h.csv h.esker", "cannot tell whether the first line, foo,bar, names the columns");
    let (_, said) = printed(&place, "import h.csv i.esker --header");
    assert!(said.contains("source foo, target bar"), "{said}");
    place.file("k.csv", "who,whom,city\nann,bob,rome\ncy,dan,oslo\n");
    place.fails(
        1,
        "import k.csv k.esker --header",
        "choose with --src who --dst whom, or --src who --dst city",
    );
    place.file("j.json", "{\"users\": [], \"pairs\": []}\n");
    let output = place.run("import j.json j.esker");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the file is JSON"), "{output:?}");
}

#[test]
fn communities_of_text_ids_do_not_depend_on_the_order_of_vertices() {
    let place = Place::new();
    let mut edges: Vec<String> = (0..60).map(|i| format!("v{},v{}", i * 7 % 60, (i * 13 + 5) % 60)).collect();
    place.file("one.csv", &(edges.join("\n") + "\n"));
    edges.reverse();
    place.file("two.csv", &(edges.join("\n") + "\n"));
    let communities = |file: &str, options: &str| {
        let text = place.ok(&format!("run cdlp {file} --no-header --verify --quiet -o - {options}"));
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let expected = communities("one.csv", "--order keep");
    for options in ["--order keep", "--order degree"] {
        assert_eq!(communities("one.csv", options), expected);
        assert_eq!(communities("two.csv", options), expected);
    }
}

#[test]
fn options_of_other_families_are_refused_by_generate() {
    let place = Place::new();
    let cases = [
        ("grid --rows 3 --columns 3 --scale 10", "--scale has no effect on grid"),
        ("kron --scale 4 --vertices 100", "--vertices has no effect on kron"),
        ("kron --scale 4 --noise 0.1", "it is an option of rmat"),
        ("star --vertices 9 --degree 4", "--degree has no effect on star"),
        ("ba --vertices 50 --rewire 0.5", "it is an option of ws"),
        ("ws --vertices 50 --no-permute", "--no-permute has no effect on ws"),
        ("uniform --vertices 50 --edges 9 --degree 4", "leave out one"),
    ];
    for (line, expected) in cases {
        let message = refused(&place, &format!("generate {line} g.esker"));
        assert!(message.contains(expected), "{line}: {message}");
        assert!(!place.path().join("g.esker").exists(), "{line}");
    }
    place.ok("generate uniform --vertices 50 --edges 9 g.esker");
    assert!(place.ok("generate path g.el").ends_with(", 999 edges\n"));
}

#[test]
fn options_that_the_output_or_the_graph_makes_void_are_refused() {
    let place = Place::new();
    place.file("a.csv", "source,target\n1,2\n");
    place.ok("import a.csv g.esker --undirected");
    for (line, told) in [
        ("generate complete --vertices 5 g.csv --encoding tiles", "--encoding has no effect on g.csv"),
        ("generate complete --vertices 5 g.csv --duplicates keep", "--duplicates has no effect on g.csv"),
        ("generate complete --vertices 5 g.csv --self-loops drop", "--self-loops has no effect on g.csv"),
        ("generate complete --vertices 5 g.csv --order degree", "--order has no effect on g.csv"),
        ("generate complete --vertices 5 g.csv --no-in-edges", "--no-in-edges has no effect on g.csv"),
        ("generate complete --vertices 5 h.esker --bad-lines skip", "--bad-lines has no effect"),
        ("generate complete --vertices 5 -", "a database is a directory"),
        ("import a.csv -", "a database is a directory"),
        ("import a.csv h.esker --undirected --no-in-edges", "cannot be used with"),
        ("import a.csv h.esker --format csvv", "no format is called \"csvv\""),
        ("import a.csv h.esker --delimiter ;;", "is not a delimiter"),
        ("export g.esker - --format xml", "no format is called \"xml\""),
        ("add g.esker a.csv --batch 0", "it takes a whole number, 1 or more"),
    ] {
        place.fails(2, line, told);
    }
    assert!(!place.path().join("-").exists() && !place.path().join("g.csv").exists());
    place.fails(2, "run bsf g.esker", "did you mean bfs?");
}

#[test]
fn a_graph_without_edges_has_no_shares_of_edges() {
    let place = Place::new();
    place.file("a.csv", "source,target\n");
    place.ok("import a.csv g.esker");
    let info = place.ok("info g.esker");
    assert!(!info.contains("bytes/arc"), "{info}");
    assert_eq!(place.json("run pagerank g.esker --json")["answers"]["error"], 0.0);
}

/// Options that rows, groups or a picture could have, where there are none.
#[test]
fn an_option_of_rows_is_refused_where_there_is_nothing_for_it() {
    let place = Place::new();
    place.file("a.csv", "source,target,w\na,b,1\nb,c,2\n");
    place.ok("import a.csv g.esker");
    for (line, told) in [
        ("edges g.esker --count --ascending", "--sort, --ascending, --descending and --top have no effect"),
        ("edges g.esker --sum w --top 3", "--group-by makes groups"),
        ("vertices g.esker --count --sort count", "--group-by makes groups"),
        ("follow wcc g.esker --once --initial --alert size>1", "--initial has no effect"),
        ("follow degrees g.esker --once --timezone Europe/Berlin", "--window"),
        ("follow triangles g.esker --once --top 3", "--top has no effect"),
        ("diff g.esker 1 1 -o d.parquet", "use .csv, .json, .jsonl, .txt"),
    ] {
        place.fails(2, line, told);
    }
    assert!(!place.path().join("d.parquet").exists());
    // With these, it has an effect.
    place.ok("edges g.esker --count --group-by source --ascending");
    place.ok("follow degrees g.esker --once --initial --alert-new");
}

/// Files were written beside those of the database.
#[test]
fn no_file_is_written_into_a_database() {
    let place = Place::new();
    place.file("e.csv", "src,dst,time\na,b,1\nb,c,2\n");
    place.ok("import e.csv g.esker --time time");
    place.ok("import e.csv h.esker --time time");
    place.ok("cluster create c.cluster --shards 1 --ids text");
    std::fs::create_dir(place.path().join("g.esker/sub")).unwrap();
    for (path, database) in
        [("g.esker/x", "g.esker"), ("g.esker/sub/x", "g.esker"), ("c.cluster/x", "c.cluster")]
    {
        for line in [
            format!("run degrees h.esker -o {path}.csv"),
            format!("run degrees h.esker --each-version -o {path}.csv"),
            format!("export h.esker {path}.csv"),
            format!("export h.esker ok.csv --force --vertices {path}.csv"),
            format!("export h.esker {path} --format graphframes"),
            format!("diff h.esker 1 1 --format csv -o {path}.csv"),
            format!("draw h.esker -o {path}.svg"),
            format!("generate path --vertices 5 {path}.csv"),
            format!("add h.esker e.csv --rejects {path}.csv"),
            format!("stream h.esker e.csv --late reject:{path}.csv"),
            format!("cluster export c.cluster {path}.csv"),
            format!("import e.csv {path}.esker"),
        ] {
            let output = place.run(&line);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_refused = told.contains("lies in the database") && told.contains(database);
            assert!(!output.status.success() && is_refused, "{line}: {told}");
        }
    }
    let is_ours = |name: &str| name.starts_with('x') || name.starts_with(".x");
    for folder in ["g.esker", "g.esker/sub", "c.cluster"] {
        let names = std::fs::read_dir(place.path().join(folder)).unwrap();
        let names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        assert!(!names.iter().any(|name| is_ours(name)), "{folder}: {names:?}");
    }
}

/// Paths of a machine say nothing elsewhere.
#[test]
fn messages_of_versions_name_files_without_their_folders() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("folder")).unwrap();
    place.file("folder/e.csv", "src,dst\na,b\n");
    place.file("folder/v.csv", "id,age\na,1\n");
    place.file("folder/script", "+ b c\n");
    place.ok("import folder/e.csv g.esker");
    place.ok("set g.esker folder/v.csv");
    place.ok("commit g.esker folder/script --new");
    place.ok("delete g.esker folder/e.csv");
    place.ok("add g.esker folder/e.csv");
    place.ok("sync g.esker folder/e.csv");
    let log = place.ok("log g.esker");
    assert!(!log.contains("folder"), "{log}");
    for words in ["set v.csv", "commit script", "delete e.csv", "add e.csv", "sync e.csv"] {
        assert!(log.contains(words), "{words}: {log}");
    }
}
