//! A directory of its own, and the command run in it.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::time::Duration;

#[cfg(target_os = "linux")]
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tempfile::TempDir;

/// Time after which a command that should have ended is killed.
const LIMIT: Duration = Duration::from_secs(300);

/// Has signals end this process and the commands that it starts. A shell that starts tests in the background
/// has set interrupts to be ignored, `nohup` hang-ups; commands inherit that, but not a handler.
fn set_signals() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register_conditional_default(signal, Arc::new(AtomicBool::new(true))).unwrap();
        }
    });
}

/// A command that is killed if it does not end in time: a test that waits for it fails then, instead of
/// waiting for ever.
pub(crate) fn limited(child: Child) -> Child {
    // Unlike its number, this never means another process.
    #[cfg(target_os = "linux")]
    if let Ok(process) = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
        std::thread::spawn(move || {
            std::thread::sleep(LIMIT);
            let _ = pidfd_send_signal(process, Signal::KILL);
        });
    }
    child
}

pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        set_signals();
        Self(TempDir::new().unwrap())
    }

    /// On the disk of the build: temporary directories may lie in memory, where files count against a limit
    /// of memory.
    pub(crate) fn on_disk() -> Self {
        set_signals();
        Self(TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str, content: &str) {
        std::fs::write(self.path().join(name), content).unwrap();
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_esker"));
        command.args(line.split_whitespace()).current_dir(self.path()).stdin(Stdio::null());
        // Not the user's, whose rates may have been measured.
        command.env("XDG_CACHE_HOME", self.path().join("cache"));
        command
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// What a command that succeeds prints.
    pub(crate) fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command that fails with an exit code and a message.
    pub(crate) fn fails(&self, code: i32, line: &str, fragment: &str) {
        let output = self.run(line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{line}: {message}");
        assert!(message.contains(fragment), "{line}: {message}");
    }

    pub(crate) fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.ok(line)).unwrap()
    }
}
