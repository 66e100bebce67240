//! Live answers that outlast the process: their states are kept in the directory of the database.

use esker_graph::{Reservation, Run};
use esker_store::Snapshot;
use esker_store::format::{ElementType, LiveArray, LiveContent, LiveFound};
use esker_store::windows::{Copies, TimeWindow};

use super::answers::live;
use super::live::{At, Live};
use crate::catalogue::{Entry, OptDefault, Params};
use crate::error::Result;

/// The number of what states and declarations mean. It changes with the words of any state, with a default that is not a value of the
/// catalogue, and with the text of declarations, so that states of another number are not found.
const STATES: u32 = 1;

/// The most bytes of a state for each of its words: as it is stored, as words, and as values.
const WORD_BYTES: u64 = 24;

/// What was found of a state that an earlier follower of the same kept.
pub(super) enum Found {
    Nothing,
    /// Why it is of no use.
    Refused(String),
    /// The state and its memory.
    State(LiveContent, Reservation),
}

/// The state that an earlier follower of the same kept, if there is one.
pub(super) fn find(newest: &Snapshot, entry: &'static Entry, params: &Params, run: &Run) -> Result<Found> {
    if !live(entry, params, newest)?.is_kept() {
        return Ok(Found::Nothing);
    }
    let declared = declaration(newest, entry, params, run);
    let name = LiveContent::file_name(entry.name, &declared);
    let (content, memory) = match newest.live_state(&name, run)? {
        LiveFound::Nothing => return Ok(Found::Nothing),
        LiveFound::Unusable(reason) => return Ok(Found::Refused(reason)),
        LiveFound::State(content, memory) => (content, memory),
    };
    let refused =
        |reason: &str| Ok(Found::Refused(format!("{}: {reason}", newest.live_path(&name).display())));
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
    Ok(Found::State(content, memory))
}

/// The state of a version, with the window that it had; `None` if it does not fit.
pub(super) fn restored(
    version: Snapshot,
    newest: &Snapshot,
    content: LiveContent,
    (entry, params): (&'static Entry, &Params),
    run: &Run,
) -> Result<Option<(Snapshot, Box<dyn Live>)>> {
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

/// What is followed, in words: the algorithm with the values of its options, given or not, the seed, the weight, and the window but for its
/// position. Files hold it: it states each field, so that it changes with nothing else.
fn declaration(snapshot: &Snapshot, entry: &Entry, params: &Params, run: &Run) -> String {
    let of_property = |number: u32, element: ElementType| format!("{number}:{}", element.name());
    let weight = snapshot
        .weight_property()
        .map(|weight| format!(" weight={}", of_property(weight.number, weight.element)));
    let window = snapshot.window_lists().map(|lists| {
        let (window, time) = (lists.index.window(), lists.time);
        let length = window.until.wrapping_sub(window.after);
        let vertices = if lists.all_vertices { "all" } else { "ends" };
        format!(" window={length} time={} vertices={vertices}", of_property(time.number, time.element))
    });
    let fields = [Some(options(entry, params)), weight, window].into_iter().flatten().collect::<String>();
    format!("states {STATES}: {}{fields} seed={}", entry.name, run.seed())
}

/// The options of an algorithm with their values; one that is off is left out.
fn options(entry: &Entry, params: &Params) -> String {
    let values = entry.options.iter().flat_map(|option| {
        let given = params.all(option.name).iter().map(String::as_str);
        let default = match option.default {
            OptDefault::Value(value) if given.len() == 0 => Some(value),
            _ => None,
        };
        // A value may have any text: its length says where it ends.
        given.chain(default).map(|value| format!(" {}={}:{value}", option.name, value.len()))
    });
    values.collect()
}

/// How the vertices of a version are numbered, in words: the kind of map of their ids, its base and the order of the import.
fn numbering(snapshot: &Snapshot) -> String {
    let ids = &snapshot.manifest().ids;
    format!("kind={} base={} order={}", ids.kind as u8, ids.base, ids.order as u8)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::find;

    #[test]
    fn options_are_declared_with_the_values_that_hold_where_none_is_given() {
        let of = |algorithm: &str, params: &Params| options(find(algorithm).unwrap(), params);
        let pagerank = of("pagerank", &Params::default());
        let tolerance = find("pagerank").unwrap().options.iter().find(|option| option.name == "tolerance");
        let OptDefault::Value(default) = tolerance.unwrap().default else { panic!("a value is expected") };
        assert!(pagerank.contains(&format!(" tolerance={}:{default}", default.len())), "{pagerank}");
        // A default that is given is no other answer; another value is.
        assert_eq!(of("pagerank", &Params::default().with("tolerance", default)), pagerank);
        assert_ne!(of("pagerank", &Params::default().with("tolerance", "0.125")), pagerank);
        // No text of a value looks like another option.
        let source = Params::default().with("source", "a source=1:b");
        assert_eq!(of("bfs", &source).matches(" source=12:a source=1:b").count(), 1);
        let sources = Params::default().with("source", "a").with("source", "b");
        assert!(of("bfs", &sources).contains(" source=1:a source=1:b"));
    }
}
