//! `--round`: the digits after the point of numbers on standard output.

use std::sync::OnceLock;

use clap::Args;
use serde_json::{Number, Value};

/// The digits of `--round`, once it was applied.
static DIGITS: OnceLock<usize> = OnceLock::new();
/// Greater numbers have no digits after the point to leave out.
const WHOLE_FROM: f64 = 1e15;

/// `--round`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RoundArg {
    /// Print numbers below 1e15 with N digits after the point; files, and what --exec gets, have all digits
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(..=15))]
    round: Option<u8>,
}

impl RoundArg {
    /// Rounds all that is printed from now on, if that was asked for.
    pub(crate) fn apply(&self) {
        if let Some(digits) = self.round {
            DIGITS.get_or_init(|| digits.into());
        }
    }

    pub(crate) fn is_given(&self) -> bool {
        self.round.is_some()
    }
}

/// A value as it is printed: numbers in it are rounded. Integers are not numbers with a point.
pub(crate) fn rounded(value: Value) -> Value {
    match DIGITS.get() {
        Some(&digits) => rounded_to(digits, value),
        None => value,
    }
}

/// A number as text, with zeros up to the last digit.
pub(crate) fn number_text(number: &Number) -> String {
    let digits = DIGITS.get().filter(|_| number.is_f64());
    let fixed = digits.zip(number.as_f64()).and_then(|(&digits, number)| fixed(digits, number));
    fixed.unwrap_or_else(|| number.to_string())
}

/// A number with the digits that were asked for; `None` if none were, or it is too large for digits.
pub(crate) fn float_text(number: f64) -> Option<String> {
    fixed(*DIGITS.get()?, number)
}

fn rounded_to(digits: usize, value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let text = number.as_f64().and_then(|number| fixed(digits, number));
            text.and_then(|text| text.parse::<f64>().ok()).map_or(Value::Number(number), Value::from)
        }
        Value::Array(items) => items.into_iter().map(|item| rounded_to(digits, item)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, item)| (name, rounded_to(digits, item))).collect())
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

fn fixed(digits: usize, number: f64) -> Option<String> {
    if !number.is_finite() || number.abs() >= WHOLE_FROM {
        return None;
    }
    let text = format!("{number:.digits$}");
    // Nothing but zeros has no sign.
    let is_zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    Some(if is_zero { text.trim_start_matches('-').to_owned() } else { text })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_with_a_point_are_rounded_and_others_stay() {
        let table = [
            (2, 0.005_1, Some("0.01")),
            (2, -0.001, Some("0.00")),
            (0, 2.5, Some("2")),
            (3, 1.0, Some("1.000")),
            (2, 1e300, None),
            (2, f64::NAN, None),
        ];
        for (digits, number, expected) in table {
            assert_eq!(fixed(digits, number).as_deref(), expected, "{number}");
        }
        let value = json!({ "a": [1, 0.127, "0.127"], "b": 1e300, "c": null });
        assert_eq!(rounded_to(2, value), json!({ "a": [1, 0.13, "0.127"], "b": 1e300, "c": null }));
    }
}
