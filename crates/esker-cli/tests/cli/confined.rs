//! Runs the command with a bound on its memory, and measures what it takes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How often the memory of the process is read.
const LOOK_EVERY: Duration = Duration::from_millis(1);
const MIB: u64 = 1 << 20;

/// A memory cgroup with a limit. Page cache counts in it too, but the system takes that back.
struct Group(PathBuf);

impl Group {
    /// `None` where none can be made.
    fn new(limit_bytes: u64) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let second = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
        let (root, limit) = match second {
            true => ("/sys/fs/cgroup", "memory.max"),
            false => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        };
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(root).join(format!("esker-test-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).ok()?;
        let group = Self(path);
        let limited = std::fs::OpenOptions::new().write(true).open(group.0.join(limit));
        limited.ok()?;
        std::fs::write(group.0.join(limit), limit_bytes.to_string()).ok()?;
        Some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Runs a command of `esker` in a cgroup that kills it if it takes more than `bytes_max`, where one can be
/// made. Everywhere, checks that its own memory, without mapped files, stays within.
pub(crate) fn run_within(command: &Command, bytes_max: u64) -> Output {
    let group = Group::new(bytes_max);
    let line = format!("{command:?}");
    let mut shell = Command::new("sh");
    let enter = if group.is_some() { "echo $$ >\"$0\" && exec \"$@\"" } else { "exec \"$@\"" };
    let procs = group.as_ref().map_or_else(PathBuf::new, |group| group.0.join("cgroup.procs"));
    shell.arg("-c").arg(enter).arg(procs).arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        shell.current_dir(directory);
    }
    let mut child = shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        peak = peak.max(own_bytes(&status));
        std::thread::sleep(LOOK_EVERY);
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some(), "{line} was killed at {} MiB: {said}", bytes_max / MIB);
    assert!(peak <= bytes_max, "{line} took {} MiB of {}: {said}", peak / MIB, bytes_max / MIB);
    output
}

/// The memory of a process without that of mapped files; 0 where the system does not tell.
fn own_bytes(status: &Path) -> u64 {
    let text = std::fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
