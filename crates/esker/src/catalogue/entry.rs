//! What the catalogue says about one algorithm.

use esker_algo::{Estimate, Shape};

use super::job::Job;
use super::params::{OptionSpec, Params};
use crate::answer::Answer;
use crate::error::Result;

/// One algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// The options it has.
    pub options: &'static [OptionSpec],
    /// Whether it reads the weights of edges.
    pub weighted: bool,
    /// Whether it is defined on undirected graphs alone, and refuses others.
    pub undirected: bool,
    pub(super) run: fn(&Job<'_>) -> Result<Answer>,
    pub(super) estimate: fn(Shape, &Params, &Resources) -> Result<Estimate>,
}

/// The resources of a run: what estimates and plans depend on besides the graph and the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resources {
    /// Worker threads.
    pub threads: usize,
    /// Whether the run is deterministic.
    pub deterministic: bool,
    /// The memory limit.
    pub memory_bytes: u64,
    /// The limit for memory and mapped files together: more than `memory_bytes` if the user set no limit.
    pub mapped_bytes: u64,
}

impl Entry {
    /// Runs the algorithm. Values are by vertex; external ids are the caller's matter.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for options that are unknown, missing or make no sense; what the store or the run
    /// reports; [`crate::Error::Wrong`] if the job asks for verification and it fails.
    pub fn run(&self, job: &Job<'_>) -> Result<Answer> {
        job.params.check(self.name, self.options)?;
        let answer = (self.run)(job)?;
        Ok(match job.remaining()? {
            Some(remaining) => answer.put_back(remaining),
            None => answer,
        })
    }

    /// The memory and reading that a run will need.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for options that are unknown or make no sense.
    pub fn estimate(&self, shape: Shape, params: &Params, resources: &Resources) -> Result<Estimate> {
        params.check(self.name, self.options)?;
        (self.estimate)(shape, params, resources)
    }
}
