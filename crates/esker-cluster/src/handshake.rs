//! Connections between the processes of a cluster: each side proves that it knows the secret of the cluster before a byte of work.
//!
//! The one that connects sends a magic number, the version of its program, the secret, and which process it is; the one that accepts answers with
//! the magic number, its version and the secret. Whatever else connects is refused, and waited for no longer than [`PATIENCE`], however slowly its
//! bytes come. So is another version of the program. The secret is sent as it is, and first by the one that connects. So it keeps out what connects
//! by mistake or without the secret, but not those who can read the network, or who listen on the port of a process that has ended.
//!
//! A network that drops everything looks like silence. `watch_peer` has the system end a connection whose other side acknowledges nothing.

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

const MAGIC: [u8; 8] = *b"ESKERcl2";
/// Changes with every change of what processes tell each other.
const PROTOCOL: u8 = 2;
/// Bytes of magic number, version and secret.
const HEAD_BYTES: usize = 48;
const GREETING_BYTES: usize = HEAD_BYTES + 4;
/// The command, as the process that connects to a worker.
pub(crate) const COMMAND: usize = u32::MAX as usize;
/// The command, as it hands over its standard input.
pub(crate) const INPUT: usize = COMMAND - 1;
/// The command, as it has a host start a worker.
pub(crate) const KEEPER: usize = COMMAND - 2;
/// How long an accepted connection may take to introduce itself.
pub const PATIENCE: Duration = Duration::from_millis(500);
const ACCEPT_EVERY: Duration = Duration::from_millis(2);
/// How long the other side of a connection may acknowledge nothing.
pub(crate) const UNREACHABLE: Duration = Duration::from_millis(2500);
/// How long the system may take to connect.
const REACH_TIMEOUT: Duration = Duration::from_millis(1200);

/// The version of this program: release, protocol, and the width of vertex ids.
fn program() -> [u8; 8] {
    let number = |text: &str| text.parse().unwrap_or(0);
    let ids = size_of::<esker_graph::VertexId>() as u8;
    let release =
        [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"), env!("CARGO_PKG_VERSION_PATCH")];
    let [major, minor, patch] = release.map(number);
    [major, minor, patch, PROTOCOL, ids, 0, 0, 0]
}

fn describe([major, minor, patch, protocol, ids, ..]: [u8; 8]) -> String {
    format!("{major}.{minor}.{patch} (protocol {protocol}, {} bits of id)", 8 * u32::from(ids))
}

/// What a process shows first.
fn head(secret: &Secret) -> Vec<u8> {
    [&MAGIC[..], &program(), &secret.0].concat()
}

/// Checks what the other process has shown first.
fn expect_head(head: &[u8], secret: &Secret) -> std::result::Result<(), String> {
    if head[..8] != MAGIC || !secret.is(&head[16..HEAD_BYTES]) {
        return Err("it does not know the secret of the cluster".to_owned());
    }
    let mut other = [0; 8];
    other.copy_from_slice(&head[8..16]);
    if other == program() {
        return Ok(());
    }
    let (other, own) = (describe(other), describe(program()));
    Err(format!("it runs Esker {other}, but this is {own}: install the same on all machines"))
}

/// Has the system end a connection whose other side can no longer be reached: after 3 seconds of silence while nothing is sent and, if `sends`, after
/// [`UNREACHABLE`] while what was sent is not acknowledged or not read.
///
/// # Errors
/// That of the system.
pub(crate) fn watch_peer(stream: &TcpStream, sends: bool) -> std::io::Result<()> {
    use rustix::net::sockopt;
    let second = Duration::from_secs(1);
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, second)?;
    sockopt::set_tcp_keepintvl(stream, second)?;
    sockopt::set_tcp_keepcnt(stream, 2)?;
    #[cfg(target_os = "linux")]
    if sends {
        sockopt::set_tcp_user_timeout(stream, UNREACHABLE.as_millis() as u32)?;
    }
    Ok(())
}

/// Connects to a process, as process `index`.
///
/// # Errors
/// [`Error::Invalid`] if nothing accepts there, or what does lacks the secret.
pub fn connect(address: SocketAddr, secret: &Secret, index: usize, until: Instant) -> Result<TcpStream> {
    let refused =
        |reason: String| Error::Invalid(format!("cannot connect to the process at {address}: {reason}"));
    let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let stream = TcpStream::connect_timeout(&address, left.min(REACH_TIMEOUT))
        .map_err(|error| refused(error.to_string()))?;
    let mut greeting = head(secret);
    greeting.extend_from_slice(&(index as u32).to_le_bytes());
    let mut answer = [0; HEAD_BYTES];
    let exchanged = stream
        .set_nodelay(true)
        .and_then(|()| (&stream).write_all(&greeting))
        .and_then(|()| read_until(&stream, &mut answer, until));
    exchanged.map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => {
            refused("it refused the secret of the cluster, or ended".to_owned())
        }
        _ => refused(error.to_string()),
    })?;
    expect_head(&answer, secret).map_err(refused)?;
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
    expected: &[usize],
    until: Instant,
    mut go_on: impl FnMut() -> Result<()>,
) -> Result<Vec<TcpStream>> {
    let mut found: Vec<Option<TcpStream>> = expected.iter().map(|_| None).collect();
    let mut refusals = Vec::new();
    let failed = |error: std::io::Error| Error::Invalid(format!("cannot accept connections: {error}"));
    listener.set_nonblocking(true).map_err(failed)?;
    while found.iter().any(Option::is_none) {
        go_on()?;
        match listener.accept() {
            Ok((stream, address)) => match introduced(stream, secret) {
                Ok((index, stream)) => {
                    match expected
                        .iter()
                        .position(|one| *one == index)
                        .filter(|&place| found[place].is_none())
                    {
                        Some(place) => found[place] = Some(stream),
                        None => refusals.push(format!("{address}: process {index} is not expected")),
                    }
                }
                Err(error) => refusals.push(format!("{address}: {error}")),
            },
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(ACCEPT_EVERY),
            Err(error) => return Err(failed(error)),
        }
        if let Some(place) = found.iter().position(Option::is_none)
            && Instant::now() > until
        {
            let missing = match expected[place] {
                COMMAND | INPUT => "the command".to_owned(),
                index => format!("process {index}"),
            };
            let refused = if refusals.is_empty() { "none".to_owned() } else { refusals.join(", ") };
            return Err(Error::Invalid(format!("{missing} has not connected in time; refused: {refused}")));
        }
    }
    Ok(found.into_iter().flatten().collect())
}

/// Hears which process has connected, and answers if it knows the secret.
pub(crate) fn introduced(stream: TcpStream, secret: &Secret) -> std::io::Result<(usize, TcpStream)> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    let mut greeting = [0; GREETING_BYTES];
    read_until(&stream, &mut greeting, Instant::now() + PATIENCE)?;
    let expected = expect_head(&greeting[..HEAD_BYTES], secret);
    // Who knows the secret may know the version too.
    if secret.is(&greeting[16..HEAD_BYTES]) {
        (&stream).write_all(&head(secret))?;
    }
    expected.map_err(std::io::Error::other)?;
    let mut index = [0; 4];
    index.copy_from_slice(&greeting[HEAD_BYTES..]);
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
            // The time is over, or it will be.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut
                ) => {}
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
            accept(&listener, &secret, &[1], soon(), || Ok(())).map(|found| found.len())
        });
        let mut stranger = TcpStream::connect(address).expect("connect");
        stranger.write_all(&[0; GREETING_BYTES]).expect("write");
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
        stranger
            .write_all(b"GET / HTTP/1.1, and more than the fifty-two bytes of a greeting")
            .expect("write");
        let until = Instant::now() + Duration::from_millis(100);
        let message =
            accept(&listener, &Secret([1; 32]), &[2], until, || Ok(())).expect_err("nobody").to_string();
        assert!(message.contains("process 2 has not connected in time"), "{message}");
        assert!(message.contains("does not know the secret"), "{message}");
    }

    #[test]
    fn a_stranger_whose_bytes_come_slowly_is_not_waited_for() {
        let secret = Secret([7; 32]);
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let mut stranger = TcpStream::connect(address).expect("connect");
        // A byte every 200 ms, which is within the patience each time: 52 take 10.4 s.
        let trickle = std::thread::spawn(move || {
            while stranger.write_all(&[0]).is_ok() {
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        let known = std::thread::spawn(move || connect(address, &secret, 0, soon()));
        let begin = Instant::now();
        let accepted = accept(&listener, &secret, &[0], soon(), || Ok(())).expect("accepted");
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
        let greeting = [&head(&secret)[..], &0_u32.to_le_bytes()].concat();
        last.write_all(&greeting).expect("write");
        let now = Instant::now();
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(accept(&listener, &secret, &[0], now, || Ok(())).expect("all have come").len(), 1);
    }

    #[test]
    fn a_listener_without_the_secret_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let impostor = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("accept");
            stream.read_exact(&mut [0; GREETING_BYTES]).expect("read");
            stream.write_all(&[9; HEAD_BYTES]).expect("write");
        });
        let message = connect(address, &Secret([1; 32]), 0, soon()).expect_err("impostor").to_string();
        assert!(message.contains("does not know the secret"), "{message}");
        impostor.join().expect("thread");
    }

    #[test]
    fn another_version_of_the_program_is_refused_on_both_sides() {
        let secret = Secret([7; 32]);
        let other = |secret: &Secret| {
            let mut other = head(secret);
            other[11] += 1;
            other
        };
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let newer = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("accept");
            stream.read_exact(&mut [0; GREETING_BYTES]).expect("read");
            stream.write_all(&other(&secret)).expect("write");
        });
        let message = connect(address, &secret, 0, soon()).expect_err("another version").to_string();
        assert!(
            message.contains(&format!("protocol {}", PROTOCOL + 1)) && message.contains("install the same"),
            "{message}"
        );
        newer.join().expect("thread");
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let mut newer = TcpStream::connect(listener.local_addr().expect("address")).expect("connect");
        newer.write_all(&[&other(&secret)[..], &[0; 4]].concat()).expect("write");
        let until = Instant::now() + Duration::from_millis(100);
        let message = accept(&listener, &secret, &[0], until, || Ok(())).expect_err("newer").to_string();
        assert!(
            message.contains(&format!("protocol {}", PROTOCOL + 1)) && message.contains("install the same"),
            "{message}"
        );
        newer.read_exact(&mut [0; HEAD_BYTES]).expect("it is told which version refuses it");
    }
}
