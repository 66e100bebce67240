//! The rule for duplicate edges that a batch follows.

use esker_format::{Duplicates, Error, Result};

use super::batch::Batch;

impl Batch {
    /// Chooses the rule for edges that exist or are added several times, other than the one of the database
    /// ([`crate::manifest::Manifest::duplicates`]). The commit applies it.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the database cannot follow it: only a multigraph keeps parallel edges, and it
    /// keeps all of them; some rules need a weight.
    pub fn set_duplicates(&mut self, rule: Duplicates) -> Result<()> {
        let is_kept = |rule| rule == Duplicates::Keep;
        if is_kept(rule) != is_kept(self.duplicates) {
            let (has, remedy) = match self.duplicates {
                Duplicates::Keep => ("keeps parallel edges", "import the edges to a new database"),
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

    /// The rule for duplicate edges.
    pub fn duplicates(&self) -> Duplicates {
        self.duplicates
    }
}
