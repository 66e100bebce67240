//! The arguments that select a view, and how errors read in SQL.

use esker::graph::{AlgorithmOption, Assignment, Call, Language, Setting, SettingValue};
use esker::session::Selected;
use esker::{Error, MemoryLimit, Selection, Session, SessionOptions};

use crate::table::{ArgumentType, Given, NamedArgument};

/// Named arguments that select a view, as texts and as flags. A condition is called `filter` and a window
/// `within`, because `where` and `window` are words of SQL.
const TEXTS: [&str; 6] = ["version", "filter", "kind", "within", "weight", "memory"];
const FLAGS: [&str; 3] = ["reverse", "as_undirected", "all_vertices"];

fn named(names: &[&str], kind: ArgumentType) -> Vec<NamedArgument> {
    names.iter().map(|&name| NamedArgument { name: name.to_owned(), kind }).collect()
}

/// The arguments of tables of edges: those that change no direction.
pub(crate) fn of_edges() -> Vec<NamedArgument> {
    named(&TEXTS[..4], ArgumentType::Text)
}

/// The arguments of a run.
pub(crate) fn of_runs() -> Vec<NamedArgument> {
    let mut all = named(&TEXTS, ArgumentType::Text);
    all.extend(named(&FLAGS, ArgumentType::Flag));
    all
}

/// Opens the database of the first argument.
pub(crate) fn open(given: &Given) -> Result<Session, String> {
    let path = given.positional.first().map_or("", String::as_str);
    let options = match given.text("memory") {
        Some(text) => {
            let bytes = text.parse().map_err(|_| format!("memory is a number of bytes, not {text:?}"))?;
            SessionOptions::within(MemoryLimit::of(bytes))
        }
        None => SessionOptions::default(),
    };
    Session::open_with(path, &options).map_err(said)
}

/// The view that the arguments select.
pub(crate) fn select(session: &Session, given: &Given) -> Result<Selected, String> {
    let select = || {
        let mut selection = match given.text("version") {
            Some(version) => Selection::at(version)?,
            None => Selection::latest(),
        };
        if let Some(condition) = given.text("filter") {
            selection = selection.filtered(condition)?;
        }
        if let Some(kinds) = given.text("kind") {
            selection = selection.of_kinds(kinds.split(',').map(str::trim));
        }
        if let Some(length) = given.text("within") {
            selection = selection.window(length)?;
        }
        if let Some(weight) = given.text("weight") {
            selection = selection.weighted_by(weight);
        }
        selection.reversed = given.flag("reverse");
        selection.undirected = given.flag("as_undirected");
        selection.all_vertices = given.flag("all_vertices");
        Ok(session.view(&selection)?.into_selected())
    };
    select().map_err(said)
}

/// An error in the words of SQL.
#[allow(clippy::needless_pass_by_value)] // For `map_err`.
pub(crate) fn said(error: Error) -> String {
    error.message().render(&Sql)
}

/// Arguments of table functions.
struct Sql;

impl Language for Sql {
    fn setting(&self, Assignment { setting, value }: &Assignment) -> String {
        let name = match setting {
            Setting::Where => "filter",
            Setting::Window => "within",
            other => other.word(),
        };
        match value {
            None => name.to_owned(),
            Some(SettingValue::Flag(flag)) => format!("{name} := {flag}"),
            Some(SettingValue::Number(number)) => format!("{name} := {number}"),
            Some(SettingValue::Word(text) | SettingValue::Name(text)) => {
                format!("{name} := '{}'", text.replace('\'', "''"))
            }
            Some(SettingValue::Typed { name: column, kind }) => format!("{name} := '{column}:{kind}'"),
            Some(SettingValue::Blank(what)) => format!("{name} := {what}"),
        }
    }

    fn option(&self, AlgorithmOption { name, value }: &AlgorithmOption) -> String {
        let name = name.replace('-', "_");
        match value {
            None => name,
            Some(value) => format!("{name} := '{value}'"),
        }
    }

    fn operation(&self, call: &Call) -> String {
        // What is no table function is a command.
        format!("`esker {call}`")
    }
}
