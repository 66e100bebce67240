//! Connections between the processes of a cluster: bytes of messages, the exchange engine, encryption, the
//! handshake, the list of machines.

pub(crate) mod wire;
pub(crate) mod messages;
pub(crate) mod threads;
pub mod engine;
pub(crate) mod tunnel;
pub(crate) mod connection;
pub mod handshake;
pub mod hosts;
