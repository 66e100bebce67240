//! Formats that list the neighbours of each vertex: METIS, Ligra's adjacency graphs, GAP's serialised graphs.
//!
//! They know only numbers. If the ids of the graph are dense integers, vertices are numbered by them,
//! whatever order the store has given them, so that other tools' answers speak of the same vertices; else by
//! the store's numbers.

use std::io::Write;

use arrow_array::UInt64Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_select::take::take;
use esker_format::{Error, Result};
use esker_graph::{Direction, Setting, VertexId, message, vertex};

use super::digits::{push_number, push_u64};
use super::graph::{BlockBuilder, CHECK_VERTICES, ExportBlock, ExportGraph, PropertyKind, num_loops};
use super::options::{ExportOptions, WriteIds};
use super::sink::OutputFile;
use super::writer::VertexNames;
use crate::read::format::Format;

/// Bytes gathered before they are written.
const CHUNK_BYTES: usize = 1 << 16;

/// Writes a graph in one of the four formats; how many arcs it wrote.
///
/// # Errors
/// If the format cannot hold the graph, a list cannot be read, or writing fails.
pub(super) fn write(
    graph: &dyn ExportGraph,
    format: Format,
    options: &ExportOptions,
    output: &mut OutputFile,
) -> Result<u64> {
    let weight = weight_of(graph, format, options)?;
    let renumber = options.ids == WriteIds::External && graph.dense_base().is_some();
    let names = VertexNames::new(Some(graph), if renumber { WriteIds::External } else { WriteIds::Numbers });
    let mut writer = ListWriter { graph, names, renumber, weight, options, output, buffer: Vec::new() };
    match format {
        Format::Metis => writer.metis()?,
        Format::Adjacency => writer.adjacency()?,
        _ => writer.gap()?,
    }
    writer.flush()?;
    Ok(graph.num_arcs())
}

/// The weight that is written, checked to be of a type that the format has.
fn weight_of(graph: &dyn ExportGraph, format: Format, options: &ExportOptions) -> Result<Option<usize>> {
    let weight = graph.weight().filter(|_| options.properties && format != Format::Sg);
    let kind = weight.map(|index| graph.properties()[index].kind);
    let refuse = |what: &str| Error::invalid(format!("{} needs {what}", format.title()));
    let unweighted = Setting::Properties.to(false);
    match (format, kind) {
        (Format::Wsg, None) => Err(refuse("weights, but the graph has none: write sg")),
        (Format::Wsg, Some(kind)) if kind != PropertyKind::I32 => {
            Err(refuse("integer weights of 32 bits, but the graph has others: write sg without them, or wel"))
        }
        (Format::Metis, Some(PropertyKind::F32 | PropertyKind::F64)) => {
            let refused = refuse("integer weights, but the graph has others: leave them out with ");
            Err(refused.and(message![unweighted, ", or write mtx"]))
        }
        _ => Ok(weight),
    }
}

struct ListWriter<'a> {
    graph: &'a dyn ExportGraph,
    names: VertexNames<'a>,
    /// Whether numbers differ from the store's (or may): lists are then translated and sorted again.
    renumber: bool,
    weight: Option<usize>,
    options: &'a ExportOptions,
    output: &'a mut OutputFile,
    buffer: Vec<u8>,
}

impl ListWriter<'_> {
    /// `n m [1]`, then the neighbours of each vertex from 1 on its line, each followed by its weight if there
    /// are any.
    fn metis(&mut self) -> Result<()> {
        if self.graph.is_directed() {
            return Err(Error::invalid(message![
                "a METIS graph is undirected, but the graph is directed: write mtx, or import it with ",
                Setting::Directed.to(false),
            ]));
        }
        let loops = num_loops(self.graph, &self.options.cancel)?;
        if loops > 0 {
            return Err(Error::invalid(message![
                format!("a METIS graph has no self-loops, but the graph has {loops}: import it with "),
                Setting::SelfLoops.to("drop"),
                ", or write mtx",
            ]));
        }
        let format = if self.weight.is_some() { " 1" } else { "" };
        let (n, m) = (self.graph.num_vertices(), self.graph.num_arcs() / 2);
        self.buffer.extend_from_slice(format!("{n} {m}{format}\n").as_bytes());
        self.each_list(Direction::Out, |writer, block| {
            for row in 0..block.len() {
                if row > 0 {
                    writer.buffer.push(b' ');
                }
                push_u64(&mut writer.buffer, block.targets[row] + 1);
                if writer.weight.is_some() {
                    writer.buffer.push(b' ');
                    writer.push_weight(block, row);
                }
            }
            writer.buffer.push(b'\n');
            Ok(())
        })
    }

    /// The word, n, m, the offset of each vertex, the targets, and the weights if there are any, one a line.
    fn adjacency(&mut self) -> Result<()> {
        let word = if self.weight.is_some() { "WeightedAdjacencyGraph" } else { "AdjacencyGraph" };
        let (n, m) = (self.graph.num_vertices(), self.graph.num_arcs());
        self.buffer.extend_from_slice(format!("{word}\n{n}\n{m}\n").as_bytes());
        let mut offset = 0;
        self.each_degree(Direction::Out, |writer, degree| {
            push_u64(&mut writer.buffer, offset);
            writer.buffer.push(b'\n');
            offset += degree;
        })?;
        self.each_list(Direction::Out, |writer, block| {
            for &target in &block.targets {
                push_u64(&mut writer.buffer, target);
                writer.buffer.push(b'\n');
            }
            Ok(())
        })?;
        if self.weight.is_some() {
            self.each_list(Direction::Out, |writer, block| {
                for row in 0..block.len() {
                    writer.push_weight(block, row);
                    writer.buffer.push(b'\n');
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// See `import::binary`: a byte, two counts, then offsets and neighbours, those of the in-lists too if
    /// directed.
    fn gap(&mut self) -> Result<()> {
        let (n, m) = (self.graph.num_vertices(), self.graph.num_arcs());
        let directed = self.graph.is_directed();
        if n > i32::MAX as u64 {
            return Err(Error::invalid(format!(
                "a GAP graph has at most {} vertices, but the graph has {n}",
                i32::MAX
            )));
        }
        if directed && !self.graph.has(Direction::In) {
            return Err(Error::invalid(
                "a directed GAP graph holds in-edges, which the graph was imported without: import it with them",
            ));
        }
        self.buffer.push(u8::from(directed));
        self.buffer.extend_from_slice(&m.to_le_bytes());
        self.buffer.extend_from_slice(&n.to_le_bytes());
        let directions: &[_] = if directed { &[Direction::Out, Direction::In] } else { &[Direction::Out] };
        for &direction in directions {
            let mut offset = 0_u64;
            self.buffer.extend_from_slice(&offset.to_le_bytes());
            self.each_degree(direction, |writer, degree| {
                offset += degree;
                writer.buffer.extend_from_slice(&offset.to_le_bytes());
            })?;
            self.each_list(direction, |writer, block| {
                for row in 0..block.len() {
                    // Below i32::MAX, as was checked.
                    writer.buffer.extend_from_slice(&(block.targets[row] as i32).to_le_bytes());
                    if let Some(index) = writer.weight {
                        let weight = block.properties[index].as_primitive::<Int64Type>().value(row);
                        writer.buffer.extend_from_slice(&(weight as i32).to_le_bytes());
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn push_weight(&mut self, block: &ExportBlock, row: usize) {
        if let Some(index) = self.weight {
            push_number(&mut self.buffer, &block.properties[index], row);
        }
    }

    /// The vertex with a number of the output.
    fn vertex(&self, number: u64) -> Result<VertexId> {
        if self.renumber { self.graph.vertex_of_number(number) } else { Ok(vertex(number as usize)) }
    }

    fn each_degree(&mut self, direction: Direction, mut take: impl FnMut(&mut Self, u64)) -> Result<()> {
        for number in 0..self.graph.num_vertices() {
            let degree = self.graph.degree(direction, self.vertex(number)?)?;
            take(self, degree);
            self.flush_if_full(number)?;
        }
        Ok(())
    }

    /// Hands over each list as a block whose targets are numbers of the output, ascending.
    fn each_list(
        &mut self,
        direction: Direction,
        mut take: impl FnMut(&mut Self, &ExportBlock) -> Result<()>,
    ) -> Result<()> {
        let mut builder = BlockBuilder::new(self.graph.properties());
        for number in 0..self.graph.num_vertices() {
            let v = self.vertex(number)?;
            let degree = self.graph.degree(direction, v)?;
            self.graph.list(direction, v, 0..degree, 0, &mut builder)?;
            let mut block = builder.finish();
            if self.renumber {
                self.translate(&mut block)?;
            }
            take(self, &block)?;
            self.flush_if_full(number)?;
        }
        Ok(())
    }

    fn translate(&self, block: &mut ExportBlock) -> Result<()> {
        for target in &mut block.targets {
            *target = self.names.number(*target)?;
        }
        if block.targets.is_sorted() {
            return Ok(());
        }
        let mut order: Vec<u64> = (0..block.len() as u64).collect();
        order.sort_by_key(|&row| block.targets[row as usize]);
        block.targets.sort_unstable();
        if let Some(index) = self.weight {
            let weights = take(&block.properties[index], &UInt64Array::from(order), None);
            block.properties[index] =
                weights.map_err(|e| Error::invalid(format!("cannot sort the weights of a list: {e}")))?;
        }
        Ok(())
    }

    fn flush_if_full(&mut self, number: u64) -> Result<()> {
        if number.is_multiple_of(CHECK_VERTICES) {
            self.options.cancel.check()?;
        }
        if self.buffer.len() >= CHUNK_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let error = self.output.error();
        self.output.write_all(&self.buffer).map_err(error)?;
        self.buffer.clear();
        Ok(())
    }
}
