//! Compaction that gives vertices new numbers.
//!
//! One record of the manifest installs the new layer, the new map of ids and the new numbers of vertices of
//! all versions. Commits wait meanwhile, because their records name vertices by number; so no commit of the
//! old numbering remains in the log. Readers keep the old layers and the old map of ids. A reader of the log
//! that has the old manifest notices that the log knows of a newer one.

use esker_format::Result;
use esker_graph::Run;

use crate::conversion::FormReport;
use crate::database::handle::Database;
use crate::database::layers::Maintenance;
use crate::database::upkeep::merging::MergeRequest;
use crate::database::upkeep::numbering::{Numbering, Renumber};

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
        let core = &self.core;
        if Numbering::of(&core.state(), choice, run)?.is_none() {
            return Ok(None);
        }
        let mut report = None;
        let old = core.state();
        self.redefine_holding(maintenance, run, |maintenance, writer| {
            core.freeze_holding(maintenance, writer, run)?;
            let state = core.state();
            // A commit may have brought vertices back meanwhile.
            let Some(numbering) = Numbering::of(&state, choice, run)? else { return Ok(None) };
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
