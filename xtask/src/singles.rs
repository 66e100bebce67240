//! What the workspace has once: its random generator, its prefetch, its locks of files.

use std::path::{Path, PathBuf};

use crate::findings::Findings;
use crate::source::code_only;

/// Something that one file has, and all others call.
struct Single {
    file: &'static str,
    /// Pieces of code by which a second one is known, in lower case and without underscores.
    marks: &'static [&'static str],
    remedy: &'static str,
}

const SINGLES: [Single; 3] = [
    Single {
        file: "crates/esker-graph/src/random.rs",
        // Multipliers of SplitMix64, and of the usual linear congruential generator.
        marks: &["bf58476d1ce4e5b9", "94d049bb133111eb", "6364136223846793005", "5851f42d4c957f2d"],
        remedy: "draw random numbers from esker_graph::random",
    },
    Single {
        file: "crates/esker-graph/src/prefetch.rs",
        marks: &["mmprefetch"],
        remedy: "call esker_graph::prefetch or prefetch_at",
    },
    Single {
        file: "crates/esker-format/src/io/locks.rs",
        marks: &["fofdsetlk", "flock("],
        remedy: "lock files by Disk::try_lock or File::try_lock",
    },
];

/// Reports files that write anew what another file has.
pub(crate) fn check(root: &Path, tracked: &[PathBuf], findings: &mut Findings) -> std::io::Result<()> {
    for path in tracked.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
        let text = std::fs::read_to_string(root.join(path))?;
        check_file(&path.display().to_string(), &text, findings);
    }
    Ok(())
}

fn check_file(name: &str, text: &str, findings: &mut Findings) {
    for (number, line) in code_only(text).lines().enumerate() {
        let code = line.replace('_', "").to_lowercase();
        for single in SINGLES.iter().filter(|single| single.file != name) {
            if single.marks.iter().any(|mark| code.contains(mark)) {
                findings.errors.push(format!("{name}:{}: {}", number + 1, single.remedy));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SINGLES, check_file};
    use crate::findings::Findings;

    #[test]
    fn a_second_generator_is_found_and_the_first_is_not() {
        let text = "//! 0xbf58_476d_1ce4_e5b9\nlet x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);\nunsafe { _mm_prefetch(p) };\n";
        let errors_of = |name| {
            let mut findings = Findings::default();
            check_file(name, text, &mut findings);
            findings.errors
        };
        assert_eq!(errors_of("a.rs").len(), 2, "{:?}", errors_of("a.rs"));
        assert!(errors_of("a.rs")[0].starts_with("a.rs:2: draw random numbers"), "{:?}", errors_of("a.rs"));
        assert_eq!(errors_of(SINGLES[0].file).len(), 1);
    }
}
