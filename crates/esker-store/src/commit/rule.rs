//! The rule for duplicate edges that a batch follows.

use esker_format::{Duplicates, Error, Result};

use super::batch::Batch;
use super::scope::reads_edges;

impl Batch {
    /// Chooses the rule for edges that exist or are added several times, other than the one of the database
    /// ([`crate::manifest::Manifest::duplicates`]). The commit applies it.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the database cannot follow it: one that keeps parallel edges goes on doing so,
    /// and no other can; some rules need a weight.
    pub fn set_duplicates(&mut self, rule: Duplicates) -> Result<()> {
        let has_kinds = self.edge_properties.iter().any(|property| property.kind);
        let is_joined = |rule: Duplicates| !rule.keeps_parallel();
        if rule != self.duplicates && !(is_joined(rule) && is_joined(self.duplicates)) {
            let (has, remedy) = match self.duplicates {
                Duplicates::Keep => ("keeps parallel edges", "import the edges to a new database"),
                Duplicates::Rows => {
                    ("keeps parallel edges that differ in a value", "import the edges to a new database")
                }
                _ if has_kinds => (
                    "holds one edge of a kind between two vertices",
                    "import the edges to a new database that keeps them",
                ),
                _ => (
                    "holds one edge between two vertices",
                    "import the edges to a new database that keeps them",
                ),
            };
            return Err(Error::invalid(format!(
                "this database {has}, so duplicates cannot follow the rule {:?}: {remedy}",
                rule.name()
            )));
        }
        if rule.needs_weight() && !self.edge_properties.iter().any(|property| property.weight) {
            return Err(Error::invalid(format!(
                "duplicates cannot follow the rule {:?}, because the edges of this database have no weight",
                rule.name()
            )));
        }
        self.duplicates = rule;
        Ok(())
    }

    /// Whether the commit has to know which edges there are, to apply the rule.
    pub(crate) fn rule_reads_edges(&self) -> bool {
        reads_edges(self.duplicates, &self.edge_properties)
    }

    /// The rule for duplicate edges.
    pub fn duplicates(&self) -> Duplicates {
        self.duplicates
    }
}
