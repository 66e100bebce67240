//! How scores of betweenness are normalized.

/// How scores are normalized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// The sum of dependencies over the sources used; an undirected pair counts from both ends.
    Sum,
    /// The number of pairs whose paths pass through the vertex: each undirected pair counts once, and sampled
    /// sources are scaled up to all vertices. NetworkX's `normalized=False`.
    Pairs,
    /// `Pairs` as a fraction of all pairs of other vertices. NetworkX's `normalized=True`.
    Fraction,
}

/// The factor that normalizes sums of dependencies over `sources` sources in a graph of `n` vertices.
pub fn factor(n: usize, directed: bool, sources: usize, scale: Scale) -> f64 {
    let all = n as f64 / sources.max(1) as f64;
    match scale {
        Scale::Sum => 1.0,
        Scale::Pairs => all * if directed { 1.0 } else { 0.5 },
        Scale::Fraction if n > 2 => all / ((n - 1) as f64 * (n - 2) as f64),
        Scale::Fraction => all,
    }
}
