//! Which versions removed old edges, as their messages say, so that a past window is computed on a version
//! that has its edges still.

use esker_store::format::VersionRecord;
use esker_store::position::StreamPosition;

use crate::window::{EpochUnit, TimePoint};

/// The version on which a window that has ended is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowVersion {
    /// The newest: none of its edges have expired.
    Newest,
    /// An earlier one: later ones have lost some of its edges.
    Before(u64),
    /// The newest, which lacks the edges until a time: this version removed them, and none before it that is
    /// kept had all edges until the end of the window.
    Expired(u64, i64),
}

/// A version that removed old edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Removal {
    version: u64,
    /// The greatest time that an edge may have had to be removed.
    until: i64,
    /// The newest version before it, and the time until which all edges had come by then.
    before: Option<(u64, i64)>,
}

/// The versions that removed old edges, ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expiries(Vec<Removal>);

impl Expiries {
    /// Those of the ascending `versions` of a database whose times are in `unit`.
    pub fn of<'v>(versions: impl IntoIterator<Item = &'v VersionRecord>, unit: EpochUnit) -> Self {
        let (mut expiries, mut watermark, mut before) = (Vec::new(), None, None);
        for version in versions {
            if let Some(until) = expired_until(&version.message, unit) {
                expiries.push(Removal { version: version.number, until, before });
            }
            // A version that no stream made says nothing about what is still to come.
            watermark = StreamPosition::parse(&version.message)
                .and_then(|(_, position)| position.watermark)
                .or(watermark);
            before = Some((version.number, watermark.unwrap_or_else(|| unit.of_ms(version.time_ms))));
        }
        Self(expiries)
    }

    /// The version for the edges that are later than `after`, until `end`.
    pub fn version_of(&self, after: i64, end: i64) -> WindowVersion {
        let Some(first) = self.0.iter().find(|expiry| expiry.until > after) else {
            return WindowVersion::Newest;
        };
        match first.before {
            Some((version, watermark)) if watermark >= end => WindowVersion::Before(version),
            _ => {
                let until = self.0.iter().map(|expiry| expiry.until).max().unwrap_or(first.until);
                WindowVersion::Expired(first.version, until.min(end))
            }
        }
    }

    /// The last version that has all edges later than `after`, and the time until which all edges had come by
    /// then; `None` if it is the newest, or there is none.
    pub fn last_with(&self, after: i64) -> Option<(u64, i64)> {
        self.0.iter().find(|expiry| expiry.until > after)?.before
    }
}

/// Whether the message of a version says that it removed old edges.
pub(crate) fn is_expiry(message: &str) -> bool {
    expired_until(message, EpochUnit::Seconds).is_some()
}

/// The greatest time that an edge may have had to be removed by a version, as its message says; `None` if it
/// is no expiry.
fn expired_until(message: &str, unit: EpochUnit) -> Option<i64> {
    let (_, rest) = message.strip_prefix("expire ")?.split_once(" until ")?;
    let time = rest.split("; ").next()?;
    let point: TimePoint = time.parse().ok()?;
    // What a text leaves out is 0.
    point.before(unit, None).ok().map(|before| before.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(number: u64, message: &str) -> VersionRecord {
        VersionRecord {
            number,
            time_ms: number * 1000,
            committed_ms: 0,
            message: message.to_owned(),
            commit: 0,
            num_vertices: 0,
            num_edges: 0,
            num_arcs: 0,
            num_loops: 0,
        }
    }

    #[test]
    fn messages_say_until_when_edges_expired() {
        let units = [
            (EpochUnit::Seconds, 1),
            (EpochUnit::Milliseconds, 1_000),
            (EpochUnit::Microseconds, 1_000_000),
            (EpochUnit::Nanoseconds, 1_000_000_000),
        ];
        for (unit, parts) in units {
            for time in [-7, 0, 1_704_067_200 * parts, 1_704_067_200 * parts + parts * 17 / 1000] {
                let text = format!("expire 3 edges until {}", unit.format(time));
                assert_eq!(expired_until(&text, unit), Some(time), "{text} in {}", unit.name());
                let streamed = format!("{text}; stream a: 7 edges, 0 late, until 5, mark 1");
                assert_eq!(expired_until(&streamed, unit), Some(time), "{streamed}");
            }
        }
        let until =
            expired_until("expire 1 edge until 2024-01-01T00:00:00.123456789Z", EpochUnit::Nanoseconds);
        assert_eq!(until, Some(1_704_067_200_123_456_789));
        for other in ["", "expire", "expire all until Monday", "stream a: 7 edges, 0 late, until 5, mark 1"] {
            assert_eq!(expired_until(other, EpochUnit::Seconds), None, "{other}");
        }
    }

    #[test]
    fn a_window_is_of_the_last_version_that_has_its_edges() {
        let mut versions = vec![
            version(1, "import"),
            version(2, "stream a: 7 edges, 0 late, until 100, mark 1"),
            version(
                3,
                "expire 2 edges until 1970-01-01T00:00:50Z; stream a: 7 edges, 0 late, until 100, mark 1",
            ),
            version(4, "stream a: 9 edges, 0 late, until 200, mark 1"),
            version(
                5,
                "expire 2 edges until 1970-01-01T00:02:30Z; stream a: 9 edges, 0 late, until 200, mark 1",
            ),
            version(6, "stream a: 11 edges, 0 late, until 300, mark 1"),
        ];
        let of = |versions: &[VersionRecord], after, end| {
            Expiries::of(versions, EpochUnit::Seconds).version_of(after, end)
        };
        assert_eq!(of(&versions, 150, 250), WindowVersion::Newest);
        assert_eq!(of(&versions, 149, 200), WindowVersion::Before(4));
        assert_eq!(of(&versions, 50, 150), WindowVersion::Before(4));
        assert_eq!(of(&versions, 49, 100), WindowVersion::Before(2));
        // Edges until then had not all come when its first edges expired.
        assert_eq!(of(&versions, 49, 101), WindowVersion::Expired(3, 101));
        assert_eq!(of(&versions, 149, 201), WindowVersion::Expired(5, 150));
        // An older one does as well, if all edges had come.
        let version = versions.remove(3);
        assert_eq!(of(&versions, 60, 100), WindowVersion::Before(3));
        assert_eq!(of(&versions, 60, 150), WindowVersion::Expired(5, 150));
        versions.insert(3, version);
        versions.drain(..4);
        assert_eq!(of(&versions, 149, 200), WindowVersion::Expired(5, 150));
        assert_eq!(of(&versions, 150, 300), WindowVersion::Newest);
        assert_eq!(of(&[], 0, 1), WindowVersion::Newest);
    }
}
