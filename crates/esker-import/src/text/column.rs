//! A column of numbers from text, in which no integer is rounded.
//!
//! Integers become floats where a column has fractions. An integer beyond 2^53 that no float equals cannot;
//! where it meets a fraction, the column has no type.

use esker_format::value::decimal::Number;
use esker_graph::{Message, Setting, message};

use crate::read::source::Numbers;

/// The numbers of one property in one block.
#[derive(Debug)]
pub(crate) struct NumberColumn {
    /// The numbers so far.
    pub(crate) numbers: Numbers,
    /// An integer among them that no float equals. Then all are integers.
    wide: Option<i64>,
}

/// Two numbers that no type holds exactly: an integer beyond 2^53, and a fraction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mixed {
    integer: i64,
    /// The fraction, if it is the one that came second.
    fraction: Option<f64>,
}

impl Mixed {
    /// What is wrong with the column called `name`, and what to do.
    pub(crate) fn reason(self, name: &str) -> Message {
        let Self { integer, fraction } = self;
        match fraction {
            None => beside_fractions(name, integer, "lines before it"),
            Some(fraction) => with_remedy(
                &format!(
                    "{name} is {fraction:?}, but a line before it has {integer}, an integer beyond 2^53"
                ),
                name,
                integer,
            ),
        }
    }
}

/// What is wrong with an integer that no float equals in a column that has fractions in `others`, and what to
/// do.
pub(crate) fn beside_fractions(name: &str, integer: i64, others: &str) -> Message {
    let found = format!("{name} is {integer}, an integer beyond 2^53, but {others} have fractions");
    with_remedy(&found, name, integer)
}

fn with_remedy(found: &str, name: &str, integer: i64) -> Message {
    message![
        format!("{found}, and no number type holds both exactly: to round such integers, "),
        format!("write them with an exponent, like {integer:e}, or declare the column with "),
        Setting::Schema.to_type(name, "f64"),
        format!("; to keep them, declare {name}:text"),
    ]
}

impl NumberColumn {
    pub(crate) fn with_capacity(len: usize) -> Self {
        Self { numbers: Numbers::Int(Vec::with_capacity(len)), wide: None }
    }

    /// An integer in the column that no float equals.
    pub(crate) fn wide(&self) -> Option<i64> {
        self.wide
    }

    /// Appends a number; the column turns into floats at the first that is no integer.
    ///
    /// # Errors
    /// If no type holds this number and those before it.
    #[inline]
    pub(crate) fn push(&mut self, number: Number) -> Result<(), Mixed> {
        match (&mut self.numbers, number) {
            (Numbers::Int(values), Number::Int(value)) => {
                if !is_float(value) {
                    self.wide = Some(value);
                }
                values.push(value);
            }
            (Numbers::Float(values), Number::Float(value)) => values.push(value),
            (Numbers::Float(values), Number::Int(value)) if is_float(value) => values.push(value as f64),
            _ => return self.push_other(number),
        }
        Ok(())
    }

    /// Appends a number of at most 15 digits, unless it would change the type of the column: then returns
    /// `false`.
    #[inline(always)]
    pub(crate) fn push_short(&mut self, number: Number) -> bool {
        match (&mut self.numbers, number) {
            (Numbers::Int(values), Number::Int(value)) => values.push(value),
            (Numbers::Float(values), Number::Int(value)) => values.push(value as f64),
            (Numbers::Float(values), Number::Float(value)) => values.push(value),
            _ => return false,
        }
        true
    }

    /// A float among integers, or an integer among floats that is none itself.
    #[cold]
    fn push_other(&mut self, number: Number) -> Result<(), Mixed> {
        match (&mut self.numbers, number) {
            (Numbers::Int(values), Number::Float(value)) => match (self.wide, whole(value)) {
                (Some(_), Some(whole)) => values.push(whole),
                (Some(integer), None) => return Err(Mixed { integer, fraction: Some(value) }),
                (None, _) => {
                    let mut floats: Vec<f64> = Vec::with_capacity(values.capacity());
                    floats.extend(values.iter().map(|&value| value as f64));
                    floats.push(value);
                    self.numbers = Numbers::Float(floats);
                }
            },
            (Numbers::Float(values), Number::Int(value)) => {
                let wholes: Option<Vec<i64>> = values.iter().map(|&value| whole(value)).collect();
                let mut wholes = wholes.ok_or(Mixed { integer: value, fraction: None })?;
                wholes.push(value);
                self.numbers = Numbers::Int(wholes);
                self.wide = Some(value);
            }
            (Numbers::Int(values), Number::Int(value)) => values.push(value),
            (Numbers::Float(values), Number::Float(value)) => values.push(value),
            (Numbers::Unsigned(_), _) => {}
        }
        Ok(())
    }
}

/// Whether a float equals an integer.
fn is_float(value: i64) -> bool {
    value.unsigned_abs() <= 1 << 53 || value as f64 as i128 == i128::from(value)
}

/// The integer that equals a float; negative zero has none.
fn whole(value: f64) -> Option<i64> {
    let whole = value as i64;
    let is_whole = whole as f64 == value && value < 9_223_372_036_854_775_808.0;
    (is_whole && (whole != 0 || value.is_sign_positive())).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: i64 = (1 << 53) + 1;

    #[track_caller]
    fn check(numbers: &[Number], expected: Result<&str, Mixed>) {
        let mut column = NumberColumn::with_capacity(0);
        let pushed = numbers.iter().try_for_each(|&number| column.push(number));
        assert_eq!(pushed.map(|()| format!("{:?}", column.numbers)), expected.map(str::to_owned));
    }

    #[test]
    fn an_integer_that_no_float_equals_is_never_made_a_float() {
        use Number::{Float, Int};
        check(&[Int(1), Float(0.5), Int(2)], Ok("Float([1.0, 0.5, 2.0])"));
        check(&[Int(WIDE), Int(1)], Ok("Int([9007199254740993, 1])"));
        check(&[Float(0.5), Int(1 << 60)], Ok("Float([0.5, 1.152921504606847e18])"));
        check(&[Float(0.5), Int(WIDE)], Err(Mixed { integer: WIDE, fraction: None }));
        check(&[Int(WIDE), Int(3), Float(0.5)], Err(Mixed { integer: WIDE, fraction: Some(0.5) }));
        check(&[Int(i64::MAX), Float(-0.0)], Err(Mixed { integer: i64::MAX, fraction: Some(-0.0) }));
        // Floats that are whole are integers where one of them has to be.
        check(&[Float(2.0), Int(WIDE), Float(-3.0)], Ok("Int([2, 9007199254740993, -3])"));
        check(&[Int(WIDE), Float(1e300)], Err(Mixed { integer: WIDE, fraction: Some(1e300) }));
    }
}
