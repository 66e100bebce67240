//! Numbers as decimal text, fast.

use std::io::Write;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};

/// Appends an integer.
pub(super) fn push_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends an integer with its sign.
pub(super) fn push_i64(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a number so that reading it gives the same number: the shortest such text.
pub fn push_f64(out: &mut Vec<u8>, value: f64) {
    // An integral number of up to 15 digits is written as one, which is the shortest.
    if value.fract() == 0.0 && value.abs() < 1e15 && !(value == 0.0 && value.is_sign_negative()) {
        return push_i64(out, value as i64);
    }
    // Very large and very small numbers would need hundreds of digits. From 2^53 on, the shortest digits of a
    // whole number with zeros behind them are another integer; a reader takes what has an exponent for a
    // float.
    let is_plain = value.abs() >= 1e-5 && value.abs() < 9_007_199_254_740_992.0;
    if is_plain && !may_be_between(value) {
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
        return;
    }
    let written =
        if is_plain || !value.is_finite() { write!(out, "{value}") } else { write!(out, "{value:e}") };
    written.expect("writing to a vector does not fail");
}

/// Whether a number may lie in the middle between two shortest texts that both give it back, of which the
/// standard library takes the upper, and the crate `zmij` the one that ends with an even digit. Its own
/// decimal text, one digit longer, then has at most 18 digits and ends with a 5, so the number is a multiple
/// of 2^-25, as 5^26 has 19 digits.
fn may_be_between(value: f64) -> bool {
    (value * f64::from(1 << 25)).fract() == 0.0
}

/// Appends a number so that a reader takes it for a float, also if it is whole: `2.0`, not `2`.
fn push_float(out: &mut Vec<u8>, value: f64) {
    let start = out.len();
    push_f64(out, value);
    if value.is_finite() && out[start..].iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') {
        out.extend_from_slice(b".0");
    }
}

/// Appends a number of a column of `Int64`, `UInt64` or `Float64`, for a reader that tells types from values.
pub(super) fn push_typed(out: &mut Vec<u8>, values: &ArrayRef, row: usize) {
    match values.as_primitive_opt::<Float64Type>() {
        Some(values) => push_float(out, values.value(row)),
        None => push_number(out, values, row),
    }
}

/// Appends a number of a column of `Int64`, `UInt64` or `Float64`.
pub(super) fn push_number(out: &mut Vec<u8>, values: &ArrayRef, row: usize) {
    match (values.as_primitive_opt::<Int64Type>(), values.as_primitive_opt::<UInt64Type>()) {
        (Some(values), _) => push_i64(out, values.value(row)),
        (_, Some(values)) => push_u64(out, values.value(row)),
        _ => push_f64(out, values.as_primitive::<Float64Type>().value(row)),
    }
}

#[cfg(test)]
mod tests {
    use esker_graph::random::Random;

    use super::*;

    #[test]
    fn numbers_read_back() {
        let written = |push: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            push(&mut out);
            String::from_utf8(out).unwrap()
        };
        let mut value = 0_u64;
        for step in 0..64 {
            for value in [value, value.wrapping_add(step), u64::MAX >> step, 10_u64.pow(step as u32 % 20)] {
                assert_eq!(written(&|out| push_u64(out, value)), value.to_string());
                assert_eq!(written(&|out| push_i64(out, value as i64)), (value as i64).to_string());
                let float = f64::from_bits(value.rotate_left(step as u32));
                if !float.is_nan() {
                    let back: f64 = written(&|out| push_f64(out, float)).parse().unwrap();
                    assert_eq!(back.to_bits(), float.to_bits());
                }
            }
            value = value.wrapping_mul(7).wrapping_add(1 << step);
        }
        assert_eq!(written(&|out| push_f64(out, 2.0)), "2");
        for (value, text) in
            [(2.0, "2.0"), (-0.0, "-0e0"), (0.5, "0.5"), (1e15, "1000000000000000.0"), (1e300, "1e300")]
        {
            assert_eq!(written(&|out| push_float(out, value)), text);
        }
        assert_eq!(written(&|out| push_float(out, f64::INFINITY)), "inf");
        assert_eq!(written(&|out| push_f64(out, 0.1)), "0.1");
        assert_eq!(written(&|out| push_f64(out, 1e300)), "1e300");
        assert_eq!(written(&|out| push_f64(out, 36_028_797_018_963_968.0)), "3.602879701896397e16");
        assert_eq!(written(&|out| push_f64(out, 9_007_199_254_740_991.0)), "9007199254740991");
        // In the middle between ...062 and ...063.
        assert_eq!(written(&|out| push_f64(out, 30_822_850_697_076.062_5)), "30822850697076.063");
        // The text of the standard library, from which that of the crate does not differ.
        let mut random = Random::new(1);
        for _ in 0..100_000 {
            let bits = f64::to_bits(1e-5) + random.below(f64::to_bits(1e16) - f64::to_bits(1e-5));
            let fraction = random.below(1 << 50) as f64 / (1_u64 << random.below(50)) as f64;
            for value in [f64::from_bits(bits), -fraction, fraction / 1e4] {
                let text = written(&|out| push_f64(out, value));
                if value.abs() >= 1e-5 && value.abs() < 9_007_199_254_740_992.0 {
                    assert_eq!(text, value.to_string());
                } else {
                    assert_eq!(text.parse(), Ok(value));
                }
            }
        }
    }
}
