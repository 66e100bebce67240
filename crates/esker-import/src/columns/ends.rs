//! Finds the columns of the ends of edges.

use std::collections::HashSet;

use super::kinds::ValueKind;
use super::names::{NameRank, is_attribute, is_row_id, is_vertex_itself, thing_of_id};
use super::pairs::{Also, EdgeEnds, NamedPair, PairKind, end_words, named_end, named_pairs};
pub(crate) use super::sample::{ColumnSample, FoundEnds, GivenEnds};

/// Finds the ends by names, then by what columns hold, then by the values that they share.
pub(crate) fn find_ends(columns: &[ColumnSample<'_>], given: &GivenEnds) -> FoundEnds {
    if let (Some(source), Some(target)) = (given.source, given.target) {
        return FoundEnds::Sure(EdgeEnds { source, target });
    }
    // A column may be an end and a weight: names say so, where no others do.
    let also_taken = GivenEnds { others: Vec::new(), ..given.clone() };
    if !given.others.is_empty() && !are_named(columns, given) && are_named(columns, &also_taken) {
        return find_ends(columns, &also_taken);
    }
    let search = Search { columns, given, names: names_of(columns) };
    if columns.iter().all(|column| column.name.is_none()) {
        return search.without_header();
    }
    search.by_names().unwrap_or_else(|| search.by_values())
}

/// Whether the names alone tell the ends.
pub(crate) fn are_named(columns: &[ColumnSample<'_>], given: &GivenEnds) -> bool {
    let search = Search { columns, given, names: names_of(columns) };
    matches!(search.by_names(), Some(FoundEnds::Sure(_)))
}

fn names_of(columns: &[ColumnSample<'_>]) -> Vec<Vec<String>> {
    columns.iter().map(|column| column.name.map(end_words).unwrap_or_default()).collect()
}

/// Values of a column that are compared with those of others.
const COMPARED_MAX: usize = 1 << 16;

/// In a hundred: the share of distinct values below which a column looks like a category.
const CATEGORY_PERCENT: usize = 5;

/// Columns that may be ends beyond which no values are compared: the import asks.
const PLAUSIBLE_MAX: usize = 64;

/// Candidates that a message shows.
const SHOWN_MAX: usize = 3;

struct Search<'s> {
    columns: &'s [ColumnSample<'s>],
    given: &'s GivenEnds,
    names: Vec<Vec<String>>,
}

impl Search<'_> {
    fn fits(&self, ends: EdgeEnds) -> bool {
        ends.source != ends.target
            && self.given.source.is_none_or(|source| source == ends.source)
            && self.given.target.is_none_or(|target| target == ends.target)
            && [ends.source, ends.target].iter().all(|end| !self.given.others.contains(end))
    }

    fn is_given(&self, column: usize) -> bool {
        [self.given.source, self.given.target].contains(&Some(column))
    }

    /// The ends that names tell; `None` if no names do.
    fn by_names(&self) -> Option<FoundEnds> {
        let may_hold = |pair: &NamedPair| {
            [pair.ends.source, pair.ends.target].iter().all(|&end| {
                let column = &self.columns[end];
                // Files of types write ids with gaps as floats; in a table of text their values tell.
                let may_be_fractions = (pair.kind == PairKind::Strong || column.values.is_empty())
                    && pair.rank <= NameRank::Name;
                column.kind() == ValueKind::Fractions && may_be_fractions
                    || column.kind().may_be_ids()
                    || self.is_given(end)
            })
        };
        let mut pairs = named_pairs(&self.names);
        pairs.retain(|pair| self.fits(pair.ends) && pair.rank != NameRank::Attribute && may_hold(pair));
        pairs.sort_by_key(|pair| (pair.kind, pair.rank));
        let Some(best) = pairs.first().copied() else { return self.by_one_name() };
        // From and to some words that are not known may be something else than the ends.
        let is_rival = |pair: &&NamedPair| {
            (pair.kind, pair.rank) == (best.kind, best.rank)
                || best.rank == NameRank::Other && pair.rank < NameRank::Other
        };
        let rivals: Vec<EdgeEnds> = pairs[1..].iter().filter(is_rival).map(|pair| pair.ends).collect();
        if rivals.is_empty() && !self.may_be_else(&best) {
            return Some(FoundEnds::Sure(best.ends));
        }
        let named: Vec<EdgeEnds> = if rivals.is_empty() {
            let others = pairs[1..].iter().map(|pair| pair.ends);
            others.chain(self.beside(best.ends)).chain(self.likely()).collect()
        } else {
            rivals
        };
        let mut shown = vec![best.ends];
        for ends in named {
            if shown.len() < SHOWN_MAX && !shown.contains(&ends) {
                shown.push(ends);
            }
        }
        Some(FoundEnds::Unsure(shown))
    }

    /// A name for one end alone leaves the other open, unless there is but one other column.
    fn by_one_name(&self) -> Option<FoundEnds> {
        if self.is_given_one() {
            return None;
        }
        // A column without most values is no end.
        let is_given = |column: usize| {
            let values = &self.columns[column].values;
            values.iter().filter(|value| !value.is_empty()).count() * 2 >= values.len()
        };
        let free = || {
            (0..self.columns.len()).filter(|&column| !self.given.others.contains(&column) && is_given(column))
        };
        let (named, is_source) = free().find_map(|column| Some((column, named_end(&self.names[column])?)))?;
        let others: Vec<usize> = free().filter(|&column| column != named).collect();
        if let [other] = others[..] {
            let (source, target) = if is_source { (named, other) } else { (other, named) };
            return Some(FoundEnds::Sure(EdgeEnds { source, target }));
        }
        let likely = self.likely().into_iter().filter(|ends| ends.source == named || ends.target == named);
        Some(FoundEnds::Unsure(likely.collect()))
    }

    fn is_given_one(&self) -> bool {
        self.given.source.is_some() || self.given.target.is_some()
    }

    /// Whether a pair may be something else while other columns hold the ends.
    fn may_be_else(&self, pair: &NamedPair) -> bool {
        if self.is_given_one() {
            return false;
        }
        if pair.kind == PairKind::Counted && self.is_letter(pair.ends.source) && self.has_a_third(pair.ends) {
            return true;
        }
        let is_counted = pair.kind == PairKind::Counted
            && !is_vertex_itself(&self.names[pair.ends.source])
            && pair.rank != NameRank::Bare;
        let may_be = match pair.also {
            Also::Nothing => is_counted,
            Also::Interval => self.is_interval(pair.ends),
            Also::Quantities => [pair.ends.source, pair.ends.target].iter().all(|&end| {
                matches!(
                    self.columns[end].kind(),
                    ValueKind::Integers | ValueKind::Fractions | ValueKind::Unknown
                )
            }),
        };
        may_be && !self.beside(pair.ends).is_empty()
    }

    /// Whether a name is one letter, which says little of two columns where there are more.
    fn is_letter(&self, column: usize) -> bool {
        matches!(&self.names[column][..], [name] if name.len() == 1 && name.as_bytes()[0].is_ascii_alphabetic())
    }

    /// Whether there is another column that may be an end, or that is called by a letter as well.
    fn has_a_third(&self, ends: EdgeEnds) -> bool {
        let plausible = self.plausible();
        let mut others = (0..self.columns.len()).filter(|other| ![ends.source, ends.target].contains(other));
        others.any(|other| {
            !self.given.others.contains(&other) && (plausible.contains(&other) || self.is_letter(other))
        })
    }

    /// Whether no value of a column of numbers lies below the one in the other.
    fn is_interval(&self, ends: EdgeEnds) -> bool {
        let [from, to] = [ends.source, ends.target].map(|end| &self.columns[end]);
        let are_names_alone = from.kind.is_none() && to.kind.is_none();
        if are_names_alone {
            // Without types and values, only names of things that can be vertices are a reason to doubt.
            let others = self.beside(ends);
            return others.iter().any(|pair| {
                [pair.source, pair.target].iter().any(|&end| {
                    NameRank::of(&self.names[end]) <= NameRank::Name || is_vertex_itself(&self.names[end])
                })
            });
        }
        let may_hold = |sample: &ColumnSample<'_>| {
            matches!(sample.kind(), ValueKind::Integers | ValueKind::Fractions | ValueKind::Unknown)
        };
        let number = |value: &[u8]| std::str::from_utf8(value).ok()?.parse::<f64>().ok();
        let mut given =
            from.values.iter().zip(&to.values).filter(|(from, to)| !from.is_empty() && !to.is_empty());
        may_hold(from)
            && may_hold(to)
            && given
                .all(|(from, to)| matches!((number(from), number(to)), (Some(from), Some(to)) if from <= to))
    }

    /// The ends of a table without names: the first two columns, unless what they hold says otherwise.
    fn without_header(&self) -> FoundEnds {
        let free: Vec<usize> = (0..self.columns.len())
            .filter(|column| self.is_given(*column) || !self.given.others.contains(column))
            .collect();
        if self.is_given_one() {
            return self.beside_given(&free);
        }
        let first = match free[..] {
            [source, target, ..] => EdgeEnds { source, target },
            _ => EdgeEnds { source: 0, target: 1 },
        };
        if free.len() <= 2 {
            return FoundEnds::Sure(first);
        }
        let kinds = [first.source, first.target].map(|end| self.columns[end].kind());
        let texts = |column: &&usize| self.columns[**column].kind() == ValueKind::Texts;
        let is_usual = match kinds {
            [ValueKind::Texts, ValueKind::Texts] => free.iter().filter(texts).count() == 2,
            [one, other] => {
                one == other && one.may_be_ids() || one == ValueKind::Unknown || other == ValueKind::Unknown
            }
        };
        match is_usual {
            true if self.may_count_rows(first) => {
                FoundEnds::Unsure([vec![first], self.beside_index(first)].concat())
            }
            true if free.len() > 3 && kinds[0] == ValueKind::Integers => self.among_many(first),
            true => FoundEnds::Sure(first),
            false => self.by_values(),
        }
    }

    /// The ends of a table of more than three columns without names, whose first two hold integers: these,
    /// or texts further back, as in flows that begin with a time and a duration. Texts that share values
    /// say so; integers of other things, such as ratings, share values with ids by chance. Four columns
    /// without such texts are ends, a weight and a time, as KONECT and SNAP write them.
    fn among_many(&self, first: EdgeEnds) -> FoundEnds {
        let plausible = self.plausible();
        let texts: Vec<usize> = plausible
            .iter()
            .copied()
            .filter(|&column| self.columns[column].kind() == ValueKind::Texts && !self.is_constant(column))
            .collect();
        if texts.len() < 2 && self.columns.len() == 4 {
            return FoundEnds::Sure(first);
        }
        let pairs = self.pairs_of(if texts.len() > 1 { &texts } else { &plausible });
        let shares = self.shares(first) > 0.0;
        let found = self.sharing(&pairs);
        let candidates = |best: &[EdgeEnds]| {
            let mut shown = Vec::new();
            for &ends in best.iter().chain(&pairs) {
                if shown.len() < SHOWN_MAX && !shown.contains(&ends) {
                    shown.push(ends);
                }
            }
            FoundEnds::Unsure(shown)
        };
        match found {
            Some(ends) if ends == first || !shares && texts.len() > 1 => FoundEnds::Sure(ends),
            Some(ends) => candidates(&[ends, first]),
            None if shares => FoundEnds::Sure(first),
            None if texts.len() > 1 => candidates(&[]),
            None => candidates(&[first]),
        }
    }

    /// Whether a column has one value in all of more than two rows.
    fn is_constant(&self, column: usize) -> bool {
        let values = &self.columns[column].values;
        values.len() > 2 && distinct(values).len() < 2
    }

    /// How many of the values of two columns are in both, of 1.
    fn shares(&self, ends: EdgeEnds) -> f64 {
        let [one, other] = [ends.source, ends.target].map(|end| distinct(&self.columns[end].values));
        let shared = one.intersection(&other).count();
        shared as f64 / (one.len() + other.len() - shared).max(1) as f64
    }

    /// Whether an end may be a number of the row, where no names tell: it counts, and two columns without it
    /// share more values.
    fn may_count_rows(&self, ends: EdgeEnds) -> bool {
        if ![ends.source, ends.target].iter().any(|&end| self.counts(end)) {
            return false;
        }
        let own = self.shares(ends);
        let rows = self.columns[ends.source].values.len();
        let is_likelier = |other: &EdgeEnds| own == 0.0 || rows > 2 && self.shares(*other) > own;
        self.beside_index(ends).iter().any(is_likelier)
    }

    /// The pairs without the column that may count the rows.
    fn beside_index(&self, ends: EdgeEnds) -> Vec<EdgeEnds> {
        let index = if self.counts(ends.source) { ends.source } else { ends.target };
        let mut others = self.plausible();
        others.retain(|&column| column != index);
        let mut pairs = self.pairs_of(&others);
        pairs.truncate(SHOWN_MAX - 1);
        pairs
    }

    /// The other end of a table without names, if one is given: the neighbour among the first two columns, or
    /// the only other column of its kind.
    fn beside_given(&self, free: &[usize]) -> FoundEnds {
        let Some(given) = self.given.source.or(self.given.target) else { return self.by_values() };
        let others = || (0..self.columns.len()).filter(|&column| column != given);
        let free: Vec<usize> = free.iter().copied().filter(|&column| column != given).collect();
        if let [only] = free[..] {
            return self.with_other(only);
        }
        let kind = |column: usize| self.columns[column].kind();
        let is_alike = |column: &usize| {
            kind(*column) == kind(given) || [kind(*column), kind(given)].contains(&ValueKind::Unknown)
        };
        let alike: Vec<usize> = free.iter().copied().filter(is_alike).collect();
        let in_order = |other: usize| (other < given) == self.given.target.is_some();
        match alike[..] {
            [] => match others().next() {
                Some(only) if free.is_empty() => self.with_other(only),
                _ => FoundEnds::Unsure(Vec::new()),
            },
            [one] => self.with_other(one),
            // Beside numbers stand weights and the like, beside texts anything.
            [one, ..] if one < 2 && given < 2 && (in_order(one) || kind(given) == ValueKind::Integers) => {
                self.with_other(one)
            }
            _ => FoundEnds::Unsure(self.pairs_with(given, &alike)),
        }
    }

    fn pairs_with(&self, given: usize, others: &[usize]) -> Vec<EdgeEnds> {
        let with = |&other: &usize| match self.given.source {
            Some(_) => EdgeEnds { source: given, target: other },
            None => EdgeEnds { source: other, target: given },
        };
        others.iter().take(SHOWN_MAX).map(with).collect()
    }

    fn with_other(&self, other: usize) -> FoundEnds {
        FoundEnds::Sure(EdgeEnds {
            source: self.given.source.unwrap_or(other),
            target: self.given.target.unwrap_or(other),
        })
    }

    /// Columns that may be ends by what they hold and how they are called.
    fn plausible(&self) -> Vec<usize> {
        let is_plausible = |&column: &usize| {
            let sample = &self.columns[column];
            let is_named_so = sample.name.is_some() && is_attribute(&self.names[column]);
            let is_taken = self.given.others.contains(&column) || is_named_so || self.counts_rows(column);
            let are_answers = || ValueKind::are_answers(sample.values.iter().copied());
            self.is_given(column) || sample.kind().may_be_ids() && !is_taken && !are_answers()
        };
        let mut found: Vec<usize> =
            (0..self.columns.len()).filter(is_plausible).take(PLAUSIBLE_MAX + 1).collect();
        let vary = |column: &usize| self.is_given(*column) || !self.is_constant(*column);
        if found.iter().filter(|column| vary(column)).count() > 1 {
            found.retain(vary);
        }
        match self.columns.len() {
            // Two columns leave no doubt, however they are called, if they hold the same.
            2 if self.columns[0].kind() == self.columns[1].kind() && self.columns[0].kind().may_be_ids() => {
                vec![0, 1]
            }
            _ => found,
        }
    }

    /// Whether a column numbers the rows.
    fn counts_rows(&self, column: usize) -> bool {
        let sample = &self.columns[column];
        if sample.name.is_some() && !is_row_id(&self.names[column]) {
            return false;
        }
        let counts = self.counts(column);
        match sample.name {
            Some(_) => {
                counts
                    || sample.kind() == ValueKind::Unknown
                    || sample.values.is_empty()
                    || self.is_unique(column)
            }
            None => counts && self.columns.len() > 3,
        }
    }

    /// Whether each value is the one above and one.
    fn counts(&self, column: usize) -> bool {
        let values = &self.columns[column].values;
        let number = |value: &[u8]| std::str::from_utf8(value).ok()?.parse::<u64>().ok();
        let follows = |pair: &[&[u8]]| {
            let [one, next] = [pair[0], pair[1]].map(number);
            one.zip(next).is_some_and(|(one, next)| one.checked_add(1) == Some(next))
        };
        values.len() > 1 && values.windows(2).all(follows)
    }

    fn is_unique(&self, column: usize) -> bool {
        let values = &self.columns[column].values;
        distinct(values).len() == values.len()
    }

    /// The ends by the kinds of columns, and by the values that they share.
    fn by_values(&self) -> FoundEnds {
        let plausible = self.plausible();
        if self.is_given_one() {
            let others: Vec<usize> =
                plausible.iter().copied().filter(|&column| !self.is_given(column)).collect();
            if let [other] = others[..] {
                return self.with_other(other);
            }
        }
        if plausible.len() > PLAUSIBLE_MAX {
            return FoundEnds::Unsure(self.likely());
        }
        let pairs = self.pairs_of(&plausible);
        if let ([ends], 2) = (&pairs[..], plausible.len()) {
            let things = [ends.source, ends.target].map(|end| thing_of_id(&self.names[end]));
            let are_integers = self.columns[ends.source].kind() == ValueKind::Integers;
            // Users and films may both be numbered from 1, and are not the same.
            let differ = are_integers && matches!(things, [Some(one), Some(other)] if one != other);
            return if differ { FoundEnds::Unsure(pairs) } else { FoundEnds::Sure(*ends) };
        }
        match self.sharing(&pairs) {
            Some(ends) => FoundEnds::Sure(ends),
            None => FoundEnds::Unsure(self.likely()),
        }
    }

    /// Pairs of columns of one kind, in their order.
    fn pairs_of(&self, plausible: &[usize]) -> Vec<EdgeEnds> {
        let mut pairs = Vec::new();
        for (at, &one) in plausible.iter().enumerate() {
            for &other in &plausible[at + 1..] {
                let kinds = [one, other].map(|column| self.columns[column].kind());
                let swapped = self.given.source == Some(other) || self.given.target == Some(one);
                let ends = if swapped {
                    EdgeEnds { source: other, target: one }
                } else {
                    EdgeEnds { source: one, target: other }
                };
                let alike =
                    kinds[0] == kinds[1] || kinds.contains(&ValueKind::Unknown) || self.columns.len() == 2;
                if self.fits(ends) && alike {
                    pairs.push(ends);
                }
            }
        }
        pairs
    }

    /// The pair whose columns share values as those of no other pair do.
    fn sharing(&self, pairs: &[EdgeEnds]) -> Option<EdgeEnds> {
        let rows = self.columns.iter().map(|column| column.values.len()).max().unwrap_or(0);
        let sets: Vec<HashSet<&[u8]>> = self.columns.iter().map(|column| distinct(&column.values)).collect();
        let mut shares: Vec<(f64, EdgeEnds)> = pairs
            .iter()
            .map(|&ends| {
                let (one, other) = (&sets[ends.source], &sets[ends.target]);
                let shared = one.intersection(other).count();
                let all = one.len() + other.len() - shared;
                let least = if rows < 50 { 1 } else { 2.max(one.len().min(other.len()) / 100) };
                let share = if shared < least { 0.0 } else { shared as f64 / all.max(1) as f64 };
                (share, ends)
            })
            .collect();
        shares.sort_by(|one, other| other.0.total_cmp(&one.0));
        let &(best, ends) = shares.first()?;
        let second = shares.get(1).map_or(0.0, |&(share, _)| share);
        let is_clear = best > 0.0 && second * 3.0 < best;
        let is_category = |column: usize| rows >= 100 && sets[column].len() * 100 < rows * CATEGORY_PERCENT;
        let has_other =
            pairs.iter().flat_map(|pair| [pair.source, pair.target]).any(|column| !is_category(column));
        let is_category = is_category(ends.source) && is_category(ends.target) && has_other;
        let of_numbers = self.columns[ends.source].kind() == ValueKind::Integers;
        (is_clear && !is_category && (!of_numbers || best >= 0.1)).then_some(ends)
    }

    /// Pairs that a message can propose.
    fn likely(&self) -> Vec<EdgeEnds> {
        let mut pairs = self.pairs_of(&self.plausible());
        pairs.truncate(SHOWN_MAX);
        pairs
    }

    /// Pairs of columns that are plausible beside a pair.
    fn beside(&self, ends: EdgeEnds) -> Vec<EdgeEnds> {
        let mut others = self.plausible();
        others.retain(|column| ![ends.source, ends.target].contains(column));
        self.pairs_of(&others)
    }
}

fn distinct<'v>(values: &[&'v [u8]]) -> HashSet<&'v [u8]> {
    values.iter().take(COMPARED_MAX).copied().filter(|value| !value.is_empty()).collect()
}
