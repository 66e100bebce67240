//! Numbers from text, eight digits at a time.
//!
//! The integer reader loads eight bytes as one little-endian word, finds the first byte that is no digit by
//! carries within the word, shifts the digits to the top and adds neighbours up in three multiplications (D.
//! Lemire's "Quickly parsing eight digits", after W. Mula). Bounds: about 12 cycles a number, whatever its
//! length to 7.

use esker_format::value::decimal::{EXACT, Number, is_padded};

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

/// An integer at `at`, where at least 24 more bytes follow: its value and the place behind it. `None` if
/// there is no digit, or too many for this path to be sure of.
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
    // Zeros in front are left to the slow path, which refuses them.
    if end - at > 15 || is_padded(&bytes[at..end]) {
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
}
