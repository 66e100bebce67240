//! Compares the lists of two databases of the same schema, and makes a batch of the differences.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;

use esker_graph::{Direction, NONE, Reservation, Run, VertexId};
use esker_store::diff::DiffSummary;
use esker_store::format::{LogicalType, PropertyRecord};
use esker_store::property::PropertyValue;
use esker_store::{Batch, Database, EdgeMatch, Result, Version, VertexEdges};

use super::super::room::Room;
use super::comparable::Comparable;

/// Number of vertices between two checks for cancellation.
const CHECK_VERTICES: usize = 64;
/// Number of changes after which their memory is reserved.
const ROOM_EVERY: usize = 1 << 12;

/// The newest version of a database, and the snapshot that it shall be equal to.
pub(super) struct SnapshotComparison<'a> {
    database: &'a Database,
    old: &'a Version,
    new: &'a Version,
    /// The edge properties that inputs give, as both have them.
    properties: Vec<[PropertyRecord; 2]>,
    /// Index of the kind among them.
    kind: Option<usize>,
    /// For each vertex of the snapshot, that of the database with its id; `NONE` if there is none.
    to_old: Vec<VertexId>,
    /// For each vertex of the database, that of the snapshot; `NONE` if there is none.
    to_new: Vec<VertexId>,
    keep_vertices: bool,
    /// Names of the properties of vertices that the input has columns of.
    columns: &'a BTreeSet<String>,
    /// Whether an edge has a value of each of the properties: in the database, in the snapshot.
    valued: Vec<[Cell<bool>; 2]>,
    run: &'a Run,
    _memory: Reservation,
}

/// An edge of one of the two by its place in a list.
struct Listed<'l> {
    edges: &'l VertexEdges<'l>,
    index: usize,
}

impl<'a> SnapshotComparison<'a> {
    pub(super) fn new(
        database: &'a Database,
        old: &'a Version,
        new: &'a Version,
        keep_vertices: bool,
        columns: &'a BTreeSet<String>,
        run: &'a Run,
    ) -> Result<Self> {
        let words = old.num_vertices() + new.num_vertices();
        let memory =
            database.reserve("the vertices of both graphs", (words * size_of::<VertexId>()) as u64)?;
        let given = |version: &'a Version| {
            version.edge_properties().filter(|one| one.logical != LogicalType::EdgeId).cloned()
        };
        let properties: Vec<_> = given(old).zip(given(new)).map(|(old, new)| [old, new]).collect();
        let kind = properties.iter().position(|[old, _]| old.kind);
        let removed = old.removed(run)?;
        let mut to_old = vec![NONE; new.num_vertices()];
        let mut to_new = vec![NONE; old.num_vertices()];
        for (t, place) in to_old.iter_mut().enumerate() {
            if t % CHECK_VERTICES == 0 {
                run.check()?;
            }
            let id = new.ids().external_of(t as VertexId)?;
            if let Some(v) = old.ids().vertex_of(id)?.filter(|&v| !removed.is_removed(v)) {
                *place = v;
                to_new[v as usize] = t as VertexId;
            }
        }
        let valued = properties.iter().map(|_| Default::default()).collect();
        Ok(Self {
            database,
            old,
            new,
            properties,
            kind,
            to_old,
            to_new,
            keep_vertices,
            columns,
            valued,
            run,
            _memory: memory,
        })
    }

    /// Fills a batch with the changes that make the database equal to the snapshot, and counts them.
    pub(super) fn changes(&self, batch: &mut Batch, room: &mut Room) -> Result<DiffSummary> {
        let mut changes = Changes { comparison: self, batch, room, summary: DiffSummary::default(), made: 0 };
        let removed = self.old.removed(self.run)?;
        for v in 0..self.to_new.len() {
            if v % CHECK_VERTICES == 0 {
                self.run.check()?;
            }
            if !removed.is_removed(v as VertexId) {
                changes.of_vertex(v as VertexId)?;
            }
        }
        for t in 0..self.to_old.len() {
            if t % CHECK_VERTICES == 0 {
                self.run.check()?;
            }
            if self.to_old[t] == NONE {
                changes.of_new_vertex(t as VertexId)?;
            }
        }
        changes.of_values()?;
        changes.make_room(0)?;
        Ok(changes.summary)
    }

    /// Whether a vertex of the database is removed.
    fn goes(&self, v: VertexId) -> bool {
        !self.keep_vertices && self.to_new[v as usize] == NONE
    }

    /// The values of an edge of the database.
    fn old_values(&self, edge: &Listed<'_>) -> Result<Vec<PropertyValue<'a>>> {
        self.values_of(edge, 0, self.old)
    }

    /// The values of an edge of the snapshot.
    fn new_values(&self, edge: &Listed<'_>) -> Result<Vec<PropertyValue<'a>>> {
        self.values_of(edge, 1, self.new)
    }

    fn values_of(
        &self,
        edge: &Listed<'_>,
        which: usize,
        version: &'a Version,
    ) -> Result<Vec<PropertyValue<'a>>> {
        let value = |(own, valued): (&[PropertyRecord; 2], &[Cell<bool>; 2])| {
            let own = &own[which];
            let value = version.edge_value(own, edge.edges.bits(own.number, edge.index)?)?;
            valued[which].set(valued[which].get() || !value.is_missing());
            Ok(value)
        };
        self.properties.iter().zip(&self.valued).map(value).collect()
    }

    /// The properties of which edges that stay had values, and no edge of the snapshot that was looked at has
    /// one. Asked after [`Self::changes`].
    pub(super) fn cleared(&self) -> impl Iterator<Item = &str> {
        let is_cleared = |valued: &[Cell<bool>; 2]| valued[0].get() && !valued[1].get();
        let all = self.properties.iter().zip(&self.valued);
        all.filter(move |(_, valued)| is_cleared(valued)).map(|([own, _], _)| own.name.as_str())
    }

    /// Whether a vertex of the database is removed.
    pub(super) fn removes_vertices(&self) -> Result<bool> {
        let removed = self.old.removed(self.run)?;
        Ok((0..self.to_new.len() as VertexId).any(|v| self.goes(v) && !removed.is_removed(v)))
    }
}

/// The changes so far.
struct Changes<'c, 'a> {
    comparison: &'c SnapshotComparison<'a>,
    batch: &'c mut Batch,
    room: &'c mut Room,
    summary: DiffSummary,
    /// The number of changes when their memory was last reserved.
    made: usize,
}

/// The values of parallel edges, sorted, as they are compared and as they are.
type SortedValues<'v> = Vec<(Vec<Comparable<'v>>, Vec<PropertyValue<'v>>)>;

fn sorted(rows: Vec<Vec<PropertyValue<'_>>>) -> SortedValues<'_> {
    let mut rows: SortedValues<'_> =
        rows.into_iter().map(|row| (row.iter().map(|&value| Comparable::of(value)).collect(), row)).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

/// The edges from `start` on that have the same target.
fn copies<T>(list: &[T], start: usize, target: impl Fn(&T) -> VertexId) -> Range<usize> {
    let first = target(&list[start]);
    start..start + list[start..].iter().take_while(|&one| target(one) == first).count()
}

impl<'a> Changes<'_, 'a> {
    /// Reserves memory once there are `at_least` new changes.
    fn make_room(&mut self, at_least: usize) -> Result<()> {
        if self.batch.len().abs_diff(self.made) < at_least {
            return Ok(());
        }
        self.room.make(self.comparison.database.into(), self.batch)?;
        self.made = self.batch.len();
        Ok(())
    }

    /// Takes a vertex of the database: it is removed, or its list changes.
    fn of_vertex(&mut self, v: VertexId) -> Result<()> {
        let SnapshotComparison { old, new, to_old, to_new, .. } = self.comparison;
        let t = to_new[v as usize];
        if self.comparison.goes(v) {
            self.summary.vertices_removed += 1;
            self.batch.remove_vertex(old.ids().external_of(v)?)?;
        }
        let has = old.edges(Direction::Out, v)?;
        let shall = if t == NONE { None } else { Some(new.edges(Direction::Out, t)?) };
        // An undirected edge is compared at its smaller end in the database; one of a new vertex there.
        let is_here = |target: VertexId| old.is_directed() || target >= v;
        let mut wanted: Vec<(VertexId, usize)> = Vec::new();
        for (index, &target) in shall.iter().flat_map(|edges| edges.targets().iter().enumerate()) {
            match to_old[target as usize] {
                NONE if old.is_directed() => {
                    let edges = shall.as_ref().unwrap_or_else(|| unreachable!("it has the edge"));
                    self.add(t, target, &Listed { edges, index })?;
                }
                NONE => {}
                target if is_here(target) => wanted.push((target, index)),
                _ => {}
            }
        }
        wanted.sort_unstable();
        let (mut i, mut j) = (has.targets().partition_point(|&target| !is_here(target)), 0);
        loop {
            let order = match (has.targets().get(i), wanted.get(j)) {
                (None, None) => return self.make_room(ROOM_EVERY),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.cmp(&new.0),
            };
            let mine = if order.is_le() { copies(has.targets(), i, |&target| target) } else { i..i };
            let theirs = if order.is_ge() { copies(&wanted, j, |one| one.0) } else { j..j };
            let target = if order.is_le() { has.targets()[i] } else { wanted[j].0 };
            let mine_at = mine.clone().map(|index| Listed { edges: &has, index });
            let theirs_at = theirs.clone().flat_map(|at| shall.iter().map(move |edges| (edges, at)));
            let theirs_at = theirs_at.map(|(edges, at)| Listed { edges, index: wanted[at].1 });
            self.of_pair(v, target, &mine_at.collect::<Vec<_>>(), &theirs_at.collect::<Vec<_>>())?;
            (i, j) = (mine.end, theirs.end);
        }
    }

    /// The edges between two vertices of the database.
    fn of_pair(&mut self, v: VertexId, u: VertexId, has: &[Listed<'_>], shall: &[Listed<'_>]) -> Result<()> {
        let comparison = self.comparison;
        if shall.is_empty() {
            self.summary.edges_removed += has.len() as u64;
            if !comparison.goes(v) && !comparison.goes(u) {
                let ids = comparison.old.ids();
                self.batch.remove_edge(ids.external_of(v)?, ids.external_of(u)?)?;
            }
            return Ok(());
        }
        let has = has.iter().map(|edge| comparison.old_values(edge)).collect::<Result<Vec<_>>>()?;
        let shall = shall.iter().map(|edge| comparison.new_values(edge)).collect::<Result<Vec<_>>>()?;
        let is_single = has.len() == 1 && shall.len() == 1;
        let (surplus, missing) = differences(sorted(has), sorted(shall));
        match is_single {
            true => self.summary.edges_changed += missing.len() as u64,
            false => {
                self.summary.edges_added += missing.len() as u64;
                self.summary.edges_removed += surplus.len() as u64;
            }
        }
        self.apply(v, u, &surplus, &missing)
    }

    /// Removes and adds edges between two vertices of the database. What is removed comes first: a kind may
    /// have room for one edge only.
    fn apply(
        &mut self,
        v: VertexId,
        u: VertexId,
        surplus: &[Vec<PropertyValue<'_>>],
        missing: &[Vec<PropertyValue<'_>>],
    ) -> Result<()> {
        let SnapshotComparison { old, properties, kind, .. } = self.comparison;
        let (source, target) = (old.ids().external_of(v)?, old.ids().external_of(u)?);
        let is_alike = |one: &[PropertyValue<'_>], other: &[PropertyValue<'_>]| {
            kind.is_none_or(|kind| Comparable::of(one[kind]) == Comparable::of(other[kind]))
        };
        let is_alone = |rows: &[Vec<PropertyValue<'_>>], like: &[PropertyValue<'_>]| {
            rows.iter().filter(|row| is_alike(row, like)).count() == 1
        };
        // A replaced edge keeps its id.
        let has_one = !self.batch.duplicates().keeps_parallel();
        let is_replaced =
            |row: &[PropertyValue<'_>]| has_one && is_alone(surplus, row) && is_alone(missing, row);
        for row in surplus {
            if is_replaced(row) {
                continue;
            }
            let numbers = properties.iter().map(|[own, _]| own.number);
            let values: Vec<(u32, PropertyValue<'_>)> = numbers.zip(row.iter().copied()).collect();
            let wanted = EdgeMatch { values: &values, at_most: Some(1) };
            self.batch.remove_edges(source, target, &wanted)?;
        }
        for row in missing {
            match is_replaced(row) {
                true => self.batch.replace_edge(source, target, row)?,
                false => self.batch.add_edge(source, target, row)?,
            }
        }
        Ok(())
    }

    /// A vertex that only the snapshot has, with its edges; the directed ones to it are those of their
    /// sources.
    fn of_new_vertex(&mut self, t: VertexId) -> Result<()> {
        let SnapshotComparison { new, to_old, .. } = self.comparison;
        self.summary.vertices_added += 1;
        self.batch.add_vertex(new.ids().external_of(t)?)?;
        let edges = new.edges(Direction::Out, t)?;
        for (index, &target) in edges.targets().iter().enumerate() {
            let is_here = new.is_directed() || to_old[target as usize] != NONE || target >= t;
            if is_here {
                self.add(t, target, &Listed { edges: &edges, index })?;
            }
        }
        self.make_room(ROOM_EVERY)
    }

    /// Adds an edge of the snapshot between two vertices of it.
    fn add(&mut self, from: VertexId, to: VertexId, edge: &Listed<'_>) -> Result<()> {
        let ids = self.comparison.new.ids();
        let values = self.comparison.new_values(edge)?;
        self.summary.edges_added += 1;
        self.batch.add_edge(ids.external_of(from)?, ids.external_of(to)?, &values)
    }

    /// The properties of vertices.
    fn of_values(&mut self) -> Result<()> {
        let SnapshotComparison { old, new, to_old, run, .. } = self.comparison;
        for property in new.vertex_properties() {
            let wanted = new.vertex_property(&property.name)?;
            let known = old.vertex_properties().any(|one| one.name == property.name);
            let known = if known { Some(old.vertex_property(&property.name)?) } else { None };
            if !self.comparison.columns.contains(&property.name) {
                continue;
            }
            if known.is_none() {
                self.batch.define_vertex_property(&property.name, property.property_type());
            }
            for (t, &v) in to_old.iter().enumerate() {
                if t % CHECK_VERTICES == 0 {
                    run.check()?;
                }
                let value = wanted.get(t as VertexId)?;
                let before = match &known {
                    Some(known) if v != NONE => known.get(v)?,
                    _ => None,
                };
                if value.map(Comparable::of) != before.map(Comparable::of) {
                    self.summary.values_changed += 1;
                    self.batch.set_vertex(new.ids().external_of(t as VertexId)?, &property.name, value)?;
                    self.make_room(ROOM_EVERY)?;
                }
            }
        }
        Ok(())
    }
}

/// Which values only the first has, and which only the second.
type UnmatchedValues<'v> = (Vec<Vec<PropertyValue<'v>>>, Vec<Vec<PropertyValue<'v>>>);

fn differences<'v>(has: SortedValues<'v>, shall: SortedValues<'v>) -> UnmatchedValues<'v> {
    let (mut surplus, mut missing) = (Vec::new(), Vec::new());
    let (mut has, mut shall) = (has.into_iter().peekable(), shall.into_iter().peekable());
    loop {
        let order = match (has.peek(), shall.peek()) {
            (None, None) => return (surplus, missing),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => one.0.cmp(&other.0),
        };
        let one = if order.is_le() { has.next() } else { None };
        let other = if order.is_ge() { shall.next() } else { None };
        match (one, other) {
            (Some(one), None) => surplus.push(one.1),
            (None, Some(other)) => missing.push(other.1),
            _ => {}
        }
    }
}
