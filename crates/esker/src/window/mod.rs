//! Windows over a stream, as users ask for them: lengths with units, ends at times, and steps.
//!
//! A time is a timestamp, whose unit is known, or a whole number in an edge property. The unit of a number is
//! guessed from the latest time unless it is given: seconds, milliseconds, microseconds or nanoseconds
//! since 1970. A window of length `l` that ends at `t` has the edges later than `t - l`, until `t` and with
//! it.

pub(crate) mod absent;
mod series;
mod units;
mod declared;
mod rules;

use std::num::NonZeroU64;
use std::str::FromStr;

pub(crate) use declared::expect_no_weight;
pub use declared::{Declared, select_version};
use declared::{known_unit, only_time};
use esker_graph::{Run, Setting, message};
use esker_store::View;
use esker_store::format::LogicalType;
use esker_store::format::value::zone::Zone;
use esker_store::windows::{Copies, TimeWindow};
pub use rules::{ClosedEnd, StepGrid, WindowRules};
use rules::{LengthStep, TimeLine};
pub use series::{WindowAnswer, WindowJob, WindowSeries};
pub use units::{EpochUnit, Span, TimePoint};

use crate::error::{Error, Result};
use crate::output::{StepColumn, StepValue};

/// How far the end of a window is from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A length of time, aligned to the calendar.
    Length(Span),
    /// A length of time; the first step begins after this time, in the unit of the times.
    LengthAfter(Span, i64),
    /// A number of edges, in the order of their times.
    Edges(NonZeroU64),
}

/// Where steps of a length of time begin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Alignment {
    /// With the calendar in UTC, weeks on Monday; lengths without a unit with their multiples.
    #[default]
    Calendar,
    /// With the first edge.
    First,
    /// With a time, or with the first moment of a day, minute or second.
    At(TimePoint),
}

impl FromStr for Alignment {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "calendar" => Ok(Self::Calendar),
            "first" => Ok(Self::First),
            _ => text.parse().map(Self::At).map_err(|error| format!("{error}, or calendar, or first")),
        }
    }
}

/// The times of a version: where they are, what they mean, and how far they go.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let csv = *b"source,target,time\n1,2,86400\n2,3,172800\n3,4,176400\n";
/// # let path = directory.path().join("web.esker");
/// # let read = esker::import::ReadOptions {
/// #     properties: esker::import::PickProperties::All,
/// #     ..Default::default()
/// # };
/// # let edges = [esker::import::Input::memory("web.csv", csv)];
/// # esker::import::import_inputs(&edges, &path, &read, &Default::default())?;
/// # let version = esker::store::Store::open(&path)?.latest()?;
/// use esker::store::windows::Copies;
/// use esker::window::{EpochUnit, Times};
///
/// let run = esker::graph::Run::with_threads(1)?;
/// let times = Times::of(&version.view(), Some("time"), Some(EpochUnit::Seconds), &run)?;
/// assert_eq!(times.range, Some((86400, 176400)));
/// let window = times.window("2h".parse()?, None, Copies::All)?; // ends with the latest edge
/// assert_eq!(version.view().window("time", window, false, &run)?.num_edges(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    /// The edge property.
    pub property: String,
    /// Its unit.
    pub unit: EpochUnit,
    /// The least and the greatest; `None` if there are no edges. Of [`Times::ending`], the greatest twice.
    pub range: Option<(i64, i64)>,
    /// How windows of them lie. The zone is that of the property, if no other was chosen.
    pub rules: WindowRules,
}

impl Times {
    /// The same under other rules.
    #[must_use]
    pub fn under(self, rules: &WindowRules) -> Self {
        let WindowRules { zone, closed } = rules.clone();
        Self { rules: WindowRules { zone: zone.or(self.rules.zone), closed }, ..self }
    }

    /// A time as text, as the clocks of the zone show it.
    pub fn format(&self, time: i64) -> String {
        self.unit.format_in(time, self.rules.zone.as_ref())
    }

    /// As [`TimePoint::last`], in the zone of the times.
    ///
    /// # Errors
    /// As [`TimePoint::last`].
    pub fn last_of(&self, point: &TimePoint) -> Result<i64> {
        self.line().last(point)
    }

    /// As [`TimePoint::before`], in the zone of the times.
    ///
    /// # Errors
    /// As [`TimePoint::last`].
    pub fn before(&self, point: &TimePoint) -> Result<i64> {
        self.line().before(point)
    }

    /// The end of a window at a time; at the latest of an edge if none is given.
    ///
    /// # Errors
    /// As [`TimePoint::last`].
    pub fn end(&self, until: Option<&TimePoint>) -> Result<i64> {
        self.line().end(until, self.range.map_or(0, |range| range.1))
    }

    /// The time that is earlier by a length: days and weeks are those of the zone.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for a length that makes no sense in the unit.
    pub fn earlier(&self, time: i64, length: Span) -> Result<i64> {
        self.line().earlier(time, length)
    }

    /// The unit and the range in words; `None` without an edge. `is_number` says that the times are numbers,
    /// `is_chosen` that their unit is not guessed.
    pub fn described(&self, is_number: bool, is_chosen: bool) -> Option<String> {
        self.range.map(|(first, last)| self.line().described(first, last, is_number, is_chosen))
    }

    fn line(&self) -> TimeLine<'_> {
        TimeLine { unit: self.unit, rules: &self.rules }
    }

    /// Finds the times of a version: in the property of that name, the one that was [`Declared`], or the only
    /// one that can hold times. [`Version::time_range`](esker_store::Version::time_range) says what is read.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] if no property is named and several or none can hold times; as
    /// [`Version::time_range`](esker_store::Version::time_range).
    pub fn of(view: &View, name: Option<&str>, unit: Option<EpochUnit>, run: &Run) -> Result<Self> {
        Self::ranging(view, name, unit, |property| view.version().time_range(property, run))
    }

    /// As [`Times::of`], for a window that ends with the latest edge or at a given time: the first time is
    /// not looked for.
    ///
    /// # Errors
    /// As [`Times::of`].
    pub fn ending(view: &View, name: Option<&str>, unit: Option<EpochUnit>, run: &Run) -> Result<Self> {
        let latest = |property: &str| view.version().latest_time(property, run);
        Self::ranging(view, name, unit, |property| Ok(latest(property)?.map(|latest| (latest, latest))))
    }

    fn ranging(
        view: &View,
        name: Option<&str>,
        unit: Option<EpochUnit>,
        range: impl FnOnce(&str) -> esker_store::format::Result<Option<(i64, i64)>>,
    ) -> Result<Self> {
        let declared = Declared::of(view.version().manifest());
        let property = match name.or(declared.time.as_deref()) {
            Some(name) => name.to_owned(),
            None => only_time(view)?,
        };
        let range = range(&property)?;
        let known = known_unit(view, &property, unit)?;
        let guess = || EpochUnit::guess(range.map_or(0, |range| range.1));
        let unit = known.or(unit).or(declared.unit_of(&property)).unwrap_or_else(guess);
        let zone = match &view.version().edge_property(&property)?.logical {
            LogicalType::Timestamp { zone, .. } if !matches!(zone.as_str(), "" | "UTC") => Zone::named(zone),
            _ => None,
        };
        Ok(Self { property, unit, range, rules: WindowRules { zone, closed: None } })
    }

    /// The window of a length that ends at a time; at the latest if none is given.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for a length or an end that makes no sense in the unit.
    pub fn window(&self, length: Span, until: Option<&TimePoint>, copies: Copies) -> Result<TimeWindow> {
        self.window_until(length, self.end(until)?, copies)
    }

    /// As [`Times::window`], with an end in the unit of the times.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for a length that makes no sense in the unit.
    pub fn window_until(&self, length: Span, until: i64, copies: Copies) -> Result<TimeWindow> {
        Ok(TimeWindow { after: self.earlier(until, length)?, until, copies })
    }

    /// The columns of a window of a length that ends at a time, in a file with the answers on several.
    pub fn step_columns(&self, until: i64, length: Span) -> [StepColumn; 2] {
        let (time, unit) = self.unit.stored(until);
        let time = StepValue::Time(time, unit, self.format(until));
        let length = StepValue::Text(length.to_string());
        [StepColumn { name: "until", value: time }, StepColumn { name: "length", value: length }]
    }

    /// Steps of a length, aligned. Without an edge there is no first one: then the calendar counts.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] if the alignment is not a time.
    pub fn step(&self, every: Span, alignment: &Alignment) -> Result<Step> {
        let after = match alignment {
            Alignment::Calendar => None,
            Alignment::First => self.range.map(|range| range.0.saturating_sub(1)),
            Alignment::At(time) => Some(self.before(time)?),
        };
        Ok(after.map_or(Step::Length(every), |after| Step::LengthAfter(every, after)))
    }

    /// The ends of windows that follow each other, ascending: those of steps of a length, or the times of
    /// each `n`th edge, counted from `from` on, and that of the last until `to`. Edges of one time come
    /// together, so a window may have more.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for a length or an end that makes no sense in the unit, and for more than 2^22
    /// windows; for a number of edges, as [`View::sorted_times`].
    pub fn ends(
        &self,
        view: &View,
        step: Step,
        from: Option<&TimePoint>,
        to: Option<&TimePoint>,
        run: &Run,
    ) -> Result<Box<dyn Iterator<Item = i64>>> {
        let every = match step {
            Step::Length(every) => {
                return Ok(Box::new(self.line().steps(LengthStep::of(every), self.range, from, to)?));
            }
            Step::LengthAfter(every, origin) => {
                return Ok(Box::new(self.line().steps(
                    LengthStep::after(every, origin),
                    self.range,
                    from,
                    to,
                )?));
            }
            Step::Edges(every) => every,
        };
        let after = from.map_or(Ok(i64::MIN), |from| self.before(from))?;
        let until = to.map_or(Ok(i64::MAX), |to| self.last_of(to))?;
        let (mut ends, last) = self.counted_ends(view, every, after, until, run)?;
        ends.extend(last);
        Ok(Box::new(ends.into_iter()))
    }

    /// The steps of a length in which times lie.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for a length that makes no sense in the unit.
    pub fn grid(&self, every: Span) -> Result<StepGrid<'_>> {
        self.line().grid(LengthStep::of(every))
    }

    /// The ends of windows that follow each other and that `passed` has passed, ascending: those after
    /// `last`, or, without one, the newest.
    ///
    /// # Errors
    /// As [`Times::ends`].
    pub fn ends_passed(
        &self,
        view: &View,
        step: Step,
        last: Option<i64>,
        passed: i64,
        run: &Run,
    ) -> Result<Vec<i64>> {
        let step = match step {
            Step::Length(every) => LengthStep::of(every),
            Step::LengthAfter(every, origin) => LengthStep::after(every, origin),
            Step::Edges(every) => {
                let after = last.unwrap_or(i64::MIN);
                let (mut ends, _) = self.counted_ends(view, every, after, passed, run)?;
                if last.is_none() {
                    ends.drain(..ends.len().saturating_sub(1));
                }
                return Ok(ends);
            }
        };
        let Some(last) = last else {
            return Ok(self.line().newest_end(step, passed)?.into_iter().collect());
        };
        let [from, to] = [last.saturating_add(1), passed].map(TimePoint::of_number);
        let ends = self.line().steps(step, None, Some(&from), Some(&to))?;
        Ok(ends.filter(|&end| end <= passed).collect())
    }

    /// The times of each `every`th of the edges that are later than `after`, until `until`, ascending, where
    /// `counted` edges, fewer than `every`, came before them since the last end; and the number of edges
    /// since the last of these ends.
    ///
    /// # Errors
    /// As [`Times::ends`].
    pub fn ends_counted(
        &self,
        view: &View,
        every: NonZeroU64,
        counted: u64,
        after: i64,
        until: i64,
        run: &Run,
    ) -> Result<(Vec<i64>, u64)> {
        self.closes_with_edges()?;
        let (times, _memory) = view.sorted_times(&self.property, after, until, run)?;
        let quota = usize::try_from(every.get() - counted).unwrap_or(usize::MAX);
        let Some(&first) = times.get(quota - 1) else {
            return Ok((Vec::new(), counted + times.len() as u64));
        };
        let later = &times[times.partition_point(|&time| time <= first)..];
        let every = usize::try_from(every.get()).unwrap_or(usize::MAX);
        let ends: Vec<i64> = std::iter::once(first).chain(ends_of(later, every).0).collect();
        let last = ends[ends.len() - 1];
        Ok((ends, (times.len() - times.partition_point(|&time| time <= last)) as u64))
    }

    /// The times of each `n`th of the edges that are later than `after`, until `until`, ascending; and that
    /// of the last edge, if there are edges after them. Each count begins after the edges of the end before.
    fn counted_ends(
        &self,
        view: &View,
        every: NonZeroU64,
        after: i64,
        until: i64,
        run: &Run,
    ) -> Result<(Vec<i64>, Option<i64>)> {
        self.closes_with_edges()?;
        let (times, _memory) = view.sorted_times(&self.property, after, until, run)?;
        Ok(ends_of(&times, usize::try_from(every.get()).unwrap_or(usize::MAX)))
    }

    /// Refuses windows that are to end with an edge and not to have it.
    fn closes_with_edges(&self) -> Result<()> {
        match self.rules.closed {
            Some(ClosedEnd::Left) => Err(Error::Usage(message![
                "windows that end with every n-th edge have that edge, so ",
                Setting::Closed.to("left"),
                " cannot be kept; leave it out, or let windows end by time"
            ])),
            _ => Ok(()),
        }
    }
}

/// A window that moves with the versions: it ends with the latest edge, or at the newest end of a step that
/// the latest edge has passed.
#[derive(Debug, Clone)]
pub struct MovingWindow {
    /// Its length.
    pub length: Span,
    /// From one of its ends to the next; `None`: it moves with each version.
    pub every: Option<Step>,
    /// The edge property that holds the times; `None`: the only one that can.
    pub time: Option<String>,
    /// The unit of times that are numbers; `None`: guessed from the latest.
    pub unit: Option<EpochUnit>,
    /// What becomes of several edges from one vertex to another.
    pub copies: Copies,
    /// Whether vertices without an edge in the window are kept.
    pub all_vertices: bool,
    /// How it lies in time.
    pub rules: WindowRules,
}

impl MovingWindow {
    /// The window of a version, and its times; `None` if it moves in steps and no step has ended
    /// after the end of the `former` one. Before the first step has ended it ends with the latest edge. Where
    /// little changed since the former window, it is made from that: see [`View::window_after`].
    ///
    /// # Errors
    /// As [`Times::of`] and [`View::window`].
    pub fn of(&self, view: &View, former: Option<&View>, run: &Run) -> Result<Option<(View, Times)>> {
        let last = former.and_then(View::window_index).map(|index| index.window().until);
        let times = Times::ending(view, self.time.as_deref(), self.unit, run)?.under(&self.rules);
        let latest = times.range.map_or(0, |range| range.1);
        let end = match self.every {
            None => times.end(None)?,
            Some(Step::Length(every)) => {
                times.line().newest_end(LengthStep::of(every), latest)?.unwrap_or(latest)
            }
            Some(Step::LengthAfter(every, origin)) => {
                times.line().newest_end(LengthStep::after(every, origin), latest)?.unwrap_or(latest)
            }
            Some(step) => {
                let passed = times.ends_passed(view, step, last, latest, run)?;
                passed.last().copied().or(last).unwrap_or(latest)
            }
        };
        if self.every.is_some() && last == Some(end) {
            return Ok(None);
        }
        let window = times.window_until(self.length, end, self.copies)?;
        let (view, time) = (view.clone(), &times.property);
        let windowed = match former {
            Some(former) => view.window_after(former, time, window, self.all_vertices, run)?,
            None => view.window(time, window, self.all_vertices, run)?,
        };
        Ok(Some((windowed, times)))
    }
}

/// The times of each `every`th of some ascending times, and the last if there are times after them. Those of
/// one time come together.
fn ends_of(mut times: &[i64], every: usize) -> (Vec<i64>, Option<i64>) {
    let mut ends = Vec::new();
    while let Some(&end) = times.get(every - 1) {
        ends.push(end);
        times = &times[times.partition_point(|&time| time <= end)..];
    }
    (ends, times.last().copied())
}

/// The only edge property that can hold times.
#[cfg(test)]
mod tests {
    use super::*;

    fn times(unit: EpochUnit, range: (i64, i64)) -> Times {
        let rules = WindowRules::default();
        Times { property: "time".to_owned(), unit, range: Some(range), rules }
    }

    #[test]
    fn a_window_ends_with_the_last_moment_of_what_is_named() {
        let times = times(EpochUnit::Seconds, (0, 1_795_255_200));
        let window = |until: Option<&str>| {
            let until = until.map(|until| until.parse().unwrap());
            let found = times.window("1h".parse().unwrap(), until.as_ref(), Copies::All).unwrap();
            (found.after, found.until)
        };
        assert_eq!(window(None), (1_795_251_600, 1_795_255_200));
        assert_eq!(window(Some("1970-01-02")), (2 * 86_400 - 1 - 3600, 2 * 86_400 - 1));
        assert_eq!(window(Some("100")), (-3500, 100));
        assert!("yesterday".parse::<TimePoint>().is_err());
    }

    #[test]
    fn numbers_of_edges_end_windows_with_all_edges_of_a_time() {
        for (times, every, ends, last) in [
            (&[1, 2, 3, 4, 5, 6, 7][..], 3, &[3, 6][..], Some(7)),
            (&[1, 1, 1, 2, 3, 3, 3, 4], 2, &[1, 3], Some(4)),
            (&[1, 1, 1, 2, 3, 3, 3], 2, &[1, 3], None),
            (&[5, 5], 7, &[], Some(5)),
            (&[], 1, &[], None),
        ] {
            assert_eq!(ends_of(times, every), (ends.to_vec(), last), "{times:?} by {every}");
        }
    }

    #[test]
    fn steps_are_aligned_to_the_calendar() {
        let steps = |range, every: &str, ends: [Option<&str>; 2]| -> Vec<i64> {
            let [from, to] = ends.map(|end| end.map(|end| end.parse().unwrap()));
            let times = times(EpochUnit::Seconds, range);
            let step = LengthStep::of(every.parse().unwrap());
            times.line().steps(step, times.range, from.as_ref(), to.as_ref()).unwrap().collect()
        };
        assert_eq!(steps((59, 121), "1m", [None, None]), [59, 119, 179]);
        assert_eq!(steps((60, 119), "1m", [None, None]), [119]);
        assert_eq!(steps((-61, 1), "60", [None, None]), [-60, 0, 60]);
        assert_eq!(steps((0, 1_000_000), "1m", [Some("30"), Some("90")]), [59, 119]);
        // 1970-01-05 was a Monday.
        assert_eq!(steps((0, 5 * 86_400), "1w", [None, None]), [4 * 86_400 - 1, 11 * 86_400 - 1]);
        assert!(steps((5, 7), "1m", [Some("90"), Some("30")]).is_empty());
    }

    #[test]
    fn steps_are_aligned_to_the_first_edge_or_a_time() {
        let steps = |range, every: &str, alignment: &str| -> Vec<i64> {
            let times = times(EpochUnit::Seconds, range);
            let step = times.step(every.parse().unwrap(), &alignment.parse().unwrap()).unwrap();
            let Step::LengthAfter(every, origin) = step else {
                panic!("{step:?} is aligned to the calendar")
            };
            times.line().steps(LengthStep::after(every, origin), times.range, None, None).unwrap().collect()
        };
        // A step of a minute has sixty seconds, the first edge's among them.
        assert_eq!(steps((59, 121), "1m", "first"), [118, 178]);
        assert_eq!(steps((0, 60), "1m", "first"), [59, 119]);
        assert_eq!(steps((-5, 5), "10", "first"), [4, 14]);
        // A time later than the edges aligns those before it as well.
        assert_eq!(steps((59, 121), "1m", "30"), [89, 149]);
        assert_eq!(steps((59, 121), "1m", "1970-01-01T00:10:30"), [89, 149]);
        // A week that begins on the Thursday of 1970-01-01.
        assert_eq!(steps((0, 8 * 86_400), "1w", "1970-01-01"), [7 * 86_400 - 1, 14 * 86_400 - 1]);
        let none = Times { range: None, ..times(EpochUnit::Seconds, (0, 0)) };
        let day = "1d".parse().unwrap();
        assert_eq!(none.step(day, &Alignment::First).unwrap(), Step::Length(day));
        assert_eq!(none.step(day, &Alignment::Calendar).unwrap(), Step::Length(day));
        assert!("last".parse::<Alignment>().unwrap_err().contains("or calendar, or first"));
    }
}
