//! Numbers as decimal text: the same as the standard library writes, by faster crates.

use std::io::Write;

/// Appends an integer.
pub fn push_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends an integer with its sign.
pub fn push_i64(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a float without an exponent: the shortest such text that gives the same float back, or what `{}`
/// writes of one that is not finite. Whole floats have no point.
pub fn push_decimal(out: &mut Vec<u8>, value: f64) {
    if value.fract() == 0.0 && value.abs() < 1e15 && !(value == 0.0 && value.is_sign_negative()) {
        push_i64(out, value as i64);
    } else if (1e-5..1e16).contains(&value.abs()) && !may_be_between(value) {
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    } else {
        write!(out, "{value}").expect("writing to a vector does not fail");
    }
}

/// Whether a float may lie in the middle between two shortest texts that both give it back. Of these, the
/// standard library takes the upper, and the crate `zmij` the one that ends with an even digit.
///
/// The exact text of such a float is one digit longer, so it has at most 18 digits. A float with `k` binary
/// places has `k` decimal ones, and its digits are a multiple of `5^k`. As 5^26 has 19 digits, `k` is at most
/// 25.
fn may_be_between(value: f64) -> bool {
    (value * f64::from(1 << 25)).fract() == 0.0
}

#[cfg(test)]
mod tests {
    use esker_graph::random::Random;

    use super::*;

    fn written(push: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_are_those_of_the_standard_library() {
        for value in [0, 1, 9, 10, 99, 100, 12_345, u64::MAX] {
            assert_eq!(written(|out| push_u64(out, value)), value.to_string());
            assert_eq!(written(|out| push_i64(out, value as i64)), (value as i64).to_string());
        }
        let mut floats = vec![0.0, -0.0, 2.0, -7.0, 0.1, 1e-5, 9.9e-6, 1e15, 1e16, f64::INFINITY, f64::NAN];
        floats.extend([9_007_199_254_740_991.0, 9_007_199_254_740_994.0, f64::MIN, 5e-324]);
        // In the middle between ...062 and ...063.
        floats.push(30_822_850_697_076.063);
        let mut random = Random::new(1);
        for _ in 0..100_000 {
            let bits = f64::to_bits(1e-6) + random.below(f64::to_bits(1e17) - f64::to_bits(1e-6));
            let fraction = random.below(1 << 50) as f64 / (1_u64 << random.below(50)) as f64;
            floats.extend([f64::from_bits(bits), -fraction, fraction / 1e4, random.unit()]);
        }
        for value in floats {
            assert_eq!(written(|out| push_decimal(out, value)), value.to_string());
        }
    }
}
