//! The edges of a view as rows, in blocks of columns: what groups and tables of other programs read.

use esker_graph::{Direction, VertexId};
use esker_store::format::{Error as StoreError, PropertyRecord};
use esker_store::layer::ListColumns;
use esker_store::property::Dictionary;
use esker_store::{ReservedBits, Version, View};

use crate::error::{Error, Result};

/// An edge property that a scan reads.
#[derive(Debug, Clone)]
struct ReadProperty {
    record: PropertyRecord,
    reserved: ReservedBits,
    /// Texts of its dictionary; `None` if it holds no texts.
    num_texts: Option<usize>,
}

/// The edges of a view, read vertex by vertex: each edge once, an undirected one by the end of the smaller
/// number.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("pay.esker");
/// # let csv = *b"source,target,amount\n1,2,5\n1,3,7\n2,3,1\n";
/// # let read = esker::import::ReadOptions {
/// #     properties: esker::import::PickProperties::All,
/// #     ..Default::default()
/// # };
/// # let edges = [esker::import::Input::memory("pay.csv", csv)];
/// # esker::import::import_inputs(&edges, &path, &read, &Default::default())?;
/// # let version = esker::store::Store::open(&path)?.latest()?;
/// use esker::edge_rows::EdgeScan;
///
/// let mut scan = EdgeScan::new(version.view())?;
/// let amount = scan.read(version.edge_property("amount")?)?;
/// let mut block = scan.block();
/// for v in 0..3 {
///     scan.append(v, &mut block)?;
/// }
/// assert_eq!((block.sources(), block.targets()), (&[0, 0, 1][..], &[1, 2, 2][..]));
/// assert_eq!(block.bits(amount).iter().map(|&bits| bits as i32).sum::<i32>(), 13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct EdgeScan {
    view: View,
    reads: Vec<ReadProperty>,
    of_both_ends: bool,
}

/// Rows of edges: their ends, and the values of the properties that the scan reads.
#[derive(Debug)]
pub struct EdgeRowBlock {
    sources: Vec<VertexId>,
    targets: Vec<VertexId>,
    ends: Vec<VertexId>,
    bits: Vec<Vec<u64>>,
}

/// Edges that lie beside each other.
struct EdgeRun<'a> {
    source: VertexId,
    targets: &'a [VertexId],
    /// The lists that hold them, and the place of the first.
    lists: &'a ListColumns,
    first: usize,
    /// Whether they are rows of their targets.
    of_targets: bool,
}

impl EdgeRun<'_> {
    /// Calls `take` with the parts of the run whose targets `wants` keeps.
    fn each_where(
        &self,
        wants: impl Fn(VertexId) -> bool,
        mut take: impl FnMut(&EdgeRun<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut rest = 0;
        while let Some(skipped) = self.targets[rest..].iter().position(|&target| wants(target)) {
            let start = rest + skipped;
            let count = self.targets[start..].iter().take_while(|&&target| wants(target)).count();
            rest = start + count;
            take(&EdgeRun { targets: &self.targets[start..rest], first: self.first + start, ..*self })?;
        }
        Ok(())
    }
}

impl EdgeScan {
    /// A scan that reads no property.
    ///
    /// # Errors
    /// [`Error::Usage`] for a view that turns edges round or drops their directions.
    pub fn new(view: View) -> Result<Self> {
        if view.is_reversed() || view.drops_directions() {
            return Err(Error::usage(
                "edges are listed and grouped as they are stored: group by source, by target, or by vertex for both"
                    .to_owned(),
            ));
        }
        Ok(Self { view, reads: Vec::new(), of_both_ends: false })
    }

    /// The same with each edge twice, as a row of either end; a loop once. See [`EdgeRowBlock::ends`].
    #[must_use]
    pub fn of_both_ends(self) -> Self {
        Self { of_both_ends: true, ..self }
    }

    /// Reads a property too. Returns its place among those read, the same for the same property.
    ///
    /// # Errors
    /// [`esker_store::Error::Corrupt`].
    pub fn read(&mut self, property: &PropertyRecord) -> Result<usize> {
        if let Some(place) = self.reads.iter().position(|read| read.record.number == property.number) {
            return Ok(place);
        }
        let version = self.view.version();
        self.reads.push(ReadProperty {
            reserved: version.reserved_bits(property)?,
            num_texts: version.dictionary(property.number).map(Dictionary::len),
            record: property.clone(),
        });
        Ok(self.reads.len() - 1)
    }

    /// What stands for a missing value of the property at a place.
    pub fn reserved(&self, place: usize) -> ReservedBits {
        self.reads[place].reserved
    }

    /// The texts whose codes the property at a place holds; `None` if it holds no texts.
    pub fn texts(&self, place: usize) -> Option<&Dictionary> {
        self.version().dictionary(self.reads[place].record.number)
    }

    /// The version of the view.
    pub fn version(&self) -> &Version {
        self.view.version()
    }

    /// A block without rows.
    pub fn block(&self) -> EdgeRowBlock {
        let bits = vec![Vec::new(); self.reads.len()];
        EdgeRowBlock { sources: Vec::new(), targets: Vec::new(), ends: Vec::new(), bits }
    }

    /// Appends the rows of a vertex to a block.
    ///
    /// # Errors
    /// [`Error::Usage`] for a window that joins copies; [`esker_store::Error::Corrupt`].
    pub fn append(&self, v: VertexId, block: &mut EdgeRowBlock) -> Result<()> {
        self.visit(v, |run| self.append_run(run, block))
    }

    /// The same, and hands the block to `take` and clears it whenever it has `rows` rows.
    ///
    /// # Errors
    /// As [`EdgeScan::append`]; what `take` returns.
    pub fn append_in_blocks(
        &self,
        v: VertexId,
        block: &mut EdgeRowBlock,
        rows: usize,
        mut take: impl FnMut(&EdgeRowBlock) -> Result<()>,
    ) -> Result<()> {
        self.visit(v, |run| {
            let mut rest = 0;
            while rest < run.targets.len() {
                let end = run.targets.len().min(rest + rows.saturating_sub(block.len()).max(1));
                let targets = &run.targets[rest..end];
                self.append_run(&EdgeRun { targets, first: run.first + rest, ..*run }, block)?;
                rest = end;
                if block.len() >= rows {
                    take(block)?;
                    block.clear();
                }
            }
            Ok(())
        })
    }

    /// Calls `take` with the rows of a vertex.
    fn visit(&self, v: VertexId, mut take: impl FnMut(&EdgeRun<'_>) -> Result<()>) -> Result<()> {
        let is_directed = self.view.version().is_directed();
        self.view.visit_kept_runs(Direction::Out, v, |targets, lists, first| {
            let run = EdgeRun { source: v, targets, lists, first, of_targets: false };
            match (is_directed, self.of_both_ends) {
                (false, false) => run.each_where(|target| target >= v, &mut take),
                (true, true) => {
                    take(&run)?;
                    EdgeRun { of_targets: true, ..run }.each_where(|target| target != v, &mut take)
                }
                _ => take(&run),
            }
        })
    }

    fn append_run(&self, run: &EdgeRun<'_>, block: &mut EdgeRowBlock) -> Result<()> {
        let (count, rows) = (run.targets.len(), block.len() + run.targets.len());
        block.sources.resize(rows, run.source);
        block.targets.extend_from_slice(run.targets);
        if run.of_targets {
            block.ends.extend_from_slice(run.targets);
        } else if self.of_both_ends {
            block.ends.resize(rows, run.source);
        }
        for (read, bits) in self.reads.iter().zip(&mut block.bits) {
            let Some(column) = run.lists.property(read.record.number as usize) else {
                bits.resize(rows, 0);
                continue;
            };
            let before = bits.len();
            column.append_bits(run.first..run.first + count, bits)?;
            let is_wrong = |code: &&u64| read.num_texts.is_some_and(|texts| **code >= texts as u64);
            if let Some(code) = bits[before..].iter().find(is_wrong) {
                let texts = esker_graph::counted(read.num_texts.unwrap_or(0), "text", "texts");
                let reason = format!("an element is the code {code}, but the dictionary has {texts}");
                return Err(StoreError::corrupt(column.path(), 0, reason).into());
            }
        }
        Ok(())
    }
}

impl EdgeRowBlock {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.sources.clear();
        self.targets.clear();
        self.ends.clear();
        self.bits.iter_mut().for_each(Vec::clear);
    }

    /// Where the edges leave.
    pub fn sources(&self) -> &[VertexId] {
        &self.sources
    }

    /// Where the edges arrive.
    pub fn targets(&self) -> &[VertexId] {
        &self.targets
    }

    /// The end that each row is of; empty unless the scan is [`EdgeScan::of_both_ends`].
    pub fn ends(&self) -> &[VertexId] {
        &self.ends
    }

    /// The values of the property at a place: bits, zero-extended to 64; of texts, their codes.
    pub fn bits(&self, place: usize) -> &[u64] {
        &self.bits[place]
    }
}
