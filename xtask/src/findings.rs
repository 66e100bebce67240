//! The result of `tidy`, and the list of known offenders.

use std::collections::BTreeSet;
use std::path::Path;

/// Known breaches of a rule, one `rule subject` a line. The list may only shrink.
const KNOWN: &str = "xtask/known.txt";

/// Everything that `tidy` found, one line each.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Breaches; one makes the command fail.
    pub(crate) errors: Vec<String>,
    /// Known breaches that are still there.
    pub(crate) warnings: Vec<String>,
    known: BTreeSet<String>,
    met: BTreeSet<String>,
}

impl Findings {
    /// Nothing found yet, with the list of known offenders read from the workspace.
    pub(crate) fn new(root: &Path) -> std::io::Result<Self> {
        let known = match std::fs::read_to_string(root.join(KNOWN)) {
            Ok(text) => text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeSet::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { known, ..Self::default() })
    }

    /// Reports a breach of a rule by a subject: a warning if the list of known offenders names the pair,
    /// otherwise an error.
    pub(crate) fn breach(&mut self, rule: &str, subject: &str, message: String) {
        let entry = format!("{rule} {subject}");
        if self.known.contains(&entry) {
            self.met.insert(entry);
            self.warnings.push(message);
        } else {
            self.errors.push(message);
        }
    }

    /// Reports entries of the list that no breach met, so that the list shrinks with every repair.
    pub(crate) fn check_list(&mut self) {
        let gone = self.known.difference(&self.met);
        let message = |entry| format!("{KNOWN}: `{entry}` is repaired: run cargo xtask tidy --shrink");
        self.errors.extend(gone.map(message));
    }

    /// Deletes these entries.
    pub(crate) fn shrink_list(&self, root: &Path) -> std::io::Result<()> {
        let path = root.join(KNOWN);
        let text = std::fs::read_to_string(&path)?;
        let is_left = |line: &&str| line.starts_with('#') || self.met.contains(*line);
        std::fs::write(
            &path,
            text.lines().filter(is_left).map(|line| format!("{line}\n")).collect::<String>(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Findings;

    #[test]
    fn known_breaches_warn_and_repaired_ones_must_leave_the_list() {
        let known = ["rule old", "rule repaired"].map(str::to_owned).into();
        let mut findings = Findings { known, ..Findings::default() };
        findings.breach("rule", "old", "an old one".to_owned());
        findings.breach("rule", "new", "a new one".to_owned());
        findings.check_list();
        assert_eq!(findings.warnings, ["an old one"]);
        assert_eq!(
            findings.errors,
            ["a new one", "xtask/known.txt: `rule repaired` is repaired: run cargo xtask tidy --shrink"]
        );
    }
}
