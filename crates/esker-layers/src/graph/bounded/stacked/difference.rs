//! Compares a list that a later layer holds whole with that of the complete layer.

use esker_graph::VertexId;

use crate::graph::versions::chains::ChainArcs;
use crate::graph::weight::ColumnWeight;

/// Reduces the list of a version, the arcs from `start` on, to the arcs that the list of the complete layer
/// lacks. Appends to `dead` targets with copies in the complete layer that the version lacks. The
/// list of the version need not be sorted; that of the complete layer is.
///
/// All copies of a dead target are dead, so those that the version has are retained.
pub(super) fn retain_difference<W: ColumnWeight>(
    arcs: &mut ChainArcs<W>,
    start: usize,
    base: &[VertexId],
    base_weights: &[W],
    dead: &mut Vec<VertexId>,
) {
    arcs.sort_from(start);
    let (targets, weights) = (&mut arcs.targets, &mut arcs.weights);
    let (mut len, mut at, mut base_at) = (start, start, 0);
    while at < targets.len() || base_at < base.len() {
        let target = match (targets.get(at), base.get(base_at)) {
            (Some(&own), Some(&other)) => own.min(other),
            (own, other) => *own.or(other).unwrap_or(&0),
        };
        let end = at + count(&targets[at..], target);
        let base_end = base_at + count(&base[base_at..], target);
        let mut copies = at..end;
        if at < end && base_at < base_end {
            if move_new_first(&mut weights[at..end], &base_weights[base_at..base_end]) {
                copies.end -= base_end - base_at;
            } else {
                dead.push(target);
            }
        } else if base_at < base_end {
            dead.push(target);
        }
        for i in copies {
            (targets[len], weights[len]) = (target, weights[i]);
            len += 1;
        }
        (at, base_at) = (end, base_end);
    }
    targets.truncate(len);
    weights.truncate(len);
}

/// Number of copies of a target at the start of a sorted list.
fn count(list: &[VertexId], target: VertexId) -> usize {
    list.iter().take_while(|&&other| other == target).count()
}

/// Moves copies with the weights of all older ones behind the others. Returns `false` if some older one has
/// no equal.
fn move_new_first<W: ColumnWeight>(weights: &mut [W], old: &[W]) -> bool {
    if old.len() > weights.len() {
        return false;
    }
    // A list keeps the order of its copies, and changes few: few remain to be looked for.
    let equal = weights.iter().zip(old).take_while(|(new, old)| new.is_same(**old)).count();
    weights.rotate_left(equal);
    let mut remaining = weights.len() - equal;
    for old in &old[equal..] {
        let Some(same) = weights[..remaining].iter().position(|weight| weight.is_same(*old)) else {
            return false;
        };
        remaining -= 1;
        weights.swap(same, remaining);
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn many_copies_of_an_arc_are_compared_in_their_order() {
        let old: Vec<i32> = (0..1 << 20).collect();
        let mut new: Vec<i32> = old.iter().copied().chain([-1]).collect();
        assert!(move_new_first(&mut new, &old));
        assert_eq!(new[0], -1);
    }

    fn arcs(len: usize) -> impl Strategy<Value = Vec<(VertexId, i32)>> {
        prop::collection::vec((0 as VertexId..8, 0..3), 0..len)
    }

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn the_difference_makes_the_list_of_that_of_the_complete_layer(
            before in arcs(4), list in arcs(20), mut base in arcs(20),
        ) {
            base.sort_by_key(|arc| arc.0);
            let (base_targets, base_weights): (Vec<_>, Vec<_>) = base.iter().copied().unzip();
            let (targets, weights): (Vec<_>, Vec<_>) = before.iter().chain(&list).copied().unzip();
            let mut found = ChainArcs { targets, weights };
            let mut dead = vec![7];
            retain_difference(&mut found, before.len(), &base_targets, &base_weights, &mut dead);
            let found: Vec<(VertexId, i32)> = found.targets.into_iter().zip(found.weights).collect();
            prop_assert_eq!(&found[..before.len()], &before);
            let dead = &dead[1..];
            prop_assert!(dead.is_sorted_by(|a, b| a < b));
            let living = base.iter().copied().filter(|arc| !dead.contains(&arc.0));
            let mut all: Vec<_> = found[before.len()..].iter().copied().chain(living).collect();
            all.sort_unstable();
            let mut expected = list.clone();
            expected.sort_unstable();
            prop_assert_eq!(all, expected);
            // Nothing is said of a target whose copies are the same.
            for target in 0..8 {
                let copies_of = |arcs: &[(VertexId, i32)]| {
                    let mut own: Vec<_> = arcs.iter().filter(|arc| arc.0 == target).map(|arc| arc.1).collect();
                    own.sort_unstable();
                    own
                };
                if copies_of(&list) == copies_of(&base) {
                    prop_assert!(!dead.contains(&target) && copies_of(&found[before.len()..]).is_empty());
                }
            }
        }
    }
}
