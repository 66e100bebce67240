//! Where alerts go: standard output, or the standard input of a command.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::show::rounding::rounded;
use crate::show::text;

/// Time between two looks whether a command has ended.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Takes alerts one after another.
#[derive(Debug)]
pub(crate) struct AlertSink {
    command: Option<String>,
    given: u64,
    failed: u64,
}

impl AlertSink {
    /// Each alert goes to a command, or without one to standard output.
    pub(crate) fn new(command: Option<String>) -> Self {
        Self { command, given: 0, failed: 0 }
    }

    /// Hands over an alert. The failure of a command is told, and is none of the alerts.
    pub(crate) fn give(&mut self, alert: Map<String, Value>) -> Outcome {
        let alert = Value::Object(alert);
        self.given += 1;
        let Some(command) = &self.command else { return text::print(&rounded(alert).to_string()) };
        let line = alert.to_string();
        let failure = match run(command, &line)? {
            Ok(()) => return Ok(()),
            Err(failure) => failure,
        };
        // A signal ends the command too; what it did not take is raised again by the next run.
        interrupt::check()?;
        self.failed += 1;
        text::warn(&format!("warning: the command of --exec failed: {failure}; the alert was {line}"));
        Ok(())
    }

    /// Says how many there were.
    ///
    /// # Errors
    /// If the command failed on some.
    pub(crate) fn finish(&self) -> Outcome {
        let alerts = |count| if count == 1 { "1 alert".to_owned() } else { format!("{count} alerts") };
        text::remark(&format!("raised {}", alerts(self.given)));
        match self.failed {
            0 => Ok(()),
            failed => Err(Failure::Failed(format!("the command of --exec failed on {}", alerts(failed)))),
        }
    }
}

/// Runs a command in a shell with a line on its standard input; inside, why it failed.
fn run(command: &str, line: &str) -> Result<Result<(), String>, Failure> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::piped());
    let mut child = match shell.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let input = child.stdin.take();
    let status = std::thread::scope(|scope| {
        // A command that does not read closes its input, and its exit code says whether that is a failure.
        scope.spawn(|| input.map(|mut input| input.write_all(format!("{line}\n").as_bytes())));
        ended(&mut child)
    })?;
    Ok(match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(error.to_string()),
    })
}

/// Waits until a command ends; a signal ends it.
fn ended(child: &mut Child) -> Result<std::io::Result<std::process::ExitStatus>, Failure> {
    loop {
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) => return Ok(Ok(status)),
            Err(error) => return Ok(Err(error)),
        }
        if let Err(stop) = interrupt::check() {
            let _ = child.kill();
            let _ = child.wait();
            return Err(stop.into());
        }
        std::thread::sleep(LOOK_EVERY);
    }
}
