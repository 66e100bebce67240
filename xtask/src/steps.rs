//! Commands that run one after another, each with its time.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A command, and the variables of its environment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    pub(crate) words: Vec<String>,
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// How a step ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) success: bool,
    pub(crate) took: Duration,
    /// The lines of its standard output that were asked for.
    pub(crate) kept: Vec<String>,
}

impl Step {
    /// A step of words separated by blanks.
    pub(crate) fn new(line: &str) -> Self {
        Self { words: line.split_whitespace().map(str::to_owned).collect(), variables: Vec::new() }
    }

    /// The same with a variable.
    pub(crate) fn with(mut self, name: &'static str, value: u32) -> Self {
        self.variables.push((name, value.to_string()));
        self
    }

    /// The step as one types it in a shell.
    pub(crate) fn line(&self) -> String {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}={value}"));
        variables.chain(self.words.iter().cloned()).collect::<Vec<_>>().join(" ")
    }

    /// Runs in the root of the workspace. Passes all output on, and keeps the lines of standard output that
    /// `keep` accepts.
    #[allow(clippy::print_stdout)]
    pub(crate) fn run(&self, root: &Path, keep: impl Fn(&str) -> bool) -> std::io::Result<Ended> {
        println!("\n== {}", self.line());
        let start = Instant::now();
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).envs(self.variables.iter().map(|(name, value)| (name, value)));
        let mut child = command.current_dir(root).stdout(Stdio::piped()).spawn()?;
        let mut kept = Vec::new();
        for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
            let line = line?;
            writeln!(std::io::stdout(), "{line}")?;
            if keep(&line) {
                kept.push(line);
            }
        }
        Ok(Ended { success: child.wait()?.success(), took: start.elapsed(), kept })
    }
}
