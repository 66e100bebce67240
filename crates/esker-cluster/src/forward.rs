//! The standard input of the command, for the worker that reads it on another machine.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use esker_graph::Cancel;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::handshake::{INPUT, Secret, connect, watch_peer};
use crate::remote::OPEN_TIMEOUT;

/// Bytes of a piece.
const PIECE_BYTES: usize = 1 << 16;
/// Time between two looks whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A thread that passes standard input on.
pub(crate) struct Forwarding(Cancel);

impl Forwarding {
    /// Starts it. If it cannot connect, or loses the connection, the worker says so.
    pub(crate) fn start(address: SocketAddr, secret: Secret) -> Self {
        let stop = Cancel::default();
        let token = stop.clone();
        std::thread::spawn(move || {
            if let Ok(stream) = connect(address, &secret, INPUT, Instant::now() + OPEN_TIMEOUT) {
                let _ = watch_peer(&stream, false);
                let _ = forward(&mut std::io::stdin().lock(), &stream, &token, is_readable);
                let _ = stream.shutdown(Shutdown::Write);
            }
        });
        Self(stop)
    }

    /// Ends the input after the last whole line that was read.
    pub(crate) fn stop(&self) {
        self.0.cancel();
    }
}

/// Whether standard input has something, or is at its end, within a moment.
fn is_readable() -> bool {
    let stdin = std::io::stdin();
    let time = Timespec { tv_sec: 0, tv_nsec: LOOK_EVERY.as_nanos() as i64 };
    poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&time)).is_ok_and(|ready| ready > 0)
}

/// Passes on what comes until its end, or until it is told to stop: then whole lines only.
fn forward(
    input: &mut impl Read,
    mut stream: &TcpStream,
    stop: &Cancel,
    mut is_readable: impl FnMut() -> bool,
) -> std::io::Result<()> {
    let (mut kept, mut piece) = (Vec::new(), vec![0; PIECE_BYTES]);
    loop {
        if stop.is_cancelled() {
            return Ok(());
        }
        if !is_readable() {
            continue;
        }
        let read = input.read(&mut piece)?;
        if read == 0 {
            return stream.write_all(&kept);
        }
        kept.extend_from_slice(&piece[..read]);
        // A line may be longer than a piece, and some formats have none.
        let whole = kept.iter().rposition(|&byte| byte == b'\n').map_or(0, |place| place + 1);
        let sent = if kept.len() > PIECE_BYTES && whole == 0 { kept.len() } else { whole };
        stream.write_all(&kept[..sent])?;
        kept.drain(..sent);
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Passes `text` on in pieces, and stops after the last one, or meets the end. Returns what arrived.
    fn passed_on(text: &[u8], stops: bool) -> Vec<u8> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let here = TcpStream::connect(listener.local_addr().expect("address")).expect("connect");
        let (mut there, _) = listener.accept().expect("accept");
        let receiving = std::thread::spawn(move || {
            let mut arrived = Vec::new();
            there.read_to_end(&mut arrived).expect("read");
            arrived
        });
        let (stop, mut looks) = (Cancel::default(), 0);
        let mut input = text;
        let pieces = text.len().div_ceil(PIECE_BYTES);
        let ready = || {
            looks += 1;
            let is_over = looks > pieces && stops;
            if is_over {
                stop.cancel();
            }
            !is_over
        };
        forward(&mut input, &here, &stop, ready).expect("forward");
        drop(here);
        receiving.join().expect("thread")
    }

    #[test]
    fn all_is_passed_on_but_a_line_that_a_stop_cuts() {
        let line = [&vec![b'x'; 3 * PIECE_BYTES][..], b"\n"].concat();
        let text = [&b"1,2\n3,4\n"[..], &line, b"5,"].concat();
        assert!(passed_on(&text, false) == text, "the end of the input is the end of its last line");
        assert!(passed_on(&text, true) == text[..text.len() - 2]);
        assert_eq!(passed_on(b"1,2\n3", true), b"1,2\n");
        assert_eq!(passed_on(b"", false), b"");
    }
}
