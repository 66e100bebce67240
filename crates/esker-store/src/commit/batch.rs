//! A batch: changes that together become one version.

use std::collections::HashSet;
use std::ops::Range;

use esker_format::MISSING_TEXT;
use esker_format::memory::reserve;
use esker_format::value::decimal::is_too_long;
use esker_format::{
    Duplicates, EdgeId, ElementType, Error, LogicalType, PropertyRecord, PropertyType, Result, Widening,
};
use esker_layers::ids::ExternalId;
use esker_layers::property::PropertyValue;

use super::change::{BatchOp, BatchValue};
use super::content::NewIds;
use super::exact::{exact_bits, exact_number, wider_for};
use super::matching::BatchMatch;
use super::numbered::NumberedChange;
use super::options::BatchMemory;
use super::scope::RuleScope;
use super::texts::{TEXT_BYTES, Texts, expect_length, too_long};
use crate::freeze::REMOVAL;

/// What a commit keeps in memory for a change of edges if it has to know which edges there are: a slot of a
/// table, with an allocation.
const STANDING_BYTES: usize = 128;

/// What a commit keeps in memory for a change of edges if it gives edges ids.
const NUMBERED_BYTES: usize = size_of::<NumberedChange>();

/// Memory of the row of an edge that replaces another: a slot of a table.
const REPLACING_BYTES: usize = size_of::<u32>() + 1;

/// Changes to commit together with [`crate::Database::commit`].
///
/// The changes take effect in the order given: an edge that is added and then removed does not exist. Memory:
/// 28 bytes for an edge between integer ids.
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
/// # let path = directory.path().join("web.esker");
/// # let edges = [esker_import::Input::memory("web.csv", csv)];
/// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
/// # let db = esker_store::Database::open(&path, Default::default())?;
/// let mut batch = db.batch();
/// batch.add_edge("alice", "dan", &[])?; // unknown ends become vertices
/// batch.add_vertex("erin")?;
/// batch.remove_vertex("bob")?; // with its edges
/// let version = db.commit(batch, "several changes, all or nothing")?;
/// assert_eq!(db.at(version)?.num_edges(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Batch {
    /// The edge properties of the database, by number.
    pub(crate) edge_properties: Vec<PropertyRecord>,
    /// The number of the one that has the ids of edges, if the database keeps them.
    pub(crate) edge_ids: Option<usize>,
    /// The rule for duplicate edges.
    pub(crate) duplicates: Duplicates,
    pub(crate) ids: NewIds,
    pub(crate) ops: Vec<BatchOp>,
    pub(crate) rows: Vec<Vec<u64>>,
    pub(crate) num_rows: u32,
    /// For each text property of edges, the distinct texts of the batch; the rows hold indexes of them.
    pub(crate) texts: Vec<Texts>,
    /// The rows of edges that replace the one that exists, whatever the rule.
    pub(crate) replacing: HashSet<u32>,
    /// The names of the vertex properties that the batch sets.
    pub(crate) names: Vec<String>,
    /// The values that it sets, in order.
    values: Vec<BatchValue>,
    /// Which edges it removes, where not all between two vertices.
    pub(crate) matches: Vec<BatchMatch>,
    /// Memory of what these have on the heap.
    pub(super) match_bytes: usize,
    /// Whether the commit counts the edges that it removes.
    pub(crate) counts_removed: bool,
    /// Whether it counts the removals that find no edge, and takes those of unknown kinds.
    pub(crate) counts_not_found: bool,
    /// The vertex properties that the batch defines: name and type.
    pub(crate) defined: Vec<(String, PropertyType)>,
    /// Those among them that may exist with another type.
    pub(crate) suggested: HashSet<String>,
    /// Memory of the texts that the batch sets as properties of vertices.
    value_bytes: usize,
    /// Whether to remove what has an unknown vertex is an error.
    pub(crate) refuses_unknown: bool,
    /// The memory that [`crate::Database::make_room`] has reserved.
    pub(crate) memory: BatchMemory,
}

impl Batch {
    /// An empty batch for a database with these edge properties and this rule for duplicate edges.
    pub(crate) fn new(edge_properties: Vec<PropertyRecord>, text_ids: bool, duplicates: Duplicates) -> Self {
        let count = edge_properties.len();
        let edge_ids = edge_properties.iter().position(|property| property.logical == LogicalType::EdgeId);
        Self {
            edge_properties,
            edge_ids,
            duplicates,
            ids: NewIds::new(text_ids),
            ops: Vec::new(),
            rows: vec![Vec::new(); count],
            num_rows: 0,
            texts: vec![Texts::default(); count],
            replacing: HashSet::new(),
            names: Vec::new(),
            values: Vec::new(),
            matches: Vec::new(),
            match_bytes: 0,
            counts_removed: false,
            counts_not_found: false,
            defined: Vec::new(),
            suggested: HashSet::new(),
            value_bytes: 0,
            refuses_unknown: false,
            memory: BatchMemory::default(),
        }
    }

    /// Lets the commit fail if a vertex that is to be removed, or an end of an edge that is, does not exist.
    /// Otherwise there is nothing to remove.
    pub fn refuse_unknown(&mut self) {
        self.refuses_unknown = true;
    }

    /// The number of changes.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// The memory of the changes.
    pub(crate) fn bytes(&self) -> usize {
        let rows: usize = self.rows.iter().map(|column| column.capacity() * size_of::<u64>()).sum();
        let values = self.values.capacity() * size_of::<BatchValue>();
        let matches = self.matches.capacity() * size_of::<BatchMatch>() + self.match_bytes;
        let ops = self.ops.capacity() * size_of::<BatchOp>();
        let scope = RuleScope::of(self.duplicates, &self.edge_properties);
        let looks_up = self.selects_edges() || (self.rule_reads_edges() && scope != RuleScope::Ends);
        let standing = if looks_up { self.ops.len() * STANDING_BYTES } else { 0 };
        let numbered = if self.edge_ids.is_some() { self.ops.len() * NUMBERED_BYTES } else { 0 };
        let replacing = self.replacing.capacity() * REPLACING_BYTES;
        self.ids.bytes() + replacing + ops + values + matches + rows + standing + numbered + self.text_bytes()
    }

    /// The memory of the texts among the changes.
    pub(crate) fn text_bytes(&self) -> usize {
        self.value_bytes + self.texts.iter().map(|texts| texts.bytes).sum::<usize>()
    }

    /// Takes out all changes, and gives back their memory. What they define stays.
    pub(crate) fn forget_changes(&mut self) {
        let properties = std::mem::take(&mut self.edge_properties);
        let mut empty = Self::new(properties, self.ids.is_text(), self.duplicates);
        (empty.names, empty.defined) = (std::mem::take(&mut self.names), std::mem::take(&mut self.defined));
        empty.suggested = std::mem::take(&mut self.suggested);
        empty.counts_removed = self.counts_removed;
        empty.counts_not_found = self.counts_not_found;
        *self = empty;
    }

    /// Whether the batch has no changes and no definitions.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty() && self.defined.is_empty()
    }

    /// Whether all changes add edges or vertices.
    pub(crate) fn only_adds(&self) -> bool {
        let vertices = || self.ops.iter().filter(|op| matches!(op, BatchOp::AddVertex)).count();
        self.names.is_empty()
            && self.defined.is_empty()
            && self.num_rows as usize + vertices() == self.ops.len()
    }

    /// Whether the batch removes vertices.
    pub(crate) fn removes_vertices(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, BatchOp::RemoveVertex))
    }

    /// The ids of the vertices that the batch removes.
    pub(crate) fn removed_vertices(&self) -> impl Iterator<Item = ExternalId<'_>> {
        let mut next = 0;
        self.ops.iter().filter_map(move |op| {
            let first = next;
            next += op.num_ids();
            matches!(op, BatchOp::RemoveVertex).then(|| self.ids.get(first))
        })
    }

    /// The edge properties of the database, by number.
    pub fn edge_properties(&self) -> &[PropertyRecord] {
        &self.edge_properties
    }

    /// Adds an edge. If it exists, the rule for duplicates says what becomes of it
    /// ([`Batch::set_duplicates`]): by default it gets the new properties, and a multigraph adds another
    /// edge. Unknown ends become new vertices. `values` are those of [`Batch::given_properties`]; a number of
    /// another type is converted if the property's type represents it exactly; otherwise the commit gives the
    /// property a wider type ([`crate::Database::widen_edge_property`]), if one holds the number and all of
    /// its values. With [`PropertyValue::Missing`] or NaN, the edge is without a value
    /// ([`crate::Database::allow_missing`]).
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target,weight\n1,2,5\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// # let db = esker_store::Database::open(&path, Default::default())?;
    /// let mut batch = db.batch();
    /// batch.add_edge(2_u64, 3_u64, &[7.into()])?; // a value for each edge property
    /// assert!(batch.add_edge(3_u64, 4_u64, &[]).is_err()); // one is missing
    /// assert!(batch.add_edge("a", "b", &[7.into()]).is_err()); // ids are integers here
    /// db.commit(batch, "one more")?;
    /// assert_eq!(db.latest()?.num_edges(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] if memory runs out, an id is not of the database's kind, or `values` do not match
    /// the edge properties.
    pub fn add_edge<'i>(
        &mut self,
        source: impl Into<ExternalId<'i>>,
        target: impl Into<ExternalId<'i>>,
        values: &[PropertyValue<'_>],
    ) -> Result<()> {
        let (source, target) = (self.expect_new(source.into())?, self.expect_new(target.into())?);
        self.add_one(source, target, values).map(drop)
    }

    /// Adds an edge as [`Batch::add_edge`] does, but if it exists, it gets the new properties whatever the
    /// rule for duplicates says, and keeps its id. Where edges have kinds, that is the edge of the same kind;
    /// where parallel edges are kept otherwise, the edge is another one.
    ///
    /// # Errors
    /// As [`Batch::add_edge`].
    pub fn replace_edge<'i>(
        &mut self,
        source: impl Into<ExternalId<'i>>,
        target: impl Into<ExternalId<'i>>,
        values: &[PropertyValue<'_>],
    ) -> Result<()> {
        let (source, target) = (self.expect_new(source.into())?, self.expect_new(target.into())?);
        let row = self.add_one(source, target, values)?;
        if self.duplicates != Duplicates::Last && !self.duplicates.keeps_parallel() {
            self.replacing.insert(row);
        }
        Ok(())
    }

    /// Adds an edge; returns its row.
    fn add_one(
        &mut self,
        source: ExternalId<'_>,
        target: ExternalId<'_>,
        values: &[PropertyValue<'_>],
    ) -> Result<u32> {
        self.make_room(&[source, target])?;
        let row = self.add_rows(1, values.len(), |number| std::slice::from_ref(&values[number]))?.start;
        self.push_edge(source, target, row);
        Ok(row)
    }

    /// Adds rows with the values of each property; returns their indexes. After an error none is added.
    fn add_rows<'v>(
        &mut self,
        count: usize,
        num_values: usize,
        values_of: impl Fn(usize) -> &'v [PropertyValue<'v>],
    ) -> Result<Range<u32>> {
        if num_values + usize::from(self.edge_ids.is_some()) != self.edge_properties.len() {
            let names: Vec<_> = self.given_properties().map(|property| property.name.as_str()).collect();
            return Err(Error::invalid(format!(
                "{} for an edge, but edges have {}: {}",
                esker_graph::counted(num_values, "value", "values"),
                esker_graph::counted(names.len(), "property", "properties"),
                if names.is_empty() { "none".to_owned() } else { names.join(", ") }
            )));
        }
        let rows = match u32::try_from(count).ok().and_then(|count| self.num_rows.checked_add(count)) {
            Some(end) if end < REMOVAL => self.num_rows..end,
            _ => {
                let reason = "a batch takes at most 2^32 - 2 edges: commit it in parts";
                return Err(Error::invalid(reason.to_owned()));
            }
        };
        self.rows.iter_mut().try_for_each(|column| reserve(column, count))?;
        if let Some(ids) = self.edge_ids {
            self.rows[ids].resize(rows.end as usize, EdgeId::NEW.bits());
        }
        for place in 0..num_values {
            let number = place + usize::from(self.edge_ids.is_some_and(|ids| ids <= place));
            for value in values_of(place) {
                match self.bits_of(number, *value) {
                    Ok(bits) => self.rows[number].push(bits),
                    Err(error) => {
                        self.rows.iter_mut().for_each(|column| column.truncate(rows.start as usize));
                        return Err(error);
                    }
                }
            }
        }
        self.num_rows = rows.end;
        Ok(rows)
    }

    /// Adds edges between text ids: as [`Batch::add_edge`] for each, at a fraction of its time. `values` are
    /// those of each given property, one for each edge. After an error no edge is added.
    ///
    /// # Errors
    /// As [`Batch::add_edge`].
    pub fn add_text_edges(&mut self, ends: &[[&[u8]; 2]], values: &[Vec<PropertyValue<'_>>]) -> Result<()> {
        let NewIds::Texts(texts, places) = &mut self.ids else {
            let text = ends.first().map_or(&b""[..], |ends| ends[0]);
            return self.expect_kind(ExternalId::Text(text)).map(drop);
        };
        ends.as_flattened().iter().try_for_each(|id| expect_length(id))?;
        reserve(texts, ends.as_flattened().iter().map(|id| id.len()).sum())?;
        reserve(places, 2 * ends.len())?;
        reserve(&mut self.ops, ends.len())?;
        let rows = self.add_rows(ends.len(), values.len(), |number| &values[number])?;
        for id in ends.as_flattened() {
            self.ids.push(ExternalId::Text(id));
        }
        self.ops.extend(rows.map(BatchOp::Edge));
        Ok(())
    }

    /// As [`Batch::add_text_edges`], between integer ids: from `sources[i]` to `targets[i]`.
    ///
    /// # Errors
    /// As [`Batch::add_edge`].
    pub fn add_integer_edges(
        &mut self,
        sources: &[u64],
        targets: &[u64],
        values: &[Vec<PropertyValue<'_>>],
    ) -> Result<()> {
        let ends = sources.iter().zip(targets);
        let NewIds::Integers(ids) = &mut self.ids else {
            let integer = sources.first().copied().unwrap_or(0);
            return self.expect_kind(ExternalId::Int(integer)).map(drop);
        };
        reserve(ids, 2 * ends.len())?;
        reserve(&mut self.ops, ends.len())?;
        let rows = self.add_rows(ends.len(), values.len(), |number| &values[number])?;
        let NewIds::Integers(ids) = &mut self.ids else { return Ok(()) };
        ids.extend(ends.flat_map(|(&source, &target)| [source, target]));
        self.ops.extend(rows.map(BatchOp::Edge));
        Ok(())
    }

    /// Adds a vertex, unless it exists.
    ///
    /// # Errors
    /// [`Error::Invalid`] if memory runs out, or the id is not of the database's kind.
    pub fn add_vertex<'i>(&mut self, id: impl Into<ExternalId<'i>>) -> Result<()> {
        let id = self.expect_new(id.into())?;
        self.push(id, BatchOp::AddVertex)
    }

    /// Removes a vertex with its edges. If it is added again, it begins without properties.
    ///
    /// # Errors
    /// [`Error::Invalid`] if memory runs out, or the id is not of the database's kind.
    pub fn remove_vertex<'i>(&mut self, id: impl Into<ExternalId<'i>>) -> Result<()> {
        self.push(id.into(), BatchOp::RemoveVertex)
    }

    /// Sets a property of a vertex, or removes its value (`None`). Adds the vertex if it does not exist.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// # let db = esker_store::Database::open(&path, Default::default())?;
    /// use esker_store::format::ElementType;
    /// use esker_store::property::PropertyValue;
    ///
    /// let mut batch = db.batch();
    /// batch.define_vertex_property("age", ElementType::I32);
    /// batch.set_vertex("bob", "age", Some(31.into()))?;
    /// db.commit(batch, "ages")?;
    /// let newest = db.latest()?;
    /// let bob = newest.ids().find("bob")?;
    /// assert_eq!(newest.vertex_property("age")?.get(bob)?, Some(PropertyValue::I32(31)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] if memory runs out, or the id is not of the database's kind. The commit checks that
    /// the property exists.
    pub fn set_vertex<'i>(
        &mut self,
        id: impl Into<ExternalId<'i>>,
        property: &str,
        value: Option<PropertyValue<'_>>,
    ) -> Result<()> {
        let id = self.expect_new(id.into())?;
        let name = match self.names.iter().position(|name| name == property) {
            Some(name) => name,
            None => {
                self.names.push(property.to_owned());
                self.names.len() - 1
            }
        };
        let value_bytes = match value {
            Some(PropertyValue::Text(text)) if is_too_long(text) => return Err(too_long(property, text)),
            Some(PropertyValue::Text(text)) => text.len() + TEXT_BYTES,
            Some(PropertyValue::Vector(vector)) => vector.bytes().len() + TEXT_BYTES,
            _ => 0,
        };
        let value = value.filter(|value| !value.is_missing()).map(BatchValue::of);
        let index = match value {
            None => REMOVAL,
            Some(_) => self.next_value()?,
        };
        self.push(id, BatchOp::SetVertex(name as u32, index))?;
        self.values.extend(value);
        self.value_bytes += value_bytes;
        Ok(())
    }

    /// Defines a vertex property with values of a type. Does nothing if the property exists with that type.
    pub fn define_vertex_property(&mut self, name: &str, property_type: impl Into<PropertyType>) {
        self.defined.push((name.to_owned(), property_type.into()));
    }

    pub(super) fn push(&mut self, id: ExternalId<'_>, op: BatchOp) -> Result<()> {
        let id = self.expect_kind(id)?;
        self.make_room(&[id])?;
        self.ids.push(id);
        self.ops.push(op);
        Ok(())
    }

    /// Reserves memory for one change with these ids.
    pub(super) fn make_room(&mut self, ids: &[ExternalId<'_>]) -> Result<()> {
        self.ids.make_room(ids)?;
        reserve(&mut self.ops, 1)
    }

    pub(super) fn push_edge(&mut self, source: ExternalId<'_>, target: ExternalId<'_>, row: u32) {
        self.ids.push(source);
        self.ids.push(target);
        self.ops.push(BatchOp::Edge(row));
    }

    /// The index of the next value of a vertex property, for which there is room.
    fn next_value(&mut self) -> Result<u32> {
        if self.values.len() >= REMOVAL as usize {
            let reason = "a batch takes at most 2^32 - 1 values of vertices: commit it in parts";
            return Err(Error::invalid(reason.to_owned()));
        }
        reserve(&mut self.values, 1)?;
        Ok(self.values.len() as u32)
    }

    /// The value that a change sets; `None` if it takes a value away.
    pub(crate) fn value(&self, index: u32) -> Option<&BatchValue> {
        self.values.get(index as usize)
    }

    fn bits_of(&mut self, number: usize, value: PropertyValue<'_>) -> Result<u64> {
        let property = &self.edge_properties[number];
        let wrong = || {
            let wanted = property.type_name();
            Error::invalid(format!("the edge property {:?} takes {wanted}, not {value}", property.name))
        };
        match value {
            value if value.is_missing() => self.missing_of(number),
            PropertyValue::Text(text) if is_too_long(text) => Err(too_long(&property.name, text)),
            PropertyValue::Text([]) if property.kind => Err(Error::invalid(format!(
                "an edge needs a kind, and its property {:?} is empty: give it a text",
                property.name
            ))),
            PropertyValue::Text(text) if property.is_text() && text != MISSING_TEXT => {
                Ok(u64::from(self.texts[number].index_of(text)?))
            }
            value if property.is_text() => {
                Err(Error::invalid(format!("the edge property {:?} takes texts, not {value}", property.name)))
            }
            value => match exact_bits(property, value) {
                Some(bits) => Ok(bits),
                None => {
                    let wider = wider_for(property, value).ok_or_else(wrong)?;
                    self.widen(number, wider)?;
                    exact_number(wider, value).ok_or_else(|| Error::invalid(format!("cannot store {value}")))
                }
            },
        }
    }

    /// Gives an edge property a wider type.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the type does not hold a value of the batch.
    pub(crate) fn widen(&mut self, number: usize, to: ElementType) -> Result<()> {
        let property = &mut self.edge_properties[number];
        let PropertyRecord { number: owned, element: from, optional, .. } = *property;
        Widening { property: owned, from, to, optional }.apply(&mut self.rows[number])?;
        property.element = to;
        Ok(())
    }

    /// An id that a change may give to a new vertex. Changes that remove something take longer ones too:
    /// these name no vertex, and nothing is removed.
    fn expect_new<'i>(&self, id: ExternalId<'i>) -> Result<ExternalId<'i>> {
        if let ExternalId::Text(text) = id {
            expect_length(text)?;
        }
        self.expect_kind(id)
    }

    pub(super) fn expect_kind<'i>(&self, id: ExternalId<'i>) -> Result<ExternalId<'i>> {
        match (&self.ids, id) {
            (NewIds::Integers(_), ExternalId::Int(_)) | (NewIds::Texts(..), ExternalId::Text(_)) => Ok(id),
            (NewIds::Integers(_), id) => {
                Err(Error::invalid(format!("{id} is not a vertex id: this database has integer ids")))
            }
            (NewIds::Texts(..), id) => {
                Err(Error::invalid(format!("the number {id} is not a vertex id: this database has text ids")))
            }
        }
    }
}
