//! The statistics required by the Graph500 specification.

/// Quartiles, mean and standard deviation of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Statistics {
    /// The smallest value.
    pub min: f64,
    /// The first quartile.
    pub first_quartile: f64,
    /// The median.
    pub median: f64,
    /// The third quartile.
    pub third_quartile: f64,
    /// The largest value.
    pub max: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The sample standard deviation, with divisor `size - 1`.
    pub deviation: f64,
}

impl Statistics {
    /// The statistics of a sample; all zero if it is empty. Quartiles are interpolated linearly between
    /// values.
    pub fn of(sample: &[f64]) -> Self {
        let mut sorted = sample.to_vec();
        sorted.sort_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else { return Self::default() };
        let at = |part: f64| {
            let position = part * last as f64;
            let (low, high) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
            low + (high - low) * position.fract()
        };
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        let squares = sorted.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        Self {
            min: sorted[0],
            first_quartile: at(0.25),
            median: at(0.5),
            third_quartile: at(0.75),
            max: sorted[last],
            mean,
            deviation: if last == 0 { 0.0 } else { (squares / last as f64).sqrt() },
        }
    }
}

/// The harmonic mean of rates and its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Harmonic {
    /// The harmonic mean.
    pub mean: f64,
    /// Its standard error, to first order in the standard error of the mean of the inverses.
    pub deviation: f64,
}

impl Harmonic {
    /// The harmonic mean of a sample of rates; zero if it is empty.
    pub fn of(sample: &[f64]) -> Self {
        let Some(last) = sample.len().checked_sub(1) else { return Self::default() };
        let inverses: Vec<f64> = sample.iter().map(|rate| 1.0 / rate).collect();
        let inverse = inverses.iter().sum::<f64>() / inverses.len() as f64;
        let squares = inverses.iter().map(|value| (value - inverse).powi(2)).sum::<f64>();
        let mean = 1.0 / inverse;
        let deviation = if last == 0 { 0.0 } else { squares.sqrt() / last as f64 * mean * mean };
        Self { mean, deviation }
    }
}
