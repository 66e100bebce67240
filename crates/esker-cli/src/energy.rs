//! What the processors have consumed, where the machine counts it.

/// A reading of the counters of all packages, in microjoules, with the number at which each begins anew.
pub(crate) struct Energy(Vec<(u64, u64)>);

impl Energy {
    /// The counters now; `None` if there are none, or they may not be read.
    pub(crate) fn now() -> Option<Self> {
        let counters = packages();
        (!counters.is_empty()).then_some(Self(counters))
    }

    /// Joules since this reading. Correct as long as no counter began anew twice, which takes an hour or so.
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

/// The counters of whole packages: domains within one, such as `intel-rapl:0:1`, would count twice.
#[allow(clippy::disallowed_methods)] // these are no files of a database
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
