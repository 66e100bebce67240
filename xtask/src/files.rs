//! Rules about the files of the repository: sizes, links in the documents, words that must not occur.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::findings::Findings;

const FILE_BYTES_MAX: u64 = 3_000_000;

/// Files under version control or about to be, relative to the root.
pub(crate) fn tracked(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()?;
    if !output.status.success() {
        return Err(std::io::Error::other("git ls-files failed: run inside a checkout"));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    let mut paths: Vec<PathBuf> =
        names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
    paths.retain(|path| root.join(path).is_file());
    Ok(paths)
}

/// Checks every tracked file.
pub(crate) fn check(root: &Path, tracked: &[PathBuf], findings: &mut Findings) -> std::io::Result<()> {
    for path in tracked {
        let length = std::fs::metadata(root.join(path))?.len();
        if length > FILE_BYTES_MAX {
            findings.errors.push(format!("{}: {length} bytes, at most {FILE_BYTES_MAX}", path.display()));
        }
        if path.extension().is_some_and(|extension| extension == "md") {
            check_links(root, path, &std::fs::read_to_string(root.join(path))?, findings);
        }
    }
    Ok(())
}

/// Reports relative links to files that do not exist.
fn check_links(root: &Path, path: &Path, text: &str, findings: &mut Findings) {
    for (number, line) in text.lines().enumerate() {
        for (at, _) in line.match_indices("](") {
            let target = line[at + 2..].split(')').next().unwrap_or("");
            let file = target.split('#').next().unwrap_or("");
            if file.is_empty() || file.contains("://") || file.starts_with("mailto:") {
                continue;
            }
            let folder = root.join(path).parent().map(Path::to_owned).unwrap_or_default();
            if !folder.join(file).exists() {
                findings.errors.push(format!("{}:{}: broken link to {file}", path.display(), number + 1));
            }
        }
    }
}
