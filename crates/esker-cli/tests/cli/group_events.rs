//! Names of groups that stay from one graph to the next, and what becomes of groups.

use crate::place::Place;

/// Versions in which a group splits, and a part of it merges with another, and windows of the same.
fn history() -> Place {
    let place = Place::new();
    place.file("a.csv", "from,to,sent\na,b,1\nb,c,1\nc,d,1\nx,y,1\n");
    place.ok("import a.csv g.esker --time sent");
    place.file("gone.csv", "from,to\nb,c\n");
    place.ok("delete g.esker gone.csv");
    place.file("more.csv", "from,to,sent\nd,x,3\n");
    place.ok("add g.esker more.csv");
    place
}

#[test]
fn groups_of_versions_appear_split_merge_and_persist() {
    let place = history();
    assert_eq!(
        place.ok("run wcc g.esker --each-version --events --format csv -q"),
        "version,event,group,vertices,before,other,shared\n\
         1,appears,a,4,0,,0\n\
         1,appears,x,2,0,,0\n\
         2,persists,a,2,4,,2\n\
         2,splits,c,2,0,a,2\n\
         3,merges,x,0,2,c,2\n\
         3,persists,c,4,2,,2\n"
    );
    let named = "run wcc g.esker --versions 2..3 --keep-names --top 2 --format csv -q";
    assert_eq!(place.ok(named), "version,component,vertices\n2,a,2\n2,c,2\n3,c,4\n3,a,2\n");
    // A file beside the events has the same names.
    place.ok("run wcc g.esker --each-version --events -o all.csv -q");
    let values = std::fs::read_to_string(place.path().join("all.csv")).unwrap();
    assert!(values.contains("3,x,c\n") && values.contains("3,y,c\n"), "{values}");
}

#[test]
fn names_go_from_window_to_window() {
    let place = Place::new();
    // Vertex a names its group, leaves it, and then has another.
    place.file("a.csv", "from,to,sent\na,b,1\nb,c,1\nc,d,1\nb,c,2\nc,d,2\nb,c,3\nc,d,3\na,x,3\n");
    place.ok("import a.csv g.esker --time sent --duplicates keep");
    let windows = "window wcc g.esker --length 1s --every 1s --format csv -q";
    let names = |more: &str| {
        let rows = place.ok(&format!("{windows} {more}"));
        let names = rows.lines().skip(1).map(|row| row.split(',').nth(2).unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names("--top 5"), ["a", "b", "b", "a"]);
    assert_eq!(names("--top 5 --keep-names"), ["a", "a", "a", "x"]);
    let events = place.ok(&format!("{windows} --events"));
    let told = |row: &str| row.split(',').skip(2).map(str::to_owned).collect::<Vec<_>>().join(",");
    assert_eq!(
        events.lines().map(told).collect::<Vec<_>>(),
        [
            "event,group,vertices,before,other,shared",
            "appears,a,4,0,,0",
            "persists,a,3,4,,3",
            "appears,x,2,0,,0"
        ]
    );
}

#[test]
fn a_name_passes_to_no_other_group_at_once() {
    let place = Place::new();
    place.file("a.csv", "1,2\n2,3\n4,5\n5,6\n");
    place.ok("import a.csv q.esker --undirected --order keep");
    place.file("change.txt", "- 1 2\n+ 3 4\n+ 1 7\n+ 7 8\n");
    place.ok("commit q.esker change.txt");
    let events = place.ok("run wcc q.esker --each-version --events --format csv -q");
    let last: Vec<_> = events.lines().filter(|line| line.starts_with("2,")).collect();
    assert_eq!(last, ["2,merges,1,0,3,4,2", "2,persists,4,5,3,,3", "2,appears,7,3,0,,0"]);
    // Labels of `cdlp` are ids.
    let named = place.ok("run cdlp q.esker --each-version --keep-names --top 1 --format csv -q");
    assert!(named.starts_with("version,community,vertices\n1,"), "{named}");
}

#[test]
fn both_options_are_refused_where_they_have_no_effect() {
    let place = history();
    place.fails(2, "run wcc g.esker --events", "--each-version");
    place.fails(2, "run wcc g.esker --keep-names", "--each-version");
    place.fails(2, "run pagerank g.esker --each-version --events", "named by their members");
    place.fails(2, "window colouring g.esker --length 1 --keep-names --top 1", "named by their members");
    place.fails(2, "run wcc g.esker --each-version --events -o -", "standard output");
    place.fails(2, "run wcc g.esker --each-version --events --top 3", "--top");
    place.fails(2, "run wcc g.esker --each-version --keep-names", "--top N");
    place.fails(2, "window wcc g.esker --length 1 --keep-names", "--top N");
    place.fails(2, "run wcc g.esker --compare 1 2 --events", "needs several graphs");
    let alerting = "window wcc g.esker --length 1 --follow --alert size>1 --events";
    place.fails(2, alerting, "--events has no effect: alerts are printed in place of rows");
}
