//! Verifies an approximate set cover.

use esker_graph::{NONE, VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that every element of an out-list has an owner among the `sets` whose list contains it; that the
/// `gains` are the numbers of elements owned; and that the cover is close to the smallest.
///
/// Charge each element one over the gain of its owner: the charges add up to the number of sets. If the
/// elements of no set are charged more than `factor` times 1 + 1/2 + ... + 1/(its size), no cover has fewer
/// sets than that allows.
///
/// # Errors
/// The first violated property.
pub fn set_cover<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    sets: &[VertexId],
    gains: &[VertexId],
    owners: &[VertexId],
    factor: f64,
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(owners.len() == n, || format!("{} owners for {n} vertices", owners.len()))?;
    out.ensure(gains.len() == sets.len(), || format!("{} gains for {} sets", gains.len(), sets.len()))?;
    let mut gain_of = vec![0; n];
    for (&set, &gain) in sets.iter().zip(gains) {
        out.ensure((set as usize) < n, || format!("set {set} is not one of {n} vertices"))?;
        out.ensure(gain > 0 && gain_of[set as usize] == 0, || {
            format!("set {set} is chosen twice or gains nothing")
        })?;
        gain_of[set as usize] = gain;
    }
    let mut owned = vec![0; n];
    for u in (0..n).map(vertex) {
        let owner = owners[u as usize];
        if owner != NONE {
            out.ensure((owner as usize) < n && gain_of[owner as usize] > 0, || {
                format!("element {u} has owner {owner}, which is not chosen")
            })?;
            let has = !out.between(owner, u).is_empty();
            out.ensure(has, || format!("element {u} has owner {owner}, whose list does not contain it"))?;
            owned[owner as usize] += 1;
        }
    }
    out.ensure(owned == gain_of, || "the gains are not the numbers of elements owned".to_owned())?;
    for v in (0..n).map(vertex) {
        let mut elements = out.list(v)?.0.to_vec();
        elements.sort_unstable();
        elements.dedup();
        let (mut paid, mut harmonic) = (0.0, 0.0);
        for (i, &u) in elements.iter().enumerate() {
            out.ensure(owners[u as usize] != NONE, || format!("element {u} of set {v} is not covered"))?;
            paid += 1.0 / f64::from(gain_of[owners[u as usize] as usize] as u32);
            harmonic += 1.0 / (i + 1) as f64;
        }
        out.ensure(paid <= factor * harmonic * (1.0 + 1e-9), || {
            format!("the elements of set {v} are charged {paid}, more than {factor} times {harmonic}")
        })?;
    }
    Ok(())
}
