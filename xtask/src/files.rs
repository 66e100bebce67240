//! Rules about the files of the repository: sizes, links between documents, paths of one machine, widths of
//! comments, numbers of files in a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::findings::Findings;

const FILE_BYTES_MAX: u64 = 3_000_000;
/// Characters of a line with a comment, as rustfmt has it for lines of code.
const COMMENT_CHARS_MAX: usize = 110;
/// Folders that exist on the machine of one developer only. In pieces, so that this file keeps the rule.
const LOCAL_FOLDERS: [&[&str]; 4] =
    [&["", "work", ""], &["", "home", ""], &["", "root", ""], &["", "Users", ""]];
/// Also in documents, where a reader could take it for a place that matters.
const TEMPORARY: &str = "/tmp/";

/// The output of a `git` command, run in the root of the workspace.
pub(crate) fn git(root: &Path, arguments: &[&str]) -> std::io::Result<String> {
    let output = Command::new("git").args(arguments).current_dir(root).output()?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(std::io::Error::other(format!("git {}: {}", arguments.join(" "), reason.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Files under version control and new files that no rule ignores, relative to the root.
pub(crate) fn tracked(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let names = git(root, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    let mut paths: Vec<PathBuf> =
        names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
    paths.retain(|path| root.join(path).is_file());
    Ok(paths)
}

/// Checks every tracked file, and the messages of all commits.
pub(crate) fn check(root: &Path, tracked: &[PathBuf], findings: &mut Findings) -> std::io::Result<()> {
    for path in tracked {
        let bytes = std::fs::read(root.join(path))?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            findings.errors.push(format!(
                "{}: {} bytes, at most {FILE_BYTES_MAX}",
                path.display(),
                bytes.len()
            ));
        }
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let is_document = path.extension().is_some_and(|extension| extension == "md");
        if is_document {
            check_links(root, path, &text, findings);
        }
        if path.extension().is_some_and(|extension| extension == "rs") {
            check_comments(&path.display().to_string(), &text, findings);
        }
        check_paths(&path.display().to_string(), &text, is_document, findings);
    }
    check_folders(tracked, findings);
    check_paths("commit messages", &git(root, &["log", "--format=%B"])?, true, findings);
    Ok(())
}

/// Source files that a folder may have without walls.
const FOLDER_FILES_MAX: usize = 25;
/// The folder that may have more: one file for each verb of the command.
const VERBS: &str = "crates/esker-cli/src/verbs";

/// Reports folders of product code with more Rust files than a reader can keep in mind.
fn check_folders(tracked: &[PathBuf], findings: &mut Findings) {
    let mut counts = BTreeMap::<&Path, usize>::new();
    for path in tracked.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
        let is_product = path.components().any(|part| part.as_os_str() == "src");
        if let (true, Some(folder)) = (is_product, path.parent()) {
            *counts.entry(folder).or_default() += 1;
        }
    }
    for (folder, count) in counts {
        if count > FOLDER_FILES_MAX && folder != Path::new(VERBS) {
            let message =
                format!("{}: {count} Rust files, at most {FOLDER_FILES_MAX}: divide it", folder.display());
            findings.breach("wide-folder", &folder.display().to_string(), message);
        }
    }
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

/// Reports lines that are too wide because of their comment. rustfmt wraps code, and leaves comments as they
/// are.
fn check_comments(name: &str, text: &str, findings: &mut Findings) {
    for (number, line) in text.lines().enumerate() {
        let chars = line.chars().count();
        if chars > COMMENT_CHARS_MAX && (line.trim_start().starts_with("//") || line.contains(" // ")) {
            let message =
                format!("{name}:{}: a comment of {chars} columns, at most {COMMENT_CHARS_MAX}", number + 1);
            findings.breach("wide-comment", name, message);
        }
    }
}

/// Reports absolute paths that mean something on one machine only.
fn check_paths(name: &str, text: &str, is_prose: bool, findings: &mut Findings) {
    let mut folders: Vec<String> = LOCAL_FOLDERS.iter().map(|parts| parts.join("/")).collect();
    if is_prose {
        folders.push(TEMPORARY.to_owned());
    }
    for (number, line) in text.lines().enumerate() {
        for folder in &folders {
            let begins_path = |at: usize| {
                let before = line[..at].chars().next_back().unwrap_or(' ');
                !before.is_alphanumeric() && !['.', '_', '-', '}', '/', ')'].contains(&before)
            };
            if line.match_indices(folder.as_str()).any(|(at, _)| begins_path(at)) {
                findings.errors.push(format!("{name}:{}: names a path of one machine: {folder}", number + 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{FOLDER_FILES_MAX, LOCAL_FOLDERS, VERBS, check_comments, check_folders, check_paths};
    use crate::findings::Findings;

    #[test]
    fn a_folder_of_too_many_files_is_found_but_for_the_verbs() {
        let errors_of = |folder: &str, count: usize| {
            let files: Vec<PathBuf> =
                (0..count).map(|i| PathBuf::from(format!("{folder}/f{i}.rs"))).collect();
            let mut findings = Findings::default();
            check_folders(&files, &mut findings);
            findings.errors
        };
        assert_eq!(errors_of("crates/a/src/b", FOLDER_FILES_MAX), Vec::<String>::new());
        assert_eq!(errors_of("crates/a/src/b", FOLDER_FILES_MAX + 1).len(), 1);
        assert_eq!(errors_of(VERBS, FOLDER_FILES_MAX + 1), Vec::<String>::new());
    }

    #[test]
    fn a_wide_comment_is_found_and_a_wide_text_is_not() {
        let wide = "long ".repeat(22);
        let mut findings = Findings::default();
        let text = format!("/// {wide}\n/// short\nlet a = \"{wide}\";\n    call(); // {wide}\n");
        check_comments("a.rs", &text, &mut findings);
        assert_eq!(findings.errors.len(), 2, "{:?}", findings.errors);
        assert!(findings.errors[1].starts_with("a.rs:4: a comment of 125 columns"), "{:?}", findings.errors);
    }

    #[test]
    fn paths_of_one_machine_are_found_and_parts_of_other_paths_are_not() {
        let local = LOCAL_FOLDERS[1].join("/");
        let text = format!("see {local}me/x\nsee ./a{local}b and https://x.org{local}\nsee /tmp/x\n");
        let errors_of = |is_prose| {
            let mut findings = Findings::default();
            check_paths("a.md", &text, is_prose, &mut findings);
            findings.errors
        };
        assert_eq!(errors_of(false).len(), 1, "{:?}", errors_of(false));
        assert!(errors_of(true)[1].starts_with("a.md:3:"), "{:?}", errors_of(true));
    }
}
