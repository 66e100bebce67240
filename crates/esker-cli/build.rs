//! Has the linker fold functions of the same code into one, where it can: half a megabyte of the program.
//!
//! `lld`, the default of Rust on most machines, knows the option, the linker of GNU does not. So an empty program is linked first.

#![allow(clippy::print_stdout)] // Cargo reads it.

use std::env::var;
use std::process::{Command, Stdio};

const FOLD: &str = "-Wl,--icf=all";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if var("PROFILE").is_ok_and(|profile| profile == "release") && links_with(FOLD) {
        println!("cargo::rustc-link-arg-bins={FOLD}");
    }
}

/// Whether an empty program links with this option, built as the command will be.
fn links_with(option: &str) -> bool {
    let (Ok(rustc), Ok(out), Ok(target)) = (var("RUSTC"), var("OUT_DIR"), var("TARGET")) else {
        return false;
    };
    let mut probe = Command::new(rustc);
    probe.args(["-", "--crate-name", "probe", "--target", &target, "-o", &format!("{out}/probe")]);
    probe.args(["-C", &format!("link-arg={option}")]);
    if let Ok(linker) = var("RUSTC_LINKER") {
        probe.args(["-C", &format!("linker={linker}")]);
    }
    let flags = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    probe.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    // The program comes from standard input.
    let linking = probe.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    linking.is_ok_and(|mut linking| {
        let given = linking
            .stdin
            .take()
            .is_some_and(|mut input| std::io::Write::write_all(&mut input, b"fn main() {}").is_ok());
        given && linking.wait().is_ok_and(|ended| ended.success())
    })
}
