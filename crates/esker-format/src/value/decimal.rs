//! Ids and numbers from text: one rule for every door through which a value comes, as `docs/values.md` states
//! it.
//!
//! Callers strip blanks outside quotes; blanks in the given text belong to the value.

/// Bytes that a text may have, as an id or as a value of a property. So a few values that a thread holds at a
/// time, and their copies, take little of any memory limit.
pub const TEXT_BYTES_MAX: usize = 1 << 16;

/// Why a longer text is refused, as what is said of it.
pub const TOO_LONG: &str = "is longer than 65536 bytes, the most that an id or a text may have: shorten it";

/// Whether a text is too long for an id or a value.
#[inline]
pub fn is_too_long(text: &[u8]) -> bool {
    text.len() > TEXT_BYTES_MAX
}

/// Bytes of a value that a message shows.
const SHOWN_BYTES_MAX: usize = 80;

/// A value as messages show it: long ones by their beginning.
pub fn shown(text: &[u8]) -> String {
    match text.get(..SHOWN_BYTES_MAX - 3) {
        Some(beginning) if text.len() > SHOWN_BYTES_MAX => {
            format!("{}...", String::from_utf8_lossy(beginning).trim_end_matches('\u{fffd}'))
        }
        _ => String::from_utf8_lossy(text).into_owned(),
    }
}

/// A number: an integer where it can be one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer.
    Int(i64),
    /// Anything else, finite.
    Float(f64),
}

/// Why a text is no id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotId {
    /// Nothing is there.
    Empty,
    /// Below zero.
    Negative,
    /// A number with a plus sign in front.
    Signed,
    /// Digits with zeros in front, as postcodes have them. An integer does not keep these.
    Padded,
    /// A number that is not whole.
    Fraction,
    /// An integer above 2^64 - 1.
    TooLarge,
    /// A float of 2^53 or more, which may stand for another integer.
    Rounded,
    /// An id with blanks around it.
    Blanks,
    /// A zero byte is in it.
    ZeroByte,
    /// More than [`TEXT_BYTES_MAX`].
    Long,
    /// No number.
    Other,
}

impl NotId {
    /// The reason, as what is said of the text.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Empty => "is empty",
            Self::Negative => "is negative",
            Self::Signed => "has a plus sign in front, which integers do not keep",
            Self::Padded => "has zeros in front, which integers do not keep",
            Self::Fraction => "is not whole",
            Self::TooLarge => "is larger than 18446744073709551615",
            Self::Rounded => "is a float of 2^53 or more, which may stand for another integer",
            Self::Blanks => "has blanks around it inside its quotes",
            Self::ZeroByte => "has a zero byte in it; the input may be damaged or binary",
            Self::Long => TOO_LONG,
            Self::Other => "is not an integer",
        }
    }

    /// Whether it is a number, though no id. Such an id does not make texts of those beside it: it is
    /// refused.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Negative | Self::Signed | Self::Fraction)
    }

    /// Whether ids of text could be taken as they are: what is refused is refused only because ids are
    /// integers.
    pub fn is_text(self) -> bool {
        !matches!(self, Self::Empty | Self::ZeroByte | Self::Long)
    }
}

/// Why a text is no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotNumber {
    /// Nothing is there.
    Empty,
    /// NaN or infinite, or too large for a 64-bit float.
    NotFinite,
    /// An integer beyond 64 bits that is no 64-bit float either.
    TooLong,
    /// Not 0, but 0 as a 64-bit float.
    TooSmall,
    /// A number with a plus sign in front.
    Signed,
    /// A number with zeros in front.
    Padded,
    /// A number with blanks around it.
    Blanks,
    /// Not a number at all.
    Other,
}

impl NotNumber {
    /// The reason, as what is said of the text.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Empty => "is empty where a number belongs",
            Self::NotFinite => "is not a finite number",
            Self::TooLong => {
                "is an integer beyond 64 bits with a sign; if it may be rounded, write it with an exponent, like 1.2e22"
            }
            Self::TooSmall => "is closer to 0 than a number can be; write 0 if that is meant",
            Self::Signed => "has a plus sign in front; write the number without it",
            Self::Padded => "has zeros in front, which numbers do not keep; write the number without them",
            Self::Blanks => "has blanks around it inside its quotes; write the number without them",
            Self::Other => "is not a number; write it like -1.5e3",
        }
    }

    /// Whether a number is meant, though none may be written so. Such a value does not make texts of its
    /// column: it is refused.
    fn is_meant(self) -> bool {
        matches!(self, Self::NotFinite | Self::TooLong | Self::TooSmall | Self::Signed)
    }
}

/// A whole text as an integer id: digits without a sign and without zeros in front, and perhaps a point and
/// zeros behind them.
///
/// # Errors
/// Why it is none.
#[inline]
pub fn id(text: &[u8]) -> Result<u64, NotId> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (whole, rest) = text.split_at(digits);
    if whole.is_empty() || !is_no_fraction(rest) {
        return Err(not_id(text));
    }
    if is_padded(whole) {
        return Err(NotId::Padded);
    }
    whole.iter().try_fold(0, |value: u64, digit| {
        let value = value.checked_mul(10).and_then(|value| value.checked_add(u64::from(digit - b'0')));
        value.ok_or(NotId::TooLarge)
    })
}

/// Whether what follows the digits of a number leaves it whole.
fn is_no_fraction(rest: &[u8]) -> bool {
    match rest {
        [] => true,
        [b'.', zeros @ ..] => !zeros.is_empty() && zeros.iter().all(|&digit| digit == b'0'),
        _ => false,
    }
}

#[cold]
fn not_id(text: &[u8]) -> NotId {
    let read = number(text);
    let is_numeral =
        !matches!(read, Err(NotNumber::NotFinite | NotNumber::Other | NotNumber::Blanks | NotNumber::Empty));
    match text {
        [] => NotId::Empty,
        _ if is_too_long(text) => NotId::Long,
        [b'-', ..] if is_numeral => NotId::Negative,
        [b'+', ..] if is_numeral => NotId::Signed,
        // With an exponent it may be a text: the hash 1e3 is not 1000.
        _ if is_numeral && !text.iter().any(|byte| matches!(byte, b'e' | b'E')) => NotId::Fraction,
        _ if text.trim_ascii().len() < text.len() && id(text.trim_ascii()).is_ok() => NotId::Blanks,
        _ => NotId::Other,
    }
}

/// A 64-bit float as an integer id: one that is whole, and below 2^53, up to where floats hold every integer.
///
/// # Errors
/// Why it is none.
#[inline]
pub fn float_id(value: f64) -> Result<u64, NotId> {
    match value {
        _ if !value.is_finite() => Err(NotId::Other),
        _ if value.is_sign_negative() => Err(NotId::Negative),
        _ if value.fract() != 0.0 => Err(NotId::Fraction),
        _ if value >= 9_007_199_254_740_992.0 => Err(NotId::Rounded),
        _ => Ok(value as u64),
    }
}

/// Checks a whole text as an id that is a text.
///
/// # Errors
/// Why it is none.
#[inline]
pub fn text_id(text: &[u8]) -> Result<(), NotId> {
    match text {
        [] => Err(NotId::Empty),
        _ if is_too_long(text) => Err(NotId::Long),
        _ if text.contains(&0) => Err(NotId::ZeroByte),
        _ => Ok(()),
    }
}

/// Whether the ids of a sample are texts: if one of them would lose its zeros as an integer, or more than one
/// in ten is no number. Fewer are refused, and so are numbers that are no ids.
pub fn are_text_ids<'t>(sample: impl Iterator<Item = &'t [u8]>) -> bool {
    let (mut given, mut texts) = (0_u64, 0);
    for text in sample {
        match id(text) {
            Err(NotId::Padded) => return true,
            Err(NotId::Empty) => continue,
            Err(why) if !why.is_number() => texts += 1,
            _ => {}
        }
        given += 1;
    }
    texts * 10 > given
}

/// A whole text as a number. An integer beyond 64 bits is taken as a float if it is one exactly. Fractions
/// and numbers with an exponent are rounded, as floats are everywhere; an integer is not.
///
/// # Errors
/// Why it is none.
#[inline]
pub fn number(text: &[u8]) -> Result<Number, NotNumber> {
    let (digits, is_negative) = match text {
        [b'-', digits @ ..] => (digits, true),
        digits => (digits, false),
    };
    if is_padded(digits) {
        return Err(if is_decimal(digits) { NotNumber::Padded } else { NotNumber::Other });
    }
    match short_decimal(digits, is_negative) {
        Some(number) => Ok(number),
        None => long_number(text),
    }
}

/// As [`number`], of texts that are long, have an exponent, or are no numbers.
fn long_number(text: &[u8]) -> Result<Number, NotNumber> {
    match text {
        [] => return Err(NotNumber::Empty),
        [b'+', rest @ ..] => {
            // One sign, and no blank behind it: the text may be as long as a file, and each further sign
            // would be a call.
            let begins =
                |rest: &str| !rest.starts_with(|c: char| matches!(c, '+' | '-') || c.is_whitespace());
            let is_meant = std::str::from_utf8(rest).is_ok_and(begins)
                && number(rest).map_or_else(NotNumber::is_meant, |_| true);
            return Err(if is_meant { NotNumber::Signed } else { NotNumber::Other });
        }
        _ => {}
    }
    let Ok(utf8) = std::str::from_utf8(text) else { return Err(NotNumber::Other) };
    if let Ok(value) = utf8.parse::<i64>() {
        return Ok(Number::Int(value));
    }
    let digits = utf8.strip_prefix('-').unwrap_or(utf8).as_bytes();
    match utf8.parse::<f64>() {
        Ok(value) if !value.is_finite() => Err(NotNumber::NotFinite),
        Ok(0.0) if !is_zero(digits) => Err(NotNumber::TooSmall),
        Ok(value) if is_cut(digits, value) => Err(NotNumber::TooLong),
        Ok(value) => Ok(Number::Float(value)),
        Err(_) => {
            let inside = utf8.trim();
            let is_number = inside.len() < utf8.len() && number(inside.as_bytes()).is_ok();
            Err(if is_number { NotNumber::Blanks } else { NotNumber::Other })
        }
    }
}

/// A whole text as an integer from 0 to 2^64 - 1; `None` if it is none.
pub fn unsigned(text: &[u8]) -> Option<u64> {
    let is_plain = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    if is_plain { id(text).ok() } else { None }
}

/// Whether a text is a number, or meant as one: it is no text, truth value, date or time.
pub fn is_numeral(text: &[u8]) -> bool {
    number(text).map_or_else(NotNumber::is_meant, |_| true)
}

/// Whether the values of a column are numbers, though some may be missing or refused: all that are given are
/// meant as numbers.
pub fn are_numbers<'t>(values: impl Iterator<Item = &'t [u8]>) -> bool {
    let mut given = values.filter(|value| !value.is_empty()).peekable();
    given.peek().is_some() && given.all(is_numeral)
}

/// Whether digits have a zero in front of another.
#[inline]
pub fn is_padded(digits: &[u8]) -> bool {
    matches!(digits, [b'0', b'0'..=b'9', ..])
}

/// Whether it is a decimal number without a sign, perhaps with an exponent.
fn is_decimal(digits: &[u8]) -> bool {
    std::str::from_utf8(digits).is_ok_and(|digits| digits.parse::<f64>().is_ok())
}

/// Powers of ten that a 64-bit float holds exactly.
pub const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Numbers of up to 15 digits, with a point perhaps: exact in one division, for both are exact floats (W.
/// Clinger, "How to read floating point numbers accurately", PLDI 1990).
#[inline]
fn short_decimal(digits: &[u8], is_negative: bool) -> Option<Number> {
    if digits.len() > 16 {
        return None;
    }
    let mut value: u64 = 0;
    let mut count = 0;
    let mut fraction = None;
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                value = value * 10 + u64::from(byte - b'0');
                count += 1;
                fraction = fraction.map(|places: usize| places + 1);
            }
            b'.' if fraction.is_none() => fraction = Some(0),
            _ => return None,
        }
    }
    if count == 0 || count > 15 {
        return None;
    }
    Some(match fraction {
        None => Number::Int(if is_negative { -(value as i64) } else { value as i64 }),
        Some(places) => {
            let value = value as f64 / EXACT[places];
            Number::Float(if is_negative { -value } else { value })
        }
    })
}

/// Whether a number without its sign is 0: no digit before the exponent is another.
fn is_zero(digits: &[u8]) -> bool {
    let mut digits = digits.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    digits.all(|byte| matches!(byte, b'0' | b'.'))
}

/// Whether a number without its sign is an integer whose float is another.
fn is_cut(digits: &[u8], value: f64) -> bool {
    let is_integer = digits.iter().all(u8::is_ascii_digit);
    is_integer && value != 0.0 && format!("{:.0}", value.abs()).as_bytes() != digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_say_why_not() {
        for (text, expected) in [
            ("18446744073709551615", Ok(u64::MAX)),
            ("18446744073709551616", Err(NotId::TooLarge)),
            ("0", Ok(0)),
            ("1.0", Ok(1)),
            ("9007199254740993.000", Ok(9_007_199_254_740_993)),
            ("1.", Err(NotId::Fraction)),
            ("1.5", Err(NotId::Fraction)),
            (".5", Err(NotId::Fraction)),
            ("01234", Err(NotId::Padded)),
            ("00", Err(NotId::Padded)),
            ("01.0", Err(NotId::Padded)),
            ("+7", Err(NotId::Signed)),
            ("+", Err(NotId::Other)),
            ("-1", Err(NotId::Negative)),
            ("-0", Err(NotId::Negative)),
            ("-1.0", Err(NotId::Negative)),
            ("-99999999999999999999999", Err(NotId::Negative)),
            ("-", Err(NotId::Other)),
            ("-inf", Err(NotId::Other)),
            ("", Err(NotId::Empty)),
            (" 7 ", Err(NotId::Blanks)),
            ("1e3", Err(NotId::Other)),
            ("0x1f", Err(NotId::Other)),
            ("1.2.3", Err(NotId::Other)),
        ] {
            assert_eq!(id(text.as_bytes()), expected, "{text}");
        }
        for (float, expected) in [
            (1.0, Ok(1)),
            (0.0, Ok(0)),
            (-0.0, Err(NotId::Negative)),
            (1.5, Err(NotId::Fraction)),
            (9_007_199_254_740_991.0, Ok(9_007_199_254_740_991)),
            (9_007_199_254_740_992.0, Err(NotId::Rounded)),
            (f64::INFINITY, Err(NotId::Other)),
            (f64::NAN, Err(NotId::Other)),
        ] {
            assert_eq!(float_id(float), expected, "{float}");
        }
        assert_eq!(text_id(b"a\0"), Err(NotId::ZeroByte));
        let longest = vec![b'x'; TEXT_BYTES_MAX];
        assert_eq!((text_id(&longest), id(&longest)), (Ok(()), Err(NotId::Other)));
        let longer = [longest.as_slice(), b"x"].concat();
        assert_eq!((text_id(&longer), id(&longer)), (Err(NotId::Long), Err(NotId::Long)));
        assert!(TOO_LONG.contains(&TEXT_BYTES_MAX.to_string()));
        assert_eq!((text_id(b"01234"), text_id(b" x "), text_id(b"")), (Ok(()), Ok(()), Err(NotId::Empty)));
    }

    #[test]
    fn a_sample_of_ids_is_of_texts_if_integers_would_lose_some() {
        let are = |ids: &[&str]| are_text_ids(ids.iter().map(|id| id.as_bytes()));
        assert!(!are(&["1", "2", "1.0", "-1", "+7", "2.5", ""]));
        assert!(are(&["1", "2", "3", "01234"]));
        assert!(are(&["1", "2", "x"]));
        assert!(!are(&["1", "2", "3", "4", "5", "6", "7", "8", "9", "x"]));
        assert!(!are(&[]));
    }

    #[test]
    fn what_no_type_holds_is_no_number() {
        for (text, expected) in [
            ("12345678901234567890123", NotNumber::TooLong),
            ("-9223372036854775809", NotNumber::TooLong),
            ("18446744073709551615", NotNumber::TooLong),
            ("1e-400", NotNumber::TooSmall),
            ("-0.1e-999", NotNumber::TooSmall),
            ("0.000001E-350", NotNumber::TooSmall),
            ("1e999", NotNumber::NotFinite),
            ("NaN", NotNumber::NotFinite),
            ("-inf", NotNumber::NotFinite),
            ("Infinity", NotNumber::NotFinite),
            ("+7", NotNumber::Signed),
            ("+1.5e3", NotNumber::Signed),
            ("+inf", NotNumber::Signed),
            ("01234", NotNumber::Padded),
            ("-01", NotNumber::Padded),
            ("00.5", NotNumber::Padded),
            ("0018446744073709551616", NotNumber::Padded),
            ("01-02", NotNumber::Other),
            (" 7", NotNumber::Blanks),
            ("", NotNumber::Empty),
            ("1,5", NotNumber::Other),
            (".", NotNumber::Other),
            ("--1", NotNumber::Other),
            ("+-1", NotNumber::Other),
            ("++1", NotNumber::Other),
            ("+ 1", NotNumber::Other),
            // Each sign was a call, until the stack overflowed.
            (&"+".repeat(1 << 20), NotNumber::Other),
            (&"+ ".repeat(1 << 19), NotNumber::Other),
            (&"+\u{a0}".repeat(1 << 18), NotNumber::Other),
        ] {
            assert_eq!(number(text.as_bytes()), Err(expected), "{text}");
        }
        assert_eq!(number(b"\xff"), Err(NotNumber::Other));
        for text in ["0e-400", "-0.0e9", "1.2e22", "12345678901234567890.5", "5e-324", "0e5"] {
            assert_eq!(number(text.as_bytes()), Ok(Number::Float(text.parse().unwrap())), "{text}");
        }
    }

    #[test]
    fn numbers_equal_those_of_the_standard_library() {
        for text in [
            "0.1",
            "123.456",
            "-0.001",
            "1e-7",
            "1.",
            ".5",
            "123456789012345.6",
            "9007199254740993.5",
            "4e300",
        ] {
            assert_eq!(number(text.as_bytes()), Ok(Number::Float(text.parse().unwrap())), "{text}");
        }
        for text in ["0", "-0", "-1", "999999999999999", "9223372036854775807", "-9223372036854775808"] {
            assert_eq!(number(text.as_bytes()), Ok(Number::Int(text.parse().unwrap())), "{text}");
        }
        assert_eq!(number(b"9223372036854775808"), Ok(Number::Float(9_223_372_036_854_775_808.0)));
        assert_eq!(number(b"-18446744073709551616"), Ok(Number::Float(-18_446_744_073_709_551_616.0)));
        assert_eq!(
            (unsigned(b"18446744073709551615"), unsigned(b"1.0"), unsigned(b"007")),
            (Some(u64::MAX), None, None)
        );
    }

    #[test]
    fn a_column_is_of_numbers_if_all_that_it_gives_are_meant_so() {
        let are = |values: &[&str]| are_numbers(values.iter().map(|value| value.as_bytes()));
        assert!(are(&["1", "", "0.5", "inf", "+7", "99999999999999999999"]));
        for values in [&["1", "x"][..], &["1", "007"], &["", ""], &["1", " 2 "], &[]] {
            assert!(!are(values), "{values:?}");
        }
    }
}
