//! Connections between the processes of a cluster: each side proves that it knows the secret of the cluster before a byte of work.
//!
//! The one that connects sends a magic number, the secret, and which process it is of how many; the one that accepts answers with the magic number and
//! the secret. Whatever else connects is refused, and waited for no longer than [`PATIENCE`], however slowly its bytes come. The secret is sent
//! as it is, and first by the one that connects. So it keeps out what connects by mistake or without the secret, but not those who can read the
//! network, or who listen on the port of a process that has ended.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use esker_format::{Error, Result};

/// The secret of a cluster.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret(pub [u8; 32]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// Whether another is the same; takes as long whether it is or not.
    fn is(&self, other: &[u8]) -> bool {
        self.0.iter().zip(other).fold(self.0.len() ^ other.len(), |found, (a, b)| found | usize::from(a ^ b))
            == 0
    }
}

const MAGIC: [u8; 8] = *b"ESKERcl1";
/// How long an accepted connection may take to introduce itself.
pub const PATIENCE: Duration = Duration::from_millis(500);
const ACCEPT_EVERY: Duration = Duration::from_millis(2);

/// Connects to a process, as process `index`.
///
/// # Errors
/// [`Error::Invalid`] if nothing accepts there, or what does lacks the secret.
pub fn connect(address: SocketAddr, secret: &Secret, index: usize, until: Instant) -> Result<TcpStream> {
    let refused =
        |reason: String| Error::Invalid(format!("cannot connect to the process at {address}: {reason}"));
    let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let stream = TcpStream::connect_timeout(&address, left).map_err(|error| refused(error.to_string()))?;
    let mut greeting = MAGIC.to_vec();
    greeting.extend_from_slice(&secret.0);
    greeting.extend_from_slice(&(index as u32).to_le_bytes());
    let mut answer = [0; 40];
    let exchanged = stream
        .set_nodelay(true)
        .and_then(|()| (&stream).write_all(&greeting))
        .and_then(|()| read_until(&stream, &mut answer, until));
    exchanged.map_err(|error| refused(error.to_string()))?;
    if answer[..8] != MAGIC || !secret.is(&answer[8..]) {
        return Err(refused("it does not know the secret of the cluster".to_owned()));
    }
    Ok(stream)
}

/// Accepts a connection from each process in `expected`, and refuses all others. Returns them in that order. Asks `go_on` again and again
/// whether to wait.
///
/// # Errors
/// [`Error::Invalid`] if one has not come at `until`; the message says who was refused meanwhile. That of `go_on`.
pub fn accept(
    listener: &TcpListener,
    secret: &Secret,
    expected: std::ops::Range<usize>,
    until: Instant,
    mut go_on: impl FnMut() -> Result<()>,
) -> Result<Vec<TcpStream>> {
    let start = expected.start;
    let mut found: Vec<Option<TcpStream>> = expected.clone().map(|_| None).collect();
    let mut refusals = Vec::new();
    let failed = |error: std::io::Error| Error::Invalid(format!("cannot accept connections: {error}"));
    listener.set_nonblocking(true).map_err(failed)?;
    while found.iter().any(Option::is_none) {
        go_on()?;
        match listener.accept() {
            Ok((stream, address)) => match introduced(stream, secret) {
                Ok((index, stream)) if expected.contains(&index) && found[index - start].is_none() => {
                    found[index - start] = Some(stream);
                }
                Ok((index, _)) => refusals.push(format!("{address}: process {index} is not expected")),
                Err(error) => refusals.push(format!("{address}: {error}")),
            },
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(ACCEPT_EVERY),
            Err(error) => return Err(failed(error)),
        }
        if let Some(place) = found.iter().position(Option::is_none)
            && Instant::now() > until
        {
            let missing = place + start;
            let refused = if refusals.is_empty() { "none".to_owned() } else { refusals.join(", ") };
            return Err(Error::Invalid(format!(
                "process {missing} has not connected in time; refused: {refused}"
            )));
        }
    }
    Ok(found.into_iter().flatten().collect())
}

/// Hears who has connected, and answers if it knows the secret.
fn introduced(stream: TcpStream, secret: &Secret) -> std::io::Result<(usize, TcpStream)> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    let mut greeting = [0; 44];
    read_until(&stream, &mut greeting, Instant::now() + PATIENCE)?;
    if greeting[..8] != MAGIC || !secret.is(&greeting[8..40]) {
        return Err(std::io::Error::other("it does not know the secret of the cluster"));
    }
    let mut answer = MAGIC.to_vec();
    answer.extend_from_slice(&secret.0);
    (&stream).write_all(&answer)?;
    let mut index = [0; 4];
    index.copy_from_slice(&greeting[40..]);
    Ok((u32::from_le_bytes(index) as usize, stream))
}

/// Fills a buffer, unless the time is over before its last byte has come. Afterwards the stream waits without a limit.
fn read_until(mut stream: &TcpStream, buffer: &mut [u8], until: Instant) -> std::io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(std::io::Error::new(ErrorKind::TimedOut, "it did not introduce itself in time"));
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    stream.set_read_timeout(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    #[test]
    fn an_unknown_peer_is_refused_and_the_known_one_still_comes_in() {
        let secret = Secret([7; 32]);
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let accepting = std::thread::spawn(move || {
            accept(&listener, &secret, 1..2, soon(), || Ok(())).map(|found| found.len())
        });
        let mut stranger = TcpStream::connect(address).expect("connect");
        stranger.write_all(&[0; 44]).expect("write");
        assert_eq!(stranger.read(&mut [0; 8]).unwrap_or(0), 0, "a stranger gets no answer");
        let message = connect(address, &Secret([8; 32]), 1, soon()).expect_err("wrong secret").to_string();
        assert!(message.contains(&address.to_string()), "{message}");
        let wrong = connect(address, &secret, 5, soon()).expect("the secret is right");
        drop(wrong);
        let known = connect(address, &secret, 1, soon()).expect("known");
        assert_eq!(accepting.join().expect("thread").expect("accepted"), 1);
        drop(known);
    }

    #[test]
    fn a_process_that_does_not_come_is_named_with_those_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let mut stranger = TcpStream::connect(address).expect("connect");
        stranger.write_all(b"GET / HTTP/1.1, and more than forty-four bytes").expect("write");
        let until = Instant::now() + Duration::from_millis(100);
        let message =
            accept(&listener, &Secret([1; 32]), 2..3, until, || Ok(())).expect_err("nobody").to_string();
        assert!(message.contains("process 2 has not connected in time"), "{message}");
        assert!(message.contains("does not know the secret"), "{message}");
    }

    #[test]
    fn a_stranger_whose_bytes_come_slowly_is_not_waited_for() {
        let secret = Secret([7; 32]);
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let mut stranger = TcpStream::connect(address).expect("connect");
        // A byte every 200 ms, which is within the patience each time: 44 take 8.8 s.
        let trickle = std::thread::spawn(move || {
            while stranger.write_all(&[0]).is_ok() {
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        let known = std::thread::spawn(move || connect(address, &secret, 0, soon()));
        let begin = Instant::now();
        let accepted = accept(&listener, &secret, 0..1, soon(), || Ok(())).expect("accepted");
        assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
        known.join().expect("thread").expect("connected");
        drop((accepted, listener));
        trickle.join().expect("thread");
    }

    #[test]
    fn the_last_process_may_come_at_the_last_moment() {
        let secret = Secret([7; 32]);
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let mut last = TcpStream::connect(listener.local_addr().expect("address")).expect("connect");
        let greeting = [&MAGIC[..], &secret.0, &0_u32.to_le_bytes()].concat();
        last.write_all(&greeting).expect("write");
        let now = Instant::now();
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(accept(&listener, &secret, 0..1, now, || Ok(())).expect("all have come").len(), 1);
    }

    #[test]
    fn a_listener_without_the_secret_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let impostor = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("accept");
            stream.read_exact(&mut [0; 44]).expect("read");
            stream.write_all(&[9; 40]).expect("write");
        });
        let message = connect(address, &Secret([1; 32]), 0, soon()).expect_err("impostor").to_string();
        assert!(message.contains("does not know the secret"), "{message}");
        impostor.join().expect("thread");
    }
}
