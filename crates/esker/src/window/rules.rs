//! Windows that follow each other by a length of time.
//!
//! Days and weeks of a zone are those of its calendar: where its clocks change, a day has 23 or 25 hours.
//! Other lengths are the same everywhere.

use esker_store::format::value::zone::Zone;

use super::units::{DAY, EpochUnit, Span, TIME_MIN, TimePoint, is_local};
use crate::error::{Error, Result};

/// The first Monday after the first of January 1970, in days.
const FIRST_MONDAY: i128 = 4;
/// Windows that follow each other, at most: their ends lie in memory.
const STEPS_MAX: i128 = 1 << 22;

/// Which end of a window belongs to it. Without this, a window holds its end and not its beginning, but steps
/// of the calendar end with their last moment, so that a day is all of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClosedEnd {
    /// The beginning, and not the end: an end at a time is before the first moment that it names, and steps
    /// end as without this.
    Left,
    /// The end, and not the beginning: also of steps, which end with the first moment of the next.
    Right,
}

/// How windows lie in time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowRules {
    /// The zone whose days and weeks steps and lengths follow, and of times without an offset; `None`: that
    /// of the property, else UTC.
    pub zone: Option<Zone>,
    /// Which end belongs to a window.
    pub closed: Option<ClosedEnd>,
}

/// A step of a length of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct LengthStep {
    every: Span,
    /// An end, from which all others are a whole number of steps; `None` for those of the calendar.
    origin: Option<i64>,
}

impl LengthStep {
    pub(super) fn of(every: Span) -> Self {
        Self { every, origin: None }
    }

    pub(super) fn after(every: Span, origin: i64) -> Self {
        Self { every, origin: Some(origin) }
    }
}

/// What clocks show: those of a zone, or of UTC.
struct ShownClock<'z> {
    zone: Option<&'z Zone>,
    /// Units of the times in a second.
    per_second: i128,
}

impl ShownClock<'_> {
    /// What clocks show at a time.
    fn shown(&self, time: i128) -> i128 {
        let Some(zone) = self.zone else { return time };
        time + i128::from(zone.offset_seconds(second(time.div_euclid(self.per_second)))) * self.per_second
    }

    /// The time when clocks show this.
    fn time(&self, shown: i128) -> i128 {
        let Some(zone) = self.zone else { return shown };
        let moment = zone.moment(second(shown.div_euclid(self.per_second)));
        i128::from(moment.second) * self.per_second + shown.rem_euclid(self.per_second)
    }
}

fn second(seconds: i128) -> i64 {
    i64::try_from(seconds).unwrap_or(if seconds < 0 { i64::MIN } else { i64::MAX })
}

/// Steps of a length, numbered.
pub struct StepGrid<'z> {
    clock: ShownClock<'z>,
    length: i128,
    /// A time at which a step begins, as clocks show it.
    boundary: i128,
    /// By how much a step ends before the next begins.
    end_before: i128,
}

impl StepGrid<'_> {
    /// The end of a step.
    fn end(&self, index: i128) -> i128 {
        self.clock.time(self.boundary + index * self.length) - self.end_before
    }

    /// The step in which a time lies.
    fn index_of(&self, time: i64) -> i128 {
        let past = self.clock.shown(i128::from(time) + self.end_before) - self.boundary;
        let index = (past + self.length - 1).div_euclid(self.length);
        // Where clocks were set back, the same hour is shown again.
        if self.end(index) < i128::from(time) { index + 1 } else { index }
    }

    /// The end of the step in which a time lies; the last time of all where that is beyond it.
    pub fn end_of(&self, time: i64) -> i64 {
        i64::try_from(self.end(self.index_of(time))).unwrap_or(i64::MAX)
    }
}

/// The times of a property, under rules.
#[derive(Clone, Copy)]
pub(super) struct TimeLine<'r> {
    pub(super) unit: EpochUnit,
    pub(super) rules: &'r WindowRules,
}

impl<'r> TimeLine<'r> {
    /// The clocks that lengths of this kind follow.
    fn clock(self, length: Span) -> ShownClock<'r> {
        let has_days = matches!(length.symbol(), "d" | "w");
        let zone = self.rules.zone.as_ref().filter(|zone| has_days && is_local(zone));
        ShownClock { zone, per_second: 1_000_000_000 / self.unit.nanoseconds() }
    }

    /// The time that is earlier by a length.
    ///
    /// # Errors
    /// [`Error::Usage`] for a length that makes no sense in the unit.
    pub(super) fn earlier(self, time: i64, length: Span) -> Result<i64> {
        let (clock, length) = (self.clock(length), self.unit.length(length)?);
        let earlier = clock.time(clock.shown(i128::from(time)) - i128::from(length));
        Ok(i64::try_from(earlier).unwrap_or(i64::MIN))
    }

    /// As [`TimePoint::last`], in the zone.
    pub(super) fn last(self, point: &TimePoint) -> Result<i64> {
        point.last(self.unit, self.rules.zone.as_ref())
    }

    /// As [`TimePoint::before`], in the zone.
    pub(super) fn before(self, point: &TimePoint) -> Result<i64> {
        point.before(self.unit, self.rules.zone.as_ref())
    }

    /// The end of a window at a time; at the latest of an edge if none is given.
    pub(super) fn end(self, until: Option<&TimePoint>, latest: i64) -> Result<i64> {
        match (until, self.rules.closed) {
            (Some(until), Some(ClosedEnd::Left)) => self.before(until),
            (Some(until), _) => self.last(until),
            (None, Some(ClosedEnd::Left)) => Ok(latest.saturating_sub(1)),
            (None, _) => Ok(latest),
        }
    }

    /// The times of a range in words, as `milliseconds since 1970: 2024-01-01 to 2024-03-31`. `is_number`:
    /// numbers whose unit is guessed or chosen; those that are no times since 1973 are shown as they are,
    /// unless the unit is chosen.
    pub(super) fn described(self, first: i64, last: i64, is_number: bool, is_chosen: bool) -> String {
        if is_number && !is_chosen && last.unsigned_abs() < TIME_MIN {
            return format!("numbers, {first} to {last}: no times since 1973 in any unit");
        }
        let [first, last] = [first, last].map(|time| self.unit.format_in(time, self.rules.zone.as_ref()));
        // Days are enough where there are several.
        let range = match (first.split_once('T'), last.split_once('T')) {
            (Some((first, _)), Some((last, _))) if first != last => format!("{first} to {last}"),
            _ => format!("{first} to {last}"),
        };
        if is_number { format!("{} since 1970: {range}", self.unit.name()) } else { range }
    }

    /// A time at which a step begins, as clocks show it.
    fn boundary(self, step: LengthStep) -> Result<i128> {
        let (clock, day) = (self.clock(step.every), self.unit.length(DAY)?);
        let length = i128::from(self.unit.length(step.every)?);
        Ok(match step.origin {
            Some(origin) => clock.shown(i128::from(origin) + 1),
            None if !step.every.has_unit() && self.rules.closed != Some(ClosedEnd::Left) => self.end_before(),
            None if !step.every.has_unit() => 0,
            None if length % i128::from(7 * day) == 0 => FIRST_MONDAY * i128::from(day),
            None => 0,
        })
    }

    /// By how much a step ends before the next begins: with its last moment, or, closed on the right, with
    /// the first of the next.
    fn end_before(self) -> i128 {
        if self.rules.closed == Some(ClosedEnd::Right) { 0 } else { 1 }
    }

    /// The ends of windows that follow each other, ascending. Lengths with a unit follow the calendar, days
    /// and weeks that of the zone, weeks from Monday: hours end with the last moment before the next full
    /// hour. Lengths without a unit end at their multiples. With an origin, ends are a whole number of steps
    /// from it instead. The first is the end of the step in which `from` lies, the last that of `to`; if they
    /// are not given, those of `range`, the first and the last edge.
    ///
    /// # Errors
    /// [`Error::Usage`] for a length or an end that makes no sense in the unit, and for more than 2^22
    /// windows.
    pub(super) fn steps(
        self,
        step: LengthStep,
        range: Option<(i64, i64)>,
        from: Option<&TimePoint>,
        to: Option<&TimePoint>,
    ) -> Result<std::vec::IntoIter<i64>> {
        let (every, grid) = (step.every, self.grid(step)?);
        let from = from.map(|from| self.before(from).map(|before| before.saturating_add(1))).transpose()?;
        let to = to.map(|to| self.last(to)).transpose()?;
        let first = from.or(range.map(|range| range.0));
        let last = to.or(range.map(|range| range.1));
        let indexes = first.zip(last).map(|(first, last)| (grid.index_of(first), grid.index_of(last)));
        let (first, last) = indexes.unwrap_or((0, -1));
        let count = if last < first { 0 } else { last - first + 1 };
        if count > STEPS_MAX {
            return Err(Error::usage(format!(
                "every {every} makes {count} windows, but {STEPS_MAX} is the most: choose a longer step, or a shorter time with from and to"
            )));
        }
        let ends = (first..first + count).filter_map(|index| i64::try_from(grid.end(index)).ok());
        Ok(ends.collect::<Vec<_>>().into_iter())
    }

    /// The steps of a length.
    ///
    /// # Errors
    /// [`Error::Usage`] for a length that makes no sense in the unit.
    pub(super) fn grid(self, step: LengthStep) -> Result<StepGrid<'r>> {
        Ok(StepGrid {
            clock: self.clock(step.every),
            length: self.unit.length(step.every)?.into(),
            boundary: self.boundary(step)?,
            end_before: self.end_before(),
        })
    }

    /// The newest of the ends of steps that is not later than `passed`; `None` beyond 64 bits.
    ///
    /// # Errors
    /// As [`TimeLine::steps`].
    pub(super) fn newest_end(self, step: LengthStep, passed: i64) -> Result<Option<i64>> {
        // A step of a zone may be an hour longer than its length.
        let lengths = if self.clock(step.every).zone.is_some() { 2 } else { 1 };
        let length = self.unit.length(step.every)?.saturating_mul(lengths);
        let before = TimePoint::of_number(passed.saturating_sub(length));
        let mut ends = self.steps(step, None, Some(&before), Some(&TimePoint::of_number(passed)))?;
        Ok(ends.rfind(|&end| end <= passed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(line: TimeLine<'_>, every: &str, range: (i64, i64)) -> Vec<i64> {
        line.steps(LengthStep::of(every.parse().unwrap()), Some(range), None, None).unwrap().collect()
    }

    #[test]
    fn days_of_a_zone_have_as_many_hours_as_its_clocks_show() {
        let rules = WindowRules { zone: Zone::named("Europe/Berlin"), closed: None };
        let point = |text: &str| text.parse::<TimePoint>().unwrap();
        for (from, to, every, hours) in [
            ("2026-03-28", "2026-03-30", "1d", &[24, 23, 24][..]),
            ("2026-10-24", "2026-10-26", "1d", &[24, 25, 24]),
            ("2026-03-23", "2026-04-05", "1w", &[167, 168]),
            ("2026-10-19", "2026-11-01", "1w", &[169, 168]),
            ("2026-03-29T00:00", "2026-03-29T03:59", "1h", &[1, 1, 1]),
        ] {
            for unit in [EpochUnit::Seconds, EpochUnit::Milliseconds, EpochUnit::Nanoseconds] {
                let (line, every) = (TimeLine { unit, rules: &rules }, every.parse::<Span>().unwrap());
                let step = LengthStep::of(every);
                let ends = line.steps(step, None, Some(&point(from)), Some(&point(to))).unwrap();
                let ends: Vec<i64> = ends.collect();
                let per_hour = 3_600_000_000_000 / unit.nanoseconds() as i64;
                let first = line.before(&point(from)).unwrap();
                let starts = std::iter::once(first).chain(ends.iter().copied());
                let lengths: Vec<i64> =
                    starts.zip(&ends).map(|(start, &end)| (end - start) / per_hour).collect();
                assert_eq!(lengths, hours, "{from} {every} {unit:?}");
                // The window of a step begins where the one before ends.
                let begins: Vec<i64> = ends.iter().map(|&end| line.earlier(end, every).unwrap()).collect();
                assert_eq!(begins[0], first, "{from} {every} {unit:?}");
                assert_eq!(begins[1..], ends[..ends.len() - 1], "{from} {every} {unit:?}");
                // The end that was passed last is found on long days, too.
                for (&end, &next) in ends.iter().zip(&ends[1..]) {
                    assert_eq!(
                        line.newest_end(step, next - 1).unwrap(),
                        Some(end),
                        "{from} {every} {unit:?}"
                    );
                }
            }
        }
        let shown = EpochUnit::Seconds.format_in(1_785_000_000, rules.zone.as_ref());
        assert_eq!(shown, "2026-07-25T19:20:00+02:00");
    }

    #[test]
    fn the_closed_end_belongs_to_a_window() {
        let at: TimePoint = "1970-01-01T02:00:00".parse().unwrap();
        for (closed, until, ends, multiples) in [
            (None, 7200, [3599, 7199], [3600, 7200]),
            (Some(ClosedEnd::Left), 7199, [3599, 7199], [3599, 7199]),
            (Some(ClosedEnd::Right), 7200, [3600, 7200], [3600, 7200]),
        ] {
            let rules = WindowRules { zone: None, closed };
            let line = TimeLine { unit: EpochUnit::Seconds, rules: &rules };
            assert_eq!(line.end(Some(&at), 0).unwrap(), until, "{closed:?}");
            assert_eq!(line.end(None, 7000).unwrap(), 7000 - i64::from(closed == Some(ClosedEnd::Left)));
            assert_eq!(steps(line, "1h", (1, 7000)), ends, "{closed:?}");
            assert_eq!(steps(line, "3600", (1, 7000)), multiples, "{closed:?}");
        }
        // The first moment of a step belongs to the step before it, if the right end is closed.
        let rules = WindowRules { zone: None, closed: Some(ClosedEnd::Right) };
        assert_eq!(steps(TimeLine { unit: EpochUnit::Seconds, rules: &rules }, "1h", (3600, 3600)), [3600]);
    }
}
