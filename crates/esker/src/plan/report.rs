//! Prices and candidates as JSON.

use esker_graph::Language;

use serde_json::{Map, Value, json};

use super::candidate::{Candidate, encoding_name};
use super::price::Price;

impl Price {
    /// The predicted seconds of each part and in all, and the bytes read from the disk.
    pub fn to_json(&self) -> Value {
        let mut report: Map<_, _> =
            self.parts().iter().map(|(name, taken)| (format!("{name}_seconds"), json!(taken))).collect();
        report.insert("seconds".to_owned(), json!(self.seconds()));
        report.insert("disk_bytes".to_owned(), json!(self.disk_bytes));
        report.into()
    }
}

impl Candidate {
    /// `language` has the words for settings in what hinders it.
    pub(super) fn to_json(&self, language: &dyn Language) -> Value {
        json!({
            "encoding": encoding_name(self.encoding),
            "residency": self.entry().name,
            "graph_bytes": self.graph_bytes,
            "read_bytes": self.read_bytes,
            "least_memory_bytes": self.least_bytes,
            "whole_memory_bytes": self.whole_bytes,
            "predicted": self.obstacle.is_none().then(|| self.price.to_json()),
            "obstacle": self.obstacle.as_ref().map(|obstacle| obstacle.render(language)),
            "unsuited": self.unsuited,
        })
    }
}
