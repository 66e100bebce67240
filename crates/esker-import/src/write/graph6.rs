//! graph6, sparse6 and digraph6: a line of six bits a character.

use std::io::Write;

use esker_format::{Error, Result};
use esker_graph::{Setting, message};

use super::adjacency::FileNumbers;
use super::elements::directed;
use super::format::{EndsWritten, ExportFormat, KeptProperties, ReadAs, WriteGraph};
use super::graph::{CHECK_VERTICES, ExportGraph};
use super::options::ExportOptions;
use super::sink::OutputFile;
use crate::attributed;

/// Undirected graphs, a bit for each pair of vertices.
pub(crate) static GRAPH6: ExportFormat = format(graph6, ReadAs::Undirected);

/// Undirected graphs, some bits for each edge.
pub(crate) static SPARSE6: ExportFormat = format(sparse6, ReadAs::Undirected);

/// Directed graphs, a bit for each pair of vertices.
pub(crate) static DIGRAPH6: ExportFormat = format(digraph6, ReadAs::Directed);

const fn format(write: super::format::WriteLists, read_as: ReadAs) -> ExportFormat {
    ExportFormat {
        states_vertices: true,
        first_number: Some(0),
        ..ExportFormat::new(WriteGraph::Lists(write), KeptProperties::Nothing, read_as, EndsWritten::Joined)
    }
}

/// The most vertices that the formats have numbers for.
const VERTICES_MAX: u64 = (1 << 36) - 1;
/// Bytes gathered before they are written.
const CHUNK_BYTES: usize = 1 << 16;

fn graph6(graph: &dyn ExportGraph, options: &ExportOptions, output: &mut OutputFile) -> Result<u64> {
    refuse_direction(graph, true, attributed::GRAPH6.title)?;
    let mut bits = begin(graph, "", output)?;
    let title = attributed::GRAPH6.title;
    each_list(graph, options, |v, list| {
        let loops = list.iter().filter(|other| **other == v).count() as u64;
        let lower: Vec<u64> = list.iter().copied().filter(|other| *other < v).collect();
        let parallel = lower.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
        bits.count(loops, parallel);
        bits.push_row(&lower, v)
    })?;
    bits.finish(title, "sparse6", true)?;
    Ok(graph.num_arcs())
}

fn digraph6(graph: &dyn ExportGraph, options: &ExportOptions, output: &mut OutputFile) -> Result<u64> {
    refuse_direction(graph, false, attributed::DIGRAPH6.title)?;
    let mut bits = begin(graph, "&", output)?;
    let vertices = graph.num_vertices();
    each_list(graph, options, |_, list| {
        let parallel = list.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
        bits.count(0, parallel);
        bits.push_row(list, vertices)
    })?;
    bits.finish(attributed::DIGRAPH6.title, "csv", true)?;
    Ok(graph.num_arcs())
}

fn sparse6(graph: &dyn ExportGraph, options: &ExportOptions, output: &mut OutputFile) -> Result<u64> {
    refuse_direction(graph, true, attributed::SPARSE6.title)?;
    let mut bits = begin(graph, ":", output)?;
    let vertices = graph.num_vertices();
    let width = u64::BITS - vertices.saturating_sub(1).leading_zeros();
    let mut current = 0;
    each_list(graph, options, |v, list| {
        for &other in list.iter().filter(|other| **other <= v) {
            // The next vertex has a bit of its own; a later one is named.
            let is_next = v == current + 1;
            if v > current + 1 {
                bits.push(1, 1)?;
                bits.push(v, width)?;
                bits.push(0, 1)?;
            } else {
                bits.push(u64::from(is_next), 1)?;
            }
            bits.push(other, width)?;
            current = v;
        }
        Ok(())
    })?;
    // Ones would be a loop of the last vertex if the number of vertices is a power of two.
    let free = bits.free();
    let is_loop = vertices.is_power_of_two() && vertices > 1 && free > width && current + 2 == vertices;
    if is_loop {
        bits.push(0, 1)?;
    }
    bits.finish(attributed::SPARSE6.title, "csv", false)?;
    Ok(graph.num_arcs())
}

fn refuse_direction(graph: &dyn ExportGraph, is_undirected: bool, title: &str) -> Result<()> {
    match (graph.is_directed(), is_undirected) {
        (true, true) => Err(directed(title, "digraph6")),
        (false, false) => Err(Error::invalid(message![
            format!("a {title} is directed, but the graph is not: write sparse6, or import it with "),
            Setting::Directed.to(true),
        ])),
        _ => Ok(()),
    }
}

/// Hands over each vertex, by its number in the file, and the sorted numbers of its neighbours.
fn each_list(
    graph: &dyn ExportGraph,
    options: &ExportOptions,
    mut take: impl FnMut(u64, &[u64]) -> Result<()>,
) -> Result<()> {
    let numbers = FileNumbers::new(graph, options);
    for number in 0..graph.num_vertices() {
        if number.is_multiple_of(CHECK_VERTICES) {
            options.cancel.check()?;
        }
        let list = numbers.list(number)?;
        take(number, &list)?;
    }
    Ok(())
}

fn begin<'o>(graph: &dyn ExportGraph, mark: &str, output: &'o mut OutputFile) -> Result<SixBitWriter<'o>> {
    let vertices = graph.num_vertices();
    if vertices > VERTICES_MAX {
        return Err(Error::invalid(format!(
            "the graph has {vertices} vertices, but the format has numbers up to {VERTICES_MAX}: write parquet"
        )));
    }
    let mut bits = SixBitWriter { buffer: mark.into(), bits: 0, num_bits: 0, loops: 0, parallel: 0, output };
    match vertices {
        0..=62 => bits.push(vertices, 6)?,
        63..=258_047 => {
            bits.push(63, 6)?;
            bits.push(vertices, 18)?;
        }
        _ => {
            bits.push(63 << 6 | 63, 12)?;
            bits.push(vertices, 36)?;
        }
    }
    Ok(bits)
}

struct SixBitWriter<'o> {
    buffer: Vec<u8>,
    bits: u64,
    num_bits: u32,
    loops: u64,
    parallel: u64,
    output: &'o mut OutputFile,
}

impl SixBitWriter<'_> {
    /// Appends the last `width` bits of a number, of at most 36.
    fn push(&mut self, number: u64, width: u32) -> Result<()> {
        self.bits = self.bits << width | number;
        self.num_bits += width;
        while self.num_bits >= 6 {
            self.num_bits -= 6;
            self.buffer.push((self.bits >> self.num_bits) as u8 + 63);
            self.bits &= (1 << self.num_bits) - 1;
        }
        if self.buffer.len() >= CHUNK_BYTES { self.flush() } else { Ok(()) }
    }

    /// Appends a bit for each number below `end`: whether it stands in the list, which ascends.
    fn push_row(&mut self, list: &[u64], end: u64) -> Result<()> {
        let mut at = 0;
        for &other in list {
            if other < at {
                // It was there before.
                continue;
            }
            self.push_zeros(other - at)?;
            self.push(1, 1)?;
            at = other + 1;
        }
        self.push_zeros(end - at)
    }

    fn push_zeros(&mut self, mut count: u64) -> Result<()> {
        while count > 0 {
            let width = count.min(36);
            self.push(0, width as u32)?;
            count -= width;
        }
        Ok(())
    }

    fn count(&mut self, loops: u64, parallel: u64) {
        self.loops += loops;
        self.parallel += parallel;
    }

    /// Bits that are free in the last character.
    fn free(&self) -> u32 {
        (6 - self.num_bits) % 6
    }

    fn flush(&mut self) -> Result<()> {
        let error = self.output.error();
        self.output.write_all(&self.buffer).map_err(error)?;
        self.buffer.clear();
        Ok(())
    }

    /// Ends the line, with zeros or ones. An error if edges were met that the format cannot hold.
    fn finish(mut self, title: &str, other: &str, with_zeros: bool) -> Result<()> {
        let (loops, parallel) = (self.loops, self.parallel);
        if loops + parallel > 0 {
            let counted = [(loops, "self-loop", "self-loops"), (parallel, "parallel edge", "parallel edges")];
            let counted = counted.into_iter().filter(|(count, ..)| *count > 0);
            let counted: Vec<String> =
                counted.map(|(count, one, many)| esker_graph::counted(count, one, many)).collect();
            return Err(Error::invalid(format!(
                "a {title} has no place for {} of the graph: write {other}",
                counted.join(" and ")
            )));
        }
        let free = self.free();
        self.push(if with_zeros { 0 } else { (1 << free) - 1 }, free)?;
        self.buffer.push(b'\n');
        self.flush()
    }
}
