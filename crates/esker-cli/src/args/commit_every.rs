//! `--commit-every`: how many edges, or how much time, a commit of a stream takes.

use std::str::FromStr;

use esker::change::CommitEvery;
use esker::window::Span;

/// `--commit-every`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EveryArg(pub(crate) CommitEvery);

impl FromStr for EveryArg {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        if let Ok(edges) = given.parse::<u64>() {
            return match edges {
                0 => Err("a commit needs at least 1 edge".to_owned()),
                _ => Ok(Self(CommitEvery::Edges(edges))),
            };
        }
        let time = given.parse::<Span>().ok().and_then(Span::duration);
        time.map(|time| Self(CommitEvery::Time(time)))
            .ok_or_else(|| format!("{given:?} is neither a time, such as 500ms or 1s, nor a number of edges"))
    }
}
