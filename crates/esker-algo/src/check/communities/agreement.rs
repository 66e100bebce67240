//! Verifies how much two groupings agree.

use std::collections::BTreeMap;

use esker_graph::VertexId;

use crate::check::watched::Rejection;

/// Checks both figures, up to rounding: the mutual information cell by cell of the table of both groupings,
/// and the Rand index by counts of pairs.
///
/// # Errors
/// The first violated property.
pub fn agreement(a: &[VertexId], b: &[VertexId], nmi: f64, ari: f64) -> Result<(), Rejection> {
    let (mut of_a, mut of_b, mut of_both) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (&a, &b) in a.iter().zip(b) {
        *of_a.entry(a).or_insert(0.0) += 1.0;
        *of_b.entry(b).or_insert(0.0) += 1.0;
        *of_both.entry((a, b)).or_insert(0.0) += 1.0;
    }
    let n = a.len() as f64;
    let entropy = |sizes: &BTreeMap<VertexId, f64>| -> f64 {
        sizes.values().map(|size| -size / n * (size / n).ln()).sum()
    };
    let shared = of_both.iter().map(|((a, b), both)| both / n * (n * both / (of_a[a] * of_b[b])).ln());
    let (shared, entropies) = (shared.sum::<f64>(), entropy(&of_a) + entropy(&of_b));
    let pairs = |size: &f64| size * (size - 1.0) / 2.0;
    let [in_a, in_b] = [&of_a, &of_b].map(|sizes| sizes.values().map(pairs).sum::<f64>());
    let in_both: f64 = of_both.values().map(pairs).sum();
    let chance = in_a * in_b / (n * (n - 1.0) / 2.0);
    let is_same = in_a == in_b && in_a == in_both;
    let expected = match is_same {
        true => [1.0, 1.0],
        false => [2.0 * shared / entropies, (in_both - chance) / ((in_a + in_b) / 2.0 - chance)],
    };
    for (name, found, expected) in [("NMI", nmi, expected[0]), ("ARI", ari, expected[1])] {
        if (found - expected).abs() > 1e-9 {
            return Err(Rejection::Wrong(format!("the {name} is {found} but should be {expected}")));
        }
    }
    Ok(())
}
