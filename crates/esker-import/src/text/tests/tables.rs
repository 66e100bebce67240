//! Tables: small inputs with what they must give, and bad ones with what they must say.

use crate::read::format::{Format, Pick, PickIds, PickProperties, ReadOptions};
use crate::read::input::Input;
use crate::read::source::IdKind;
use crate::text::tests::testing::{ReadResult, read, read_text};

fn default() -> ReadOptions {
    ReadOptions::default()
}

fn good(name: &str, text: &str, options: &ReadOptions) -> ReadResult {
    let read = read_text(name, text, options).unwrap();
    assert_eq!(read.rejected, Vec::<String>::new(), "{name} {text:?}");
    read
}

#[test]
fn tables_of_every_kind() {
    // Name, text, edges with the weight if there is one.
    let table: &[(&str, &str, &[&str])] = &[
        ("a.el", "0 1\n1 2\n", &["0 1", "1 2"]),
        ("a.el", "0 1\r\n1 2", &["0 1", "1 2"]),
        ("a.el", "  0   1 \n\n1\t2\t\n \n", &["0 1", "1 2"]),
        ("a.el", "\u{feff}0 1\n1 2\n", &["0 1", "1 2"]),
        ("a.el", "18446744073709551615 0\n", &["18446744073709551615 0"]),
        ("a.el", "12345678 123456789012345678\n", &["12345678 123456789012345678"]),
        ("a.wel", "0 1 5\n1 2 0.5\n2 0 -1e3\n", &["0 1 5", "1 2 0.5", "2 0 -1000"]),
        ("a.txt", "# Directed\n# FromNodeId\tToNodeId\n0\t4\n# more\n4 0\n", &["0 4", "4 0"]),
        ("a.txt", "% KONECT\n1 2 1 1234\n3 4 1 1235\n", &["1 2", "3 4"]),
        ("a.txt", "5 1001 7 1234\n2 1002 5 1235\n7 1001 2 1236\n", &["5 1001", "2 1002", "7 1001"]),
        ("a.txt", "", &[]),
        ("a.txt", "\n\n", &[]),
        ("a.txt", "# nothing\n# at all", &[]),
        ("a.csv", "src,dst\n", &[]),
        ("a.csv", "source,target\n1,2\n", &["1 2"]),
        ("a.csv", "Target;Source\nbob;alice\n", &["alice bob"]),
        ("a.csv", "id,to,from,weight\n9,2,1,3.5\n9,3,1,4\n", &["1 2 3.5", "1 3 4"]),
        ("a.csv", "a,b\n1,2\n", &["1 2"]),
        ("a.csv", "alice,bob\nbob,dave\n", &["alice bob", "bob dave"]),
        ("a.csv", "alice|bob\ncarol|alice\n", &["alice bob", "carol alice"]),
        ("a.csv", "\"al,ice\",\"b\"\"ob\"\n\"x\ny\",\"al,ice\"\n", &["al,ice b\"ob", "x\ny al,ice"]),
        ("a.csv", "#rust,#go\n#go,#c\n", &["#rust #go", "#go #c"]),
        ("a.txt", "C# F#\nJava C#\n#go C#\n", &["C# F#", "Java C#", "#go C#"]),
        ("a.csv", "1, 2\n3, 4\n", &["1 2", "3 4"]),
        ("a.csv", "1,2,\n3,4,\n", &["1 2", "3 4"]),
        ("a.tsv", "from id\tto id\tn\na b\tc\t1\n", &["a b c"]),
        ("a.tsv", "u\tv\tw\n7\t8\t2\n", &["7 8 2"]),
        ("a.txt", "\"a b\" \"c\"\n\"c\" \"d e\"\n", &["a b c", "c d e"]),
        // One tab a line divides ids with blanks, but no numbers.
        ("a.txt", "1 2\t5\n2 3\t7\n", &["1 2 5", "2 3 7"]),
        ("a.txt", "from to\tw\n1 2\t5\n2 3\t7\n", &["1 2 5", "2 3 7"]),
        ("a.txt", "% bip\n1 2 \t1\t1082008561\n2 3 \t1\t1082008562\n", &["1 2", "2 3"]),
        ("a.txt", "a b\tc\nc d\te f\n", &["a b c", "c d e f"]),
        ("a.txt", "1\t2\tis a\n1\t3\tis a\n", &["1 2", "1 3"]),
        ("a.csv", "2f1e-77,9a\n9a,4c\n", &["2f1e-77 9a", "9a 4c"]),
    ];
    for (name, text, expected) in table {
        assert_eq!(good(name, text, &default()).lines(), *expected, "{name} {text:?}");
    }
}

#[test]
fn every_block_size_gives_the_same() {
    let texts = [
        ("a.el", "0 1\n12345678 2\r\n\n# x\n 3  4\nx 5\n6 7 8\n9 10".to_owned()),
        ("a.wel", "1 2 3\n4 5 6.25\n7 8 nan\n10 11 -4\n".to_owned()),
        ("a.csv", "from,to,w\n\"a,\n\"\"b\",c,1\nd,\"e\n\",2\nf\"g,h,3.5\n,i,4\n".to_owned()),
        ("a.tsv", "1\t2\tx\n3\t4\ty\n5\t6\tz\n".to_owned()),
    ];
    for (name, text) in texts {
        let whole = read_text(name, &text, &default()).unwrap();
        assert!(whole.edges.len() > 2, "{whole:?}");
        for block_bytes in 1..text.len() + 2 {
            let cut = read_text(name, &text, &ReadOptions { block_bytes, ..default() }).unwrap();
            assert_eq!(
                cut.edges.iter().map(|e| &e[..2]).collect::<Vec<_>>(),
                whole.edges.iter().map(|e| &e[..2]).collect::<Vec<_>>()
            );
            let numbers =
                |read: &ReadResult| read.edges.iter().map(|e| e.get(2).cloned()).collect::<Vec<_>>();
            assert_eq!(numbers(&cut), numbers(&whole));
            assert_eq!(
                (&cut.rejected, cut.input_bytes),
                (&whole.rejected, text.len() as u64),
                "{name} {block_bytes}"
            );
        }
    }
}

#[test]
fn lines_that_are_rejected_say_why() {
    let texts = "import with `ids = text` to take all ids as texts";
    let rows: String = (0..40).map(|i| format!("{i} {}\n", i + 1)).collect();
    let table: &[(&str, &str, String)] = &[
        ("a.el", "5 x\n", format!("41: \"5 x\": the target is not an integer; {texts}")),
        ("a.el", "5 6#\n", format!("41: \"5 6#\": the target is not an integer; {texts}")),
        ("a.el", "-5 1\n", format!("41: \"-5 1\": the source is negative; {texts}")),
        ("a.el", "1 18446744073709551616\n", format!("41: \"1 18446744073709551616\": the target is larger than 18446744073709551615; {texts}")),
        ("a.el", "7\n", "41: \"7\": the line has 1 column and needs 2".into()),
        ("a.el", "7 8 9\n", "41: \"7 8 9\": the line has 3 columns where the first lines have 2; quote fields that hold a separator".into()),
    ];
    for (name, bad, expected) in table {
        let read = read_text(name, &format!("{rows}{bad}50 51\n"), &default()).unwrap();
        assert_eq!((&read.rejected, read.edges.len()), (&vec![expected.clone()], 41), "{bad:?}");
    }
    let head = "src,dst,weight,kind\na,b,1,x\n";
    let table = [
        (
            "a,b,?,x\n",
            "3: \"a,b,?,x\": weight is not a number; write it like -1.5e3, or keep the column as texts with `weight = false` `schema = weight:text`",
        ),
        ("a,b,1e999,x\n", "3: \"a,b,1e999,x\": weight is not a finite number"),
        (
            "a,b,\"1,5\",x\n",
            "3: \"a,b,\\\"1,5\\\",x\": weight is not a number; write it like -1.5e3, or keep the column as texts with `weight = false` `schema = weight:text`",
        ),
        (",b,1,x\n", "3: \",b,1,x\": the source is empty"),
        ("a,b\n", "3: \"a,b\": the line has 2 columns and needs 3"),
        (
            "a,b,1,x,y\n",
            "3: \"a,b,1,x,y\": the line has 5 columns where the header has 4; quote fields that hold a separator",
        ),
        (
            "a,\"b\"c,1,x\n",
            "3: \"a,\\\"b\\\"c,1,x\": something follows a closing quote; mend the line, or turn quotes off",
        ),
    ];
    for (bad, expected) in table {
        let read = read_text("a.csv", &format!("{head}{bad}c,d,2,x\n"), &default()).unwrap();
        assert_eq!((read.rejected, read.edges.len()), (vec![expected.to_owned()], 2), "{bad:?}");
    }
    let reason = |options: &ReadOptions| {
        read_text("a.csv", "src,dst,time\na,b,1\na,c,soon\n", options).unwrap().rejected.remove(0)
    };
    let of_time = ReadOptions { time: Pick::Column("time".into()), ..default() };
    assert_eq!(
        reason(&of_time),
        "3: \"a,c,soon\": time is not a whole number; times are whole numbers unless most of the first are dates; correct it"
    );
    // The type of times is that of most of them, and a column that is named as the time is no end.
    let dated =
        "at,u,v\nlater,a,b\n2024-03-01T10:00:00Z,a,c\n2024-03-01T11:00:00Z,c,d\n2024-03-01 25:00:00,d,e\n";
    let read =
        read_text("a.csv", dated, &ReadOptions { time: Pick::Column("at".into()), ..default() }).unwrap();
    assert_eq!((read.rejected.len(), read.edges.len()), (2, 2), "{:?}", read.rejected);
    let expected = "2: \"later,a,b\": at, of type timestamp[us, UTC], is not a time such as";
    assert!(read.rejected[0].starts_with(expected), "{:?}", read.rejected);
    let of_database = ReadOptions {
        weight: Pick::Column("time".into()),
        time: Pick::Skip,
        types_are_fixed: true,
        ids_can_become_texts: true,
        ..default()
    };
    assert_eq!(reason(&of_database), "3: \"a,c,soon\": time is not a number; write it like -1.5e3");
    let read = read_text("a.csv", "src,dst\na,b\nc,\"d\ne,f\n", &default()).unwrap();
    assert_eq!(
        read.rejected,
        ["3: \"c,\\\"d\": a quote opens a field and never closes; mend the line, or turn quotes off"]
    );
    assert_eq!(read.lines(), ["a b", "e f"]);
}

#[test]
fn a_line_with_fewer_columns_than_the_others_is_a_bad_line_also_if_it_has_both_ends() {
    let table = [
        (
            "a.csv",
            "a,b,2024-01-01\nx,y,2024-01-02\n1,2\n",
            "3: \"1,2\": the line has 2 columns where the first lines have 3",
        ),
        ("a.csv", "src,dst,kind\n1,2,x\n3,4\n", "3: \"3,4\": the line has 2 columns where the header has 3"),
        (
            "a.csv",
            "src,dst,kind,x\na,b,x,y\nc,d,x\n",
            "3: \"c,d,x\": the line has 3 columns where the header has 4",
        ),
        (
            "a.tsv",
            "1\t2\tx\n3\t4\ty\n5\t6\n",
            "3: \"5\\t6\": the line has 2 columns where the first lines have 3",
        ),
    ];
    for (name, text, expected) in table {
        let read = read_text(name, text, &default()).unwrap();
        let remedy = "; complete the line, or correct its separators";
        assert_eq!(read.rejected, [format!("{expected}{remedy}")], "{text:?}");
    }
    // Between blanks, columns behind the ends may be missing.
    assert_eq!(good("a.txt", "1 2 x\n3 4 y\n5 6\n", &default()).edges.len(), 3);
}

#[test]
fn comments_between_the_first_edges_do_not_turn_integers_into_texts() {
    // "#hello world" once became an edge between two texts.
    for (name, text) in [
        ("a.el", "1 2\n#hello world\n3 4\n"),
        ("a.el", "1 2\n# hello\n3 4\n"),
        ("a.txt", "1\t2\n%x y z\n3\t4\n# hello world\n"),
        ("a.wel", "# u v w\n1 2 5\n#1 3 5\n3 4 5\n"),
    ] {
        let read = good(name, text, &default());
        assert_eq!((read.schema.ids, read.edges.len()), (IdKind::Int, 2), "{text:?}: {:?}", read.edges);
    }
    // Between texts, a mark that no blank follows is part of an id.
    let read = good("a.el", "a b\n#c d\n# e f\ng h\n", &default());
    assert_eq!(read.lines(), ["a b", "#c d", "g h"]);
}

#[test]
fn a_zero_byte_behind_the_sample_is_a_bad_line() {
    let mut text = "a,b\n".repeat(20_000);
    text += "a,\0b\nc,d\n";
    let read = read_text("a.csv", &text, &default()).unwrap();
    assert_eq!(
        read.rejected,
        ["20001: \"a,\\0b\": the target has a zero byte in it; the input may be damaged or binary"]
    );
    assert_eq!(read.edges.len(), 20_001);
}

#[test]
fn inputs_that_are_refused_say_why() {
    let long = "1".repeat(3 << 20);
    let table: &[(&str, &str, &str)] = &[
        (
            "a.csv",
            "src,other,more,n\na,b,c,1\n",
            "a.csv: cannot tell which columns hold the ends of the edges (columns: src, other, more, n); choose with `source_column = src` `target_column = other`, or `source_column = src` `target_column = more`",
        ),
        (
            "a.txt",
            "alice\nbob\n",
            "a.txt: the lines have one column, and an edge needs two; name what separates them with `delimiter`",
        ),
        (
            "a.txt",
            "1\u{0}2\n",
            "a.txt: line 1 has a zero byte (at offset 1), and the text is not UTF-16: the file is binary, and of no known kind (name its format), or damaged (remove such bytes: tr -d '\\0' < old > new)",
        ),
        (
            "a.csv",
            "s\0r\0c\0,\0d\0s\0t\0",
            "a.csv: the text is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8 old > new",
        ),
        ("a.txt", &long, "a.txt: the first 1048576 bytes hold no line of edges"),
    ];
    for (name, text, expected) in table {
        let error = read_text(name, text, &default()).unwrap_err().to_string();
        assert_eq!(error, *expected);
    }
    // The lines behind a quote that never closes are read.
    let text = format!("a,b\n\"{}", "x,y\n".repeat(1 << 19));
    let left_open = read_text("a.csv", &text, &ReadOptions { header: Some(false), ..default() }).unwrap();
    let reason = "2: \"\\\"x,y\": a quote opens a field and never closes; mend the line, or turn quotes off";
    assert_eq!((left_open.edges.len(), left_open.rejected), (1 << 19, vec![reason.to_owned()]));
    let too_long = read_text("a.txt", &format!("1 2\n{long}\n3 4\n"), &default()).unwrap();
    assert_eq!((too_long.edges.len(), too_long.rejected.len()), (2, 1));
    assert!(too_long.rejected[0].contains("the line is longer than 1048576 bytes"), "{too_long:?}");
    let error = read(&[Input::memory("a.csv", &b"\xff\xfe1\0,\0"[..])], &default()).unwrap_err().to_string();
    assert!(error.contains("UTF-16"), "{error}");
}

#[test]
fn columns_can_be_chosen() {
    let text = "day,a,b,kind,cost\n3,x,y,road,1.5\n4,y,z,rail,2\n";
    let mut options = ReadOptions { source: Some("b".into()), target: Some("2".into()), ..default() };
    assert_eq!(good("a.csv", text, &options).lines(), ["y x", "z y"]);
    options.weight = Pick::Column("cost".into());
    options.time = Pick::Column("day".into());
    options.properties = PickProperties::Columns(vec!["kind".into()]);
    let read = good("a.csv", text, &options);
    assert_eq!(read.lines(), ["y x 1.5 3 road", "z y 2 4 rail"]);
    assert_eq!(
        (read.schema.properties, read.schema.weight),
        (vec!["cost".into(), "day".into(), "kind".into()], Some(0))
    );
    options.properties = PickProperties::All;
    assert_eq!(good("a.csv", text, &options).lines(), ["y x 1.5 3 road", "z y 2 4 rail"]);
    options.properties = PickProperties::Columns(vec!["day:text".into()]);
    options.time = Pick::Skip;
    assert_eq!(good("a.csv", text, &options).lines(), ["y x 1.5 3", "z y 2 4"]);

    options.source = Some("nobody".into());
    let error = read_text("a.csv", text, &options).unwrap_err().to_string();
    assert_eq!(error, "a.csv: there is no column \"nobody\"; the columns are day, a, b, kind, cost");
    let options = ReadOptions { source: Some("3".into()), ..default() };
    let error = read_text("a.el", "1 2\n", &options).unwrap_err().to_string();
    assert_eq!(error, "a.el: there is no column 3; the last column is 2");
}

/// A header above texts was taken for an edge, although an option named one of its columns.
#[test]
fn a_first_line_that_holds_a_chosen_name_is_the_header() {
    let text = "a,b,at,kind\nx,y,2024-01-01,red\n";
    let pick = |name: &str| Pick::Column(name.to_owned());
    let property = PickProperties::Columns(vec!["kind:text".to_owned()]);
    for options in [
        ReadOptions { time: pick("at"), ..default() },
        ReadOptions { source: Some("a".into()), ..default() },
        ReadOptions { properties: property, ..default() },
        ReadOptions { schema: vec!["kind:text".parse().unwrap()], ..default() },
    ] {
        let read = good("a.csv", text, &options);
        assert_eq!(read.edges.len(), 1, "{options:?}");
    }
    assert_eq!(good("a.csv", "a,b,at\n", &ReadOptions { time: pick("at"), ..default() }).edges.len(), 0);
    // A number counts columns, and stands for no name.
    let text = "a,b,at\nb,c,2\n";
    assert_eq!(good("a.csv", text, &ReadOptions { target: Some("2".into()), ..default() }).edges.len(), 1);
    let text = "a,b,at\nb,c,to\n";
    assert_eq!(good("a.csv", text, &ReadOptions { target: Some("2".into()), ..default() }).edges.len(), 2);
}

#[test]
fn an_empty_input_has_the_columns_that_are_chosen() {
    let pick = |name: &str| Pick::Column(name.to_owned());
    let names = |options: &ReadOptions| {
        let schema = good("a.csv", "", options).schema;
        (schema.properties, schema.weight, schema.time)
    };
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let chosen = ReadOptions {
        source: Some("from".into()),
        target: Some("to".into()),
        weight: pick("cost"),
        time: pick("at"),
        properties: PickProperties::Columns(owned(&["kind:text", "note", "at"])),
        ..default()
    };
    assert_eq!(names(&chosen), (owned(&["cost", "at", "kind", "note"]), Some(0), Some(1)));
    let types = good("a.csv", "", &chosen).schema.types;
    assert_eq!(types.iter().map(Option::is_some).collect::<Vec<_>>(), [false, false, true, false]);
    let numbered = ReadOptions { weight: pick("4"), time: pick("at"), ..default() };
    assert_eq!(names(&numbered), (owned(&["weight", "at"]), Some(0), Some(1)));
    assert_eq!(names(&default()), (owned(&[]), None, None));
    // It says nothing about the types of others that are read with it.
    let parts = vec![
        Input::memory("1.csv", &b""[..]),
        Input::memory("2.csv", &b"from,to,cost,at,kind,note\na,b,1,2024-01-01,x,2024-01-01\n"[..]),
    ];
    let schema = read(&parts, &chosen).unwrap().schema;
    assert!(schema.types[3].as_ref().is_some_and(|note| !note.logical.is_text()), "{:?}", schema.types);
}

#[test]
fn a_bad_first_line_names_the_option_for_headers() {
    let rows: String = (0..40).map(|i| format!("{i},{}\n", i + 1)).collect();
    let read = read_text("a.csv", &format!("ends,2020\n{rows}"), &default()).unwrap();
    let told = "1: \"ends,2020\": the source is not an integer; import with `ids = text` to take all ids as texts; if this line names the \
                columns, pass `header = true`";
    assert_eq!((read.rejected, read.edges.len()), (vec![told.to_owned()], 40));
    let options = ReadOptions { header: Some(false), ..default() };
    let read = read_text("a.csv", &format!("ends,2020\n{rows}"), &options).unwrap();
    assert!(!read.rejected[0].contains("`header = true`"), "{}", read.rejected[0]);
}

#[test]
fn a_third_column_is_weight_or_time_or_nothing() {
    let text = "1 2 100\n3 4 101\n";
    assert_eq!(good("a.txt", text, &default()).schema.weight, Some(0));
    let time = ReadOptions { time: Pick::Column("3".into()), ..default() };
    let read = good("a.txt", text, &time);
    assert_eq!((read.schema.weight, read.schema.properties.clone()), (None, vec!["time".into()]));
    assert_eq!(read.lines(), ["1 2 100", "3 4 101"]);
    let none = ReadOptions { weight: Pick::Skip, ..default() };
    assert_eq!(good("a.txt", text, &none).lines(), ["1 2", "3 4"]);
    let header = good("a.csv", "src,dst,ts\n1,2,9\n", &default());
    assert_eq!((header.schema.properties.clone(), header.lines()), (vec!["ts".into()], vec!["1 2 9".into()]));
}

#[test]
fn ids_are_told_by_the_sample_or_the_user() {
    assert_eq!(good("a.csv", "1,2\n3,4\n", &default()).schema.ids, IdKind::Int);
    // A number that is no id makes no texts of the others.
    let read = read_text("a.csv", "1,2\n-3,4\n", &default()).unwrap();
    let reason = "2: \"-3,4\": the source is negative; import with `ids = text` to take all ids as texts";
    assert_eq!((read.schema.ids, read.rejected), (IdKind::Int, vec![reason.to_owned()]));
    let text = ReadOptions { ids: PickIds::Text, ..default() };
    let read = good("a.csv", "01,2\n1,2\n", &text);
    assert_eq!((read.schema.ids, read.lines()), (IdKind::Text, vec!["01 2".into(), "1 2".into()]));
    let int = ReadOptions { ids: PickIds::Int, ..default() };
    let read = read_text("a.csv", "1,2\nx,4\n", &int).unwrap();
    assert_eq!((read.edges.len(), read.rejected.len()), (1, 1));
}

#[test]
fn several_files_are_read_as_one() {
    let parts = vec![
        Input::memory("1.csv", &b"src,dst,weight\na,b,1\n"[..]),
        Input::memory("2.csv", &b""[..]),
        Input::memory("3.csv", &b"weight,dst,src\n2.5,d,c\n"[..]),
    ];
    let all = read(&parts, &default()).unwrap();
    assert_eq!(all.lines(), ["a b 1", "c d 2.5"]);
    assert_eq!(
        all.notes,
        [
            "Reading 1.csv as CSV: source src, target dst, weight (text ids)",
            "Reading 2.csv: the file is empty (0 bytes)",
            "Reading 3.csv as CSV: source src, target dst, weight (text ids)",
        ]
    );
    let mixed = vec![parts[0].clone(), Input::memory("4.csv", &b"src,dst\na,b\n"[..])];
    let error = read(&mixed, &default()).unwrap_err().to_string();
    assert_eq!(
        error,
        "4.csv: its edge properties are none, but those of 1.csv are weight; import files of one kind together"
    );
}

#[test]
fn named_choices_override_the_sample() {
    let options = ReadOptions { header: Some(false), delimiter: Some(b','), ..default() };
    assert_eq!(good("a.csv", "source,target\na,b\n", &options).lines(), ["source target", "a b"]);
    let options = ReadOptions { header: Some(true), ..default() };
    assert_eq!(good("a.csv", "x,y\na,b\n", &options).lines(), ["a b"]);
    let options = ReadOptions { quotes: Some(false), header: Some(false), ..default() };
    assert_eq!(good("a.csv", "\"a,b\nc,d\"\n", &options).lines(), ["\"a b", "c d\""]);
    let options = ReadOptions { format: Some(Format::Tsv), header: Some(false), ..default() };
    assert_eq!(good("a.csv", "a,b\tc\n", &options).lines(), ["a,b c"]);
}

#[test]
fn quotes_between_tabs_are_told_from_the_sample() {
    let options = ReadOptions { header: Some(false), ..default() };
    let lines = |text: &str| good("a.tsv", text, &options).lines();
    assert_eq!(lines("\"a\"\"b\"\t\"two\nlines\"\n\"x\"\ty\n"), ["a\"b two\nlines", "x y"]);
    assert_eq!(lines("\"a\tb\nc\td\n"), ["\"a b", "c d"]);
    assert_eq!(lines("5\"\tb\nc\td\n"), ["5\" b", "c d"]);
    assert_eq!(lines("# the \"web\n\"a\"\tb\n"), ["a b"]);
}

#[test]
fn a_field_that_goes_on_behind_its_quote_is_one_bad_line_in_blocks_of_any_size() {
    let text = "src,dst\na\",\"\"c\",1\n\"d\"x,\"e\nf\"\ng,h\n";
    for block_bytes in 1..text.len() + 2 {
        let read = read_text("a.csv", text, &ReadOptions { block_bytes, ..default() }).unwrap();
        assert_eq!(
            (read.lines(), read.rejected.len()),
            (vec!["g h".to_owned()], 2),
            "{block_bytes} {:?}",
            read.rejected
        );
    }
}
