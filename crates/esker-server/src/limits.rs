//! What one client may take of the server.

use std::time::Duration;

/// Bytes of the body of a request.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;
/// Bytes of one text in a request: of a condition, a kind, or the name of an algorithm or an option.
pub(crate) const TEXT_BYTES_MAX: usize = 10_000;
/// Conditions of a request, and kinds, and options of an algorithm.
pub(crate) const TEXTS_MAX: usize = 100;
/// Characters of the message of an error: it may repeat what was asked.
pub(crate) const MESSAGE_CHARS_MAX: usize = 2000;
/// Bytes of an answer in JSON.
pub(crate) const ANSWER_BYTES_MAX: usize = 32 << 20;
/// How long a question may take to answer. Runs of algorithms have no such limit: they are cancelled.
pub(crate) const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
/// How long a question waits for others to be answered.
pub(crate) const WAIT_TIME_MAX: Duration = Duration::from_secs(10);
/// How long a client may take to send the head of a request, or to begin the next one.
pub(crate) const HEAD_TIME_MAX: Duration = Duration::from_secs(15);
/// How long a client may take to send the body of a request.
pub(crate) const BODY_TIME_MAX: Duration = Duration::from_secs(15);
/// How long a client may take no byte of an answer that waits for it.
pub(crate) const STALL_TIME_MAX: Duration = Duration::from_secs(60);
/// Open connections. Of those without a session the oldest ends for a later one; otherwise later ones wait.
pub(crate) const CONNECTIONS_MAX: usize = 256;
/// Questions that are answered at the same time.
pub(crate) const QUESTIONS_MAX: usize = 8;
/// Of these, questions that may take long: the others keep a place of their own.
pub(crate) const LONG_QUESTIONS_MAX: usize = 6;
/// How long the server waits at its end for what was cancelled.
pub(crate) const END_TIME_MAX: Duration = Duration::from_millis(300);
/// Bytes of the head of a request.
pub(crate) const HEAD_BYTES_MAX: usize = 64 << 10;
/// Headers of a request.
pub(crate) const HEADERS_MAX: usize = 64;
