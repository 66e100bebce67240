//! Mutations: some for any format, some that know numbers, words and lines.

use esker_graph::random::Random;

use crate::random::{pick, range};

/// Numbers at the limits of the types that readers use, and texts that are nearly numbers.
const NUMBERS: [&str; 34] = [
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "255",
    "65536",
    "2147483647",
    "2147483648",
    "4294967294",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999",
    "00012",
    "+7",
    "1.5",
    ".5",
    "5.",
    "1e3",
    "1e308",
    "1e309",
    "1e-400",
    "nan",
    "-inf",
    "0x10",
    "1_000",
    "",
    "é",
];

/// Bytes that have a meaning in some format.
const BYTES: [u8; 20] = *b"\n\r\t ,;|\"'#%c-+.0\0\x7f\x80\xff";

/// Words of several formats.
const WORDS: [&str; 18] = [
    "%%MatrixMarket matrix coordinate real general\n",
    "symmetric",
    "skew-symmetric",
    "hermitian",
    "pattern",
    "integer",
    "complex",
    "array",
    "AdjacencyGraph\n",
    "WeightedAdjacencyGraph\n",
    "p sp 3 4\n",
    "a 1 2 3\n",
    "# comment\n",
    "% comment\n",
    "\u{feff}",
    "\r\n",
    "\"a\"\"b\"",
    "source,target\n",
];

/// Changes `bytes` in one to eight ways. `others` are seeds of the same format.
pub(crate) fn mutate(bytes: &mut Vec<u8>, others: &[Vec<u8>], text: bool, random: &mut Random) {
    let count = 1 + (random.next_u64().trailing_zeros() as usize).min(7);
    for _ in 0..count {
        if text && random.index(2) == 0 {
            mutate_text(bytes, random);
        } else {
            mutate_bytes(bytes, others, random);
        }
    }
}

fn mutate_bytes(bytes: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    let at = random.index(bytes.len());
    match random.index(12) {
        0 | 1 if !bytes.is_empty() => bytes[at] ^= 1 << random.index(8),
        2 if !bytes.is_empty() => bytes[at] = random.next_u64() as u8,
        3 if !bytes.is_empty() => bytes[at] = *pick(random, &BYTES),
        4 if !bytes.is_empty() => {
            bytes[at] = bytes[at].wrapping_add(if random.index(2) == 0 { 1 } else { 255 });
        }
        5 => {
            let insert: Vec<u8> = (0..=random.index(8)).map(|_| *pick(random, &BYTES)).collect();
            bytes.splice(at..at, insert);
        }
        6 => {
            let range = range(random, bytes.len(), 64);
            bytes.drain(range);
        }
        7 => bytes.truncate(at),
        8 => {
            let copy = bytes[range(random, bytes.len(), 256)].to_vec();
            bytes.splice(at..at, copy);
        }
        9 => {
            let other = pick(random, others);
            let copy = other[range(random, other.len(), 256)].to_vec();
            let target = range(random, bytes.len(), copy.len());
            bytes.splice(target, copy);
        }
        _ => overwrite_integer(bytes, random),
    }
}

/// Writes an integer of 1 to 8 bytes, of a value that is unusual for lengths and offsets.
fn overwrite_integer(bytes: &mut [u8], random: &mut Random) {
    let width = 1 << random.index(4);
    let len = bytes.len() as u64;
    let edges = [
        0u64,
        1,
        2,
        127,
        128,
        255,
        1 << 15,
        1 << 16,
        (1 << 31) - 1,
        1 << 31,
        (1 << 32) - 1,
        1 << 32,
        1 << 62,
    ];
    let value = match random.index(4) {
        0 => *pick(random, &edges),
        1 => pick(random, &edges).wrapping_neg(),
        2 => len.wrapping_add(random.index(5) as u64).wrapping_sub(2),
        _ => random.next_u64() >> random.index(64),
    };
    if bytes.len() >= width {
        let at = random.index(bytes.len() - width + 1);
        bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
    }
}

fn mutate_text(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.index(bytes.len());
    match random.index(8) {
        0..=2 => {
            let range = word_around(bytes, at, |byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
            bytes.splice(range, pick(random, &NUMBERS).bytes());
        }
        3 => {
            let line = word_around(bytes, at, |byte| byte != b'\n');
            let mut copy = bytes[line.clone()].to_vec();
            copy.push(b'\n');
            bytes.splice(line.start..line.start, copy);
        }
        4 => {
            let line = word_around(bytes, at, |byte| byte != b'\n');
            bytes.drain(line);
        }
        5 => {
            bytes.splice(at..at, pick(random, &WORDS).bytes());
        }
        6 => {
            let range = word_around(bytes, at, |byte| !byte.is_ascii_whitespace());
            bytes.splice(range, pick(random, &NUMBERS).bytes());
        }
        _ => {
            let (from, to) = (*pick(random, &BYTES), *pick(random, &BYTES));
            bytes.iter_mut().filter(|byte| **byte == from).for_each(|byte| *byte = to);
        }
    }
}

/// The longest run around `at` of bytes that belong together.
fn word_around(bytes: &[u8], at: usize, belongs: impl Fn(u8) -> bool) -> std::ops::Range<usize> {
    let start = bytes[..at].iter().rposition(|&byte| !belongs(byte)).map_or(0, |i| i + 1);
    let end = bytes[at..].iter().position(|&byte| !belongs(byte)).map_or(bytes.len(), |i| at + i);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::of_case;

    #[test]
    fn a_case_is_made_again_and_most_cases_differ_from_their_seed() {
        let seeds = vec![b"1 2\n3 4\n".to_vec(), Vec::new()];
        let case = |number| {
            let mut random = of_case(1, number);
            let mut bytes = pick(&mut random, &seeds).clone();
            mutate(&mut bytes, &seeds, number % 2 == 0, &mut random);
            bytes
        };
        let cases: Vec<_> = (0..2000).map(case).collect();
        assert_eq!(cases, (0..2000).map(case).collect::<Vec<_>>());
        assert!(cases.iter().filter(|case| seeds.contains(case)).count() < 700);
    }

    #[test]
    fn words_end_where_others_begin() {
        let digits = |at| word_around(b"ab 123,4", at, |byte| byte.is_ascii_digit());
        assert_eq!((digits(4), digits(7), digits(1)), (3..6, 7..8, 1..1));
        assert_eq!(word_around(b"", 0, |_| true), 0..0);
    }
}
