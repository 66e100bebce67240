//! The server over real sockets: its answers, its guard, and its limits.

mod client;
mod schema;
mod answers;
mod attacks;
mod bounds;
mod random;
mod running;
mod manners;
mod exactness;
