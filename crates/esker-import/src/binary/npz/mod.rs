//! Sparse matrices as `scipy.sparse.save_npz` writes them: arrays of NumPy in a zip archive. An entry is an
//! edge from its row to its column; vertices are numbered from 0.

mod array;
mod zip;

use std::sync::Arc;

use arrow_array::ArrayRef;
use esker_format::Result;
use esker_graph::counted;

use self::array::{ArrayReader, NumberKind};
use self::zip::Archive;
use super::region::Region;
use super::runs::RUN_ROWS;
use crate::read::format::{Pick, ReadOptions};
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, one};
use crate::read::prepared::PreparedBatches;
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Numbers, Reader, Schema};

/// Sparse matrices of SciPy.
pub(crate) static NPZ: InputFormat = InputFormat {
    endings: &["npz"],
    begins: |head| head.starts_with(b"PK\x03\x04") && head.get(30..60).is_some_and(is_array_name),
    ..InputFormat::new("npz", "SciPy sparse matrix", Choices::Nothing, open)
};

/// Whether the name of the first member of an archive is that of an array.
fn is_array_name(name: &[u8]) -> bool {
    ["row.npy", "col.npy", "indices.npy", "indptr.npy", "data.npy", "format.npy", "shape.npy"]
        .iter()
        .any(|own| name.starts_with(own.as_bytes()))
}

/// How the ends of entries are stored.
enum EntryEnds {
    /// A row and a column each.
    Pairs { rows: ArrayReader, columns: ArrayReader },
    /// Where the entries of each row (or column) end, and the other ends.
    Lists { offsets: ArrayReader, others: ArrayReader, are_rows: bool, current: u64, until: u64 },
}

struct NpzReader {
    schema: Schema,
    region: Region,
    ends: EntryEnds,
    data: Option<ArrayReader>,
    vertices: u64,
    /// Entries, and those that were read.
    entries: u64,
    read: u64,
    num_blocks: usize,
    parser: Arc<NpzParser>,
}

#[derive(Default)]
struct NpzParser {
    batches: PreparedBatches,
}

fn open(inputs: &[Input], _head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let input = one(inputs, NPZ.title)?;
    let region = Region::open(input, &NPZ)?;
    let archive = Archive::open(&region)?;
    let missing = |name: &str| {
        region.unusable(format!("the archive has no array {name:?}, as a sparse matrix of SciPy has"))
    };
    let array = |name: &str| archive.array(name)?.ok_or_else(|| missing(name));
    let shape = array("shape")?.integers(2)?;
    let &[rows, columns] = shape.as_slice() else { return Err(missing("shape")) };
    if rows != columns {
        return Err(region.unusable(format!(
            "the matrix is {rows} x {columns}, so it is no graph on one set of vertices; make it square"
        )));
    }
    let format = array("format")?.text()?;
    let are_rows = format == "csr";
    let (ends, entries) = match format.as_str() {
        "coo" => {
            let (rows, columns) = (array("row")?, array("col")?);
            let entries = rows.len();
            if columns.len() != entries {
                return Err(region.unusable("the arrays of rows and columns differ in length"));
            }
            (EntryEnds::Pairs { rows, columns }, entries)
        }
        "csr" | "csc" => {
            let (mut offsets, others) = (array("indptr")?, array("indices")?);
            if offsets.len() != rows.saturating_add(1) || offsets.integers(1)? != [0] {
                return Err(region.unusable("the array indptr does not fit the shape"));
            }
            let entries = others.len();
            (EntryEnds::Lists { offsets, others, are_rows, current: 0, until: 0 }, entries)
        }
        other => {
            let why =
                format!("the matrix is stored as {other:?}, but csr, csc and coo are read; call tocsr()");
            return Err(region.unusable(why));
        }
    };
    let data = if options.weight == Pick::Skip { None } else { Some(array("data")?) };
    if data.as_ref().is_some_and(|data| data.len() != entries) {
        return Err(region.unusable("the array data does not fit the others"));
    }
    let weighted = data.is_some();
    let schema = Schema {
        operation: None,
        kind: None,
        format: NPZ.name,
        ids: IdKind::Numbered { first: 0, num_vertices: rows },
        properties: if weighted { vec!["weight".to_owned()] } else { Vec::new() },
        types: data.iter().map(ArrayReader::property_type).collect(),
        weight: weighted.then_some(0),
        time: None,
        directed: None,
        both_ends: false,
        input_bytes: Some(region.bytes()),
    };
    let parser = Arc::new(NpzParser::default());
    let reader =
        NpzReader { schema, region, ends, data, vertices: rows, entries, read: 0, num_blocks: 0, parser };
    Ok(OpenedInput::titled(Box::new(reader), inputs, &NPZ))
}

impl Reader for NpzReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn entries_add_up(&self) -> Result<bool> {
        Ok(self.schema.weight.is_some())
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        let count = RUN_ROWS.min(self.entries - self.read);
        if count == 0 {
            return Ok(None);
        }
        let (sources, targets) = self.next_ends(count as usize)?;
        for &end in sources.iter().chain(&targets) {
            if end >= self.vertices {
                let of = counted(self.vertices, "vertex", "vertices");
                return Err(self.region.unusable(format!("the index {end} is not among the {of}")));
            }
        }
        let mut properties: Vec<ArrayRef> = Vec::new();
        if let Some(data) = &mut self.data {
            let values = data.next(count as usize)?;
            if let Numbers::Float(values) = &values
                && let Some(place) = values.iter().position(|value| !value.is_finite())
            {
                return Err(self.region.unusable(format!(
                    "the value of row {} and column {} is no finite number; remove it",
                    sources[place], targets[place]
                )));
            }
            properties.push(values.finish());
        }
        let bytes_until = |read: u64| {
            (u128::from(self.region.bytes()) * u128::from(read) / u128::from(self.entries)) as u64
        };
        let input_bytes = bytes_until(self.read + count) - bytes_until(self.read);
        self.read += count;
        self.num_blocks += 1;
        let batch = EdgeBatch { properties, ..EdgeBatch::of_integers(sources, targets, input_bytes) };
        Ok(Some(self.parser.batches.put(self.num_blocks, batch)))
    }
}

impl NpzReader {
    /// The rows and columns of the next entries.
    fn next_ends(&mut self, count: usize) -> Result<(Vec<u64>, Vec<u64>)> {
        match &mut self.ends {
            EntryEnds::Pairs { rows, columns } => Ok((rows.integers(count)?, columns.integers(count)?)),
            EntryEnds::Lists { offsets, others, are_rows, current, until } => {
                let others = others.integers(count)?;
                let mut own = Vec::with_capacity(count);
                for entry in self.read..self.read + count as u64 {
                    while *until <= entry {
                        let Some(&end) = offsets.integers(1)?.first() else {
                            return Err(self.region.unusable("the array indptr ends before the entries"));
                        };
                        if end < *until || end > self.entries {
                            return Err(self.region.unusable("the array indptr does not ascend"));
                        }
                        (*until, *current) = (end, *current + 1);
                    }
                    own.push(*current - 1);
                }
                Ok(if *are_rows { (own, others) } else { (others, own) })
            }
        }
    }
}

impl BlockParser for NpzParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        self.batches.take(&block)
    }
}

impl ArrayReader {
    /// The type of its values, if their range is that of no other.
    fn property_type(&self) -> Option<esker_format::PropertyType> {
        (self.kind() == NumberKind::Unsigned).then(|| esker_format::ElementType::U64.into())
    }
}
