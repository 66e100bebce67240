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

#[cfg(test)]
mod tests {
    use super::kinds::ValueKind::{self, Fractions, Integers, Texts};
    use super::*;

    fn named(names: &[&str]) -> Option<[usize; 2]> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        ends_of_names(&names, None, false).ok()
    }

    #[test]
    fn names_alone_tell_ends_unless_they_may_be_an_interval() {
        assert_eq!(named(&["from", "to", "bank", "branch"]), Some([0, 1]));
        assert_eq!(named(&["amount", "payer", "payee"]), Some([1, 2]));
        assert_eq!(named(&["person", "friend", "from", "to"]), None);
        assert_eq!(named(&["node1", "node2", "start", "end"]), None);
    }

    #[test]
    fn types_tell_ends_where_no_values_are_known() {
        let found = |columns: &[(&str, ValueKind)]| {
            let sample =
                |&(name, kind)| ColumnSample { name: Some(name), kind: Some(kind), values: Vec::new() };
            let columns: Vec<_> = columns.iter().map(sample).collect();
            match find_ends(&columns, &GivenEnds::default()) {
                FoundEnds::Sure(ends) => Some([ends.source, ends.target]),
                FoundEnds::Unsure(likely) => {
                    assert!(!likely.is_empty());
                    None
                }
            }
        };
        let interval = [("person", Texts), ("friend", Texts), ("from", Integers), ("to", Integers)];
        assert_eq!(found(&interval), None);
        let interval = [("wer", Integers), ("wen", Integers), ("from", Integers), ("to", Integers)];
        assert_eq!(found(&interval), None);
        assert_eq!(found(&[("from", Texts), ("to", Texts), ("bank", Texts), ("shop", Texts)]), Some([0, 1]));
        // Ids with gaps, as pandas keeps them.
        assert_eq!(found(&[("u", Fractions), ("v", Fractions)]), Some([0, 1]));
        assert_eq!(found(&[("node1", Fractions), ("node2", Fractions), ("cost", Fractions)]), Some([0, 1]));
    }
}
