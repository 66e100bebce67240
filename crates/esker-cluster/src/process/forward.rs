//! The standard input of the command, for the worker that reads it on another machine.

use std::io::{Error as IoError, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use esker_format::{Error, Result};
use esker_graph::Cancel;
use esker_import::read::format::ReadOptions;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::net::connection::Connection;
use crate::net::handshake::{INPUT, Secret, connect};
use crate::net::threads::no_thread;
use crate::process::remote::OPEN_TIMEOUT;

/// Bytes of a piece.
const PIECE_BYTES: usize = 1 << 16;
/// Time between two looks whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A thread that passes standard input on. Dropping this ends it.
pub(crate) struct Forwarding {
    stop: Cancel,
    /// Why standard input could not be read, and the connection. It stays open: the worker would take its end
    /// for the end of the input.
    failed: Receiver<(IoError, Connection)>,
}

impl Forwarding {
    /// Starts it. If it cannot connect, or loses the connection, the worker says so.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the system starts no thread.
    pub(crate) fn start(address: SocketAddr, secret: Secret) -> Result<Self> {
        let (stop, (failing, failed)) = (Cancel::default(), channel());
        let token = stop.clone();
        let forwarding = move || {
            if let Ok(connection) = connect(address, &secret, INPUT, Instant::now() + OPEN_TIMEOUT) {
                let _ = connection.watch_peer(false);
                match forward(&mut std::io::stdin().lock(), connection.stream(), &token, is_readable) {
                    Ok(()) => drop(connection.stream().shutdown(Shutdown::Write)),
                    Err(error) => drop(failing.send((error, connection))),
                }
            }
        };
        Builder::new().spawn(forwarding).map_err(no_thread("pass standard input on"))?;
        Ok(Self { stop, failed })
    }

    /// Ends the input after the last whole line that was read.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Whether all could be read until now.
    ///
    /// # Errors
    /// That of standard input: the operation has to end before the worker commits what came.
    pub(crate) fn check(&self) -> Result<()> {
        match self.failed.try_recv() {
            Ok((error, _)) => Err(Error::invalid(format!("cannot read standard input: {error}"))),
            Err(_) => Ok(()),
        }
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether standard input has something, or is at its end, within a moment.
fn is_readable() -> bool {
    let stdin = std::io::stdin();
    let time = Timespec { tv_sec: 0, tv_nsec: LOOK_EVERY.as_nanos() as i64 };
    poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&time)).is_ok_and(|ready| ready > 0)
}

/// Passes on what comes until its end, or until it is told to stop: then whole lines only. If the connection
/// is lost, the worker says so.
///
/// # Errors
/// That of `input`.
fn forward(
    input: &mut impl Read,
    mut stream: &TcpStream,
    stop: &Cancel,
    mut is_readable: impl FnMut() -> bool,
) -> std::io::Result<()> {
    let line_bytes_max = ReadOptions::default().line_bytes_max;
    let (mut kept, mut piece) = (Vec::new(), vec![0; PIECE_BYTES]);
    while !stop.is_cancelled() {
        if !is_readable() {
            continue;
        }
        let read = match input.read(&mut piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        let last_end = piece[..read].iter().rposition(|&byte| byte == b'\n');
        let whole = last_end.map_or(0, |place| kept.len() + place + 1);
        kept.extend_from_slice(&piece[..read]);
        // Some formats have no lines. A line that is so long is refused, so a stop may cut it.
        let is_sent_as_is = read == 0 || whole == 0 && kept.len() > line_bytes_max;
        let sent = if is_sent_as_is { kept.len() } else { whole };
        if stream.write_all(&kept[..sent]).is_err() || read == 0 {
            break;
        }
        kept.drain(..sent);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Passes `input` on, which has so many bytes, in pieces; stops after the last one, or meets the end.
    /// Returns what arrived.
    fn passed_on(mut input: impl Read, bytes: usize, stops: bool) -> std::io::Result<Vec<u8>> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let here = TcpStream::connect(listener.local_addr().expect("address")).expect("connect");
        let (mut there, _) = listener.accept().expect("accept");
        let receiving = std::thread::spawn(move || {
            let mut arrived = Vec::new();
            there.read_to_end(&mut arrived).expect("read");
            arrived
        });
        let (stop, mut looks) = (Cancel::default(), 0);
        let pieces = bytes.div_ceil(PIECE_BYTES);
        let ready = || {
            looks += 1;
            let is_over = looks > pieces && stops;
            if is_over {
                stop.cancel();
            }
            !is_over
        };
        let forwarded = forward(&mut input, &here, &stop, ready);
        drop(here);
        let arrived = receiving.join().expect("thread");
        forwarded.map(|()| arrived)
    }

    /// Of a line longer than a piece, the worker took the head for an edge.
    #[test]
    fn all_is_passed_on_but_a_line_that_a_stop_cuts() {
        let passed_on = |text: &[u8], stops| passed_on(text, text.len(), stops).expect("forward");
        let line = [&vec![b'x'; 3 * PIECE_BYTES][..], b"\n"].concat();
        let text = [&b"1,2\n3,4\n"[..], &line, b"5,"].concat();
        assert!(passed_on(&text, false) == text, "the end of the input is the end of its last line");
        assert!(passed_on(&text, true) == text[..text.len() - 2]);
        assert!(passed_on(&text[..text.len() - 3], true) == b"1,2\n3,4\n");
        assert_eq!(passed_on(b"1,2\n3", true), b"1,2\n");
        assert_eq!(passed_on(b"", false), b"");
        let no_lines = vec![b'x'; ReadOptions::default().line_bytes_max + 1];
        assert!(passed_on(&no_lines, true) == no_lines, "not kept for ever");
    }

    /// Fails once, and then in another way.
    struct Failing(Vec<ErrorKind>);

    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(self.0.pop().expect("no reads after a failure").into())
        }
    }

    /// The worker committed what had come, and the command succeeded.
    #[test]
    fn an_input_that_cannot_be_read_is_not_at_its_end() {
        let failing = Failing(vec![ErrorKind::InvalidData, ErrorKind::Interrupted]);
        let error = passed_on((&b"1,2\n"[..]).chain(failing), 4, false).expect_err("it cannot be read");
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        let (failing, failed) = channel();
        let forwarding = Forwarding { stop: Cancel::default(), failed };
        forwarding.check().expect("no failure yet");
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let stream = TcpStream::connect(listener.local_addr().expect("address")).expect("connect");
        failing.send((error, Connection::plain(stream).expect("connected"))).expect("send");
        let message = forwarding.check().expect_err("the operation ends").to_string();
        assert!(message.starts_with("cannot read standard input: "), "{message}");
        let token = forwarding.stop.clone();
        drop(forwarding);
        assert!(token.is_cancelled(), "the thread ends");
    }
}
