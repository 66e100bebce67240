//! Numbers that a 64-bit float holds, or says why not.

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
    /// Not a number at all.
    Other,
}

impl NotNumber {
    /// The reason, as what is said of the text.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Empty => "is empty where a number belongs",
            Self::NotFinite => "is not a finite number",
            Self::TooLong => {
                "is an integer beyond 64 bits with a sign; if it may be rounded, write it with an exponent, like 1.2e22"
            }
            Self::TooSmall => "is closer to 0 than a number can be; write 0 if that is meant",
            Self::Other => "is not a number; write it like -1.5e3",
        }
    }
}

/// The 64-bit float of a decimal number. Fractions and numbers with an exponent are rounded, as floats are everywhere; an integer is not.
///
/// # Errors
/// If the text is no number, or no float holds it.
pub fn float(text: &str) -> Result<f64, NotNumber> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).as_bytes();
    match text.parse::<f64>() {
        Ok(value) if !value.is_finite() => Err(NotNumber::NotFinite),
        Ok(0.0) if !is_zero(digits) => Err(NotNumber::TooSmall),
        Ok(value) if is_cut(digits, value) => Err(NotNumber::TooLong),
        Ok(value) => Ok(value),
        Err(_) if text.is_empty() => Err(NotNumber::Empty),
        Err(_) => Err(NotNumber::Other),
    }
}

/// Whether a number without its sign is 0: no digit before the exponent is another.
fn is_zero(digits: &[u8]) -> bool {
    let mut digits = digits.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    digits.all(|byte| matches!(byte, b'0' | b'.'))
}

/// Whether a number without its sign is an integer whose float is another.
fn is_cut(digits: &[u8], value: f64) -> bool {
    let is_integer = digits.iter().all(u8::is_ascii_digit);
    let zeros = digits.iter().take_while(|&&byte| byte == b'0').count();
    is_integer && value != 0.0 && format!("{:.0}", value.abs()).as_bytes() != &digits[zeros..]
}
