//! Tables whose values are written in another way than the common one.

use esker_format::notation::Notation;

use super::testing::{ReadResult, read_text};
use crate::open::open_inputs;
use crate::read::format::{PickProperties, ReadOptions};
use crate::read::input::Input;

fn options(formats: &[&str], decimal_comma: bool, zone: Option<&str>) -> ReadOptions {
    let notation = Notation {
        formats: formats.iter().map(|format| format.parse().unwrap()).collect(),
        decimal_comma: Some(decimal_comma),
        zone: zone.map(|zone| zone.parse().unwrap()),
        ..Notation::default()
    };
    ReadOptions { properties: PickProperties::All, notation, ..ReadOptions::default() }
}

fn types(read: &ReadResult) -> Vec<String> {
    let shown = |known: &Option<esker_format::PropertyType>| {
        known.as_ref().map_or_else(|| "number".to_owned(), ToString::to_string)
    };
    read.schema.types.iter().map(shown).collect()
}

#[test]
fn values_are_read_as_the_options_say() {
    let none: &[&str] = &[];
    for (formats, comma, zone, text, expected_types, expected, rejected) in [
        // A format for all columns holds where the values fit it; a line that does not is refused.
        (
            &["%d.%m.%Y"][..],
            false,
            None,
            "from,to,day,note\na,b,21.11.2026,x\nb,c,01.01.1970,1.1.2000\nb,d,31.11.2026,x\n",
            &["date", "text"][..],
            &["a b 20778 x", "b c 0 1.1.2000"][..],
            &["4: \"b,d,31.11.2026,x\": day does not fit the date format %d.%m.%Y"][..],
        ),
        (
            &["at=%m/%d/%Y %H:%M:%S%.f"],
            false,
            None,
            "from,to,at,day\na,b,01/01/1970 00:00:01.000000007,1970-01-02\n",
            &["timestamp[ns]", "date"],
            &["a b 1000000007 1"],
            none,
        ),
        (
            &["%Y%m%d"],
            false,
            None,
            "from,to,day,n\na,b,19700102,5\nb,c,19700103,6\n",
            &["date", "number"],
            &["a b 1 5", "b c 2 6"],
            none,
        ),
        // Decimal commas: the separator is another character, or numbers are quoted.
        (
            none,
            true,
            None,
            "from;to;amount;n\na;b;1.234,56;7\nb;c;0,5;8\nc;d;1.5;9\n",
            &["number", "number"],
            &["a b 1234.56 7", "b c 0.5 8"],
            &[
                "4: \"c;d;1.5;9\": amount has a point that does not separate groups of three digits, where decimals have a comma",
            ],
        ),
        (none, true, None, "from\tto\tw\n1\t2\t1,5\n2\t3\t2\n", &["number"], &["1 2 1.5", "2 3 2"], none),
        (none, true, None, "from,to,w\n1,2,\"1,5\"\n2,3,2\n", &["number"], &["1 2 1.5", "2 3 2"], none),
        (none, true, None, "a;b;1,5\nb;c;2,5\n", &["number"], &["a b 1.5", "b c 2.5"], none),
        (none, true, None, "a b 1,5\nb c 2,5\n", &["number"], &["a b 1.5", "b c 2.5"], none),
        // Other separators within cells do not divide what commas do.
        (
            none,
            true,
            None,
            "1,2,\"1,5\",first payment\n2,3,\"2,5\",second payment\n",
            &["number", "text"],
            &["1 2 1.5 first payment", "2 3 2.5 second payment"],
            none,
        ),
        (
            none,
            true,
            None,
            "from,to,w,note\n1,2,\"1,5\",a; b\n2,3,4,c|d\n",
            &["number", "text"],
            &["1 2 1.5 a; b", "2 3 4 c|d"],
            none,
        ),
        (none, true, None, "1;2;\"1,5\"\n2;3;\"2,5\"\n", &["number"], &["1 2 1.5", "2 3 2.5"], none),
        // Local times are of the zone, whose name the type keeps.
        (
            none,
            false,
            Some("Europe/Berlin"),
            "from,to,at,day\n1,2,1970-01-01 01:00:01,1970-01-02\n2,3,1970-01-01T00:00:02Z,1970-01-03\n",
            &["timestamp[us, Europe/Berlin]", "date"],
            &["1 2 1000000 1", "2 3 2000000 2"],
            none,
        ),
        (
            &["%d.%m.%Y %H:%M"],
            true,
            Some("Europe/Berlin"),
            "from;to;at;kg\n1;2;01.07.1981 02:00;1,5\n",
            &["timestamp[us, Europe/Berlin]", "number"],
            &["1 2 362793600000000 1.5"],
            none,
        ),
    ] {
        let read = read_text("a.csv", text, &options(formats, comma, zone)).unwrap();
        assert_eq!(types(&read), expected_types, "{text}");
        assert_eq!(read.lines(), expected, "{text}");
        assert_eq!(read.rejected, rejected, "{text}");
    }
}

#[test]
fn options_that_cannot_be_meant_are_refused() {
    for (name, formats, comma, text, reason) in [
        ("a.csv", &[][..], true, "a,b,1,5\nb,c,2,5\n", "commas separate the columns"),
        ("a.csv", &[], true, "1,2,3,first payment\n2,3,4,second payment\n", "commas separate the columns"),
        ("a.csv", &[], true, "from,to,w\na,b,1,5\nb,c,2,5\n", "commas separate the columns"),
        ("a.csv", &["day=%d.%m.%Y"], false, "from,to,w\na,b,1\n", "no column \"day\""),
        (
            "a.mtx",
            &["%d.%m.%Y"],
            false,
            "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n",
            "no table",
        ),
    ] {
        let error = read_text(name, text, &options(formats, comma, None)).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
    let unread = ReadOptions { properties: PickProperties::None, ..options(&["n=%d.%m.%Y"], false, None) };
    let error = read_text("a.csv", "from,to,n\na,b,1\n", &unread).unwrap_err().to_string();
    assert!(error.contains("no effect on the column \"n\", which is not read"), "{error}");
}

#[test]
fn times_at_changes_of_the_clocks_are_counted() {
    let text = "from,to,at\n1,2,2026-10-25 02:30\n2,3,2026-03-29 02:30\n2,3,2026-03-29 03:30\n";
    let options = options(&[], false, Some("Europe/Berlin"));
    let mut opened = open_inputs(&[Input::memory("a.csv", text.as_bytes())], &options).unwrap();
    let parser = opened.reader.parser();
    while let Some(block) = opened.reader.next_block().unwrap() {
        parser.parse(block).unwrap();
    }
    let told: Vec<String> = parser.warnings().iter().map(ToString::to_string).collect();
    let twice = "1 that the clocks of their zone showed twice (the first is taken)";
    let never = "1 that they skipped (taken as long after the change)";
    assert_eq!(told, [format!("local times at changes of the clocks: {twice}, {never}")]);
}

#[test]
fn columns_that_look_like_dates_are_told() {
    for (text, expected) in [
        (
            "from,to,day\na,b,03/04/2026\n",
            Some("day=%d/%m/%Y` reads them, or %m/%d/%Y if the month comes first"),
        ),
        ("from,to,day\na,b,21.11.2026\n", Some("are kept as texts; `date_format = day=%d.%m.%Y` reads them")),
        ("from,to,day\na,b,20261121\n", Some("are kept as numbers")),
        ("from,to,day\na,b,2026-11-21\n", None),
        ("from,to,day\na,b,21.11.2026\nb,c,x\n", None),
    ] {
        let opened =
            open_inputs(&[Input::memory("a.csv", text.as_bytes())], &options(&[], false, None)).unwrap();
        let told: Vec<String> = opened.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), usize::from(expected.is_some()), "{told:?}");
        assert!(told.iter().zip(expected).all(|(told, expected)| told.contains(expected)), "{told:?}");
    }
}
