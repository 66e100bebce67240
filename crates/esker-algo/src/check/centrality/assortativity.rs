//! Verifies degree assortativity.

use esker_graph::{Direction, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks the correlation of degrees over all arcs, by the deviations of both from their means. NaN is right
/// where either does not vary. `source` and `target` are the directions of the edges that count at each end.
///
/// # Errors
/// The first violated property.
pub fn assortativity<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    source: &[Direction],
    target: &[Direction],
    claimed: f64,
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    let (mut leaving, mut arriving, mut arcs) = (vec![0.0; n], vec![0.0; n], Vec::new());
    for (u, leaving) in leaving.iter_mut().enumerate() {
        for &v in out.list(vertex(u))?.0 {
            *leaving += 1.0;
            arriving[v as usize] += 1.0;
            arcs.push((u, v as usize));
        }
    }
    let degree = |directions: &[Direction], v: usize| {
        let of = |direction, degree| if directions.contains(&direction) { degree } else { 0.0 };
        of(Direction::Out, leaving[v]) + of(Direction::In, arriving[v])
    };
    let pairs = arcs.iter().map(|&(u, v)| [degree(source, u), degree(target, v)]);
    let pairs: Vec<[f64; 2]> = pairs.collect();
    let mean = |i: usize| pairs.iter().map(|pair| pair[i]).sum::<f64>() / pairs.len() as f64;
    let means = [mean(0), mean(1)];
    let spread = |i: usize, j: usize| -> f64 {
        pairs.iter().map(|pair| (pair[i] - means[i]) * (pair[j] - means[j])).sum()
    };
    let varies = |i: usize| pairs.iter().any(|pair| pair[i] != pairs[0][i]);
    if !varies(0) || !varies(1) {
        return out.ensure(claimed.is_nan(), || format!("{claimed} although degrees do not vary"));
    }
    let expected = spread(0, 1) / (spread(0, 0).sqrt() * spread(1, 1).sqrt());
    out.ensure((claimed - expected).abs() <= 1e-9, || {
        format!("the assortativity is {claimed} but should be {expected}")
    })
}
