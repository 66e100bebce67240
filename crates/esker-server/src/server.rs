//! The server: it listens, and ends when its token is set.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use esker::SessionOptions;
use esker::graph::Cancel;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Semaphore;

use crate::guard::Guard;
use crate::limits::{CONNECTIONS_MAX, END_TIME_MAX, HEAD_BYTES_MAX, HEAD_TIME_MAX, HEADERS_MAX};
use crate::patience::Patient;
use crate::responding::{Service, answer, router};
use crate::served::Served;
use crate::strangers::{Stranger, Strangers};
use crate::streams::Newest;
use crate::work::Workers;

/// How often the token that ends the server is looked at.
const END_EVERY: Duration = Duration::from_millis(20);
/// How often new versions are looked for.
const FOLLOW_EVERY: Duration = Duration::from_millis(200);
/// The wait after the system could not accept a connection, for want of files above all.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// What is served, and where.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The database.
    pub database: PathBuf,
    /// The address to listen on. Default: the loopback, which other machines cannot reach.
    pub address: IpAddr,
    /// The port; 0, the default, lets the system choose a free one.
    pub port: u16,
    /// Threads and memory limit of all that is computed, and the token that ends the server.
    pub session: SessionOptions,
}

impl ServeOptions {
    /// A database on the loopback, with the defaults of sessions.
    pub fn of(database: impl Into<PathBuf>) -> Self {
        Self {
            database: database.into(),
            address: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            session: SessionOptions::default(),
        }
    }
}

/// A server that listens.
pub struct Server {
    service: Arc<Service>,
    listener: TcpListener,
    address: SocketAddr,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Why a server does not start.
#[derive(Debug)]
pub enum ServeError {
    /// The database cannot be opened.
    Database(esker::Error),
    /// The system refuses the address.
    Address(SocketAddr, std::io::Error),
    /// The system refuses something else.
    System(std::io::Error),
}

impl std::fmt::Display for ServeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Database(error) => error.fmt(f),
            Self::Address(address, error) => write!(f, "cannot listen on {address}: {error}"),
            Self::System(error) => write!(f, "cannot serve: {error}"),
        }
    }
}

impl std::error::Error for ServeError {}

impl Server {
    /// Opens the database and the port. Requests wait until [`Server::run`].
    ///
    /// # Errors
    /// If the database cannot be opened, or the system refuses the address.
    pub fn bind(options: &ServeOptions) -> Result<Self, ServeError> {
        let asked = SocketAddr::new(options.address, options.port);
        let refused = |error| ServeError::Address(asked, error);
        let served = Served::open(&options.database, &options.session).map_err(ServeError::Database)?;
        let listener = TcpListener::bind(asked).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let guard = Guard::new(address).map_err(ServeError::System)?;
        let service = Service {
            served: Arc::new(served),
            guard,
            workers: Workers::default(),
            runs: Arc::default(),
            newest: Newest::default(),
        };
        Ok(Self { service: Arc::new(service), listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The link to the page, with the token. Whoever has it can read the database.
    pub fn link(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        format!("http://{address}/#token={}", self.service.guard.token())
    }

    /// Answers requests until the token of the options is set. Then it cancels what it does, and ends as soon
    /// as that has ended, after some hundred milliseconds at most.
    ///
    /// # Errors
    /// If the system refuses threads or the listener.
    pub fn run(self) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(ServeError::System)?;
        let Self { service, listener, .. } = self;
        let runs = Arc::clone(&service.runs);
        let served = runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let ending = service.served.ending().clone();
            let following = tokio::spawn(follow(Arc::clone(&service)));
            let accepting = tokio::spawn(accept(service, listener));
            ended(&ending).await;
            accepting.abort();
            following.abort();
            Ok(())
        });
        // Questions are cancelled with their connections. What does not stop in time ends with the process.
        runs.end();
        runtime.shutdown_timeout(END_TIME_MAX);
        served.map_err(ServeError::System)
    }
}

async fn ended(ending: &Cancel) {
    while !ending.is_cancelled() {
        tokio::time::sleep(END_EVERY).await;
    }
}

/// Tells those who wait of new versions.
async fn follow(service: Arc<Service>) {
    loop {
        tokio::time::sleep(FOLLOW_EVERY).await;
        if service.newest.is_watched() {
            let served = Arc::clone(&service.served);
            // What fails here fails in the next question too, which says so.
            if let Ok(Ok(latest)) = tokio::task::spawn_blocking(move || served.newest()).await {
                service.newest.tell(latest);
            }
        }
    }
}

async fn accept(service: Arc<Service>, listener: tokio::net::TcpListener) {
    let router = router(&service);
    let free = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let strangers = Arc::new(Strangers::default());
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_AGAIN).await;
            continue;
        };
        if free.available_permits() == 0 {
            strangers.end_oldest();
        }
        let Ok(permit) = Arc::clone(&free).acquire_owned().await else { return };
        // Without this, small answers may wait for the client's acknowledgement.
        let _ = stream.set_nodelay(true);
        let stranger = strangers.enter();
        let connection = connected(Arc::clone(&service), router.clone(), Patient::new(stream), stranger);
        tokio::spawn(async move {
            connection.await;
            drop(permit);
        });
    }
}

/// Answers the requests of one connection.
async fn connected(service: Arc<Service>, router: Router, stream: Patient, stranger: Stranger) {
    let stranger = Arc::new(stranger);
    let of_requests = Arc::clone(&stranger);
    let respond = service_fn(move |request: hyper::Request<Incoming>| {
        let (service, router, stranger) = (Arc::clone(&service), router.clone(), Arc::clone(&of_requests));
        let request = request.map(Body::new);
        async move { Ok::<_, Infallible>(answer(&service, router, &stranger, request).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME_MAX);
    builder.max_buf_size(HEAD_BYTES_MAX).max_headers(HEADERS_MAX);
    let mut serving = pin!(builder.serve_connection(TokioIo::new(stream), respond));
    let mut ended = pin!(stranger.ended());
    poll_fn(|context| match ended.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(()),
        // A client that breaks the protocol or goes away ends its connection alone.
        Poll::Pending => serving.as_mut().poll(context).map(drop),
    })
    .await;
}
