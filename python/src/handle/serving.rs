//! Commits of other processes, beside the work of this one.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::thread::JoinHandle;

use esker::graph::Cancel;
use esker::store::Database;

/// A thread that commits what other processes hand over, until this is dropped.
pub(crate) struct Serving {
    stop: Cancel,
    thread: Option<JoinHandle<()>>,
    process: u32,
}

impl Serving {
    /// Serves the queue of a database. If that is not possible, other processes are refused, as they are by a
    /// writer that serves none.
    pub(crate) fn of(writer: &Arc<ManuallyDrop<Database>>) -> Self {
        let (stop, writer) = (Cancel::default(), Arc::clone(writer));
        let own = stop.clone();
        let serve = move || drop(writer.serve_queue(&own));
        let thread = std::thread::Builder::new().name("esker-queue".to_owned()).spawn(serve).ok();
        Self { stop, thread, process: std::process::id() }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.cancel();
        // A forked process does not have the thread.
        if let Some(thread) = self.thread.take().filter(|_| self.process == std::process::id()) {
            let _ = thread.join();
        }
    }
}
