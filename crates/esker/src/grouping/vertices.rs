//! Groups and lists of vertices.

use esker_graph::{Run, VertexId, vertex};
use esker_store::Version;
use serde_json::Value;

use super::groups::Groups;
use super::keys::{KEYS_MAX, KeyBits, KeyColumn, VertexValues, id_json};
use super::measures::MeasureColumn;
use super::query::GroupQuery;
use super::sort::{RowMemory, SortKey, sorted};
use super::table::{GroupOrder, GroupTable, place_of, told_apart};
use crate::differences::value_json;
use crate::error::{Error, Result};
use crate::selection::{Condition, Conditions};

/// Conditions on vertices of a version; a vertex meets all of them. Their names are those of properties of
/// vertices; `vertex` is the id.
#[derive(Debug)]
pub struct VertexConditions(Option<std::sync::Arc<Conditions>>);

impl VertexConditions {
    /// Conditions on the vertices of a version.
    ///
    /// # Errors
    /// As [`Conditions::of`]; [`Error::Usage`] for conditions on ends of edges.
    pub fn of(conditions: &[Condition], version: &Version, run: &Run) -> Result<Self> {
        let conditions = conditions.iter().map(Condition::of_vertices).collect::<Result<Vec<_>>>()?;
        Ok(Self(Conditions::of(&conditions, version, run)?))
    }

    /// Whether a vertex meets all.
    ///
    /// # Errors
    /// [`esker_store::Error::Corrupt`].
    pub fn keeps(&self, v: VertexId) -> Result<bool> {
        self.0.as_ref().map_or(Ok(true), |conditions| conditions.keeps_vertex(v))
    }
}

/// Calls `take` with the vertices of a version that meet conditions.
fn visit(
    version: &Version,
    conditions: &VertexConditions,
    run: &Run,
    mut take: impl FnMut(VertexId) -> Result<bool>,
) -> Result<()> {
    let removed = version.removed(run)?;
    for v in (0..version.num_vertices()).map(vertex).filter(|&v| !removed.is_removed(v)) {
        if v % (1 << 12) == 0 {
            run.check()?;
        }
        if conditions.keeps(v)? && !take(v)? {
            break;
        }
    }
    Ok(())
}

/// Groups the vertices of a version that meet conditions.
///
/// # Errors
/// As [`super::group_edges`].
pub fn group_vertices(
    version: &Version,
    conditions: &VertexConditions,
    query: &GroupQuery,
    run: &Run,
) -> Result<GroupTable> {
    query.expect_each_once()?;
    let keys = query.by.iter().map(|key| KeyColumn::of_vertices(key, version, run));
    let keys = keys.collect::<Result<Vec<_>>>()?;
    if keys.len() > KEYS_MAX {
        return Err(Error::usage(format!("vertices are grouped by {KEYS_MAX} keys at most")));
    }
    let (mut measures, mut values) = (Vec::new(), Vec::new());
    for measure in &query.measures {
        let of_vertices =
            measure.property().map(|name| VertexValues::read(version, name, run)).transpose()?;
        let record = of_vertices.as_ref().map(|values| values.record().clone());
        measures.push(MeasureColumn::new(measure.clone(), record)?);
        values.push(of_vertices);
    }
    let domains: Vec<_> = keys.iter().map(|key| key.domain(version)).collect();
    let mut groups = Groups::new(&domains, &measures, run)?;
    if keys.is_empty() {
        groups.expect_whole(run)?;
    }
    visit(version, conditions, run, |v| {
        let mut bits = KeyBits::default();
        for (place, key) in keys.iter().enumerate() {
            bits.set(
                place,
                match key {
                    KeyColumn::EndProperty(_, values) => values.of(v),
                    KeyColumn::End(_) | KeyColumn::Property(_) | KeyColumn::Step(_) => Some(u64::from(v)),
                },
            );
        }
        groups.add(bits, |place| Ok(values[place].as_ref().and_then(|values| values.of(v))), run)?;
        Ok(true)
    })?;
    groups.table(keys, &query.by, &query.order, version, run)
}

/// The names of the columns of [`list_vertices`]: `vertex` and the properties; one that is called so is
/// `property.vertex`.
pub fn vertex_columns(version: &Version) -> Vec<String> {
    let properties = version.vertex_properties().map(|property| property.name.clone());
    told_apart(std::iter::once("vertex".to_owned()).chain(properties))
}

/// Lists the vertices of a version that meet conditions, with all their properties: hands each row of the id
/// and the values to `take`, in the order of the vertices, or sorted by a column.
///
/// # Errors
/// As [`super::list_edges`].
pub fn list_vertices(
    version: &Version,
    conditions: &VertexConditions,
    order: &GroupOrder,
    run: &Run,
    mut take: impl FnMut(Vec<Value>) -> Result<()>,
) -> Result<()> {
    let names: Vec<String> = version.vertex_properties().map(|property| property.name.clone()).collect();
    let properties =
        names.iter().map(|name| Ok(version.vertex_property(name)?)).collect::<Result<Vec<_>>>()?;
    let row_of = |v: VertexId| {
        let mut row = vec![id_json(version, v)?];
        for property in &properties {
            row.push(property.get(v)?.as_ref().map_or(Value::Null, value_json));
        }
        Ok::<_, Error>(row)
    };
    let top = order.top.unwrap_or(usize::MAX);
    let Some(column) = &order.column else {
        let mut left = top;
        return visit(version, conditions, run, |v| {
            if left > 0 {
                left -= 1;
                take(row_of(v)?)?;
            }
            Ok(left > 0)
        });
    };
    let (place, ascending) = (place_of(column, &vertex_columns(version))?, order.ascending.unwrap_or(false));
    let in_order = |a: &(SortKey, VertexId), b: &(SortKey, VertexId)| a.0.compared(&b.0, ascending);
    let (mut rows, mut memory) = (Vec::new(), RowMemory::default());
    visit(version, conditions, run, |v| {
        let key = match place.checked_sub(1) {
            Some(place) => properties[place].get(v)?.as_ref().map_or(SortKey::Missing, SortKey::from),
            None => version.ids().external_of(v)?.into(),
        };
        memory.hold(key.bytes() + size_of::<(SortKey, VertexId)>() as u64, run)?;
        rows.push((key, v));
        Ok(true)
    })?;
    sorted(rows, in_order, top, run)?.into_iter().try_for_each(|(_, v)| take(row_of(v)?))
}
