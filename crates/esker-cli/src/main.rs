//! The command `esker`. One file for each verb; what they do is the libraries' matter.

mod size;
mod interrupt;
mod failure;
mod text;
mod progress;
mod resources;
mod reading;
mod at;
mod encoding;
mod tiling;
mod importing;
mod opening;
mod writing;
mod feeding;
mod import;
mod generate;
mod info;
mod algorithm;
mod residency;
mod estimate;
mod run;
mod energy;
mod graph500;
mod export;
mod check;
mod add;
mod delete;
mod set;
mod commit;
mod log;
mod diff;
mod tag;
mod compact;
mod forget;
mod retain;
mod completions;

use clap::{CommandFactory, Parser, Subcommand};

use failure::Failure;

/// Keeps graphs on disk and computes on them.
#[derive(Debug, Parser)]
#[command(name = "esker", version, about, max_term_width = 110, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Read edges from files into a new database
    Import(import::ImportCommand),
    /// Make a graph from a seed, into a database or a file
    Generate(generate::GenerateCommand),
    /// Say what is in a database
    Info(info::InfoCommand),
    /// Compute on a database, or straight on a file of edges
    Run(run::RunCommand),
    /// Measure a Kronecker graph by the rules of Graph500
    Graph500(graph500::Graph500Command),
    /// Say what memory and reading a computation will need
    Estimate(estimate::EstimateCommand),
    /// Write the graph of a database in another format
    Export(export::ExportCommand),
    /// Verify every byte of a database
    Check(check::CheckCommand),
    /// Add edges of files to a database, as a version
    Add(add::AddCommand),
    /// Delete edges, or vertices, from a database
    Delete(delete::DeleteCommand),
    /// Set properties of vertices
    Set(set::SetCommand),
    /// Make changes written by hand a version
    Commit(commit::CommitCommand),
    /// List the versions of a database
    Log(log::LogCommand),
    /// Say what is different between two versions
    Diff(diff::DiffCommand),
    /// Give versions names
    Tag(tag::TagCommand),
    /// Make the layers of a database one, and win back space
    Compact(compact::CompactCommand),
    /// Forget versions
    Forget(forget::ForgetCommand),
    /// Say which versions are kept
    Retain(retain::RetainCommand),
    /// Print a completion script for a shell
    Completions(completions::CompletionsCommand),
}

#[allow(clippy::print_stderr)]
fn main() {
    let outcome = match Cli::parse().verb {
        Verb::Import(command) => command.carry_out(),
        Verb::Generate(command) => command.carry_out(),
        Verb::Info(command) => command.carry_out(),
        Verb::Run(command) => command.carry_out(),
        Verb::Graph500(command) => command.carry_out(),
        Verb::Estimate(command) => command.carry_out(),
        Verb::Export(command) => command.carry_out(),
        Verb::Check(command) => command.carry_out(),
        Verb::Add(command) => command.carry_out(),
        Verb::Delete(command) => command.carry_out(),
        Verb::Set(command) => command.carry_out(),
        Verb::Commit(command) => command.carry_out(),
        Verb::Log(command) => command.carry_out(),
        Verb::Diff(command) => command.carry_out(),
        Verb::Tag(command) => command.carry_out(),
        Verb::Compact(command) => command.carry_out(),
        Verb::Forget(command) => command.carry_out(),
        Verb::Retain(command) => command.carry_out(),
        Verb::Completions(command) => command.carry_out(&mut Cli::command()),
    };
    if let Err(failure) = outcome {
        match &failure {
            Failure::Usage(message) | Failure::Failed(message) => eprintln!("esker: {message}"),
            Failure::Interrupted => eprintln!("esker: interrupted"),
            Failure::PipeClosed => {}
        }
        std::process::exit(failure.exit_code());
    }
}
