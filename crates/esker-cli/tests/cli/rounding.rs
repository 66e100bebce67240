//! `--round`: numbers on standard output have as many digits as were asked for.

use crate::place::Place;

/// Weighted edges of different times.
fn weighted() -> Place {
    let place = Place::new();
    place.file("a.csv", "from,to,weight,at\na,b,0.123456,10\nb,c,2,20\na,c,0.5,30\n");
    place.ok("import a.csv a.esker --weight weight --time at");
    place
}

/// Whether the numbers with a point of an output have two digits after it, and there are some.
fn have_two_digits(output: &str) -> bool {
    let words = output.split(|sign: char| !(sign.is_ascii_digit() || "+-.eE".contains(sign)));
    let mut points = words.filter(|word| word.parse::<f64>().is_ok()).filter_map(|word| word.split_once('.'));
    let mut count = 0;
    points.all(|(_, digits)| {
        count += 1;
        digits.len() == 2
    }) && count > 0
}

#[test]
fn each_verb_that_prints_numbers_rounds_them() {
    let place = weighted();
    for line in [
        "run pagerank a.esker --top 3",
        "run pagerank a.esker --output -",
        "run pagerank a.esker --top 3 --output all.csv",
        "run degrees a.esker --histogram",
        "run pagerank a.esker --each-version",
        "run pagerank a.esker --each-version --output -",
        "window pagerank a.esker --length 10 --top 2",
        "window pagerank a.esker --length 10 --output -",
        "follow pagerank a.esker --once --initial --format csv",
        "follow pagerank a.esker --once --top 2",
        "edges a.esker",
        "edges a.esker --group-by source --sum weight --mean weight --format csv",
        "neighbors a.esker a",
        "path a.esker a c --weight weight",
        "subgraph a.esker a b c",
        "degree a.esker",
    ] {
        let rounded = place.ok(&format!("{line} --round 2 -q"));
        assert!(have_two_digits(&rounded), "{line}: {rounded}");
    }
    // The file has all digits.
    let all = std::fs::read_to_string(place.path().join("all.csv")).unwrap();
    assert!(all.lines().nth(1).unwrap().len() > 12, "{all}");
    let table = place.ok("edges a.esker --round 1");
    assert_eq!(table.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>(), ["a", "b", "0.1", "10"]);
}

#[test]
fn rounded_json_has_numbers() {
    let place = weighted();
    let found = place.json("edges a.esker --round 1 --json");
    assert_eq!(found[0]["weight"], 0.1);
    let report = place.json("run pagerank a.esker --top 1 --round 3 --json");
    let rank = report["top"][0]["value"].as_f64().unwrap();
    assert_eq!(rank, (rank * 1e3).round() / 1e3);
    assert!(rank > 0.0);
    let alert = place.ok("follow pagerank a.esker --once --from 1 --alert rank>0.3 --round 2");
    assert!(have_two_digits(&alert), "{alert}");
}

#[test]
fn figures_are_rounded_too() {
    let place = weighted();
    let output = place.run("run louvain a.esker --as-undirected --round 2");
    let facts = String::from_utf8(output.stderr).unwrap();
    let figure = facts.lines().find(|line| line.starts_with("modularity")).expect(&facts);
    assert!(have_two_digits(figure), "{figure}");
}

#[test]
fn a_file_of_all_values_is_not_rounded() {
    let place = weighted();
    place.fails(
        2,
        "run pagerank a.esker --output all.csv --round 2",
        "--round has no effect on --output FILE",
    );
    place.fails(2, "run pagerank a.esker --round 16", "16 is not in 0..=15");
}

/// Numbers from 1e15 on, vectors and bins were printed with other digits.
#[test]
fn large_numbers_vectors_and_bins_are_rounded() {
    let place = Place::new();
    place.file("a.csv", "from,to,weight\na,b,1234567890123456.75\nb,c,0.125\nc,a,2e16\n");
    place.ok("import a.csv a.esker --weight weight");
    let weights = |line: &str| {
        let table = place.ok(line);
        table.lines().skip(1).filter_map(|line| line.rsplit(' ').next()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(weights("edges a.esker --round 0 -q"), "1234567890123457 0 20000000000000000");
    assert_eq!(weights("edges a.esker --round 1 -q"), "1234567890123456.8 0.1 20000000000000000.0");
    assert_eq!(place.json("edges a.esker --round 0 --json")[0]["weight"], 1_234_567_890_123_457.0);
    let bins = place.ok("run pagerank a.esker --histogram --round 2 -q");
    assert!(bins.lines().nth(1).is_some_and(|line| line.starts_with("0.33 ")), "{bins}");
}
