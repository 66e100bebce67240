//! Suggests an existing id for a mistyped one.

use esker_format::Result;

/// Maximum length of texts for which edits are tried.
const VARIED_LEN_MAX: usize = 40;

/// An existing text similar to `text`: without surrounding spaces or quotes, in another case, or one edit
/// away (two adjacent letters swapped, or one letter removed, replaced or added).
pub(super) fn suggest(text: &str, mut exists: impl FnMut(&str) -> Result<bool>) -> Result<Option<String>> {
    let bare = text.trim().trim_matches(['"', '\'']).to_owned();
    let mut candidates = vec![bare.to_lowercase(), bare.to_uppercase(), capitalised(&bare), bare];
    if text.len() <= VARIED_LEN_MAX {
        add_edits(text, &mut candidates);
    }
    for candidate in candidates {
        if exists(&candidate)? {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    first.into_iter().flat_map(char::to_uppercase).chain(letters.flat_map(char::to_lowercase)).collect()
}

fn add_edits(text: &str, candidates: &mut Vec<String>) {
    let letters: Vec<char> = text.chars().collect();
    let alphabet = || ('a'..='z').chain('0'..='9').chain('A'..='Z').chain("-_.:/ ".chars());
    let mut edit = |at: usize, removed: usize, added: &[char]| {
        candidates.push(letters[..at].iter().chain(added).chain(&letters[at + removed..]).collect());
    };
    for (at, pair) in letters.windows(2).enumerate() {
        edit(at, 2, &[pair[1], pair[0]]);
    }
    (0..letters.len()).for_each(|at| edit(at, 1, &[]));
    for letter in alphabet() {
        (0..letters.len()).for_each(|at| edit(at, 1, &[letter]));
        (0..=letters.len()).for_each(|at| edit(at, 0, &[letter]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_one_edit_away_is_suggested() {
        let known = |candidate: &str| Ok(candidate == "alice");
        for typed in ["alcie", "Alice", "ALICE", " alice ", "'alice'", "alic", "alicee", "elice", "lice"] {
            assert_eq!(suggest(typed, known).unwrap().as_deref(), Some("alice"), "{typed}");
        }
        for typed in ["", "bob", "a", &"x".repeat(100)] {
            assert_eq!(suggest(typed, known).unwrap(), None, "{typed}");
        }
    }
}
