//! `esker neighbors`: the edges of a vertex.

use clap::Args;
use esker::local::edges_of;

use crate::failure::Outcome;
use crate::session::asking::{AskArgs, DirectionArg};

/// List the edges of a vertex, with their properties
///
/// A property that is called `source` or `target` is shown as `property.source` or `property.target`.
#[derive(Debug, Args)]
#[command(after_help = "Example: esker neighbors web.esker alice --direction both")]
pub(crate) struct NeighborsCommand {
    #[command(flatten)]
    ask: AskArgs,
    /// Id of the vertex
    vertex: String,
    /// Which edges to list; those of an undirected graph have no direction
    #[arg(long, value_enum, default_value_t)]
    direction: DirectionArg,
}

impl NeighborsCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let asked = self.ask.open()?;
        let edges = edges_of(asked.graph(), asked.vertex(&self.vertex)?, self.direction.reach())?;
        self.ask.print(&asked.edges(&edges)?)
    }
}
