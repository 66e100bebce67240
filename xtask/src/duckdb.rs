//! `cargo xtask duckdb`: the extension of DuckDB, with the footer that DuckDB expects behind a library.
//!
//! The footer says which interface the library speaks and for which system it was built. It ends with room
//! for a signature, which is left empty: DuckDB loads such an extension only where unsigned ones are allowed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the extension goes. DuckDB takes the name of the function that it calls from that of the file.
const OUT: &str = "target/duckdb/esker.duckdb_extension";
/// The C interface that the extension asks for.
const INTERFACE: &str = "v1.2.0";
/// Bytes of a field of the footer, and of the signature.
const FIELD: usize = 32;
const SIGNATURE: usize = 256;
/// What comes before the fields: the footer is a custom section of WebAssembly, on other systems too. Its
/// parts: the kind of section, its length, the length of its name, the name, the length of the rest.
const SECTION: &[u8] = b"\x00\x93\x04\x10duckdb_signature\x80\x04";

/// Builds the released extension, or makes one of a library that was built already.
#[allow(clippy::print_stdout)]
pub(crate) fn run(root: &Path, paths: &[String]) -> Result<bool, String> {
    let (library, out) = match paths {
        [] => (build(root)?, root.join(OUT)),
        [library, out] => (PathBuf::from(library), PathBuf::from(out)),
        _ => return Err("duckdb takes the library and the file to make, or nothing".to_owned()),
    };
    let at = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let mut bytes = fs::read(&library).map_err(|error| at(&library, error))?;
    bytes.extend(footer(&platform()?, env!("CARGO_PKG_VERSION")));
    let folder = out.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
    fs::write(&out, &bytes).map_err(|error| at(&out, error))?;
    println!("{} ({:.1} MB)", out.display(), bytes.len() as f64 / 1e6);
    Ok(true)
}

fn build(root: &Path) -> Result<PathBuf, String> {
    let mut cargo = Command::new("cargo");
    let built = cargo.args(["build", "--release", "-p", "esker-duckdb"]).current_dir(root).status();
    match built {
        Ok(status) if status.success() => Ok(root.join("target/release/libesker_duckdb.so")),
        Ok(status) => Err(format!("cargo build failed ({status})")),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// This system, as DuckDB calls it.
fn platform() -> Result<String, String> {
    let system = match std::env::consts::OS {
        "macos" => "osx",
        system => system,
    };
    match std::env::consts::ARCH {
        "x86_64" => Ok(format!("{system}_amd64")),
        "aarch64" => Ok(format!("{system}_arm64")),
        other => Err(format!("DuckDB has no name for the processor {other}")),
    }
}

/// The footer. Fields come last first; three are unused.
fn footer(platform: &str, version: &str) -> Vec<u8> {
    let mut footer = SECTION.to_vec();
    for field in ["", "", "", "C_STRUCT", version, INTERFACE, platform, "4"] {
        let end = footer.len() + FIELD;
        footer.extend_from_slice(field.as_bytes());
        footer.resize(end, 0);
    }
    footer.resize(footer.len() + SIGNATURE, 0);
    footer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_footer_has_the_length_that_it_states() {
        let footer = footer("linux_amd64", "0.2.0");
        // In groups of seven bits, the lowest first: the section from its name on, and its contents.
        let stated = |low: u8, high: u8| usize::from(low & 0x7f) | usize::from(high) << 7;
        assert_eq!(footer.len() - 3, stated(SECTION[1], SECTION[2]));
        assert_eq!(footer.len() - SECTION.len(), stated(SECTION[20], SECTION[21]));
    }
}
