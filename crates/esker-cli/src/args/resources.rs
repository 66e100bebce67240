//! Options for threads and memory, and measurements of memory and reads.

use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

use clap::Args;
use esker::catalogue::Resources;
use esker::graph::{Budget, Cancel, OnProgress, Run};
use esker::store::DatabaseOptions;
use esker::store::format::return_large_blocks;
use esker::{MemoryLimit, SessionOptions};

use crate::args::size::parse_bytes;
use crate::failure::Failure;

/// With less memory than this by default, writers keep to it.
const SMALL_BYTES: u64 = 1 << 30;

/// The resources of a command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Resources")]
pub(crate) struct ResourceArgs {
    /// Number of worker threads [default: one per processor]
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Memory limit, such as 256MiB or 2G [default: half of the available memory]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
    #[arg(skip)]
    limit: OnceLock<MemoryLimit>,
}

impl ResourceArgs {
    /// The number of threads; 0 means one per processor.
    pub(crate) fn threads(&self) -> usize {
        self.threads.map_or(0, usize::from)
    }

    /// The memory limit, which the command reads once.
    pub(crate) fn limit(&self) -> MemoryLimit {
        *self.limit.get_or_init(|| MemoryLimit::or_of_machine(self.memory))
    }

    /// The resources of a run, for its plan.
    pub(crate) fn of_run(&self, deterministic: bool) -> Resources {
        Resources::within(self.limit(), self.threads(), deterministic)
    }

    /// Options to write a database. Its commits draw from the budget of `run` under an explicit limit, and
    /// where so little memory is available, as in a small container, that they could not do without one.
    pub(crate) fn of_database(&self, run: &Run) -> DatabaseOptions {
        let budget = if self.limit().is_given() || self.limit().bytes() < SMALL_BYTES {
            return_large_blocks();
            run.budget().clone()
        } else {
            Budget::default()
        };
        DatabaseOptions { threads: self.threads(), budget, ..DatabaseOptions::default() }
    }

    /// A run with these resources.
    pub(crate) fn run(
        &self,
        cancel: &Cancel,
        seed: u64,
        deterministic: bool,
        on_progress: Option<OnProgress>,
    ) -> Result<Run, Failure> {
        let cancel = cancel.clone();
        let (threads, memory) = (self.threads(), self.limit());
        Ok(SessionOptions { threads, memory, seed, deterministic, cancel, on_progress }.start()?)
    }
}

/// The peak resident memory of this process.
#[allow(clippy::disallowed_methods)]
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// Bytes read from storage for this process, as the system counts them; reads from the page cache do not
/// count.
#[allow(clippy::disallowed_methods)]
pub(crate) fn bytes_read() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes:"))?.trim().parse().ok()
}

/// Bytes of each file below `directory` that this process has mapped and looked at, by path in the directory,
/// the most first. Pages that the system took back meanwhile do not count; pages around those that were
/// looked at do. Empty where the system does not say.
///
/// Takes some milliseconds for each GiB.
#[allow(clippy::disallowed_methods)]
pub(crate) fn mapped_files(directory: &Path) -> Vec<(String, u64)> {
    let Ok(directory) = directory.canonicalize() else { return Vec::new() };
    resident_files(&std::fs::read_to_string("/proc/self/smaps").unwrap_or_default(), &directory)
}

/// The same, from the text in which the system describes each mapping: a line of six fields that ends in the
/// path, and lines such as `Rss: 4 kB`.
fn resident_files(mappings: &str, directory: &Path) -> Vec<(String, u64)> {
    let mut sums: HashMap<String, u64> = HashMap::new();
    let mut file: Option<String> = None;
    for line in mappings.lines() {
        if let Some(kib) = line.strip_prefix("Rss:") {
            let kib = kib.trim().strip_suffix("kB").and_then(|kib| kib.trim().parse::<u64>().ok());
            if let (Some(file), Some(kib)) = (file.take(), kib.filter(|kib| *kib > 0)) {
                *sums.entry(file).or_default() += kib << 10;
            }
        } else if let Some(start) = line.find('/') {
            let inside = Path::new(&line[start..]).strip_prefix(directory).ok();
            file = inside.map(|inside| inside.display().to_string());
        }
    }
    let mut files: Vec<_> = sums.into_iter().collect();
    files.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_files_are_summed_by_path() {
        let text = "\
7f00-7f01 r--s 00000000 fe:00 12   /data/my graph.esker/layers/1/out.lists
Size:                 64 kB
Rss:                  12 kB
7f01-7f02 r--s 00004000 fe:00 12   /data/my graph.esker/layers/1/out.lists
Rss:                   4 kB
7f02-7f03 r--s 00000000 fe:00 13   /data/my graph.esker/layers/1/in.lists
Rss:                   0 kB
7f03-7f04 r--s 00000000 fe:00 14   /data/my graph.esker/ids
Rss:                 128 kB
7f04-7f05 r-xp 00000000 fe:00 15   /usr/bin/esker
Rss:                9000 kB
7f05-7f06 rw-p 00000000 00:00 0
Rss:                9000 kB
";
        let found = resident_files(text, Path::new("/data/my graph.esker"));
        let expected = [("ids".to_owned(), 128 << 10), ("layers/1/out.lists".to_owned(), 16 << 10)];
        assert_eq!(found, expected);
    }
}
