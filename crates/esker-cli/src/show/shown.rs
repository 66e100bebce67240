//! What a command shows of answers on several graphs, such as versions and windows, and the file of their
//! values.

use std::path::Path;

use esker::answer::Answer;
use esker::catalogue::Entry;
use esker::export::ExportOptions;
use esker::graph::Cancel;
use esker::groups::GroupEvent;
use esker::output::{StepColumn, StepValue, StepsFile};
use esker::store::View;
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::show::answer_rows::answer_rows;
use crate::show::figures::{GraphSize, sized_figures};
use crate::show::group_events::event_rows;
use crate::show::progress::Bar;
use crate::show::rows::{PrintedRows, RowFormat, RowTable};

/// `--output -`.
pub(crate) const STANDARD_OUTPUT: &str = "-";

/// What was found on a graph, which is a version or a part of one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundOn<'f> {
    pub(crate) entry: &'static Entry,
    pub(crate) view: &'f View,
    /// Of the graph.
    pub(crate) size: GraphSize,
    pub(crate) answer: &'f Answer,
    /// What became of the groups of the graph before.
    pub(crate) events: &'f [GroupEvent],
}

/// What of the answer on each graph is shown on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownRows {
    /// Nothing: a file of all values goes there.
    Nothing,
    /// The sizes of the graph and the figures of the answer.
    Figures,
    /// The rows with the largest values.
    Top(usize),
    /// All rows.
    All,
    /// What became of each group.
    Events,
}

impl ShownRows {
    /// What `--top` and `--output` ask for. `like_files`: rows on standard output have the form of files.
    pub(crate) fn of(top: Option<usize>, output: Option<&Path>, like_files: bool) -> Self {
        let is_to_stdout = output == Some(Path::new(STANDARD_OUTPUT));
        match top {
            Some(count) => Self::Top(count),
            None if is_to_stdout && like_files => Self::Nothing,
            None if is_to_stdout => Self::All,
            None => Self::Figures,
        }
    }

    /// The file to which all values are written: `--output`, unless its rows are shown otherwise.
    pub(crate) fn file(
        self,
        output: Option<&Path>,
        overwrite: bool,
        cancel: &Cancel,
    ) -> Result<Option<StepsFile>, Failure> {
        let is_file = |path: &&Path| *path != Path::new(STANDARD_OUTPUT) || self == Self::Nothing;
        let options = ExportOptions { overwrite, cancel: cancel.clone(), ..ExportOptions::default() };
        Ok(output.filter(is_file).map(|path| StepsFile::create(path, &options)).transpose()?)
    }

    /// The rows of what was found.
    pub(crate) fn rows(self, found: &FoundOn<'_>, format: RowFormat) -> Result<RowTable, Failure> {
        let &FoundOn { entry, view, size, answer, events } = found;
        match self {
            Self::Nothing => Ok(RowTable::default()),
            Self::Figures => Ok(sized_figures(entry, view, size, answer, format)),
            Self::Top(count) => answer_rows(view.version(), answer, Some(count), format),
            Self::All => answer_rows(view.version(), answer, None, format),
            Self::Events => event_rows(view.version(), events),
        }
    }
}

/// The answers on versions, one after another, as they are shown and written.
pub(crate) struct ShownVersions {
    shown: ShownRows,
    format: RowFormat,
    printed: PrintedRows,
    file: Option<StepsFile>,
    pub(crate) bar: Bar,
}

impl ShownVersions {
    /// None yet. `file` is that of all values.
    pub(crate) fn new(shown: ShownRows, format: RowFormat, file: Option<StepsFile>, bar: Bar) -> Self {
        Self { shown, format, printed: PrintedRows::new(format), file, bar }
    }

    /// Shows what was found on a version, and writes its values.
    pub(crate) fn add(&mut self, number: u64, found: &FoundOn<'_>) -> Outcome {
        interrupt::check()?;
        if let Some(file) = &mut self.file {
            let step = StepColumn { name: "version", value: StepValue::Number(number) };
            file.add(&[step], found.view.version().ids(), found.answer)?;
        }
        if self.shown == ShownRows::Nothing {
            return Ok(());
        }
        let mut rows = RowTable::default();
        let of_version = self.shown.rows(found, self.format)?;
        rows.append("version", &json!(number), of_version);
        self.bar.aside(|| self.printed.add(rows))
    }

    /// Prints what waits, and completes the file.
    pub(crate) fn finish(self) -> Outcome {
        self.printed.finish()?;
        if let Some(file) = self.file {
            file.finish()?;
        }
        Ok(())
    }
}
