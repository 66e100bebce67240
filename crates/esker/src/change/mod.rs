//! Changes to a database from user input: files and streams of edges, tables of vertex properties, scripts.

mod target;
mod definitions;
mod room;
mod define;
mod value;
mod given;
mod columns;
mod bounds;
mod feed_policy;
mod stream_options;
mod clock;
mod feed_options;
mod feed;
mod position;
mod present;
mod expired;
mod rejects;
mod expire;
mod fingerprint;
mod stream;
mod vertices;
mod named;
mod script;

pub use columns::{EdgeInput, Purpose, open_edges};
pub use define::{Definition, EDGE_ID, give_edge_ids};
pub use expire::{ExpireReport, expire, expire_as_declared};
pub use expired::{Expiries, WindowVersion};
pub use feed::feed;
pub use feed_options::{FeedOptions, FeedReport, OnFeed};
pub use script::{ScriptReport, commit_script, quoted};
pub use stream::{StreamReport, check_message, newest_watermark, stream};
pub use stream_options::{CommitEvery, Expiry, Late, OnStream, Pace, StreamOptions, StreamState};
pub use target::Target;
pub use value::{InputValue, convert_or_widen};
pub use vertices::{SetReport, set_from_table, set_vertex};
