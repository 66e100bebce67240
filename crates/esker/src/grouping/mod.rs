//! What one line of SQL asks of edges and vertices: groups with counts, sums and extremes, and lists that are
//! sorted by a property.
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # let csv = *b"source,target,amount\nann,bob,5\nann,eve,7\nbob,eve,1\n";
//! # let path = directory.path().join("pay.esker");
//! # let read = esker::import::ReadOptions {
//! #     properties: esker::import::PickProperties::All,
//! #     ..Default::default()
//! # };
//! # let edges = [esker::import::Input::memory("pay.csv", csv)];
//! # esker::import::import_inputs(&edges, &path, &read, &Default::default())?;
//! # let version = esker::store::Store::open(&path)?.latest()?;
//! use esker::grouping::{GroupQuery, Measure, group_edges};
//!
//! let query = GroupQuery {
//!     by: vec!["source".into()],
//!     measures: vec![Measure::Sum("amount".to_owned()), Measure::Count],
//!     ..GroupQuery::default()
//! };
//! let run = esker::graph::Run::with_threads(1)?;
//! let table = group_edges(&version.view(), None, &query, &run)?;
//! assert_eq!(table.columns, ["source", "sum_amount", "count"]);
//! assert_eq!(table.row(0)?, ["ann".into(), 12.into(), 2.into()] as [serde_json::Value; 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod sort;
mod exact_sum;

mod keys;
mod measures;

mod rows;
mod groups;
mod table;

mod query;

mod edges;
mod vertices;

pub use edges::{edge_columns, group_edges, list_edges};
pub use keys::{GroupEnd, GroupKey, keys_of};
pub use measures::Measure;
pub(crate) use measures::MeasureColumn;
pub use query::GroupQuery;
pub(crate) use sort::{SortKey, sorted};
pub(crate) use table::place_of;
pub use table::{GroupOrder, GroupTable};
pub use vertices::{VertexConditions, group_vertices, list_vertices, vertex_columns};
