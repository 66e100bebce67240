//! The windows of a command: their rows, and the file of their values.

use esker::catalogue::{Entry, Params};
use esker::computation::Computation;
use esker::graph::Run;
use esker::output::StepsFile;
use esker::store::View;
use esker::store::windows::SHARED_WINDOWS_MAX;
use esker::window::{Span, Times, WindowJob, WindowSeries};
use serde_json::json;

use super::alerts::Carried;
use super::args::WindowCommand;
use crate::failure::Failure;
use crate::show::figures::GraphSize;
use crate::show::progress::Bar;
use crate::show::rows::{PrintedRows, RowFormat, RowTable};
use crate::show::shown::{FoundOn, ShownRows};
use crate::show::text;

/// What the windows of a command share.
pub(super) struct Series<'c> {
    pub(super) command: &'c WindowCommand,
    pub(super) entry: &'static Entry,
    pub(super) params: Params,
    pub(super) shown: ShownRows,
    pub(super) format: RowFormat,
    pub(super) view: View,
    pub(super) times: Times,
    pub(super) run: Run,
}

/// The windows that were shown.
#[derive(Debug, Default)]
pub(super) struct ShownWindows {
    pub(super) count: usize,
    /// The end of the last.
    pub(super) last: Option<i64>,
}

impl Series<'_> {
    /// Shows the rows of all windows, and writes their values.
    pub(super) fn show(
        &self,
        printed: &mut PrintedRows,
        mut file: Option<&mut StepsFile>,
        carried: &mut Carried,
        bar: &Bar,
    ) -> Result<ShownWindows, Failure> {
        let Self { command, times, .. } = self;
        let mut windows = ShownWindows::default();
        let (from, to) = (command.from.as_ref(), command.to.as_ref());
        if let (Some(from), Some(to)) = (from, to)
            && times.before(from)? >= times.last_of(to)?
        {
            return Err(Failure::Usage("--from is after --to".to_owned()));
        }
        let mut ends = times.ends(&self.view, command.step(times)?, from, to, &self.run)?;
        let at_once = (SHARED_WINDOWS_MAX / command.length.len()).max(1);
        loop {
            let some: Vec<i64> = ends.by_ref().take(at_once).collect();
            if some.is_empty() {
                return Ok(windows);
            }
            let mut rows = RowTable::default();
            let file = file.as_deref_mut();
            windows.last = some.last().copied();
            windows.count += self.add_rows(&mut rows, file, carried, &self.view, &some, &command.length)?;
            if self.shown != ShownRows::Nothing {
                bar.aside(|| printed.add(rows))?;
            }
        }
    }

    /// Why the last window is partial: edges may still come whose times lie in it. `None` if it is over.
    pub(super) fn partial(&self, windows: &ShownWindows) -> Option<String> {
        let (last, (_, newest)) = (windows.last?, self.times.range?);
        let [until, newest_at] = [last, newest].map(|time| self.times.format(time));
        (last > newest).then(|| format!("partial: it ends {until}, and the newest edge is of {newest_at}"))
    }

    /// Adds the rows of the windows of some lengths that end at some times, writes their values, and raises
    /// their alerts; returns their number.
    pub(super) fn add_rows(
        &self,
        rows: &mut RowTable,
        mut file: Option<&mut StepsFile>,
        carried: &mut Carried,
        view: &View,
        ends: &[i64],
        of_lengths: &[Span],
    ) -> Result<usize, Failure> {
        let Self { command, entry, times, .. } = self;
        let copies = command.of_window.copies()?;
        let (mut windows, mut lengths) = (Vec::new(), Vec::new());
        for &end in ends {
            for &length in of_lengths {
                windows.push(times.window_until(length, end, copies)?);
                lengths.push(length);
            }
        }
        let (mut done, ends) = (0, windows.iter().map(|window| window.until).collect::<Vec<_>>());
        let job = WindowJob {
            computation: Computation::of(entry, &self.params).reading(command.access.request()),
            resources: &command.resources.of_run(command.deterministic),
            all_vertices: command.of_window.all_vertices,
        };
        let found = WindowSeries::answers(view, &times.property, windows, &job, &self.run, |mut found| {
            if let Some(vertex) = &found.lacks {
                let (length, until) = (lengths[done], times.format(found.window.until));
                text::remark(&format!(
                    "the window of {length} until {until} has no answer: it has no edge of {vertex:?}"
                ));
            }
            let series = command.length.iter().position(|length| *length == lengths[done]).unwrap_or(0);
            let events = &carried.groups.next(series, &mut found.answer, view.version(), &self.run)?[..];
            if let Some(file) = &mut file {
                let step = times.step_columns(found.window.until, lengths[done]);
                file.add(&step, view.version().ids(), &found.answer)?;
            }
            let size = GraphSize { vertices: found.num_vertices, edges: found.num_edges };
            if let Some(alerts) = &mut carried.alerts {
                alerts.step(lengths[done], &times.format(found.window.until), view, &found.answer)?;
            }
            let on_window = FoundOn { entry, view, size, answer: &found.answer, events };
            let of_window = self.shown.rows(&on_window, self.format)?;
            let mut of_length = RowTable::default();
            of_length.append("length", &json!(lengths[done].to_string()), of_window);
            rows.append("until", &json!(times.format(found.window.until)), of_length);
            done += 1;
            Ok::<_, Failure>(())
        });
        found.map_err(|failure| {
            let end = ends.get(done).copied().unwrap_or(0);
            failure.between(&format!("the window until {}: ", times.format(end)), "")
        })?;
        Ok(done)
    }
}
