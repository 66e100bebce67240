//! Time zones: their clocks, with summer time, from the data that the crate `jiff` bundles.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::calendar::CivilText;

/// A time zone: a name of the IANA database, such as `Europe/Berlin`, or an offset, such as `+01:00`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    rules: TimeZone,
}

/// How the clocks of a zone came to a local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockShows {
    /// They showed it once.
    Once,
    /// They were set back, and showed it twice: the first is taken.
    Twice,
    /// They were set forward over it: the time as long after the change is taken, as if they had not been.
    Never,
}

/// The moment of a local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1970-01-01 00:00 UTC.
    pub second: i64,
    /// How often the clocks showed the local time.
    pub clock: ClockShows,
}

thread_local! {
    /// The zone that this thread asked for last: the values of a column have one.
    static LAST: std::cell::RefCell<Option<Zone>> = const { std::cell::RefCell::new(None) };
}

impl Zone {
    /// The zone of a name, in any case; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        LAST.with_borrow_mut(|last| {
            if let Some(zone) = last.as_ref().filter(|zone| zone.name == name) {
                return Some(zone.clone());
            }
            let found = Self::find(name)?;
            // Under another name than the asked one it would not be found again.
            *last = Some(Self { name: name.to_owned(), ..found.clone() });
            Some(found)
        })
    }

    /// The zone of the local times of a property with this zone: UTC is no zone of anybody's clock.
    pub fn of_clocks(name: &str) -> Option<Self> {
        match name {
            "" | "UTC" => None,
            name => Self::named(name),
        }
    }

    fn find(name: &str) -> Option<Self> {
        if let Ok(rules) = TimeZone::get(name) {
            let name = rules.iana_name().unwrap_or(name).to_owned();
            return Some(Self { name, rules });
        }
        let offset = CivilText::parse(&format!("1970-01-01{name}"))?.offset_minutes?;
        let offset = Offset::from_seconds(i32::try_from(offset * 60).ok()?).ok()?;
        Some(Self { name: name.to_owned(), rules: TimeZone::fixed(offset) })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Seconds by which its clocks are ahead of UTC, `second` seconds after 1970-01-01 00:00 UTC. Beyond the
    /// years -9999 to 9999, those of the nearest year.
    pub fn offset_seconds(&self, second: i64) -> i32 {
        self.rules.to_offset(timestamp(second)).seconds()
    }

    /// The moment when its clocks show `second` seconds after 1970-01-01 00:00.
    pub fn moment(&self, second: i64) -> Moment {
        let local = Offset::UTC.to_datetime(timestamp(second));
        let (offset, clock) = match self.rules.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => (offset, ClockShows::Once),
            AmbiguousOffset::Fold { before, .. } => (before, ClockShows::Twice),
            AmbiguousOffset::Gap { before, .. } => (before, ClockShows::Never),
        };
        Moment { second: second - i64::from(offset.seconds()), clock }
    }
}

fn timestamp(second: i64) -> Timestamp {
    // A day is left for the offset, so that the local time is within the years of the crate.
    const DAY: i64 = 86_400;
    let (first, last) = (Timestamp::MIN.as_second() + DAY, Timestamp::MAX.as_second() - DAY);
    Timestamp::from_second(second.clamp(first, last)).unwrap_or(Timestamp::UNIX_EPOCH)
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl FromStr for Zone {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::named(text).ok_or_else(|| {
            format!("{text:?} is no time zone: give a name such as Europe/Berlin, UTC, or an offset such as +01:00")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds since 1970 of a text in UTC.
    fn second(text: &str) -> i64 {
        CivilText::parse(text).unwrap().utc_second()
    }

    #[test]
    fn local_times_are_moments_also_where_clocks_change() {
        for (zone, local, utc, clock) in [
            ("Europe/Berlin", "2026-01-01 12:00", "2026-01-01 11:00", ClockShows::Once),
            ("europe/berlin", "2026-07-01 12:00", "2026-07-01 10:00", ClockShows::Once),
            ("Europe/Berlin", "2026-03-29 02:30", "2026-03-29 01:30", ClockShows::Never),
            ("Europe/Berlin", "2026-10-25 02:30", "2026-10-25 00:30", ClockShows::Twice),
            ("Europe/Berlin", "2026-10-25 03:00", "2026-10-25 02:00", ClockShows::Once),
            ("America/New_York", "2026-11-01 01:59:59", "2026-11-01 05:59:59", ClockShows::Twice),
            ("Australia/Lord_Howe", "2026-10-04 02:15", "2026-10-03 15:45", ClockShows::Never),
            ("+05:30", "2026-01-01 12:00", "2026-01-01 06:30", ClockShows::Once),
            ("UTC", "2026-01-01 12:00", "2026-01-01 12:00", ClockShows::Once),
        ] {
            let found = zone.parse::<Zone>().unwrap().moment(second(local));
            assert_eq!(found, Moment { second: second(utc), clock }, "{zone} {local}");
        }
    }

    #[test]
    fn zones_are_named_or_refused() {
        assert_eq!(Zone::named("europe/berlin").unwrap().name(), "Europe/Berlin");
        for wrong in ["", "Berlin", "+25:00", "+1", "Europe/Berlin "] {
            assert!(wrong.parse::<Zone>().unwrap_err().contains("such as Europe/Berlin"), "{wrong}");
        }
        let berlin = Zone::named("Europe/Berlin").unwrap();
        // Times of any year have an offset.
        assert_eq!([i64::MIN, i64::MAX].map(|second| berlin.offset_seconds(second) > 0), [true; 2]);
    }
}
