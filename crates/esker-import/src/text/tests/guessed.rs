//! Tables as people have them, generated and real: each gives the right graph, or is refused with what to
//! say. None gives another graph.

use std::fmt::Write as _;

use esker_graph::random::Random;

use super::testing::{ReadResult, read_text};
use crate::read::format::{Format, ReadOptions};

/// Kinds of ids.
#[derive(Debug, Clone, Copy)]
enum IdStyle {
    Integers,
    Sparse,
    Words,
    Hashes,
    Addresses,
}

impl IdStyle {
    const ALL: [Self; 5] = [Self::Integers, Self::Sparse, Self::Words, Self::Hashes, Self::Addresses];

    fn id(self, vertex: usize) -> String {
        const WORDS: [&str; 16] = [
            "ann", "bob", "cleo", "dan", "eve", "fay", "gus", "hal", "ivy", "jon", "kim", "lee", "mia",
            "ned", "oda", "pip",
        ];
        match self {
            Self::Integers => vertex.to_string(),
            Self::Sparse => (1_000_003 + vertex * 7919).to_string(),
            Self::Words => WORDS[vertex].to_owned(),
            Self::Hashes => {
                format!("{:08x}-f{vertex}", 0x9e37_79b9_u64.wrapping_mul(vertex as u64 + 3) as u32)
            }
            Self::Addresses => format!("10.0.{}.{}", vertex / 4, vertex * 11),
        }
    }
}

/// The value of a row.
type ValueOfRow = fn(usize) -> String;

/// Columns beside the ends: a usual name, and a value of each row.
const EXTRAS: [(&str, ValueOfRow); 9] = [
    ("amount", |row| format!("{}.{:02}", row * 37 % 900, row * 13 % 100)),
    ("count", |row| (row * 5 % 9 + 1).to_string()),
    ("date", |row| format!("2024-03-{:02}", row % 28 + 1)),
    ("at", |row| format!("2024-03-{:02}T10:00:{:02}Z", row % 28 + 1, row % 60)),
    ("is_new", |row| (row % 3 == 0).to_string()),
    ("category", |row| ["food", "rent", "travel"][row % 3].to_owned()),
    ("id", |row| (row + 1).to_string()),
    ("transaction id", |row| format!("T{:05}", 40_000 + row * 17)),
    ("note", |row| format!("paid in week {}", row % 50)),
];

/// Names of the ends that have to be understood wherever they stand.
const NAMED: [(&str, &str); 31] = [
    ("src", "dst"),
    ("Source", "Target"),
    ("from", "to"),
    ("From Account", "To Account"),
    ("from_id", "to_id"),
    ("FromNodeId", "ToNodeId"),
    ("fromnodeid", "tonodeid"),
    ("sender", "receiver"),
    ("Sender", "Recipient"),
    ("payer", "payee"),
    ("caller", "callee"),
    ("parent", "child"),
    ("id.orig_h", "id.resp_h"),
    ("follower", "followee"),
    ("source_ip", "destination_ip"),
    ("srcip", "dstip"),
    ("nameOrig", "nameDest"),
    ("citing", "cited"),
    ("u", "v"),
    ("start_id", "end_id"),
    ("node1", "node2"),
    ("protein1", "protein2"),
    ("user_a", "user_b"),
    ("from.city", "to.city"),
    ("debtor iban", "creditor iban"),
    ("origin", "destination"),
    ("saddr", "daddr"),
    ("source_name", "target_name"),
    ("sent", "received"),
    ("debit account", "credit account"),
    ("start", "end"),
];

/// Names of the ends that say nothing.
const UNKNOWN: [(&str, &str); 4] =
    [("person", "friend"), ("wer", "wen"), ("chef", "worker"), ("left_side", "thing")];

/// Edges of a small graph with a hub, without regularities.
fn edges(rows: usize) -> Vec<(usize, usize)> {
    let mut random = Random::new(7);
    let mut draw = move |below: u64| random.below(below) as usize;
    (0..rows).map(|_| (draw(16) * draw(16) / 16, draw(16))).collect()
}

/// Where the ends stand among the columns, as places of the source, of the target, and of the extras.
const ORDERS: [[usize; 2]; 5] = [[0, 1], [1, 0], [98, 99], [0, 99], [99, 0]];

/// A generated table, and the edges that it has.
struct Table {
    text: String,
    edges: Vec<String>,
}

fn table(
    style: IdStyle,
    order: [usize; 2],
    extras: &[usize],
    header: Option<(&str, &str)>,
    delimiter: char,
) -> Table {
    let (mut text, mut expected) = (String::new(), Vec::new());
    let line = |source: String, target: String, extra: &dyn Fn(usize) -> String| {
        let mut fields: Vec<String> = extras.iter().map(|&extra_column| extra(extra_column)).collect();
        // The end that stands further ahead first.
        let mut ends = [(order[0], source), (order[1], target)];
        ends.sort_by_key(|end| end.0);
        for (place, end) in ends {
            fields.insert(place.min(fields.len()), end);
        }
        fields.join(&delimiter.to_string())
    };
    if let Some((source, target)) = header {
        let names = line(source.to_owned(), target.to_owned(), &|extra| EXTRAS[extra].0.to_owned());
        writeln!(text, "{names}").unwrap();
    }
    for (row, (source, target)) in edges(60).into_iter().enumerate() {
        let [source, target] = [source, target].map(|vertex| style.id(vertex));
        expected.push(format!("{source} {target}"));
        writeln!(text, "{}", line(source, target, &|extra| EXTRAS[extra].1(row))).unwrap();
    }
    Table { text, edges: expected }
}

/// What became of a table: understood, or asked for.
fn is_understood(table: &Table, what: &str) -> bool {
    match read_text("table.csv", &table.text, &ReadOptions::default()) {
        Ok(read) => {
            let found: Vec<String> = read.edges.iter().map(|edge| edge[..2].join(" ")).collect();
            assert_eq!(found, table.edges, "{what}: {:?}\n{}", read.notes, &table.text[..200]);
            assert_eq!(read.rejected, Vec::<String>::new(), "{what}");
            true
        }
        Err(error) => {
            let told = error.to_string();
            let asks = told.contains("cannot tell") && told.contains('`');
            assert!(asks, "{what}: {told}");
            false
        }
    }
}

/// Some sets of extra columns: none, each alone, and several.
fn extra_sets() -> Vec<Vec<usize>> {
    let mut sets = vec![Vec::new()];
    sets.extend((0..EXTRAS.len()).map(|extra| vec![extra]));
    sets.extend([
        vec![2, 0],
        vec![6, 2, 5],
        vec![0, 1, 2, 3, 4, 5],
        vec![7, 3, 0, 8],
        (0..EXTRAS.len()).collect(),
    ]);
    sets
}

#[test]
fn tables_whose_header_has_usual_names_are_understood_in_every_order() {
    for style in IdStyle::ALL {
        for (at, names) in NAMED.into_iter().enumerate() {
            for (set, extras) in extra_sets().iter().enumerate() {
                // Each third combination, all of them with another order and delimiter.
                if !(at + set + style as usize).is_multiple_of(3) {
                    continue;
                }
                let order = ORDERS[(at + set) % ORDERS.len()];
                let delimiter = [',', ';', '\t', '|'][(at + set) % 4];
                let what = format!("{style:?} {names:?} {extras:?} {order:?} {delimiter:?}");
                assert!(is_understood(&table(style, order, extras, Some(names), delimiter), &what), "{what}");
            }
        }
    }
}

/// Names and places say nothing here: what columns hold decides, or the import asks. Only the direction is
/// that of the columns.
#[test]
fn tables_without_usual_names_are_understood_or_asked_for() {
    let (mut understood, mut all) = (0, 0);
    for style in IdStyle::ALL {
        for (at, names) in UNKNOWN.into_iter().enumerate() {
            for extras in extra_sets() {
                for order in [[0, 1], [98, 99], [0, 99]] {
                    let delimiter = [',', ';', '\t', '|'][at];
                    let what = format!("{style:?} {names:?} {extras:?} {order:?} {delimiter:?}");
                    all += 1;
                    understood += usize::from(is_understood(
                        &table(style, order, &extras, Some(names), delimiter),
                        &what,
                    ));
                }
            }
        }
    }
    assert!(understood * 10 > all * 7, "{understood} of {all}");
}

#[test]
fn tables_without_header_are_understood_or_asked_for() {
    let (mut understood, mut all) = (0, 0);
    for style in IdStyle::ALL {
        for extras in extra_sets() {
            for (at, order) in [[0, 1], [98, 99], [0, 99]].into_iter().enumerate() {
                // Lists of edges begin with their ends, so two leading columns of integers are these.
                let first_two: &[usize] = match order {
                    [0, 1] => &[],
                    [0, _] => &extras[..extras.len().min(1)],
                    _ => &extras[..extras.len().min(2)],
                };
                let are_integers = matches!(style, IdStyle::Integers | IdStyle::Sparse);
                if are_integers
                    && first_two.contains(&1)
                    && first_two.iter().all(|&extra| matches!(extra, 1 | 6))
                {
                    continue;
                }
                let what = format!("{style:?} without header {extras:?} {order:?}");
                all += 1;
                let delimiter = [',', ';', '\t'][at];
                understood +=
                    usize::from(is_understood(&table(style, order, &extras, None, delimiter), &what));
            }
        }
    }
    assert!(understood * 10 > all * 6, "{understood} of {all}");
}

fn good(name: &str, text: &str) -> ReadResult {
    let read = read_text(name, text, &ReadOptions::default()).unwrap();
    assert_eq!(read.rejected, Vec::<String>::new(), "{name}");
    read
}

fn refused(name: &str, text: &str) -> String {
    read_text(name, text, &ReadOptions::default()).unwrap_err().to_string()
}

#[test]
fn tables_of_real_programs() {
    let aml = "Timestamp,From Bank,Account,To Bank,Account,Amount Received,Receiving Currency,Amount Paid,Payment Currency,Payment Format,Is Laundering\n\
               2022/09/01 00:20,010,8000EBD30,010,8000EBD30,3697.34,US Dollar,3697.34,US Dollar,Reinvestment,0\n\
               2022/09/01 00:20,03208,8000F4580,001,8000F5340,0.01,US Dollar,0.01,US Dollar,Cheque,0\n";
    let asked = refused("HI-Small_Trans.csv", aml);
    for choice in
        ["`source_column = From Bank` `target_column = To Bank`", "`source_column = 3` `target_column = 5`"]
    {
        assert!(asked.contains(choice), "{asked}");
    }
    let as_pandas = aml.replacen("To Bank,Account,", "To Bank,Account.1,", 1);
    assert!(refused("a.csv", &as_pandas).contains("`source_column = Account` `target_column = Account.1`"));

    let zeek = "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n\
                #fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tservice\tduration\n\
                #types\ttime\tstring\taddr\tport\taddr\tport\tenum\tstring\tinterval\n\
                1300475167.096535\tCHhAvVGS1DHFjwGM9\t141.142.220.202\t5353\t224.0.0.251\t5353\tudp\tdns\t-\n\
                1300475168.853899\tCmES5u32sYpV7JYN\t141.142.220.118\t43927\t141.142.2.2\t53\tudp\tdns\t0.000435\n\
                #close\t2011-03-18-19-06-13\n";
    let read = good("conn.log", zeek);
    assert_eq!(
        read.edges.iter().map(|edge| edge[..2].join(" ")).collect::<Vec<_>>(),
        ["141.142.220.202 224.0.0.251", "141.142.220.118 141.142.2.2"]
    );
    let gephi =
        "Source,Target,Type,Id,Label,timeset,Weight\n1,2,Undirected,0,,,1.0\n2,3,Undirected,1,,,2.5\n";
    let read = good("edges.csv", gephi);
    assert_eq!(
        (read.lines(), read.schema.directed),
        (vec!["1 2 1".to_owned(), "2 3 2.5".to_owned()], Some(false))
    );
    let read = good("edges.csv", &gephi.replace("Undirected", "Directed"));
    assert_eq!(read.schema.directed, Some(true));

    let snap = "# Directed graph (each unordered pair of nodes is saved once): web.txt\n# FromNodeId\tToNodeId\n0\t11342\n0\t824020\n";
    assert_eq!(good("web.txt", snap).lines(), ["0 11342", "0 824020"]);
    assert_eq!(good("g.ncol", "ann bob 1.5\nbob cleo 2\n").lines(), ["ann bob 1.5", "bob cleo 2"]);
    let cargo =
        "package,dependency,kind,requirement\nserde,serde_derive,normal,^1.0\nserde_json,serde,normal,^1.0\n";
    assert_eq!(good("deps.csv", cargo).lines(), ["serde serde_derive", "serde_json serde"]);
    let string = "protein1 protein2 combined_score\n9606.ENSP1 9606.ENSP2 490\n9606.ENSP2 9606.ENSP3 198\n";
    assert_eq!(good("links.txt", string).edges.len(), 2);
    let paysim = "step,type,amount,nameOrig,oldbalanceOrg,newbalanceOrig,nameDest,oldbalanceDest,newbalanceDest,isFraud\n\
                  1,PAYMENT,9839.64,C1231006815,170136.0,160296.36,M1979787155,0.0,0.0,0\n";
    assert_eq!(good("paysim.csv", paysim).lines(), ["C1231006815 M1979787155"]);
    let index = ",person,friend\n0,ann,bob\n1,bob,cleo\n";
    assert_eq!(good("pandas.csv", index).lines(), ["ann bob", "bob cleo"]);
    assert_eq!(good("pandas.csv", "0,1\nann,bob\nbob,cleo\n").lines(), ["ann bob", "bob cleo"]);
    let interval = "person,friend,from,to\nann,bob,2001,2003\nbob,cleo,2002,2007\n";
    assert!(refused("a.csv", interval).contains("cannot tell which columns"));
    let films =
        "userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n1,1029,3.0,1260759179\n2,10,4.0,835355493\n";
    assert!(
        refused("ratings.csv", films).contains("if these are meant, say so with `source_column = userId`")
    );
    assert!(refused("people.csv", "id,name,age\n1,ann,30\n2,bob,41\n").contains("cannot tell which columns"));
    assert!(refused("tree.csv", "id,parent_id,name\n2,1,a\n3,1,b\n").contains("cannot tell which columns"));
    assert!(refused("a.csv", "ann,bob\ncleo,dan\n").contains("pass `header = true` if it names them"));
}

/// Two columns that look like ends, and others that are: the wrong ones would be taken without a word.
#[test]
fn columns_that_only_look_like_ends_are_asked_for() {
    let table = [
        // Intervals of numbers, whatever the true ends hold.
        ("node1,node2,start,end\n1,2,100,200\n2,3,150,\n", "node1"),
        ("user_id,friend_id,from,to\n1,2,2001,2003\n2,3,2002,\n", "user_id"),
        ("person,friend,from,to\nann,bob,2001,\nbob,cleo,2002,\n", "person"),
        // Two numbered attributes of other words.
        ("home,away,goals1,goals2\nA,B,2,1\n", "home"),
        ("customer,merchant,address1,address2\nA,B,x,y\n", "customer"),
        ("client,agent,phone1,phone2\nA,B,5550,5551\n", "client"),
        // Amounts.
        ("client,server,sent,received\nA,B,100,200\n", "client"),
        ("customer,merchant,debit,credit\nA,B,100,200\n", "customer"),
        // Numbered alike, but not the same things.
        ("user,movie,rating\n1,1,5.5\n1,2,3.0\n", "user"),
        ("author,paper\n1,1\n2,1\n", "author"),
    ];
    for (text, candidate) in table {
        let told = refused("a.csv", text);
        assert!(told.contains("cannot tell which columns"), "{text}: {told}");
        assert!(told.contains(&format!("source_column = {candidate}")), "{text}: {told}");
    }
    for text in ["0,12,34\n1,12,56\n", "7,0,34\n9,1,56\n"] {
        let options = ReadOptions { header: Some(false), ..ReadOptions::default() };
        let told = read_text("a.csv", text, &options).unwrap_err().to_string();
        assert!(told.contains("cannot tell which columns"), "{text}: {told}");
    }
    // Fractions are no ids.
    let read = good("a.csv", "client,server,sent,received\nA,B,1.5,2.25\n");
    assert_eq!(read.lines(), ["A B"]);
}

#[test]
fn usual_tables_beside_those_that_are_asked_for_are_understood() {
    let table = [
        ("from,to,bank,branch\n7,3,x,y\n2,9,x,z\n", "7 3"),
        ("from,to,bank,branch\nann,bob,x,y\n", "ann bob"),
        ("from_id,to_id,shop,clerk\n1,2,3,4\n", "1 2"),
        ("source,target,start,end\n1,2,100,200\n", "1 2"),
        ("node1,node2,shop,clerk\n1,2,3,4\n", "1 2"),
        ("u,v,shop,clerk\n1,2,x,y\n", "1 2"),
        ("sent,received\n1,2\n", "1 2"),
        ("start,end\n1,2\n", "1 2"),
        ("1,2,5\n2,3,5\n3,4,6\n", "1 2"),
        ("1,2\n2,7\n3,7\n", "1 2"),
    ];
    for (text, first) in table {
        let read = good("a.csv", text);
        assert!(read.lines()[0].starts_with(first), "{text}: {:?}", read.lines());
    }
}

#[test]
fn first_lines_that_may_be_edges_are_asked_for_and_edges_in_lists() {
    let table = [
        "employee,manager,role\nann,bob,manager\ncy,bob,engineer\n",
        "file,upload\nking,person\n",
        "time,clock\nhand,watch\n",
        "import-fresh,parent-module\na-b,c-d\n",
        "i,j\nj,k\nk,l\n",
        "left,right\nright,up\n",
        "localhost,example.com\na.org,b.org\nc.org,d.org\ne.org,f.org\ng.org,h.org\ni.org,j.org\nk.org,l.org\n\
         m.org,n.org\no.org,p.org\nq.org,r.org\ns.org,t.org\n",
        "alice,bob,NA\ncarol,dave,3\n",
        "who,whom,\na,b,\n",
    ];
    for text in table {
        let told = refused("a.csv", text);
        assert!(told.contains("pass `header = true` if it names them"), "{text}: {told}");
        if text.lines().all(|line| line.split(',').count() == 2) {
            let list = good("a.txt", &text.replace(',', " "));
            assert_eq!(list.edges.len(), text.lines().count(), "{text}");
        }
    }
    for list in ["head tail\nears nose\n", "parent child\nchild play\n"] {
        assert_eq!(good("a.txt", list).edges.len(), 2, "{list}");
    }
    // Empty names and numbers among names of ends.
    assert_eq!(good("a.csv", "node1,node2,\na,b,\n").lines(), ["a b"]);
    assert_eq!(good("a.csv", "source,target,2020\na,b,5\n").lines(), ["a b"]);
}

#[test]
fn the_end_that_is_not_given_is_the_other_column_of_its_kind() {
    let end = |text: &str, source: &str| {
        let options =
            ReadOptions { header: Some(false), source: Some(source.to_owned()), ..ReadOptions::default() };
        read_text("a.csv", text, &options).map(|read| read.lines()).map_err(|error| error.to_string())
    };
    let owned = |line: &str| Ok(vec![line.to_owned()]);
    assert_eq!(end("2024-01-01,ann,bob\n", "2"), owned("ann bob"));
    assert_eq!(end("1,2,x\n", "2"), owned("2 1"));
    assert_eq!(end("ann,2,bob\n", "3"), owned("bob ann"));
    let told = end("ann,bob,cleo\n", "2").unwrap_err();
    assert!(told.contains("cannot tell which columns"), "{told}");
}

#[test]
fn a_line_of_one_word_over_and_over_is_read_in_time() {
    for word in ["a", "source", "from", "node1", "x1"] {
        let line = vec![word; 60_000 / (word.len() + 1)].join(",");
        let begin = std::time::Instant::now();
        for text in [format!("{line}\n"), format!("{line}\n{line}\n")] {
            for header in [None, Some(true), Some(false)] {
                let options = ReadOptions { header, ..ReadOptions::default() };
                let _ = read_text("a.csv", &text, &options);
            }
        }
        assert!(begin.elapsed().as_secs() < 20, "{word}: {:?}", begin.elapsed());
    }
}

#[test]
fn a_column_of_types_decides_the_direction() {
    let mixed = "Source,Target,Type\na,b,Directed\nb,c,Undirected\n";
    let told = refused("a.csv", mixed);
    assert!(told.contains("`directed = true`") && told.contains("`directed = false`"), "{told}");
    let lines = |directed: bool| {
        let options = ReadOptions { directed: Some(directed), ..ReadOptions::default() };
        let read = read_text("a.csv", mixed, &options).unwrap();
        (read.lines(), read.schema.directed)
    };
    let owned = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(true), (owned(&["a b", "b c", "c b"]), Some(true)));
    assert_eq!(lines(false), (owned(&["a b", "b c"]), None));
    // A loop has one direction.
    let options = ReadOptions { directed: Some(true), ..ReadOptions::default() };
    for (loops, expected) in [
        ("Source,Target,Type\na,a,Undirected\na,b,Directed\n", ["a a", "a b"]),
        ("Source,Target,Type\n1,1,Undirected\n1,2,Directed\n", ["1 1", "1 2"]),
    ] {
        assert_eq!(read_text("a.csv", loops, &options).unwrap().lines(), expected, "{loops}");
    }
    // Behind the sample, too.
    let late = format!("Source,Target,Type\n{}x,y,Directed\n", "a,b,Undirected\n".repeat(20_000));
    let told = refused("a.csv", &late);
    assert!(told.starts_with("a.csv:20002: some edges are directed and some are not"), "{told}");
    // A column of other types is a property like others.
    let read = good("a.csv", "Source,Target,Type\na,b,road\nb,c,rail\n");
    assert_eq!((read.edges.len(), read.schema.directed), (2, None));
}

#[test]
fn a_refused_guess_reads_a_mebibyte() {
    let rows: String = (0..400_000).map(|row| format!("n{row},m{row},k{row}\n")).collect();
    let begin = std::time::Instant::now();
    let told = refused("a.csv", &rows);
    assert!(told.contains("cannot tell"), "{told}");
    assert!(begin.elapsed().as_secs() < 20);
}

#[test]
fn ids_that_become_texts_for_the_sake_of_a_few_are_a_warning() {
    let open = |text: &str| {
        let inputs = [crate::Input::memory("a.csv", text.as_bytes().to_vec())];
        let opened = crate::open::open_inputs(&inputs, &ReadOptions::default()).unwrap();
        opened.warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        open("src,dst\n1,2\n2,007\n"),
        [
            "a.csv: all ids are taken as texts, for some are no integers, such as \"007\"; `ids = int` refuses these lines"
        ]
    );
    assert_eq!(open("src,dst\na,b\nb,7\n"), Vec::<String>::new());
    assert_eq!(
        open("src,dst,kind,note\n1,2,x,y\n"),
        [
            "a.csv: the columns kind, note are not read; `property = all` stores every column, `property = NAME` one of them"
        ]
    );
    assert_eq!(Format::from_name("a.csv"), Some(Format::Csv));
}
