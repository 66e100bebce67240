//! What is told of an answer that follows versions: its rows, and alerts.

use std::fmt;

use esker::alert::{Alert, FollowAlerts, FollowBegin, SmallChanges};
use esker::answer::{Value, Values};
use esker::follow::{Changed, Follow, FollowStep, KeptValues, Method};
use esker::graph::{Run, vertex};
use esker::window::Times;
use serde_json::json;

use crate::args::size::counted;
use crate::failure::Outcome;
use crate::interrupt;
use crate::show::alerts::AlertSink;
use crate::show::answer_rows::{answer_rows, fact_json, ranked_rows, value_json};
use crate::show::rounding::rounded;
use crate::show::rows::{PrintedRows, RowFormat, RowTable};
use crate::show::text;

/// Rows that are made before they are printed, in forms that allow it.
const PRINTED_ROWS: usize = 1 << 12;

/// What is not known of the changes since a state was kept.
pub(crate) enum Lost {
    Nothing,
    /// The versions between that of the state and the first one.
    Between(KeptValues),
    /// The values of the state, too.
    All,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no change is lost"),
            Self::Between(kept) => write!(f, "printing what has changed since version {}", kept.version()),
            Self::All => f.write_str("printing all values, as changes from nothing"),
        }
    }
}

/// Which rows are printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChosenRows {
    /// The first ones only.
    pub(crate) top: Option<usize>,
    /// The values of the first version too.
    pub(crate) initial: bool,
    /// None: alerts are printed in their place.
    pub(crate) are_replaced: bool,
    pub(crate) format: RowFormat,
}

/// Prints what a live answer changes, and hands over its alerts.
pub(crate) struct FollowPrinter {
    pub(crate) chosen: ChosenRows,
    /// The times, of a window.
    pub(crate) times: Option<Times>,
    rows: PrintedRows,
    alerts: Option<FollowAlerts>,
    sink: AlertSink,
    /// Leaves out small changes.
    small: Option<SmallChanges>,
    /// The first rows, as they were printed last.
    top: Option<RowTable>,
    versions: u64,
    recomputed: u64,
    /// For which reader states are kept; `None`: they are not.
    pub(crate) keeps_for: Option<String>,
    /// Whether a step was begun and not ended: the state may be of no version.
    pub(crate) is_in_step: bool,
}

impl FollowPrinter {
    /// Nothing was printed yet.
    pub(crate) fn new(
        chosen: ChosenRows,
        times: Option<Times>,
        alerts: Option<FollowAlerts>,
        sink: AlertSink,
        small: Option<SmallChanges>,
    ) -> Self {
        let rows = PrintedRows::new(chosen.format);
        Self {
            chosen,
            times,
            rows,
            alerts,
            sink,
            small,
            top: None,
            versions: 0,
            recomputed: 0,
            keeps_for: None,
            is_in_step: false,
        }
    }

    /// Says where it begins, and prints the first rows that were asked for.
    pub(crate) fn first(&mut self, follow: &mut Follow, lost: Lost, is_told: bool, run: &Run) -> Outcome {
        let figures: Vec<String> = follow
            .facts()
            .iter()
            .map(|(name, fact)| format!("{name} {}", rounded(fact_json(fact))))
            .collect();
        let (name, version) = (follow.entry().name, follow.version());
        let method = if follow.updates() { "" } else { ", computed anew at each step" };
        text::remark(&format!("following {name} from version {version}{method}: {}", figures.join(", ")));
        if let Some(alerts) = &mut self.alerts {
            let begin = match &lost {
                Lost::Between(kept) => FollowBegin::Since(kept),
                _ if is_told => FollowBegin::Told,
                lost => FollowBegin::First { tells_new: self.chosen.initial || matches!(lost, Lost::All) },
            };
            let raised = alerts.begin(follow, begin, run)?;
            self.raise(follow, raised)?;
        }
        if self.chosen.are_replaced {
            return Ok(());
        }
        if self.chosen.top.is_some() {
            return self.print_top(follow);
        }
        match (follow.answer().columns.first(), lost) {
            (Some(_), Lost::Between(kept)) => {
                self.print_changed(follow, follow.changed_since(&kept).into_iter())
            }
            (Some(column), lost) if self.chosen.initial || matches!(lost, Lost::All) => {
                self.print_initial(follow, &column.values)
            }
            _ => self.print_top(follow),
        }
    }

    /// Prints the values of the first version, as changes from nothing.
    fn print_initial(&mut self, follow: &Follow, values: &Values) -> Outcome {
        let all = (0..values.len()).map(|v| (vertex(v), values.get(v)));
        let present = all.filter(|(_, new)| !new.is_same(Value::Missing));
        let changed = present.map(|(vertex, new)| Changed { vertex, old: Value::Missing, new });
        self.print_changed(follow, changed)
    }

    fn print_changed(&mut self, follow: &Follow, changed: impl Iterator<Item = Changed>) -> Outcome {
        let value = |value| value_json(follow.view().version(), value);
        let mut changed = changed.peekable();
        loop {
            let mut rows = RowTable::of(["vertex", "old", "new"]);
            for changed in changed.by_ref().take(PRINTED_ROWS) {
                let [vertex, old, new] = [Value::Vertex(changed.vertex), changed.old, changed.new].map(value);
                rows.push(vec![vertex?, old?, new?]);
            }
            self.print_of(follow, rows)?;
            if changed.peek().is_none() {
                return Ok(());
            }
        }
    }

    /// Tells what a step changed.
    pub(crate) fn update(&mut self, follow: &mut Follow, update: &FollowStep, run: &Run) -> Outcome {
        self.versions += 1;
        self.recomputed += u64::from(update.method == Method::Recompute);
        let told = self.small.as_mut().map(|small| small.filter(update.changed.clone(), run)).transpose()?;
        let changed = told.as_ref().unwrap_or(&update.changed);
        if let Some(alerts) = &mut self.alerts {
            let raised = alerts.step(follow, changed, run)?;
            self.raise(follow, raised)?;
        }
        if self.chosen.are_replaced {
            return Ok(());
        }
        if self.chosen.top.is_some() || follow.answer().columns.is_empty() {
            return self.print_top(follow);
        }
        self.print_changed(follow, changed.iter().copied())
    }

    /// Hands over alerts under the version, and the end of its window.
    fn raise(&mut self, follow: &Follow, alerts: Vec<Alert>) -> Outcome {
        let until = self.until(follow);
        for alert in alerts {
            let mut object = alert.to_json();
            if let Some(until) = &until {
                object.insert("until".to_owned(), json!(until));
            }
            object.insert("version".to_owned(), json!(follow.version()));
            self.sink.give(object)?;
        }
        Ok(())
    }

    /// The end of the window.
    fn until(&self, follow: &Follow) -> Option<String> {
        let end = follow.view().window_index().map(|index| index.window().until)?;
        Some(self.times.as_ref()?.format(end))
    }

    /// Prints rows under the version, and the end of its window.
    fn print_of(&mut self, follow: &Follow, rows: RowTable) -> Outcome {
        let mut found = rows;
        if let Some(until) = self.until(follow) {
            let mut of_window = RowTable::default();
            of_window.append("until", &json!(until), found);
            found = of_window;
        }
        let mut of_version = RowTable::default();
        of_version.append("version", &json!(follow.version()), found);
        self.rows.add(of_version)
    }

    /// Prints the first rows, or the figures of an answer without rows, if they are not those that were
    /// printed last.
    fn print_top(&mut self, follow: &mut Follow) -> Outcome {
        if self.chosen.top.is_none() && !follow.answer().columns.is_empty() {
            return Ok(());
        }
        let found = match self.chosen.top.filter(|_| !follow.answer().columns.is_empty()) {
            Some(count) => {
                let ranked = follow.top(count, interrupt::token())?;
                ranked_rows(follow.view().version(), follow.answer(), &ranked, self.chosen.format)?
            }
            None => {
                answer_rows(follow.view().version(), follow.answer(), self.chosen.top, self.chosen.format)?
            }
        };
        if self.top.as_ref() == Some(&found) {
            return Ok(());
        }
        self.top = Some(found.clone());
        self.print_of(follow, found.or_missing())
    }

    /// Keeps the state, if it is to be kept. If it cannot be, says so once.
    pub(crate) fn keep(&mut self, follow: &Follow) -> Outcome {
        let Some(reader) = &self.keeps_for else { return Ok(()) };
        if !follow.keep(reader)? {
            self.keeps_for = None;
            let name = follow.entry().name;
            text::remark(&format!("--keep has no effect: the state of {name} is not kept"));
        }
        Ok(())
    }

    /// Prints what was not printed yet, and says how many versions and alerts there were.
    pub(crate) fn finish(&self) -> Outcome {
        self.rows.finish()?;
        let versions = counted(self.versions, "version", "versions");
        text::remark(&format!("followed {versions}, {} of them by computing anew", self.recomputed));
        if self.alerts.is_some() { self.sink.finish() } else { Ok(()) }
    }
}
