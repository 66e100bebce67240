//! The options of algorithms on the command line, made from the catalogue.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use esker::catalogue::{CATALOGUE, Params};

/// The options that were given to the algorithm.
#[derive(Debug, Clone, Default)]
pub(crate) struct AlgorithmArgs(pub(crate) Params);

/// Every option of every algorithm once: its name, what its value is, help, and who has it.
fn options() -> Vec<(&'static str, &'static str, String)> {
    let mut options: Vec<(&'static str, &'static str, Vec<String>)> = Vec::new();
    for entry in CATALOGUE {
        for spec in entry.options {
            let help = format!("{} ({})", spec.help, entry.name);
            match options.iter_mut().find(|(name, _, _)| *name == spec.name) {
                Some((_, _, helps)) => helps.push(help),
                None => options.push((spec.name, spec.value, vec![help])),
            }
        }
    }
    options.into_iter().map(|(name, value, helps)| (name, value, helps.join("; "))).collect()
}

impl Args for AlgorithmArgs {
    fn augment_args(mut command: Command) -> Command {
        for (name, value, help) in options() {
            let argument = Arg::new(name).long(name).help(help).help_heading("Options of algorithms");
            command = command.arg(if value.is_empty() {
                argument.action(ArgAction::SetTrue)
            } else {
                argument.value_name(value).action(ArgAction::Append).allow_hyphen_values(true)
            });
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AlgorithmArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut params = Params::default();
        for (name, value, _) in options() {
            if value.is_empty() {
                if matches.get_flag(name) {
                    params.add(name, "true");
                }
            } else {
                for given in matches.get_many::<String>(name).into_iter().flatten() {
                    params.add(name, given);
                }
            }
        }
        Ok(Self(params))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The names of all algorithms and what they do, for help.
pub(crate) fn list() -> String {
    let lines: Vec<String> =
        CATALOGUE.iter().map(|entry| format!("  {:<14} {}", entry.name, entry.summary)).collect();
    format!("Algorithms:\n{}", lines.join("\n"))
}
