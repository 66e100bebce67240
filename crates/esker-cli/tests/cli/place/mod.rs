//! A directory of its own, and the command run in it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// On the disk of the build: temporary directories may lie in memory, where files count against a limit of memory.
    pub(crate) fn on_disk() -> Self {
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
