//! The help of `-h`: what most people need of a verb, on one screen. `--help` has everything.

use clap::{Arg, Command};

/// The options that `-h` shows, of the verbs whose options do not fit a screen.
const SHOWN: [(&str, &[&str]); 33] = [
    ("add", &["src", "dst", "weight", "time", "define", "rejects", "message", "memory"]),
    ("commit", &["new", "message"]),
    ("compact", &["encoding", "heads", "renumber", "threads", "memory", "json"]),
    ("degree", &["at", "where", "kind", "direction", "ids-from", "format"]),
    ("delete", &["new", "src", "dst", "vertices", "rejects", "message", "json"]),
    ("diff", &["summary", "where", "kind", "format", "output", "json"]),
    ("draw", &["output", "ego", "hops", "vertices", "layout", "colour", "where", "at"]),
    ("edges", &["where", "at", "group-by", "count", "sum", "sort", "descending", "top", "format"]),
    ("estimate", &["at", "where", "window", "memory", "json"]),
    ("expire", &["time", "time-unit", "message", "json"]),
    ("export", &["at", "format", "where", "kind", "vertices", "force", "memory"]),
    ("follow", &["option", "weight", "where", "top", "window", "alert", "once", "keep"]),
    ("generate", &["scale", "degree", "vertices", "edges", "undirected", "weights", "seed", "force"]),
    ("get", &["at", "where", "kind", "prefix", "top", "ids-from", "format"]),
    ("graph500", &["scale", "degree", "seed", "threads", "memory", "json"]),
    ("import", &["src", "dst", "weight", "time", "kind", "undirected", "vertices", "memory", "force"]),
    ("neighbors", &["at", "where", "kind", "direction", "sort", "top", "sum", "ids-from", "format"]),
    ("options", &["copy", "freeze-size", "time", "time-unit", "ids", "forget-reading", "json"]),
    ("path", &["at", "where", "kind", "weight", "count", "avoid", "max-steps", "format"]),
    ("plot", &["output", "direction", "at", "where", "kind", "format"]),
    ("run", &["where", "at", "window", "top", "output", "store", "memory"]),
    ("set", &["vertex", "new", "schema", "clear-empty", "rejects", "message", "json"]),
    ("stream", &["follow", "commit-every", "time", "src", "dst", "expire", "rejects", "memory"]),
    ("subgraph", &["radius", "at", "where", "kind", "direction", "ids-from", "format"]),
    ("sync", &["dry-run", "keep-vertices", "allow-empty", "rejects", "src", "dst", "memory"]),
    ("vertices", &["where", "at", "group-by", "count", "sum", "sort", "descending", "top", "format"]),
    ("window", &["length", "every", "from", "where", "option", "top", "output", "format"]),
    ("cluster add", &["src", "dst", "weight", "batch", "hosts", "memory", "json"]),
    ("cluster create", &["shards", "hosts", "weights", "ids", "undirected"]),
    ("cluster delete", &["src", "dst", "batch", "hosts", "memory", "json"]),
    ("cluster follow", &["source", "from", "once"]),
    ("cluster run", &["source", "at", "output"]),
    ("cluster stream", &["follow", "source", "src", "dst", "commit-every", "memory"]),
];

/// The heading of the options that an algorithm has for itself, which are always shown.
pub(crate) const OF_ALGORITHM: &str = "Algorithm options";
/// Possible values that take more columns are left to `--help`.
const VALUES_COLUMNS: usize = 24;
/// First words that take more columns end with a comma before.
const WORDS_COLUMNS: usize = 60;
const EXAMPLES: &str = "Examples:\n";
/// The examples that are shown.
const SHOWN_EXAMPLES: usize = 3;

/// Whether the command line asks for the short help. A value that is `-h` changes nothing but help.
pub(crate) fn is_asked() -> bool {
    std::env::args_os().any(|word| word == "-h")
}

/// Shortens the help of a verb and of the verbs below it. `path` leads to it: `cluster add`.
pub(crate) fn shorten(command: Command, path: &str) -> Command {
    let command = match SHOWN.iter().find(|(verb, _)| *verb == path) {
        Some((_, shown)) => show_only(command, shown),
        None => command,
    };
    command.mut_subcommands(|below| {
        let path = format!("{path} {}", below.get_name());
        shorten(below, path.trim_start())
    })
}

/// Shortens the help of an algorithm: a subcommand of `run` and `estimate` that is made when it is used.
pub(crate) fn shorten_algorithm(command: Command) -> Command {
    match SHOWN.iter().find(|(verb, _)| *verb == "run") {
        Some((_, shown)) => show_only(command, shown).after_help(""),
        None => command,
    }
}

/// One list of the options that are shown, each with the first words of its help.
fn show_only(command: Command, shown: &[&str]) -> Command {
    let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (before, examples) = notes.split_once(EXAMPLES).unwrap_or((&notes, ""));
    let examples: Vec<_> = examples.lines().take(SHOWN_EXAMPLES).collect();
    let notes = match examples.is_empty() {
        true => before.to_owned(),
        false => format!("{before}{EXAMPLES}{}", examples.join("\n")),
    };
    command.after_help(notes).mut_args(|argument| {
        let is_shown = argument.is_positional()
            || argument.is_required_set()
            || argument.get_help_heading() == Some(OF_ALGORITHM)
            || argument.get_long().is_some_and(|name| shown.contains(&name));
        match is_shown {
            true => with_first_words(argument),
            false => argument.hide_short_help(true),
        }
    })
}

fn with_first_words(argument: Arg) -> Arg {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let end = ["; ", ": ", ". ", " [", " (", ", such as"].iter().filter_map(|stop| help.find(stop)).min();
    let mut words = help.get(..end.unwrap_or(help.len())).unwrap_or_default();
    if words.len() > WORDS_COLUMNS {
        words = words.split_once(", ").map_or(words, |(words, _)| words);
    }
    let words = words.to_owned();
    let values = argument.get_possible_values();
    let columns: usize = values.iter().map(|value| value.get_name().len() + ", ".len()).sum();
    let heading: Option<&str> = None;
    argument.help(words).help_heading(heading).hide_possible_values(columns > VALUES_COLUMNS)
}
