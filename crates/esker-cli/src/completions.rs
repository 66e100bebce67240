//! `esker completions`: scripts for shells.

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::failure::Outcome;

/// Completion scripts.
#[derive(Debug, Args)]
#[command(after_help = "Example: esker completions bash > ~/.local/share/bash-completion/completions/esker")]
pub(crate) struct CompletionsCommand {
    /// The shell
    shell: Shell,
}

impl CompletionsCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let mut script = Vec::new();
        generate(self.shell, &mut crate::Cli::command(), "esker", &mut script);
        std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?;
        Ok(())
    }
}
