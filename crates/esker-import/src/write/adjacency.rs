//! Formats that list the neighbours of each vertex: METIS, Ligra's adjacency graphs, GAP's serialised graphs.
//!
//! They know only numbers. If the ids of the graph are dense integers, vertices are numbered by them,
//! whatever order the store has given them, so that other tools' answers speak of the same vertices; else by
//! the store's numbers.

// A method's name as a function pointer fixes its lifetime; a closure does not.
#![allow(clippy::redundant_closure_for_method_calls)]

use std::io::Write;

use arrow_array::UInt64Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_select::take::take;
use esker_format::value::digits::push_u64;
use esker_format::{Error, Result};
use esker_graph::{Direction, Setting, VertexId, message, vertex};
use flate2::Crc;

use super::digits::push_number;
use super::format::{EndsWritten, ExportFormat, KeptProperties, ReadAs, WriteGraph};
use super::graph::{BlockBuilder, CHECK_VERTICES, ExportBlock, ExportGraph, PropertyKind, num_loops};
use super::options::{ExportOptions, WriteIds};
use super::sink::OutputFile;
use super::writer::VertexNames;
use crate::binary;
use crate::read::input_format::InputFormat;
use crate::text;

/// Bytes gathered before they are written.
const CHUNK_BYTES: usize = 1 << 16;

/// METIS.
pub(crate) static METIS: ExportFormat = ExportFormat {
    states_vertices: true,
    first_number: Some(1),
    ..ExportFormat::new(WriteGraph::Lists(metis), KeptProperties::Weight, ReadAs::Told, EndsWritten::Joined)
};

/// Ligra's adjacency graphs.
pub(crate) static ADJ: ExportFormat = ExportFormat {
    states_vertices: true,
    first_number: Some(0),
    ..ExportFormat::new(
        WriteGraph::Lists(adjacency),
        KeptProperties::Weight,
        ReadAs::Directed,
        EndsWritten::Apart,
    )
};

/// GAP's serialised graphs without weights.
pub(crate) static SG: ExportFormat = ExportFormat {
    is_read_anywhere: true,
    states_vertices: true,
    first_number: Some(0),
    ..ExportFormat::new(WriteGraph::Lists(sg), KeptProperties::Nothing, ReadAs::Told, EndsWritten::Joined)
};

/// The same with weights.
pub(crate) static WSG: ExportFormat =
    ExportFormat { write: WriteGraph::Lists(wsg), keeps: KeptProperties::Weight, ..SG };

fn metis(graph: &dyn ExportGraph, options: &ExportOptions, output: &mut OutputFile) -> Result<u64> {
    let weight = weight_of(graph, options);
    if let Some((_, PropertyKind::F32 | PropertyKind::F64)) = weight {
        let error = needs(&text::METIS, "integer weights, but the graph has others: leave them out with ");
        return Err(error.and(message![Setting::Properties.to(false), ", or write mtx"]));
    }
    write(graph, weight, options, output, |writer| writer.metis())
}

fn adjacency(graph: &dyn ExportGraph, options: &ExportOptions, output: &mut OutputFile) -> Result<u64> {
    write(graph, weight_of(graph, options), options, output, |writer| writer.adjacency())
}

fn sg(graph: &dyn ExportGraph, options: &ExportOptions, output: &mut OutputFile) -> Result<u64> {
    write(graph, None, options, output, |writer| writer.gap())
}

fn wsg(graph: &dyn ExportGraph, options: &ExportOptions, output: &mut OutputFile) -> Result<u64> {
    let weight = weight_of(graph, options);
    match weight {
        None => Err(needs(&binary::WSG, "weights, but the graph has none: write sg")),
        Some((_, PropertyKind::I32)) => write(graph, weight, options, output, |writer| writer.gap()),
        Some(_) => Err(needs(
            &binary::WSG,
            "integer weights of 32 bits, but the graph has others: write sg without them, or wel",
        )),
    }
}

fn needs(format: &InputFormat, what: &str) -> Error {
    Error::invalid(format!("{} needs {what}", format.title))
}

/// The place and the type of the weight that is written.
pub(super) fn weight_of(graph: &dyn ExportGraph, options: &ExportOptions) -> Option<(usize, PropertyKind)> {
    let weight = graph.weight().filter(|_| options.properties);
    weight.map(|index| (index, graph.properties()[index].kind))
}

/// Writes a graph as one of the methods of [`ListWriter`] does; how many arcs it wrote.
pub(super) fn write(
    graph: &dyn ExportGraph,
    weight: Option<(usize, PropertyKind)>,
    options: &ExportOptions,
    output: &mut OutputFile,
    write_lists: fn(&mut ListWriter<'_>) -> Result<()>,
) -> Result<u64> {
    let weight = weight.map(|(index, _)| index);
    let numbers = FileNumbers::new(graph, options);
    let mut writer = ListWriter { graph, numbers, weight, options, output, buffer: Vec::new(), sum: None };
    write_lists(&mut writer)?;
    writer.flush()?;
    Ok(graph.num_arcs())
}

/// The numbers of vertices in a file.
pub(super) struct FileNumbers<'a> {
    graph: &'a dyn ExportGraph,
    names: VertexNames<'a>,
    /// Whether numbers differ from the store's (or may): lists are then translated and sorted again.
    renumber: bool,
}

impl<'a> FileNumbers<'a> {
    pub(super) fn new(graph: &'a dyn ExportGraph, options: &ExportOptions) -> Self {
        let renumber = options.ids == WriteIds::External && graph.dense_base().is_some();
        let ids = if renumber { WriteIds::External } else { WriteIds::Numbers };
        Self { graph, names: VertexNames::new(Some(graph), ids), renumber }
    }

    /// The vertex with a number of the file.
    fn vertex(&self, number: u64) -> Result<VertexId> {
        if self.renumber { self.graph.vertex_of_number(number) } else { Ok(vertex(number as usize)) }
    }

    /// The numbers of the neighbours of a vertex in the file, ascending.
    pub(super) fn list(&self, number: u64) -> Result<Vec<u64>> {
        let v = self.vertex(number)?;
        let mut builder = BlockBuilder::new(&[]);
        let degree = self.graph.degree(Direction::Out, v)?;
        self.graph.list(Direction::Out, v, 0..degree, 0, &mut builder)?;
        let mut list = builder.finish().targets;
        if self.renumber {
            for other in &mut list {
                *other = self.names.number(*other)?;
            }
        }
        list.sort_unstable();
        Ok(list)
    }
}

/// The checksum of what is written, and its length.
pub(super) struct WrittenSum {
    pub(super) crc: Crc,
    pub(super) bytes: u64,
}

pub(super) struct ListWriter<'a> {
    pub(super) graph: &'a dyn ExportGraph,
    numbers: FileNumbers<'a>,
    pub(super) weight: Option<usize>,
    options: &'a ExportOptions,
    output: &'a mut OutputFile,
    pub(super) buffer: Vec<u8>,
    /// The checksum of what is written, if it is wanted.
    pub(super) sum: Option<WrittenSum>,
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

    pub(super) fn each_degree(
        &mut self,
        direction: Direction,
        mut take: impl FnMut(&mut Self, u64),
    ) -> Result<()> {
        for number in 0..self.graph.num_vertices() {
            let degree = self.graph.degree(direction, self.numbers.vertex(number)?)?;
            take(self, degree);
            self.flush_if_full(number)?;
        }
        Ok(())
    }

    /// Hands over each list as a block whose targets are numbers of the output, ascending.
    pub(super) fn each_list(
        &mut self,
        direction: Direction,
        mut take: impl FnMut(&mut Self, &ExportBlock) -> Result<()>,
    ) -> Result<()> {
        let mut builder = BlockBuilder::new(self.graph.properties());
        for number in 0..self.graph.num_vertices() {
            let v = self.numbers.vertex(number)?;
            let degree = self.graph.degree(direction, v)?;
            self.graph.list(direction, v, 0..degree, 0, &mut builder)?;
            let mut block = builder.finish();
            if self.numbers.renumber {
                self.translate(&mut block)?;
            }
            take(self, &block)?;
            self.flush_if_full(number)?;
        }
        Ok(())
    }

    fn translate(&self, block: &mut ExportBlock) -> Result<()> {
        for target in &mut block.targets {
            *target = self.numbers.names.number(*target)?;
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

    pub(super) fn flush(&mut self) -> Result<()> {
        if let Some(sum) = &mut self.sum {
            sum.crc.update(&self.buffer);
            sum.bytes += self.buffer.len() as u64;
        }
        let error = self.output.error();
        self.output.write_all(&self.buffer).map_err(error)?;
        self.buffer.clear();
        Ok(())
    }
}
