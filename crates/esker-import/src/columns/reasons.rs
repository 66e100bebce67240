//! What is asked where a table does not tell its columns, in words.

use esker_format::value::decimal::NotId;
use esker_format::{ColumnRecord, TableRecord};
use esker_graph::{Message, Operation, Setting, message};

use super::ends::FoundEnds;
use super::pairs::EdgeEnds;
use crate::read::format::ReadOptions;

/// A column as options name it: by its name, or by its number from 1 if another has the same or it has none.
fn called(column: usize, names: &[String]) -> String {
    match names.get(column) {
        Some(name) if !name.is_empty() && names.iter().filter(|other| *other == name).count() == 1 => {
            name.clone()
        }
        _ => (column + 1).to_string(),
    }
}

/// Asks for the columns of the ends. `names` is the header, or empty; `listed` has the columns for a person.
fn undecided_ends(likely: &[EdgeEnds], names: &[String], listed: &str) -> Message {
    let named = |ends: &EdgeEnds| {
        message![
            Setting::SourceColumn.to_name(called(ends.source, names)),
            " ",
            Setting::TargetColumn.to_name(called(ends.target, names)),
        ]
    };
    let found = format!("cannot tell which columns hold the ends of the edges ({listed}); ");
    match likely {
        [] => message![found, "name them with ", Setting::SourceColumn, " and ", Setting::TargetColumn,],
        [one] => message![found, "if these are meant, say so with ", named(one)],
        several => message![found, "choose with ", Message::join(several.iter().map(named), ", or ")],
    }
}

/// Asks whether the first line of a table names its columns.
pub(crate) fn header_is_unclear(line: &str) -> Message {
    message![
        format!("cannot tell whether the first line, {line}, names the columns or is an edge: pass "),
        Setting::Header.to(true),
        " if it names them, ",
        Setting::Header.to(false),
        " if it is an edge",
    ]
}

/// How columns that are not read are stored, in an import or in a database.
pub(crate) fn store_unread(options: &ReadOptions) -> Message {
    match options.types_are_fixed {
        true if options.removes => {
            message![Setting::Property.to_some("NAME"), " removes only edges with its values of a property"]
        }
        true => message![Setting::Define.to_some("NAME:TYPE"), " stores one of them"],
        false => message![
            Setting::Property.to("all"),
            " stores every column, ",
            Setting::Property.to_some("NAME"),
            " one of them",
        ],
    }
}

/// How the integer ids of a database become texts.
pub(crate) fn ids_become_texts() -> Message {
    message!["make the ids of the database texts with ", Operation::Options.with(Setting::Ids.to("text"))]
}

/// Why a field is no id, in words.
pub(crate) fn not_id(end: &str, why: NotId, may_be_text: bool) -> Message {
    let reason = format!("the {end} {}", why.reason());
    match may_be_text && why.is_text() {
        true => message![reason, "; import with ", Setting::Ids.to("text"), " to take all ids as texts"],
        false => reason.into(),
    }
}

/// As [`not_id`], for the edges of a database, whose ids may become texts.
pub(crate) fn not_id_of_database(end: &str, why: NotId) -> Message {
    let reason = format!("the {end} {}", why.reason());
    match why.is_text() {
        true => message![reason, "; ", ids_become_texts()],
        false => reason.into(),
    }
}

/// Refuses an input whose columns are not those that the database remembers. `listed` has its own for a
/// person.
pub(crate) fn columns_do_not_fit(expected: &TableRecord, listed: &str, has_header: bool) -> Message {
    let column = |role: &str, column: &ColumnRecord| {
        let name = match column.name.as_str() {
            "" => format!("column {}", column.place + 1),
            name => name.to_owned(),
        };
        if name == role { name } else { format!("{role} {name}") }
    };
    let ends = [column("source", &expected.source), column("target", &expected.target)];
    let properties = expected.properties.iter().map(|one| column(&one.property, &one.column));
    let expected: Vec<String> = ends.into_iter().chain(properties).collect();
    let if_an_edge = match has_header {
        true => message![", or, if the first line is an edge, pass ", Setting::Header.to(false)],
        false => Message::default(),
    };
    message![
        format!(
            "the columns are not those that the database remembers of its import: expected {}; found {listed}; name the ends with ",
            expected.join(", ")
        ),
        Setting::SourceColumn,
        " and ",
        Setting::TargetColumn,
        if_an_edge,
    ]
}

impl FoundEnds {
    /// The ends, or the question which they are.
    ///
    /// # Errors
    /// The question.
    pub(crate) fn or_ask(self, names: &[String], listed: &str) -> Result<EdgeEnds, Message> {
        match self {
            Self::Sure(ends) => Ok(ends),
            Self::Unsure(likely) => Err(undecided_ends(&likely, names, listed)),
        }
    }
}
