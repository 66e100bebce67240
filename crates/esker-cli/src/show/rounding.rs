//! `--round`: the digits after the point of numbers on standard output.

use std::collections::HashSet;
use std::sync::OnceLock;

use clap::Args;
use serde_json::{Number, Value};

/// The digits of `--round`, once it was applied.
static DIGITS: OnceLock<usize> = OnceLock::new();
/// From here on numbers are whole, and are printed with an exponent.
const WHOLE_FROM: f64 = 1e21;

/// `--round`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RoundArg {
    /// Print numbers with N digits after the point; files, and what --exec gets, have all digits. Numbers
    /// from 1e21 on are whole and stay as they are, and bins keep the digits that tell them apart
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

/// The names of the bins of a histogram, their numbers rounded, unless two bins would have one name then.
pub(crate) fn rounded_bins(names: Vec<String>) -> Vec<String> {
    match DIGITS.get() {
        Some(&digits) => bins_rounded_to(digits, names),
        None => names,
    }
}

fn bins_rounded_to(digits: usize, names: Vec<String>) -> Vec<String> {
    let number = |text: &str| match text.parse::<f64>() {
        Ok(number) if text.contains(['.', 'e']) => fixed(digits, number).unwrap_or_else(|| text.to_owned()),
        _ => text.to_owned(),
    };
    let name = |name: &String| {
        let ends: Vec<String> = name.split(" to ").map(number).collect();
        // A bin between two equal numbers would hold nothing.
        let is_empty = ends.len() == 2 && ends[0] == ends[1];
        (!is_empty).then(|| ends.join(" to "))
    };
    let rounded: Option<Vec<String>> = names.iter().map(name).collect();
    let are_apart = |rounded: &Vec<String>| rounded.iter().collect::<HashSet<_>>().len() == names.len();
    rounded.filter(are_apart).unwrap_or(names)
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
            (0, 1_234_567_890_123_456.8, Some("1234567890123457")),
            (1, 1_234_567_890_123_456.8, Some("1234567890123456.8")),
            (2, -1e15, Some("-1000000000000000.00")),
            (2, 1e20, Some("100000000000000000000.00")),
            (2, 1e300, None),
            (2, f64::NAN, None),
        ];
        for (digits, number, expected) in table {
            assert_eq!(fixed(digits, number).as_deref(), expected, "{number}");
        }
        let bins = |names: [&str; 2], expected: [&str; 2]| {
            let expected = expected.map(str::to_owned).to_vec();
            assert_eq!(bins_rounded_to(2, names.map(str::to_owned).to_vec()), expected);
        };
        bins(["0.3333", "0.5"], ["0.33", "0.50"]);
        bins(["0.3333", "0.3334"], ["0.3333", "0.3334"]);
        bins(["1", "2 to 3"], ["1", "2 to 3"]);
        bins(["0.000e0 to 1.234e0", "1.234e0 to 2.468e0"], ["0.00 to 1.23", "1.23 to 2.47"]);
        bins(["0.000e0 to 1.234e-3", "1.234e-3 to 1.0e0"], ["0.000e0 to 1.234e-3", "1.234e-3 to 1.0e0"]);
        let value = json!({ "a": [1, 0.127, "0.127"], "b": 1e300, "c": null });
        assert_eq!(rounded_to(2, value), json!({ "a": [1, 0.13, "0.127"], "b": 1e300, "c": null }));
    }
}
