//! The core pulls in no async runtime, network, file, clock, randomness or thread, and its lints forbid reaching for
//! those of the standard library. CI also builds it for `wasm32-unknown-unknown`, where there are none.

use std::collections::BTreeSet;

use super::code::{code, dense};
use super::workspace::{cargo, sources, toml};

/// Crates that bring what the core must not have.
const IMPURE: &[&str] = &[
    // Async runtimes.
    "async-io",
    "async-std",
    "futures-executor",
    "mio",
    "polling",
    "smol",
    "tokio",
    // Network.
    "curl",
    "h2",
    "hyper",
    "isahc",
    "native-tls",
    "openssl",
    "quinn",
    "reqwest",
    "rustls",
    "socket2",
    "tungstenite",
    "ureq",
    // Files and stores.
    "fs-err",
    "libsqlite3-sys",
    "memmap2",
    "notify",
    "rusqlite",
    "tempfile",
    "walkdir",
    // Clocks and zones of the machine.
    "iana-time-zone",
    "time",
    "tz-rs",
    // Randomness.
    "fastrand",
    "getrandom",
    "oorandom",
    "rand",
    "rand_core",
    // Threads and locks.
    "crossbeam-channel",
    "crossbeam-utils",
    "parking_lot",
    "rayon",
    "threadpool",
    // The operating system itself.
    "libc",
    "nix",
    "rustix",
    "signal-hook",
    "windows-sys",
];

/// Features of pure crates that make them impure.
const IMPURE_FEATURES: &[(&str, &[&str])] = &[
    ("chrono", &["clock", "now"]),
    ("jiff", &["std", "tz-system", "tz-fat"]),
    (
        "jsonschema",
        &[
            "resolve-http",
            "resolve-file",
            "resolve-async",
            "tls-ring",
            "tls-aws-lc-rs",
        ],
    ),
    ("referencing", &["retrieve-async"]),
    ("uuid", &["rng", "v1", "v4", "v6", "v7", "fast-rng"]),
];

/// What is there all the same, and why that is borne. An entry that no longer applies fails the test.
const BORNE: &[(&str, &str)] = &[
    (
        "chrono/clock",
        "cel's feature `chrono` (its timestamps: the `now` of a rule) asks for it without a switch; nothing calls it, and clippy bans chrono's now()",
    ),
    ("chrono/now", "comes with chrono/clock"),
    (
        "iana-time-zone",
        "comes with chrono/clock; only chrono's Local would ask it, and the rules' zones are compiled in",
    ),
    (
        "getrandom",
        "seeds the hash maps of jsonschema (through ahash): no result depends on their order, and errors are sorted by path",
    ),
    (
        "parking_lot",
        "locks of lazily filled tables in cel's parser and jsonschema's registry: nothing waits, no thread is started",
    ),
    ("libc", "underneath getrandom and parking_lot"),
];

/// `name/feature` and `name` of everything impure in a listing of `name version [features]` lines.
fn impure(listing: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in listing.lines() {
        let name = line.split(' ').next().unwrap_or_default();
        let features = line
            .split_once('[')
            .map_or("", |(_, rest)| rest.split(']').next().unwrap_or_default());
        if IMPURE.contains(&name) {
            found.insert(name.to_owned());
        }
        let banned = IMPURE_FEATURES
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(&[][..], |(_, banned)| banned);
        found.extend(
            features
                .split(',')
                .filter(|feature| banned.contains(feature))
                .map(|feature| format!("{name}/{feature}")),
        );
    }
    found
}

#[test]
fn the_core_brings_nothing_impure() {
    let listing = cargo(&[
        "tree",
        "-p",
        "candor-core",
        "-e",
        "normal",
        "--locked",
        "--prefix",
        "none",
        "-f",
        "{p} [{f}]",
    ]);
    let found = impure(&listing);
    let borne: BTreeSet<String> = BORNE.iter().map(|(name, _)| (*name).to_owned()).collect();
    let new: Vec<_> = found.difference(&borne).collect();
    assert!(
        new.is_empty(),
        "candor-core now pulls in {new:?}; see `cargo tree -p candor-core -e normal -i NAME`"
    );
    // Which of them are there differs between systems; on Linux, where CI runs, all of them are.
    if cfg!(target_os = "linux") {
        let stale: Vec<_> = borne.difference(&found).collect();
        assert!(
            stale.is_empty(),
            "no longer there, take them out of BORNE: {stale:?}"
        );
    }
}

#[test]
fn what_is_impure_is_seen_in_a_listing() {
    let listing = "candor-core v0.1.0 (here) []\ntokio v1.0.0 [rt,net]\nuuid v1.0.0 [std,v7] (*)\njiff v1.0.0 [alloc]\n";
    assert_eq!(
        impure(listing).into_iter().collect::<Vec<_>>(),
        ["tokio", "uuid/v7"]
    );
    assert!(impure("tokio-like v1.0.0 [clock]\nserde v1.0.0 [std]\n").is_empty());
}

#[test]
fn the_lints_of_the_core_repeat_those_of_the_workspace_and_ban_more() {
    let (ours, cores) = (toml("clippy.toml"), toml("crates/candor-core/clippy.toml"));
    for (key, value) in &ours {
        assert_eq!(
            cores.get(key),
            Some(value),
            "crates/candor-core/clippy.toml must repeat {key}: clippy reads only the nearest file"
        );
    }
    let banned: BTreeSet<&str> = ["disallowed-methods", "disallowed-types"]
        .iter()
        .filter_map(|list| cores.get(*list)?.as_array())
        .flatten()
        .filter_map(|entry| entry.get("path")?.as_str())
        .collect();
    for path in [
        "std::fs::File",
        "std::net::TcpStream",
        "std::env::var",
        "std::process::Command",
        "std::thread::spawn",
    ] {
        assert!(banned.contains(path), "{path} is not banned in the core");
    }
    for now in [
        "std::time::Instant::now",
        "std::time::SystemTime::now",
        "jiff::Timestamp::now",
        "uuid::Uuid::now_v7",
    ] {
        assert!(banned.contains(now), "{now} is not banned in the core");
    }
}

/// Modules of the standard library that the core's product code must not even name.
const MODULES: &[&str] = &["fs", "net", "env", "process", "thread", "os"];

/// The modules of `std` that some code names, behind a path or in a `use` with braces.
fn names_modules(text: &str) -> Vec<&'static str> {
    let dense = dense(&code(text));
    let named = |module: &str| {
        dense.contains(&format!("std::{module}::"))
            || dense.contains(&format!("std::{module};"))
            || dense.match_indices("std::{").any(|(at, _)| {
                let group = dense
                    .get(at..)
                    .and_then(|rest| rest.split(';').next())
                    .unwrap_or_default();
                let first = format!("{{{module}");
                let later = format!(",{module}");
                [first, later].iter().any(|start| {
                    group.match_indices(start.as_str()).any(|(at, _)| {
                        let after = group.get(at + start.len()..).and_then(|rest| rest.chars().next());
                        after.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_')
                    })
                })
            })
    };
    MODULES.iter().copied().filter(|module| named(module)).collect()
}

#[test]
fn the_core_names_no_module_that_reaches_outside() {
    for source in sources()
        .iter()
        .filter(|source| source.path.starts_with("crates/candor-core/src/") && source.is_product())
    {
        let named = names_modules(&source.text);
        assert!(named.is_empty(), "{} names std::{named:?}", source.path);
    }
}

#[test]
fn a_module_that_reaches_outside_is_seen() {
    assert_eq!(names_modules("use std::fs::File;"), ["fs"]);
    assert_eq!(names_modules("use std::{fmt, env};"), ["env"]);
    assert_eq!(
        names_modules("use std::{\n    thread::spawn,\n    fmt,\n};"),
        ["thread"]
    );
    assert_eq!(names_modules("std :: process :: exit(1)"), ["process"]);
    assert!(
        names_modules("// std::fs::File\nuse std::fmt;\nuse std::{collections::BTreeMap, time::Duration};")
            .is_empty()
    );
}
