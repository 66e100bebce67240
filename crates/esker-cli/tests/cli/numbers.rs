//! Numbers that no type holds are not rounded in silence.

use crate::place::Place;

#[test]
fn an_integer_beyond_64_bits_is_refused_with_its_line_or_kept_as_text() {
    let place = Place::new();
    let file = "source,target,weight\n1,2,5\n2,3,12345678901234567890123\n";
    place.file("long.csv", file);
    place.fails(1, "import long.csv a.esker", "long.csv:3: weight is an integer beyond 64 bits");
    place.fails(
        1,
        "import long.csv a.esker --no-weight --property weight:number",
        "long.csv:3: weight is an integer beyond",
    );
    place.ok("import long.csv a.esker --no-weight --property weight:text");
    assert_eq!(place.ok("export a.esker - --format csv").lines().nth(2), Some("2,3,12345678901234567890123"));
    let skipped = place.run("import long.csv b.esker --bad-lines skip");
    assert!(skipped.status.success());
    assert_eq!(place.json("info b.esker --json")["edges"], 1);
    // One that is a float exactly is one, and what is written with an exponent may be rounded.
    place.file(
        "exact.csv",
        "source,target,weight\n1,2,18446744073709551616\n2,3,1.2345678901234567890123e22\n",
    );
    place.ok("import exact.csv c.esker");
    place.file(
        "edges.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 99999999999999999999\n",
    );
    place.fails(1, "import edges.mtx d.esker", "edges.mtx:3: ");
    place.file("edges.metis", "2 1 1\n2 99999999999999999999\n1 99999999999999999999\n");
    place.fails(1, "import edges.metis d.esker --format metis", "the weight is an integer beyond 64 bits");
}

#[test]
fn an_integer_that_no_float_equals_is_refused_beside_fractions() {
    let place = Place::new();
    place.file("late.csv", "source,target,weight\n1,2,0.5\n2,3,9007199254740993\n3,4,1\n");
    let late =
        "late.csv:3: weight is 9007199254740993, an integer beyond 2^53, but lines before it have fractions";
    place.fails(1, "import late.csv a.esker", late);
    place.fails(1, "import late.csv a.esker --bad-lines skip", late);
    place.file("early.csv", "source,target,weight\n1,2,9007199254740993\n2,3,5\n3,4,0.5\n");
    place.fails(
        1,
        "import early.csv a.esker",
        "early.csv:4: weight is 0.5, but a line before it has 9007199254740993",
    );
    place.file("named.csv", "kind,source,target,x\na,1,2,0.5\nb,2,3,9007199254740993\n");
    place.fails(
        1,
        "import named.csv a.esker --property all",
        "named.csv:3: x is 9007199254740993, an integer beyond",
    );
    place.file("w.metis", "2 1 1\n2 0.5\n1 9007199254740993\n");
    place.fails(
        1,
        "import w.metis a.esker --format metis",
        "w.metis:3: weight is 9007199254740993, an integer beyond",
    );
    place.file("w.adj", "WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n0.5\n9007199254740993\n");
    place.fails(1, "import w.adj a.esker --format adj", "weight is 9007199254740993, an integer beyond");
    // In two blocks, in either order.
    let mut far = String::from("source,target,weight\n1,2,9007199254740993\n");
    far.extend((0..200_000).map(|i| format!("{i},{},1\n", i + 1)));
    far.push_str("1,2,0.5\n");
    place.file("far.csv", &far);
    let reason = "weight is 9007199254740993, an integer beyond 2^53, but other lines have fractions";
    place.fails(1, "import far.csv a.esker", &format!("far.csv:2: {reason}"));
    let mut last = String::from("source,target,weight\n1,2,0.5\n");
    last.extend((0..200_000).map(|i| format!("{i},{},1\n", i + 1)));
    last.push_str("1,2,9007199254740993\n1,2,9007199254740995\n");
    place.file("last.csv", &last);
    place.fails(1, "import last.csv a.esker", &format!("last.csv:200003: {reason}"));
    // Where rounding is allowed, it is done.
    place.ok("import late.csv b.esker --schema weight:f64");
    place.ok("import late.csv t.esker --no-weight --schema weight:text");
    assert_eq!(place.ok("export b.esker - --format csv").lines().nth(2), Some("2,3,9.007199254740992e15"));
    place.file("more.csv", "source,target,weight\n7,8,9007199254740993\n");
    let told = place.run("add b.esker more.csv");
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.contains("more.csv:2: cannot add the edge from 7 to 8"), "{told}");
    assert!(told.contains("the integer 9007199254740993 is not exactly"), "{told}");
    place.fails(1, "add b.esker late.csv", "late.csv:3: weight is 9007199254740993, an integer beyond 2^53");
    place.file("script", "+ 2 3 weight=9007199254740993\n");
    place.fails(
        1,
        "commit b.esker script",
        "script:1: property \"weight\" holds numbers of 64 bits, which the integer",
    );
    place.file("may.csv", "source,target,weight\n7,8,9007199254740993e0\n");
    place.ok("add b.esker may.csv");
    // A number with a point is a floating-point number, rounded as 0.1 is.
    place.file("point.csv", "source,target,weight\n1,2,9007199254740993.0\n1,2,0.5\n");
    place.ok("import point.csv p.esker --duplicates keep");
    let exported = place.ok("export p.esker - --format csv");
    assert!(exported.contains("1,2,9.007199254740992e15\n"), "{exported}");
    // So is a sum of such numbers.
    place.file("sum.csv", "source,target,weight\n1,2,9007199254740992.0\n1,2,1.0\n3,4,0.5\n");
    place.ok("import sum.csv s.esker --duplicates sum");
    let exported = place.ok("export s.esker - --format csv");
    assert!(exported.contains("1,2,9.007199254740992e15\n"), "{exported}");
    place.file("whole.csv", "source,target,weight\n1,2,9007199254740992\n1,2,1\n");
    place.ok("import whole.csv w.esker --duplicates sum");
    assert!(place.ok("export w.esker - --format csv").contains("1,2,9007199254740993\n"));
}

#[test]
fn unsigned_integers_of_64_bits_go_in_and_come_out_as_they_are() {
    let place = Place::new();
    let rows = "1,2,18446744073709551615\n2,3,9223372036854775808\n3,4,5\n";
    place.file("a.csv", &format!("source,target,hash\n{rows}"));
    place.fails(
        1,
        "import a.csv a.esker --property hash:number",
        "a.csv:2: hash is an integer beyond 64 bits",
    );
    place.ok("import a.csv a.esker --schema hash:u64");
    place.file("b.csv", "source,target,hash\n4,5,18446744073709551614\n");
    place.ok("add a.esker b.csv");
    let all = format!("source,target,hash\n{rows}4,5,18446744073709551614\n");
    assert_eq!(place.ok("export a.esker - --format csv"), all);
    for format in ["parquet", "arrow"] {
        place.ok(&format!("export a.esker a.{format}"));
        place.ok(&format!("import a.{format} {format}.esker --property all"));
        assert_eq!(place.ok(&format!("export {format}.esker - --format csv")), all, "{format}");
        place.ok(&format!("add {format}.esker a.{format}"));
    }
    let large =
        "source,target,hash\n1,2,18446744073709551615\n2,3,9223372036854775808\n4,5,18446744073709551614\n";
    assert_eq!(place.ok("export a.esker - --format csv --where hash>=9223372036854775808"), large);
    place.file("minus.csv", "source,target,hash\n4,5,-1\n");
    place.fails(
        1,
        "import minus.csv b.esker --schema hash:u64",
        "minus.csv:2: hash, of type u64, is not an integer from 0 to 18446744073709551615",
    );
}

#[test]
fn a_large_whole_float_keeps_its_value_from_diff_to_commit() {
    let place = Place::new();
    place.file("a.wel", "1 2 0.5\n");
    place.file("b.wel", "1 3 36028797018963968.0\n");
    place.ok("import a.wel x.esker");
    place.ok("import a.wel y.esker");
    place.ok("add x.esker b.wel");
    let script = place.ok("diff x.esker 1 2");
    assert!(script.contains("weight=3.602879701896397e16"), "{script}");
    place.file("script", &script);
    place.ok("commit y.esker script");
    let edges = place.ok("export x.esker - --format csv");
    assert_eq!(edges, place.ok("export y.esker - --format csv"));
}

#[test]
fn unsigned_properties_get_wider_types_like_others() {
    let place = Place::new();
    place.file("a.csv", "source,target,a,b,c\n1,2,3,4,5\n");
    place.ok("import a.csv a.esker --schema a:u8,b:u16,c:u32");
    place.file("b.csv", "source,target,a,b,c\n2,3,256,70000,-1\n3,4,1,0.5,4294967296\n");
    place.ok("add a.esker b.csv");
    let types = place.json("info a.esker --json");
    let edges: Vec<String> = place.ok("export a.esker - --format csv").lines().map(str::to_owned).collect();
    assert_eq!(edges[1..], ["1,2,3,4.0,5", "2,3,256,70000.0,-1", "3,4,1,0.5,4294967296"], "{types}");
}

#[test]
fn numbers_too_large_or_too_small_for_a_float_are_refused_with_their_line() {
    let place = Place::new();
    place.file("large.csv", "source,target,weight\n1,2,5\n2,3,-1e400\n");
    place.fails(1, "import large.csv a.esker", "large.csv:3: weight is not a finite number");
    place.file("small.csv", "source,target,weight\n1,2,5.5\n2,3,1e-400\n");
    place.fails(1, "import small.csv a.esker", "small.csv:3: weight is closer to 0 than a number can be");
}

#[test]
fn additions_and_scripts_refuse_numbers_that_their_property_cannot_hold() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\n1,2,0.5\n");
    place.ok("import a.csv a.esker");
    place.file("long.csv", "source,target,weight\n2,3,12345678901234567890123\n");
    place.fails(1, "add a.esker long.csv", "long.csv:2: weight is an integer beyond 64 bits");
    for value in ["12345678901234567890123", "1e400", "1e-400"] {
        place.file("script", &format!("+ 2 3 weight={value}\n"));
        place.fails(1, "commit a.esker script", "script:1:");
    }
    assert_eq!(place.json("log a.esker --json")["versions"].as_array().unwrap().len(), 1);
}

#[test]
fn the_greatest_widths_are_values_and_distances_that_overflow_are_refused() {
    let place = Place::new();
    for most in [i64::from(i32::MAX), i64::MAX] {
        place.file("w.csv", &format!("source,target,weight\n0,1,{most}\n1,2,5\n3,2,{most}\n"));
        place.ok("import w.csv w.esker --force");
        for method in ["buckets", "rounds"] {
            let widths = format!("vertex,value\n0,\n1,{most}\n2,5\n3,\n");
            let line = format!("run widest w.esker --source 0 --output - --verify --method {method}");
            assert_eq!(place.ok(&line), widths);
        }
        place.file("more.csv", &format!("source,target,weight\n1,3,{most}\n"));
        place.ok("add w.esker more.csv");
        let rows = place.ok("follow widest w.esker --from 1 --once --format csv -p source=0");
        assert_eq!(rows, format!("version,vertex,old,new\n2,2,5,{most}\n2,3,,{most}\n"));
    }
    place.file("least.csv", "source,target,weight\n0,1,-9223372036854775808\n");
    place.ok("import least.csv least.esker");
    place.fails(1, "run bellman-ford least.esker --source 0", "a distance overflows");
    place.file("large.csv", "source,target,weight\n0,1,1.7e308\n1,2,1.7e308\n");
    place.ok("import large.csv large.esker");
    place.fails(1, "run bellman-ford large.esker --source 0", "a distance overflows");
    place.fails(1, "run sssp large.esker --source 0", "a distance does not fit in a double");
}

/// What a script says of a value decides its type where a property is new, and `-0` would be the integer 0.
#[test]
fn floats_of_a_difference_are_floats_where_it_is_committed() {
    let place = Place::new();
    place.file("m.csv", "source,target,w\nx,y,1.5\n");
    for name in ["a.esker", "b.esker"] {
        place.ok(&format!("import m.csv {name}"));
    }
    place.file(
        "script",
        "+ x z w=-0.0\n+ x u w=1e300\n+ x v w=9007199254740994.0\nx p=1.0 q=-0.0 r=7\ny p=1e300 q=0.1\n",
    );
    place.ok("commit a.esker script");
    std::fs::write(place.path().join("diff"), place.ok("diff a.esker 1 2")).unwrap();
    place.ok("commit b.esker diff");
    for line in ["export NAME - --format csv", "get NAME x", "get NAME y", "info NAME --json"] {
        let of = |name: &str| place.ok(&line.replace("NAME", name)).replace(name, "");
        match line.starts_with("info") {
            false => assert_eq!(of("a.esker"), of("b.esker"), "{line}"),
            true => {
                let types = |name: &str| place.json(&line.replace("NAME", name))["vertex_properties"].clone();
                assert_eq!(types("a.esker"), types("b.esker"));
            }
        }
    }
    assert!(place.ok("export b.esker - --format csv").contains("x,z,-0"));
}

/// Integers of 64 bits without a sign, some of which floats hold exactly, in all forms that a file may have.
#[test]
fn large_integers_come_from_every_format_whether_floats_hold_them_or_not() {
    let place = Place::new();
    let values = [
        "0",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "9223372036854777856",
        "18446744073709549568",
        "18446744073709551614",
        "18446744073709551615",
    ];
    let rows: String = values.iter().enumerate().map(|(i, u)| format!("{i},{},{u}\n", i + 1)).collect();
    let csv = format!("source,target,u\n{rows}");
    place.file("a.csv", &csv);
    let list = values.iter().enumerate().map(|(i, u)| format!("{i} {} {{'u': {u}}}\n", i + 1));
    place.file("b.edgelist", &list.collect::<String>());
    place.ok("import a.csv a.esker --schema u:u64 --property u");
    for file in ["b.edgelist", "a.graphml", "a.gexf", "a.json", "a.gml", "a.dot", "a.parquet"] {
        if file != "b.edgelist" {
            place.ok(&format!("export a.esker {file}"));
        }
        place.ok(&format!("import {file} g.esker --schema u:u64 --property u --force"));
        let mut found: Vec<String> = place
            .ok("export g.esker - --format csv")
            .lines()
            .skip(1)
            .map(|row| row.rsplit(',').next().unwrap().to_owned())
            .collect();
        let mut wanted = values.map(str::to_owned);
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{file}");
    }
}

#[test]
fn sums_beyond_the_largest_number_are_refused() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\n1,2,1e308\n1,2,1e308\n1,2,5\n");
    place.fails(1, "import a.csv a.esker --duplicates sum", "add up to more than 64 bits hold");
    place.file("b.csv", "source,target,weight\n1,2,3e38\n1,2,3e38\n");
    // A sum has a type that holds it.
    place.ok("import b.csv b.esker --duplicates sum --schema weight:f32");
    assert!(place.ok("edges b.esker").contains("6.00000001"));
    place.file("c.csv", "source,target,weight\n1,2,1e308\n1,3,1e308\n2,1,5\n");
    place.ok("import c.csv c.esker");
    place.fails(1, "run strength c.esker", "add up to more than a number of 64 bits holds");
    place.file("d.csv", "source,target,weight\n1,2,1e308\n2,3,1e308\n");
    place.ok("import d.csv d.esker");
    place.fails(1, "run order d.esker", "add up to more than a number of 64 bits holds");
    place.fails(1, "run closeness --weight weight d.esker", "does not fit in a double");
    place.fails(1, "run msf d.esker --as-undirected", "add up to more than a number of 64 bits holds");
    place.file("e.csv", "source,target,weight\n1,2,1e308\n3,2,1e308\n4,2,1e308\n2,1,1\n");
    place.ok("import e.csv e.esker");
    for algorithm in ["hits", "katz"] {
        let run = format!("run {algorithm} e.esker --weight weight");
        place.fails(1, &run, "add up to more than a number of 64 bits holds");
    }
    place.file("f.csv", "source,target,weight,ts\n1,2,1e308,10\n1,2,1e308,11\n");
    place.ok("import f.csv f.esker --time ts --time-unit s --duplicates keep");
    let joined = "run sssp f.esker --source 1 --window 100s --copies weighted";
    place.fails(1, &format!("{joined} --combine sum"), "a sum that their type does not hold");
    assert!(place.ok(&format!("{joined} --combine max")).contains("1e+308"));
}
