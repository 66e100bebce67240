//! Whether a value of a property is as a condition wants it.

use std::cmp::Ordering;
use std::collections::HashMap;

use esker_store::format::value::decimal;
use esker_store::format::{ElementType, PropertyRecord};
use esker_store::property::PropertyValue;

use super::text::{Asked, DIFFERENT, EQUAL, Literal};

/// An integer with more digits is beyond those of 128 bits.
const DIGITS_MAX: usize = 39;

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
                // Dates, times and truth values, counted as those of the property are.
                WantedValue::Logical(ref value) => match number_of(value) {
                    Some(NumberValue::Whole(value)) => whole.push(value),
                    _ => return None,
                },
                WantedValue::Above(_) => return None,
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
    /// What stands between the `%`.
    pieces: Vec<PatternPiece>,
}

/// A part of a pattern without `%`.
#[derive(Debug, Clone)]
struct PatternPiece {
    text: String,
    search: PieceSearch,
}

/// How a part of a pattern is looked for.
#[derive(Debug, Clone)]
enum PieceSearch {
    /// As it is.
    Exact,
    /// With a bit for each of its characters where `_`, or that character, is wanted.
    Bits { of: HashMap<char, Vec<u64>>, of_others: Vec<u64> },
}

impl TextPattern {
    fn new(text: &str) -> Self {
        Self { pieces: text.split('%').map(PatternPiece::new).collect() }
    }

    /// The only text that it fits, if it has no sign that stands for others.
    pub(super) fn only_text(&self) -> Option<String> {
        match self.pieces.as_slice() {
            [PatternPiece { text, search: PieceSearch::Exact }] => Some(text.clone()),
            _ => None,
        }
    }

    /// Looks for one part behind the other. Takes time in proportion to the text, and for a part with `_` in
    /// proportion to the product of both lengths divided by 64.
    fn is_met(&self, text: &[u8]) -> bool {
        let text = String::from_utf8_lossy(text);
        let [first, others @ ..] = self.pieces.as_slice() else { return text.is_empty() };
        let Some(rest) = first.end_at_start(&text).map(|end| &text[end..]) else { return false };
        let [between @ .., last] = others else { return rest.is_empty() };
        let Some(mut rest) = last.start_at_end(rest).map(|start| &rest[..start]) else { return false };
        for piece in between {
            match piece.first_end(rest) {
                Some(end) => rest = &rest[end..],
                None => return false,
            }
        }
        true
    }
}

impl PatternPiece {
    fn new(text: &str) -> Self {
        let search = if text.contains('_') { PieceSearch::bits(text) } else { PieceSearch::Exact };
        Self { text: text.to_owned(), search }
    }

    /// Where the piece ends if a text begins with it.
    fn end_at_start(&self, text: &str) -> Option<usize> {
        let mut rest = text.chars();
        let fits = self.text.chars().all(|sign| rest.next().is_some_and(|own| sign == '_' || sign == own));
        fits.then(|| text.len() - rest.as_str().len())
    }

    /// Where the piece begins if a text ends with it.
    fn start_at_end(&self, text: &str) -> Option<usize> {
        let mut rest = text.chars();
        let mut signs = self.text.chars().rev();
        let fits = signs.all(|sign| rest.next_back().is_some_and(|own| sign == '_' || sign == own));
        fits.then_some(rest.as_str().len())
    }

    /// Where the first occurrence in a text ends.
    fn first_end(&self, text: &str) -> Option<usize> {
        let PieceSearch::Bits { of, of_others } = &self.search else {
            return text.find(&self.text).map(|at| at + self.text.len());
        };
        // A bit for each number of characters that the last ones of the text equal.
        let mut met = vec![0_u64; of_others.len()];
        let last = self.text.chars().count() - 1;
        for (at, sign) in text.char_indices() {
            let mut carried = 1;
            for (met, wanted) in met.iter_mut().zip(of.get(&sign).unwrap_or(of_others)) {
                let next = *met >> 63;
                *met = (*met << 1 | carried) & wanted;
                carried = next;
            }
            if met[last / 64] >> (last % 64) & 1 == 1 {
                return Some(at + sign.len_utf8());
            }
        }
        None
    }
}

impl PieceSearch {
    fn bits(text: &str) -> Self {
        let words = text.chars().count().div_ceil(64);
        let mut of_others = vec![0_u64; words];
        let any = text.chars().enumerate().filter(|(_, sign)| *sign == '_');
        any.for_each(|(at, _)| of_others[at / 64] |= 1 << (at % 64));
        let mut of: HashMap<char, Vec<u64>> = HashMap::new();
        for (at, sign) in text.chars().enumerate() {
            of.entry(sign).or_insert_with(|| of_others.clone())[at / 64] |= 1 << (at % 64);
        }
        Self::Bits { of, of_others }
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
            (Self::Whole(value), ElementType::F32) => Ok(Self::Real(f64::from(value as f64 as f32))),
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

/// The floor of a decimal number, and whether the number is greater than its floor. `None` if it is far
/// beyond all integers of 64 bits.
fn floor_of(text: &str) -> Option<(i128, bool)> {
    let unsigned = text.strip_prefix('-');
    let decimal = unsigned.unwrap_or(text);
    let (decimal, exponent) = match decimal.split_once(['e', 'E']) {
        Some((decimal, exponent)) => (decimal, exponent.parse::<i64>().ok()?),
        None => (decimal, 0),
    };
    let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
    let digits = format!("{whole}{fraction}");
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Digits before the point.
    let point = exponent.checked_add(whole.len() as i64)?;
    let (whole, fraction) = digits.split_at(point.clamp(0, digits.len() as i64) as usize);
    let zeros = usize::try_from(point.max(0)).ok()?.saturating_sub(digits.len());
    let is_greater = fraction.bytes().any(|byte| byte != b'0');
    let whole = match whole.bytes().all(|byte| byte == b'0') {
        true => 0,
        false if zeros > DIGITS_MAX => return None,
        false => format!("{whole}{}", "0".repeat(zeros)).parse::<i128>().ok()?,
    };
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
            let is_one = !pattern.contains(['%', '_']);
            assert_eq!(compiled.only_text(), is_one.then_some(pattern));
        }
        // Parts that take several words of bits.
        let long = |sign: &str, len: usize| sign.repeat(len);
        for len in [1, 63, 64, 65, 127, 128, 200] {
            for (text, is_met) in [(long("é", len - 1) + "b", true), (long("é", len - 1), false)] {
                let pattern = TextPattern::new(&format!("%{}b%", long("_", len - 1)));
                assert_eq!(pattern.is_met((long("a", 77) + &text + "c").as_bytes()), is_met);
                let pattern = TextPattern::new(&format!("%{}_b%", long("é", len - 1)));
                assert!(!pattern.is_met(text.as_bytes()));
                assert!(pattern.is_met(format!("éaé{}xb", long("é", len - 1)).as_bytes()));
            }
        }
    }

    #[test]
    fn patterns_take_no_quadratic_time() {
        let (text, half) = ("a".repeat(200_000), "a".repeat(100_000));
        for (pattern, is_met) in [
            (format!("%{half}b%"), false),
            (format!("%{half}%{half}%"), true),
            (format!("%{half}%a{half}%"), false),
            (format!("%{}b%", "a%".repeat(50_000)), false),
        ] {
            let began = std::time::Instant::now();
            assert_eq!(TextPattern::new(&pattern).is_met(text.as_bytes()), is_met);
            assert!(began.elapsed().as_secs() < 20, "{:?} for {:.20}", began.elapsed(), pattern);
        }
    }

    /// The ways to write an integer.
    fn spellings(value: i128) -> Vec<String> {
        let (sign, digits) = (if value < 0 { "-" } else { "" }, value.unsigned_abs().to_string());
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { ".0".to_owned() } else { format!(".{rest}") };
        let mut all = vec![
            format!("{sign}{digits}"),
            format!("{sign}{digits}.0"),
            format!("{sign}{digits}.000e0"),
            format!("{sign}{first}{point}e{}", rest.len()),
            format!("{sign}{first}{point}00E+{}", rest.len()),
            format!("{sign}{digits}0e-1"),
            format!("{sign}{digits}00.0e-2"),
        ];
        // Numbers have no zeros in front.
        all.retain(|text| !text.starts_with("00"));
        all
    }

    /// However a number is written, it is the same; integers are compared without rounding, and others as a
    /// property holds them.
    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        let powers = [0_u32, 7, 8, 23, 24, 25, 31, 32, 52, 53, 54, 62, 63, 64];
        let near = |power: &u32| (-2..=2).map(|by| (1_i128 << power) + by).collect::<Vec<_>>();
        let all: Vec<i128> = powers.iter().flat_map(near).flat_map(|value| [value, -value]).collect();
        let all: Vec<i128> =
            all.into_iter().filter(|&value| (i64::MIN.into()..=u64::MAX.into()).contains(&value)).collect();
        let (less, greater) = (&[Ordering::Less] as &[_], &[Ordering::Greater] as &[_]);
        let orders = [EQUAL, less, greater, &[Ordering::Greater, Ordering::Equal]];
        for element in [ElementType::I64, ElementType::U64, ElementType::F32, ElementType::F64] {
            let logical = esker_store::format::LogicalType::Number;
            let own = esker_store::format::PropertyType { element, logical };
            let property = PropertyRecord::of_vertices("x", own);
            let held: Vec<PropertyValue<'_>> = all
                .iter()
                .filter_map(|&value| match element {
                    ElementType::I64 => i64::try_from(value).ok().map(PropertyValue::I64),
                    ElementType::U64 => u64::try_from(value).ok().map(PropertyValue::U64),
                    ElementType::F32 => Some(PropertyValue::F32(value as f64 as f32)),
                    _ => Some(PropertyValue::F64(value as f64)),
                })
                .collect();
            for &wanted in &all {
                for text in spellings(wanted) {
                    let literal = Literal { text: text.clone(), is_quoted: false };
                    let one_of = ValueTest::new(&Asked::OneOf(vec![literal.clone()]), &property).unwrap();
                    for met in orders {
                        let test = ValueTest::new(&Asked::Order(met, literal.clone()), &property).unwrap();
                        for value in &held {
                            let order = match number_of(value) {
                                Some(NumberValue::Whole(value)) => value.cmp(&wanted),
                                Some(NumberValue::Real(value)) if element == ElementType::F32 => {
                                    value.total_cmp(&f64::from(wanted as f64 as f32))
                                }
                                Some(NumberValue::Real(value)) => value.total_cmp(&(wanted as f64)),
                                None => panic!("no number"),
                            };
                            let is_met = Some(met.contains(&order));
                            assert_eq!(test.is_met(value), is_met, "{value:?} {met:?} {text}");
                            if met == EQUAL {
                                assert_eq!(one_of.is_met(value), is_met, "{value:?} in ({text})");
                            }
                        }
                    }
                }
            }
        }
        for (text, expected) in [
            ("0.5", Some((0, true))),
            ("-0.5", Some((-1, true))),
            ("12e-1", Some((1, true))),
            ("-12e-5", Some((-1, true))),
            ("0e99999", Some((0, false))),
            ("5e-99999", Some((0, true))),
            ("1e50", None),
        ] {
            assert_eq!(floor_of(text), expected, "{text}");
        }
    }

    /// Lists of dates, times and truth values are looked up, and mean what single comparisons mean.
    #[test]
    fn one_of_several_is_equality_with_each() {
        use esker_store::format::PropertyType;
        for (kind, all) in [
            ("date", &["2024-01-02", "1969-12-31", "2024-01-03"][..]),
            ("timestamp[us]", &["2024-01-02T03:04:05", "2024-01-02T03:04:05.5", "1960-01-01T00:00:00"]),
            ("bool", &["true", "false"]),
        ] {
            let property = PropertyRecord::of_vertices("x", kind.parse::<PropertyType>().unwrap());
            let literal = |text: &&str| Literal { text: (*text).to_owned(), is_quoted: true };
            let values =
                all.iter().map(|text| PropertyValue::parse_logical(&property.logical, text).unwrap());
            let values: Vec<PropertyValue<'_>> = values.collect();
            for chosen in 1..1_usize << all.len() {
                let chosen: Vec<&str> =
                    (0..all.len()).filter(|at| chosen >> at & 1 == 1).map(|at| all[at]).collect();
                let asked = Asked::OneOf(chosen.iter().map(literal).collect());
                let test = ValueTest::new(&asked, &property).unwrap();
                assert!(matches!(test, ValueTest::Numbers(_)), "{kind}");
                for (text, value) in all.iter().zip(&values) {
                    assert_eq!(test.is_met(value), Some(chosen.contains(text)), "{text} in {chosen:?}");
                }
                assert_eq!(test.is_met(&PropertyValue::Missing), None);
            }
        }
    }
}
