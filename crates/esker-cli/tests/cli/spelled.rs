//! Names of properties that are words of conditions, or have signs in them: in double quotes they are spelled
//! alike in every option.

use std::process::Output;

use crate::place::Place;

const NAMES: [&str; 16] = [
    "source",
    "target",
    "vertex",
    "two words",
    "a.b",
    "say \"x\"",
    "Weight",
    "it's",
    "in",
    "null",
    "id",
    "count",
    "a,b",
    "a=b",
    "a:i64",
    "[ü]",
];

/// Arguments that may have blanks.
fn run(place: &Place, arguments: &[&str]) -> Output {
    place.command("").args(arguments).output().unwrap()
}

fn ok(place: &Place, arguments: &[&str]) -> String {
    let output = run(place, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn in_quotes(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The last row of a CSV answer.
fn last(place: &Place, arguments: &[&str]) -> String {
    let mut all = arguments.to_vec();
    all.extend(["--format", "csv", "-q"]);
    ok(place, &all).lines().last().unwrap_or_default().to_owned()
}

#[test]
fn a_name_in_double_quotes_means_the_property_in_every_option() {
    let place = Place::new();
    for name in NAMES {
        let quoted = &in_quotes(name);
        place.file("e.csv", &format!("from,to,{quoted}\n1,2,5\n2,3,7\n1,3,20\n3,4,\n"));
        place.file("v.csv", &format!("node,{quoted}\n1,5\n2,7\n3,20\n"));
        let default = &format!("{quoted}=1");
        let ends = ["--src", "from", "--dst", "to", "--force", "-q"];
        let typed = format!("{quoted}:f64");
        for chosen in [
            vec!["--property", quoted, "--default", default],
            vec!["--weight", quoted, "--default", default],
            vec!["--schema", &typed, "--default", default],
            vec![
                "--property",
                quoted,
                "--property",
                if name == "a:i64" { quoted } else { name },
                "--default",
                default,
            ],
        ] {
            let mut import = vec!["import", "e.csv", "g.esker"];
            import.extend(ends);
            import.extend(chosen.iter().copied());
            ok(&place, &import);
            let known = ok(&place, &["info", "g.esker", "--json"]);
            assert!(known.contains(&serde_json::to_string(name).unwrap()), "{name} {chosen:?}: {known}");
            assert_eq!(
                last(&place, &["edges", "g.esker", "--where", &format!("{quoted} > 6"), "--count"]),
                "2",
                "{name}"
            );
            let sum = last(&place, &["edges", "g.esker", "--sum", quoted]);
            assert_eq!(sum.parse::<f64>().unwrap(), 33.0, "{name} {chosen:?}");
            let group =
                last(&place, &["edges", "g.esker", "--group-by", quoted, "--count", "--sort", quoted]);
            assert!(group.starts_with("20"), "{name}: {group}");
            let sorted = last(&place, &["edges", "g.esker", "--sort", quoted, "--top", "1"]);
            assert!(sorted.starts_with("1,3,20"), "{name}: {sorted}");
            let near = last(&place, &["neighbors", "g.esker", "1", "--sort", quoted, "--top", "1"]);
            assert!(near.contains("20"), "{name}: {near}");
            let near = last(&place, &["neighbors", "g.esker", "1", "--sum", quoted]);
            assert_eq!(near.parse::<f64>().unwrap(), 25.0, "{name}");
            let path = last(&place, &["path", "g.esker", "1", "3", "--weight", quoted]);
            assert!(path.starts_with("3,12"), "{name}: {path}");
            let far =
                ok(&place, &["run", "sssp", "g.esker", "--source", "1", "--weight", quoted, "-o", "-", "-q"]);
            assert!(far.contains("\n3,12"), "{name}: {far}");
        }
        // Of vertices, with the same name.
        ok(&place, &["set", "g.esker", "v.csv", "-q"]);
        let setting = format!("{quoted}=9");
        ok(&place, &["set", "g.esker", "--vertex", "4", &setting, "-q"]);
        let sorted = last(&place, &["vertices", "g.esker", "--sort", quoted, "--ascending"]);
        assert!(sorted.starts_with("3,20"), "{name}: {sorted}");
        let met = last(&place, &["vertices", "g.esker", "--where", &format!("{quoted} > 8"), "--count"]);
        assert_eq!(met, "2", "{name}");
        let group = last(&place, &["edges", "g.esker", "--group-by", &format!("target.{quoted}"), "--count"]);
        assert!(!group.is_empty(), "{name}");
        let met = last(&place, &["edges", "g.esker", "--where", &format!("target.{quoted} = 9"), "--count"]);
        assert_eq!(met, "1", "{name}");
        // Later edges.
        place.file("more.csv", &format!("from,to,{quoted}\n4,5,\n"));
        ok(
            &place,
            &[
                "add",
                "g.esker",
                "more.csv",
                "--src",
                "from",
                "--dst",
                "to",
                "--default",
                &format!("{quoted}=3"),
                "-q",
            ],
        );
        let added = last(&place, &["edges", "g.esker", "--where", &format!("{quoted} = 3"), "--count"]);
        assert_eq!(added, "1", "{name}");
    }
}

/// `hits` on a graph without edges has no share to give out.
#[test]
fn hits_of_a_graph_without_edges_are_zero() {
    let place = Place::new();
    place.file("none.csv", "source,target\n");
    place.file("one.csv", "source,target,w\n0,1,2\n");
    place.ok("import none.csv none.esker --vertices 3 -q");
    place.ok("import one.csv one.esker --vertices 3 --property w -q");
    let zeros = "vertex,authority,hub\n0,0,0\n1,0,0\n2,0,0\n";
    for (line, expected) in [
        ("none.esker", zeros),
        ("none.esker --as-undirected", zeros),
        ("none.esker --verify", zeros),
        ("one.esker --where w>2 --all-vertices", zeros),
        ("one.esker", "vertex,authority,hub\n0,0,1\n1,1,0\n2,0,0\n"),
    ] {
        assert_eq!(place.ok(&format!("run hits {line} -o - -q")), expected, "{line}");
    }
}
