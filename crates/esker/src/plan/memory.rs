//! The memory of the machine that is available to a run.
#![allow(clippy::disallowed_methods)] // Files of the system, of no database.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Memory that could be taken now without swapping: what the system estimates, and what the memory cgroups
/// that the process is in leave to it; page cache counts as free in both.
pub fn available_bytes() -> u64 {
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
}
