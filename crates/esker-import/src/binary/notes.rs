//! What is said of a table of edges: which columns are taken for what.

use std::path::PathBuf;
use std::sync::Arc;

use esker_graph::{Message, Setting, message};

use super::table::Picked;
use crate::columns::store_unread;
use crate::read::format::ReadOptions;
use crate::read::input_format::InputFormat;
use crate::read::source::IdKind;

impl Picked {
    /// How a file is read, for the user: which columns are taken for what.
    pub(super) fn notes(&self, path: &Arc<PathBuf>, format: &InputFormat, ids: IdKind) -> Vec<Message> {
        let role = |role: &str, name: &str| match name == role {
            true => name.to_owned(),
            false => format!("{role} {name}"),
        };
        let mut taken = vec![role("source", &self.ends[0]), role("target", &self.ends[1])];
        taken.extend(self.properties.iter().enumerate().map(|(index, name)| {
            match self.weight == Some(index) {
                true => role("weight", name),
                false => name.clone(),
            }
        }));
        let (path, ids) = (path.display(), if ids == IdKind::Text { "text ids" } else { "integer ids" });
        vec![format!("Reading {path} as {}: {} ({ids})", format.title, taken.join(", ")).into()]
    }

    /// What is left out of a file, for the user.
    pub(super) fn warnings(&self, path: &Arc<PathBuf>, options: &ReadOptions) -> Vec<Message> {
        let path = path.display();
        let unread = (!self.unread.is_empty()).then(|| {
            let are = if self.unread.len() == 1 { "the column" } else { "the columns" };
            let verb = if self.unread.len() == 1 { "is" } else { "are" };
            message![
                format!("{path}: {are} {} {verb} not read; ", shortened(&self.unread)),
                store_unread(options),
            ]
        });
        let left_out = (!self.left_out.is_empty()).then(|| {
            let names = self.left_out.join(", ");
            format!("Leaving out columns of {path} that hold neither numbers nor texts: {names}").into()
        });
        let spans = (!self.spans.is_empty()).then(|| {
            let (names, first) = (self.spans.join(", "), &self.spans[0]);
            message![
                format!("Leaving out columns of {path} with times of day or lengths of time, "),
                format!("which no type of a property keeps: {names}; "),
                Setting::Schema.to_type(first, "i64"),
                " takes the numbers in the file's own unit",
            ]
        });
        unread.into_iter().chain(left_out).chain(spans).collect()
    }
}

/// The first names of a list, and how many more there are.
fn shortened(names: &[String]) -> String {
    const SHOWN_MAX: usize = 10;
    let more = names.len().saturating_sub(SHOWN_MAX);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
