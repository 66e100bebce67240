//! A connection to another process, plain or encrypted.

use std::io::{Error as IoError, Result as IoResult};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use crate::net::tunnel::{EncryptedStream, Tunnel};

/// How long the other side of a connection may acknowledge nothing.
pub(crate) const UNREACHABLE: Duration = Duration::from_millis(2500);
/// How long what was written may take to be sent.
const SEND_TIMEOUT: Duration = Duration::from_secs(1);

/// A connection to another process.
pub struct Connection {
    stream: TcpStream,
    peer: SocketAddr,
    tunnel: Option<Tunnel>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_encrypted = self.tunnel.is_some();
        f.debug_struct("Connection").field("peer", &self.peer).field("is_encrypted", &is_encrypted).finish()
    }
}

impl Connection {
    pub(crate) fn plain(stream: TcpStream) -> IoResult<Self> {
        Ok(Self { peer: stream.peer_addr()?, stream, tunnel: None })
    }

    /// A connection that reads and writes through a tunnel.
    pub(crate) fn encrypted(encrypted: EncryptedStream) -> IoResult<Self> {
        let EncryptedStream { stream, tunnel } = encrypted;
        let connection = Self { stream, peer: tunnel.network().peer_addr()?, tunnel: Some(tunnel) };
        // So that its threads end.
        connection.watch_peer(false)?;
        Ok(connection)
    }

    /// What reads and writes. Of an encrypted connection it has no addresses.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// The address of the other side.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Has the system end the connection if its other side can no longer be reached: after 3 seconds of
    /// silence while nothing is sent and, if `sends`, after [`UNREACHABLE`] while what was sent is not
    /// acknowledged or not read.
    ///
    /// # Errors
    /// That of the system.
    pub(crate) fn watch_peer(&self, sends: bool) -> IoResult<()> {
        use rustix::net::sockopt;
        let stream = self.tunnel.as_ref().map_or(&self.stream, Tunnel::network);
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

    /// Calls `on_cut` if an encrypted connection ends although the other side has not ended it. It is called
    /// before a reader sees an end.
    pub(crate) fn on_cut(&self, on_cut: impl FnOnce(IoError) + Send + 'static) {
        if let Some(tunnel) = &self.tunnel {
            tunnel.on_cut(on_cut);
        }
    }

    /// Writes nothing more, and waits until all is sent: what an encrypted connection has not sent when its
    /// process ends is lost.
    pub(crate) fn finish(&self) {
        if let Some(tunnel) = &self.tunnel {
            let _ = self.stream.shutdown(Shutdown::Write);
            tunnel.wait_until_sent(SEND_TIMEOUT);
        }
    }

    /// What reads and writes for the engine, which ends it by itself.
    ///
    /// # Errors
    /// That of the system.
    pub(crate) fn for_engine(&self) -> IoResult<TcpStream> {
        self.stream.try_clone()
    }
}
