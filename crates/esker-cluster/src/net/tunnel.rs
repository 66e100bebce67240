//! Encrypted connections: TLS 1.3, in which both sides show the raw public key (RFC 7250) that follows from
//! the secret of the cluster.
//!
//! Both derive the same key pair (Ed25519) from the secret, so there are no certificates to manage, and who
//! lacks the secret can neither call nor answer. A stranger who calls learns the public key, from which the
//! secret could be guessed if it were short.
//!
//! The engine, and threads that read while others write, want plain sockets. So two threads pass what they
//! send and receive through the encrypted connection: the rest of the process has one end of a pair of local
//! sockets.

use parking_lot::{Condvar, Mutex};
use std::io::{Error as IoError, ErrorKind, Read, Result as IoResult, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use ring::hkdf::{HKDF_SHA256, Salt};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::ring::default_provider;
use rustls::crypto::ring::sign::any_eddsa_type;
use rustls::crypto::{CryptoProvider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, Connection as Tls,
    DigitallySignedStruct, DistinguishedName, Error as TlsError, ServerConfig, ServerConnection,
    SignatureScheme,
};

/// The most bytes that are encrypted in one go.
const PIECE_BYTES: usize = 1 << 16;
/// An Ed25519 key in PKCS #8 is this and its seed (RFC 8410).
const PKCS8_HEAD: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
/// The first bytes of a TLS connection: a record of a handshake.
const RECORD_HEAD: [u8; 2] = [22, 3];
/// Bytes before the content of a record, which has at most 2^14 bytes before it is encrypted.
const RECORD_HEAD_BYTES: usize = 5;
const RECORD_BYTES_MAX: usize = 1 << 14;
/// The alert by which a process that does not encrypt refuses one that does: that there is no such
/// application here (RFC 7301).
const NOT_HERE: [u8; 7] = [21, 3, 3, 0, 2, 2, 120];

/// The two directions of an encrypted connection.
pub(crate) struct Tunnel {
    state: Arc<TunnelState>,
}

struct TunnelState {
    tls: Mutex<Tls>,
    network: TcpStream,
    /// The end of the local pair that leads to the rest of the process.
    local: UnixStream,
    ends: Mutex<TunnelEnds>,
    /// Told when all was sent.
    sent: Condvar,
}

/// What to read and write instead of an encrypted connection.
pub(crate) struct EncryptedStream {
    pub(crate) stream: TcpStream,
    pub(crate) tunnel: Tunnel,
}

/// How a connection has ended.
#[derive(Default)]
struct TunnelEnds {
    /// All was sent, or nothing more can be.
    is_sent: bool,
    /// It was cut, and why.
    cut: Option<IoError>,
    /// Told that it was cut.
    on_cut: Option<Box<dyn FnOnce(IoError) + Send>>,
}

impl Tunnel {
    /// The connection below.
    pub(crate) fn network(&self) -> &TcpStream {
        &self.state.network
    }

    /// Waits until what was written before the writing end was shut down is sent, or a time is over.
    pub(crate) fn wait_until_sent(&self, timeout: Duration) {
        let mut ends = self.state.ends.lock();
        let _ = self.state.sent.wait_while_for(&mut ends, |ends| !ends.is_sent, timeout);
    }

    /// Calls `on_cut` if the connection ends although the other side has not ended it. It is called before a
    /// reader sees an end.
    pub(crate) fn on_cut(&self, on_cut: impl FnOnce(IoError) + Send + 'static) {
        let mut ends = self.state.ends.lock();
        match ends.cut.take() {
            Some(error) => on_cut(error),
            None => ends.on_cut = Some(Box::new(on_cut)),
        }
    }
}

/// Encrypts a connection to a process that answers. Returns what to read and write instead.
///
/// # Errors
/// The other side lacks the secret, or does not encrypt; what failed.
pub(crate) fn call(network: TcpStream, secret: &[u8], until: Instant) -> IoResult<EncryptedStream> {
    let (provider, keys) = keys(secret)?;
    let verifier = KeyVerifier::of(&provider, &keys);
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(IoError::other)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(keys)));
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    let name = ServerName::try_from("esker").map_err(IoError::other)?;
    let tls = ClientConnection::new(Arc::new(config), name).map_err(IoError::other)?;
    dig(tls.into(), network, until)
}

/// The same for a process that has called.
pub(crate) fn answer(network: TcpStream, secret: &[u8], until: Instant) -> IoResult<EncryptedStream> {
    let (provider, keys) = keys(secret)?;
    let verifier = KeyVerifier::of(&provider, &keys);
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(IoError::other)?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(keys)));
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    let tls = ServerConnection::new(Arc::new(config)).map_err(IoError::other)?;
    dig(tls.into(), network, until)
}

/// Whether what has come is the beginning of an encrypted connection.
pub(crate) fn is_encrypted(head: &[u8]) -> bool {
    head.starts_with(&RECORD_HEAD)
}

/// How many bytes of a record are still to come after its head and others of it.
pub(crate) fn rest_of_record(begin: &[u8]) -> usize {
    let stated =
        begin.get(3..RECORD_HEAD_BYTES).map_or(0, |len| usize::from(len[0]) << 8 | usize::from(len[1]));
    (stated.min(RECORD_BYTES_MAX) + RECORD_HEAD_BYTES).saturating_sub(begin.len())
}

/// Tells a process that encrypts that this one does not.
pub(crate) fn refuse(mut network: &TcpStream) -> IoResult<()> {
    network.write_all(&NOT_HERE)
}

/// The keys that follow from a secret.
fn keys(secret: &[u8]) -> IoResult<(Arc<CryptoProvider>, Arc<CertifiedKey>)> {
    let mut key = [&PKCS8_HEAD[..], &[0; 32]].concat();
    let unspecified = |_| IoError::other("no key follows from the secret");
    Salt::new(HKDF_SHA256, b"esker cluster")
        .extract(secret)
        .expand(&[b"tls 1"], HKDF_SHA256)
        .and_then(|derived| derived.fill(&mut key[PKCS8_HEAD.len()..]))
        .map_err(unspecified)?;
    let signing = any_eddsa_type(&PrivatePkcs8KeyDer::from(key)).map_err(IoError::other)?;
    let public = signing.public_key().ok_or_else(|| IoError::other("a key without its public one"))?;
    let shown = CertificateDer::from(public.to_vec());
    Ok((Arc::new(default_provider()), Arc::new(CertifiedKey::new(vec![shown], signing))))
}

/// Accepts one public key.
#[derive(Debug)]
struct KeyVerifier {
    provider: Arc<CryptoProvider>,
    expected: CertificateDer<'static>,
}

impl KeyVerifier {
    /// Accepts the public key of a pair.
    fn of(provider: &Arc<CryptoProvider>, keys: &CertifiedKey) -> Arc<Self> {
        Arc::new(Self { provider: Arc::clone(provider), expected: keys.cert[0].clone() })
    }

    fn expect(&self, shown: &CertificateDer<'_>) -> Result<(), TlsError> {
        match *shown == self.expected {
            true => Ok(()),
            false => Err(CertificateError::UnknownIssuer.into()),
        }
    }
}

/// What both sides check of signatures, by traits with the same methods.
macro_rules! signatures_of_one_key {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, TlsError> {
            Err(TlsError::General("TLS 1.2 is not used".to_owned()))
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            shown: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, TlsError> {
            let (key, known) =
                (SubjectPublicKeyInfoDer::from(&shown[..]), &self.provider.signature_verification_algorithms);
            verify_tls13_signature_with_raw_key(message, &key, signed, known)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for KeyVerifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        self.expect(shown).map(|()| ServerCertVerified::assertion())
    }

    signatures_of_one_key!();
}

impl ClientCertVerifier for KeyVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        self.expect(shown).map(|()| ClientCertVerified::assertion())
    }

    signatures_of_one_key!();
}

/// Shakes hands, and starts the threads of both directions.
fn dig(mut tls: Tls, network: TcpStream, until: Instant) -> IoResult<EncryptedStream> {
    shake_hands(&mut tls, &network, until)?;
    tls.set_buffer_limit(None);
    let (local, given) = UnixStream::pair()?;
    let ends = Mutex::default();
    let state = Arc::new(TunnelState { tls: Mutex::new(tls), network, local, ends, sent: Condvar::new() });
    let (outward, inward) = (Arc::clone(&state), Arc::clone(&state));
    Builder::new().name("encrypt".to_owned()).spawn(move || outward.send())?;
    Builder::new().name("decrypt".to_owned()).spawn(move || inward.receive())?;
    // The type of its handle does not tell a local socket from one of the network.
    Ok(EncryptedStream { stream: TcpStream::from(OwnedFd::from(given)), tunnel: Tunnel { state } })
}

fn shake_hands(tls: &mut Tls, mut network: &TcpStream, until: Instant) -> IoResult<()> {
    loop {
        while tls.wants_write() {
            tls.write_tls(&mut network)?;
        }
        if !tls.is_handshaking() {
            return network.set_read_timeout(None);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(IoError::new(ErrorKind::TimedOut, "it did not introduce itself in time"));
        }
        network.set_read_timeout(Some(left))?;
        match tls.read_tls(&mut network) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut
                ) => {}
            Err(error) => return Err(error),
        }
        if let Err(error) = tls.process_new_packets() {
            // Says why to the other side.
            let _ = tls.write_tls(&mut network);
            return Err(IoError::other(describe(&error)));
        }
    }
}

fn describe(error: &TlsError) -> String {
    match error {
        TlsError::InvalidCertificate(_) => "it does not know the secret of the cluster".to_owned(),
        TlsError::AlertReceived(AlertDescription::NoApplicationProtocol) => {
            "it does not encrypt its connections: let the workers there encrypt, or remove the line `tls` from the list of hosts"
                .to_owned()
        }
        TlsError::AlertReceived(_) => "it refused the secret of the cluster".to_owned(),
        error => format!("it does not encrypt as this process does ({error})"),
    }
}

impl TunnelState {
    /// Encrypts what the process writes, until that ends.
    fn send(&self) {
        let (mut piece, mut sealed) = (vec![0; PIECE_BYTES], Vec::new());
        loop {
            let count = match (&self.local).read(&mut piece) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // The other end is closed, perhaps before all was read from it.
                read => read.unwrap_or(0),
            };
            sealed.clear();
            let mut tls = self.tls.lock();
            let written = match count {
                0 => {
                    tls.send_close_notify();
                    Ok(())
                }
                count => tls.writer().write_all(&piece[..count]),
            };
            let written = written.and_then(|()| {
                while tls.wants_write() {
                    tls.write_tls(&mut sealed)?;
                }
                Ok(())
            });
            drop(tls);
            if let Err(error) = written.and_then(|()| (&self.network).write_all(&sealed)) {
                self.is_cut(error);
                break;
            }
            if count == 0 {
                let _ = self.network.shutdown(Shutdown::Write);
                break;
            }
        }
        self.ends.lock().is_sent = true;
        self.sent.notify_all();
    }

    /// Decrypts what comes, until the other side ends.
    fn receive(&self) {
        let (mut sealed, mut rest) = (vec![0; PIECE_BYTES], 0..0);
        loop {
            match self.open(&sealed[rest.clone()]) {
                Ok((taken, plain, is_over)) => {
                    rest.start += taken;
                    if (&self.local).write_all(&plain).is_err() {
                        // Nobody reads any more.
                        let _ = self.network.shutdown(Shutdown::Read);
                        return;
                    }
                    if is_over {
                        let _ = self.local.shutdown(Shutdown::Write);
                        return;
                    }
                }
                Err(error) => return self.is_cut(error),
            }
            if rest.is_empty() {
                match (&self.network).read(&mut sealed) {
                    // Without the word of the other side.
                    Ok(0) => return self.is_cut(ErrorKind::UnexpectedEof.into()),
                    Ok(count) => rest = 0..count,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return self.is_cut(error),
                }
            }
        }
    }

    /// Decrypts. Returns how many bytes it took, their content, and whether the other side has ended the
    /// connection.
    fn open(&self, sealed: &[u8]) -> IoResult<(usize, Vec<u8>, bool)> {
        let (mut rest, mut tls) = (sealed, self.tls.lock());
        if !rest.is_empty() {
            tls.read_tls(&mut rest)?;
        }
        let state = tls.process_new_packets().map_err(IoError::other)?;
        let mut plain = vec![0; state.plaintext_bytes_to_read()];
        tls.reader().read_exact(&mut plain)?;
        Ok((sealed.len() - rest.len(), plain, state.peer_has_closed()))
    }

    /// Ends both directions.
    fn is_cut(&self, error: IoError) {
        let mut ends = self.ends.lock();
        match ends.on_cut.take() {
            // A process that has said all it had to say is not disturbed.
            Some(on_cut) if !ends.is_sent => on_cut(error),
            _ => drop(ends.cut.get_or_insert(error)),
        }
        drop(ends);
        let _ = self.network.shutdown(Shutdown::Both);
        let _ = self.local.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::mpsc::channel;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let here = TcpStream::connect(listener.local_addr().expect("address")).expect("connect");
        (here, listener.accept().expect("accept").0)
    }

    type Dug = IoResult<EncryptedStream>;

    /// What both sides make of their secrets.
    fn dug(calling: [u8; 32], answering: [u8; 32]) -> (Dug, Dug) {
        let (here, there) = connected();
        let answered = std::thread::spawn(move || answer(there, &answering, soon()));
        let called = call(here, &calling, soon()).and_then(|EncryptedStream { stream, tunnel }| {
            // The other side refuses this one after this one has accepted that.
            match calling == answering || (&stream).read(&mut [0])? > 0 {
                true => Ok(EncryptedStream { stream, tunnel }),
                false => Err(ErrorKind::UnexpectedEof.into()),
            }
        });
        (called, answered.join().expect("thread"))
    }

    #[test]
    fn what_is_written_arrives_in_both_directions_until_each_ends() {
        let (called, answered) = dug([7; 32], [7; 32]);
        let EncryptedStream { stream: here, tunnel } = called.expect("called");
        let EncryptedStream { stream: there, tunnel: _other } = answered.expect("answered");
        let text: Vec<u8> = (0..3 * PIECE_BYTES + 5).map(|place| (place * 7 + place / 251) as u8).collect();
        let expected = text.clone();
        let echo = std::thread::spawn(move || {
            let mut arrived = Vec::new();
            (&there).read_to_end(&mut arrived).expect("read");
            (&there).write_all(&arrived).expect("write");
        });
        (&here).write_all(&text).expect("write");
        here.shutdown(Shutdown::Write).expect("end");
        tunnel.wait_until_sent(Duration::from_secs(5));
        assert!(tunnel.state.ends.lock().is_sent);
        let mut back = Vec::new();
        (&here).read_to_end(&mut back).expect("read");
        assert!(back == expected, "{} bytes", back.len());
        assert!(tunnel.state.ends.lock().cut.is_none(), "the other side said that it ended");
        echo.join().expect("thread");
    }

    #[test]
    fn who_lacks_the_secret_is_refused_on_either_side() {
        let (called, answered) = dug([7; 32], [8; 32]);
        let message = called.err().expect("refused").to_string();
        assert!(message.contains("does not know the secret"), "{message}");
        let message = answered.err().expect("refused").to_string();
        assert!(message.contains("refused the secret"), "{message}");
        // One that accepts any key of the other side, but has another key of its own.
        let (here, there) = connected();
        let answered = std::thread::spawn(move || answer(there, &[7; 32], soon()).err());
        let (provider, known) = keys(&[7; 32]).expect("keys");
        let (_, own) = keys(&[8; 32]).expect("keys");
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .expect("version")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(KeyVerifier {
                provider,
                expected: known.cert[0].clone(),
            }))
            .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(own)));
        let name = ServerName::try_from("esker").expect("name");
        let mut tls = ClientConnection::new(Arc::new(config), name).expect("client").into();
        let _ = shake_hands(&mut tls, &here, soon());
        let message = answered.join().expect("thread").expect("refused").to_string();
        assert!(message.contains("does not know the secret"), "{message}");
    }

    /// An end that the other side has not told of is no end of the input.
    #[test]
    fn a_cut_is_told_before_it_looks_like_an_end() {
        for is_told_early in [true, false] {
            let (called, answered) = dug([7; 32], [7; 32]);
            let EncryptedStream { stream: here, tunnel } = called.expect("called");
            let EncryptedStream { stream: there, tunnel: other } = answered.expect("answered");
            (&there).write_all(b"1,2\n").expect("write");
            let (telling, told) = channel();
            let mut first = [0; 4];
            (&here).read_exact(&mut first).expect("read");
            let on_cut = move |error: IoError| telling.send(error.kind()).expect("heard");
            if is_told_early {
                other.network().shutdown(Shutdown::Both).expect("cut");
                while tunnel.state.ends.lock().cut.is_none() {
                    std::thread::yield_now();
                }
                tunnel.on_cut(on_cut);
            } else {
                tunnel.on_cut(on_cut);
                other.network().shutdown(Shutdown::Both).expect("cut");
            }
            assert_eq!((&here).read(&mut first).expect("no reset"), 0);
            assert_eq!(told.try_recv().expect("told before"), ErrorKind::UnexpectedEof);
        }
    }
}
