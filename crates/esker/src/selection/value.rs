//! Whether a value of a property is as a condition wants it.

use std::cmp::Ordering;

use esker_store::format::value::decimal;
use esker_store::format::{ElementType, PropertyRecord};
use esker_store::property::PropertyValue;

use super::text::{Asked, DIFFERENT, EQUAL, Literal};

/// A question about a value, in the type of its property.
#[derive(Debug, Clone)]
pub(super) enum ValueTest {
    /// Whether there is none.
    Null,
    /// Whether it compares so with one of these.
    Values(Vec<ValueComparison>),
    /// Whether it is one of some numbers.
    Numbers(WantedNumbers),
    /// Of a text.
    Texts(TextTest),
}

/// The orders of a value and a wanted one that are asked for.
#[derive(Debug, Clone)]
pub(super) struct ValueComparison {
    met: &'static [Ordering],
    wanted: WantedValue,
}

/// A question about a text, whose bytes are compared.
#[derive(Debug, Clone)]
pub(super) enum TextTest {
    Order(&'static [Ordering], String),
    /// Ascending.
    OneOf(Vec<String>),
    Like(TextPattern),
}

/// A wanted value of the type of a property.
#[derive(Debug, Clone)]
enum WantedValue {
    Whole(i128),
    /// Between this integer and the next, for integers.
    Above(i128),
    Real(f64),
    Logical(PropertyValue<'static>),
}

#[derive(Debug, Clone, Copy)]
enum NumberValue {
    Whole(i128),
    Real(f64),
}

impl ValueTest {
    /// The question in the type of a property.
    ///
    /// # Errors
    /// Why values of the property cannot be compared so.
    pub(super) fn new(asked: &Asked, property: &PropertyRecord) -> Result<Self, String> {
        let one = |met, literal: &Literal| {
            Ok(ValueComparison { met, wanted: WantedValue::new(literal, met, property)? })
        };
        match asked {
            Asked::Null => Ok(Self::Null),
            _ if property.logical.is_vector() => {
                Err("it holds vectors, of which only `is null` asks".to_owned())
            }
            asked if property.is_text() => Ok(Self::Texts(TextTest::new(asked))),
            Asked::Order(met, literal) => Ok(Self::Values(vec![one(*met, literal)?])),
            Asked::OneOf(literals) => {
                let wanted = literals.iter().map(|literal| one(EQUAL, literal));
                let wanted = wanted.collect::<Result<Vec<_>, String>>()?;
                Ok(WantedNumbers::of(&wanted).map_or(Self::Values(wanted), Self::Numbers))
            }
            Asked::Like(_) => Err("it holds no texts, which alone like compares".to_owned()),
        }
    }

    /// Whether a value meets it, [`PropertyValue::Missing`] too. `None`: a missing value is compared.
    pub(super) fn is_met(&self, value: &PropertyValue<'_>) -> Option<bool> {
        let is_missing = matches!(value, PropertyValue::Missing);
        match (self, value) {
            (Self::Null, _) => Some(is_missing),
            _ if is_missing => None,
            (Self::Texts(test), PropertyValue::Text(text)) => Some(test.is_met(text)),
            (Self::Texts(_), _) => Some(false),
            (Self::Values(several), value) => Some(several.iter().any(|one| one.is_met(value))),
            (Self::Numbers(wanted), value) => Some(wanted.has(value)),
        }
    }
}

/// Numbers that are wanted, ascending: integers for properties of integers, floats for those of floats.
#[derive(Debug, Clone)]
pub(super) struct WantedNumbers {
    whole: Vec<i128>,
    real: Vec<f64>,
}

impl WantedNumbers {
    /// `None` if some are no numbers.
    fn of(wanted: &[ValueComparison]) -> Option<Self> {
        let (mut whole, mut real) = (Vec::new(), Vec::new());
        for one in wanted {
            match one.wanted {
                WantedValue::Whole(value) => {
                    whole.push(value);
                    real.push(value as f64);
                }
                // Zero has two signs and is one number.
                WantedValue::Real(value) => real.push(value + 0.0),
                WantedValue::Above(_) | WantedValue::Logical(_) => return None,
            }
        }
        whole.sort_unstable();
        real.sort_unstable_by(f64::total_cmp);
        Some(Self { whole, real })
    }

    fn has(&self, value: &PropertyValue<'_>) -> bool {
        match number_of(value) {
            Some(NumberValue::Whole(value)) => self.whole.binary_search(&value).is_ok(),
            Some(NumberValue::Real(value)) => {
                self.real.binary_search_by(|own| own.total_cmp(&(value + 0.0))).is_ok()
            }
            None => false,
        }
    }
}

impl ValueComparison {
    fn is_met(&self, value: &PropertyValue<'_>) -> bool {
        let order = match &self.wanted {
            WantedValue::Logical(wanted) => value.partial_cmp(wanted),
            WantedValue::Whole(wanted) => match number_of(value) {
                Some(NumberValue::Whole(value)) => Some(value.cmp(wanted)),
                Some(NumberValue::Real(value)) => value.partial_cmp(&(*wanted as f64)),
                None => None,
            },
            WantedValue::Above(floor) => match number_of(value) {
                Some(NumberValue::Whole(value)) if value <= *floor => Some(Ordering::Less),
                Some(_) => Some(Ordering::Greater),
                None => None,
            },
            WantedValue::Real(wanted) => match number_of(value) {
                Some(NumberValue::Real(value)) => value.partial_cmp(wanted),
                _ => None,
            },
        };
        order.is_some_and(|order| self.met.contains(&order))
    }
}

impl TextTest {
    pub(super) fn new(asked: &Asked) -> Self {
        match asked {
            Asked::Order(met, wanted) => Self::Order(met, wanted.text.clone()),
            Asked::OneOf(wanted) => {
                let mut wanted: Vec<String> = wanted.iter().map(|one| one.text.clone()).collect();
                wanted.sort_unstable();
                wanted.dedup();
                Self::OneOf(wanted)
            }
            Asked::Like(pattern) => Self::Like(TextPattern::new(&pattern.text)),
            Asked::Null => Self::OneOf(Vec::new()),
        }
    }

    pub(super) fn is_met(&self, text: &[u8]) -> bool {
        match self {
            Self::Order(met, wanted) => met.contains(&text.cmp(wanted.as_bytes())),
            Self::OneOf(wanted) => wanted.binary_search_by(|one| one.as_bytes().cmp(text)).is_ok(),
            Self::Like(pattern) => pattern.is_met(text),
        }
    }

    /// The texts of which values are to be one, or none, if that is the question.
    pub(super) fn wanted(&self) -> Option<&[String]> {
        match self {
            Self::Order(met, wanted) if *met == EQUAL || *met == DIFFERENT => {
                Some(std::slice::from_ref(wanted))
            }
            Self::OneOf(wanted) => Some(wanted),
            Self::Order(..) | Self::Like(_) => None,
        }
    }

    /// Whether values are to be one of [`TextTest::wanted`], not another.
    pub(super) fn is_equality(&self) -> bool {
        !matches!(self, Self::Order(met, _) if *met != EQUAL)
    }
}

/// A pattern of `like`: `%` stands for any bytes, `_` for one character.
#[derive(Debug, Clone)]
pub(super) struct TextPattern {
    signs: Vec<char>,
}

impl TextPattern {
    fn new(text: &str) -> Self {
        Self { signs: text.chars().collect() }
    }

    /// The only text that it fits, if it has no sign that stands for others.
    pub(super) fn only_text(&self) -> Option<String> {
        let stands_for_others = |sign: &char| ['%', '_'].contains(sign);
        (!self.signs.iter().any(stands_for_others)).then(|| self.signs.iter().collect())
    }

    /// Goes back to the last `%` where the rest does not fit, which takes time in proportion to the product
    /// of both lengths.
    fn is_met(&self, text: &[u8]) -> bool {
        let text: Vec<char> = String::from_utf8_lossy(text).chars().collect();
        let (mut sign, mut at) = (0, 0);
        let mut back: Option<(usize, usize)> = None;
        while at < text.len() {
            match self.signs.get(sign) {
                Some('%') => {
                    back = Some((sign + 1, at));
                    sign += 1;
                }
                Some(wanted) if *wanted == '_' || *wanted == text[at] => (sign, at) = (sign + 1, at + 1),
                _ => match &mut back {
                    Some((behind, from)) => {
                        *from += 1;
                        (sign, at) = (*behind, *from);
                    }
                    None => return false,
                },
            }
        }
        self.signs[sign..].iter().all(|sign| *sign == '%')
    }
}

impl WantedValue {
    fn new(literal: &Literal, met: &[Ordering], property: &PropertyRecord) -> Result<Self, String> {
        let text = &literal.text;
        if !property.is_number() {
            let value = PropertyValue::parse_logical(&property.logical, text);
            return value.map(Self::Logical).map_err(|reason| format!("{text:?} {reason}"));
        }
        if literal.is_quoted {
            return Err(format!("it holds numbers, and '{text}' in quotes is a text"));
        }
        Self::number(text, met, property)
    }

    /// The wanted number, if values of a property can be compared with it.
    fn number(text: &str, met: &[Ordering], property: &PropertyRecord) -> Result<Self, String> {
        let read = decimal::unsigned(text.as_bytes()).map(|value| Self::Whole(value.into()));
        let wanted = read.map_or_else(
            || match decimal::number(text.as_bytes()) {
                Ok(decimal::Number::Int(value)) => Ok(Self::Whole(value.into())),
                Ok(decimal::Number::Float(value)) => Ok(Self::Real(value)),
                Err(why) => Err(format!("it holds numbers, and {text:?} {}", why.reason())),
            },
            Ok,
        )?;
        match (wanted, property.element) {
            // What a property of 32 bits holds is compared with what it would hold.
            (Self::Real(value), ElementType::F32) => Ok(Self::Real(f64::from(value as f32))),
            (Self::Real(value), ElementType::F64) => Ok(Self::Real(value)),
            (Self::Real(value), _) => {
                // Integers are compared without rounding. Beyond the range of `i128` its end is beyond all
                // values of 64 bits.
                let rounded = (value.floor() as i128, value.fract() != 0.0);
                match floor_of(text).unwrap_or(rounded) {
                    (whole, false) => Ok(Self::Whole(whole)),
                    (_, true) if met == EQUAL || met == DIFFERENT => {
                        Err(format!("it holds integers, and {text} is none"))
                    }
                    (floor, true) => Ok(Self::Above(floor)),
                }
            }
            (wanted, _) => Ok(wanted),
        }
    }
}

/// The floor of a decimal number that is written with a point and without an exponent, and whether the number
/// is greater than its floor.
fn floor_of(text: &str) -> Option<(i128, bool)> {
    let unsigned = text.strip_prefix('-');
    let (whole, fraction) = unsigned.unwrap_or(text).split_once('.')?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (whole, is_greater) = (whole.parse::<i128>().ok()?, fraction.bytes().any(|byte| byte != b'0'));
    Some((if unsigned.is_some() { -whole - i128::from(is_greater) } else { whole }, is_greater))
}

fn number_of(value: &PropertyValue<'_>) -> Option<NumberValue> {
    Some(match *value {
        PropertyValue::U8(value) => NumberValue::Whole(value.into()),
        PropertyValue::U16(value) => NumberValue::Whole(value.into()),
        PropertyValue::U32(value) => NumberValue::Whole(value.into()),
        PropertyValue::U64(value) => NumberValue::Whole(value.into()),
        PropertyValue::I32(value) => NumberValue::Whole(value.into()),
        PropertyValue::I64(value) => NumberValue::Whole(value.into()),
        PropertyValue::F32(value) => NumberValue::Real(value.into()),
        PropertyValue::F64(value) => NumberValue::Real(value),
        PropertyValue::Boolean(value) => NumberValue::Whole(value.into()),
        PropertyValue::Date(days) => NumberValue::Whole(days.into()),
        PropertyValue::Timestamp(time) => NumberValue::Whole(time.count.into()),
        PropertyValue::EdgeId(id) => NumberValue::Whole(id.bits().into()),
        PropertyValue::Text(_) | PropertyValue::Vector(_) | PropertyValue::Missing => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a pattern fits, sign by sign.
    fn fits(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('%', rest)) => (0..=text.len()).any(|from| fits(rest, &text[from..])),
            Some((sign, rest)) => text
                .split_first()
                .is_some_and(|(first, text)| (*sign == '_' || sign == first) && fits(rest, text)),
        }
    }

    /// All texts of up to four of these signs.
    fn texts(signs: &str) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..4 {
            last =
                last.iter().flat_map(|text| signs.chars().map(move |sign| format!("{text}{sign}"))).collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    #[test]
    fn patterns_fit_as_their_definition_says() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        for pattern in texts("aé%_") {
            let compiled = TextPattern::new(&pattern);
            for text in texts("aé") {
                let wanted = fits(&chars(&pattern), &chars(&text));
                assert_eq!(compiled.is_met(text.as_bytes()), wanted, "{text} like {pattern}");
            }
        }
    }
}
