//! `esker completions`: prints completion scripts for shells.

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use crate::failure::Outcome;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example: esker completions bash > ~/.local/share/bash-completion/completions/esker")]
pub(crate) struct CompletionsCommand {
    /// The shell
    shell: Shell,
}

impl CompletionsCommand {
    /// Prints the script of `command`.
    pub(crate) fn carry_out(&self, command: &mut Command) -> Outcome {
        let mut script = Vec::new();
        generate(self.shell, command, "esker", &mut script);
        std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?;
        Ok(())
    }
}
