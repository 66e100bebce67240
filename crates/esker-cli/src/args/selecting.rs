//! `--where` and `--kind`: conditions on edges and their ends; `--ids-from`: ids of vertices in a file.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use esker::graph::Run;
use esker::import::read::format::ReadOptions;
use esker::import::read::input::expand;
use esker::import::{IdLines, Input, PairLines, ids_of_lines, pairs_of_lines};
use esker::selection::{Condition, Conditions, check_kinds, notes};
use esker::session::check_all_vertices;
use esker::store::{self, Version, View};

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::show::text;

/// Conditions on edges.
#[derive(Debug, Clone, Args)]
pub(crate) struct WhereArgs {
    /// Only edges that meet a condition, in the words of SQL, such as since>=2011, "amount > 100 and not kind
    /// = 'fee'", "currency in ('EUR', 'CHF')", "source.country = 'DE'" or "vertex.group is null"; all of
    /// several
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) conditions: Vec<Condition>,
    #[command(flatten)]
    pub(crate) kinds: KindArgs,
}

/// `--kind`: kinds of edges.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct KindArgs {
    /// Only edges of these kinds, separated by commas; quotes hold a comma of a kind, as in '"a,b",c'
    #[arg(id = "kinds", long = "kind", value_name = "KIND,...")]
    pub(crate) lists: Vec<QuotedList>,
}

impl KindArgs {
    /// The kinds of all lists.
    pub(crate) fn kinds(&self) -> Vec<String> {
        self.lists.iter().flat_map(|list| list.0.iter().cloned()).collect()
    }
}

/// Kinds or ids with commas between them, in quotes where one has a comma or a quote.
#[derive(Debug, Clone)]
pub(crate) struct QuotedList(pub(crate) Vec<String>);

impl FromStr for QuotedList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut found, mut rest) = (Vec::new(), text);
        loop {
            let Some(inside) = rest.strip_prefix('"') else {
                let (one, after) =
                    rest.split_once(',').map_or((rest, None), |(one, after)| (one, Some(after)));
                found.push(one.to_owned());
                let Some(after) = after else { return Ok(Self(found)) };
                rest = after;
                continue;
            };
            let (one, after) = unquoted(inside).ok_or("a quote opens and does not close")?;
            found.push(one);
            rest = match after.strip_prefix(',') {
                Some(after) => after,
                None if after.is_empty() => return Ok(Self(found)),
                None => return Err("a comma belongs behind a closing quote".to_owned()),
            };
        }
    }
}

/// The text up to the closing quote, of which two stand for one, and what is behind it.
fn unquoted(inside: &str) -> Option<(String, &str)> {
    let (mut kind, mut rest) = (String::new(), inside);
    loop {
        let (part, after) = rest.split_once('"')?;
        kind.push_str(part);
        match after.strip_prefix('"') {
            Some(after) => {
                kind.push('"');
                rest = after;
            }
            None => return Some((kind, after)),
        }
    }
}

impl WhereArgs {
    /// The conditions on the edges of a version; `None` if there are none.
    pub(crate) fn on(&self, version: &Version, run: &Run) -> Result<Option<Arc<Conditions>>, Failure> {
        self.check(&[version])?;
        self.quietly_on(version, run)
    }

    /// Refuses kinds that none of some versions knows, and warns of texts that none has.
    pub(crate) fn check(&self, versions: &[&Version]) -> Outcome {
        check_kinds(&self.kinds.kinds(), versions)?;
        let notes = versions.iter().map(|version| notes(&self.conditions, version));
        let notes = notes.collect::<Result<Vec<_>, _>>()?;
        if let Some(last) = notes.last().filter(|_| !notes.iter().any(Vec::is_empty)) {
            last.iter().for_each(|note| text::warn(&format!("warning: {note}")));
        }
        Ok(())
    }

    /// The same without warnings, on a version that may lack kinds of others.
    pub(crate) fn quietly_on(
        &self,
        version: &Version,
        run: &Run,
    ) -> Result<Option<Arc<Conditions>>, Failure> {
        Ok(Conditions::with_checked_kinds(&self.conditions, &self.kinds.kinds(), version, run)?)
    }

    /// The version, of whose edges those remain that meet the conditions.
    pub(crate) fn select(&self, view: View, all_vertices: bool, run: &Run) -> Result<View, Failure> {
        check_all_vertices(all_vertices, !self.conditions.is_empty() || !self.kinds.lists.is_empty())?;
        match self.on(view.version(), run)? {
            Some(conditions) => Ok(view.filtered(conditions, None, all_vertices, run)?),
            None => Ok(view),
        }
    }
}

/// The help of `--ids-from`.
pub(crate) const IDS_FROM_HELP: &str = "Read more ids from this file, one a line, after those that are given; `-` is standard input. The file may be \
     compressed";

/// The ids of vertices beside those on the command line.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct IdsFromArg {
    #[arg(long, value_name = "FILE", help = IDS_FROM_HELP)]
    ids_from: Option<String>,
}

impl IdsFromArg {
    /// Whether there is a file.
    pub(crate) fn is_given(&self) -> bool {
        self.ids_from.is_some()
    }

    /// Those that are given, and then those of the file. A first line such as `id` names the column, unless
    /// it is a vertex.
    ///
    /// # Errors
    /// If the file cannot be read, or has a line that is no id.
    pub(crate) fn after(
        &self,
        given: &[String],
        is_vertex: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, store::Error> {
        let mut ids = given.to_vec();
        if let Some(file) = &self.ids_from {
            ids.extend(ids_of(file, is_vertex)?);
        }
        Ok(ids)
    }
}

/// The ids of a file, or of all files of a pattern.
pub(crate) fn ids_of(file: &str, is_vertex: impl Fn(&str) -> bool) -> Result<Vec<String>, store::Error> {
    Ok(lists_of(file)?.iter().flat_map(|list| list.ids(&is_vertex)).collect())
}

/// The ids of a file.
#[derive(Debug)]
pub(crate) struct IdList {
    path: Arc<PathBuf>,
    lines: IdLines,
}

impl IdList {
    /// The ids. A first line such as `id` is one where it is a vertex; which it is is told.
    pub(crate) fn ids(&self, is_vertex: impl Fn(&str) -> bool) -> Vec<String> {
        let name = self.lines.header.as_ref().filter(|name| {
            let is_id = is_vertex(name);
            let what = if is_id { "is a vertex" } else { "names the column of ids" };
            text::remark(&format!("Reading {}: the first line, {name:?}, {what}", self.path.display()));
            is_id
        });
        name.into_iter().chain(&self.lines.ids).cloned().collect()
    }

    /// The ids behind a first line such as `id`.
    pub(crate) fn certain(&self) -> &[String] {
        &self.lines.ids
    }

    /// Whether the file has no line that may be an id.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.ids.is_empty() && self.lines.header.is_none()
    }
}

/// The ids of a file, or of each file of a pattern, before it is known which vertices there are.
pub(crate) fn lists_of(file: &str) -> Result<Vec<IdList>, store::Error> {
    let inputs = expand(&[file], interrupt::token())?;
    let list = |input: &Input| {
        Ok(IdList { path: input.path(), lines: ids_of_lines(input, &ReadOptions::default())? })
    };
    inputs.iter().map(list).collect()
}

/// The pairs of ids of a file, or of all files of a pattern. A first line such as `from,to` is a pair where
/// both are vertices; which it is is told.
pub(crate) fn pairs_of(
    file: &str,
    is_vertex: impl Fn(&str) -> bool,
) -> Result<Vec<[String; 2]>, store::Error> {
    let mut pairs = Vec::new();
    for input in &expand(&[file], interrupt::token())? {
        let PairLines { pairs: behind, header } = pairs_of_lines(input, &ReadOptions::default())?;
        if let Some(header) = header {
            let is_pair = header.iter().all(|id| is_vertex(id));
            let what = if is_pair { "are vertices" } else { "name the columns" };
            let [from, to] = &header;
            let path = input.path();
            text::remark(&format!(
                "Reading {}: {from:?} and {to:?} of the first line {what}",
                path.display()
            ));
            pairs.extend(is_pair.then_some(header));
        }
        pairs.extend(behind);
    }
    Ok(pairs)
}
