//! Live answers that outlast the process: their states are kept in the directory of the database.

use esker_graph::Run;
use esker_store::Snapshot;
use esker_store::format::{LiveArray, LiveContent};
use esker_store::windows::{Copies, TimeWindow};

use super::answers::live;
use super::live::{At, Live};
use crate::catalogue::{Entry, Params};
use crate::error::Result;

/// The most bytes of a state for each of its words: as it is stored, as words, and as values.
const WORD_BYTES: u64 = 24;

/// The state that an earlier follower of the same kept, if there is one. The error says why it is of no use.
pub(super) fn find(
    newest: &Snapshot,
    entry: &Entry,
    params: &Params,
    run: &Run,
) -> std::result::Result<Option<LiveContent>, String> {
    let declared = declaration(newest, entry, params, run);
    let name = LiveContent::file_name(entry.name, &declared);
    let Some(content) = newest.live_state(&name).map_err(|error| error.to_string())? else { return Ok(None) };
    let refused = |reason: &str| Err(format!("{}: {reason}", newest.live_path(&name).display()));
    if content.declaration != declared {
        return refused("it is the state of something else");
    }
    if content.numbering != numbering(newest) {
        return refused("a compaction renumbered the vertices since");
    }
    let version = newest.manifest().version(content.version);
    if version.is_none_or(|version| version.committed_ms != content.committed_ms) {
        return refused(&format!(
            "version {}, to which it belongs, was forgotten or undone",
            content.version
        ));
    }
    Ok(Some(content))
}

/// The state of a version, with the window that it had; `None` if it does not fit.
pub(super) fn restored(
    version: Snapshot,
    newest: &Snapshot,
    content: LiveContent,
    (entry, params): (&'static Entry, &Params),
    run: &Run,
) -> Result<Option<(Snapshot, Box<dyn Live>)>> {
    let words = content.arrays.iter().map(|array| array.words.len() as u64).sum::<u64>();
    let _memory = run.budget().reserve("a state that was kept", words * WORD_BYTES)?;
    let at = windowed(version, newest, &content, run)?;
    let mut live = live(entry, params, &at)?;
    let words: Vec<Vec<u64>> = content.arrays.into_iter().map(|array| array.words).collect();
    let fits = live.restore(At { snapshot: &at, run }, &words)?;
    Ok(fits.then_some((at, live)))
}

/// Keeps a state, durably. Returns whether it can be kept.
pub(super) fn keep(live: &dyn Live, (entry, params): (&Entry, &Params), at: At<'_>) -> Result<bool> {
    let At { snapshot, run } = at;
    let bytes = live.bytes(snapshot.num_vertices()) / size_of::<esker_graph::VertexId>() as u64 * WORD_BYTES;
    let _memory = run.budget().reserve("a copy of the state of a live answer", bytes)?;
    let Some(words) = live.words() else { return Ok(false) };
    let declaration = declaration(snapshot, entry, params, run);
    let window = snapshot.window_index().map(|index| *index.window());
    let name = LiveContent::file_name(entry.name, &declaration);
    let content = LiveContent {
        declaration,
        numbering: numbering(snapshot),
        version: snapshot.version().number,
        committed_ms: snapshot.version().committed_ms,
        after: window.map(|window| window.after as u64),
        until: window.map(|window| window.until as u64),
        arrays: words.into_iter().map(|words| LiveArray { words }).collect(),
    };
    snapshot.keep_live_state(&name, &content)?;
    Ok(true)
}

/// What is followed, in words: the algorithm with its options, the seed, the weight, and the window but for its position.
fn declaration(snapshot: &Snapshot, entry: &Entry, params: &Params, run: &Run) -> String {
    let weight = snapshot.weight_property().map(|weight| (weight.number, weight.element));
    let window = snapshot.window_lists().map(|lists| {
        let (window, time) = (lists.index.window(), lists.time);
        (time.number, time.element, window.until.wrapping_sub(window.after), lists.all_vertices)
    });
    let seed = run.seed();
    format!("{}, {params:?}, seed {seed}, weight {weight:?}, window {window:?}", entry.name)
}

/// How the vertices of a version are numbered.
fn numbering(snapshot: &Snapshot) -> String {
    format!("{:?}", snapshot.manifest().ids)
}

/// A version with the window of a state, which is of the same kind as that of `newest`.
fn windowed(version: Snapshot, newest: &Snapshot, content: &LiveContent, run: &Run) -> Result<Snapshot> {
    let (Some(lists), Some(after), Some(until)) = (newest.window_lists(), content.after, content.until)
    else {
        return Ok(version);
    };
    let window = TimeWindow { after: after as i64, until: until as i64, copies: Copies::All };
    Ok(version.window(&lists.time.name, window, lists.all_vertices, run)?)
}
