//! Compaction that gives vertices new numbers, or makes their ids texts.
//!
//! One record of the manifest installs the new layer, the new map of ids and the new numbers of vertices of
//! all versions. Commits wait meanwhile, because their records name vertices by number; so no commit of the
//! old numbering remains in the log. Readers keep the old layers and the old map of ids. A reader of the log
//! that has the old manifest notices that the log knows of a newer one.

use std::sync::Arc;

use esker_format::Result;
use esker_graph::Run;

use crate::conversion::FormReport;
use crate::database::handle::Database;
use crate::database::layers::Maintenance;
use crate::database::upkeep::merging::MergeRequest;
use crate::database::upkeep::numbering::{Numbering, Renumber};
use crate::version::State;

impl Database {
    /// Merges all layers as `request` says and renumbers the vertices. Returns what was made, and the number
    /// of vertices that were left out; `None` if `choice` says that the vertices keep their numbers.
    pub(crate) fn renumber(
        &self,
        maintenance: &mut Maintenance,
        choice: Renumber,
        request: MergeRequest<'_>,
        run: &Run,
    ) -> Result<Option<(FormReport, u64)>> {
        self.number(maintenance, request, run, |state| Numbering::of(state, choice, run))
    }

    /// Makes integer ids texts, their digits, in every version. Returns whether they were integers.
    ///
    /// The call merges all layers, as [`Database::compact`] does; commits wait meanwhile, readers do not. It
    /// creates no version: a [`Version`](crate::Version) that was opened before has integers, and one that is
    /// opened later has texts, whatever its number. A commit refuses batches created before the call.
    ///
    /// # Errors
    /// As [`Database::freeze`].
    pub fn make_ids_texts(&self, run: &Run) -> Result<bool> {
        let mut maintenance = self.core.maintenance.lock();
        let numbering = |state: &Arc<State>| Numbering::with_texts(state, run);
        Ok(self.number(&mut maintenance, MergeRequest::default(), run, numbering)?.is_some())
    }

    /// Merges all layers with a numbering, if there is one for the state.
    fn number(
        &self,
        maintenance: &mut Maintenance,
        request: MergeRequest<'_>,
        run: &Run,
        choose: impl Fn(&Arc<State>) -> Result<Option<Numbering>>,
    ) -> Result<Option<(FormReport, u64)>> {
        let core = &self.core;
        if choose(&core.state())?.is_none() {
            return Ok(None);
        }
        let mut report = None;
        let old = core.state();
        self.redefine_holding(maintenance, run, |maintenance, writer| {
            core.freeze_holding(maintenance, writer, run)?;
            let state = core.state();
            // A commit may have brought vertices back meanwhile.
            let Some(numbering) = choose(&state)? else { return Ok(None) };
            let request = MergeRequest { numbering: Some(&numbering), ..request };
            let all = 0..state.layers().len();
            let mut written = core.write_merged(maintenance, &state, all, request, run)?;
            written.edits.extend(numbering.edits(&state, written.layer.number));
            let forms = written.forms.clone();
            let next = core.prepare(maintenance, &state, written)?;
            report = Some((forms, numbering.num_removed()));
            Ok(Some(next))
        })?;
        if report.is_some() {
            old.retire_ids();
        }
        Ok(report)
    }
}
