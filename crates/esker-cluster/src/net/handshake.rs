//! Connections between the processes of a cluster: each side proves that it knows the secret of the cluster
//! before a byte of work.
//!
//! The one that connects sends a magic number, the version of its program, the secret, and which process it
//! is; the one that accepts answers with the magic number, its version and the secret. Whatever else connects
//! is refused, and waited for no longer than [`PATIENCE`], however slowly its bytes come. So is another
//! version of the program. Unless connections are encrypted (`tunnel`), the secret is sent as it is, and
//! first by the one that connects. So it keeps out what connects by mistake or without the secret, but not
//! those who can read the network, or who listen on the port of a process that has ended.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use esker_format::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::net::connection::Connection;
use crate::net::tunnel;

/// The secret of a cluster.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret {
    pub(crate) bytes: [u8; 32],
    is_encrypting: bool,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// A secret of connections that are not encrypted.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self { bytes, is_encrypting: false }
    }

    /// The same secret, of connections that are encrypted or not.
    pub fn encrypting(self, is_encrypting: bool) -> Self {
        Self { is_encrypting, ..self }
    }

    /// Whether connections are encrypted.
    pub(crate) fn is_encrypting(&self) -> bool {
        self.is_encrypting
    }

    /// Whether another is the same; takes as long whether it is or not.
    fn is(&self, other: &[u8]) -> bool {
        self.bytes
            .iter()
            .zip(other)
            .fold(self.bytes.len() ^ other.len(), |found, (a, b)| found | usize::from(a ^ b))
            == 0
    }
}

const MAGIC: [u8; 8] = *b"ESKERcl2";
/// In the place of the magic number, from a process that encrypts to one that knows the secret but does not
/// encrypt.
const ENCRYPTS: [u8; 8] = *b"ESKERtls";
/// Changes with every change of what processes tell each other.
const PROTOCOL: u8 = 4;
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
    [&MAGIC[..], &program(), &secret.bytes].concat()
}

/// Checks what the other process has shown first.
fn expect_head(head: &[u8], secret: &Secret) -> std::result::Result<(), String> {
    if head[..8] == ENCRYPTS {
        return Err("it encrypts its connections: write the line `tls` in the list of hosts, or let the workers there not encrypt".to_owned());
    }
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

/// Connects to a process, as process `index`.
///
/// # Errors
/// [`Error::Invalid`] if nothing accepts there, or what does lacks the secret.
pub fn connect(address: SocketAddr, secret: &Secret, index: usize, until: Instant) -> Result<Connection> {
    let refused =
        |reason: String| Error::invalid(format!("cannot connect to the process at {address}: {reason}"));
    let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let stream = TcpStream::connect_timeout(&address, left.min(REACH_TIMEOUT))
        .map_err(|error| refused(error.to_string()))?;
    let mut greeting = head(secret);
    greeting.extend_from_slice(&(index as u32).to_le_bytes());
    let mut answer = [0; HEAD_BYTES];
    let connected = stream.set_nodelay(true).and_then(|()| match secret.is_encrypting {
        true => tunnel::call(stream, &secret.bytes, until).and_then(Connection::encrypted),
        false => Connection::plain(stream),
    });
    let exchanged = connected.and_then(|connection| {
        connection.stream().write_all(&greeting)?;
        read_until(connection.stream(), &mut answer, until)?;
        Ok(connection)
    });
    let connection = exchanged.map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            refused("it refused the secret of the cluster, or ended".to_owned())
        }
        _ => refused(error.to_string()),
    })?;
    expect_head(&answer, secret).map_err(refused)?;
    Ok(connection)
}

/// Accepts a connection from each process in `expected`, and refuses all others. Returns them in that order.
/// Asks `go_on` again and again whether to wait.
///
/// # Errors
/// [`Error::Invalid`] if one has not come at `until`; the message says who was refused meanwhile. That of
/// `go_on`.
pub fn accept(
    listener: &TcpListener,
    secret: &Secret,
    expected: &[usize],
    until: Instant,
    mut go_on: impl FnMut() -> Result<()>,
) -> Result<Vec<Connection>> {
    let mut found: Vec<Option<Connection>> = expected.iter().map(|_| None).collect();
    let mut refusals = Vec::new();
    let failed = |error: std::io::Error| Error::invalid(format!("cannot accept connections: {error}"));
    listener.set_nonblocking(true).map_err(failed)?;
    while found.iter().any(Option::is_none) {
        go_on()?;
        match listener.accept() {
            Ok((stream, address)) => match introduced(stream, secret) {
                Ok((index, connection)) => {
                    match expected
                        .iter()
                        .position(|one| *one == index)
                        .filter(|&place| found[place].is_none())
                    {
                        Some(place) => found[place] = Some(connection),
                        None => refusals.push(format!("{address}: process {index} is not expected")),
                    }
                }
                Err(error) => refusals.push(format!("{address}: {error}")),
            },
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait_for_one(listener).map_err(failed)?,
            Err(error) => return Err(failed(error)),
        }
        if let Some(place) = found.iter().position(Option::is_none)
            && Instant::now() > until
        {
            let missing = match expected[place] {
                COMMAND | INPUT => "the command".to_owned(),
                index => format!("the worker of shard {index}"),
            };
            let why = match refusals.is_empty() {
                true => "it was stopped, or the machine is overloaded".to_owned(),
                false => format!("these were refused: {}", refusals.join(", ")),
            };
            return Err(Error::invalid(format!("{missing} has not connected in time: {why}")));
        }
    }
    Ok(found.into_iter().flatten().collect())
}

/// Waits until a process connects, at most for [`ACCEPT_EVERY`].
fn wait_for_one(listener: &TcpListener) -> std::io::Result<()> {
    let mut polled = [PollFd::new(listener, PollFlags::IN)];
    let limit = Timespec { tv_sec: 0, tv_nsec: ACCEPT_EVERY.subsec_nanos().into() };
    match poll(&mut polled, Some(&limit)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Hears which process has connected, and answers if it knows the secret.
pub(crate) fn introduced(stream: TcpStream, secret: &Secret) -> std::io::Result<(usize, Connection)> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    let mut greeting = [0; GREETING_BYTES];
    let connection = match secret.is_encrypting {
        true => {
            expect_encrypted(&stream, secret)?;
            tunnel::answer(stream, &secret.bytes, Instant::now() + PATIENCE)
                .and_then(Connection::encrypted)?
        }
        false => Connection::plain(stream)?,
    };
    let stream = connection.stream();
    read_until(stream, &mut greeting, Instant::now() + PATIENCE)?;
    if !secret.is_encrypting && tunnel::is_encrypted(&greeting) {
        let mut rest = vec![0; tunnel::rest_of_record(&greeting)];
        read_until(stream, &mut rest, Instant::now() + PATIENCE)?;
        tunnel::refuse(stream)?;
        return Err(std::io::Error::other(
            "it encrypts its connections, and this one does not: let the workers here encrypt too, or remove the line `tls` from the list of hosts",
        ));
    }
    let expected = expect_head(&greeting[..HEAD_BYTES], secret);
    // Who knows the secret may know the version too.
    if secret.is(&greeting[16..HEAD_BYTES]) {
        connection.stream().write_all(&head(secret))?;
    }
    expected.map_err(std::io::Error::other)?;
    let mut index = [0; 4];
    index.copy_from_slice(&greeting[HEAD_BYTES..]);
    Ok((u32::from_le_bytes(index) as usize, connection))
}

/// Refuses a process that does not encrypt. If it knows the secret, it is told why.
fn expect_encrypted(mut stream: &TcpStream, secret: &Secret) -> std::io::Result<()> {
    let mut first = [0];
    stream.set_read_timeout(Some(PATIENCE))?;
    let came = stream.peek(&mut first).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            std::io::Error::new(ErrorKind::TimedOut, "it did not introduce itself in time")
        }
        _ => error,
    })?;
    if came == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    if first[0] != MAGIC[0] {
        return stream.set_read_timeout(None);
    }
    let mut greeting = [0; GREETING_BYTES];
    read_until(stream, &mut greeting, Instant::now() + PATIENCE)?;
    if secret.is(&greeting[16..HEAD_BYTES]) {
        stream.write_all(&[&ENCRYPTS[..], &[0; HEAD_BYTES - 8]].concat())?;
    }
    Err(std::io::Error::other(
        "it does not encrypt its connections: write the line `tls` in the list of hosts, or let the workers there not encrypt",
    ))
}

/// Fills a buffer, unless the time is over before its last byte has come. Afterwards the stream waits without
/// a limit.
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
        let secret = Secret::new([7; 32]);
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let accepting = std::thread::spawn(move || {
            accept(&listener, &secret, &[1], soon(), || Ok(())).map(|found| found.len())
        });
        let mut stranger = TcpStream::connect(address).expect("connect");
        stranger.write_all(&[0; GREETING_BYTES]).expect("write");
        assert_eq!(stranger.read(&mut [0; 8]).unwrap_or(0), 0, "a stranger gets no answer");
        let message =
            connect(address, &Secret::new([8; 32]), 1, soon()).expect_err("wrong secret").to_string();
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
            accept(&listener, &Secret::new([1; 32]), &[2], until, || Ok(())).expect_err("nobody").to_string();
        assert!(
            message.contains("the worker of shard 2 has not connected in time: these were refused"),
            "{message}"
        );
        assert!(message.contains("does not know the secret"), "{message}");
    }

    #[test]
    fn a_stranger_whose_bytes_come_slowly_is_not_waited_for() {
        let secret = Secret::new([7; 32]);
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
        let secret = Secret::new([7; 32]);
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
        let message = connect(address, &Secret::new([1; 32]), 0, soon()).expect_err("impostor").to_string();
        assert!(message.contains("does not know the secret"), "{message}");
        impostor.join().expect("thread");
    }

    #[test]
    fn another_version_of_the_program_is_refused_on_both_sides() {
        let secret = Secret::new([7; 32]);
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

    /// Both sides say what to do, whichever of them encrypts.
    #[test]
    fn a_process_that_encrypts_and_one_that_does_not_refuse_each_other() {
        let plain = Secret::new([7; 32]);
        for (calling, answering) in [(plain.encrypting(true), plain), (plain, plain.encrypting(true))] {
            let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
            let address = listener.local_addr().expect("address");
            let answered = std::thread::spawn(move || {
                let (stream, _) = listener.accept().expect("accept");
                introduced(stream, &answering).map(drop)
            });
            let called = connect(address, &calling, 0, soon()).expect_err("refused").to_string();
            let answered = answered.join().expect("thread").expect_err("refused").to_string();
            for message in [called, answered] {
                assert!(message.contains("encrypt") && message.contains("`tls`"), "{message}");
            }
        }
        let (encrypting, other) = (plain.encrypting(true), Secret::new([8; 32]).encrypting(true));
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let accepting = std::thread::spawn(move || {
            accept(&listener, &encrypting, &[1], soon(), || Ok(())).map(|found| found.len())
        });
        let message = connect(address, &other, 1, soon()).expect_err("another secret").to_string();
        assert!(message.contains("does not know the secret"), "{message}");
        let known = connect(address, &encrypting, 1, soon()).expect("known");
        assert_eq!(accepting.join().expect("thread").expect("accepted"), 1);
        assert_eq!(known.peer(), address);
    }
}
