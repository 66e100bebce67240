//! `--where` and `--reverse`: runs on a part of a graph and on its reverse. See also `views`.

use esker::catalogue::CATALOGUE;

use crate::place::Place;

const EDGES: &str =
    "from,to,weight,kind\na,b,3,road\nb,c,4,rail\na,c,9,road\nc,d,1,road\ne,a,2,rail\na,b,5,rail\n";

/// A database with several layers, parallel edges and a removed vertex.
fn layered() -> Place {
    let place = Place::new();
    place.file("w.csv", EDGES);
    place.file("more.csv", "from,to,weight,kind\nd,a,1,road\nf,a,7,rail\n");
    place.file("gone.txt", "f\n");
    place.ok("import w.csv w.esker --property kind --duplicates keep");
    place.ok("add w.esker more.csv --freeze");
    place.ok("delete w.esker --vertices gone.txt");
    place
}

#[test]
fn conditions_select_edges_and_can_keep_all_vertices() {
    let place = layered();
    let edges = |options: &str| {
        let kept = if options.is_empty() { "" } else { "--all-vertices" };
        let report = place.json(&format!("run wcc w.esker --json {options} {kept}"));
        assert_eq!((&report["vertices"], &report["version"]), (&5.into(), &3.into()), "{options}");
        report["edges"].as_u64().unwrap()
    };
    let cases = [
        ("", 7),
        ("--where kind=road", 4),
        ("--where kind!=road", 3),
        ("--where weight>=4", 3),
        ("--where weight<3.5", 4),
        ("--where weight>2 --where kind=road", 2),
        ("--where weight=3", 1),
        ("--where kind=nothing", 0),
    ];
    for (options, expected) in cases {
        assert_eq!(edges(options), expected, "{options}");
    }
    let distances = place.ok("run sssp w.esker --source a --where kind=road --all-vertices -q -o -");
    assert_eq!(distances, "vertex,value\na,0\nb,3\nc,9\nd,10\ne,\n");
    let bad = [
        ("--where kind", "not a condition"),
        ("--where weight=much", "holds numbers"),
        ("--where since=3", "since"),
    ];
    for (options, words) in bad {
        let output = place.run(&format!("run wcc w.esker {options}"));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(words), "{options}: {message}");
    }
}

#[test]
fn the_reverse_reads_edges_the_other_way() {
    let place = layered();
    let distances = place.ok("run sssp w.esker --source d --reverse -q -o -");
    assert_eq!(distances, "vertex,value\na,8\nb,5\nc,1\nd,0\ne,10\n");
    let forth = place.ok("run bfs w.esker --source a --at 1 -q -o -");
    assert_eq!(forth, "vertex,value\na,0\nb,1\nc,1\nd,2\ne,\n");
    place.ok("import w.csv u.esker --undirected");
    let refused = place.run("run bfs u.esker --source a --reverse");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

#[test]
fn every_algorithm_runs_verified_on_a_selection() {
    let place = layered();
    place.ok("import w.csv u.esker --undirected --property kind");
    for entry in CATALOGUE {
        let required = entry.options.iter().filter(|option| option.required);
        let options: String = required.map(|option| format!(" --{} a", option.name)).collect();
        let (database, turned) = if entry.undirected { ("u.esker", "") } else { ("w.esker", "--reverse") };
        let line =
            format!("run {} {database}{options} --where kind=road {turned} --verify --json", entry.name);
        assert_eq!(place.json(&line)["verified"], true, "{line}");
    }
}

#[test]
fn an_export_writes_the_selected_edges_only() {
    let place = layered();
    let edges = |options: &str| {
        place.json(&format!("export w.esker w2.csv --force --json {options}"))["edges"].clone()
    };
    assert_eq!(edges(""), 7);
    assert_eq!(edges("--where kind=road"), 4);
    assert_eq!(edges("--where weight>2 --where kind=road"), 2);
    place.ok("import w2.csv again.esker --property kind --duplicates keep");
    assert_eq!(place.json("run wcc again.esker --json")["edges"], 2);
    place.fails(2, "export w.esker w2.csv --force --where weight=much", "holds numbers");
}

#[test]
fn every_command_that_reads_edges_takes_conditions_on_edges_and_ends() {
    let place = layered();
    place.file("lands.csv", "id,land,size\na,DE,1\nb,CH,2\nc,DE,3\nd,FR,\n");
    place.ok("set w.esker lands.csv");
    // The edges from a or c to a vertex that is not French.
    let condition = "(source.land='DE')and(not(target.land=FR))";
    let rows = |line: &str| place.ok(line).lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(place.json(&format!("run wcc w.esker --json --where {condition}"))["edges"], 3);
    assert_eq!(rows(&format!("export w.esker - --format csv --where {condition}")).len(), 3);
    assert_eq!(
        rows(&format!("degree w.esker a c --format csv --where {condition}")),
        ["a,3,0", "c,0,1"],
        "the edges of a that remain"
    );
    assert_eq!(rows(&format!("get w.esker a --format csv --where {condition}")), ["a,3,0,DE,1"]);
    assert_eq!(rows("neighbors w.esker a --format csv --where (target=b)and(kind=rail)"), ["a,b,5,rail"]);
    place.fails(2, "neighbors w.esker a --where \"target\"=b", "have no property \"target\"");
}

#[test]
fn names_of_ends_may_be_properties() {
    let place = Place::new();
    place.file("e.csv", "from,to,source,w\na,b,x,1\nb,c,a,2\nc,a,x,3\n");
    place.ok("import e.csv e.esker --property all");
    let ends = |options: &str| {
        let printed = place.ok(&format!("export e.esker - --format csv {options}"));
        printed.lines().skip(1).map(|line| line[..3].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ends("--where source=a"), ["a,b"]);
    assert_eq!(ends("--where \"source\"=a"), ["b,c"]);
    assert_eq!(ends("--where (source=a)or(\"source\"='a')"), ["a,b", "b,c"]);
    assert_eq!(ends("--where vertex!=a"), ["b,c"]);
    assert_eq!(ends("--where (target<'b')"), ["c,a"], "texts are compared by their bytes");
    let refused = [
        ("source.land=DE", "no property \"land\""),
        ("w='1'", "in quotes is a text"),
        ("w>1)", "\")\" cannot stand there"),
        ("\"w\"like'x'", "it holds no texts"),
        ("source==a", "one sign compares, as in source=a"),
    ];
    for (condition, said) in refused {
        place.fails(2, &format!("run wcc e.esker --where {condition}"), said);
    }
    place.ok("import e.csv u.esker --undirected --property all");
    place.fails(2, "run wcc u.esker --where source=a", "vertex stands for both ends");
    assert_eq!(place.json("run wcc u.esker --where vertex!=a --json")["edges"], 1);
    place.file("later.csv", "from,to,source,w\nc,b,y,9\n");
    place.ok("add e.esker later.csv");
    let printed = place.ok("diff e.esker 1 2 --where w>8");
    assert_eq!(printed.lines().count(), 1, "{printed}");
    assert_eq!(place.ok("diff e.esker 1 2 --where w<8"), "");
    let followed =
        place.ok("follow degrees e.esker --from 1 --once --format csv --where target=b --top 5 -q");
    assert!(followed.contains("2,") && followed.contains('b'), "{followed}");
    let path = place.ok("path e.esker a c --where w<9 --format csv");
    assert!(path.contains('b'), "{path}");
    assert!(place.ok("subgraph e.esker c --radius 1 --where w>8 --format csv").contains("c,b,9,y"));
}
