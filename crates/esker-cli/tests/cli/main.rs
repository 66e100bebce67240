//! The command as a person meets it.
#![allow(clippy::disallowed_methods)] // The tests read and write files of their own.

mod place;
mod confined;

#[cfg(feature = "mcp")]
mod agents;
mod alerts;
mod choices;
mod mistakes;
mod command;
mod comparing;
mod first_files;
mod follows;
mod group_events;
mod formats;
mod readers;
mod drawing;
mod plotting;
mod effects;
mod questions;
mod queued;
mod id_lists;
mod odd_ids;
mod operations;
mod spelled;
mod rules;
mod losses;
mod selections;
mod serving;
mod storing;
mod streams;
mod syncs;
mod tables;
mod rejects;
mod vertex_tables;
mod expiries;
mod kills;
mod windows;
mod views;
mod kinds;
mod examples;
mod graphalytics;
mod versions;
mod writers;
mod copies;
mod vectors;
mod vertices;
mod values;
mod long_texts;
mod many_texts;
mod endings;
mod inputs;
mod later_files;
mod limits;
mod rates;
mod rounding;
mod notations;
mod numbers;
mod parallel;
mod times;
mod types;
#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "cluster")]
mod hosts;
