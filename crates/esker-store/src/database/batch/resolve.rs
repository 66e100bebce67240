//! Turns batches into commits: external ids become vertices, texts become codes, and removed vertices lose
//! their edges.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use esker_format::memory::{collected, push, with_room};
use esker_format::{CommitText, Error, LogicalType, PropertyRecord, PropertyType, Result, VertexChange};
use esker_graph::{Cancel, NONE, Run, VertexId};
use esker_layers::ids::{ExternalId, IdMap, IdTail};
use esker_layers::property::REMOVED_NUMBER;

use crate::commit::{
    Batch, BatchOp, Commit, CommitEdge, CommitOptions, DuplicateRule, RuleScope, WiderSum, number_edges,
};
use crate::database::batch::known_texts::KnownTexts;
use crate::database::batch::standing::StandingEdges;
use crate::freeze::REMOVAL;
use crate::version::Version;

/// The state for building the next commit, including commits that are not yet durable.
#[derive(Debug)]
pub(crate) struct Writer {
    /// The ids of the vertices in layers.
    pub(crate) ids: IdMap,
    /// The ids of the vertices added by commits that are in no layer.
    pub(crate) tail: IdTail,
    /// The removed vertices.
    pub(crate) removed: HashSet<VertexId>,
    /// For each edge property, the codes of all its texts; `None` if it is a number.
    pub(crate) texts: Vec<Option<KnownTexts>>,
    pub(crate) vertex_properties: Vec<PropertyRecord>,
    pub(crate) next_version: u64,
    /// The event time of the newest version.
    pub(crate) last_time_ms: u64,
    pub(crate) last_committed_ms: u64,
    /// The first failure; after it, commits are refused.
    pub(crate) failure: Option<String>,
}

/// The number of ids or changes between two checks for cancellation.
pub(crate) const IDS_PER_CHECK: usize = 1 << 14;

/// The words by which messages name what [`Writer::kept_bytes`] counts, and decoded lists.
pub(crate) const KEPT: &str =
    "keeping the removed vertices and the texts of commits that are in no layer, beside any commit,";
/// A slot of the set of removed vertices, with its byte of control, where seven of eight slots may be used.
const REMOVED_BYTES: usize = (size_of::<VertexId>() + 1) * 8 / 7;

/// Returns all edges of a vertex, in and out, after all earlier commits.
pub(crate) type Neighbours<'a> = &'a dyn Fn(VertexId) -> Result<Vec<(VertexId, VertexId)>>;

/// The graph after all earlier commits.
pub(crate) struct Earlier<'a> {
    /// The threads that look up ids and sort edges.
    pub(crate) run: &'a Run,
    pub(crate) directed: bool,
    pub(crate) neighbours: Neighbours<'a>,
    /// The property bits of all edges between two vertices, in the order in which they were added.
    pub(crate) edges: &'a dyn Fn(VertexId, VertexId) -> Result<Vec<Vec<u64>>>,
    /// Set with an error if the commit is possible once a property has a wider type.
    pub(crate) wider: &'a Cell<Option<WiderSum>>,
}

/// A commit that was made of a batch.
pub(crate) struct Resolved {
    pub(crate) commit: Commit,
    /// The payload of its record in the log.
    pub(crate) payload: Vec<u8>,
    /// The number of its duplicate edges.
    pub(crate) duplicates: u64,
    /// The number of edges that changes of edges remove, if the batch wants to know.
    pub(crate) removed: Option<u64>,
    /// The number of removals that found no edge, if the batch wants to know.
    pub(crate) not_found: Option<u64>,
}

/// A commit while it is built.
pub(crate) struct CommitBuilder<'a> {
    pub(crate) writer: &'a mut Writer,
    pub(crate) commit: Commit,
    /// Vertices that the commit removed or restored, for undoing it.
    pub(crate) toggled: Vec<VertexId>,
    /// Vertices that the commit removed.
    pub(crate) removed: HashSet<VertexId>,
    /// For each vertex, the indexes of this commit's edge changes that touch it; built at the first removal
    /// of a vertex.
    pub(crate) touching: Option<HashMap<VertexId, Vec<usize>>>,
    /// The number of rows of the batch.
    batch_rows: u32,
    /// The edges between two vertices, where the batch removes some of several: see `removing`.
    pub(crate) standing: StandingEdges,
    pub(crate) cancel: &'a Cancel,
}

impl Writer {
    /// The writer for a database whose layers end with this version and whose log is empty.
    pub(crate) fn over(newest: &Version, run: &Run) -> Result<Self> {
        Ok(Self {
            ids: newest.ids().clone(),
            tail: IdTail::new(newest.num_vertices(), newest.ids().is_text(), newest.ids().hasher()),
            removed: newest.removed(run)?.list().iter().copied().collect(),
            texts: known_texts(newest),
            vertex_properties: newest.vertex_properties().cloned().collect(),
            next_version: newest.manifest().log_start().first_version,
            last_time_ms: newest.record().time_ms,
            last_committed_ms: newest.record().committed_ms,
            failure: None,
        })
    }

    /// Bytes that are kept beside any commit: the texts that are in no layer, and the removed vertices.
    pub(crate) fn kept_bytes(&self) -> u64 {
        let texts: usize = self.texts.iter().flatten().map(KnownTexts::bytes).sum();
        (texts + self.removed.capacity() * REMOVED_BYTES) as u64
    }

    /// The number of vertices after all commits.
    pub(crate) fn num_vertices(&self) -> u64 {
        (self.tail.first() + self.tail.len()) as u64
    }

    /// Resolves a batch to a commit. After an error nothing has changed.
    pub(crate) fn resolve(
        &mut self,
        batch: &Batch,
        options: &CommitOptions,
        earlier: &Earlier<'_>,
    ) -> Result<Resolved> {
        if batch.rows.len() != self.texts.len() {
            return Err(Error::invalid(format!(
                "the batch has {}, but edges now have {}: create a new batch",
                esker_graph::counted(batch.rows.len(), "edge property", "edge properties"),
                self.texts.len()
            )));
        }
        if batch.ids.is_text() != self.tail.is_text() {
            return Err(Error::invalid(format!(
                "the ids of the batch are not {}, as those of the database are now: create a new batch",
                if self.tail.is_text() { "texts" } else { "integers" }
            )));
        }
        let (ids_before, properties_before) = (self.tail.len(), self.vertex_properties.len());
        let commit = self.begin_commit(batch, options)?;
        let cancel = &options.cancel;
        let known = self.known_vertices(batch, earlier.run, cancel)?;
        let mut builder = CommitBuilder {
            writer: self,
            commit,
            toggled: Vec::new(),
            removed: HashSet::new(),
            touching: None,
            batch_rows: batch.num_rows,
            standing: StandingEdges::new(earlier.directed),
            cancel,
        };
        let taken = builder.expect_kinds(batch).and_then(|()| match builder.only_adds(batch, &known) {
            true => builder.take_additions(batch, known, earlier.run),
            false => builder.take(batch, &known, earlier),
        });
        let outcome = taken.and_then(|()| {
            builder.commit.num_vertices = builder.writer.num_vertices();
            let duplicates = builder.unite(batch, earlier)?;
            if let Some(column) = batch.edge_ids {
                number_edges(&mut builder.commit, column, earlier.directed, cancel)?;
            }
            let payload = builder.commit.encode(cancel)?;
            batch.memory.expect_paged()?;
            // From here on the commit goes to the log.
            cancel.check()?;
            Ok((payload, duplicates))
        });
        let CommitBuilder { commit, toggled, standing, .. } = builder;
        let (payload, duplicates) = outcome.inspect_err(|_| {
            self.tail.truncate(ids_before);
            self.vertex_properties.truncate(properties_before);
            for v in toggled {
                if !self.removed.remove(&v) {
                    self.removed.insert(v);
                }
            }
            for text in &commit.new_texts {
                if let Some(Some(known)) = self.texts.get_mut(text.property as usize) {
                    known.remove(&text.text);
                }
            }
        })?;
        self.accept(&commit);
        let removed = batch.selects_edges().then_some(standing.removed);
        let not_found = batch.counts_not_found.then_some(standing.not_found);
        Ok(Resolved { commit, payload, duplicates, removed, not_found })
    }

    fn accept(&mut self, commit: &Commit) {
        self.next_version = commit.version + 1;
        self.last_time_ms = commit.time_ms;
        self.last_committed_ms = commit.committed_ms;
    }

    /// Applies a commit from the log.
    pub(crate) fn replay(&mut self, commit: &Commit, run: &Run) -> Result<()> {
        for (index, id) in commit.new_ids.iter().enumerate() {
            if index % IDS_PER_CHECK == 0 {
                run.check()?;
            }
            self.tail.add(id)?;
        }
        if self.num_vertices() != commit.num_vertices {
            return Err(Error::invalid(format!(
                "version {} in the log has {}, but its commits add up to {}",
                commit.version,
                esker_graph::counted(commit.num_vertices, "vertex", "vertices"),
                self.num_vertices()
            )));
        }
        if self.texts.len() != commit.rows.len() {
            return Err(Error::invalid(format!(
                "version {} in the log has {} edge properties, but the database has {}",
                commit.version,
                commit.rows.len(),
                self.texts.len()
            )));
        }
        for text in &commit.new_texts {
            if let Some(Some(known)) = self.texts.get_mut(text.property as usize) {
                known.add(&text.text)?;
            }
        }
        self.vertex_properties.extend(commit.new_properties.iter().cloned());
        for change in commit.vertices.iter().filter(|change| change.property == REMOVED_NUMBER) {
            let is_removed = change.value.as_ref().is_some_and(|value| value.bits == 1);
            let v = change.vertex as VertexId;
            if is_removed {
                self.removed.insert(v)
            } else {
                self.removed.remove(&v)
            };
        }
        self.accept(commit);
        Ok(())
    }

    /// The external id of a vertex, for messages.
    pub(crate) fn name_of(&self, v: VertexId) -> String {
        match self.tail.external_of(v) {
            Some(id) => id.to_string(),
            None => self.ids.external_of(v).map_or_else(|_| v.to_string(), |id| id.to_string()),
        }
    }

    fn find(&self, id: ExternalId<'_>) -> Result<Option<VertexId>> {
        match self.ids.vertex_of(id)? {
            Some(v) => Ok(Some(v)),
            None => Ok(self.tail.vertex_of(id)),
        }
    }
}

/// An id of a batch.
#[derive(Clone, Copy)]
pub(crate) struct BatchId<'a> {
    pub(crate) id: ExternalId<'a>,
    /// What [`Writer::known_vertices`] found, if the id was looked up: [`NONE`] for no vertex.
    pub(crate) known: Option<VertexId>,
}

impl CommitBuilder<'_> {
    /// Takes the changes of a batch; `known` is what [`Writer::known_vertices`] found.
    fn take(&mut self, batch: &Batch, known: &[VertexId], earlier: &Earlier<'_>) -> Result<()> {
        for (name, element) in &batch.defined {
            self.define(name, element.clone(), batch.suggested.contains(name))?;
        }
        let names: Vec<PropertyRecord> =
            batch.names.iter().map(|name| self.property(name)).collect::<Result<_>>()?;
        self.take_rows(batch)?;
        let mut next_id = 0;
        let mut id = || {
            next_id += 1;
            BatchId { id: batch.ids.get(next_id - 1), known: known.get(next_id - 1).copied() }
        };
        for (index, op) in batch.ops.iter().enumerate() {
            if index % IDS_PER_CHECK == 0 {
                self.cancel.check()?;
            }
            match op {
                BatchOp::Edge(REMOVAL) => {
                    let (source, target) = (self.find_removed(batch, id())?, self.find_removed(batch, id())?);
                    let mut removed = 0;
                    if let (Some(source), Some(target)) = (source, target) {
                        if batch.counts_removed {
                            let ends = self.standing.ends(source, target);
                            removed = self.count_removed(batch, ends, earlier)?;
                        }
                        self.push_edge(CommitEdge { source, target, row: REMOVAL })?;
                    }
                    self.standing.not_found += u64::from(removed == 0);
                }
                BatchOp::RemoveEdges(wanted) => {
                    let ids = [id(), id()];
                    let [source, target] = ids.map(|id| self.find_removed(batch, id));
                    let (source, target) = (source?, target?);
                    let mut removed = 0;
                    if let (Some(source), Some(target)) = (source, target) {
                        let ends = self.standing.ends(source, target);
                        removed = self.remove_edges(batch, ends, *wanted, earlier)?;
                    }
                    if removed == 0 {
                        self.standing.not_found += 1;
                        batch.expect_unnamed(*wanted, ids.map(|id| id.id))?;
                    }
                }
                BatchOp::Edge(row) => {
                    let (source, target) = (self.vertex(id())?, self.vertex(id())?);
                    self.push_edge(CommitEdge { source, target, row: *row })?;
                }
                BatchOp::AddVertex => {
                    self.vertex(id())?;
                }
                BatchOp::ExpectVertex => self.expect_vertex(id())?,
                BatchOp::RemoveVertex => {
                    if let Some(v) = self.find_removed(batch, id())? {
                        self.remove_vertex(v, earlier.neighbours)?;
                    }
                }
                BatchOp::SetVertex(name, value) => {
                    let v = self.vertex(id())?;
                    let value = batch.value(*value);
                    let value = value.map(|value| value.stored(&names[*name as usize])).transpose()?;
                    let property = names[*name as usize].number;
                    push(&mut self.commit.vertices, VertexChange { property, vertex: u64::from(v), value })?;
                }
            }
        }
        self.settle_all(batch.num_rows)
    }

    /// Applies the rule for duplicate edges.
    fn unite(&mut self, batch: &Batch, earlier: &Earlier<'_>) -> Result<u64> {
        let Self { writer, commit, cancel, .. } = self;
        let name = |v: VertexId| writer.name_of(v);
        let first_new = writer.num_vertices() - commit.new_ids.len() as u64;
        // A vertex added by this commit has no earlier edges.
        let edges = |source: VertexId, target: VertexId| match u64::from(source.max(target)) < first_new {
            true => (earlier.edges)(source, target),
            false => Ok(Vec::new()),
        };
        let (rule, directed, properties) = (batch.duplicates(), earlier.directed, batch.edge_properties());
        let (run, num_vertices, wider) = (earlier.run, writer.num_vertices(), earlier.wider);
        let rule = DuplicateRule {
            rule,
            directed,
            properties,
            scope: RuleScope::of(rule, properties),
            replacing: &batch.replacing,
            edge_ids: batch.edge_ids,
            earlier: &edges,
            name: &name,
            cancel,
            run,
            num_vertices,
            wider,
        };
        rule.apply(commit)
    }

    fn define(&mut self, name: &str, property_type: PropertyType, is_suggested: bool) -> Result<()> {
        if let Some(known) = self.writer.vertex_properties.iter().find(|property| property.name == name) {
            let is_same = known.logical == property_type.logical
                && (known.is_text() || known.element == property_type.element);
            return if is_same || is_suggested {
                Ok(())
            } else {
                let what = known.type_name();
                Err(Error::invalid(format!("the vertex property {name:?} already exists with type {what}")))
            };
        }
        if name.is_empty() {
            return Err(Error::invalid("a vertex property needs a name".to_owned()));
        }
        if property_type.logical == LogicalType::EdgeId {
            return Err(Error::invalid(format!(
                "the vertex property {name:?} cannot have the type edge-id, which is for edges"
            )));
        }
        let number = self.writer.vertex_properties.len() as u32;
        let record = PropertyRecord { number, ..PropertyRecord::of_vertices(name, property_type) };
        self.writer.vertex_properties.push(record.clone());
        self.commit.new_properties.push(record);
        Ok(())
    }

    fn property(&self, name: &str) -> Result<PropertyRecord> {
        let properties = &self.writer.vertex_properties;
        properties
            .iter()
            .find(|property| property.name == name)
            .cloned()
            .ok_or_else(|| Error::invalid(format!("vertices have no property {name:?}: define it first")))
    }

    /// Adds the rows of edge properties, with texts replaced by codes.
    pub(crate) fn take_rows(&mut self, batch: &Batch) -> Result<()> {
        for ((bits, texts), property) in batch.rows.iter().zip(&batch.texts).zip(0..) {
            self.cancel.check()?;
            let Some(Some(known)) = self.writer.texts.get_mut(property as usize) else {
                self.commit.rows.push(collected(bits.iter().copied())?);
                continue;
            };
            let mut codes: Vec<u64> = with_room(texts.list.len())?;
            for (index, text) in texts.list.iter().enumerate() {
                if index % IDS_PER_CHECK == 0 {
                    self.cancel.check()?;
                }
                let code = match known.code_of(text)? {
                    Some(code) => code,
                    None => {
                        push(&mut self.commit.new_texts, CommitText { property, text: text.clone() })?;
                        known.add(text)?
                    }
                };
                codes.push(u64::from(code));
            }
            self.commit.rows.push(collected(bits.iter().map(|&index| codes[index as usize]))?);
        }
        Ok(())
    }

    /// The vertex of an id, which may have been looked up before this commit added any.
    pub(crate) fn find(&self, id: BatchId<'_>) -> Result<Option<VertexId>> {
        match id.known {
            None => self.writer.find(id.id),
            Some(NONE) => Ok(self.writer.tail.vertex_of(id.id)),
            Some(v) => Ok(Some(v)),
        }
    }

    /// The vertex of an id that is to be removed, or whose edge is.
    fn find_removed(&self, batch: &Batch, id: BatchId<'_>) -> Result<Option<VertexId>> {
        let found = self.find(id)?;
        // What this commit removes was there.
        let is_gone = |v| self.writer.removed.contains(&v) && !self.removed.contains(&v);
        if !batch.refuses_unknown || found.is_some_and(|v| !is_gone(v)) {
            return Ok(found);
        }
        let id = id.id.to_string();
        Err(Error::invalid(format!("cannot delete what belongs to the vertex {id:?}: no vertex has this id")))
    }

    pub(crate) fn push_edge(&mut self, edge: CommitEdge) -> Result<()> {
        if !self.standing.kept.is_empty() {
            self.settle(self.batch_rows, self.standing.ends(edge.source, edge.target))?;
        }
        self.push_change(edge)
    }

    /// Adds a change of edges to the commit.
    pub(crate) fn push_change(&mut self, edge: CommitEdge) -> Result<()> {
        let index = self.commit.edges.len();
        self.standing.note(&edge);
        if let Some(touching) = &mut self.touching {
            touching.entry(edge.source).or_default().push(index);
            touching.entry(edge.target).or_default().push(index);
        }
        push(&mut self.commit.edges, edge)
    }
}

/// For each edge property, the codes of all its texts; `None` if it is a number.
fn known_texts(version: &Version) -> Vec<Option<KnownTexts>> {
    let known = |property: &PropertyRecord| version.dictionary(property.number).map(KnownTexts::over);
    version.edge_properties().map(known).collect()
}

/// What [`Writer::kept_bytes`] will be for the writer over a version, at most.
pub(crate) fn kept_bytes_of(version: &Version, run: &Run) -> Result<u64> {
    // Tables have a power of two of slots, of which seven of eight may be used.
    let slots = |used: usize| (used * 8 / 7 + 1).next_power_of_two();
    Ok((slots(version.removed(run)?.list().len()) * REMOVED_BYTES) as u64)
}
