//! The options that say what an algorithm computes, of commands that run any algorithm.

use clap::Args;
use esker::catalogue::{Entry, Params, find};
use esker::store::{self, Snapshot};

use crate::failure::Failure;

/// Options of an algorithm, and the weight that it reads.
#[derive(Debug, Clone, Args)]
pub(crate) struct AlgorithmArgs {
    /// Option of the algorithm, such as damping=0.9; `esker run ALGORITHM --help` lists them
    #[arg(long = "option", short = 'p', value_name = "NAME=VALUE", value_parser = parse_option)]
    options: Vec<(String, String)>,
    /// Edge property that is the weight [default: the weight of the import]
    #[arg(long, value_name = "NAME")]
    weight: Option<String>,
}

impl AlgorithmArgs {
    /// The entry of an algorithm, and its options, checked.
    pub(crate) fn of(&self, algorithm: &str) -> Result<(&'static Entry, Params), Failure> {
        let entry = find(algorithm)?;
        let mut params = Params::default();
        self.options.iter().for_each(|(name, value)| params.add(name, value));
        entry.check_params(&params).map_err(|error| match Failure::from(error) {
            Failure::Usage(message) => Failure::Usage(by_name(message, entry)),
            other => other,
        })?;
        entry.check_weight(self.weight.is_some())?;
        Ok((entry, params))
    }

    /// A version with the weight that was asked for.
    pub(crate) fn weighted(&self, snapshot: Snapshot) -> Result<Snapshot, Failure> {
        Ok(self.weighted_by(snapshot)?)
    }

    /// As [`AlgorithmArgs::weighted`].
    pub(crate) fn weighted_by(&self, snapshot: Snapshot) -> store::Result<Snapshot> {
        match &self.weight {
            Some(name) => snapshot.weighted_by(name),
            None => Ok(snapshot),
        }
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
