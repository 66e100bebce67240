//! `esker window`: an algorithm on windows that follow each other.

mod args;
mod alerts;
mod series;
mod following;

use std::time::Instant;

use crate::args::size::seconds;
use crate::failure::Outcome;
use crate::interrupt::cancel_on_signals;
use crate::session::opening::open_store;
use crate::show::group_events::GroupHistory;
use crate::show::progress::Bar;
use crate::show::rows::PrintedRows;
use crate::show::text;

use alerts::{Carried, WindowAlerts};
pub(crate) use args::WindowCommand;
use series::Series;

impl WindowCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let (entry, params) = self.options.of(&self.algorithm)?;
        self.check(entry)?;
        self.round.apply();
        let (cancel, begin) = (cancel_on_signals()?, Instant::now());
        let mut file = self.file(&cancel)?;
        let (store, bar) = open_store(self.database.as_ref(), &self.resources, &cancel)?;
        let version = self.at.version(&store);
        bar.finish();
        // Rows on standard output would break into it.
        let bar = Bar::spinner(self.is_to_stdout());
        let on_round = Some(bar.on_round(entry.name));
        let run = self.resources.run(&cancel, self.seed, self.deterministic, on_round)?;
        let version = version?;
        let view = self.view(&version, &run)?;
        // Windows end as those of the whole version.
        let times = self.of_window.times(&version.view(), self.time.as_deref(), &self.zone, &run)?;
        let (shown, format) = (self.shown(), self.row_format());
        let groups = GroupHistory::new(self.groups.keeps_names(), self.length.len());
        let mut carried = Carried { alerts: WindowAlerts::of(self, entry, &view)?, groups };
        let mut series = Series { command: self, entry, params, shown, format, view, times, run };
        if self.follow {
            bar.finish();
            let ended = series.follow(&mut carried);
            return ended.and(carried.alerts.map_or(Ok(()), |alerts| alerts.finish()));
        }
        let mut rows = PrintedRows::new(format);
        let windows = series.show(&mut rows, file.as_mut(), &mut carried, &bar);
        bar.finish();
        let windows = windows?;
        rows.finish()?;
        // Without a window there is no header either.
        if let Some(file) = file.filter(|_| windows.count > 0 || !self.is_to_stdout()) {
            file.finish()?;
        }
        let mut facts = vec![
            ("windows".to_owned(), windows.count.to_string()),
            ("times".to_owned(), format!("{:?}, in {}", series.times.property, series.times.unit.name())),
            ("time".to_owned(), seconds(begin.elapsed().as_secs_f64())),
        ];
        if let Some(partial) = series.partial(&windows) {
            facts.insert(1, ("last window".to_owned(), partial));
        }
        text::remark_facts(&facts);
        Ok(())
    }
}
