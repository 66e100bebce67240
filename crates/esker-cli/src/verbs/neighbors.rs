//! `esker neighbors`: the edges of vertices.

use clap::{Arg, Args};
use esker::local::{edges_of_all, measure_edges, sort_edges};

use crate::args::grouping::{MeasureArgs, SortArgs};
use crate::args::selecting::IdsFromArg;
use crate::args::size::{count, counted};
use crate::failure::{Failure, Outcome};
use crate::session::asking::{DirectionArg, SubjectArgs};
use crate::show::rows::RowTable;
use crate::show::text;

/// List the edges of vertices, with their properties, or add them up
///
/// A property that is called `source` or `target` is shown as `property.source` or `property.target`. Of
/// several vertices, an edge between two of them is listed once. With --sort, edges of equal values come
/// in the order of their ids, and those without a value last.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker neighbors web.esker alice --direction both
  esker neighbors friends.esker bob --sort weight --top 10
  esker neighbors friends.esker alice bob --sum weight --count")]
#[command(mut_args(of_a_list))]
pub(crate) struct NeighborsCommand {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Ids of the vertices
    #[arg(required_unless_present = "ids_from", value_name = "VERTEX")]
    vertices: Vec<String>,
    #[command(flatten)]
    ids: IdsFromArg,
    /// Which edges to list; of directed graphs only [default: out]
    #[arg(long, value_enum)]
    direction: Option<DirectionArg>,
    #[command(flatten)]
    measures: MeasureArgs,
    #[command(flatten)]
    sort: SortArgs,
}

/// The words of options that groups have, too.
fn of_a_list(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "sort" => argument.help(
            "Sort by this column, the greatest first [default: by vertex, direction and neighbour, as they are stored]",
        ),
        "top" => argument.help("Show only the first N edges, and say how many there are"),
        "count" => argument.help("Only count the edges").help_heading("Sums"),
        "sum" => argument.help("Only add up a property; missing values are left out, as by the others").help_heading("Sums"),
        "mean" | "min" | "max" => argument.help_heading("Sums"),
        _ => argument,
    }
}

impl NeighborsCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        self.sort.round.apply();
        self.sort.expect_column()?;
        let (order, measures) = (self.sort.order(), self.measures.measures());
        if !measures.is_empty() && (order.column.is_some() || order.top.is_some()) {
            let message = "--sort and --top have no effect on --count and on sums, which are one row";
            return Err(Failure::Usage(message.to_owned()));
        }
        let asked = self.subject.open()?;
        let reach = asked.direction_or(self.direction, DirectionArg::Out)?.reach();
        let (graph, run) = (asked.graph(), &asked.run);
        let vertices = asked.vertices(&self.ids.after(&self.vertices, |id| asked.vertex(id).is_ok())?)?;
        if !measures.is_empty() {
            let (columns, row) = measure_edges(graph, &vertices, reach, &measures, run)?;
            let mut rows = RowTable::of(columns);
            rows.push(row);
            return rows.print(self.sort.format());
        }
        let edges = edges_of_all(graph, &vertices, reach, run)?;
        let all = edges.len();
        let edges = sort_edges(&asked.version, edges, &order, run)?;
        asked.edges(&edges)?.print(self.sort.format())?;
        if edges.len() < all {
            let all = counted(all as u64, "edge", "edges");
            text::remark(&format!("the first {} of {all}", count(edges.len() as u64)));
        }
        Ok(())
    }
}
