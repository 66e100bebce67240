//! Numbers as decimal text.

use std::io::Write;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use esker_format::value::digits::{push_decimal, push_i64, push_u64};

/// Appends a number so that reading it gives the same number: the shortest such text.
pub fn push_f64(out: &mut Vec<u8>, value: f64) {
    // Very large and very small numbers would need hundreds of digits. From 2^53 on, the shortest digits of a
    // whole number with zeros behind them are another integer; a reader takes what has an exponent for a
    // float.
    let has_exponent = match value.abs() {
        0.0 => value.is_sign_negative(),
        size => size.is_finite() && !(1e-5..9_007_199_254_740_992.0).contains(&size),
    };
    match has_exponent {
        true => write!(out, "{value:e}").expect("writing to a vector does not fail"),
        false => push_decimal(out, value),
    }
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

/// The bits of a number of such a column.
pub(super) fn bits_of(values: &ArrayRef, row: usize) -> u64 {
    match (values.as_primitive_opt::<Int64Type>(), values.as_primitive_opt::<UInt64Type>()) {
        (Some(values), _) => values.value(row).cast_unsigned(),
        (_, Some(values)) => values.value(row),
        _ => values.as_primitive::<Float64Type>().value(row).to_bits(),
    }
}

#[cfg(test)]
mod tests {
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
    }
}
