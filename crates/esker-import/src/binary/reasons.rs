//! Why columns of Parquet and Arrow files are refused, and what to do.

use esker_graph::{Message, Setting, message};

/// The weight column holds something else.
pub(super) fn no_numbers(name: &str) -> Message {
    message![
        format!("the weight column {name:?} does not hold numbers: name another with "),
        Setting::Weight,
        ", or none with ",
        Setting::Weight.to(false),
    ]
}

/// The column of an end has several leaves.
pub(super) fn nested_end() -> Message {
    message![
        "the column of an end is nested; choose others with ",
        Setting::SourceColumn,
        " and ",
        Setting::TargetColumn,
    ]
}

/// The ids are times of some kind.
pub(super) fn times_as_ids(what: &str) -> Message {
    message![
        format!("the column of ids holds {what}; write them as texts or integers, or pass "),
        Setting::Ids.to("int"),
        " for the numbers in which the file keeps them",
    ]
}
