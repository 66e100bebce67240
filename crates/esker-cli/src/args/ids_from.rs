//! `--ids-from`: ids of vertices in a file.

use clap::Args;
use esker::import::ids_of_lines;
use esker::import::read::format::ReadOptions;
use esker::import::read::input::expand;
use esker::store;

use crate::interrupt;
use crate::show::text;

/// The help of `--ids-from`.
pub(crate) const IDS_FROM_HELP: &str = "Read more ids from this file, one a line, after those that are given; `-` is standard input. The file may be \
     compressed";

/// The ids of vertices beside those on the command line.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct IdsFromArg {
    #[arg(long, value_name = "FILE", help = IDS_FROM_HELP)]
    ids_from: Option<String>,
}

impl IdsFromArg {
    /// Whether there is a file.
    pub(crate) fn is_given(&self) -> bool {
        self.ids_from.is_some()
    }

    /// Those that are given, and then those of the file.
    ///
    /// # Errors
    /// If the file cannot be read, or has a line that is no id.
    pub(crate) fn after(&self, given: &[String]) -> Result<Vec<String>, store::Error> {
        let mut ids = given.to_vec();
        if let Some(file) = &self.ids_from {
            ids.extend(ids_of(file)?);
        }
        Ok(ids)
    }
}

/// The ids of a file, or of all files of a pattern.
pub(crate) fn ids_of(file: &str) -> Result<Vec<String>, store::Error> {
    let mut ids = Vec::new();
    for input in expand(&[file], interrupt::token())? {
        let read = ids_of_lines(&input, &ReadOptions::default())?;
        if let Some(name) = read.header {
            let file = input.path();
            text::remark(&format!("Reading {}: the line {name:?} names the column of ids", file.display()));
        }
        ids.extend(read.ids);
    }
    Ok(ids)
}
