//! Checks local clustering coefficients.

use esker_graph::{Rows, Weight, vertex};

use super::neighbourhood::{common, neighbourhoods};
use super::wrong::{Wrong, ensure};

/// Checks that `coefficients` are those of LDBC Graphalytics: for each vertex the share of the ordered pairs of its
/// neighbours (in either direction) between which an edge of `out` leads. A coefficient may be off by one part in 10^12.
///
/// # Errors
/// The first vertex with another one.
pub fn lcc<W: Weight>(out: &Rows<'_, W>, coefficients: &[f64]) -> Result<(), Wrong> {
    let lists = neighbourhoods(out);
    ensure(coefficients.len() == lists.len(), || {
        format!("{} coefficients for {} vertices", coefficients.len(), lists.len())
    })?;
    let mut targets = Vec::new();
    for (v, list) in lists.iter().enumerate() {
        let mut arcs = 0;
        for &u in list {
            targets.clear();
            targets.extend(out.list(u).0.iter().filter(|&&w| w != u));
            targets.dedup();
            arcs += common(list, &targets);
        }
        let pairs = (list.len() * list.len().saturating_sub(1)).max(1);
        let expected = arcs as f64 / pairs as f64;
        ensure((coefficients[v] - expected).abs() <= 1e-12 * expected, || {
            format!("coefficient of {} is {} instead of {expected}", vertex(v), coefficients[v])
        })?;
    }
    Ok(())
}
