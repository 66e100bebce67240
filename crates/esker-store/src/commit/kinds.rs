//! Kinds of edges that a database does not have.

/// Messages name at most so many kinds.
pub const KINDS_NAMED_MAX: usize = 10;

/// Says that edges have no kind of this name, and which kinds there are: `known` are the first of `count`.
/// `of` tells what has them, as in `version 3`.
pub fn unknown_kind(kind: &str, of: &str, known: &[String], count: usize) -> String {
    let named = known.iter().take(KINDS_NAMED_MAX).cloned().collect::<Vec<_>>();
    let further = count.saturating_sub(named.len());
    let further = if further > 0 { format!(" and {further} more") } else { String::new() };
    match named.is_empty() {
        true => format!("there is no kind of edges {kind:?}: no edge of {of} has a kind"),
        false => {
            format!("there is no kind of edges {kind:?} in {of}; there are {}{further}", named.join(", "))
        }
    }
}
