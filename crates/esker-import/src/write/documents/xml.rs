//! What the writers of XML documents share.

use esker_format::Result;

use crate::write::elements::{unfit, utf8};

/// Appends a text, escaped so that a reader gets every character back, in an element or an attribute.
///
/// # Errors
/// If it is not UTF-8, or has characters that no XML document may have.
pub(super) fn push_escaped(out: &mut Vec<u8>, text: &[u8], title: &str) -> Result<()> {
    if text.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'<' | b'>' | b'"')) {
        out.extend_from_slice(text);
        return Ok(());
    }
    for character in utf8(text, title)?.chars() {
        match character {
            '&' => out.extend_from_slice(b"&amp;"),
            '<' => out.extend_from_slice(b"&lt;"),
            '>' => out.extend_from_slice(b"&gt;"),
            '"' => out.extend_from_slice(b"&quot;"),
            // As they stand, a reader makes other characters of them.
            '\n' | '\r' | '\t' => out.extend_from_slice(format!("&#{};", u32::from(character)).as_bytes()),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {
                return Err(unfit(text, "has a character that XML does not allow", title));
            }
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Ok(())
}
