//! Events for clients that wait: how far a run is, and new versions.

use std::time::Duration;

use axum::response::Response;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::computing::runs::Event;
use crate::events::events;

/// A client that is gone is noticed by a remark that it does not take.
const REMARK_EVERY: Duration = Duration::from_secs(10);
/// Progress is told no more often than this: runs have thousands of rounds a second.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// The events of a run, from the newest on.
pub(crate) fn of_run(mut newest: watch::Receiver<Event>) -> Response {
    let (sender, response) = events();
    tokio::spawn(async move {
        loop {
            let event = newest.borrow_and_update().clone();
            if !sender.send(event.name, &event.data).await || event.is_last() {
                return;
            }
            sleep(TELL_EVERY).await;
            while let Err(_elapsed) = timeout(REMARK_EVERY, newest.changed()).await {
                if !sender.remark().await {
                    return;
                }
            }
            // A run that was forgotten sends no more.
            if newest.has_changed().is_err() {
                let event = newest.borrow().clone();
                sender.send(event.name, &event.data).await;
                return;
            }
        }
    });
    response
}

/// The newest version, for those who wait for the next.
pub(crate) struct Newest(watch::Sender<u64>);

impl Default for Newest {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Newest {
    /// Whether somebody waits.
    pub(crate) fn is_watched(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Tells the newest version, unless a newer one was told.
    pub(crate) fn tell(&self, latest: u64) {
        self.0.send_if_modified(|told| std::mem::replace(told, latest.max(*told)) < latest);
    }

    /// The newest version, and later ones.
    pub(crate) fn watched(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

/// An event for each new version, and one for the newest now.
pub(crate) fn of_versions(mut newest: watch::Receiver<u64>) -> Response {
    let (sender, response) = events();
    tokio::spawn(async move {
        loop {
            let latest = *newest.borrow_and_update();
            if !sender.send("version", &json!({ "latest": latest })).await {
                return;
            }
            match timeout(REMARK_EVERY, newest.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return,
                Err(_) if sender.remark().await => {}
                Err(_) => return,
            }
        }
    });
    response
}
