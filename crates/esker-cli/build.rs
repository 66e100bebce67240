//! Makes the released program smaller by two options of the linker, where they work: 1.3 MB.
//!
//! `lld`, the default of Rust on most machines, knows both; the linker of GNU knows the second in newer
//! versions. A program with packed relocations starts only where the C library knows them (glibc 2.36 or
//! later). So an empty program is linked first, and started.

#![allow(clippy::print_stdout)] // Cargo reads it.

use std::env::var;
use std::process::{Command, Stdio};

/// Folds functions of the same code into one.
const FOLD: &str = "-Wl,--icf=all";
/// Stores the addresses to relocate as a bitmap instead of 24 bytes each.
const PACK: &str = "-Wl,-z,pack-relative-relocs";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if !var("PROFILE").is_ok_and(|profile| profile == "release") {
        return;
    }
    for option in [FOLD, PACK] {
        if works(option) {
            println!("cargo::rustc-link-arg-bins={option}");
        }
    }
}

/// Whether an empty program that is built with this option, as the command will be, can be linked and
/// started.
fn works(option: &str) -> bool {
    let (Ok(rustc), Ok(out), Ok(target)) = (var("RUSTC"), var("OUT_DIR"), var("TARGET")) else {
        return false;
    };
    let program = format!("{out}/probe");
    let mut probe = Command::new(rustc);
    probe.args(["-", "--crate-name", "probe", "--target", &target, "-o", &program]);
    probe.args(["-C", &format!("link-arg={option}")]);
    if let Ok(linker) = var("RUSTC_LINKER") {
        probe.args(["-C", &format!("linker={linker}")]);
    }
    let flags = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    probe.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    // The program comes from standard input.
    let linking = probe.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let is_linked = linking.is_ok_and(|mut linking| {
        let given = linking
            .stdin
            .take()
            .is_some_and(|mut input| std::io::Write::write_all(&mut input, b"fn main() {}").is_ok());
        given && linking.wait().is_ok_and(|ended| ended.success())
    });
    // A program for another machine cannot be started here.
    is_linked && var("HOST").is_ok_and(|host| host == target) && succeeds(&mut Command::new(program))
}

fn succeeds(command: &mut Command) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|ended| ended.success())
}
