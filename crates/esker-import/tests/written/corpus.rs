//! The corpus: files that other programs wrote, in `corpus/PROGRAM/`, and beside each the graph that it
//! means.
//!
//! `NAME.meant` says of the file `NAME`:
//!
//! ```text
//! by: networkx 3.6.1                  who wrote it; "specification of ..." where the program was not run
//! call: networkx.write_gml(graph, path)
//! refused: "cannot tell" "header"     words of the message by which an import without settings stops
//! with: property=all src=from         settings of the second import, which reads the graph below
//! warned: "is not read"               words of the warnings of the import with these settings
//! weight: w                           the edge property that is the weight
//! maybe: label                        properties that may be kept or not
//! also: edges.csv                     further inputs
//! directed
//! v ann age=30 name="Ann B."          a vertex with properties; those of edges need no line
//! e ann bob w=2.5 since=2024-01-31
//! ```
//!
//! Texts are in quotes as in JSON; dates and times are not. What is missing is not listed, nor is the
//! empty text of a table that does not quote it. Parallel edges are
//! kept. An import without settings may leave out edge properties if it warns, and may have another direction
//! where the settings say it.
//!
//! `known.txt` lists files that are not read yet, or wrongly, a line each: `unread NAME: why` must be
//! refused, `fault NAME: why` may be anything but right. A line has to go when its file is read rightly.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use esker_format::io::{Disk, MemoryDisk};
use esker_graph::{Run, vertex};
use esker_import::export::{ExportGraph, ExportOptions, StoredExport, export};
use esker_import::install::import;
use esker_import::open::open;
use esker_store::Store;
use esker_store::manifest::StagingOptions;

use super::settings::Settings;
use super::written;

/// Files that the corpus has at least.
const FILES_MIN: usize = 150;

/// A vertex or an edge: its ids, and its properties as canonical text.
type Element = (Vec<String>, BTreeMap<String, String>);

/// A graph as a `.meant` file tells it, or as Esker has it.
#[derive(Debug, Default, Clone, PartialEq)]
struct Told {
    directed: bool,
    vertices: BTreeMap<Vec<String>, BTreeMap<String, String>>,
    edges: Vec<Element>,
    weight: Option<String>,
}

/// A `.meant` file.
#[derive(Debug, Default)]
struct Meant {
    refused: Option<Vec<String>>,
    settings: Settings,
    warned: Vec<String>,
    maybe: Vec<String>,
    also: Vec<String>,
    /// None if the file is refused whatever the settings are.
    graph: Option<Told>,
}

/// What an import gave.
struct Found {
    graph: Told,
    edge_properties: BTreeSet<String>,
    warnings: Vec<String>,
}

/// A file of the corpus.
struct Case {
    name: String,
    path: PathBuf,
    meant: Meant,
}

/// Splits a line at blanks outside of quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut escaped) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        if c == ' ' && !quoted {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            continue;
        }
        word.push(c);
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// A word without its quotes.
fn bare(word: &str) -> String {
    match word.starts_with('"') {
        true => serde_json::from_str(word).unwrap_or_else(|error| panic!("{word}: {error}")),
        false => word.to_owned(),
    }
}

/// A number as text: the same for `2`, `2.0` and `2e0`.
fn number(text: &str) -> Option<String> {
    if let Ok(integer) = text.parse::<i128>() {
        return Some(integer.to_string());
    }
    let float: f64 = text.parse().ok()?;
    Some(if float == float.trunc() && float.abs() < 1e15 {
        (float as i64).to_string()
    } else {
        format!("{float:e}")
    })
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// A time without zeros at the end of its fraction.
fn time(text: &str) -> String {
    let (clock, zone) = text.split_at(text.len() - usize::from(text.ends_with('Z')));
    let clock = if clock.contains('.') { clock.trim_end_matches('0').trim_end_matches('.') } else { clock };
    format!("{clock}{zone}")
}

/// A value as a `.meant` file writes it.
fn canonical(word: &str) -> String {
    match word {
        "true" | "false" => word.to_owned(),
        _ if word.starts_with('"') => quoted(&bare(word)),
        _ => number(word).unwrap_or_else(|| time(word)),
    }
}

/// A value that Esker has.
fn of_type(text: &str, type_name: &str) -> String {
    match type_name {
        "bool" => text.to_owned(),
        "text" => quoted(text),
        _ if type_name.starts_with("date") || type_name.starts_with("timestamp") => time(text),
        _ => number(text).unwrap_or_else(|| panic!("{text} is no {type_name}")),
    }
}

/// Splits `name=value`, where the name may be in quotes.
fn named_value(word: &str) -> (String, String) {
    let end = match word.strip_prefix('"') {
        Some(rest) => rest.find("\"=").map(|at| at + 2),
        None => word.find('='),
    };
    let end = end.unwrap_or_else(|| panic!("{word}: no name=value"));
    (bare(&word[..end]), canonical(&word[end + 1..]))
}

impl Told {
    fn add(&mut self, line: &str) {
        let words = words(line);
        let ends = if words[0] == "v" { 1 } else { 2 };
        let ids: Vec<String> = words[1..=ends].iter().map(|id| bare(id)).collect();
        let values = words[ends + 1..].iter().map(|word| named_value(word)).collect();
        match ends {
            1 => self.vertices.entry(ids).or_default().extend(values),
            _ => self.add_edge(ids, values),
        }
    }

    fn add_edge(&mut self, mut ends: Vec<String>, values: BTreeMap<String, String>) {
        for end in &ends {
            self.vertices.entry(vec![end.clone()]).or_default();
        }
        if !self.directed {
            ends.sort();
        }
        self.edges.push((ends, values));
    }

    fn forget_direction(&mut self) {
        self.directed = false;
        self.edges.iter_mut().for_each(|(ends, _)| ends.sort());
    }

    /// Leaves out these properties, and edge properties other than those.
    fn only(&mut self, maybe: &[String], of_edges: Option<&BTreeSet<String>>) {
        for values in self.vertices.values_mut() {
            values.retain(|name, _| !maybe.contains(name));
        }
        self.edges.iter_mut().for_each(|(_, values)| values.retain(|name, _| !maybe.contains(name)));
        if let Some(kept) = of_edges {
            self.edges.iter_mut().for_each(|(_, values)| values.retain(|name, _| kept.contains(name)));
            self.weight.take_if(|weight| !kept.contains(weight));
        }
        self.edges.sort();
    }

    fn lines(&self) -> Vec<String> {
        let line = |sign: &str, (ids, values): (&Vec<String>, &BTreeMap<String, String>)| {
            let values = values.iter().map(|(name, value)| format!(" {name}={value}"));
            format!("{sign} {}{}", ids.join(" "), values.collect::<String>())
        };
        let vertices = self.vertices.iter().map(|vertex| line("v", vertex));
        let edges = self.edges.iter().map(|(ids, values)| line("e", (ids, values)));
        let weight = self.weight.iter().map(|weight| format!("weight: {weight}"));
        let direction = if self.directed { "directed" } else { "undirected" };
        std::iter::once(direction.to_owned()).chain(weight).chain(vertices).chain(edges).collect()
    }

    /// What the other has and this has not, and the reverse.
    fn differences(&self, found: &Self) -> Option<String> {
        let (mut meant, mut extra) = (self.lines(), Vec::new());
        for line in found.lines() {
            match meant.iter().position(|other| *other == line) {
                Some(at) => drop(meant.remove(at)),
                None => extra.push(line),
            }
        }
        let shown =
            |lines: &[String]| lines.iter().take(6).map(|line| format!("\n    {line}")).collect::<String>();
        (!meant.is_empty() || !extra.is_empty()).then(|| {
            format!("meant, but not read:{}\n  read, but not meant:{}", shown(&meant), shown(&extra))
        })
    }
}

impl Meant {
    fn parse(text: &str) -> Self {
        let mut meant = Self::default();
        let (mut author, mut weight) = (BTreeSet::new(), None);
        for line in text.lines().filter(|line| !line.is_empty()) {
            let list = |rest: &str| words(rest).iter().map(|word| bare(word)).collect::<Vec<_>>();
            match line.split_once(": ") {
                Some((key @ ("by" | "call"), _)) => drop(author.insert(key)),
                Some(("refused", rest)) => meant.refused = Some(list(rest)),
                Some(("with", rest)) => meant.settings = Settings::parse(&words(rest)),
                Some(("warned", rest)) => meant.warned = list(rest),
                Some(("weight", rest)) => weight = Some(rest.to_owned()),
                Some(("maybe", rest)) => meant.maybe = list(rest),
                Some(("also", rest)) => meant.also = list(rest),
                _ => match (line, &mut meant.graph) {
                    ("directed" | "undirected", graph) => {
                        *graph = Some(Told { directed: line == "directed", ..Told::default() });
                    }
                    (_, Some(graph)) => graph.add(line),
                    _ => panic!("{line:?} is not understood"),
                },
            }
        }
        assert_eq!(author.len(), 2, "`by` and `call` are missing");
        if let Some(graph) = &mut meant.graph {
            graph.weight = weight;
        }
        assert!(meant.graph.is_some() || meant.refused.is_some(), "neither a graph nor a refusal is meant");
        meant
    }
}

/// A line of a CSV that Esker wrote; a cell that is empty without quotes is none.
fn cells(line: &[u8]) -> Vec<Option<String>> {
    let (mut cells, mut cell, mut quotes) = (Vec::new(), Vec::new(), 0);
    for &byte in line.iter().chain(b",") {
        match byte {
            b',' if quotes % 2 == 0 => {
                let text = String::from_utf8_lossy(&std::mem::take(&mut cell)).into_owned();
                cells.push((quotes > 0 || !text.is_empty()).then_some(text));
                quotes = 0;
            }
            b'"' => {
                quotes += 1;
                // The second of two quotes within a cell stands for one.
                if quotes % 2 == 1 && quotes > 1 {
                    cell.push(byte);
                }
            }
            _ => cell.push(byte),
        }
    }
    cells
}

/// Rows of a CSV, whose texts may hold ends of lines.
fn rows(text: &[u8]) -> Vec<Vec<Option<String>>> {
    let (mut rows, mut from, mut quoted) = (Vec::new(), 0, false);
    for (at, byte) in text.iter().enumerate() {
        quoted ^= *byte == b'"';
        if *byte == b'\n' && !quoted {
            rows.push(cells(&text[from..at]));
            from = at + 1;
        }
    }
    rows
}

/// The graph of a database.
fn told(store: &Store) -> (Told, BTreeSet<String>) {
    let view = store.latest().unwrap().view();
    let run = Run::with_threads(1).unwrap();
    let graph = StoredExport::new(&view, &run).unwrap();
    let mut told = Told { directed: graph.is_directed(), ..Told::default() };
    let records = graph.vertex_records();
    let mut values = vec![None; records.len()];
    for v in 0..graph.num_vertices() {
        let v = vertex(v as usize);
        let mut id = Vec::new();
        graph.write_id(v, &mut id).unwrap();
        graph.vertex_values(v, &mut values).unwrap();
        let given = records.iter().zip(&values).filter_map(|(record, value)| Some((record, value.as_ref()?)));
        let of = given.map(|(own, value)| (own.name.clone(), of_type(&value.to_string(), &own.type_name())));
        told.vertices.insert(vec![String::from_utf8_lossy(&id).into_owned()], of.collect());
    }
    let records: Vec<_> = view.version().edge_properties().cloned().collect();
    told.weight = records.iter().find(|own| own.weight).map(|own| own.name.clone());
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("edges.csv");
    export(&graph, &file, &ExportOptions::default()).unwrap();
    for mut row in rows(&std::fs::read(file).unwrap()).into_iter().skip(1) {
        let values = row.split_off(2).into_iter().zip(&records);
        let values =
            values.filter_map(|(cell, own)| Some((own.name.clone(), of_type(&cell?, &own.type_name()))));
        told.add_edge(row.into_iter().map(Option::unwrap_or_default).collect(), values.collect());
    }
    (told, records.into_iter().map(|own| own.name).collect())
}

impl Case {
    fn read(&self, settings: &Settings) -> Result<Found, String> {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let beside = self.path.parent().unwrap();
        let inputs: Vec<String> = std::iter::once(self.path.clone())
            .chain(self.meant.also.iter().map(|name| beside.join(name)))
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        let (read, options) = settings.options(beside);
        let opened = open(&inputs, &read).map_err(|error| error.to_string())?;
        let mut warnings = opened.warnings;
        let target = Path::new("/corpus.esker");
        let report = import(&disk, opened.reader, target, &options, StagingOptions::default())
            .map_err(|error| error.to_string())?;
        warnings.extend(report.warnings);
        let (graph, edge_properties) =
            told(&Store::open_on(disk, target).map_err(|error| error.to_string())?);
        Ok(Found { graph, edge_properties, warnings: warnings.iter().map(ToString::to_string).collect() })
    }

    /// Whether the graph is the meant one; of `some` edge properties alone, the others have to be warned of.
    fn compare(&self, found: &Found, some: bool) -> Result<(), String> {
        let mut meant = self.meant.graph.clone().ok_or("it is read, but a refusal is meant")?;
        let mut graph = found.graph.clone();
        let all: BTreeSet<_> = meant.edges.iter().flat_map(|(_, values)| values.keys().cloned()).collect();
        if some && !all.is_subset(&found.edge_properties) && found.warnings.is_empty() {
            return Err("edge properties are left out without a warning".to_owned());
        }
        if meant.weight.is_none() {
            graph.weight = None;
        }
        if some && self.meant.settings.give_direction() {
            meant.forget_direction();
            graph.forget_direction();
            if self.meant.settings.join_both_ends() {
                let back = meant.edges.clone();
                meant.edges.extend(back.into_iter().filter(|(ends, _)| ends[0] != ends[1]));
            }
        }
        meant.only(&self.meant.maybe, some.then_some(&found.edge_properties));
        graph.only(&self.meant.maybe, None);
        meant.differences(&graph).map_or(Ok(()), Err)
    }

    /// Whether the file is read as it is meant, or refused so.
    fn check(&self) -> Result<(), String> {
        let Meant { refused, settings, warned, graph, .. } = &self.meant;
        let plain = self.read(&Settings::default());
        match (refused, &plain) {
            (Some(words), Err(message)) => {
                let missing: Vec<_> = words.iter().filter(|word| !message.contains(*word)).collect();
                if !missing.is_empty() {
                    return Err(format!("the message lacks {missing:?}: {message}"));
                }
            }
            (Some(_), Ok(found)) => {
                let lines = found.graph.lines();
                return Err(format!("it is read without settings, but a refusal is meant:\n  {lines:?}"));
            }
            (None, Err(message)) => return Err(format!("it is refused without settings: {message}")),
            (None, Ok(found)) => self.compare(found, true)?,
        }
        if graph.is_none() {
            return Ok(());
        }
        let found = if settings.is_empty() { plain } else { self.read(settings) };
        let found = found.map_err(|message| format!("it is refused with its settings: {message}"))?;
        self.compare(&found, false)?;
        let warnings = found.warnings.join("\n");
        match warned.iter().find(|word| !warnings.contains(*word)) {
            Some(word) => Err(format!("the warnings lack {word:?}: {warnings}")),
            None => Ok(()),
        }
    }
}

/// All files of the corpus, in the order of their names.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut others = BTreeSet::new();
    for program in std::fs::read_dir(written("corpus")).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(files) = std::fs::read_dir(&program) else { continue };
        for path in files.map(|entry| entry.unwrap().path()) {
            match path.to_str().unwrap().strip_suffix(".meant") {
                Some(of) => {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let name = Path::new(of).strip_prefix(written("corpus")).unwrap();
                    cases.push(Case {
                        name: name.to_str().unwrap().to_owned(),
                        path: of.into(),
                        meant: Meant::parse(&text),
                    });
                }
                None => drop(others.insert(path)),
            }
        }
    }
    for case in &cases {
        assert!(others.remove(&case.path), "{} is missing", case.name);
    }
    for case in &cases {
        let also = case.meant.also.iter().chain(&case.meant.settings.vertices);
        for name in also {
            others.remove(&case.path.with_file_name(name));
        }
    }
    assert!(others.is_empty(), "not said what they mean: {others:?}");
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

/// What `known.txt` says of a file.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    Unread,
    Fault,
}

fn known() -> BTreeMap<String, Known> {
    let text = std::fs::read_to_string(written("corpus/known.txt")).unwrap();
    let entry = |line: &str| {
        let (kind, rest) = line.split_once(' ')?;
        let (name, why) = rest.split_once(": ")?;
        assert!(!why.is_empty(), "{line}: no reason");
        let kind = match kind {
            "unread" => Known::Unread,
            "fault" => Known::Fault,
            _ => return None,
        };
        Some((name.to_owned(), kind))
    };
    text.lines().map(|line| entry(line).unwrap_or_else(|| panic!("known.txt: {line}"))).collect()
}

/// What is wrong with a file, if anything.
fn complaint(case: &Case, known: Option<Known>) -> Option<String> {
    match (known, case.check()) {
        (None, Ok(())) | (Some(Known::Fault), Err(_)) => None,
        (None, Err(why)) => Some(why),
        (Some(_), Ok(())) => Some("it is read rightly now: delete its line in corpus/known.txt".to_owned()),
        (Some(Known::Unread), Err(why)) => {
            let misread = case.read(&Settings::default()).is_ok();
            misread.then(|| {
                format!("it is not refused, as a file in a format that is not read has to be: {why}")
            })
        }
    }
}

#[test]
fn files_of_other_programs_mean_what_their_writers_meant() {
    let (cases, known) = (cases(), known());
    assert!(cases.len() >= FILES_MIN, "{} files", cases.len());
    let names: BTreeSet<_> = cases.iter().map(|case| &case.name).collect();
    for name in known.keys() {
        assert!(names.contains(name), "known.txt names {name}, which is no file");
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let known = known.get(&case.name).copied();
            let why =
                std::panic::catch_unwind(|| complaint(case, known)).unwrap_or(Some("it panics".to_owned()));
            wrong.extend(why.map(|why| format!("{}: {why}", case.name)));
        }
        wrong
    };
    let mut wrong: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    wrong.sort();
    assert!(wrong.is_empty(), "{} of {} files differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
