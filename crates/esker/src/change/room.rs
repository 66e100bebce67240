//! Memory for a batch that grows as its input is read, and how far the header of an input is believed.

use esker_store::{Batch, CommitSizing, Error, Result};

use super::destination::Destination;

/// Makes room for the changes of a batch. Once they do not fit, the rest of the input is only counted, to
/// find the limit that would suffice.
#[derive(Default)]
pub(super) struct Room(Option<CommitSizing>);

impl Room {
    /// Makes room for the changes so far, or counts them.
    ///
    /// # Errors
    /// Those of [`Destination::make_room`], except refusals, and of [`CommitSizing::add`].
    pub(super) fn make(&mut self, database: Destination<'_>, batch: &mut Batch) -> Result<()> {
        if let Some(sizing) = &mut self.0 {
            return database.size(sizing, batch);
        }
        match database.make_room(batch) {
            Err(error) if CommitSizing::is_refusal(&error) => {
                database.size(self.0.insert(CommitSizing::default()), batch)
            }
            made => made,
        }
    }

    /// Ends the input. `beside_bytes`: memory that the input took outside of the batch.
    ///
    /// # Errors
    /// The refusal of a batch that did not fit, with a limit that is enough.
    pub(super) fn finish(
        self,
        database: Destination<'_>,
        batch: &mut Batch,
        beside_bytes: u64,
    ) -> Result<()> {
        let Some(mut sizing) = self.0 else { return Ok(()) };
        database.size(&mut sizing, batch)?;
        Err(database.refusal(sizing, beside_bytes))
    }
}

/// Memory of a commit for each vertex that it adds, about.
const VERTEX_BYTES: u64 = 64;
/// The memory of a commit that a stated number of vertices may take if the database has no limit.
const UNLIMITED_BYTES: u64 = 4 << 30;

/// A header of a few bytes may state billions of vertices. It is believed as far as the bytes of the input,
/// or the memory for a commit, bear it out.
pub(super) fn expect_borne_out(count: u64, input_bytes: u64, limit_bytes: u64) -> Result<()> {
    if count <= input_bytes.max(limit_bytes.min(UNLIMITED_BYTES) / VERTEX_BYTES) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the input has only {}, but {count} vertices are stated for it: correct that number, or import the input to a \
         database of its own",
        esker_graph::counted(input_bytes, "byte", "bytes")
    )))
}
