//! Parses and formats bytes, counts, rates and seconds.

/// The first amount of bytes that 64 bits cannot hold: 16 EiB.
const BYTES_END: f64 = 18_446_744_073_709_551_616.0;

/// Parses a number of bytes: `1500`, `256MiB`, `2G`, `1.5 GiB`. KB, MB and GB are powers of 1000; K, M, G,
/// KiB, MiB and GiB are powers of 1024.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = (&text[..digits], text[digits..].trim());
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(format!("unknown unit {unit:?}; use B, KiB, MiB, GiB or TiB, as in 256MiB")),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("{text:?} is not an amount of memory; give one such as 256MiB"))?;
    let amount = number * factor as f64;
    if amount >= BYTES_END {
        return Err(format!("{text:?} is more than the largest amount, {}", bytes(u64::MAX)));
    }
    Ok(amount as u64)
}

/// Formats bytes: `1536` becomes `1.50 KiB`.
pub(crate) fn bytes(amount: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = amount as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{amount} B") } else { format!("{value:.2} {}", UNITS[unit]) }
}

/// Groups digits: `1234567` becomes `1 234 567`.
pub(crate) fn count(amount: u64) -> String {
    let digits = amount.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a count with its unit: `1 edge`, `1 234 edges`.
pub(crate) fn counted(amount: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(amount), if amount == 1 { one } else { many })
}

/// Formats a rate per second in three digits or more: `12 edges/s`, `1.52 k edges/s`, `303 M edges/s`.
pub(crate) fn rate(items: f64, seconds: f64, unit: &str) -> String {
    let rate = if seconds > 0.0 { items / seconds } else { 0.0 };
    let (value, factor) = match rate {
        rate if rate >= 1e9 => (rate / 1e9, "G "),
        rate if rate >= 1e6 => (rate / 1e6, "M "),
        rate if rate >= 1e3 => (rate / 1e3, "k "),
        rate => return format!("{rate:.0} {unit}/s"),
    };
    let digits = if value >= 100.0 { 0 } else { 1 + usize::from(value < 10.0) };
    format!("{value:.digits$} {factor}{unit}/s")
}

/// Formats a duration in seconds or milliseconds.
pub(crate) fn seconds(amount: f64) -> String {
    if amount >= 1.0 { format!("{amount:.2} s") } else { format!("{:.1} ms", amount * 1e3) }
}

#[cfg(test)]
mod tests {
    use super::{bytes, count, parse_bytes, rate};

    #[test]
    fn amounts_of_memory() {
        for (text, expected) in [
            ("0", 0),
            ("1500", 1500),
            ("256MiB", 256 << 20),
            ("2G", 2 << 30),
            ("1.5 KiB", 1536),
            ("2MB", 2_000_000),
        ] {
            assert_eq!(parse_bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "MiB", "12 parsecs", "-1", "1..2"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        // An amount that 64 bits do not hold once became the largest that they do.
        for text in ["99999999TiB", "16777216TiB", "18446744073709551616"] {
            let refused = parse_bytes(text).unwrap_err();
            assert_eq!(refused, format!("{text:?} is more than the largest amount, 16777216.00 TiB"));
        }
        assert_eq!(parse_bytes("16777215TiB"), Ok(16_777_215 << 40));
        assert_eq!(bytes(1536), "1.50 KiB");
        assert_eq!(count(1234567), "1 234 567");
        assert_eq!(count(12), "12");
    }

    #[test]
    fn rates_name_what_they_count() {
        let cases = [
            (0.0, "0 edges/s"),
            (999.0, "999 edges/s"),
            (1520.0, "1.52 k edges/s"),
            (3.03e8, "303 M edges/s"),
        ];
        for (items, expected) in cases {
            assert_eq!(rate(items, 1.0, "edges"), expected);
        }
        assert_eq!(rate(10.0, 0.0, "rows"), "0 rows/s");
    }
}
