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

use std::num::NonZeroU64;
use std::str::FromStr;

pub(crate) use declared::expect_no_weight;
pub use declared::{Declared, select_version};
use declared::{known_unit, only_time};
use esker_graph::Run;
use esker_store::View;
use esker_store::windows::{Copies, TimeWindow};
pub use series::{WindowAnswer, WindowJob, WindowSeries};
use units::DAY_SECONDS;
pub use units::{EpochUnit, Span, TimePoint};

use crate::error::{Error, Result};
use crate::output::{StepColumn, StepValue};

/// The first Monday after the first of January 1970, in days.
const FIRST_MONDAY: i128 = 4;
/// Windows that follow each other, at most: their ends lie in memory.
const STEPS_MAX: i128 = 1 << 22;

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

/// A step of a length of time.
#[derive(Debug, Clone, Copy)]
struct LengthStep {
    every: Span,
    /// An end, from which all others are a whole number of steps; `None` for those of the calendar.
    origin: Option<i64>,
}

impl LengthStep {
    fn of(every: Span) -> Self {
        Self { every, origin: None }
    }

    fn after(every: Span, origin: i64) -> Self {
        Self { every, origin: Some(origin) }
    }
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
}

impl Times {
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
        Ok(Self { property, unit, range })
    }

    /// The window of a length that ends at a time; at the latest if none is given.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for a length or an end that makes no sense in the unit.
    pub fn window(&self, length: Span, until: Option<&TimePoint>, copies: Copies) -> Result<TimeWindow> {
        let until = match until {
            Some(until) => until.last(self.unit)?,
            None => self.range.map_or(0, |range| range.1),
        };
        self.window_until(length, until, copies)
    }

    /// As [`Times::window`], with an end in the unit of the times.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for a length that makes no sense in the unit.
    pub fn window_until(&self, length: Span, until: i64, copies: Copies) -> Result<TimeWindow> {
        Ok(TimeWindow { after: until.saturating_sub(self.unit.length(length)?), until, copies })
    }

    /// The columns of a window of a length that ends at a time, in a file with the answers on several.
    pub fn step_columns(&self, until: i64, length: Span) -> [StepColumn; 2] {
        let (time, unit) = self.unit.stored(until);
        let time = StepValue::Time(time, unit, self.unit.format(until));
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
            Alignment::At(time) => Some(time.before(self.unit)?),
        };
        Ok(after.map_or(Step::Length(every), |after| Step::LengthAfter(every, after)))
    }

    /// The ends of windows that follow each other, ascending. Lengths with a unit follow the calendar in UTC,
    /// weeks from Monday: hours end with the last moment before the next full hour. Lengths without a unit
    /// end at their multiples. With `origin`, ends are a whole number of steps from it instead. The first is
    /// the end of the step in which `from` lies, the last that of `to`; if they are not given, those of the
    /// first and the last edge.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for a length or an end that makes no sense in the unit, and for more than 2^22
    /// windows.
    fn steps(
        &self,
        step: LengthStep,
        from: Option<&TimePoint>,
        to: Option<&TimePoint>,
    ) -> Result<impl Iterator<Item = i64> + use<>> {
        let LengthStep { every, origin } = step;
        let step = i128::from(self.unit.length(every)?);
        let week = 7 * i128::from(DAY_SECONDS) * 1_000_000_000 / self.unit.nanoseconds();
        let origin = match every {
            _ if let Some(origin) = origin => i128::from(origin),
            every if !every.has_unit() => 0,
            // A minute ends with its last second, or whatever the unit is.
            _ if step % week == 0 => FIRST_MONDAY * (week / 7) - 1,
            _ => -1,
        };
        let from =
            from.map(|from| from.before(self.unit).map(|before| before.saturating_add(1))).transpose()?;
        let to = to.map(|to| to.last(self.unit)).transpose()?;
        let first = from.or(self.range.map(|range| range.0));
        let last = to.or(self.range.map(|range| range.1));
        let end_of = move |time: i64| {
            let up = (i128::from(time) - origin + step - 1).div_euclid(step);
            up * step + origin
        };
        let ends = first.zip(last).map(|(first, last)| (end_of(first), end_of(last)));
        let (first, last) = ends.unwrap_or((0, -1));
        let count = if last < first { 0 } else { (last - first) / step + 1 };
        if count > STEPS_MAX {
            return Err(Error::usage(format!(
                "every {every} makes {count} windows, but {STEPS_MAX} is the most: choose a longer step, or a shorter time with from and to"
            )));
        }
        Ok((0..count).filter_map(move |i| i64::try_from(first + i * step).ok()))
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
            Step::Length(every) => return Ok(Box::new(self.steps(LengthStep::of(every), from, to)?)),
            Step::LengthAfter(every, origin) => {
                return Ok(Box::new(self.steps(LengthStep::after(every, origin), from, to)?));
            }
            Step::Edges(every) => every,
        };
        let after = from.map_or(Ok(i64::MIN), |from| from.before(self.unit))?;
        let until = to.map_or(Ok(i64::MAX), |to| to.last(self.unit))?;
        let (mut ends, last) = self.counted_ends(view, every, after, until, run)?;
        ends.extend(last);
        Ok(Box::new(ends.into_iter()))
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
            return Ok(self.newest_end(step, passed)?.into_iter().collect());
        };
        let [from, to] = [last.saturating_add(1), passed].map(TimePoint::of_number);
        let ends = self.steps(step, Some(&from), Some(&to))?;
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
        let (times, _memory) = view.sorted_times(&self.property, after, until, run)?;
        Ok(ends_of(&times, usize::try_from(every.get()).unwrap_or(usize::MAX)))
    }

    /// The newest of the ends of steps that is not later than `passed`; `None` beyond 64 bits.
    ///
    /// # Errors
    /// As [`Times::steps`].
    fn newest_end(&self, step: LengthStep, passed: i64) -> Result<Option<i64>> {
        let before = TimePoint::of_number(passed.saturating_sub(self.unit.length(step.every)?));
        let ends = self.steps(step, Some(&before), Some(&TimePoint::of_number(passed)))?;
        Ok(ends.filter(|&end| end <= passed).last())
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
}

impl MovingWindow {
    /// The window of a version, and the unit of its times; `None` if it moves in steps and no step has ended
    /// after the end of the `former` one. Before the first step has ended it ends with the latest edge. Where
    /// little changed since the former window, it is made from that: see [`View::window_after`].
    ///
    /// # Errors
    /// As [`Times::of`] and [`View::window`].
    pub fn of(&self, view: &View, former: Option<&View>, run: &Run) -> Result<Option<(View, EpochUnit)>> {
        let last = former.and_then(View::window_index).map(|index| index.window().until);
        let times = Times::ending(view, self.time.as_deref(), self.unit, run)?;
        let latest = times.range.map_or(0, |range| range.1);
        let end = match self.every {
            None => latest,
            Some(Step::Length(every)) => times.newest_end(LengthStep::of(every), latest)?.unwrap_or(latest),
            Some(Step::LengthAfter(every, origin)) => {
                times.newest_end(LengthStep::after(every, origin), latest)?.unwrap_or(latest)
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
        Ok(Some((windowed, times.unit)))
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
        Times { property: "time".to_owned(), unit, range: Some(range) }
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
            times.steps(LengthStep::of(every.parse().unwrap()), from.as_ref(), to.as_ref()).unwrap().collect()
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
            times.steps(LengthStep::after(every, origin), None, None).unwrap().collect()
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
