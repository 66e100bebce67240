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
    /// The fingerprint of the last edge read, by which a replaced file is known.
    pub(super) mark: Option<u64>,
    /// Device and number of the file, by which it is known after it was renamed.
    pub(super) file: Option<FileNumber>,
}

/// Device and number of a file.
pub type FileNumber = (u64, u64);

impl Position {
    /// The message of a version: `stream FILE: 50000 edges, 14 late, until 1700000000, mark 1f3c`.
    pub(super) fn message(&self, source: Option<&str>) -> String {
        let until = self.watermark.map_or_else(String::new, |mark| format!(", until {mark}"));
        let mark = self.mark.map_or_else(String::new, |mark| format!(", mark {mark:x}"));
        let file =
            self.file.map_or_else(String::new, |(device, number)| format!(", file {device:x}.{number:x}"));
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
    pub(super) fn parse(message: &str) -> Option<(&str, Self)> {
        let message = match message.strip_prefix("expire ") {
            Some(rest) => rest.split_once("; ")?.1,
            None => message,
        };
        let (source, counts) = message.strip_prefix("stream ")?.rsplit_once(": ")?;
        let (edges, rest) = counts.split_once(" edges, ").or_else(|| counts.split_once(" edge, "))?;
        let (late, rest) = rest.split_once(" late")?;
        let (rest, file) = match rest.split_once(", file ") {
            Some((rest, file)) => {
                let (device, number) = file.split_once('.')?;
                let of_hex = |text: &str| u64::from_str_radix(text, 16).ok();
                (rest, Some((of_hex(device)?, of_hex(number)?)))
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

/// The positions in the messages of versions, given newest first: the newest of each source.
pub(super) fn newest_positions<'m>(messages: impl IntoIterator<Item = &'m str>) -> Vec<(&'m str, Position)> {
    let mut found: Vec<(&str, Position)> = Vec::new();
    for (source, position) in messages.into_iter().filter_map(Position::parse) {
        if !found.iter().any(|(known, _)| *known == source) {
            found.push((source, position));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_back() {
        for (watermark, mark) in [(None, None), (Some(-5), None), (None, Some(7)), (Some(5), Some(u64::MAX))]
        {
            for (edges, file) in [(1, None), (50_000, Some((0x803, 77)))] {
                let position = Position { edges, late: 14, watermark, mark, file };
                for source in ["/data/a: b.csv", "/data/a, 1 late.csv"] {
                    let message = position.message(Some(source));
                    assert_eq!(Position::parse(&message), Some((source, position)), "{message}");
                    let expiry = format!("expire 12 edges until 2026-06-05; {message}");
                    assert_eq!(Position::parse(&expiry), Some((source, position)), "{expiry}");
                }
            }
        }
        for other in
            ["", "stream", "add a.csv", "stream a: x edges, 1 late", "stream a: 1 edges, 1 late and more"]
        {
            assert_eq!(Position::parse(other), None, "{other}");
        }
    }
}
