//! Measures the load of the processors by other programs.
#![allow(clippy::disallowed_methods)] // Files of the system, of no database.

use std::fs::read_to_string;

/// The time that the processors spent so far, in ticks of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessorTime {
    /// All of it, idle time included.
    all: u64,
    /// At work, for any program.
    busy: u64,
    /// At work for this process.
    own: u64,
}

impl ProcessorTime {
    /// Until now; `None` if the system does not say.
    pub(super) fn now() -> Option<Self> {
        Self::of(&read_to_string("/proc/stat").ok()?, &read_to_string("/proc/self/stat").ok()?)
    }

    /// From the first line of `/proc/stat`, and from `/proc/self/stat`.
    fn of(machine: &str, process: &str) -> Option<Self> {
        let line = machine.lines().next()?.strip_prefix("cpu ")?;
        // Time of guests is counted as that of users too.
        let ticks: Vec<u64> = line.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
        let [user, nice, system, idle, waiting, interrupts, soft_interrupts, stolen] = ticks[..] else {
            return None;
        };
        let busy = user + nice + system + interrupts + soft_interrupts + stolen;
        // The name of the program, in brackets, may have any characters.
        let mut fields = process.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut next = || fields.next()?.parse::<u64>().ok();
        Some(Self { all: busy + idle + waiting, busy, own: next()? + next()? })
    }

    /// The share that other programs took of all time since then, 0 to 1.
    pub(super) fn others_since(self, then: Self) -> f64 {
        let own = self.own.saturating_sub(then.own);
        let others = self.busy.saturating_sub(then.busy).saturating_sub(own);
        (others as f64 / self.all.saturating_sub(then.all).max(1) as f64).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_other_programs_is_what_is_left() {
        let at = |user: u64, idle: u64, own: u64| {
            let machine = format!("cpu  {user} 0 100 {idle} 7 0 0 0 3 0\ncpu0 1 2 3\n");
            let process = format!("12 (a ) b) R 1 2 3 4 5 6 7 8 9 10 {own} 20 0 0\n");
            ProcessorTime::of(&machine, &process).unwrap()
        };
        let then = at(1000, 5000, 10);
        assert_eq!(at(1600, 5400, 210).others_since(then), 0.4);
        assert_eq!(at(1600, 5400, 610).others_since(then), 0.0);
        assert_eq!(then.others_since(then), 0.0);
        assert_eq!(ProcessorTime::of("cpu  1 2\n", "1 (a) R"), None);
        assert!(ProcessorTime::now().is_some_and(|now| now.all > 0));
    }
}
