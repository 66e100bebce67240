//! Responses that come in pieces: events that the server sends, and files.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use hyper::body::{Body as HttpBody, Frame};
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Pieces that wait for a client.
const WAITING_MAX: usize = 8;

/// A body whose pieces another thread sends.
struct Pieces(Receiver<std::io::Result<Bytes>>);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|bytes| bytes.map(Frame::data)))
    }
}

/// A body, and where its pieces go. Sending fails once the client is gone.
pub(crate) fn pieces() -> (Sender<std::io::Result<Bytes>>, Body) {
    let (sender, receiver) = channel(WAITING_MAX);
    (sender, Body::new(Pieces(receiver)))
}

/// A response of events, and where they go.
pub(crate) fn events() -> (EventSender, Response) {
    let (sender, body) = pieces();
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    (EventSender(sender), response)
}

/// Where the events of one client go.
pub(crate) struct EventSender(Sender<std::io::Result<Bytes>>);

impl EventSender {
    /// Sends an event. Returns whether the client is there.
    pub(crate) async fn send(&self, name: &str, data: &Value) -> bool {
        self.0.send(Ok(format!("event: {name}\ndata: {data}\n\n").into())).await.is_ok()
    }

    /// Sends a remark that clients skip. Returns whether the client is there.
    pub(crate) async fn remark(&self) -> bool {
        self.0.send(Ok(Bytes::from_static(b": waiting\n\n"))).await.is_ok()
    }
}
