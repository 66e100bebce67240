//! Pictures: `draw`.

use crate::place::Place;

fn friends() -> Place {
    let place = Place::new();
    place.file("friends.csv", "source,target,since\nann,bob,2019\nbob,cem,2020\ncem,ann,2020\ncem,dee,2021\ndee,eva,2022\nfay,fay,2022\n");
    place.file("people.csv", "id,age,city\nann,30,Rome\nbob,40,Rome\ncem,50,\\<b>\ndee,,Bern\n");
    place.ok("import friends.csv friends.esker --property since --vertices people.csv -q");
    place
}

/// The ids that a picture shows, in their order.
fn shown(svg: &str) -> Vec<String> {
    let labels = svg.lines().filter(|line| line.starts_with("<text") && line.contains("text-anchor"));
    let mut ids: Vec<String> =
        labels.map(|line| line.split_once('>').unwrap().1.split('<').next().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

#[test]
fn pictures_have_the_vertices_that_are_asked_for() {
    let place = friends();
    for (options, expected) in [
        ("", "ann bob cem dee eva fay"),
        ("--layout layers", "ann bob cem dee eva fay"),
        ("--ego ann", "ann bob cem"),
        ("--ego ann --hops 2 --layout layers", "ann bob cem dee"),
        ("--ego ann --hops 0 --ego eva", "ann eva"),
        ("--ego ann --hops 999999999999", "ann bob cem dee eva"),
        ("--vertices 2", "ann cem"),
        ("--ego bob --vertices 2", "bob cem"),
        ("--where since>=2021", "cem dee eva fay"),
        ("--where since<2020 --colour communities", "ann bob"),
        ("--labels 1", "cem"),
    ] {
        let svg = place.ok(&format!("draw friends.esker -q -o - {options}"));
        assert_eq!(shown(&svg).join(" "), expected, "{options}");
        assert_eq!(svg, place.ok(&format!("draw friends.esker -q {options} --threads 1")), "{options}");
    }
    let said = String::from_utf8(place.run("draw friends.esker --vertices 2 -o few.svg").stderr).unwrap();
    assert!(said.contains("2 of 6 vertices, 1 line: --vertices N shows more"), "{said}");
    // Of an older version, and without a vertex that was removed.
    place.file("gone.csv", "cem\n");
    place.ok("delete friends.esker --vertices gone.csv -q");
    assert_eq!(shown(&place.ok("draw friends.esker -q")).join(" "), "ann bob dee eva fay");
    assert_eq!(shown(&place.ok("draw friends.esker -q --at 1 --ego dee")).join(" "), "cem dee eva");
}

#[test]
fn colours_and_sizes_say_what_they_mean() {
    let place = friends();
    let svg = place.ok("draw friends.esker -q --colour city --size age --positions p.csv");
    for part in [">Rome (2)<", ">Bern (1)<", ">without a value (2)<", "age: 50", "city: \\&lt;b&gt;"] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    assert!(!svg.contains("<b>"), "{svg}");
    let positions = std::fs::read_to_string(place.path().join("p.csv")).unwrap();
    assert_eq!((positions.lines().next(), positions.lines().count()), (Some("vertex,x,y"), 7), "{positions}");
    place.fails(2, "draw friends.esker -q --size city", "a size is a number");
    place.fails(2, "draw friends.esker -q --colour town", "town");
}

#[test]
fn pictures_that_make_no_sense_are_refused() {
    let place = friends();
    place.file("there.svg", "mine");
    place.fails(2, "draw friends.esker -o a.png", "does not end in .svg");
    place.fails(1, "draw friends.esker -o there.svg", "--force");
    assert_eq!(std::fs::read_to_string(place.path().join("there.svg")).unwrap(), "mine");
    place.ok("draw friends.esker -o there.svg --force -q");
    place.fails(1, "draw friends.esker --ego zoe -o z.svg", "zoe");
    place.fails(2, "draw friends.esker --hops 2 -o z.svg", "--ego");
    place.fails(2, "draw friends.esker --vertices 0 -o z.svg", "at least one vertex");
    place.fails(
        2,
        "draw friends.esker --ego ann --ego bob --vertices 1 -o z.svg",
        "2 vertices are asked for, and 1 drawn at most",
    );
    place.fails(2, "draw friends.esker --layout layers --rounds 5 -o z.svg", "--rounds has no effect");
    place.fails(2, "draw friends.esker --layout layers --seed 5 -o z.svg", "--seed has no effect");
    place.fails(2, "draw friends.esker --where since>2030 -o z.svg", "no vertex to draw");
    place.fails(2, "draw friends.esker -o z.svg --positions z.svg", "give them different files");
    assert!(!place.path().join("z.svg").exists());
}

#[test]
fn an_edge_from_a_vertex_to_itself_is_one_edge() {
    let place = Place::new();
    place.file("loops.txt", "a a\nb b\nb b\nc d\n");
    for options in ["", "--undirected", "--no-in-edges"] {
        place.ok(&format!("import loops.txt loops.esker --duplicates keep --force {options}"));
        let svg = place.ok("draw loops.esker");
        for note in ["<title>a\n1 edge<", "<title>b\n2 edges<"] {
            assert!(svg.contains(note), "{options}: {note}: {svg}");
        }
    }
}

#[test]
fn sizes_below_zero_differ_too_and_vertices_left_out_are_said() {
    let place = Place::new();
    place.file("n.txt", "a b\nc d\nb c\n");
    place.ok("import n.txt n.esker");
    place.file("debts.csv", "id,debt\na,-100\nb,-10\nc,-1\n");
    place.ok("set n.esker debts.csv");
    let svg = place.ok("draw n.esker --size debt");
    let radius = |id: &str| -> f64 {
        let circle = svg.lines().find(|line| line.ends_with(&format!("<title>{id}"))).unwrap();
        let from = circle.split_once(" r=\"").unwrap().1;
        from[..from.find('"').unwrap()].parse().unwrap()
    };
    assert!(radius("c") > radius("b") && radius("b") > radius("a"), "{svg}");
    assert_eq!(radius("d").to_bits(), radius("a").to_bits(), "no value is as small as the least");
    let said = |options: &str| {
        let output = place.command(&format!("draw n.esker --ego a {options}")).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said("--hops 3 --vertices 2").contains("2 of at least 3 vertices"));
    assert!(said("--hops 2 --vertices 2").contains("2 of 3 vertices"));
}
