//! A subcommand for each algorithm of the catalogue, with the options of that algorithm and those that all
//! share.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use esker::catalogue::{CATALOGUE, Entry, Opt, OptKind, Params, Question, REFUSED_BY_ALL, WeightReads, find};
use esker::graph::Run;
use esker::store::Version;

use super::selecting::{IdList, lists_of};
use super::short_help::{self, OF_ALGORITHM};
use crate::failure::{Failure, Outcome};
use crate::language::said;
use crate::show::text;

/// Options that all algorithms of a verb share.
pub(crate) trait SharedArgs: Args {}

/// `esker VERB ALGORITHM ...`, or `esker VERB --list`.
#[derive(Debug)]
pub(crate) enum PerAlgorithm<T> {
    /// The algorithms are asked for.
    List,
    /// One of them is.
    One(Requested<T>),
}

/// An algorithm, its options, and the shared ones.
#[derive(Debug)]
pub(crate) struct Requested<T> {
    pub(crate) entry: &'static Entry,
    params: Params,
    /// The ids of more sources.
    sources: Vec<IdList>,
    pub(crate) shared: T,
    /// The names of the arguments that were given, rather than set by default.
    pub(crate) given: Vec<String>,
}

impl<T> PerAlgorithm<T> {
    /// Lists the algorithms, or carries out the request.
    pub(crate) fn carry_out(&self, request: impl FnOnce(&Requested<T>) -> Outcome) -> Outcome {
        match self {
            Self::List => {
                let width = CATALOGUE.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
                let row = |entry: &Entry| (format!("  {:<width$}", entry.name), entry.summary.to_owned());
                Question::ALL.iter().try_for_each(|question| {
                    let entries = CATALOGUE.iter().filter(|entry| entry.question == *question);
                    text::line(question.text())?;
                    text::facts(&entries.map(row).collect::<Vec<_>>())
                })
            }
            Self::One(requested) => request(requested),
        }
    }
}

impl<T> Requested<T> {
    /// The options of the algorithm, with the sources of files: a first line such as `id` is one if a vertex
    /// of the version is called so.
    ///
    /// # Errors
    /// If files name none.
    pub(crate) fn params_on(&self, version: &Version, run: &Run) -> Result<Params, Failure> {
        let is_vertex = |id: &str| version.find_vertex(id, run).is_ok();
        let ids: Vec<String> = self.sources.iter().flat_map(|list| list.ids(is_vertex)).collect();
        match ids.is_empty() && !self.sources.is_empty() {
            true => Err(Failure::Usage(NO_SOURCES.to_owned())),
            false => Ok(with_sources(&self.params, &ids)),
        }
    }

    /// The same before the vertices are known, without such lines: enough for an estimate.
    pub(crate) fn params_anywhere(&self) -> Params {
        let ids: Vec<String> = self.sources.iter().flat_map(IdList::certain).cloned().collect();
        with_sources(&self.params, &ids)
    }
}

/// There must be one source at least: none might mean all vertices.
const NO_SOURCES: &str = "the file of sources has no ids: there must be one source at least";

fn with_sources(params: &Params, ids: &[String]) -> Params {
    ids.iter().fold(params.clone(), |params, id| params.with("source", id))
}

/// The names of the arguments that were given on the command line.
fn given(matches: &ArgMatches) -> Vec<String> {
    let names = matches.ids().map(clap::Id::as_str);
    let is_given = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
    names.filter(is_given).map(str::to_owned).collect()
}

/// The argument for an option of an algorithm.
fn argument(option: &'static Opt) -> Arg {
    let argument = Arg::new(option.name).long(option.name).help(help(option)).help_heading(OF_ALGORITHM);
    if option.kind == OptKind::Flag {
        return argument.action(ArgAction::SetTrue);
    }
    argument
        .value_name(option.value_name())
        .action(if option.repeatable { ArgAction::Append } else { ArgAction::Set })
        .required(option.required && !is_sources(option))
        .required_unless_present_any((option.required && is_sources(option)).then_some(IDS_FROM))
        .allow_hyphen_values(true)
        .value_parser(move |text: &str| {
            option.check(text).map(|()| text.to_owned()).map_err(|reason| said(&reason))
        })
}

/// `Greatest number of rounds [default: 100]`.
fn help(option: &Opt) -> String {
    let mut text = option.help.to_owned();
    if let OptKind::Choice(names) = option.kind {
        text += &format!(" [possible values: {}]", names.join(", "));
    }
    if option.repeatable {
        text += "; may be given several times";
    }
    match option.default_text() {
        "" => text,
        default => format!("{text} [default: {default}]"),
    }
}

/// The option that has more sources.
const IDS_FROM: &str = "ids_from";

/// Whether an algorithm takes several sources.
fn has_sources(entry: &Entry) -> bool {
    entry.options.iter().any(is_sources)
}

fn is_sources(option: &Opt) -> bool {
    option.name == "source" && option.repeatable
}

/// The ids of more sources.
fn sources(matches: &ArgMatches) -> Result<Vec<IdList>, clap::Error> {
    let Some(file) = matches.get_one::<String>(IDS_FROM) else { return Ok(Vec::new()) };
    let failed = |reason: String| clap::Error::raw(ErrorKind::Io, reason + "\n");
    let lists = lists_of(file).map_err(|error| failed(said(&error.message())))?;
    match lists.iter().all(IdList::is_empty) {
        true => Err(failed(format!("{file} has no ids: there must be one source at least"))),
        false => Ok(lists),
    }
}

/// Adds the arguments of an algorithm to its subcommand, which is named after it.
fn complete<T: SharedArgs>(command: Command) -> Command {
    let Ok(entry) = find(command.get_name()) else { return command };
    let options = entry.options.iter().map(argument);
    let sources = has_sources(entry).then(|| {
        let help = "Read more of --source from this file, one id a line; `-` is standard input. The file may be compressed";
        Arg::new(IDS_FROM).long("ids-from").value_name("FILE").help(help).help_heading(OF_ALGORITHM).hide_short_help(true)
    });
    let options = options.chain(sources);
    let refusals = entry.refusals().into_iter().chain(REFUSED_BY_ALL);
    let notes = format!(
        "Reads: {}\nAnswer: {}\nVerification: {}\nRefuses:\n{}",
        entry.reads.describe(),
        answer(entry),
        entry.verifies,
        refusals.map(|refusal| format!("  {refusal}")).collect::<Vec<_>>().join("\n")
    );
    // The shared options have an `about` of their own.
    let command = T::augment_args(command.args(options)).about(entry.summary).long_about(None);
    let command = command.mut_args(|argument| match argument.get_id() == "weight" {
        true => weight_argument(argument, entry),
        false => argument,
    });
    let command = with_negative_numbers(command).after_help(notes);
    if short_help::is_asked() { short_help::shorten_algorithm(command) } else { command }
}

/// The argument for the weight, with the default of an algorithm.
fn weight_argument(argument: Arg, entry: &Entry) -> Arg {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let named = help.split(" [default").next().unwrap_or_default();
    match entry.reads.weights {
        WeightReads::Always => argument,
        WeightReads::IfChosen => argument.help(format!("{named} [default: none, all edges alike]")),
        WeightReads::Never => argument.help(format!("{named} [{} reads no weights]", entry.name)),
    }
}

/// Takes words that begin with a minus and go on with digits for values of the arguments, not for options.
pub(crate) fn with_negative_numbers(command: Command) -> Command {
    command.mut_args(|argument| match argument.get_action().takes_values() {
        true => argument.allow_negative_numbers(true),
        false => argument,
    })
}

/// The columns and figures of an answer.
fn answer(entry: &Entry) -> String {
    let columns = entry.columns.join(", ");
    let figures = entry.figures.join(", ");
    match (entry.columns.is_empty(), entry.figures.is_empty()) {
        (true, _) => format!("figures {figures}"),
        (false, true) => format!("columns {columns}"),
        (false, false) => format!("columns {columns}; figures {figures}"),
    }
}

impl<T: SharedArgs> Args for PerAlgorithm<T> {
    fn augment_args(command: Command) -> Command {
        let list = Arg::new("list").long("list").action(ArgAction::SetTrue).help("List the algorithms");
        let command = command
            .arg(list)
            .arg_required_else_help(true)
            .subcommand_value_name("ALGORITHM")
            .subcommand_help_heading("Algorithms")
            .allow_external_subcommands(true)
            .disable_help_subcommand(true);
        let subcommand = |entry: &Entry| {
            Command::new(entry.name).about(entry.summary).arg_required_else_help(true).defer(complete::<T>)
        };
        command.subcommands(CATALOGUE.iter().map(subcommand))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: SharedArgs> FromArgMatches for PerAlgorithm<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let unknown = |error: String| clap::Error::raw(ErrorKind::InvalidSubcommand, error + "\n");
        let Some((name, matches)) = matches.subcommand() else {
            return match matches.get_flag("list") {
                true => Ok(Self::List),
                false => Err(unknown("no algorithm is named; --list names all".to_owned())),
            };
        };
        let entry = find(name).map_err(|error| unknown(said(&error.message())))?;
        let mut params = Params::default();
        for option in entry.options {
            if option.kind == OptKind::Flag {
                if matches.get_flag(option.name) {
                    params.add(option.name, "true");
                }
            } else {
                let given = matches.get_many::<String>(option.name).into_iter().flatten();
                given.for_each(|value| params.add(option.name, value));
            }
        }
        let sources = if has_sources(entry) { sources(matches)? } else { Vec::new() };
        let shared = T::from_arg_matches(matches)?;
        Ok(Self::One(Requested { entry, params, sources, shared, given: given(matches) }))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
