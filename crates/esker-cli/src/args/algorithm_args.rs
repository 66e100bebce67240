//! The options that say what an algorithm computes, of commands that run any algorithm.

use std::path::Path;

use clap::Args;
use esker::catalogue::{Entry, Params, find};
use esker::store::{self, View};

use crate::failure::Failure;
use crate::language::said;

/// Options of an algorithm, the weight that it reads, and whether it reads the directions of edges.
#[derive(Debug, Clone, Args)]
pub(crate) struct AlgorithmArgs {
    /// Option of the algorithm, such as damping=0.9; `esker run ALGORITHM --help` lists them
    #[arg(long = "option", short = 'p', value_name = "NAME=VALUE", value_parser = parse_option)]
    options: Vec<(String, String)>,
    /// Edge property that is the weight [default: the weight of the import; none for algorithms that read
    /// only weights that are named, see `esker run ALGORITHM --help`]
    #[arg(long, value_name = "NAME")]
    weight: Option<String>,
    /// Read a directed graph as undirected: `a -> b` and `b -> a` become one edge with the smaller weight; if
    /// parallel edges are kept, each stays an edge
    #[arg(long)]
    as_undirected: bool,
}

/// Commands that answer questions without an algorithm.
const QUESTIONS: [&str; 7] = ["degree", "edges", "get", "neighbors", "path", "subgraph", "vertices"];

impl AlgorithmArgs {
    /// The entry of an algorithm, and its options, checked.
    pub(crate) fn of(&self, algorithm: &str) -> Result<(&'static Entry, Params), Failure> {
        let entry = find(algorithm).map_err(|error| match Path::new(algorithm).exists() {
            true => Failure::Usage(format!(
                "{algorithm} is a file, not an algorithm: the algorithm comes first, then the database"
            )),
            false if QUESTIONS.contains(&algorithm) => Failure::Usage(format!(
                "{algorithm} is a command of its own, not an algorithm: see `esker {algorithm} --help`"
            )),
            false => error.into(),
        })?;
        let mut params = Params::default();
        self.options.iter().for_each(|(name, value)| params.add(name, value));
        entry.check_params(&params).map_err(|error| match Failure::from(error) {
            Failure::Library(error) => Failure::Usage(by_name(said(&error.message), entry)),
            other => other,
        })?;
        entry.check_weight(self.weight.is_some())?;
        Ok((entry, params))
    }

    /// A version as the algorithm reads it: with the weight that was asked for, and without directions if
    /// that was.
    pub(crate) fn of_version(&self, view: View) -> store::Result<View> {
        let view = match &self.weight {
            Some(name) => view.weighted_by(name)?,
            None => view,
        };
        Ok(if self.as_undirected { view.as_undirected() } else { view })
    }
}

/// A message about options of `esker run`, with these as they are given here.
fn by_name(message: String, entry: &Entry) -> String {
    entry.options.iter().fold(message, |message, option| {
        let (name, value) = (option.name, option.value_name());
        message
            .replace(&format!("--{name} {value}:"), &format!("-p {name}={value}:"))
            .replace(&format!("--{name}"), &format!("-p {name}"))
    })
}

/// Parses `NAME=VALUE`.
fn parse_option(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = parts.ok_or_else(|| format!("{text:?} is not NAME=VALUE, such as damping=0.9"))?;
    Ok((name.trim_start_matches('-').to_owned(), value.to_owned()))
}
