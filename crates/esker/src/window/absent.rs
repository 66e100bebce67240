//! Vertices that the options of an algorithm name, and that have no edge in some windows.

use std::borrow::Cow;

use esker_graph::{Run, VertexId};
use esker_store::Version;

use crate::catalogue::{Entry, OptKind, Params};
use crate::error::Result;

/// The option whose vertex ends a search, which goes on where it is absent, unless the option is required.
const TARGET: &str = "target";

/// The vertices that options name, by option.
#[derive(Debug, Default)]
pub(crate) struct NamedVertices<'p>(Vec<NamedByOption<'p>>);

/// The vertices that one option names.
#[derive(Debug)]
struct NamedByOption<'p> {
    option: &'static str,
    /// Whether there is no answer without them.
    is_needed: bool,
    vertices: Vec<(&'p str, VertexId)>,
}

/// What options come to in a window.
pub(crate) struct OfWindow<'p> {
    /// The options without vertices that are not in the window.
    pub(crate) params: Cow<'p, Params>,
    /// A vertex without which there is no answer: all that its option names are not in the window.
    pub(crate) lacks: Option<&'p str>,
}

impl<'p> NamedVertices<'p> {
    /// Finds them in the whole version.
    ///
    /// # Errors
    /// As [`Version::find_vertex`].
    pub(crate) fn of(entry: &Entry, params: &'p Params, version: &Version, run: &Run) -> Result<Self> {
        let mut named = Vec::new();
        for option in entry.options.iter().filter(|option| matches!(option.kind, OptKind::Vertex)) {
            let find = |text: &'p String| Ok((text.as_str(), version.find_vertex(text, run)?));
            let vertices: Vec<_> = params.all(option.name).iter().map(find).collect::<Result<_>>()?;
            if !vertices.is_empty() {
                let is_needed = option.required || option.name != TARGET;
                named.push(NamedByOption { option: option.name, is_needed, vertices });
            }
        }
        Ok(Self(named))
    }

    /// Whether no option names a vertex.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The options without the vertices that the window lacks.
    pub(crate) fn in_window(&self, params: &'p Params, is_there: impl Fn(VertexId) -> bool) -> OfWindow<'p> {
        let (mut params, mut lacks) = (Cow::Borrowed(params), None);
        for NamedByOption { option, is_needed, vertices } in &self.0 {
            let is_absent = |&&(_, v): &&(&'p str, VertexId)| !is_there(v);
            let absent: Vec<&'p str> = vertices.iter().filter(is_absent).map(|&(name, _)| name).collect();
            if absent.is_empty() {
                continue;
            }
            if absent.len() == vertices.len() && *is_needed {
                lacks = lacks.or(absent.first().copied());
            }
            params.to_mut().retain(option, |name| !absent.contains(&name));
        }
        OfWindow { params, lacks }
    }
}
