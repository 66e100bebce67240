//! The edges that a batch removes, and the vertices that it expects.

use esker_format::memory::reserve;
use esker_format::{Error, Result};
use esker_layers::ids::ExternalId;

use super::batch::Batch;
use super::change::BatchOp;
use super::matching::{BatchMatch, EdgeMatch};
use crate::freeze::REMOVAL;

impl Batch {
    /// Lets the commit fail unless a vertex exists after the earlier changes of the batch: another process or
    /// thread may have removed it since it was looked up.
    ///
    /// # Errors
    /// [`Error::Invalid`] if memory runs out, or the id is not of the database's kind.
    pub fn expect_vertex<'i>(&mut self, id: impl Into<ExternalId<'i>>) -> Result<()> {
        self.push(id.into(), BatchOp::ExpectVertex)
    }

    /// Removes an edge; in a multigraph, all edges between the two vertices. Does nothing if there is no such
    /// edge.
    ///
    /// # Errors
    /// [`Error::Invalid`] if memory runs out, or an id is not of the database's kind.
    pub fn remove_edge<'i>(
        &mut self,
        source: impl Into<ExternalId<'i>>,
        target: impl Into<ExternalId<'i>>,
    ) -> Result<()> {
        let (source, target) = (self.expect_kind(source.into())?, self.expect_kind(target.into())?);
        self.make_room(&[source, target])?;
        self.push_edge(source, target, REMOVAL);
        Ok(())
    }

    /// Removes those edges between two vertices that a match selects, among those that there are after the
    /// earlier changes of the batch. Does nothing if there are none.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target,weight\n1,2,5\n2,3,6\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// # let db = esker_store::Database::open(&path, Default::default())?;
    /// use esker_store::EdgeMatch;
    ///
    /// let weight = db.latest()?.edge_property("weight")?.number;
    /// let mut batch = db.batch();
    /// for (source, target) in [(1_u64, 2_u64), (2, 3)] {
    ///     let wanted = EdgeMatch { values: &[(weight, 5.into())], at_most: None };
    ///     batch.remove_edges(source, target, &wanted)?;
    /// }
    /// db.commit(batch, "without weight 5")?;
    /// assert_eq!(db.latest()?.num_edges(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] if memory runs out, an id is not of the database's kind, or there is no such edge
    /// property.
    pub fn remove_edges<'i>(
        &mut self,
        source: impl Into<ExternalId<'i>>,
        target: impl Into<ExternalId<'i>>,
        wanted: &EdgeMatch<'_>,
    ) -> Result<()> {
        let (source, target) = (self.expect_kind(source.into())?, self.expect_kind(target.into())?);
        let count = self.edge_properties.len();
        if let Some((number, _)) = wanted.values.iter().find(|(number, _)| *number as usize >= count) {
            return Err(Error::invalid(format!("there is no edge property number {number}")));
        }
        self.make_room(&[source, target])?;
        let index = u32::try_from(self.matches.len()).ok().filter(|&index| index < REMOVAL);
        let index = index.ok_or_else(|| {
            Error::invalid("a batch takes at most 2^32 - 1 removals of edges: commit it in parts".to_owned())
        })?;
        reserve(&mut self.matches, 1)?;
        let wanted = BatchMatch::of(wanted)?;
        self.match_bytes += wanted.bytes();
        self.matches.push(wanted);
        self.ids.push(source);
        self.ids.push(target);
        self.ops.push(BatchOp::RemoveEdges(index));
        Ok(())
    }

    /// Asks the commit to count the edges that [`Batch::remove_edge`] removes: see
    /// [`crate::Committed::removed`]. That takes a search for each.
    pub fn count_removed(&mut self) {
        self.counts_removed = true;
    }

    /// Asks the commit to count the removals of edges that find none: see
    /// [`crate::Committed::not_found`]. Then one of a kind that no edge ever had finds none too, and is no
    /// error. That takes a search for each, as [`Batch::count_removed`] does, which this includes.
    pub fn count_not_found(&mut self) {
        (self.counts_removed, self.counts_not_found) = (true, true);
    }

    /// Whether the commit has to know which edges there are, because it removes some of several or counts
    /// them.
    pub(crate) fn selects_edges(&self) -> bool {
        self.counts_removed || !self.matches.is_empty()
    }
}
