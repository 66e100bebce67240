//! The pages of algorithms and formats, and the guide that says how to add one, agree with the catalogues.

use std::path::{Path, PathBuf};

use esker::catalogue::{CATALOGUE, Entry, Opt, OptKind, REFUSED_BY_ALL, ReadPattern};
use esker::import::read::format::Format;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The rows of the table of options on a page: option, meaning, default.
fn rows(page: &str) -> Vec<[String; 3]> {
    let table = page.lines().skip_while(|line| *line != "| option | meaning | default |").skip(2);
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        <[&str; 3]>::try_from(cells).expect("three cells").map(str::to_owned)
    };
    table.take_while(|line| line.starts_with('|')).map(row).collect()
}

/// Compares a row with an option.
fn agrees(page: &str, [usage, meaning, default]: &[String; 3], option: &Opt) {
    let Opt { name, required, repeatable, .. } = *option;
    let expected = match option.kind {
        OptKind::Flag => format!("`--{name}`"),
        _ => format!("`--{name} {}`", option.value_name()),
    };
    assert_eq!(usage, &expected, "{page}");
    assert_eq!(meaning.contains("may be given several times"), repeatable, "{page}: {name}");
    assert_eq!(default == "required", required, "{page}: {name}");
    let expected = match option.kind {
        _ if required => "required",
        OptKind::Flag => "off",
        _ => option.default_text(),
    };
    assert_eq!(default.replace('`', ""), expected, "{page}: {name}");
    if let OptKind::Choice(names) = option.kind {
        for value in names {
            assert!(meaning.contains(&format!("`{value}`")), "{page}: {name} may be {value}");
        }
    }
}

fn check_page(entry: &Entry) {
    let path = format!("docs/algorithms/{}.md", entry.name);
    let page = read(&path);
    assert!(page.starts_with(&format!("# {}\n", entry.name)), "{path}: the title");
    assert!(page.contains(&format!("esker run {} DATABASE", entry.name)), "{path}: the usage");
    let rows = rows(&page);
    let named: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(rows.len(), entry.options.len(), "{path}: {named:?}");
    rows.iter().zip(entry.options).for_each(|(row, option)| agrees(&path, row, option));
}

#[test]
fn every_algorithm_has_a_page_with_its_options() {
    let (summary, index) = (read("docs/SUMMARY.md"), read("docs/algorithms.md"));
    for entry in CATALOGUE {
        check_page(entry);
        let link = format!("[{0}](algorithms/{0}.md)", entry.name);
        assert!(summary.contains(&link) && index.contains(&link), "{} is not linked", entry.name);
    }
    let pages = std::fs::read_dir(root().join("docs/algorithms")).expect("pages").count();
    assert_eq!(pages, CATALOGUE.len(), "a page without an algorithm");
}

/// The algorithms by what they make of lists that arrive in pieces, and of several edges from one vertex to
/// another.
#[test]
fn the_index_says_which_algorithms_read_pieces_and_count_copies() {
    let index = read("docs/algorithms.md");
    for (title, by_list) in [("in pieces", false), ("list by list", true)] {
        let names = |counts_copies: bool| {
            let reads = |entry: &&Entry| {
                let is_by_list = entry.reads.pattern == ReadPattern::Points;
                (is_by_list, entry.reads.counts_copies) == (by_list, counts_copies)
            };
            let names = CATALOGUE.iter().filter(reads).map(|entry| format!("`{}`", entry.name));
            names.collect::<Vec<_>>().join(", ")
        };
        let row = format!("| {title} | {} | {} |", names(true), names(false));
        assert!(index.lines().any(|line| line == row), "docs/algorithms.md lacks the row {row}");
    }
}

/// What the algorithms refuse, in the order of the catalogue, as rows of a table.
fn refusal_rows() -> Vec<String> {
    let mut rows: Vec<((&str, &str), Vec<String>)> = Vec::new();
    for entry in CATALOGUE {
        for refusal in entry.refusals() {
            let name = match refusal.with {
                None => format!("`{}`", entry.name),
                Some((option, values)) => format!("`{} --{option}` {}", entry.name, values.join(" or ")),
            };
            let key = (refusal.what, refusal.why);
            match rows.iter_mut().find(|(other, _)| *other == key) {
                Some((_, names)) => names.push(name),
                None => rows.push((key, vec![name])),
            }
        }
    }
    rows.extend(REFUSED_BY_ALL.map(|refusal| ((refusal.what, refusal.why), vec!["all".to_owned()])));
    rows.into_iter()
        .map(|((what, why), names)| format!("| {what} | {} | {why} |", names.join(", ")))
        .collect()
}

#[test]
fn the_index_says_what_each_algorithm_refuses_and_why() {
    let index = read("docs/algorithms.md");
    let table = index.lines().skip_while(|line| *line != "| refused | by | why |").skip(2);
    let found: Vec<&str> = table.take_while(|line| line.starts_with('|')).collect();
    let expected = refusal_rows();
    assert_eq!(found, expected, "docs/algorithms.md should say:\n{}", expected.join("\n"));
}

#[test]
fn the_page_on_formats_has_each_format() {
    let page = read("docs/formats.md");
    let rows = page.lines().skip_while(|line| !line.starts_with("| name |")).skip(2);
    let cells = rows.take_while(|line| line.starts_with('|')).filter_map(|row| row.split('|').nth(1));
    let found: Vec<&str> =
        cells.flat_map(|cell| cell.split(',')).map(|name| name.trim().trim_matches('`')).collect();
    let expected: Vec<&str> = Format::all().map(Format::name).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_guide_names_files_that_exist() {
    let guide = read("docs/adding-an-algorithm.md");
    let named =
        |line: &str| line.strip_prefix("| `").map(|rest| rest.split('`').next().unwrap_or("").to_owned());
    let files: Vec<String> = guide.lines().filter_map(named).filter(|name| name.contains('/')).collect();
    assert_eq!(files.len(), 5, "{files:?}");
    for file in files {
        assert!(file.contains("closeness") && root().join(&file).is_file(), "{file}");
    }
}

#[test]
fn the_guide_to_formats_names_files_that_exist() {
    names_files("docs/adding-a-format.md", "colouring.rs", &["", "crates/esker-import/src/"]);
}

#[test]
fn the_guide_to_residencies_names_files_that_exist() {
    let folders =
        ["", "crates/", "crates/esker/src/", "crates/esker-store/src/view/", "crates/esker-layers/src/"];
    names_files("docs/adding-a-residency.md", "warm.rs", &folders);
}

#[test]
fn the_guide_to_the_file_format_names_files_that_exist() {
    let folders = ["", "crates/", "crates/esker-format/src/"];
    names_files("docs/changing-the-file-format.md", "none.rs", &folders);
}

/// Checks that the files that a guide names lie in one of some folders; those of its example are `new`.
fn names_files(guide: &str, new: &str, folders: &[&str]) {
    let guide = read(guide);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let files = guide.split(|c| !is_part(c)).filter(|word| word.ends_with(".rs") || word.ends_with(".py"));
    let files: Vec<&str> = files.filter(|file| !file.ends_with(new)).collect();
    assert!(files.len() > 5, "{files:?}");
    for file in files {
        assert!(folders.iter().any(|folder| root().join(folder).join(file).is_file()), "{file}");
    }
}
