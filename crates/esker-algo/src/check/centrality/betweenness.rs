//! Verifies betweenness centrality.

use esker_graph::{VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `scores` are `factor` times the dependencies of `sources` on each vertex, up to a relative
/// error of `tolerance`. Recomputes the dependency of s on v for each source s: the sum over t of the
/// fraction of shortest s-t paths that pass through v.
///
/// # Errors
/// The first violated property.
pub fn betweenness<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    sources: &[VertexId],
    factor: f64,
    scores: &[f64],
    tolerance: f64,
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(scores.len() == n, || format!("{} scores for {n} vertices", scores.len()))?;
    let mut totals = vec![0.0; n];
    for &source in sources {
        out.ensure((source as usize) < n, || format!("source {source} is not one of {n} vertices"))?;
        add_dependencies(out, source as usize, &mut totals)?;
    }
    for (v, (&score, total)) in scores.iter().zip(totals).enumerate() {
        let wanted = total * factor;
        let close = (score - wanted).abs() <= tolerance * wanted.abs().max(f64::MIN_POSITIVE);
        out.ensure(close, || format!("vertex {v} has score {score} but should have {wanted}"))?;
    }
    Ok(())
}

/// A number of paths of any size: `digits` times [`STEP`] to the power `steps`. Unless it is 0, `digits` are
/// at least 1 and below `STEP`.
#[derive(Clone, Copy)]
struct PathCount {
    digits: f64,
    steps: i32,
}

/// 2^500.
const STEP: f64 = f64::from_bits((1023 + 500) << 52);

impl PathCount {
    const ZERO: Self = Self { digits: 0.0, steps: 0 };
    const ONE: Self = Self { digits: 1.0, steps: 0 };

    fn plus(self, other: Self) -> Self {
        let (more, less) = if self.steps < other.steps { (other, self) } else { (self, other) };
        let digits = more.digits + less.digits * STEP.powi(less.steps - more.steps);
        if digits < STEP {
            Self { digits, ..more }
        } else {
            Self { digits: digits / STEP, steps: more.steps + 1 }
        }
    }

    /// This number as a part of one that is no smaller.
    fn part_of(self, all: Self) -> f64 {
        self.digits / all.digits * STEP.powi(self.steps - all.steps)
    }
}

/// Adds the dependency of `source` on each vertex to `totals`, as in Brandes' paper.
fn add_dependencies<W: Weight>(
    out: WatchedRows<'_, W>,
    source: usize,
    totals: &mut [f64],
) -> Result<(), Rejection> {
    let n = totals.len();
    let (mut depth, mut paths) = (vec![usize::MAX; n], vec![PathCount::ZERO; n]);
    (depth[source], paths[source]) = (0, PathCount::ONE);
    let mut order = vec![source];
    let mut next = 0;
    while next < order.len() {
        let u = order[next];
        next += 1;
        for &v in out.list(vertex(u))?.0 {
            let v = v as usize;
            if depth[v] == usize::MAX {
                depth[v] = depth[u] + 1;
                order.push(v);
            }
            if depth[v] == depth[u] + 1 {
                paths[v] = paths[v].plus(paths[u]);
            }
        }
    }
    let mut dependency = vec![0.0; n];
    for &u in order[1..].iter().rev() {
        for &v in out.list(vertex(u))?.0 {
            let v = v as usize;
            if depth[v] == depth[u] + 1 {
                dependency[u] += paths[u].part_of(paths[v]) * (1.0 + dependency[v]);
            }
        }
        totals[u] += dependency[u];
    }
    Ok(())
}
