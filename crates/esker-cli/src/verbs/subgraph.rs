//! `esker subgraph`: the edges among some vertices.

use clap::Args;
use esker::local::{between, within};

use crate::args::selecting::IdsFromArg;
use crate::args::size::counted;
use crate::failure::{Failure, Outcome};
use crate::session::asking::{AskArgs, DirectionArg};
use crate::show::text;

/// List the edges among some vertices, with their properties
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker subgraph web.esker alice bob carol
  esker subgraph web.esker alice --radius 2 --format csv > near.csv")]
pub(crate) struct SubgraphCommand {
    #[command(flatten)]
    ask: AskArgs,
    /// Ids of the vertices
    #[arg(required_unless_present = "ids_from", value_name = "VERTEX")]
    vertices: Vec<String>,
    #[command(flatten)]
    ids: IdsFromArg,
    /// Also vertices at most this many steps away
    #[arg(long, value_name = "STEPS", default_value_t = 0)]
    radius: usize,
    /// The edges that lead to them, of a directed graph [default: both]
    #[arg(long, value_enum, requires = "radius")]
    direction: Option<DirectionArg>,
}

impl SubgraphCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        if self.radius == 0 && self.direction.is_some() {
            let reason = "--direction has no effect with --radius 0, which takes no steps";
            return Err(Failure::Usage(reason.to_owned()));
        }
        let asked = self.ask.open()?;
        let direction = asked.direction_or(self.direction, DirectionArg::Both)?;
        let (graph, run) = (asked.graph(), &asked.run);
        let reach = if self.radius == 0 { DirectionArg::Out } else { direction }.reach();
        let vertices = within(
            graph,
            &asked.vertices(&self.ids.after(&self.vertices, |id| asked.vertex(id).is_ok())?)?,
            self.radius,
            reach,
            run,
        )?;
        let edges = between(graph, &vertices, run)?;
        self.ask.print(&asked.edges(&edges)?)?;
        let (vertices, edges) = (vertices.len() as u64, edges.len() as u64);
        text::remark(&format!(
            "{}, {}",
            counted(vertices, "vertex", "vertices"),
            counted(edges, "edge", "edges")
        ));
        Ok(())
    }
}
