//! The command `esker`: one file per verb. The work itself is done by the library `esker`.

mod interrupt;
mod language;
mod failure;
mod show;
mod args;
mod session;
mod window;
#[cfg(feature = "cluster")]
mod cluster;
mod verbs;

use std::panic::{catch_unwind, resume_unwind};
use std::path::Path;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use esker::store::{ErrorKind, Reported};

/// An embedded, persistent, versioned graph store with a parallel analytics engine.
#[derive(Debug, Parser)]
#[command(name = "esker", version, max_term_width = 110, arg_required_else_help = true)]
#[command(after_help = "Exit codes:
  0    success
  1    failure; of several versions, the message names those that were committed
  2    bad usage
  3    the change is done and durable, but what came after it failed (--freeze, the report): do not repeat the command
  130  interrupted")]
struct Cli {
    /// Print no facts, notes or progress on standard error
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Import(verbs::import::ImportCommand),
    Generate(verbs::generate::GenerateCommand),
    Info(verbs::info::InfoCommand),
    Run(Box<verbs::run::RunCommand>),
    Window(window::WindowCommand),
    Follow(verbs::follow::FollowCommand),
    Graph500(verbs::graph500::Graph500Command),
    Estimate(verbs::estimate::EstimateCommand),
    Export(verbs::export::ExportCommand),
    Get(verbs::get::GetCommand),
    Degree(verbs::degree::DegreeCommand),
    Neighbors(verbs::neighbors::NeighborsCommand),
    Path(verbs::path::PathCommand),
    Subgraph(verbs::subgraph::SubgraphCommand),
    Edges(verbs::edges::EdgesCommand),
    Vertices(verbs::vertices::VerticesCommand),
    Draw(verbs::draw::DrawCommand),
    Plot(verbs::plot::PlotCommand),
    Check(verbs::check::CheckCommand),
    Add(verbs::add::AddCommand),
    Sync(verbs::sync::SyncCommand),
    Stream(verbs::stream::StreamCommand),
    Delete(verbs::delete::DeleteCommand),
    Expire(verbs::expire::ExpireCommand),
    Set(verbs::set::SetCommand),
    Commit(verbs::commit::CommitCommand),
    Log(verbs::log::LogCommand),
    Diff(verbs::diff::DiffCommand),
    Tag(verbs::tag::TagCommand),
    Compact(verbs::compact::CompactCommand),
    Forget(verbs::forget::ForgetCommand),
    Retain(verbs::retain::RetainCommand),
    Options(verbs::options::OptionsCommand),
    Recover(verbs::recover::RecoverCommand),
    Backup(verbs::backup::BackupCommand),
    Restore(verbs::backup::RestoreCommand),
    Doctor(verbs::doctor::DoctorCommand),
    #[cfg(feature = "serve")]
    Serve(verbs::serve::ServeCommand),
    #[cfg(feature = "mcp")]
    Mcp(verbs::mcp::McpCommand),
    #[cfg(feature = "cluster")]
    Cluster(cluster::ClusterCommand),
    Completions(verbs::completions::CompletionsCommand),
}

/// The command line. Words that begin with a minus and go on with digits are numbers, not options.
fn parse() -> Cli {
    let mut command = Cli::command();
    numbers_may_be_negative(&mut command);
    if args::short_help::is_asked() {
        command =
            args::short_help::shorten(command.mut_arg("quiet", |quiet| quiet.hide_short_help(true)), "");
    }
    let matches = command.try_get_matches().unwrap_or_else(|error| clarify(&error));
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| clarify(&error))
}

/// For all verbs; the subcommands of algorithms are completed when they are used.
fn numbers_may_be_negative(command: &mut clap::Command) {
    *command = args::algorithm::with_negative_numbers(std::mem::take(command));
    command.get_subcommands_mut().for_each(numbers_may_be_negative);
}

/// Ends the process with a message about the command line.
fn clarify(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit()
    }
    let (said, plain) = (error.to_string(), args::mistake::clear(&error.to_string()));
    if show::text::as_json() {
        let (kind, message) = (ErrorKind::Usage, args::mistake::message(error));
        show::text::warn_as_json(&Reported { kind, message }, None);
    } else if plain == said {
        // In colours.
        error.exit()
    } else {
        show::text::warn(plain.trim_end());
    }
    std::process::exit(error.exit_code())
}

/// Lets a commit that exceeds the memory limit lie in a scratch file.
#[global_allocator]
static HEAP: esker::store::io::PagedHeap = esker::store::io::PagedHeap;

fn main() {
    interrupt::end_before_work(|| show::text::end_process(&failure::Failure::Interrupted));
    let cli = parse();
    esker::store::io::end_on_failing_pages(failure::EXIT_FAILED);
    if cli.quiet {
        show::text::be_quiet();
    }
    esker::silence_panics_of_changed_maps();
    if let Err(failure) = guarded(cli.verb) {
        show::text::end_process(&failure);
    }
}

/// Carries out a verb. If another program wrote to a mapped file meanwhile, that is the failure, whatever
/// came of it.
fn guarded(verb: Verb) -> failure::Outcome {
    let outcome = catch_unwind(|| carry_out(verb));
    match (outcome, esker::check_maps(Path::new(""))) {
        (Ok(Ok(())) | Err(_), Err(changed)) => Err(changed.into()),
        (Ok(outcome), _) => outcome,
        (Err(panic), Ok(())) => resume_unwind(panic),
    }
}

fn carry_out(verb: Verb) -> failure::Outcome {
    match verb {
        Verb::Import(command) => command.carry_out(),
        Verb::Generate(command) => command.carry_out(),
        Verb::Info(command) => command.carry_out(),
        Verb::Run(command) => command.carry_out(),
        Verb::Window(command) => command.carry_out(),
        Verb::Follow(command) => command.carry_out(),
        Verb::Graph500(command) => command.carry_out(),
        Verb::Estimate(command) => command.carry_out(),
        Verb::Export(command) => command.carry_out(),
        Verb::Get(command) => command.carry_out(),
        Verb::Degree(command) => command.carry_out(),
        Verb::Neighbors(command) => command.carry_out(),
        Verb::Path(command) => command.carry_out(),
        Verb::Subgraph(command) => command.carry_out(),
        Verb::Edges(command) => command.carry_out(),
        Verb::Vertices(command) => command.carry_out(),
        Verb::Draw(command) => command.carry_out(),
        Verb::Plot(command) => command.carry_out(),
        Verb::Check(command) => command.carry_out(),
        Verb::Add(command) => command.carry_out(),
        Verb::Sync(command) => command.carry_out(),
        Verb::Stream(command) => command.carry_out(),
        Verb::Delete(command) => command.carry_out(),
        Verb::Expire(command) => command.carry_out(),
        Verb::Set(command) => command.carry_out(),
        Verb::Commit(command) => command.carry_out(),
        Verb::Log(command) => command.carry_out(),
        Verb::Diff(command) => command.carry_out(),
        Verb::Tag(command) => command.carry_out(),
        Verb::Compact(command) => command.carry_out(),
        Verb::Forget(command) => command.carry_out(),
        Verb::Retain(command) => command.carry_out(),
        Verb::Options(command) => command.carry_out(),
        Verb::Recover(command) => command.carry_out(),
        Verb::Backup(command) => command.carry_out(),
        Verb::Restore(command) => command.carry_out(),
        Verb::Doctor(command) => command.carry_out(),
        #[cfg(feature = "serve")]
        Verb::Serve(command) => command.carry_out(),
        #[cfg(feature = "mcp")]
        Verb::Mcp(command) => command.carry_out(),
        #[cfg(feature = "cluster")]
        Verb::Cluster(command) => command.carry_out(),
        Verb::Completions(command) => command.carry_out(&mut Cli::command()),
    }
}
