//! Lets edges be without a value of a property.

use std::sync::Arc;

use esker_format::MISSING_TEXT;
use esker_format::{Edit, ElementType, Error, LogicalType, Owner, PropertyRecord, Result, Values};
use esker_graph::{Direction, Run};
use esker_layers::layer::Section;

use crate::commit::{expect_may_lack, reserved, wider_with_missing};
use crate::database::handle::Database;
use crate::database::upkeep::maintain::NextState;
use crate::version::State;

impl Database {
    /// Lets edges be without a value of a property, in every version. Does nothing if they may already. A
    /// commit does this by itself for edges without a value.
    ///
    /// The call writes the commits so far as a layer; other layers stay. Narrow integers get 64 bits first
    /// ([`Database::widen_edge_property`]).
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such property, it has the ids of edges, or an edge has the value
    /// that is to stand for a missing one ([`esker_format::MISSING_TEXT`] and
    /// [`esker_format::missing_bits`]); otherwise as [`Database::freeze`].
    pub fn allow_missing(&self, name: &str, run: &Run) -> Result<()> {
        let find = |state: &Arc<State>| {
            let mut known = state.manifest().properties.iter();
            let found = known.find(|property| property.owner == Owner::Edges && property.name == name);
            found.cloned().ok_or_else(|| Error::invalid(format!("edges have no property {name:?}")))
        };
        let known = find(&self.core.state())?;
        expect_may_lack(&known)?;
        if let Some(wider) = wider_with_missing(&known) {
            self.widen_edge_property(name, wider, run)?;
        }
        self.redefine(run, |maintenance, writer| {
            // What commits in the log hold is not looked at.
            self.core.freeze_holding(maintenance, writer, run)?;
            let state = self.core.state();
            let known = find(&state)?;
            if known.optional {
                return Ok(None);
            }
            expect_unreserved(&state, &known, run)?;
            let edits = vec![Edit::SetProperty(PropertyRecord { optional: true, ..known })];
            let manifest = maintenance.manifest.manifest().with(&edits).map_err(Error::invalid)?;
            let state = Arc::new(state.with(manifest, state.layers().to_vec()));
            Ok(Some(NextState::with_same_layers(state, edits)))
        })
    }
}

/// Refuses a property if a layer has the value that is to stand for a missing one.
fn expect_unreserved(state: &Arc<State>, property: &PropertyRecord, run: &Run) -> Result<()> {
    if property.is_text() {
        let version = state.version(state.newest())?;
        let texts = version.dictionary(property.number);
        let code = texts.map(|texts| texts.code_of(MISSING_TEXT)).transpose()?;
        if code.flatten().is_some() {
            return Err(reserved(property));
        }
        return Ok(());
    }
    for layer in state.layers() {
        for section in [Direction::Out, Direction::In].map(|direction| layer.lists().section(direction)) {
            let past = section.and_then(|section| section.past());
            let lists = section.map(Section::main).into_iter().chain(past.map(|past| &past.lists));
            for values in lists.filter_map(|lists| lists.property(property.number as usize)) {
                if has_reserved(values, property, run)? {
                    return Err(reserved(property));
                }
            }
        }
    }
    Ok(())
}

/// Whether a column has the value that is to stand for a missing one. Reads it only if its header does not
/// say. NaN has stood for nothing else.
fn has_reserved(values: &Values, property: &PropertyRecord, run: &Run) -> Result<bool> {
    let is_float = matches!(property.element, ElementType::F32 | ElementType::F64);
    if is_float || values.is_empty() || property.logical == LogicalType::Boolean {
        return Ok(false);
    }
    let least = match property.element {
        ElementType::I32 => i64::from(i32::MIN),
        _ => i64::MIN,
    };
    if let Some((stated, _)) = values.value_range() {
        return Ok(stated == least);
    }
    let all = values.all(run)?;
    Ok((0..values.len()).any(|index| property.is_reserved(all.bits_at(index))))
}
