//! Energy consumed by the processors, from the powercap counters of Linux.

/// One reading of the counters of all processor packages: microjoules, and the value at which the counter
/// wraps.
pub(crate) struct Energy(Vec<(u64, u64)>);

impl Energy {
    /// Reads the counters; `None` if there are none or they are not readable.
    pub(crate) fn now() -> Option<Self> {
        let counters = packages();
        (!counters.is_empty()).then_some(Self(counters))
    }

    /// Joules since this reading. Correct unless a counter has wrapped twice, which takes about an hour.
    pub(crate) fn joules_since(&self) -> Option<f64> {
        let now = packages();
        if now.len() != self.0.len() {
            return None;
        }
        let spent = self.0.iter().zip(&now).map(|(&(before, range), &(after, _))| {
            if after >= before { after - before } else { after + range.saturating_sub(before) }
        });
        Some(spent.sum::<u64>() as f64 / 1e6)
    }
}

/// Reads the counters of whole packages: adding their subdomains, such as `intel-rapl:0:1`, would count
/// energy twice.
#[allow(clippy::disallowed_methods)] // not files of a database
fn packages() -> Vec<(u64, u64)> {
    let Ok(entries) = std::fs::read_dir("/sys/class/powercap") else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().matches(':').count() != 1 {
            continue;
        }
        let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).ok()?.trim().parse().ok();
        if let (Some(energy), Some(range)) = (read("energy_uj"), read("max_energy_range_uj")) {
            found.push((energy, range));
        }
    }
    found
}
