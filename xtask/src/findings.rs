//! What the checks report.

/// Everything that `tidy` found, one line each.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// What makes the command fail.
    pub(crate) errors: Vec<String>,
    /// What does not.
    pub(crate) warnings: Vec<String>,
}
