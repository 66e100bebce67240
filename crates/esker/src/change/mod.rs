//! Changes to a database from user input: files and streams of edges, tables of vertex properties, scripts.

mod target;
mod define;
mod value;
mod columns;
mod feed;
mod position;
mod rejects;
mod stream;
mod vertices;
mod script;

pub use columns::{EdgeInput, Purpose, open_edges};
pub use define::Definition;
pub use feed::{FeedOptions, FeedReport, OnFeed, feed};
pub use script::{ScriptReport, commit_script, quoted};
pub use stream::{CommitEvery, Late, OnStream, Pace, StreamOptions, StreamReport, StreamState, stream};
pub use target::Target;
pub use value::{Given, convert, convert_or_widen};
pub use vertices::{SetReport, set_from_table, set_vertex};
