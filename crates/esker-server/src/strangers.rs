//! Connections without a session: where all connections are taken, the oldest of them ends for a new one.
//!
//! Whoever reaches the port can open connections and send nothing. Those who have a session do not wait for
//! them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// The connections without a session, the oldest first, and what ends each.
#[derive(Default)]
pub(crate) struct Strangers {
    open: Mutex<BTreeMap<u64, Arc<Notify>>>,
    opened: AtomicU64,
}

/// The place of a connection among those without a session, until it has one or is dropped.
pub(crate) struct Stranger {
    all: Arc<Strangers>,
    number: u64,
    ending: Arc<Notify>,
}

impl Strangers {
    /// A new connection.
    pub(crate) fn enter(self: &Arc<Self>) -> Stranger {
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let ending = Arc::new(Notify::new());
        self.open.lock().insert(number, Arc::clone(&ending));
        Stranger { all: Arc::clone(self), number, ending }
    }

    /// Ends the oldest, if there is one.
    pub(crate) fn end_oldest(&self) {
        let oldest = self.open.lock().pop_first();
        if let Some((_, ending)) = oldest {
            ending.notify_one();
        }
    }
}

impl Stranger {
    /// From now on it is a connection of a session, which does not end for others.
    pub(crate) fn has_session(&self) {
        self.all.open.lock().remove(&self.number);
    }

    /// Waits until the connection has to end for another one.
    pub(crate) async fn ended(&self) {
        self.ending.notified().await;
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.has_session();
    }
}
