//! Which layers are merged, and when.
//!
//! *Tiers.* A layer of size s is in tier ⌊log_k s⌋, where k is [`FACTOR`]. Above the complete layer, tiers do not rise from older to
//! newer layers, and fewer than k layers in a row are of the same tier: so there are at most (k - 1)(⌊log_k m⌋ + 1) of them, if m
//! is the size of all. A new layer that breaks this is merged with those before it: with smaller ones, which it would hide behind
//! it, and with k - 1 or more of its own tier; then what comes out is looked at in the same way, before anything is written.
//!
//! *Write amplification.* In a merge, every input but the newest ends in a higher tier: it was of a lower one than what
//! came before it, or k layers that are each at least k^t together make k^(t+1). The newest is fresh from freezing, and
//! that happens to it once. So an arc from a layer of size s is rewritten at most ⌊log_k m⌋ - ⌊log_k s⌋ + 1 times: O(log_k(m / s)). Where
//! merging drops arcs, because they died or their versions were forgotten, a layer may come out smaller than its inputs and
//! stay in its tier; but then k - 1 fresh ones must come before it is merged again, so that, amortised, an arc that is ever
//! frozen costs at most k² / (k - 1) of writing in each tier.
//!
//! *The complete layer* is merged, with all others, once they exceed one part in [`COMPLETE_SHARE`] of it: that writes at most
//! `COMPLETE_SHARE` + 1 arcs for each one that came since.

use std::ops::Range;

use crate::format::{LayerRecord, SectionRecord};

/// Ratio of the sizes of tiers.
pub const FACTOR: u64 = 4;
/// So many layers of one tier are merged. At least the factor, or the result might stay in the tier.
pub const MIN_COUNT: usize = 4;
/// The complete layer takes part once the others are more than one part in so many of its size.
pub const COMPLETE_SHARE: u64 = 4;

const _: () = assert!(MIN_COUNT as u64 >= FACTOR);

/// The size of a layer, as this policy measures it: entries and lists of both directions.
pub fn size_of(record: &LayerRecord) -> u64 {
    let size = |section: &SectionRecord| {
        let arcs = section.arcs + section.dead_arcs + section.past_arcs;
        // In a complete layer there is a list for each vertex; that is no change to move.
        arcs + if record.complete { 0 } else { section.lists }
    };
    size(&record.out) + size(&record.incoming)
}

/// Those runs of layers of given sizes (the first is the complete layer, the others follow from old to new) that are to be merged
/// now, oldest first; none if all is well.
pub fn due(sizes: &[u64]) -> Vec<Range<usize>> {
    let Some((&complete, others)) = sizes.split_first() else { return Vec::new() };
    let sum = others.iter().fold(0, |sum: u64, &size| sum.saturating_add(size));
    if sum > complete / COMPLETE_SHARE {
        return everything(sizes).into_iter().collect();
    }
    // What the layers would be had each been looked at when it came.
    let mut runs: Vec<(Range<usize>, u64)> = Vec::new();
    for (position, &size) in (1..).zip(others) {
        let mut run = (position..position + 1, size);
        loop {
            let tier = tier(run.1);
            let is_smaller = |other: &(Range<usize>, u64)| self::tier(other.1) < tier;
            let smaller = runs.iter().rev().take_while(|other| is_smaller(other)).count();
            let rest = &runs[..runs.len() - smaller];
            let same = rest.iter().rev().take_while(|other| self::tier(other.1) == tier).count();
            let taken = smaller + if same + 1 >= MIN_COUNT { same } else { 0 };
            if taken == 0 {
                break;
            }
            for (older, size) in runs.drain(runs.len() - taken..).rev() {
                run = (older.start..run.0.end, run.1.saturating_add(size));
            }
        }
        runs.push(run);
    }
    runs.into_iter().map(|(run, _)| run).filter(|run| run.len() > 1).collect()
}

/// All layers, to be made one; `None` if they are.
pub fn everything(sizes: &[u64]) -> Option<Range<usize>> {
    (sizes.len() > 1).then_some(0..sizes.len())
}

fn tier(size: u64) -> u32 {
    size.max(1).ilog(FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A layer: its size, and for each time that arcs were written the sizes of the layers that they came in.
    #[derive(Debug, Clone)]
    struct Layer {
        size: u64,
        /// Rewrites, and size when frozen, of the arcs in it; of each number of rewrites the smallest size.
        parts: Vec<(u32, u64)>,
    }

    /// Log-uniform sizes from a linear congruential generator.
    fn sizes(count: usize, bits: u64) -> impl Iterator<Item = u64> {
        let mut state = 12_345_u64;
        (0..count).map(move |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (length, value) = ((state >> 33) % bits, state >> 40);
            (1 << length) + value % (1 << length)
        })
    }

    fn apply(layers: &mut Vec<Layer>, run: Range<usize>) -> u64 {
        let mut parts: Vec<(u32, u64)> = Vec::new();
        for layer in &layers[run.clone()] {
            for &(rewrites, size) in &layer.parts {
                match parts.iter_mut().find(|part| part.0 == rewrites + 1) {
                    Some(part) => part.1 = part.1.min(size),
                    None => parts.push((rewrites + 1, size)),
                }
            }
        }
        let size = layers[run.clone()].iter().map(|layer| layer.size).sum();
        layers.splice(run, [Layer { size, parts }]);
        size
    }

    fn settle(layers: &mut Vec<Layer>) -> u64 {
        let all = |layers: &[Layer]| layers.iter().map(|layer| layer.size).collect::<Vec<_>>();
        let due_now = due(&all(layers));
        let written = due_now.into_iter().rev().map(|run| apply(layers, run)).sum();
        assert_eq!(due(&all(layers)), [], "once is enough");
        written
    }

    #[test]
    fn ten_thousand_freezes_stay_within_the_bounds() {
        for (bits, every) in [(1, 1), (20, 1), (20, 7), (8, 100), (40, 1)] {
            let mut layers = vec![Layer { size: 1 << 60, parts: Vec::new() }];
            let mut all = 0;
            for (count, size) in (1..).zip(sizes(10_000, bits)) {
                layers.push(Layer { size, parts: vec![(0, size)] });
                all += size;
                if count % every != 0 {
                    continue; // Merging is not always at hand.
                }
                settle(&mut layers);
                let others = &layers[1..];
                let most = (FACTOR as usize - 1) * (tier(all) as usize + 1);
                assert!(others.len() <= most, "{} layers", others.len());
                assert!(others.is_sorted_by_key(|layer| std::cmp::Reverse(tier(layer.size))));
                for &(rewrites, size) in others.iter().flat_map(|layer| &layer.parts) {
                    let bound = tier(all) - tier(size) + 1;
                    assert!(rewrites <= bound, "{rewrites} rewrites of what came in a layer of {size}");
                }
            }
        }
    }

    #[test]
    fn the_complete_layer_is_merged_when_the_others_have_grown() {
        let mut layers = vec![Layer { size: 1000, parts: Vec::new() }];
        let (mut frozen, mut written, mut complete) = (0, 0, 1000);
        for size in sizes(10_000, 12) {
            layers.push(Layer { size, parts: vec![(0, size)] });
            frozen += size;
            written += settle(&mut layers);
            complete = complete.max(layers[0].size);
            let others: u64 = layers[1..].iter().map(|layer| layer.size).sum();
            assert!(others <= layers[0].size / COMPLETE_SHARE);
        }
        assert!(complete > 1_000_000 && layers.len() < 40);
        let tiers = u64::from(tier(frozen)) + 1;
        assert!(written <= frozen * (tiers + COMPLETE_SHARE + 1), "{written} for {frozen}");
    }

    #[test]
    fn runs_are_of_similar_sizes() {
        let expect = |sizes: &[u64], runs: &[(usize, usize)], why: &str| {
            let due: Vec<_> = due(sizes).into_iter().map(|run| (run.start, run.end)).collect();
            assert_eq!(due, runs, "{why}");
        };
        expect(&[], &[], "nothing");
        expect(&[100], &[], "one");
        expect(&[1000, 10, 10, 10], &[], "few");
        expect(&[1000, 10, 10, 10, 10], &[(1, 5)], "enough");
        expect(&[9000, 300, 10, 10, 10, 10, 3], &[(2, 6)], "neither the larger nor the smaller");
        expect(&[9000, 3, 3, 100], &[(1, 4)], "what hides behind a larger one");
        expect(&[100, 10, 10, 10], &[(0, 4)], "more than a quarter");
        assert_eq!(everything(&[5, 1]), Some(0..2));
        assert_eq!(everything(&[5]), None);
    }
}
