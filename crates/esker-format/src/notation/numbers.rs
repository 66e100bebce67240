//! Numbers with decimal commas, and with signs between groups of three digits.

use crate::value::decimal::is_numeral;

/// A number with a point for its decimal comma, and without the points between its thousands; `None` if
/// points stand elsewhere.
pub(super) fn without_comma(text: &[u8]) -> Option<Vec<u8>> {
    let (whole, fraction) = match text.iter().position(|&byte| byte == b',') {
        Some(comma) => (&text[..comma], Some(&text[comma + 1..])),
        None => (text, None),
    };
    if fraction.is_some_and(|fraction| fraction.iter().any(|byte| matches!(byte, b'.' | b','))) {
        return None;
    }
    let mut groups = whole.split(|&byte| byte == b'.');
    let first = groups.next()?;
    let has_groups = whole.contains(&b'.');
    let digits = first.strip_prefix(b"-").unwrap_or(first);
    if has_groups && !(1..=3).contains(&digits.len()) {
        return None;
    }
    let mut number = first.to_vec();
    for group in groups {
        if group.len() != 3 || !group.iter().all(u8::is_ascii_digit) {
            return None;
        }
        number.extend_from_slice(group);
    }
    if let Some(fraction) = fraction {
        number.push(b'.');
        number.extend_from_slice(fraction);
    }
    Some(number)
}

/// A number without the commas between its groups of three digits; `None` if it is none, or has them
/// elsewhere.
pub(super) fn without_groups(text: &[u8]) -> Option<Vec<u8>> {
    let whole = text.split(|&byte| byte == b'.').next()?;
    let mut groups = whole.split(|&byte| byte == b',');
    let first = groups.next()?;
    let digits = first.strip_prefix(b"-").or(first.strip_prefix(b"+")).unwrap_or(first);
    let is_group = |group: &[u8]| group.len() == 3 && group.iter().all(u8::is_ascii_digit);
    let has_first = (1..=3).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let is_grouped = has_first && whole.contains(&b',') && groups.all(is_group);
    let plain: Vec<u8> =
        whole.iter().filter(|&&byte| byte != b',').chain(&text[whole.len()..]).copied().collect();
    (is_grouped && is_numeral(&plain)).then_some(plain)
}
