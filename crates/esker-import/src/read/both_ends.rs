//! Inputs that have each undirected edge at both of its ends, which their format does not say.

use std::sync::Arc;

use esker_format::{Error, Result, TableRecord};
use esker_graph::{Message, Setting, message};

use crate::read::source::{BlockParser, InputBlock, Reader, Schema};

/// A reader whose rows are the two directions of undirected edges.
pub(crate) struct BothEnds {
    schema: Schema,
    edges: Box<dyn Reader>,
}

impl BothEnds {
    /// Takes the rows of `edges` so.
    ///
    /// # Errors
    /// If the format says so itself.
    pub(crate) fn new(edges: Box<dyn Reader>) -> Result<Self> {
        let mut schema = edges.schema().clone();
        if schema.both_ends {
            let reason = " has no effect: the format has each undirected edge at both of its ends";
            return Err(Error::usage(message![Setting::BothEnds.to(true), reason]));
        }
        (schema.both_ends, schema.directed) = (true, Some(false));
        Ok(Self { schema, edges })
    }
}

impl Reader for BothEnds {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn limit_memory(&mut self, bytes: u64, threads: usize) -> Result<u64> {
        self.edges.limit_memory(bytes, threads)
    }

    fn table(&self) -> Option<TableRecord> {
        self.edges.table().map(|table| TableRecord { both_ends: true, ..table })
    }

    fn notes(&self) -> Vec<Message> {
        self.edges.notes()
    }

    fn entries_add_up(&self) -> Result<bool> {
        self.edges.entries_add_up()
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        self.edges.parser()
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        self.edges.next_block()
    }
}
