//! The command `esker`.
fn main() {}
