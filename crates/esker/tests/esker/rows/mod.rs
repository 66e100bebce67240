//! Conditions, groups and lists against what they mean of rows.

mod world;

mod conditions;
mod groups;
mod kinds;
mod paths;
