//! Live answers that outlast the process: their states are kept in the directory of the database.

use esker_graph::{Reservation, Run, vertex};
use esker_store::View;
use esker_store::format::{ElementType, LiveArray, LiveContent, LiveFound};
use esker_store::windows::{Copies, TimeWindow};

use super::answers::live;
use super::given::set;
use super::live::{At, Live};
use crate::answer::{Value, Values};
use crate::catalogue::{Entry, OptDefault, Params};
use crate::error::Result;

/// The number of what states and declarations mean. It changes with the words of any state, with a default
/// that is not a value of the catalogue, and with the text of declarations, so that states of another number
/// are not found.
const STATES: u32 = 5;

/// The last vertices whose ids tell whether the numbers of vertices still belong to the same ones.
const LAST_IDS: usize = 1 << 10;

/// The most bytes of a state for each of its words: as it is stored, as words, and as values.
const WORD_BYTES: u64 = 24;

/// What was found of a state that an earlier follower of the same kept.
pub(super) enum Kept {
    Nothing,
    /// Why it is of no use.
    Refused(String),
    /// A state whose version was forgotten, its memory, and why it is of no use.
    Forgotten(LiveContent, Reservation, String),
    /// The state and its memory.
    State(LiveContent, Reservation),
}

/// The values of a version that was forgotten since, as a state has them.
#[derive(Debug)]
pub struct KeptValues {
    version: u64,
    values: Values,
    _memory: Reservation,
}

impl KeptValues {
    pub(super) fn new(version: u64, values: Values, memory: Reservation) -> Self {
        Self { version, values, _memory: memory }
    }

    pub(crate) fn values(&self) -> &Values {
        &self.values
    }

    /// The number of the version.
    pub fn version(&self) -> u64 {
        self.version
    }
}

/// The state that an earlier follower of the same kept, if there is one.
pub(super) fn find(
    newest: &View,
    entry: &'static Entry,
    params: &Params,
    reader: &str,
    run: &Run,
) -> Result<Kept> {
    let live = live(entry, params, newest)?;
    if !live.updates() {
        return Ok(Kept::Nothing);
    }
    let at = At { view: newest, run };
    let StateDeclaration { name, declared } = StateDeclaration::of(live.as_ref(), entry, params, reader, at);
    let (content, memory) = match newest.version().live_state(&name, run)? {
        LiveFound::Nothing => return Ok(Kept::Nothing),
        LiveFound::Unusable(reason) => return Ok(Kept::Refused(reason)),
        LiveFound::State(content, memory) => (content, memory),
    };
    let refused = |reason: &str| {
        Ok(Kept::Refused(format!("{}: {reason}", newest.version().live_path(&name).display())))
    };
    if content.declaration != declared {
        return refused("the weights have another type since, or it is the state of something else");
    }
    if content.numbering != numbering(newest) {
        return refused("a compaction renumbered the vertices since");
    }
    let reason = |how: &str| format!("version {}, to which it belongs, was {how}", content.version);
    match newest.version().manifest().version(content.version) {
        Some(version) if (version.committed_ms, version.commit) == (content.committed_ms, content.commit) => {
        }
        None if newest.version().manifest().versions.iter().any(|later| later.number > content.version) => {
            let reason = reason("forgotten");
            return Ok(Kept::Forgotten(content, memory, reason));
        }
        _ => return refused(&reason("undone")),
    }
    Ok(Kept::State(content, memory))
}

/// The state of a version, with the window that it had; `None` if it does not fit.
pub(super) fn restored(
    version: View,
    newest: &View,
    content: LiveContent,
    entry: &'static Entry,
    params: &Params,
    run: &Run,
) -> Result<Option<(View, Box<dyn Live>)>> {
    let at = windowed(version, newest, &content, run)?;
    let mut live = live(entry, params, &at)?;
    let Some((words, _)) = parts(content) else { return Ok(None) };
    let fits = live.restore(At { view: &at, run }, &words)?;
    Ok(fits.then_some((at, live)))
}

/// The words of a state, and those of its vertices.
fn parts(content: LiveContent) -> Option<(Vec<Vec<u64>>, Vec<u64>)> {
    let mut words: Vec<Vec<u64>> = content.arrays.into_iter().map(|array| array.words).collect();
    words.pop().map(|vertices| (words, vertices))
}

/// The values that a state shows; `None` if it has none, or the numbers of its vertices belong to others now.
pub(super) fn shown(
    newest: &View,
    content: LiveContent,
    entry: &'static Entry,
    params: &Params,
) -> Result<Option<Values>> {
    let Some((words, vertices)) = parts(content) else { return Ok(None) };
    let live = live(entry, params, newest)?;
    let (Some(mut values), Some((mark, removed))) = (live.shown(&words), vertices.split_first()) else {
        return Ok(None);
    };
    let n = values.len();
    if n > newest.version().num_vertices() || removed.len() != n.div_ceil(64) || *mark != mark_of(newest, n)?
    {
        return Ok(None);
    }
    for v in (0..n).filter(|&v| removed[v / 64] >> (v % 64) & 1 == 1) {
        set(&mut values, vertex(v), Value::Missing);
    }
    Ok(Some(values))
}

/// The number of words of [`vertex_words`].
fn num_vertex_words(n: usize) -> usize {
    1 + n.div_ceil(64)
}

/// The mark of the ids of the first `n` vertices, and a bit for each that is removed.
fn vertex_words(view: &View, run: &Run) -> Result<Vec<u64>> {
    let n = view.version().num_vertices();
    let mut words = vec![0; num_vertex_words(n)];
    words[0] = mark_of(view, n)?;
    for &v in view.removed(run)?.list() {
        words[1 + v as usize / 64] |= 1 << (v as usize % 64);
    }
    Ok(words)
}

/// A number that is the same for the same ids of the last of the first `n` vertices: FNV-1a. The last
/// vertices are those of the newest versions, which alone can be undone.
fn mark_of(view: &View, n: usize) -> Result<u64> {
    let mut mark = 0xcbf2_9ce4_8422_2325_u64;
    for v in n.saturating_sub(LAST_IDS)..n {
        let id = view.version().ids().external_of(vertex(v))?.to_string();
        for byte in id.into_bytes().into_iter().chain([0xff]) {
            mark = (mark ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(mark)
}

/// Keeps a state, durably. Returns whether it can be kept.
pub(super) fn keep(
    live: &dyn Live,
    entry: &Entry,
    params: &Params,
    reader: &str,
    at: At<'_>,
) -> Result<bool> {
    let At { view, run } = at;
    let n = view.version().num_vertices();
    let bytes = (live.num_words(n) + num_vertex_words(n)) as u64 * WORD_BYTES;
    let _memory = run.budget().reserve("a copy of the state of a live answer", bytes)?;
    let Some(mut words) = live.words() else { return Ok(false) };
    words.push(vertex_words(view, run)?);
    let StateDeclaration { name, declared } = StateDeclaration::of(live, entry, params, reader, at);
    let window = view.window_index().map(|index| *index.window());
    let content = LiveContent {
        declaration: declared,
        numbering: numbering(view),
        version: view.version().number(),
        committed_ms: view.version().record().committed_ms,
        commit: view.version().record().commit,
        after: window.map(|window| window.after as u64),
        until: window.map(|window| window.until as u64),
        arrays: words.into_iter().map(|words| LiveArray { words }).collect(),
    };
    view.version().keep_live_state(&name, &content)?;
    Ok(true)
}

/// What is followed, in words.
struct StateDeclaration {
    /// The name of the file.
    name: String,
    /// The algorithm with the values of its options, given or not, the seed, the window but for its position,
    /// the reader, and the weights that it reads. Files hold it, so it is written field by field: a change of
    /// a type or a name in the code does not change it.
    declared: String,
}

impl StateDeclaration {
    fn of(live: &dyn Live, entry: &Entry, params: &Params, reader: &str, at: At<'_>) -> Self {
        let At { view, run } = at;
        let of_property = |number: u32, element: ElementType| format!("{number}:{}", element.name());
        let window = view.window_lists().map(|lists| {
            let (window, time) = (lists.index.window(), lists.time);
            let length = window.until.wrapping_sub(window.after);
            let vertices = if lists.all_vertices { "all" } else { "ends" };
            format!(" window={length} time={} vertices={vertices}", of_property(time.number, time.element))
        });
        let weight = view.weight_property().filter(|_| live.is_weighted());
        let chosen = weight.filter(|_| view.is_weight_chosen());
        let chosen = chosen.map(|weight| format!(" weight={}", weight.number));
        let reader = (!reader.is_empty()).then(|| format!(" reader={}:{reader}", reader.len()));
        let fields = [Some(options(entry, params)), window, chosen, reader];
        let fields = fields.into_iter().flatten().collect::<String>();
        // Later versions may have other weights. Their state has the same name, so that it is found, and
        // refused for a reason.
        let named = format!("states {STATES}: {}{fields} seed={}", entry.name, run.seed());
        let read = weight.map(|weight| format!(" reads={}", of_property(weight.number, weight.element)));
        let name = LiveContent::file_name(entry.name, &named);
        Self { name, declared: named + &read.unwrap_or_default() }
    }
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

/// How the vertices of a version are numbered, in words: the kind of map of their ids, its base and the order
/// of the import.
fn numbering(view: &View) -> String {
    let ids = &view.version().manifest().ids;
    format!("kind={} base={} order={}", ids.kind as u8, ids.base, ids.order as u8)
}

/// A version with the window of a state, which is of the same kind as that of `newest`.
fn windowed(version: View, newest: &View, content: &LiveContent, run: &Run) -> Result<View> {
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
