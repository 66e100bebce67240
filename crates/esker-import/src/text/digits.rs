//! Numbers from text, eight digits at a time.
//!
//! The integer reader loads eight bytes as one little-endian word, finds the first byte that is no digit by carries
//! within the word, shifts the digits to the top and adds neighbours up in three multiplications (D. Lemire's
//! "Quickly parsing eight digits", after W. Mula). Bounds: about 12 cycles a number, whatever its length to 7.

pub(crate) use crate::decimal::NotNumber;
use crate::decimal::float;

/// A number: an integer where it can be one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    /// An integer.
    Int(i64),
    /// Anything else, finite.
    Float(f64),
}

/// Why a field is no id of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotId {
    /// Nothing is there.
    Empty,
    /// Below zero.
    Negative,
    /// Above 2^64 - 1.
    TooLarge,
    /// Not an integer.
    Other,
}

const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Powers of ten for the places behind a point.
const TENS: [u64; 16] = {
    let mut tens = [1; 16];
    let mut place = 1;
    while place < 16 {
        tens[place] = tens[place - 1] * 10;
        place += 1;
    }
    tens
};

/// Powers of ten that a 64-bit float holds exactly.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The digits at the start of a word of text: their value, and how many there are.
#[inline(always)]
fn eight(word: u64) -> (u64, usize) {
    let low = word ^ 0x3030_3030_3030_3030;
    let others = (low.wrapping_add(0x7676_7676_7676_7676) | low) & 0x8080_8080_8080_8080;
    let count = (others.trailing_zeros() / 8) as usize;
    // The digits go to the top, zeros come in below. In two steps, for a word cannot be shifted by 64.
    let digits = if count == 8 { low } else { (low << (56 - 8 * count)) << 8 };
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    let value = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    (value, count)
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<8>().map(|chunk| u64::from_le_bytes(*chunk))
}

/// An integer at `at`, where at least 24 more bytes follow: its value and the place behind it. `None` if there is no
/// digit, or too many for this path to be sure of.
#[inline(always)]
pub(crate) fn uint_at(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let (value, count) = eight(word(bytes, at)?);
    if count < 8 {
        return if count == 0 { None } else { Some((value, at + count)) };
    }
    let (next, more) = eight(word(bytes, at + 8)?);
    let value = value * POWERS[more] + next;
    if more < 8 {
        return Some((value, at + 8 + more));
    }
    let (last, rest) = eight(word(bytes, at + 16)?);
    if rest > 3 { None } else { Some((value * POWERS[rest] + last, at + 16 + rest)) }
}

/// An unsigned decimal number at `at` of at most 15 digits, where more bytes follow, and the place behind it.
#[inline(always)]
pub(crate) fn decimal_at(bytes: &[u8], at: usize) -> Option<(Number, usize)> {
    let (whole, end) = uint_at(bytes, at)?;
    if end - at > 15 {
        return None;
    }
    if bytes.get(end) != Some(&b'.') {
        return Some((Number::Int(whole as i64), end));
    }
    let (part, stop) = uint_at(bytes, end + 1)?;
    let places = stop - end - 1;
    if end - at + places > 15 {
        return None;
    }
    let value = (whole * TENS[places] + part) as f64 / EXACT[places];
    Some((Number::Float(value), stop))
}

/// Whether an id of digits is not written as integers are: it has zeros in front, as postcodes do, or a plus sign, as telephone numbers
/// do. An integer does not keep them.
pub(crate) fn is_padded(field: &[u8]) -> bool {
    matches!(field, [b'0', b'0'..=b'9', ..] | [b'+', b'0'..=b'9', ..])
}

/// A whole field as an id.
pub(crate) fn id(field: &[u8]) -> Result<u64, NotId> {
    let (digits, negative) = match field {
        [] => return Err(NotId::Empty),
        [b'-', digits @ ..] => (digits, true),
        [b'+', digits @ ..] => (digits, false),
        digits => (digits, false),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NotId::Other);
    }
    let mut value: u64 = 0;
    for digit in digits {
        value = value
            .checked_mul(10)
            .and_then(|v| v.checked_add(u64::from(digit - b'0')))
            .ok_or(if negative { NotId::Negative } else { NotId::TooLarge })?;
    }
    if negative && value != 0 { Err(NotId::Negative) } else { Ok(value) }
}

/// A whole field as a number. An integer beyond 64 bits is taken as a float if it is one exactly.
pub(crate) fn number(field: &[u8]) -> Result<Number, NotNumber> {
    let (digits, negative) = match field {
        [] => return Err(NotNumber::Empty),
        [b'-', digits @ ..] => (digits, true),
        [b'+', digits @ ..] => (digits, false),
        digits => (digits, false),
    };
    if let Some(number) = short_decimal(digits, negative) {
        return Ok(number);
    }
    let text = std::str::from_utf8(field).map_err(|_| NotNumber::Other)?;
    if let Ok(value) = text.parse::<i64>() {
        return Ok(Number::Int(value));
    }
    float(text).map(Number::Float)
}

/// Numbers of up to 15 digits, with a point perhaps: exact in one division, for both are exact floats (W. Clinger,
/// "How to read floating point numbers accurately", PLDI 1990).
#[inline]
fn short_decimal(digits: &[u8], negative: bool) -> Option<Number> {
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
        None => Number::Int(if negative { -(value as i64) } else { value as i64 }),
        Some(places) => {
            let value = value as f64 / EXACT[places];
            Number::Float(if negative { -value } else { value })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_length_end_where_their_digits_end() {
        let all = "18446744073709551615";
        for length in 1..=19 {
            for end in [" ", "\n", "\t", "/", ":", "x", "\u{ff}", "\0"] {
                let text = format!("{}{end}00000000000000000000000000", &all[..length]);
                let expected = (all[..length].parse().unwrap(), length);
                assert_eq!(uint_at(text.as_bytes(), 0), Some(expected), "{text}");
            }
        }
        assert_eq!(
            uint_at(b"18446744073709551615                ", 0),
            None,
            "20 digits are left to the slow path"
        );
        assert_eq!(uint_at(b" 1                                  ", 0), None);
        assert_eq!(uint_at(b"1234567", 0), None, "too close to the end");
    }

    #[test]
    fn any_byte_that_is_no_digit_ends_an_integer() {
        for byte in (0..=255u8).filter(|byte| !byte.is_ascii_digit()) {
            for length in 1..=9 {
                let mut text = vec![b'7'; length];
                text.push(byte);
                text.extend_from_slice(&[b'9'; 32]);
                let expected = "7".repeat(length).parse().unwrap();
                assert_eq!(uint_at(&text, 0), Some((expected, length)), "byte {byte}");
            }
        }
    }

    #[test]
    fn ids_say_why_not() {
        assert_eq!(id(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(id(b"18446744073709551616"), Err(NotId::TooLarge));
        assert_eq!(id(b"-0"), Ok(0));
        assert_eq!(id(b"+7"), Ok(7));
        assert_eq!(id(b"-1"), Err(NotId::Negative));
        assert_eq!(id(b"-99999999999999999999999"), Err(NotId::Negative));
        assert_eq!(id(b""), Err(NotId::Empty));
        assert_eq!(id(b"-"), Err(NotId::Other));
        assert_eq!(id(b"1.0"), Err(NotId::Other));
        assert_eq!(id(b"0x1f"), Err(NotId::Other));
    }

    #[test]
    fn what_no_type_holds_is_no_number() {
        for text in ["12345678901234567890123", "-9223372036854775809", "+18446744073709551615"] {
            assert_eq!(number(text.as_bytes()), Err(NotNumber::TooLong), "{text}");
        }
        for text in ["1e-400", "-0.1e-999", "0.000001E-350"] {
            assert_eq!(number(text.as_bytes()), Err(NotNumber::TooSmall), "{text}");
        }
        for text in ["0e-400", "-0.0e9", "1.2e22", "12345678901234567890.5", "5e-324"] {
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
        for text in ["0", "-1", "999999999999999", "9223372036854775807", "-9223372036854775808"] {
            assert_eq!(number(text.as_bytes()), Ok(Number::Int(text.parse().unwrap())), "{text}");
        }
        assert_eq!(number(b"9223372036854775808"), Ok(Number::Float(9_223_372_036_854_775_808.0)));
        assert_eq!(number(b"-18446744073709551616"), Ok(Number::Float(-18_446_744_073_709_551_616.0)));
        assert_eq!(number(b"0018446744073709551616"), Ok(Number::Float(18_446_744_073_709_551_616.0)));
        assert_eq!(number(b"1e999"), Err(NotNumber::NotFinite));
        assert_eq!(number(b"NaN"), Err(NotNumber::NotFinite));
        assert_eq!(number(b"-inf"), Err(NotNumber::NotFinite));
        assert_eq!(number(b""), Err(NotNumber::Empty));
        assert_eq!(number(b"1,5"), Err(NotNumber::Other));
        assert_eq!(number(b"."), Err(NotNumber::Other));
        assert_eq!(number(b"--1"), Err(NotNumber::Other));
        assert_eq!(number(b"\xff"), Err(NotNumber::Other));
    }
}
