//! Verifies local clustering coefficients.

use esker_graph::{Weight, vertex};

use crate::check::neighbourhood::{common, neighbourhoods};
use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `coefficients` are those of LDBC Graphalytics: for each vertex, the fraction of ordered pairs
/// of its neighbours (in either direction) joined by an edge of `out`. Allows a relative error of 10^-12.
///
/// # Errors
/// The first vertex with a wrong coefficient.
pub fn lcc<'a, W: Weight>(out: impl Into<WatchedRows<'a, W>>, coefficients: &[f64]) -> Result<(), Rejection> {
    let out = out.into();
    let lists = neighbourhoods(out)?;
    out.ensure(coefficients.len() == lists.len(), || {
        format!("{} coefficients for {} vertices", coefficients.len(), lists.len())
    })?;
    let mut targets = Vec::new();
    for (v, list) in lists.iter().enumerate() {
        let mut arcs = 0;
        for &u in list {
            targets.clear();
            targets.extend(out.list(u)?.0.iter().filter(|&&w| w != u));
            targets.dedup();
            arcs += common(list, &targets);
        }
        let pairs = (list.len() * list.len().saturating_sub(1)).max(1);
        let expected = arcs as f64 / pairs as f64;
        out.ensure((coefficients[v] - expected).abs() <= 1e-12 * expected, || {
            format!("vertex {} has coefficient {} but should have {expected}", vertex(v), coefficients[v])
        })?;
    }
    Ok(())
}
