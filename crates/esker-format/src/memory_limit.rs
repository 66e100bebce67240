//! The memory limit of a session, and the memory of the machine from which it follows where none is given.
#![allow(clippy::disallowed_methods)] // Files of the system, of no database.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

use esker_graph::Budget;

use crate::heap::trimmed_budget;

/// How much memory a session, a command or a run may take.
///
/// It is made once, from what the user gives or from what the machine has at that moment, and passed on:
/// plans, budgets, imports and commits then agree on one number.
///
/// ```
/// use esker_format::MemoryLimit;
///
/// let limit = MemoryLimit::of(1 << 30);
/// assert_eq!((limit.bytes(), limit.budget().limit_bytes()), (1 << 30, 1 << 30));
/// let machine = MemoryLimit::of_machine();
/// assert!(!machine.is_given() && machine.bytes() == machine.mapped_bytes() / 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimit {
    bytes: u64,
    mapped_bytes: u64,
    is_given: bool,
}

impl MemoryLimit {
    /// A limit that somebody chose. Mapped files count as memory.
    pub const fn of(bytes: u64) -> Self {
        Self { bytes, mapped_bytes: bytes, is_given: true }
    }

    /// Half of the memory that is available now. Mapped files may take all that is available, because the
    /// system can take their pages back. Reads some small files of the system.
    pub fn of_machine() -> Self {
        let available = available_bytes();
        Self { bytes: available / 2, mapped_bytes: available, is_given: false }
    }

    /// The limit that is given, or else that of the machine.
    pub fn or_of_machine(given_bytes: Option<u64>) -> Self {
        given_bytes.map_or_else(Self::of_machine, Self::of)
    }

    /// The limit of a budget; that of the machine if the budget has none.
    pub fn of_budget(budget: &Budget) -> Self {
        Self::or_of_machine(Some(budget.limit_bytes()).filter(|&bytes| bytes != u64::MAX))
    }

    /// The same, with room of another size for mapped files together with memory.
    #[must_use]
    pub const fn mapping(self, mapped_bytes: u64) -> Self {
        Self { mapped_bytes, ..self }
    }

    /// The same, but at most `bytes` of memory; the room for mapped files stays.
    #[must_use]
    pub fn at_most(self, bytes: u64) -> Self {
        Self { bytes: self.bytes.min(bytes), ..self }
    }

    /// Bytes of memory that arrays, pools and buffers may take.
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// Bytes that memory and mapped files may take together.
    pub const fn mapped_bytes(self) -> u64 {
        self.mapped_bytes
    }

    /// Whether somebody chose it.
    pub const fn is_given(self) -> bool {
        self.is_given
    }

    /// A budget of [`MemoryLimit::bytes`], all of it free, which returns freed memory to the system.
    pub fn budget(self) -> Budget {
        trimmed_budget(self.bytes)
    }
}

/// Memory that could be taken now without swapping: what the system estimates, and what the memory cgroups
/// that the process is in leave to it; page cache counts as free in both.
fn available_bytes() -> u64 {
    let free = rustix::system::sysinfo();
    let fallback = free.freeram * u64::from(free.mem_unit);
    let machine = read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
    });
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let left = directories(&groups).iter().filter_map(|directory| left_by(directory)).min();
    machine.unwrap_or(fallback).min(left.unwrap_or(u64::MAX))
}

/// The directories of the memory cgroups that a process is in, from what `/proc/self/cgroup` says.
fn directories(groups: &str) -> Vec<PathBuf> {
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
        let root = match controllers {
            "" => Path::new("/sys/fs/cgroup"),
            _ if controllers.split(',').any(|name| name == "memory") => Path::new("/sys/fs/cgroup/memory"),
            _ => return None,
        };
        let chain: Vec<PathBuf> = root
            .join(path)
            .ancestors()
            .take_while(|path| path.starts_with(root))
            .map(Path::to_owned)
            .collect();
        Some(chain)
    };
    groups.lines().filter_map(of_line).flatten().collect()
}

/// What the limit of a cgroup leaves beside what its processes have allocated; `None` if there is no limit.
fn left_by(directory: &Path) -> Option<u64> {
    let number = |name: &str| read_to_string(directory.join(name)).ok()?.trim().parse::<u64>().ok();
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    Some(limit.saturating_sub(taken(&read_to_string(directory.join("memory.stat")).ok()?)))
}

/// Bytes that are no page cache, from the statistics of a cgroup.
fn taken(statistics: &str) -> u64 {
    let of = |name: &str| {
        let line = statistics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|number| number.trim().parse::<u64>().ok())
    };
    of("total_rss").or_else(|| of("anon")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cgroups_of_both_versions_are_found() {
        let found = directories("12:cpu,cpuacct:/a\n9:memory:/jobs/7\n0::/user.slice\n");
        let expected = ["memory/jobs/7", "memory/jobs", "memory", "user.slice", ""];
        assert_eq!(found, expected.map(|path| Path::new("/sys/fs/cgroup").join(path)));
        assert_eq!(taken("cache 5\nrss 7\ntotal_rss 70\n"), 70);
        assert_eq!(taken("anon 12\nfile 99\n"), 12);
        assert_eq!(taken(""), 0);
    }

    #[test]
    fn some_memory_is_there() {
        assert!(available_bytes() > 1 << 20);
    }

    #[test]
    fn a_limit_is_that_of_its_budget_or_of_the_machine() {
        let given = MemoryLimit::of_budget(&Budget::new(1 << 20));
        assert_eq!(given, MemoryLimit::of(1 << 20));
        assert_eq!(given.at_most(7).mapping(9), MemoryLimit { bytes: 7, mapped_bytes: 9, is_given: true });
        assert_eq!(given.at_most(1 << 30), given);
        let machine = MemoryLimit::of_budget(&Budget::default());
        assert!(!machine.is_given() && machine.bytes() > 1 << 19);
        assert!(machine.mapped_bytes() >= 2 * machine.bytes());
    }
}
