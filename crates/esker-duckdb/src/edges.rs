//! `esker_edges('web.esker', filter := 'amount > 100', version := 7)`: a row for each edge.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use esker::edge_rows::{EdgeRowBlock, EdgeScan};
use esker::graph::vertex;
use esker::guarded;
use esker::store::format::PropertyRecord;

use crate::arguments::{of_edges, open, said, select};
use crate::columns::{ColumnType, TableColumn};
use crate::table::{Given, NamedArgument, Rows, Table};

/// Vertices whose edges a thread takes at a time.
const GRAIN: usize = 1 << 10;

/// The edges of a view.
pub(crate) struct EdgesTable {
    scan: EdgeScan,
    properties: Vec<PropertyRecord>,
    rows: u64,
}

/// One reading of the edges.
pub(crate) struct EdgesScan {
    table: EdgeScan,
    properties: Vec<PropertyRecord>,
    /// The next vertex that no thread has taken.
    next: AtomicUsize,
}

/// What one thread reads.
pub(crate) struct EdgesPart {
    shared: Arc<EdgesScan>,
    /// The scan with the properties that are asked for, and the place of each column.
    scan: Option<(EdgeScan, Vec<Option<usize>>)>,
    block: Option<EdgeRowBlock>,
    /// Rows of the block that were handed over.
    done: usize,
    vertices: Range<usize>,
}

impl Table for EdgesTable {
    type Scan = EdgesScan;
    type Part = EdgesPart;

    const NAME: &'static str = "esker_edges";
    const POSITIONAL: usize = 1;
    const THREADS: u64 = 64;

    fn named() -> Vec<NamedArgument> {
        of_edges()
    }

    fn bind(given: &Given) -> Result<Self, String> {
        let view = select(&open(given)?, given)?.view;
        let properties = view.version().edge_properties().cloned().collect();
        let rows = view.num_edges();
        Ok(Self { scan: EdgeScan::new(view).map_err(said)?, properties, rows })
    }

    fn columns(&self) -> Vec<(String, ColumnType)> {
        let id = ColumnType::of_ids(self.scan.version());
        let mut columns = vec![("source".to_owned(), id), ("target".to_owned(), id)];
        for property in &self.properties {
            let mut name = property.name.clone();
            // As in the command: each column can be told by its name. SQL takes no notice of case.
            while columns.iter().any(|(before, _)| before.eq_ignore_ascii_case(&name)) {
                name.insert_str(0, "property.");
            }
            columns.push((name, ColumnType::of(property)));
        }
        columns
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn scan(&self) -> Result<EdgesScan, String> {
        Ok(EdgesScan {
            table: self.scan.clone(),
            properties: self.properties.clone(),
            next: AtomicUsize::new(0),
        })
    }

    fn part(&self, scan: &Arc<EdgesScan>) -> EdgesPart {
        EdgesPart { shared: Arc::clone(scan), scan: None, block: None, done: 0, vertices: 0..0 }
    }
}

impl EdgesPart {
    /// Reads until the block has rows that were not handed over; `false` at the end.
    fn read(&mut self, room: usize, columns: &[usize]) -> esker::Result<bool> {
        if self.scan.is_none() {
            let mut scan = self.shared.table.clone();
            let places = columns.iter().map(|&column| match column.checked_sub(2) {
                Some(property) => scan.read(&self.shared.properties[property]).map(Some),
                None => Ok(None),
            });
            let places = places.collect::<esker::Result<_>>()?;
            self.block = Some(scan.block());
            self.scan = Some((scan, places));
        }
        let (Some((scan, _)), Some(block)) = (&self.scan, &mut self.block) else { return Ok(false) };
        if self.done < block.len() {
            return Ok(true);
        }
        block.clear();
        self.done = 0;
        let all = scan.version().num_vertices();
        while block.len() < room {
            let Some(v) = self.vertices.next() else {
                let first = self.shared.next.fetch_add(GRAIN, Ordering::Relaxed);
                if first >= all {
                    break;
                }
                self.vertices = first..all.min(first + GRAIN);
                continue;
            };
            scan.append(vertex(v), block)?;
        }
        Ok(!block.is_empty())
    }
}

impl Rows for EdgesPart {
    fn next(
        &mut self,
        room: usize,
        columns: &[usize],
        into: &mut [TableColumn<'_>],
    ) -> Result<usize, String> {
        let path = self.shared.table.version().path().to_owned();
        if !guarded(&path, || self.read(room, columns)).map_err(said)? {
            return Ok(0);
        }
        let (Some((scan, places)), Some(block)) = (&self.scan, &self.block) else { return Ok(0) };
        let rows = self.done..block.len().min(self.done + room);
        for ((column, place), into) in columns.iter().zip(places).zip(into) {
            match (column, place) {
                (0, _) => into.put_ids(scan.version(), &block.sources()[rows.clone()])?,
                (1, _) => into.put_ids(scan.version(), &block.targets()[rows.clone()])?,
                (_, Some(place)) => put(scan, block, *place, rows.clone(), into)?,
                (_, None) => {}
            }
        }
        self.done = rows.end;
        Ok(rows.len())
    }
}

/// Puts the values of the property at a place.
fn put(
    scan: &EdgeScan,
    block: &EdgeRowBlock,
    place: usize,
    rows: Range<usize>,
    into: &mut TableColumn<'_>,
) -> Result<(), String> {
    let (bits, reserved) = (&block.bits(place)[rows], scan.reserved(place));
    if let Some(texts) = scan.texts(place) {
        for (row, &code) in bits.iter().enumerate() {
            if reserved.has(code) {
                into.put_null(row);
            } else {
                into.put_text(row, texts.text(code as usize).map_err(|error| error.to_string())?)?;
            }
        }
        return Ok(());
    }
    into.put_all_bits(bits.iter().copied());
    for (row, _) in bits.iter().enumerate().filter(|&(_, &bits)| reserved.has(bits)) {
        into.put_null(row);
    }
    Ok(())
}
