//! Weights of edges, and their sums: exact for whole numbers.

use esker::differences::value_json;
use esker::local::PathLength;
use esker::store::property::PropertyValue;
use serde_json::{Value, json};

/// A value as a number, if it is one.
pub(crate) fn amount_of(value: &PropertyValue<'_>) -> Option<PathLength> {
    let Value::Number(number) = value_json(value) else { return None };
    let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    let amount = whole.map(PathLength::Whole).or_else(|| number.as_f64().map(PathLength::Real));
    amount.filter(|_| value.is_number())
}

/// A sum with one more amount.
pub(crate) fn with_amount(sum: Option<PathLength>, amount: Option<PathLength>) -> Option<PathLength> {
    match (sum, amount) {
        (Some(sum), Some(amount)) => Some(sum + amount),
        (sum, amount) => sum.or(amount),
    }
}

/// An amount in JSON.
pub(crate) fn amount_json(amount: PathLength) -> Value {
    match amount {
        PathLength::Whole(whole) => whole_json(whole),
        PathLength::Real(real) => json!(real),
    }
}

/// A whole number in JSON; one that does not fit in 64 bits as a text, which is exact.
pub(crate) fn whole_json(whole: i128) -> Value {
    match (i64::try_from(whole), u64::try_from(whole)) {
        (Ok(whole), _) => json!(whole),
        (_, Ok(whole)) => json!(whole),
        _ => json!(whole.to_string()),
    }
}
