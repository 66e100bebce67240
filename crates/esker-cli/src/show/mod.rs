//! The output of the command: texts, progress, rows of answers, figures.

pub(crate) mod text;
pub(crate) mod rounding;
pub(crate) mod alerts;
pub(crate) mod rows;
pub(crate) mod answer_rows;
pub(crate) mod figures;
pub(crate) mod progress;
pub(crate) mod group_events;
pub(crate) mod shown;
pub(crate) mod energy;
