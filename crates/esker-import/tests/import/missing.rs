//! Edges without a value of a property: read from every kind of file, and written to every one that has a
//! place for them.

use std::collections::BTreeSet;
use std::path::Path;

use esker_graph::Run;
use esker_import::export::{ExportOptions, StoredExport, export};
use esker_import::options::BadLines;
use esker_import::{
    Duplicates, ImportOptions, ImportReport, Input, Pick, PickProperties, ReadOptions, import_files,
    import_inputs,
};
use esker_store::{Result, Store};

fn all() -> ReadOptions {
    ReadOptions { properties: PickProperties::All, ..ReadOptions::default() }
}

fn keep() -> ImportOptions {
    ImportOptions { duplicates: Duplicates::Keep, threads: 1, ..ImportOptions::default() }
}

/// The edges of a database as a CSV, sorted, below the types of the properties.
fn shown(database: &Path) -> String {
    let view = Store::open(database).unwrap().latest().unwrap().view();
    let run = Run::with_threads(1).unwrap();
    let graph = StoredExport::new(&view, &run).unwrap();
    let file = database.with_extension("shown.csv");
    export(&graph, &file, &ExportOptions { overwrite: true, ..ExportOptions::default() }).unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_unstable();
    let types = view.version().edge_properties();
    let types = types.map(|own| {
        let optional = if own.optional { "?" } else { "" };
        format!("{}:{}{optional}", own.name, own.type_name())
    });
    format!("{}\n{}", types.collect::<Vec<_>>().join(" "), lines.join("\n"))
}

fn read_with(
    name: &str,
    text: &str,
    read: &ReadOptions,
    options: &ImportOptions,
) -> Result<(String, ImportReport)> {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("read.esker");
    let report = import_inputs(&[Input::memory(name, text.as_bytes())], &database, read, options)?;
    Ok((shown(&database), report))
}

#[track_caller]
fn means(name: &str, text: &str, read: &ReadOptions, expected: &str) {
    let (found, _) = read_with(name, text, read, &keep()).unwrap();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn cells_of_tables_that_say_that_there_is_no_value() {
    let all = all();
    // An empty cell is missing; of texts, an empty one in quotes is the empty text.
    means(
        "a.csv",
        "source,target,n,t,d,b\na,b,1,x,2024-01-02,true\na,c,,,,\na,d,\"\",\"\",\"\",\"\"\n",
        &all,
        "n:i64? t:text? d:date? b:bool?\na,b,1,x,2024-01-02,true\na,c,,,,\na,d,,\"\",,",
    );
    // Words are missing numbers, dates and truth values, and texts among texts.
    for word in ["NA", "NaN", "nan", "NULL", "None", "\\N", "-", "N/A", "<NA>"] {
        let text = format!("source,target,n,d,t\na,b,1.5,2024-01-02,x\na,c,{word},{word},{word}\n");
        let of_texts = if word == "\\N" { String::new() } else { format!("\"{word}\"") };
        means(
            "a.csv",
            &text,
            &all,
            &format!(
                "n:f32? d:date? t:text{}\na,b,1.5,2024-01-02,x\na,c,,,{of_texts}",
                if word == "\\N" { "?" } else { "" }
            ),
        );
    }
    // Words that the user names are missing in every column, also where they could be a value, but not in
    // quotes among texts.
    let read = ReadOptions { nulls: vec!["-1".into(), "no".into()], ..all.clone() };
    means(
        "a.csv",
        "source,target,n,t\na,b,-1,no\na,c,-10,\"no\"\na,d,no,-1\n",
        &read,
        "n:i64? t:text?\na,b,,\na,c,-10,\"no\"\na,d,,",
    );
    // Lines of the common form, and a weight behind them.
    let lines: String = (0..2000)
        .map(|edge| match edge % 3 {
            0 => format!("{edge} 7 NA\n"),
            _ => format!("{edge} 7 {edge}\n"),
        })
        .collect();
    let (found, report) = read_with("a.wel", &lines, &ReadOptions::default(), &keep()).unwrap();
    assert!(
        found.starts_with("weight:i64?\n")
            && found.contains("\n99,7,\n")
            && found.contains("\n1000,7,1000\n")
    );
    assert_eq!((report.edges, report.rejected), (2000, 0));
}

#[test]
fn columns_of_words_and_ends_that_are_missing() {
    let all = all();
    // Words alone would be texts that say nothing.
    means("a.csv", "source,target,x\na,b,NA\na,c,NA\n", &all, "x:i64?\na,b,\na,c,");
    means("a.csv", "source,target,x,y\na,b,,1\na,c,,2\n", &all, "x:text? y:i32\na,b,,1\na,c,,2");
    // An end that is missing is a bad line.
    let read = ReadOptions { nulls: vec!["-".into()], ..all };
    let skip = ImportOptions { bad_lines: BadLines::Skip, ..keep() };
    let (found, report) = read_with("a.csv", "source,target\na,b\n-,c\na,-\n", &read, &skip).unwrap();
    assert_eq!((found.as_str(), report.rejected), ("\na,b", 2));
    let reason = report.rejected_sample[0].reason.to_string();
    assert_eq!(reason, "the source is -, which stands for no value");
}

#[test]
fn edges_need_a_kind() {
    let options = ImportOptions { kind: Some("type".into()), ..keep() };
    let skip = ImportOptions { bad_lines: BadLines::Skip, ..options.clone() };
    let json = r#"[{"source":"a","target":"b","type":"x"},{"source":"a","target":"c"}]"#;
    let json = format!("{{\"nodes\":[],\"links\":{json}}}");
    for (name, text) in [("a.csv", "source,target,type\na,b,x\na,c,\n"), ("a.json", json.as_str())] {
        let refused = read_with(name, text, &ReadOptions::default(), &options).unwrap_err().to_string();
        assert!(refused.contains("the edge has no kind, as its \"type\" is missing"), "{refused}");
        let (found, report) = read_with(name, text, &ReadOptions::default(), &skip).unwrap();
        assert_eq!((found.as_str(), report.rejected), ("type:text\na,b,x", 1), "{name}");
    }
}

/// Defaults stand for what is missing in tables of text and of columns.
#[test]
fn tables_have_defaults() {
    let table = "source,target,n,t,d,w\na,b,,,,\na,c,2,x,2024-01-02,0.5\n";
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    import_inputs(&[Input::memory("a.csv", table.as_bytes())], at("a.esker"), &all(), &keep()).unwrap();
    let view = Store::open(at("a.esker")).unwrap().latest().unwrap().view();
    let run = Run::with_threads(1).unwrap();
    let graph = StoredExport::new(&view, &run).unwrap();
    let defaults = |all: &[&str]| all.iter().map(|one| one.parse().unwrap()).collect::<Vec<_>>();
    let given = defaults(&["n=-1", "t=none", "d=1970-01-01", "w=2"]);
    for ending in ["csv", "parquet", "arrow"] {
        let (file, back) = (at(&format!("a.{ending}")), at(&format!("{ending}.esker")));
        export(&graph, &file, &ExportOptions::default()).unwrap();
        let files = [file.to_string_lossy()];
        let read = ReadOptions { defaults: given.clone(), ..all() };
        import_files(&files, &back, &read, &keep()).unwrap();
        assert!(
            shown(&back).ends_with("\na,b,2.0,-1,\"none\",1970-01-01\na,c,0.5,2,x,2024-01-02"),
            "{}",
            shown(&back)
        );
        for wrong in ["d=soon", "n=x", "z=1"] {
            let read = ReadOptions { defaults: defaults(&[wrong]), ..all() };
            let refused = import_files(&files, at("no.esker"), &read, &keep()).unwrap_err().to_string();
            assert!(refused.contains("default"), "{refused}");
        }
    }
    let options = ImportOptions { kind: Some("t".into()), ..keep() };
    let read = ReadOptions { defaults: defaults(&["t=other"]), ..ReadOptions::default() };
    let (found, _) = read_with("a.csv", "source,target,t\na,b,\na,b,x\n", &read, &options).unwrap();
    assert_eq!(found, "t:text\na,b,other\na,b,x");
}

/// Missing weights lose to any, and add nothing.
#[test]
fn duplicates_of_missing_weights() {
    let text = "source,target,weight,t\n1,2,,a\n1,2,3,b\n1,2,5,c\n3,4,7,a\n3,4,,b\n5,6,,a\n5,6,,b\n";
    for (rule, expected) in [
        (Duplicates::First, ["1,2,,a", "3,4,7,a", "5,6,,a"]),
        (Duplicates::Last, ["1,2,5,c", "3,4,,b", "5,6,,b"]),
        (Duplicates::Min, ["1,2,3,b", "3,4,7,a", "5,6,,a"]),
        (Duplicates::Max, ["1,2,5,c", "3,4,7,a", "5,6,,a"]),
        (Duplicates::Sum, ["1,2,8,a", "3,4,7,a", "5,6,,a"]),
    ] {
        for float in [false, true] {
            let text =
                if float { text.replace(",3,b", ",3.5,b").replace(",7,", ",7.25,") } else { text.to_owned() };
            let expected = match (float, rule) {
                (true, _) => expected.map(|line| {
                    let line = line.replace(",3,b", ",3.5,b").replace(",8,", ",8.5,");
                    line.replace(",5,c", ",5.0,c").replace(",7,", ",7.25,")
                }),
                _ => expected.map(str::to_owned),
            };
            for directed in [true, false] {
                let options = ImportOptions { duplicates: rule, directed: Some(directed), ..keep() };
                let (found, _) = read_with("a.csv", &text, &all(), &options).unwrap();
                let element = if float { "f32" } else { "i64" };
                let expected = format!("weight:{element}? t:text\n{}", expected.join("\n"));
                assert_eq!(found, expected, "{rule:?} {directed}");
            }
        }
    }
}

/// The value that is to stand for a missing one cannot be a value beside it.
#[test]
fn values_that_stand_for_missing_ones() {
    let least = i64::MIN;
    let text = format!("source,target,n\na,b,{least}\na,c,7\n");
    means("a.csv", &text, &all(), &format!("n:i64\na,b,{least}\na,c,7"));
    let refused = read_with("a.csv", &format!("{text}a,d,\n"), &all(), &keep()).unwrap_err().to_string();
    assert!(refused.contains("-9223372036854775808") && refused.contains("default"), "{refused}");
    let greatest = u64::MAX;
    let read = ReadOptions { schema: vec!["n:u64".parse().unwrap()], ..ReadOptions::default() };
    let text = format!("source,target,n\na,b,{greatest}\na,c,7\n");
    means("a.csv", &text, &read, &format!("n:u64\na,b,{greatest}\na,c,7"));
    let refused = read_with("a.csv", &format!("{text}a,d,\n"), &read, &keep()).unwrap_err().to_string();
    assert!(refused.contains("18446744073709551615"), "{refused}");
    means("a.csv", "source,target,n\na,b,5\na,d,NA\n", &read, "n:u64?\na,b,5\na,d,");
}

/// Properties of each type, with the value of some missing, through every format that has a place for them.
#[test]
fn what_is_missing_comes_back_from_every_format() {
    let mut csv = "source,target,weight,i,f,t,b,d,s\n".to_owned();
    for edge in 0..40_u32 {
        let given = |column: u32, value: String| {
            if (edge + column).is_multiple_of(3) { String::new() } else { value }
        };
        csv += &format!(
            "n{},n{},{},{},{},{},{},{},{}\n",
            edge % 7,
            edge % 5 + 10,
            given(0, format!("{edge}")),
            given(1, format!("{}", edge % 9)),
            given(2, format!("{edge}.5")),
            given(3, if edge % 2 == 0 { "\"\"".into() } else { "x y".into() }),
            given(4, (edge % 2 == 0).to_string()),
            given(5, format!("2024-01-{:02}", edge % 28 + 1)),
            given(6, format!("2024-01-02T03:04:{:02}", edge % 60)),
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    import_inputs(&[Input::memory("a.csv", csv.as_bytes())], at("a.esker"), &all(), &keep()).unwrap();
    let expected = shown(&at("a.esker"));
    assert_eq!(expected.matches('?').count(), 7, "{expected}");
    let view = Store::open(at("a.esker")).unwrap().latest().unwrap().view();
    let run = Run::with_threads(1).unwrap();
    let graph = StoredExport::new(&view, &run).unwrap();
    let formats = ["csv", "tsv", "parquet", "arrow", "graphml", "json", "cyjs", "edgelist", "gml", "dot"];
    for ending in formats {
        let (file, back) = (at(&format!("out.{ending}")), at(&format!("{ending}.esker")));
        export(&graph, &file, &ExportOptions::default()).unwrap();
        let read = match ending {
            "csv" | "tsv" | "parquet" | "arrow" => all(),
            // Nothing says what the values are.
            "edgelist" => ReadOptions {
                schema: ["i:i64", "d:date", "s:timestamp[us]"].map(|one| one.parse().unwrap()).to_vec(),
                ..ReadOptions::default()
            },
            _ => ReadOptions::default(),
        };
        import_files(&[file.to_string_lossy()], &back, &read, &keep()).unwrap();
        assert_eq!(sorted(&shown(&back)), sorted(&expected), "{ending}");
    }
    for (ending, read) in
        [("wel", "weight"), ("net", "weight"), ("gexf", "weight"), ("mtx", "weight"), ("ncol", "weight")]
    {
        let options = ExportOptions::default();
        let refused = export(&graph, &at(&format!("out.{ending}")), &options).unwrap_err().to_string();
        assert!(refused.contains(&format!("has no value of {read:?}")), "{ending}: {refused}");
    }
    // A time that is missing is none of the times of an import.
    let read = ReadOptions { time: Pick::Column("s".into()), ..ReadOptions::default() };
    let (_, report) = read_with("a.csv", &csv, &read, &keep()).unwrap();
    assert_eq!(report.rejected, 0);
}

/// The types and the edges in the order of their text, whatever the order of the properties.
fn sorted(shown: &str) -> Vec<String> {
    let mut types: Vec<String> = shown.lines().next().unwrap().split(' ').map(str::to_owned).collect();
    types.sort();
    let mut edges: Vec<String> = shown
        .lines()
        .skip(1)
        .map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            cells.sort_unstable();
            cells.join(",")
        })
        .collect();
    edges.sort();
    types.into_iter().chain(edges).collect()
}

/// Texts that readers of tables may take for no value, and two that they do not.
const WORDS: [&str; 16] = [
    "\\N", "\\n", "NA", "n/a", "<NA>", "NaN", "nat", "NULL", "None", "nil", "-", "", "-1", "unset", "DE",
    "no one",
];

/// Texts that look like no value come back from tables as the texts that they are: alone in a column, among
/// others, and as ids.
#[test]
fn texts_that_look_like_no_value_come_back_from_tables() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let read = ReadOptions { nulls: vec!["-1".to_owned(), "unset".to_owned()], ..all() };
    let mut columns = vec![vec!["source".to_owned()], vec!["target".to_owned()]];
    // -1 would be a number without the words of the database.
    let words: Vec<&str> = WORDS.into_iter().filter(|word| *word != "-1").collect();
    for (row, word) in words.iter().enumerate() {
        let id = if word.is_empty() { "x" } else { word };
        columns[0].push(format!("\"{id}\""));
        columns[1].push(format!("\"{}\"", row % 3));
        for other in [word, "DE", "two words"] {
            let mut texts = vec![format!("t{}", columns.len())];
            texts.extend((0..words.len()).map(|row| match row % 3 {
                0 => format!("\"{word}\""),
                1 => format!("\"{other}\""),
                _ => String::new(),
            }));
            columns.push(texts);
        }
    }
    let line = |row: usize| columns.iter().map(|own| own[row].clone()).collect::<Vec<_>>().join(",");
    let csv: String = (0..=words.len()).map(|row| line(row) + "\n").collect();
    import_inputs(&[Input::memory("a.csv", csv.as_bytes())], at("a.esker"), &read, &keep()).unwrap();
    let expected = shown(&at("a.esker"));
    assert_eq!(expected.matches(":text?").count(), columns.len() - 2, "{expected}");
    let view = Store::open(at("a.esker")).unwrap().latest().unwrap().view();
    let run = Run::with_threads(1).unwrap();
    let graph = StoredExport::new(&view, &run).unwrap();
    // Also where the words of the database are no values.
    for (number, (ending, nulls)) in
        [("csv", &read), ("tsv", &read), ("csv", &all()), ("tsv", &all())].into_iter().enumerate()
    {
        let (file, back) = (at(&format!("{number}.{ending}")), at(&format!("{number}.esker")));
        export(&graph, &file, &ExportOptions::default()).unwrap();
        import_files(&[file.to_string_lossy()], &back, nulls, &keep()).unwrap();
        // The words that it does not know stand without quotes.
        let plain = |text: &str| {
            let text = text.replace("\"unset\"", "unset");
            text.lines().map(str::to_owned).collect::<BTreeSet<_>>()
        };
        assert_eq!(plain(&shown(&back)), plain(&expected), "{ending}");
    }
}

/// Words for no value mean the same for vertices as for edges, whatever the type of the column.
#[test]
fn words_for_no_value_in_tables_of_vertices() {
    let given = ["5", "0.25", "true", "2024-01-02", "2024-01-02T03:04:05", "some"].iter().flat_map(|given| {
        [(false, false), (true, false), (false, true)].map(|(is_quoted, far)| (*given, is_quoted, far))
    });
    for (number, (given, is_quoted, far)) in given.enumerate() {
        // The words in the first rows, or behind all that are looked at.
        let filling = if far { 1200 } else { 2 };
        let separator = if number % 2 == 0 { "," } else { "\t" };
        let row = |id: &str, field: &dyn Fn(usize) -> String| {
            let fields = (0..WORDS.len()).map(field);
            [id.to_owned()].into_iter().chain(fields).collect::<Vec<_>>().join(separator) + "\n"
        };
        let mut rows = row("id", &|at| format!("p{at}"));
        (0..filling).for_each(|at| rows += &row(&format!("v{at}"), &|_| given.to_owned()));
        rows += &row("w", &|at| match is_quoted {
            true => format!("\"{}\"", WORDS[at]),
            false => WORDS[at].to_owned(),
        });
        let directory = tempfile::tempdir().unwrap();
        let (file, database) = (directory.path().join("v.txt"), directory.path().join("a.esker"));
        std::fs::write(&file, rows).unwrap();
        let vertices = Some(file.to_string_lossy().into_owned());
        let read = ReadOptions { vertices, nulls: vec!["-1".into(), "unset".into()], ..all() };
        let edges = Input::memory("a.csv", "source,target\nv0,v1\n".as_bytes());
        import_inputs(&[edges], &database, &read, &keep()).unwrap();
        let version = Store::open(&database).unwrap().latest().unwrap();
        for (at, word) in WORDS.iter().enumerate() {
            let property = version.vertex_property(&format!("p{at}")).unwrap();
            let values =
                (0..version.num_vertices()).filter_map(|v| property.get(esker_graph::vertex(v)).unwrap());
            let values: Vec<String> = values.map(|value| value.to_string()).collect();
            let of_text = property.record().is_text();
            let is_missing = match given {
                "some" => !is_quoted && ["\\N", "", "-1", "unset"].contains(word),
                _ if is_quoted && *word == "unset" => false,
                "5" | "0.25" => !["DE", "no one"].contains(word),
                _ => !(["DE", "no one"].contains(word) || is_quoted && *word == "-1"),
            };
            let what = format!("{given} beside {word}, quoted {is_quoted}, far {far}: {values:.60?}");
            assert_eq!(values.len(), filling + usize::from(!is_missing), "{what}");
            assert_eq!(values.iter().any(|value| value == word), !is_missing, "{what}");
            assert_eq!(of_text, given == "some" || !is_missing, "{what}");
        }
    }
}
