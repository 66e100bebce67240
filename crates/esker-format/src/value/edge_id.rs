//! Ids of edges: names that tell parallel edges apart.

use std::fmt;
use std::str::FromStr;

/// Bits of the place.
const PLACE_BITS: u32 = 28;

/// The id of an edge among those between the same two vertices: the version that added it, and its place
/// among those that this version added.
///
/// It never changes, whatever becomes of the other edges, and no later edge gets it. It is written `v7.2`:
/// version 7, the second edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeId(u64);

impl EdgeId {
    /// Stands for the id that the database gives to an edge when a commit adds it.
    pub const NEW: Self = Self(0);
    /// The largest place. A version cannot add more edges between two vertices.
    pub const PLACE_MAX: u64 = (1 << PLACE_BITS) - 1;
    /// The largest version that an id can name.
    pub const VERSION_MAX: u64 = (1 << (63 - PLACE_BITS)) - 1;

    /// The id of the edge at a place, from 1, among those that a version added; `None` if a number is too
    /// large, or the place is 0. Version 0 means that the edge is older than the ids.
    pub fn new(version: u64, place: u64) -> Option<Self> {
        let fits = version <= Self::VERSION_MAX && (1..=Self::PLACE_MAX).contains(&place);
        fits.then_some(Self(version << PLACE_BITS | place))
    }

    /// The id with these stored bits.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The stored bits, which are less than 2^63.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The version that added the edge; 0: the edge is older than the ids.
    pub fn version(self) -> u64 {
        self.0 >> PLACE_BITS
    }

    /// Its place, from 1, among the edges between the same vertices that this version added.
    pub fn place(self) -> u64 {
        self.0 & Self::PLACE_MAX
    }
}

impl fmt::Display for EdgeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}.{}", self.version(), self.place())
    }
}

impl FromStr for EdgeId {
    type Err = &'static str;

    /// Parses `v7.2`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "is not the id of an edge such as v7.2";
        let number = |text: &str| {
            let is_canonical =
                text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
            text.parse().ok().filter(|_| is_canonical)
        };
        let (version, place) = text.strip_prefix('v').and_then(|text| text.split_once('.')).ok_or(WRONG)?;
        number(version).zip(number(place)).and_then(|(version, place)| Self::new(version, place)).ok_or(WRONG)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_edges_read_back_as_they_are_written() {
        for (version, place) in [(0, 1), (7, 2), (1, 10), (EdgeId::VERSION_MAX, EdgeId::PLACE_MAX)] {
            let id = EdgeId::new(version, place).unwrap();
            assert_eq!((id.version(), id.place()), (version, place));
            assert_eq!(id.to_string().parse(), Ok(id));
            assert_eq!(EdgeId::from_bits(id.bits()), id);
            assert!(id.bits() <= i64::MAX as u64 && id != EdgeId::NEW);
        }
        assert_eq!(EdgeId::new(7, 2).unwrap().to_string(), "v7.2");
    }

    #[test]
    fn what_is_no_id_of_an_edge_is_refused() {
        for text in [
            "",
            "7",
            "v7",
            "v7.",
            "v.2",
            "v7.0",
            "v07.2",
            "v7.02",
            "v7.2.1",
            "v-7.2",
            "v7.+2",
            "V7.2",
            "v7.268435456",
            "7.2",
        ] {
            assert!(text.parse::<EdgeId>().is_err(), "{text}");
        }
        assert_eq!(EdgeId::new(EdgeId::VERSION_MAX + 1, 1), None);
        assert_eq!(EdgeId::new(1, EdgeId::PLACE_MAX + 1), None);
    }
}
