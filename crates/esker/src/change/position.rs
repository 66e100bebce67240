//! How far a stream was read, as the messages of versions say it.

/// How far a stream was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Position {
    /// Number of edges read, also of those that were rejected.
    pub(super) edges: u64,
    /// Number of late edges among them.
    pub(super) late: u64,
    /// The watermark, in the unit of the times.
    pub(super) watermark: Option<i64>,
}

impl Position {
    /// The message of a version: `stream FILE: 50000 edges, 14 late, until 1700000000`.
    pub(super) fn message(&self, source: Option<&str>) -> String {
        let until = self.watermark.map_or_else(String::new, |mark| format!(", until {mark}"));
        format!("stream {}: {} edges, {} late{until}", source.unwrap_or("-"), self.edges, self.late)
    }

    /// The source and the position in the message of a version; `None` if it is none of a stream.
    pub(super) fn parse(message: &str) -> Option<(&str, Self)> {
        let (source, counts) = message.strip_prefix("stream ")?.rsplit_once(": ")?;
        let (edges, rest) = counts.split_once(" edges, ")?;
        let (late, until) = rest.split_once(" late")?;
        let watermark = match until.strip_prefix(", until ") {
            Some(mark) => Some(mark.parse().ok()?),
            None if until.is_empty() => None,
            None => return None,
        };
        Some((source, Self { edges: edges.parse().ok()?, late: late.parse().ok()?, watermark }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_back() {
        for watermark in [None, Some(-5), Some(1_700_000_000)] {
            let position = Position { edges: 50_000, late: 14, watermark };
            for source in ["/data/a: b.csv", "/data/a, 1 late.csv"] {
                let message = position.message(Some(source));
                assert_eq!(Position::parse(&message), Some((source, position)), "{message}");
            }
        }
        for other in
            ["", "stream", "add a.csv", "stream a: x edges, 1 late", "stream a: 1 edges, 1 late and more"]
        {
            assert_eq!(Position::parse(other), None, "{other}");
        }
    }
}
