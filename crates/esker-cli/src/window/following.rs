//! `esker window --follow`: the windows of a stream, as they end.

use std::time::{Duration, Instant};

use esker::change::{Expiries, WindowVersion, newest_watermark};
use esker::store::Store;
use esker::window::{Step, Times};

use super::alerts::Carried;
use super::args::{OverrunArg, WindowCommand};
use super::series::Series;
use crate::args::size::counted;
use crate::failure::{Failure, Outcome};
use crate::show::rows::{PrintedRows, RowTable};
use crate::show::text;

/// Time between two looks for a new version.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Time between two lines that say how late the windows are.
const SAY_EVERY: Duration = Duration::from_secs(10);

/// Windows that are shown later than they could be.
struct Lateness {
    /// Those that had ended before the command began are no news, unless they were asked for.
    is_news: bool,
    said: Option<Instant>,
}

impl Lateness {
    /// Says now and then, before the window that ends first of some is computed, that others have ended, too.
    fn say(&mut self, ended: &[i64], times: &Times) {
        let [first, .., newest] = ended else { return };
        if !self.is_news || self.said.is_some_and(|said| said.elapsed() < SAY_EVERY) {
            return;
        }
        self.said = Some(Instant::now());
        let waiting =
            counted(ended.len() as u64 - 1, "window that has ended waits", "windows that have ended wait");
        let (first, behind) = (times.format(*first), times.unit.span(newest.saturating_sub(*first)));
        text::remark(&format!(
            "{waiting} while that until {first} is computed; the newest ended {behind} later"
        ));
    }
}

impl Series<'_> {
    /// Shows the rows of windows as versions pass their ends, until a signal.
    pub(super) fn follow(&mut self, carried: &mut Carried) -> Outcome {
        let is_awaited = self.times.range.is_none();
        if is_awaited {
            self.await_edges()?;
        }
        let step = self.command.step(&self.times)?;
        let from = self.command.from.as_ref();
        let mut last = from.map(|from| self.times.before(from)).transpose()?;
        if is_awaited && last.is_none() {
            last = self.times.range.map(|(first, _)| first.saturating_sub(1));
        }
        let (mut seen, mut printed) = (None, PrintedRows::new(self.format));
        let mut lateness = Lateness { is_news: self.command.overrun == Some(OverrunArg::Wait), said: None };
        loop {
            let store = Store::open(&self.command.database)?;
            let versions = store.versions()?;
            let newest = versions.last().map(|version| (version.number, version.time_ms));
            if let Some((_, time_ms)) = newest.filter(|_| newest != seen) {
                let messages = versions.iter().rev().map(|version| version.message.as_str());
                let passed = newest_watermark(messages).unwrap_or_else(|| self.times.unit.of_ms(time_ms));
                self.view = self.command.view_at(&store.latest()?, &self.run)?;
                let expiries = Expiries::of(&versions, self.times.unit);
                let (mut ends, has_all) = self.ends_passed(&store, &expiries, step, last, passed)?;
                if self.command.overrun == Some(OverrunArg::Skip) && ends.len() > 1 {
                    let left_out = counted(ends.len() as u64 - 1, "window", "windows");
                    text::remark(&format!("left out {left_out} that had ended before the newest"));
                    ends.drain(..ends.len() - 1);
                }
                for (i, &end) in ends.iter().enumerate() {
                    lateness.say(&ends[i..], &self.times);
                    let rows = self.rows_until(&store, &expiries, end, carried)?;
                    if !self.command.alerts.replaces_rows() {
                        printed.add(rows)?;
                    }
                    last = Some(end);
                }
                if has_all {
                    seen = newest;
                    lateness.is_news = true;
                }
            }
            self.run.check()?;
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits for the first edge. Before it no window has one, and the unit of the times may have to be
    /// guessed from it.
    fn await_edges(&mut self) -> Outcome {
        let WindowCommand { database, of_window, time, zone, .. } = self.command;
        text::remark("there is no edge yet: waiting for the first");
        while self.times.range.is_none() {
            self.run.check()?;
            std::thread::sleep(LOOK_EVERY);
            let version = Store::open(database)?.latest()?;
            self.view = self.command.view(&version, &self.run)?;
            self.times = of_window.times(&version.view(), time.as_deref(), zone, &self.run)?;
        }
        Ok(())
    }

    /// The ends that the watermark has passed, and whether they are all. Edges that have expired since the
    /// last end are counted on the version that has them still.
    fn ends_passed(
        &self,
        store: &Store,
        expiries: &Expiries,
        step: Step,
        last: Option<i64>,
        passed: i64,
    ) -> Result<(Vec<i64>, bool), Failure> {
        if let (Step::Edges(every), Some(mut after)) = (step, last) {
            let mut counted = 0;
            // Each part of the edges is counted on the last version that has it.
            while let Some((version, until)) = expiries.last_with(after)
                && let until = until.min(passed)
                && until > after
            {
                let before = store.at(version)?;
                let (ends, rest) =
                    self.times.ends_counted(&before.view(), every, counted, after, until, &self.run)?;
                if !ends.is_empty() {
                    return Ok((ends, false));
                }
                (after, counted) = (until, rest);
            }
            let (ends, _) = self.times.ends_counted(&self.view, every, counted, after, passed, &self.run)?;
            return Ok((ends, true));
        }
        Ok((self.times.ends_passed(&self.view, step, last, passed, &self.run)?, true))
    }

    /// The rows of the windows of all lengths that end at a time, each on the newest version that has its
    /// edges.
    fn rows_until(
        &self,
        store: &Store,
        expiries: &Expiries,
        end: i64,
        carried: &mut Carried,
    ) -> Result<RowTable, Failure> {
        let mut rows = RowTable::default();
        for length in &self.command.length {
            let after = self.times.earlier(end, *length)?;
            let lengths = std::slice::from_ref(length);
            match expiries.version_of(after, end) {
                WindowVersion::Before(version) => {
                    let before = self.command.view_at(&store.at(version)?, &self.run)?;
                    self.add_rows(&mut rows, None, carried, &before, &[end], lengths)?;
                    continue;
                }
                WindowVersion::Expired(version, until) => text::warn(&format!(
                    "the window of {length} until {} lacks its edges until {}: version {version} removed those that had expired, and no \
                     version before it that is kept has all edges of the window",
                    self.times.format(end),
                    self.times.format(until)
                )),
                WindowVersion::Newest => {}
            }
            self.add_rows(&mut rows, None, carried, &self.view, &[end], lengths)?;
        }
        Ok(rows)
    }
}
