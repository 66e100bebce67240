//! Mistakes on the command line, in plain words, and as messages in which options are facts.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use esker::graph::{AlgorithmOption, Message, message};
use esker::store::io::are_same_file;

use crate::failure::Failure;

/// Says in words what Rust says of numbers.
pub(crate) fn clear(said: &str) -> String {
    const WORDS: [(&str, &str); 4] = [
        ("invalid digit found in string", "it takes a whole number, 0 or more"),
        ("cannot parse integer from empty string", "it takes a whole number"),
        ("number too large to fit in target type", "the number is too large"),
        ("invalid float literal", "it takes a number"),
    ];
    // A number of 1 or more, without the end of the range of its type.
    let said = said
        .replace(" is not in 1..18446744073709551615", ": it takes a whole number, 1 or more")
        .replace(" is not in 1..4294967295", ": it takes a whole number, 1 or more");
    match WORDS.iter().find(|(rust, _)| said.contains(rust)) {
        Some((rust, clear)) => said.replace(rust, clear),
        None => said,
    }
}

/// Refuses one file for two outputs of a command.
pub(crate) fn expect_distinct(outputs: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    for (at, &(option, path)) in outputs.iter().enumerate() {
        let Some(path) = path else { continue };
        let twin =
            outputs[..at].iter().find(|(_, other)| other.is_some_and(|other| are_same_file(other, path)));
        if let Some((other, _)) = twin {
            let path = path.display();
            return Err(Failure::Usage(format!(
                "{other} and {option} both name the file {path}: give them different files"
            )));
        }
    }
    Ok(())
}

/// What a mistake is. Of the usage it says nothing.
pub(crate) fn message(error: &clap::Error) -> Message {
    let argument = || option(&text(error, ContextKind::InvalidArg));
    let value = text(error, ContextKind::InvalidValue);
    match error.kind() {
        ErrorKind::InvalidValue => {
            let known = text(error, ContextKind::ValidValue);
            let known = if known.is_empty() { known } else { format!(": it is one of {known}") };
            message![format!("invalid value '{value}' for "), argument(), known]
        }
        ErrorKind::ValueValidation => {
            let source = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
            message![format!("invalid value '{value}' for "), argument(), format!(": {}", clear(&source))]
        }
        ErrorKind::UnknownArgument => message!["there is no argument ", argument()],
        ErrorKind::MissingRequiredArgument => message!["missing: ", argument()],
        ErrorKind::ArgumentConflict => {
            message![argument(), " cannot be used with ", option(&text(error, ContextKind::PriorArg))]
        }
        ErrorKind::InvalidSubcommand => {
            let name = text(error, ContextKind::InvalidSubcommand);
            format!("there is no subcommand '{name}'").into()
        }
        _ => {
            let said = clear(&error.to_string());
            let first = said.split("\n\n").next().unwrap_or_default();
            first.strip_prefix("error: ").unwrap_or(first).into()
        }
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// An argument as clap names it, as in `--memory <SIZE>` or `<CLUSTER>`.
fn option(named: &str) -> Message {
    match named.strip_prefix("--") {
        Some(rest) => AlgorithmOption::named(rest.split([' ', '=']).next().unwrap_or_default()).into(),
        None => named.into(),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command, value_parser};

    use super::*;

    #[test]
    fn a_mistake_names_the_option_as_a_fact_and_shows_no_usage() {
        let command = || {
            Command::new("esker")
                .arg(Arg::new("ids").long("ids").value_name("KIND").value_parser(["int", "text"]))
                .arg(Arg::new("top-n").long("top-n").value_name("N").value_parser(value_parser!(u32)))
                .arg(Arg::new("all").long("all").num_args(0).conflicts_with("ids"))
        };
        let said = |words: &[&str]| {
            let words = ["esker"].iter().chain(words);
            let error = command().try_get_matches_from(words).expect_err("a mistake");
            message(&error).to_string()
        };
        assert_eq!(said(&["--ids", "x"]), "invalid value 'x' for `ids`: it is one of int, text");
        let top = "invalid value 'x' for `top-n`: it takes a whole number, 0 or more";
        assert_eq!(said(&["--top-n", "x"]), top);
        assert_eq!(said(&["--none"]), "there is no argument `none`");
        assert_eq!(said(&["--all", "--ids", "int"]), "`all` cannot be used with `ids`");
    }
}
