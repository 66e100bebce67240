//! How far a stream was read, as the messages of versions say it.

use esker_format::io::InputId;

/// How far a stream was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamPosition {
    /// Number of edges read, also of those that were rejected.
    pub edges: u64,
    /// Number of late edges among them.
    pub late: u64,
    /// The watermark, in the unit of the times.
    pub watermark: Option<i64>,
    /// The fingerprint of the last edge read, by which a replaced file is known.
    pub mark: Option<u64>,
    /// The file, by which it is known after it was renamed.
    pub file: Option<InputId>,
}

impl StreamPosition {
    /// The message of a version: `stream FILE: 50000 edges, 14 late, until 1700000000, mark 1f3c`.
    pub fn message(&self, source: Option<&str>) -> String {
        let until = self.watermark.map_or_else(String::new, |mark| format!(", until {mark}"));
        let mark = self.mark.map_or_else(String::new, |mark| format!(", mark {mark:x}"));
        let file = self.file.map_or_else(String::new, |InputId { device, number, birth_ns }| {
            let birth = birth_ns.map_or_else(String::new, |birth_ns| format!(".{birth_ns:x}"));
            format!(", file {device:x}.{number:x}{birth}")
        });
        format!(
            "stream {}: {}, {} late{until}{mark}{file}",
            source.unwrap_or("-"),
            esker_graph::counted(self.edges, "edge", "edges"),
            self.late
        )
    }

    /// The source and the position in the message of a version; `None` if it is none of a stream. Where the
    /// stream removed old edges, that comes first: `expire 12 edges until 2026-06-05T00:00:00.000Z; stream
    /// FILE: ...`.
    pub fn parse(message: &str) -> Option<(&str, Self)> {
        let message = match message.strip_prefix("expire ") {
            Some(rest) => rest.split_once("; ")?.1,
            None => message,
        };
        let (source, counts) = message.strip_prefix("stream ")?.rsplit_once(": ")?;
        let (edges, rest) = counts.split_once(" edges, ").or_else(|| counts.split_once(" edge, "))?;
        let (late, rest) = rest.split_once(" late")?;
        let (rest, file) = match rest.split_once(", file ") {
            Some((rest, file)) => {
                let mut parts = file.split('.').map(|part| u64::from_str_radix(part, 16).ok());
                let (device, number) = (parts.next()??, parts.next()??);
                let birth_ns = parts.next().map_or(Some(None), |birth_ns| birth_ns.map(Some))?;
                if parts.next().is_some() {
                    return None;
                }
                (rest, Some(InputId { device, number, birth_ns }))
            }
            None => (rest, None),
        };
        let (until, mark) = match rest.split_once(", mark ") {
            Some((until, mark)) => (until, Some(u64::from_str_radix(mark, 16).ok()?)),
            None => (rest, None),
        };
        let watermark = match until.strip_prefix(", until ") {
            Some(time) => Some(time.parse().ok()?),
            None if until.is_empty() => None,
            None => return None,
        };
        Some((source, Self { edges: edges.parse().ok()?, late: late.parse().ok()?, watermark, mark, file }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_back() {
        for (watermark, mark) in [(None, None), (Some(-5), None), (None, Some(7)), (Some(5), Some(u64::MAX))]
        {
            let file = |birth_ns| Some(InputId { device: 0x803, number: 77, birth_ns });
            for (edges, file) in [(1, None), (50_000, file(None)), (2, file(Some(1 << 60)))] {
                let position = StreamPosition { edges, late: 14, watermark, mark, file };
                for source in ["/data/a: b.csv", "/data/a, 1 late.csv"] {
                    let message = position.message(Some(source));
                    assert_eq!(StreamPosition::parse(&message), Some((source, position)), "{message}");
                    let expiry = format!("expire 12 edges until 2026-06-05; {message}");
                    assert_eq!(StreamPosition::parse(&expiry), Some((source, position)), "{expiry}");
                }
            }
        }
        for other in
            ["", "stream", "add a.csv", "stream a: x edges, 1 late", "stream a: 1 edges, 1 late and more"]
        {
            assert_eq!(StreamPosition::parse(other), None, "{other}");
        }
    }
}
