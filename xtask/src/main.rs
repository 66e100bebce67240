//! Checks and chores of the project.
fn main() {}
