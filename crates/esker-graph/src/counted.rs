//! Counts with a noun in the singular or plural, for messages.

use std::fmt::Display;

/// A count with its noun: `1 byte`, `2 bytes`.
///
/// ```
/// assert_eq!(esker_graph::counted(1_u64, "vertex", "vertices"), "1 vertex");
/// assert_eq!(esker_graph::counted(0_usize, "vertex", "vertices"), "0 vertices");
/// ```
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}
