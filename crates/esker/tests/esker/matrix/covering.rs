//! Covering arrays: few rows in which the values of any two axes, or of any three, meet in every way that is
//! possible.
//!
//! Faults lie where two things meet, seldom where more than three do, and there are far fewer pairs and
//! triples than combinations: a thousand rows hold all triples of a million combinations. The method is
//! greedy, after AETG (D. Cohen, S. Dalal, M. Fredman, G. Patton, "The AETG System: An Approach to Testing
//! Based on Combinatorial Design", IEEE Transactions on Software Engineering 23(7), 1997). Each row begins
//! with a tuple that no row has yet, and takes axis by axis, in a random order, the value that meets the most
//! others for the first time. Of some rows that are made so, the best is kept.

use esker_graph::random::Random;

/// The value of each axis.
pub(crate) type Row = Vec<usize>;

/// A row in the making: axes without a value are open.
pub(crate) type Partial = [Option<usize>];

/// Rows that are made for one that is kept.
const CANDIDATES: usize = 6;

/// The tuples of values of any `strength` axes, and which of them rows have.
struct Tuples {
    /// Sets of axes, each ascending.
    sets: Vec<Vec<usize>>,
    /// The sets that an axis is in.
    sets_of: Vec<Vec<usize>>,
    /// For each set, which tuples are still to be met.
    open: Vec<Vec<bool>>,
    sizes: Vec<usize>,
}

impl Tuples {
    fn new(sizes: &[usize], strength: usize) -> Self {
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in 0..strength {
            let longer = |set: &Vec<usize>| {
                let first = set.last().map_or(0, |&last| last + 1);
                let set = set.clone();
                (first..sizes.len()).map(move |axis| set.iter().copied().chain([axis]).collect())
            };
            sets = sets.iter().flat_map(longer).collect();
        }
        let of = |axis| (0..sets.len()).filter(|&set| sets[set].contains(&axis)).collect();
        let sets_of = (0..sizes.len()).map(of).collect();
        let open = sets.iter().map(|set| vec![true; set.iter().map(|&axis| sizes[axis]).product()]).collect();
        Self { sets, sets_of, open, sizes: sizes.to_vec() }
    }

    /// The number of the tuple of a row among those of a set of axes, if all of these have values.
    fn number(&self, set: usize, row: &Partial) -> Option<usize> {
        self.sets[set].iter().try_fold(0, |number, &axis| Some(number * self.sizes[axis] + row[axis]?))
    }

    /// The tuple with a number, as a row whose other axes are open.
    fn tuple(&self, set: usize, mut number: usize) -> Vec<Option<usize>> {
        let mut row = vec![None; self.sizes.len()];
        for &axis in self.sets[set].iter().rev() {
            row[axis] = Some(number % self.sizes[axis]);
            number /= self.sizes[axis];
        }
        row
    }

    /// Open tuples that a row has with one of its axes.
    fn gain_of(&self, axis: usize, row: &Partial) -> usize {
        let is_open = |&&set: &&usize| self.number(set, row).is_some_and(|number| self.open[set][number]);
        self.sets_of[axis].iter().filter(is_open).count()
    }

    fn gain(&self, row: &Partial) -> usize {
        let is_open = |&set: &usize| self.number(set, row).is_some_and(|number| self.open[set][number]);
        (0..self.sets.len()).filter(is_open).count()
    }

    fn meet(&mut self, row: &Partial) {
        for set in 0..self.sets.len() {
            if let Some(number) = self.number(set, row) {
                self.open[set][number] = false;
            }
        }
    }

    /// The first open tuple at or behind a place: its set and its number.
    fn next_open(&self, from: (usize, usize)) -> Option<(usize, usize)> {
        (from.0..self.sets.len()).find_map(|set| {
            let first = if set == from.0 { from.1 } else { 0 };
            (first..self.open[set].len()).find(|&number| self.open[set][number]).map(|number| (set, number))
        })
    }
}

fn partial(row: &Row) -> Vec<Option<usize>> {
    row.iter().map(|&value| Some(value)).collect()
}

/// Gives the open axes of a row values that are allowed, those that meet the most open tuples first. `false`
/// if there are none.
fn complete(
    row: &mut Vec<Option<usize>>,
    axes: &[usize],
    tuples: &Tuples,
    allows: &dyn Fn(&Partial) -> bool,
    draw: &mut Random,
) -> bool {
    let Some((&axis, rest)) = axes.split_first() else { return true };
    if row[axis].is_some() {
        return complete(row, rest, tuples, allows, draw);
    }
    let mut values: Vec<usize> = (0..tuples.sizes[axis]).collect();
    draw.shuffle(&mut values);
    values.sort_by_cached_key(|&value| {
        row[axis] = Some(value);
        std::cmp::Reverse(tuples.gain_of(axis, row))
    });
    for value in values {
        row[axis] = Some(value);
        if allows(row) && complete(row, rest, tuples, allows, draw) {
            return true;
        }
    }
    row[axis] = None;
    false
}

/// Rows in which every tuple of values of `strength` axes stands that some allowed row has. The axes have
/// `sizes` values each. `allows` says whether a row may be; of one in the making, whether the values that it
/// has may stand together. The same seed makes the same rows.
pub(crate) fn covering(
    sizes: &[usize],
    strength: usize,
    allows: &dyn Fn(&Partial) -> bool,
    seed: u64,
) -> Vec<Row> {
    let (mut tuples, mut draw, mut rows) = (Tuples::new(sizes, strength), Random::new(seed), Vec::new());
    let mut axes: Vec<usize> = (0..sizes.len()).collect();
    let mut place = (0, 0);
    while let Some(first) = tuples.next_open(place) {
        place = first;
        let mut best: Option<(usize, Vec<Option<usize>>)> = None;
        for _ in 0..CANDIDATES {
            let mut row = tuples.tuple(first.0, first.1);
            draw.shuffle(&mut axes);
            if !allows(&row) || !complete(&mut row, &axes, &tuples, allows, &mut draw) {
                break;
            }
            let gain = tuples.gain(&row);
            if best.as_ref().is_none_or(|(most, _)| gain > *most) {
                best = Some((gain, row));
            }
        }
        match best {
            Some((_, row)) => {
                tuples.meet(&row);
                rows.push(row.into_iter().map(|value| value.expect("a whole row")).collect());
            }
            // No allowed row has it.
            None => tuples.open[first.0][first.1] = false,
        }
    }
    rows
}

/// The numbers of a few of these rows, in which every tuple of values of `strength` axes stands that one of
/// them has.
pub(super) fn selection(rows: &[Row], sizes: &[usize], strength: usize, seed: u64) -> Vec<usize> {
    let (mut tuples, mut draw, mut chosen) = (Tuples::new(sizes, strength), Random::new(seed), Vec::new());
    let mut order: Vec<usize> = (0..rows.len()).collect();
    draw.shuffle(&mut order);
    let partials: Vec<_> = rows.iter().map(partial).collect();
    // First rows that meet much, then all that meet anything.
    let all = tuples.sets.len();
    for least in [all, all * 3 / 4, all / 2, all / 4, all / 8, all / 16, all / 32, 1] {
        for &number in &order {
            if tuples.gain(&partials[number]) >= least.max(1) {
                tuples.meet(&partials[number]);
                chosen.push(number);
            }
        }
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Partial, Row, covering, selection};

    const SIZES: [usize; 7] = [4, 3, 2, 5, 3, 2, 4];

    /// Two values that may not stand together.
    fn allows(row: &Partial) -> bool {
        !(row[0] == Some(1) && row[3] == Some(2) || row[2] == Some(0) && row[5] == Some(0))
    }

    fn all_rows() -> Vec<Row> {
        let mut rows: Vec<Row> = vec![Vec::new()];
        for size in SIZES {
            rows = rows.iter().flat_map(|row| (0..size).map(|value| [&row[..], &[value]].concat())).collect();
        }
        rows.retain(|row| allows(&row.iter().map(|&value| Some(value)).collect::<Vec<_>>()));
        rows
    }

    /// All tuples of values that rows have, each with its axes.
    fn tuples(rows: &[Row], strength: usize) -> BTreeSet<Vec<(usize, usize)>> {
        let mut found = BTreeSet::new();
        for row in rows {
            for mask in 0_u32..1 << SIZES.len() {
                if mask.count_ones() as usize == strength {
                    let axes = (0..SIZES.len()).filter(|axis| mask >> axis & 1 == 1);
                    found.insert(axes.map(|axis| (axis, row[axis])).collect());
                }
            }
        }
        found
    }

    #[test]
    fn rows_hold_every_pair_and_triple_that_is_possible_and_none_that_is_not() {
        for (strength, most) in [(2, 30), (3, 130)] {
            let rows = covering(&SIZES, strength, &allows, 7);
            assert_eq!(tuples(&rows, strength), tuples(&all_rows(), strength));
            assert!(rows.len() <= most, "{} rows", rows.len());
        }
    }

    #[test]
    fn a_seed_makes_the_same_rows_and_another_makes_others() {
        assert_eq!(covering(&SIZES, 2, &allows, 7), covering(&SIZES, 2, &allows, 7));
        assert_ne!(covering(&SIZES, 2, &allows, 7), covering(&SIZES, 2, &allows, 8));
    }

    #[test]
    fn a_selection_holds_all_tuples_of_its_rows() {
        let rows = covering(&SIZES, 3, &allows, 7);
        for strength in [1, 2] {
            let chosen: Vec<Row> =
                selection(&rows, &SIZES, strength, 3).iter().map(|&number| rows[number].clone()).collect();
            assert_eq!(tuples(&chosen, strength), tuples(&rows, strength));
            assert!(chosen.len() < rows.len());
        }
    }
}
