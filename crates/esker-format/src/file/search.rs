//! Binary search in sorted columns.

use crate::error::Result;

/// The first index of `0..len` for which `less` is false, or `len`; `less` must be true before it and false
/// from it on. Searches from `guess` in doubling steps, so a good guess touches few blocks.
///
/// # Errors
/// Those of `less`.
pub fn lower_bound(len: usize, guess: usize, mut less: impl FnMut(usize) -> Result<bool>) -> Result<usize> {
    let guess = guess.min(len);
    let (mut low, mut high, mut step) = (guess, guess, 1);
    while low > 0 && !less(low - 1)? {
        high = low - 1;
        low = high.saturating_sub(step);
        step *= 2;
    }
    if high == guess {
        step = 1;
        while high < len && less(high)? {
            low = high + 1;
            high = (low + step).min(len);
            step *= 2;
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if less(middle)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_guess_finds_the_bound_in_logarithmic_steps() {
        for len in 0..40 {
            for bound in 0..=len {
                for guess in 0..45 {
                    let mut calls = 0;
                    let found = lower_bound(len, guess, |at| {
                        calls += 1;
                        assert!(at < len);
                        Ok(at < bound)
                    });
                    assert_eq!(found.unwrap(), bound);
                    let distance = guess.min(len).abs_diff(bound) + 2;
                    assert!(calls <= 2 * distance.ilog2() + 4, "{calls} calls for a distance of {distance}");
                }
            }
        }
    }
}
