//! Selecting a version by number, tag or time, or the latest.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use esker_format::{Error, Result, Sought, VersionRecord};

use super::time::{MS_NANOSECONDS, format_time, looks_like_time, parse_nanoseconds, parse_time};

/// Maximum number of versions or tags in an error message.
const LISTED_MAX: usize = 12;
const LATEST: &str = "latest";

/// A version, as a user specifies it.
///
/// ```
/// use esker_store::manifest::VersionSelector;
///
/// assert_eq!("latest".parse::<VersionSelector>()?, VersionSelector::Latest);
/// assert_eq!("17".parse::<VersionSelector>()?, VersionSelector::Number(17));
/// assert_eq!("monday".parse::<VersionSelector>()?, VersionSelector::Tag("monday".to_owned()));
/// assert!(matches!("2026-11-29".parse::<VersionSelector>()?, VersionSelector::Time(_)));
/// # Ok::<(), esker_store::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionSelector {
    /// The newest version: `latest`.
    Latest,
    /// The version with this number.
    Number(u64),
    /// The version with this tag.
    Tag(String),
    /// The newest version at this event time, in nanoseconds since 1970, UTC. Parsing a day, minute or second
    /// gives its last nanosecond.
    Time(i128),
}

impl FromStr for VersionSelector {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        if text == LATEST {
            return Ok(Self::Latest);
        }
        if looks_like_time(text) {
            parse_time(text).map_err(Error::invalid)?;
            return parse_nanoseconds(text).map(|range| Self::Time(*range.end())).map_err(Error::invalid);
        }
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = text.parse().map_err(|_| Error::invalid(format!("there is no version {text}")))?;
            return Ok(Self::Number(number));
        }
        Ok(Self::Tag(text.to_owned()))
    }
}

impl fmt::Display for VersionSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latest => LATEST.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Tag(name) => name.fmt(f),
            Self::Time(time) => format_time((time / MS_NANOSECONDS) as u64).fmt(f),
        }
    }
}

impl VersionSelector {
    /// The number of the selected version among `versions`, oldest first, and `tags`.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is none, with a list of the existing versions or tags.
    pub fn resolve(&self, versions: &[VersionRecord], tags: &BTreeMap<String, u64>) -> Result<u64> {
        let none = |reason: String| Err(Error::not_found(Sought::Version, reason));
        let exists = |number: u64| versions.iter().any(|version| version.number == number);
        match self {
            Self::Latest => match versions.last() {
                Some(version) => Ok(version.number),
                None => none("the database has no versions".to_owned()),
            },
            Self::Number(number) if exists(*number) => Ok(*number),
            Self::Number(number) => {
                let newest = versions.last().map_or(0, |version| version.number);
                let forgotten = if *number > 0 && *number < newest { " any more" } else { "" };
                none(format!(
                    "there is no version {number}{forgotten}: there {}",
                    describe_versions(versions)
                ))
            }
            Self::Tag(name) => match tags.get(name) {
                Some(&number) => Ok(number),
                None => none(format!(
                    "no version is tagged {name:?}: {}. Give a number, a tag, a time such as 2026-11-21, or latest",
                    describe_tags(tags)
                )),
            },
            Self::Time(time) => {
                match versions.iter().rfind(|version| i128::from(version.time_ms) * MS_NANOSECONDS <= *time) {
                    Some(version) => Ok(version.number),
                    None => none(format!(
                        "there was no version yet at {}: {}",
                        format_time((time / MS_NANOSECONDS) as u64),
                        versions.first().map_or_else(
                            || "the database has no versions".to_owned(),
                            |oldest| format!(
                                "the oldest is version {}, of {}",
                                oldest.number,
                                format_time(oldest.time_ms)
                            )
                        )
                    )),
                }
            }
        }
    }
}

/// Checks the name of a tag: it must not be mistakable for another selector or an option, nor contain spaces.
///
/// # Errors
/// [`Error::Invalid`] with the reason.
pub fn check_tag(name: &str) -> Result<()> {
    let reason = if name.is_empty() {
        "is empty"
    } else if name.len() > 200 {
        "is longer than 200 bytes"
    } else if name == LATEST {
        "always means the newest version"
    } else if name.bytes().all(|byte| byte.is_ascii_digit()) {
        "could be mistaken for a version number"
    } else if looks_like_time(name) {
        "could be mistaken for a time"
    } else if name.starts_with('-') {
        "could be mistaken for an option"
    } else if name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        "contains spaces or control characters"
    } else {
        return Ok(());
    };
    Err(Error::invalid(format!("{name:?} cannot be a tag: it {reason}")))
}

/// Completes a sentence that begins with "there": `are versions 1, 3 to 7, 9`.
fn describe_versions(versions: &[VersionRecord]) -> String {
    let numbers: Vec<u64> = versions.iter().map(|version| version.number).collect();
    let runs: Vec<String> = numbers
        .chunk_by(|a, b| a + 1 == *b)
        .filter_map(|run| match run {
            [] => None,
            [one] => Some(one.to_string()),
            [first, .., last] => Some(format!("{first} to {last}")),
        })
        .collect();
    match &runs[..] {
        [] => "are none".to_owned(),
        [one] if numbers.len() == 1 => format!("is version {one} only"),
        [.., newest] if runs.len() > LISTED_MAX => {
            let rest = runs.len() - LISTED_MAX;
            format!("are versions {}, ... ({rest} more), {newest}", runs[..LISTED_MAX - 1].join(", "))
        }
        _ => format!("are versions {}", runs.join(", ")),
    }
}

fn describe_tags(tags: &BTreeMap<String, u64>) -> String {
    let names: Vec<&str> = tags.keys().map(String::as_str).collect();
    match names.len() {
        0 => "there are no tags".to_owned(),
        count if count > LISTED_MAX => {
            format!("tags are {}, ... ({} more)", names[..LISTED_MAX].join(", "), count - LISTED_MAX)
        }
        _ => format!("tags are {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::versions::tests::version;
    use super::*;

    fn select(text: &str) -> std::result::Result<u64, String> {
        let day = 86_400_000;
        let versions = [version(1, 0), version(3, day), version(4, day + 1500), version(5, 3 * day)];
        let tags = [("monday".to_owned(), 3), ("v2".to_owned(), 5)].into_iter().collect();
        let selector: VersionSelector = text.parse().map_err(|error: Error| error.to_string())?;
        selector.resolve(&versions, &tags).map_err(|error| error.to_string())
    }

    #[test]
    fn every_kind_of_selector_resolves() {
        for (text, number) in [
            ("latest", 5),
            (" 4 ", 4),
            ("monday", 3),
            ("v2", 5),
            ("1970-01-01", 1),
            ("1970-01-02", 4),
            ("1970-01-02T00:00:00Z", 3),
            ("1970-01-02T00:00", 4),
            ("1970-01-02T01:00:01+01:00", 4),
            ("1970-01-04T00:00:00Z", 5),
            ("2200-01-01", 5),
            ("@0", 1),
            ("@86401499", 3),
        ] {
            assert_eq!(select(text), Ok(number), "{text}");
        }
    }

    #[test]
    fn an_unknown_version_is_an_error_that_lists_the_existing_ones() {
        for (text, message) in [
            ("2", "there is no version 2 any more: there are versions 1, 3 to 5"),
            ("9", "there is no version 9: there are versions 1, 3 to 5"),
            ("99999999999999999999", "there is no version 99999999999999999999"),
            ("tuesday", "no version is tagged \"tuesday\": tags are monday, v2."),
            ("1970-02-30", "\"1970-02-30\" is not a time"),
            ("", "no version is tagged \"\""),
        ] {
            let error = select(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
        let early = VersionSelector::Time(5 * MS_NANOSECONDS)
            .resolve(&[version(7, 1000)], &BTreeMap::new())
            .unwrap_err();
        let expected = "there was no version yet at 1970-01-01T00:00:00.005Z: the oldest is version 7, of 1970-01-01T00:00:01Z";
        assert_eq!(early.to_string(), expected);
        let many: Vec<VersionRecord> = (1..100).map(|number| version(number * 2, 0)).collect();
        let error = VersionSelector::Number(7).resolve(&many, &BTreeMap::new()).unwrap_err().to_string();
        assert!(error.ends_with("18, 20, 22, ... (87 more), 198"), "{error}");
    }

    #[test]
    fn a_tag_must_not_be_mistakable_for_another_selector() {
        for name in
            ["", "latest", "17", "2026-11-21", "2026-1x", "@home", "-x", "two words", &"x".repeat(201)]
        {
            assert!(check_tag(name).is_err(), "{name}");
        }
        for name in ["monday", "v1.0", "2026", "before-the-move", "été", "1st", "2026-release"] {
            assert_eq!(check_tag(name).is_ok(), name != "2026", "{name}");
        }
    }
}
