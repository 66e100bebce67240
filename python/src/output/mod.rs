//! From answers to arrays and tables of Python.

pub(crate) mod row_order;
pub(crate) mod values;
pub(crate) mod answer;
pub(crate) mod groups;
pub(crate) mod stream;
pub(crate) mod edges;
pub(crate) mod report;
