//! Which columns of a table are the ends of its edges, and whether its first line names them: by names, by
//! types and by shared values. What these leave open is asked for, never guessed.

pub(crate) mod names;
pub(crate) mod kinds;
pub(crate) mod pairs;
pub(crate) mod ends;
pub(crate) mod header;
pub(crate) mod direction;
mod reasons;

pub(crate) use reasons::header_is_unclear;

use esker_graph::Message;

use self::ends::{ColumnSample, FoundEnds, GivenEnds, find_ends};

/// The places of source and target among columns of these names, of which `weight` may be the weight. Unless
/// they are `named_only`, two columns that may be ends are source and target in this order, whatever their
/// names.
///
/// # Errors
/// The question which they are.
pub fn ends_of_names(
    names: &[String],
    weight: Option<usize>,
    named_only: bool,
) -> Result<[usize; 2], Message> {
    let columns: Vec<ColumnSample<'_>> =
        names.iter().map(|name| ColumnSample { name: Some(name), ..ColumnSample::default() }).collect();
    let given = GivenEnds { others: weight.into_iter().collect(), ..GivenEnds::default() };
    let found = match named_only && !ends::are_named(&columns, &given) {
        true => FoundEnds::Unsure(Vec::new()),
        false => find_ends(&columns, &given),
    };
    let ends = found.or_ask(names, &format!("columns: {}", names.join(", ")))?;
    Ok([ends.source, ends.target])
}
