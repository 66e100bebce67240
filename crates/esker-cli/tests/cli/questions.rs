//! Small questions: vertices, edges, paths, distributions, several versions at once.

use crate::place::Place;

/// A directed weighted graph of five vertices in three versions, with a vertex property.
fn town() -> Place {
    let place = Place::new();
    place.file("w.csv", "from,to,weight,kind\na,b,3,road\nb,c,4,rail\na,c,9,road\nc,d,1,road\ne,a,2,rail\n");
    place.file("more.csv", "from,to,weight,kind\nd,a,1,road\n");
    place.file("gone.csv", "from,to\na,b\nb,c\n");
    place.file("ages.csv", "id,age\na,7\nb,8\n");
    place.ok("import w.csv w.esker --property kind");
    place.ok("add w.esker more.csv");
    place.ok("delete w.esker gone.csv");
    place
}

#[test]
fn vertices_and_their_edges() {
    let place = town();
    place.ok("set w.esker ages.csv");
    assert_eq!(place.ok("get w.esker a --format csv"), "vertex,out_degree,in_degree,age\na,1,2,7\n");
    assert_eq!(
        place.ok("degree w.esker a c --at 1 --format csv"),
        "vertex,out_degree,in_degree\na,2,1\nc,1,2\n"
    );
    let edges = place.ok("neighbors w.esker a --at 1 --format csv");
    assert_eq!(edges, "source,target,weight,kind\na,b,3,road\na,c,9,road\n");
    let edges = place.json("neighbors w.esker a --direction in --json");
    let sources: Vec<&str> =
        edges.as_array().unwrap().iter().map(|edge| edge["source"].as_str().unwrap()).collect();
    assert!(sources.len() == 2 && sources.contains(&"d") && sources.contains(&"e"), "{edges}");
    let table = place.ok("neighbors w.esker c");
    assert_eq!(table, "source  target  weight  kind\nc       d            1  road\n");
    for (line, words) in
        [("get w.esker q", "no vertex has the id"), ("neighbors w.esker a --at 9", "no version 9")]
    {
        let output = place.run(line);
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(words), "{output:?}");
    }
    place.ok("import w.csv half.esker --no-in-edges");
    let refused = place.run("neighbors half.esker a --direction in");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert_eq!(place.ok("degree half.esker a --format csv"), "vertex,out_degree,in_degree\na,2,\n");
}

#[test]
fn edges_of_vertices_are_sorted_cut_and_added_up() {
    let place = town();
    place.file(
        "pay.csv",
        "from,to,amount,rate\na,e,5,0.5\na,b,,1.5\na,c,7,\na,d,5,2\nb,a,9223372036854775807,1\nc,a,9223372036854775807,1\nd,a,2,1\n",
    );
    place.ok("import pay.csv p.esker --property all");
    let rows = |options: &str| place.ok(&format!("neighbors p.esker {options} --format csv"));
    let csv = |rows: &str| format!("source,target,amount,rate\n{rows}");
    assert_eq!(rows("a --sort amount"), csv("a,c,7,\na,d,5,2.0\na,e,5,0.5\na,b,,1.5\n"));
    assert_eq!(rows("a --sort amount --ascending --top 2"), csv("a,d,5,2.0\na,e,5,0.5\n"));
    assert_eq!(rows("a --sort target --ascending --top 1"), csv("a,b,,1.5\n"));
    let cut = place.run("neighbors p.esker a --sort rate --top 1");
    assert!(String::from_utf8_lossy(&cut.stderr).contains("the first 1 of 4 edges"), "{cut:?}");
    assert!(place.run("neighbors p.esker a --top 4").stderr.is_empty());
    assert_eq!(rows("a --sum amount --sum rate --count"), "sum_amount,sum_rate,count\n17,4.0,4\n");
    assert_eq!(rows("a --direction both --count --where amount>2"), "count\n5\n");
    assert_eq!(rows("e --sum amount --count --max rate"), "sum_amount,max_rate,count\n,,0\n");
    // An edge between two of the vertices counts once, and so does a vertex.
    assert_eq!(rows("a e a --direction both --count"), "count\n7\n");
    assert_eq!(rows("a d a --direction both --sum rate"), rows("d a --direction both --sum rate"));
    let all = place.ok("edges p.esker --count --sum rate --format csv");
    assert_eq!(rows("a b c d e --direction both --count --sum rate"), all);
    assert_eq!(rows("b --sum amount"), "sum_amount\n9223372036854775807\n");
    assert_eq!(rows("b c --sum amount"), "sum_amount\n18446744073709551614\n");
    for (code, options, words) in [
        (2, "b c d --sum amount", "does not fit in 64 bits"),
        (2, "a --sum target", "no property"),
        (2, "a --sum amount --sum amount", "would be there twice"),
        (2, "a --sort nothing", "there is no column"),
        (2, "a --ascending", "need --sort"),
        (2, "a --count --top 3", "have no effect on --count"),
        (1, "a q --count", "no vertex has the id"),
    ] {
        place.fails(code, &format!("neighbors p.esker {options}"), words);
    }
    place.ok("import pay.csv u.esker --property all --undirected");
    let all = place.ok("edges u.esker --count --format csv");
    assert_eq!(place.ok("neighbors u.esker e d c b a --count --format csv"), all);
}

#[test]
fn searches_stop_at_a_depth_or_a_target() {
    let place = town();
    let bfs =
        |options: &str| place.ok(&format!("run bfs w.esker --source e --verify --quiet -o - {options}"));
    assert_eq!(bfs("--max-depth 1"), "vertex,value\na,1\nb,\nc,\nd,\ne,0\n");
    assert_eq!(bfs("--target c"), "vertex,value\na,1\nb,\nc,2\nd,\ne,0\n");
    assert_eq!(bfs("--target b --max-depth 9"), "vertex,value\na,1\nb,\nc,2\nd,3\ne,0\n");
    let sssp = place.ok("run sssp w.esker --source e --target c --parents --verify --quiet -o -");
    assert_eq!(sssp, "vertex,distance,parent\na,2,e\nb,,\nc,11,a\nd,,\ne,0,e\n");
    for thresholds in ["--alpha 4096", "--beta 0.001", "--alpha 1e-9 --beta 4"] {
        assert_eq!(bfs(thresholds), bfs(""), "{thresholds}");
    }
    let zero = place.run("run bfs w.esker --source e --alpha 0");
    assert!(String::from_utf8_lossy(&zero.stderr).contains("--alpha takes a number above 0"), "{zero:?}");
    let deep = place.run("run bfs w.esker --source e --max-depth -1");
    assert_eq!(deep.status.code(), Some(2), "{deep:?}");
    let missing = place.run("run bfs w.esker --source e --target q");
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no vertex has the id"), "{missing:?}");
}

#[test]
fn paths_follow_weights_or_steps_and_versions() {
    let place = town();
    let path = |options: &str| place.ok(&format!("path w.esker a d --format csv {options}"));
    assert_eq!(path("--at 1 --weight weight"), "vertex,distance\na,0\nb,3\nc,7\nd,8\n");
    assert_eq!(path("--weight weight"), "vertex,distance\na,0\nc,9\nd,10\n");
    assert_eq!(path("--at 1"), "vertex,steps\na,0\nc,1\nd,2\n");
    let two = path("--at 1 --k 5 --weight weight");
    assert_eq!(two, "path,vertex,distance\n1,a,0\n1,b,3\n1,c,7\n1,d,8\n2,a,0\n2,c,9\n2,d,10\n");
    let none = place.run("path w.esker d a --at 1");
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no path leads from \"d\" to \"a\""), "{none:?}");
    assert_eq!(none.stdout, b"");
    let none = place.run("path w.esker d a --at 1 --json");
    assert_eq!(
        (none.status.code(), none.stdout),
        (Some(1), b"[]\n".to_vec()),
        "a program reads an answer without paths"
    );
    let text = place.run("path w.esker a d --weight kind");
    assert_eq!(text.status.code(), Some(2), "{text:?}");
}

#[test]
fn paths_avoid_vertices_keep_to_steps_and_take_every_view() {
    let place = town();
    let path = |options: &str| place.ok(&format!("path w.esker --at 1 --format csv {options}"));
    assert_eq!(path("a d --weight weight --avoid b"), "vertex,distance\na,0\nc,9\nd,10\n");
    assert_eq!(path("a d --weight weight --max-steps 2"), "vertex,distance\na,0\nc,9\nd,10\n");
    assert_eq!(path("d a --reverse"), "vertex,steps\nd,0\nc,1\na,2\n");
    assert_eq!(path("d e --as-undirected --avoid b"), "vertex,steps\nd,0\nc,1\na,2\ne,3\n");
    let windowed = "a b --weight weight --window 6 --time weight --as-undirected --kind rail,road";
    place.ok("import w.csv k.esker --kind kind");
    let found = place.ok(&format!("path k.esker {windowed} --format csv"));
    assert_eq!(found, "vertex,distance\na,0\nc,9\nb,13\n");
    place.fails(1, &format!("path k.esker {windowed} --where weight<>9"), "no path leads");
    for (code, line, words) in [
        (1, "a d --max-steps 1", "no path of at most 1 step leads from \"a\" to \"d\""),
        (
            1,
            "a d --avoid c --max-steps 9",
            "no path of at most 9 steps leads from \"a\" to \"d\" without \"c\"",
        ),
        (1, "a d --avoid b,c", "no path leads from \"a\" to \"d\" without \"b\", \"c\""),
        (2, "a d --avoid b,d", "\"d\" is an end of the paths"),
        (1, "a d --avoid q", "no vertex has the id \"q\""),
        (2, "a d --time weight", "--window"),
        (2, "a d --all-vertices --kind road", "--all-vertices has no effect on single edges"),
        (2, "a d --window 4 --time weight --copies distinct", "has no single ones"),
        (2, "a d --steps", "--steps"),
    ] {
        place.fails(code, &format!("path w.esker --at 1 {line}"), words);
    }
    place.ok("import w.csv half.esker --no-in-edges");
    place.fails(2, "path half.esker d a --reverse", "no in-edges");
    place.ok("import w.csv u.esker --undirected");
    assert_eq!(place.ok("path u.esker d e --avoid b --format csv"), "vertex,steps\nd,0\nc,1\na,2\ne,3\n");
    place.fails(2, "path u.esker d e --reverse", "the graph is undirected");
    place.file("n.csv", "source,target,weight\n\"x,y\",b,1\nb,c,1\n");
    place.ok("import n.csv n.esker");
    assert_eq!(place.ok("path n.esker b c --avoid \"x,y\" --format csv"), "vertex,steps\nb,0\nc,1\n");
}

#[test]
fn a_subgraph_can_be_imported_again() {
    let place = town();
    let near = place.ok("subgraph w.esker d --radius 1 --format csv --at 2");
    assert_eq!(near.lines().count(), 4, "{near}"); // a, c, d: a-c, c-d, d-a
    place.file("near.csv", &near);
    place.ok("import near.csv near.esker");
    assert_eq!(place.json("info near.esker --json")["vertices"], 3);
    assert_eq!(place.ok("subgraph w.esker a b --at 1 -q --format csv").lines().count(), 2);
}

#[test]
fn several_versions_make_one_table() {
    let place = town();
    let table = place.ok("run wcc w.esker --each-version -q --format csv");
    assert_eq!(table, "version,vertices,edges,components\n1,5,5,1\n2,5,6,1\n3,5,4,2\n");
    let table = place.ok("run bfs w.esker --source a --versions 2..3 --top 1 -q --format csv");
    assert_eq!(table, "version,vertex,value\n2,d,2\n3,d,2\n");
    let figures = place.json("run wcc w.esker --versions 2..3 --json");
    let of = |version, edges, components| serde_json::json!({ "version": version, "vertices": 5, "edges": edges, "components": components });
    assert_eq!(figures, serde_json::json!([of(2, 6, 1), of(3, 4, 2)]));
    let rows = place.json("run bfs w.esker --source a --each-version --top 1 --json");
    assert_eq!(rows[1], serde_json::json!({ "version": 2, "vertex": "d", "value": 2 }));
    place.fails(2, "run wcc w.esker --each-version --json --format csv", "leave out --json or --format");
    place.fails(1, "run triangles w.esker --versions 3..99", "there is no version 99");
    let figures = place.ok("run triangles w.esker --versions 3..3 -q");
    assert!(
        figures.lines().count() == 2 && figures.starts_with("version  vertices  edges  triangles"),
        "{figures}"
    );
    for (code, options) in
        [(1, "--versions 7..9"), (2, "--versions 3..2"), (2, "--versions x"), (2, "--versions 1..2 --at 1")]
    {
        assert_eq!(place.run(&format!("run wcc w.esker {options}")).status.code(), Some(code), "{options}");
    }
    assert_eq!(place.run("run wcc w.csv --each-version").status.code(), Some(1));
}

#[test]
fn values_of_several_versions_make_one_file() {
    let place = town();
    place.file("late.csv", "from,to,weight,kind\nf,a,1,road\n");
    place.ok("add w.esker late.csv"); // a vertex that earlier versions do not have
    let values =
        "version,vertex,value\n3,a,0\n3,b,\n3,c,1\n3,d,2\n3,e,\n4,a,0\n4,b,\n4,c,1\n4,d,2\n4,e,\n4,f,\n";
    // Together, and one by one.
    for options in ["", "--verify"] {
        let run = format!("run bfs w.esker --source a --versions 3..4 -q {options}");
        assert_eq!(place.ok(&format!("{run} --output -")), values, "{options}");
        let table = place.ok(&format!("{run} --format csv --force --output bfs.csv"));
        assert_eq!(table, "version,vertices,edges,reached\n3,5,4,3\n4,6,5,3\n", "{options}");
        let file = std::fs::read_to_string(place.path().join("bfs.csv")).unwrap();
        assert_eq!(file, values, "{options}");
        let rows = place.ok(&format!("{run} --output - --format jsonl"));
        assert_eq!(rows.lines().nth(2), Some("{\"value\":1,\"version\":3,\"vertex\":\"c\"}"), "{options}");
    }
    // No edge differs, so the second is not peeled.
    place.ok("set w.esker ages.csv");
    let cores = |version| {
        format!("{version},a,2\n{version},b,0\n{version},c,2\n{version},d,2\n{version},e,1\n{version},f,1\n")
    };
    let of_both = format!("version,vertex,value\n{}{}", cores(4), cores(5));
    assert_eq!(place.ok("run kcore w.esker --versions 4..5 -q --output -"), of_both);
    let top = place.ok("run degrees w.esker --each-version -q --top 1 --output degrees.parquet --format csv");
    assert!(top.starts_with("version,vertex,value\n1,"), "{top}");
    assert!(place.path().join("degrees.parquet").exists());
    place.fails(2, "run wcc w.esker --each-version --output wcc.npy", "which step a row is of");
    place.fails(2, "run triangles w.esker --each-version --output t.csv", "figures only");
    place.fails(
        2,
        "run wcc w.esker --each-version --output - --json --format csv",
        "leave out --json or --format",
    );
    place.fails(1, "run wcc w.esker --each-version --output bfs.csv", "exists already");
    place.fails(2, "run wcc w.esker --each-version --explain", "name one version with --at");
}

#[test]
fn a_range_of_versions_is_forgotten() {
    let place = town();
    place.ok("set w.esker ages.csv");
    let report = place.json("forget w.esker 2-3 --json");
    assert_eq!(report["forgotten"], serde_json::json!([2, 3]));
    assert_eq!(place.json("log w.esker --json")["versions"].as_array().unwrap().len(), 2);
    assert_eq!(place.run("forget w.esker 2-3").status.code(), Some(1));
    assert_eq!(place.run("forget w.esker 3..2").status.code(), Some(2));
}

#[test]
fn distributions_are_shown_as_bars() {
    let place = town();
    let degrees = place.ok("degree w.esker --at 1");
    let lines: Vec<&str> = degrees.lines().collect();
    assert_eq!(lines[0], "degree  count  share");
    assert!(lines[1].trim_start().starts_with("0") && lines[2].ends_with("########"), "{degrees}");
    assert_eq!(
        place.ok("degree w.esker --at 1 --format csv"),
        "degree,count,share\n0,1,0.2\n1,3,0.6\n2,1,0.2\n"
    );
    let depths = place.ok("run bfs w.esker --source c --histogram -q --format csv --at 1");
    assert_eq!(depths, "depth,count,share\n0,1,0.2\n1,1,0.2\nnone,3,0.6\n");
    let depths = place.ok("run bfs w.esker --source c --histogram -q --format jsonl --at 1");
    let depths: Vec<serde_json::Value> =
        depths.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&depths[0]["depth"], &depths[2]["depth"]), (&0.into(), &serde_json::Value::Null));
    let sizes = place.ok("run wcc w.esker --histogram -q --format csv");
    assert_eq!(sizes, "vertices,count,share\n1,1,0.5\n4,1,0.5\n");
    assert!(place.ok("run pagerank w.esker --histogram").contains(" to "));
    assert_eq!(place.run("run triangles w.esker --histogram").status.code(), Some(2));
}

#[test]
fn a_length_is_exact_or_refused() {
    let place = Place::new();
    place.file("far.csv", "from,to,far\nc,f,1e308\nf,g,1e308\nc,h,1e308\n");
    place.ok("import far.csv far.esker --no-weight --property far");
    place.fails(1, "path far.esker c g --weight far", "does not fit in a double");
    let rows = place.ok("path far.esker c h --weight far --format csv");
    assert_eq!(rows.trim_end().rsplit(',').next().unwrap().parse(), Ok(1e308));
    let most = u64::MAX;
    place.file("long.csv", &format!("from,to,long\na,b,{most}\na,x,{}\nx,b,1\nb,z,{most}\n", most - 2));
    place.ok("import long.csv long.esker --no-weight --schema long:u64");
    let rows = place.ok("path long.esker a b --weight long --count 2 --format csv");
    let lengths: Vec<_> =
        rows.lines().filter_map(|row| row.split_once(",b,")).map(|(_, length)| length).collect();
    assert_eq!(lengths, [(most - 1).to_string(), most.to_string()]);
    let beyond = u128::from(most) * 2 - 1;
    assert!(place.ok("path long.esker a z --weight long --format csv").ends_with(&format!("z,{beyond}\n")));
}

/// Steps and measures keep their names.
#[test]
fn a_property_that_is_called_like_a_column_of_groups_has_another_name() {
    let place = Place::new();
    place.file("c.csv", "from,to,until,count,sum_w,w\n1,2,6,7,8,1\n1,3,1,7,9,2\n");
    place.ok(
        "import c.csv c.esker --no-weight --property until --property count --property sum_w --property w",
    );
    let first = |line: &str| place.ok(line).lines().take(2).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        first("edges c.esker --every 2 --time until --time-unit s --group-by until --count --format csv"),
        ["property.until,until,count", "1,1970-01-01T00:00:02Z,1"]
    );
    assert_eq!(
        first("edges c.esker --group-by count --count --sum w --format csv"),
        ["property.count,sum_w,count", "7,3,2"]
    );
    place.fails(2, "edges c.esker --group-by w,w --count", "would be there twice");
    // A row of one field without a value is no empty line, which readers skip.
    place.file("one.csv", "from,to,w\na,b,\n");
    place.ok("import one.csv one.esker --no-weight --schema w:i64");
    assert_eq!(place.ok("edges one.esker --min w --format csv"), "min_w\n\"\"\n");
}

/// Each was ignored, or told something untrue.
#[test]
fn questions_say_what_has_no_effect_and_why_nothing_is_left() {
    let place = Place::new();
    place.file("e.csv", "src,dst,amount\na,b,1e308\na,c,1e308\na,d,1e308\n");
    place.ok("import e.csv g.esker --property amount");
    place.ok("import e.csv u.esker --undirected");
    assert!(place.ok("edges g.esker --mean amount --format csv").contains("1e+308"));
    place.fails(2, "edges g.esker --sum amount", "a sum of \"amount\" does not fit in a float");
    for line in [
        "degree u.esker --direction in",
        "neighbors u.esker a --direction both",
        "subgraph u.esker a --radius 1 --direction out",
    ] {
        place.fails(2, line, "--direction has no effect: the edges of an undirected graph have no direction");
    }
    place.fails(2, "subgraph g.esker a --radius 0 --direction out", "--radius 0, which takes no steps");
    place.ok("subgraph g.esker a --radius 1 --direction out");
    for (choice, told) in [
        ("--what-if-without a", "No edge is left beside those of the vertices that are left out"),
        ("--where amount<1", "No edge meets the conditions"),
        (
            "--where amount<1 --what-if-without a",
            "No edge meets the conditions beside those of the vertices that are left out",
        ),
    ] {
        let output = place.run(&format!("run wcc g.esker {choice}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(told), "{choice}: {said}");
    }
    place.fails(2, "follow path g.esker", "path is a command of its own, not an algorithm");
    let output = place.run("follow pat g.esker");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("did you mean"), "{output:?}");
    place.fails(2, "follow pagernak g.esker", "did you mean pagerank?");
}
