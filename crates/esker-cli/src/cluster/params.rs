//! The algorithms of a cluster and their options, as `esker_cluster::catalogue` has them.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use esker_cluster::algorithm::RunOption;
use esker_cluster::catalogue::{CATALOGUE, CatalogueEntry};
use esker_cluster::model::manifest::MANIFEST_NAME;

/// The algorithms for the end of a help text, with what each computes.
pub(super) fn algorithms(is_wanted: fn(&CatalogueEntry) -> bool) -> String {
    let wanted = || CATALOGUE.iter().filter(|entry| is_wanted(entry)).map(|entry| &entry.algorithm);
    let width = wanted().map(|algorithm| algorithm.name.len()).max().unwrap_or(0);
    let lines = wanted().map(|algorithm| format!("\n  {:<width$}  {}", algorithm.name, algorithm.about));
    format!("Algorithms:{}", lines.collect::<String>())
}

/// Refuses a cluster in the place of an algorithm: once it came first.
pub(super) fn not_a_cluster(algorithm: &str) -> Result<String, String> {
    match Path::new(algorithm).join(MANIFEST_NAME).exists() {
        true => Err("this is a cluster: the algorithm comes first, then the cluster".to_owned()),
        false => Ok(algorithm.to_owned()),
    }
}

/// The options of all algorithms: those that are given, in order.
#[derive(Debug, Default)]
pub(super) struct AlgorithmParams(pub(super) Vec<(String, String)>);

/// Each option, with the algorithms that have it.
fn options() -> Vec<(&'static str, Vec<(&'static str, RunOption)>)> {
    let mut found: Vec<(&str, Vec<_>)> = Vec::new();
    for algorithm in CATALOGUE.iter().map(|entry| &entry.algorithm) {
        for option in algorithm.options {
            match found.iter_mut().find(|(name, _)| *name == option.name) {
                Some((_, of)) => of.push((algorithm.name, *option)),
                None => found.push((option.name, vec![(algorithm.name, *option)])),
            }
        }
    }
    found
}

impl Args for AlgorithmParams {
    fn augment_args(command: Command) -> Command {
        let arguments = options().into_iter().map(|(name, of)| {
            let help: Vec<_> = of.iter().map(|(name, option)| format!("{name}: {}", option.about)).collect();
            // The library refuses several values where an algorithm takes one.
            let argument = Arg::new(name).long(name).action(ArgAction::Append).help(help.join("; "));
            argument.value_name(of.first().map_or("VALUE", |(_, option)| option.value_name))
        });
        command.args(arguments)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AlgorithmParams {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |name: &'static str| {
            let values = matches.get_many::<String>(name).into_iter().flatten();
            values.map(move |value| (name.to_owned(), value.clone()))
        };
        Ok(Self(options().into_iter().flat_map(|(name, _)| given(name)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
