//! Decides which layers to merge, and when.
//!
//! *Tiers.* A layer of size s is in tier ⌊log_k s⌋, where k is [`FACTOR`]. Above the complete layer, tiers do
//! not rise from older to newer layers, and fewer than k consecutive layers share a tier; so there are at
//! most (k - 1)(⌊log_k m⌋ + 1) of them, where m is the size of all. A new layer that breaks this rule is
//! merged with earlier ones: with smaller ones just before it, and with k - 1 or more of its own tier. The
//! rule is then applied to the result in the same way, before anything is written.
//!
//! *Write amplification.* In a merge, every input but the newest ends up in a higher tier: either it was in a
//! lower tier than a newer input, or k layers of at least k^t each make k^(t+1). The newest input is freshly
//! frozen, and a layer is the newest input once. So an arc from a layer of size s is rewritten at most ⌊log_k
//! m⌋ - ⌊log_k s⌋ + 1 times: O(log_k(m / s)). When a merge drops arcs, because they died or their versions
//! were forgotten, the result may be smaller than its inputs and stay in its tier. But then at least k - 1
//! fresh layers must arrive before it is merged again. So, amortised, an arc that is ever frozen costs at
//! most k² / (k - 1) of writing in each tier.
//!
//! *The complete layer* is merged with all others once their size exceeds 1/[`COMPLETE_SHARE`] of its own:
//! that writes at most `COMPLETE_SHARE` + 1 arcs for each arc added since.

use std::ops::Range;

use esker_format::{LayerRecord, SectionRecord};

/// The ratio of sizes between consecutive tiers.
const FACTOR: u64 = 4;
/// This many layers of one tier are merged. With fewer than the factor, the result might stay in the tier.
const MIN_COUNT: usize = 4;
/// The complete layer takes part once the others exceed one part in this many of its size.
const COMPLETE_SHARE: u64 = 4;

const _: () = assert!(MIN_COUNT as u64 >= FACTOR);

/// The size of a layer for this policy: entries and lists of both directions.
pub(crate) fn size_of(record: &LayerRecord) -> u64 {
    let size = |section: &SectionRecord| {
        let arcs = section.arcs + section.dead_arcs + section.past_arcs;
        // A complete layer has a list for each vertex, changed or not, so its lists do not count.
        arcs + if record.complete { 0 } else { section.lists }
    };
    size(&record.out) + size(&record.incoming)
}

/// The runs of layers to merge now, oldest first. The first of `sizes` is that of the complete layer; the
/// others follow from old to new.
pub(crate) fn due(sizes: &[u64]) -> Vec<Range<usize>> {
    let Some((&complete, others)) = sizes.split_first() else { return Vec::new() };
    let sum = others.iter().fold(0, |sum: u64, &size| sum.saturating_add(size));
    if sum > complete / COMPLETE_SHARE {
        return everything(sizes).into_iter().collect();
    }
    // Replays the policy as if it had been applied after each layer.
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

/// The run of all layers; `None` if there is only one.
fn everything(sizes: &[u64]) -> Option<Range<usize>> {
    (sizes.len() > 1).then_some(0..sizes.len())
}

fn tier(size: u64) -> u32 {
    size.max(1).ilog(FACTOR)
}

#[cfg(test)]
mod tests {
    use esker_graph::random::Random;

    use super::*;

    /// A layer of the simulation.
    #[derive(Debug, Clone)]
    struct Layer {
        size: u64,
        /// Rewrites of the arcs in it, with the smallest size of the layers in which such arcs were
        /// frozen.
        parts: Vec<(u32, u64)>,
    }

    /// Log-uniform sizes from a linear congruential generator.
    fn sizes(count: usize, bits: u64) -> impl Iterator<Item = u64> {
        let mut random = Random::new(1);
        (0..count).map(move |_| {
            let length = random.below(bits);
            (1 << length) + random.below(1 << length)
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

    fn apply_due(layers: &mut Vec<Layer>) -> u64 {
        let all = |layers: &[Layer]| layers.iter().map(|layer| layer.size).collect::<Vec<_>>();
        let due_now = due(&all(layers));
        let written = due_now.into_iter().rev().map(|run| apply(layers, run)).sum();
        assert_eq!(due(&all(layers)), [], "one pass must leave nothing to merge");
        written
    }

    #[test]
    fn ten_thousand_freezes_stay_within_the_documented_bounds() {
        for (bits, every) in [(1, 1), (20, 1), (20, 7), (8, 100), (40, 1)] {
            let mut layers = vec![Layer { size: 1 << 60, parts: Vec::new() }];
            let mut all = 0;
            for (count, size) in (1..).zip(sizes(10_000, bits)) {
                layers.push(Layer { size, parts: vec![(0, size)] });
                all += size;
                if count % every != 0 {
                    continue; // The background merge may lag behind.
                }
                apply_due(&mut layers);
                let others = &layers[1..];
                let most = (FACTOR as usize - 1) * (tier(all) as usize + 1);
                assert!(others.len() <= most, "{} layers", others.len());
                assert!(others.is_sorted_by_key(|layer| std::cmp::Reverse(tier(layer.size))));
                for &(rewrites, size) in others.iter().flat_map(|layer| &layer.parts) {
                    let bound = tier(all) - tier(size) + 1;
                    assert!(
                        rewrites <= bound,
                        "{rewrites} rewrites of arcs frozen in a layer of size {size}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_complete_layer_is_merged_when_the_others_exceed_their_share() {
        let mut layers = vec![Layer { size: 1000, parts: Vec::new() }];
        let (mut frozen, mut written, mut complete) = (0, 0, 1000);
        for size in sizes(10_000, 12) {
            layers.push(Layer { size, parts: vec![(0, size)] });
            frozen += size;
            written += apply_due(&mut layers);
            complete = complete.max(layers[0].size);
            let others: u64 = layers[1..].iter().map(|layer| layer.size).sum();
            assert!(others <= layers[0].size / COMPLETE_SHARE);
        }
        assert!(complete > 1_000_000 && layers.len() < 40);
        let tiers = u64::from(tier(frozen)) + 1;
        assert!(written <= frozen * (tiers + COMPLETE_SHARE + 1), "{written} for {frozen}");
    }

    #[test]
    fn due_selects_runs_of_similar_sizes() {
        let expect = |sizes: &[u64], runs: &[(usize, usize)], why: &str| {
            let due: Vec<_> = due(sizes).into_iter().map(|run| (run.start, run.end)).collect();
            assert_eq!(due, runs, "{why}");
        };
        expect(&[], &[], "no layers");
        expect(&[100], &[], "one layer");
        expect(&[1000, 10, 10, 10], &[], "too few of a tier");
        expect(&[1000, 10, 10, 10, 10], &[(1, 5)], "enough of a tier");
        expect(&[9000, 300, 10, 10, 10, 10, 3], &[(2, 6)], "neither the larger before nor the smaller after");
        expect(&[9000, 3, 3, 100], &[(1, 4)], "smaller layers before a larger one");
        expect(&[100, 10, 10, 10], &[(0, 4)], "more than a quarter of the complete layer");
        assert_eq!(everything(&[5, 1]), Some(0..2));
        assert_eq!(everything(&[5]), None);
    }
}
