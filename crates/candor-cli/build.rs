//! Packs the program's relocations where the system's loader can read them packed.
//!
//! There are some 55,000, of 24 bytes each, and the loader reads them all at every start: unpacked they are a tenth of the
//! memory that a wrapping process holds.

use std::env;
use std::process::Command;

/// The first glibc whose loader knows them (DT_RELR).
const PACKED_SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Only where the program will find the C library that it is built beside. A binary that is built for older systems is
    // built on one.
    let built_for_here = env::var("HOST").ok() == env::var("TARGET").ok();
    if built_for_here && glibc().is_some_and(|version| version >= PACKED_SINCE) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this system's glibc; nothing where the target has none, or it is not known.
fn glibc() -> Option<(u32, u32)> {
    let is_gnu =
        env::var("CARGO_CFG_TARGET_OS").ok()? == "linux" && env::var("CARGO_CFG_TARGET_ENV").ok()? == "gnu";
    if !is_gnu {
        return None;
    }
    // It prints "glibc 2.36".
    let printed = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(printed.stdout).ok()?;
    let (major, minor) = text.split_whitespace().nth(1)?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
