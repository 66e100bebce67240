//! The figures that the Graph500 specification asks for.

/// Of a sample: its quartiles, mean and deviation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Statistics {
    /// The least.
    pub min: f64,
    /// A quarter of the sample is no more than this.
    pub first_quartile: f64,
    /// Half of it is.
    pub median: f64,
    /// Three quarters are.
    pub third_quartile: f64,
    /// The largest.
    pub max: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard deviation, of a sample: divided by one less than its size.
    pub deviation: f64,
}

impl Statistics {
    /// Of a sample; all zero if it is empty. Between two values of the sample, quartiles are interpolated.
    pub fn of(sample: &[f64]) -> Self {
        let mut sorted = sample.to_vec();
        sorted.sort_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else { return Self::default() };
        let at = |part: f64| {
            let place = part * last as f64;
            let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            low + (high - low) * place.fract()
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

/// The harmonic mean of rates, and its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Harmonic {
    /// The mean: the inverse of the mean of the inverses.
    pub mean: f64,
    /// Its standard error, to first order in that of the mean of the inverses.
    pub deviation: f64,
}

impl Harmonic {
    /// Of a sample of rates; zero if it is empty.
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
