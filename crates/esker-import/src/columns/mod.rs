//! Which columns of a table are the ends of its edges, and whether its first line names them: by names, by
//! types and by shared values. What these leave open is asked for, never guessed.

pub(crate) mod names;
pub(crate) mod neo4j;
pub mod missing;
pub(crate) mod dates;
pub(crate) mod kinds;
pub(crate) mod types;
pub(crate) mod pairs;
pub(crate) mod sample;
pub(crate) mod ends;
pub(crate) mod header;
pub(crate) mod direction;
pub(crate) mod expected;
pub(crate) mod notations;
mod reasons;

pub(crate) use reasons::{
    columns_do_not_fit, header_is_unclear, ids_become_texts, not_id, not_id_of_database, store_unread,
};

#[cfg(test)]
mod tests {
    use super::ends::{ColumnSample, FoundEnds, GivenEnds, find_ends};
    use super::kinds::ValueKind::{self, Fractions, Integers, Texts};

    fn named(names: &[&str]) -> Option<[usize; 2]> {
        let sample = |&name| ColumnSample { name: Some(name), ..ColumnSample::default() };
        let columns: Vec<ColumnSample<'_>> = names.iter().map(sample).collect();
        match find_ends(&columns, &GivenEnds::default()) {
            FoundEnds::Sure(ends) => Some([ends.source, ends.target]),
            FoundEnds::Unsure(_) => None,
        }
    }

    #[test]
    fn names_alone_tell_ends_unless_they_may_be_an_interval() {
        assert_eq!(named(&["from", "to", "bank", "branch"]), Some([0, 1]));
        assert_eq!(named(&["amount", "payer", "payee"]), Some([1, 2]));
        assert_eq!(named(&["person", "friend", "from", "to"]), None);
        assert_eq!(named(&["node1", "node2", "start", "end"]), None);
    }

    #[test]
    fn letters_tell_ends_only_of_two_columns() {
        assert_eq!(named(&["a", "b"]), Some([0, 1]));
        assert_eq!(named(&["x", "y", "weight"]), Some([0, 1]));
        assert_eq!(named(&["a", "b", "c"]), None);
        assert_eq!(named(&["x", "y", "z", "weight"]), None);
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
