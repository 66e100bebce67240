//! In which form a run reads the graph, and what of it lies in memory: chosen by estimate from what the database holds and what memory
//! there is.
//!
//! The order of preference: lists, mapped, if all of them fit the memory beside the algorithm's arrays; tiles, mapped, if they
//! do; tiles in a fixed memory; lists with their heads in a fixed memory (before tiles, where the algorithm looks at few vertices in most
//! rounds, as searches do); parts of the lists in a fixed memory; and at last lists, mapped, of which the system keeps what it can.
//! Mapped files are pages of the system, which takes them back when others need memory: the limit does not count them, but a plan does.

mod memory;
mod way;
mod needs;
#[cfg(test)]
mod tests;

use esker_algo::Estimate;
use esker_graph::{Run, Stop};
use esker_store::headed::{HeadedNeeds, Heads};
use esker_store::pool::PoolOptions;
use esker_store::pooled::PooledNeeds;
use esker_store::{HeadedOptions, Residency, Snapshot};

use crate::catalogue::{Entry, Params};
use crate::error::{Error, Result};

pub use memory::available_bytes;
pub use needs::{PROCESS_BYTES, estimate_on, shape_of};
pub use way::{Form, Kept, Means, Way};

/// How it lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Mapped: the system decides.
    Mapped,
    /// In a fixed memory.
    Pooled,
    /// Heads of lists in a fixed memory.
    Headed,
}

/// What is asked for; nothing: whatever is best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wish {
    /// What is to be read.
    pub kept: Option<Kept>,
    /// How it is to lie in memory.
    pub place: Option<Place>,
    /// Neighbours of each vertex to be kept in memory, if heads are.
    pub head_len: Option<usize>,
}

/// What was chosen, and from what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What was chosen.
    pub form: Form,
    /// The same, with its options.
    pub residency: Residency,
    /// Whether all of the graph fits the memory.
    pub fits: bool,
    /// What the run itself needs.
    pub estimate: Estimate,
    /// All ways, in order of preference.
    pub ways: Vec<Way>,
}

impl Wish {
    /// Whether nothing is asked for.
    pub fn is_free(&self) -> bool {
        *self == Self::default()
    }

    /// An error if what is asked for does not go together.
    ///
    /// # Errors
    /// [`Error::Usage`] that says what would.
    pub fn check(&self) -> Result<()> {
        self.forms().map(|_| ())
    }

    /// The forms that are asked for.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none.
    fn forms(&self) -> Result<Vec<Form>> {
        let place = match (self.place, self.head_len) {
            (None, Some(_)) => Some(Place::Headed),
            (Some(Place::Mapped | Place::Pooled), Some(_)) => {
                return Err(Error::Usage("--head needs --residency headed: only there are heads".to_owned()));
            }
            (place, _) => place,
        };
        let all = [
            (Form::Lists, Kept::Lists, Place::Mapped),
            (Form::Tiles, Kept::Tiles, Place::Mapped),
            (Form::PooledTiles, Kept::Tiles, Place::Pooled),
            (Form::Headed, Kept::Lists, Place::Headed),
            (Form::PooledLists, Kept::Lists, Place::Pooled),
        ];
        let suits = |(_, kept, at): &&(Form, Kept, Place)| {
            self.kept.is_none_or(|wanted| wanted == *kept) && place.is_none_or(|wanted| wanted == *at)
        };
        let forms: Vec<Form> = all.iter().filter(suits).map(|(form, ..)| *form).collect();
        if forms.is_empty() {
            let message = "--residency headed keeps heads of lists: it needs --encoding lists";
            return Err(Error::Usage(message.to_owned()));
        }
        Ok(forms)
    }
}

/// Chooses how a run reads a version.
///
/// # Errors
/// [`Stop::OverBudget`] with the limit that would do, if the memory does not; [`Error::Usage`] if what is asked for does not go
/// together, or the options of the algorithm make no sense; [`esker_store::Error::Invalid`] if the database does not have what is asked for.
pub fn plan(snapshot: &Snapshot, entry: &Entry, params: &Params, wish: &Wish, means: &Means) -> Result<Plan> {
    let forms = wish.forms()?;
    let ways = needs::ways(snapshot, entry, params, means)?;
    let asked = || ways.iter().filter(|way| forms.contains(&way.form));
    let can = |way: &&Way| way.obstacle.is_none();
    let is_free = wish.is_free();
    let whole = |way: &&Way| match way.form {
        Form::Lists | Form::Tiles => way.whole_bytes <= means.mapped_bytes,
        Form::PooledTiles | Form::Headed | Form::PooledLists => way.least_bytes <= means.memory_bytes,
    };
    let suited = |way: &&Way| !is_free || way.unsuited.is_none();
    let within = |way: &&Way| way.least_bytes <= means.memory_bytes;
    let chosen = asked()
        .filter(can)
        .filter(within)
        .find(|way| whole(way) && suited(way))
        .or_else(|| asked().filter(can).find(within));
    let Some(way) = chosen else {
        return Err(refusal(entry, asked().collect(), means));
    };
    let residency = way.residency(snapshot, wish, means)?;
    let kept = if matches!(way.form, Form::Tiles | Form::PooledTiles) { Kept::Tiles } else { Kept::Lists };
    let estimate = needs::estimate_as(kept, snapshot, entry, params, means)?;
    let fits = way.whole_bytes <= if way.is_mapped() { means.mapped_bytes } else { means.memory_bytes };
    Ok(Plan { form: way.form, residency, fits, estimate, ways })
}

/// Why none of some ways can be gone.
fn refusal(entry: &Entry, ways: Vec<&Way>, means: &Means) -> Error {
    let possible = ways.iter().filter(|way| way.obstacle.is_none()).min_by_key(|way| way.least_bytes);
    match possible {
        None => {
            let obstacle = ways.into_iter().find_map(|way| way.obstacle.clone()).unwrap_or_default();
            Error::Store(esker_store::Error::Invalid(obstacle))
        }
        Some(way) => Stop::OverBudget {
            what: match way.form {
                Form::Lists | Form::Tiles => entry.name.to_owned(),
                Form::PooledTiles => format!("{} with tiles in a fixed memory", entry.name),
                Form::Headed => format!("{} with heads of lists in memory", entry.name),
                Form::PooledLists => format!("{} with lists in a fixed memory", entry.name),
            },
            needed_bytes: way.least_bytes,
            budget_bytes: means.memory_bytes,
        }
        .into(),
    }
}

impl Way {
    fn is_mapped(&self) -> bool {
        matches!(self.form, Form::Lists | Form::Tiles)
    }

    /// With what the limit leaves beside what must be there.
    fn residency(&self, snapshot: &Snapshot, wish: &Wish, means: &Means) -> Result<Residency> {
        let spare = means.memory_bytes.saturating_sub(self.least_bytes);
        Ok(match self.form {
            Form::Lists => Residency::Lists,
            Form::Tiles => Residency::Tiles,
            Form::PooledTiles => {
                let options = PoolOptions::default();
                Residency::PooledTiles(PoolOptions { bytes: spare + options.bytes_min(), ..options })
            }
            Form::PooledLists => {
                let needs = PooledNeeds::of(snapshot.complete_layer()?, means.threads)?;
                let bytes = spare + needs.least_bytes;
                Residency::PooledLists(PoolOptions { bytes, ..PoolOptions::of_lists() })
            }
            Form::Headed => {
                let layer = snapshot.complete_layer()?;
                let needs = HeadedNeeds::of(layer, means.threads)?;
                let memory_bytes = spare + needs.fixed_bytes;
                let options = HeadedOptions { head_len: wish.head_len, memory_bytes };
                if wish.head_len.is_some() {
                    // Refused now if it is too much, with what that makes of the limit.
                    let found = needs.heads(layer, options, &Run::with_threads(1)?);
                    found.map_err(|error| with_rest(error, means.memory_bytes - memory_bytes))?;
                }
                Residency::Headed(options)
            }
        })
    }
}

impl Plan {
    /// The version, read as was chosen.
    ///
    /// # Errors
    /// As [`Snapshot::resident`].
    pub fn apply(&self, snapshot: &Snapshot) -> Result<Snapshot> {
        Ok(snapshot.clone().resident(self.residency)?)
    }

    /// The heads of lists that lie in memory; `None` if none are kept. Reads where lists begin.
    ///
    /// # Errors
    /// [`Error::Store`] if that cannot be read; cancellation.
    pub fn heads(&self, snapshot: &Snapshot, run: &Run) -> Result<Option<Heads>> {
        let Residency::Headed(options) = self.residency else { return Ok(None) };
        let layer = snapshot.complete_layer()?;
        Ok(Some(HeadedNeeds::of(layer, run.threads())?.heads(layer, options, run)?))
    }
}

/// A refusal of a part of the memory as one of all of it.
fn with_rest(error: esker_store::Error, rest: u64) -> esker_store::Error {
    match error {
        esker_store::Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes }) => {
            Stop::OverBudget { what, needed_bytes: needed_bytes + rest, budget_bytes: budget_bytes + rest }
                .into()
        }
        other => other,
    }
}
