//! Verifies similarities.

use esker_graph::{VertexId, Weight};

use crate::check::neighbourhood::neighbourhoods;
use crate::check::watched::{Rejection, WatchedRows};

/// Checks the similarity of each vertex to `source`, up to rounding, by the set of common neighbours.
/// Measures are `jaccard`, `overlap`, `cosine`, `adamic-adar`, `preferential-attachment`, and resource
/// allocation.
///
/// # Errors
/// The first violated property.
pub fn similarity<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    source: VertexId,
    measure: &str,
    scores: &[f64],
) -> Result<(), Rejection> {
    let out = out.into();
    let of = neighbourhoods(out)?;
    out.ensure(scores.len() == of.len(), || format!("{} scores for {} vertices", scores.len(), of.len()))?;
    let own = &of[source as usize];
    for (v, &score) in scores.iter().enumerate() {
        let common: Vec<&Vec<VertexId>> =
            own.iter().filter(|u| of[v].contains(u)).map(|&u| &of[u as usize]).collect();
        let (a, b, both) = (own.len() as f64, of[v].len() as f64, common.len() as f64);
        let expected = match measure {
            _ if v == source as usize => f64::NAN,
            "preferential-attachment" => a * b,
            _ if common.is_empty() => f64::NAN,
            "jaccard" => both / (a + b - both),
            "overlap" => both / a.min(b),
            "cosine" => both / a.sqrt() / b.sqrt(),
            "adamic-adar" => common.iter().map(|list| (list.len() as f64).ln().recip()).sum(),
            _ => common.iter().map(|list| 1.0 / list.len() as f64).sum(),
        };
        let is_same = score.is_nan() && expected.is_nan() || (score - expected).abs() <= 1e-9 * expected;
        out.ensure(is_same, || format!("the similarity of vertex {v} is {score}, not {expected}"))?;
    }
    Ok(())
}
