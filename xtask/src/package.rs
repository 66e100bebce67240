//! `cargo xtask package`: rehearses a release. Makes the package of every crate, in the order in which they
//! would be published, and looks into each. Publishes nothing.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What each package has.
const NEEDED: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT"];
/// What it may have besides, made by cargo.
const MADE: [&str; 3] = [".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml.orig"];
/// What it may have besides: programs, and folders.
const ALLOWED: [&str; 3] = ["build.rs", "src", "examples"];
/// What the registry shows of a crate, and what it demands.
const FIELDS: [&str; 5] = ["description", "license", "readme", "keywords", "categories"];
/// The most bytes that the registry takes.
const BYTES_MAX: u64 = 10 << 20;

/// Makes the packages and compiles each unless `compiles` is false. Returns whether all could be published.
#[allow(clippy::print_stdout)]
pub(crate) fn run(root: &Path, compiles: bool) -> Result<bool, String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join("crates")).map_err(|error| error.to_string())? {
        names.push(entry.map_err(|error| error.to_string())?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let mut command = Command::new("cargo");
    command.args(["package", "--allow-dirty", "--quiet"]).current_dir(root);
    names.iter().for_each(|name| _ = command.args(["--package", name]));
    if !compiles {
        command.arg("--no-verify");
    }
    if !command.status().map_err(|error| error.to_string())?.success() {
        return Err("cargo made no packages".to_owned());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let mut is_sound = true;
    println!("| package | files | KiB | faults |\n| --- | ---: | ---: | --- |");
    for name in &names {
        let file = package_of(&target.join("package"), name)?;
        let bytes = fs::metadata(&file).map_err(|error| error.to_string())?.len();
        let (paths, manifest) = (listed(&file)?, manifest(&file)?);
        let mut faults = faults(&paths, &manifest);
        if bytes > BYTES_MAX {
            faults.push("larger than the registry takes".to_owned());
        }
        is_sound &= faults.is_empty();
        println!("| {name} | {} | {} | {} |", paths.len(), bytes.div_ceil(1024), faults.join("; "));
    }
    Ok(is_sound)
}

/// The newest package of a crate, whatever its version.
fn package_of(directory: &Path, name: &str) -> Result<std::path::PathBuf, String> {
    let entries = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let is_one = |file: &str| {
        let version = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    };
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let named = files.filter(|path| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.ends_with(".crate") && is_one(&file)
    });
    let newest = named.max_by_key(|path| fs::metadata(path).and_then(|found| found.modified()).ok());
    newest.ok_or_else(|| format!("there is no package of {name}"))
}

/// The standard output of `tar`.
fn tar(arguments: &[&str], file: &Path) -> Result<String, String> {
    let made = Command::new("tar").args(arguments).arg(file).stderr(Stdio::inherit()).output();
    let made = made.map_err(|error| format!("tar: {error}"))?;
    if made.status.success() {
        return Ok(String::from_utf8_lossy(&made.stdout).into_owned());
    }
    Err(format!("tar cannot read {}", file.display()))
}

/// The paths in a package, without the folder that all have in common.
fn listed(file: &Path) -> Result<Vec<String>, String> {
    let list = tar(&["--list", "--gzip", "--file"], file)?;
    Ok(list.lines().filter_map(|line| Some(line.split_once('/')?.1.to_owned())).collect())
}

/// The manifest that the registry reads.
fn manifest(file: &Path) -> Result<String, String> {
    tar(&["--extract", "--to-stdout", "--gzip", "--wildcards", "*/Cargo.toml", "--file"], file)
}

/// What keeps a package from being published as it should be.
fn faults(paths: &[String], manifest: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for needed in NEEDED.iter().filter(|&&needed| !paths.iter().any(|path| path == needed)) {
        faults.push(format!("no {needed}"));
    }
    let is_stray = |path: &&String| {
        let first = path.split('/').next().unwrap_or_default();
        ![&NEEDED[..], &MADE, &ALLOWED].concat().contains(&first)
    };
    faults.extend(paths.iter().filter(is_stray).map(|path| format!("stray {path}")));
    let has = |field: &str| manifest.lines().any(|line| line.starts_with(&format!("{field} = ")));
    faults.extend(FIELDS.iter().filter(|field| !has(field)).map(|field| format!("no {field}")));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lacks_or_strays_is_found() {
        let paths = |paths: &[&str]| paths.iter().map(|&path| path.to_owned()).collect::<Vec<_>>();
        let manifest = FIELDS.map(|field| format!("{field} = \"\"\n")).concat();
        let sound = ["Cargo.toml", "Cargo.lock", "README.md", "LICENSE-APACHE", "LICENSE-MIT", "src/lib.rs"];
        assert_eq!(faults(&paths(&sound), &manifest), [""; 0]);
        let found =
            faults(&paths(&["Cargo.toml", "LICENSE-MIT", "LICENSE-APACHE", "tests/all.rs"]), "keywords = []");
        let expected = [
            "no README.md",
            "stray tests/all.rs",
            "no description",
            "no license",
            "no readme",
            "no categories",
        ];
        assert_eq!(found, expected);
    }
}
