//! The crates of others: their licences against deny.toml, and no second version without a reason there.
//! (`just deny` asks cargo-deny the same and more, where it is installed: advisories and sources.)

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::licence::satisfied;
use super::workspace::{list, metadata, platforms, toml, word};

/// Two of these would be two truths: two runtimes, two readers of JSON, two stores.
const SINGLE: &[&str] = &[
    "cel",
    "jiff",
    "jsonschema",
    "libsqlite3-sys",
    "rusqlite",
    "serde",
    "serde_json",
    "sha2",
    "tokio",
    "tracing",
    "uuid",
];

/// The packages that are really built for our platforms, ours left out.
fn packages() -> Vec<&'static Value> {
    let resolve = metadata().get("resolve").expect("cargo metadata resolves");
    let built: BTreeSet<&str> = list(resolve, "nodes")
        .iter()
        .map(|node| word(node, "id"))
        .collect();
    let all = list(metadata(), "packages").iter();
    all.filter(|package| {
        built.contains(word(package, "id")) && package.get("source").is_some_and(Value::is_string)
    })
    .collect()
}

fn texts(table: &toml::Table, section: &str, key: &str) -> Vec<String> {
    let found = table
        .get(section)
        .and_then(|section| section.get(key))
        .and_then(toml::Value::as_array);
    let found = found.unwrap_or_else(|| panic!("deny.toml has no {section}.{key}"));
    found
        .iter()
        .filter_map(toml::Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_licence_is_allowed() {
    let allowed = texts(&toml("deny.toml"), "licenses", "allow");
    let refused: Vec<_> = packages()
        .into_iter()
        .map(|package| {
            (
                word(package, "name"),
                package.get("license").and_then(Value::as_str).unwrap_or_default(),
            )
        })
        .filter(|(_, licence)| !satisfied(licence, &allowed))
        .collect();
    assert!(
        refused.is_empty(),
        "not satisfied by licenses.allow of deny.toml: {refused:?}"
    );
    assert!(
        packages().len() > 50,
        "cargo metadata names only {} crates",
        packages().len()
    );
}

#[test]
fn no_licence_is_allowed_for_nothing() {
    let allowed = texts(&toml("deny.toml"), "licenses", "allow");
    for one in &allowed {
        let others: Vec<String> = allowed.iter().filter(|other| *other != one).cloned().collect();
        let needs_it = |package: &&Value| {
            package
                .get("license")
                .and_then(Value::as_str)
                .is_some_and(|licence| !satisfied(licence, &others))
        };
        assert!(
            packages().iter().any(needs_it),
            "no crate needs {one}: take it out of deny.toml"
        );
    }
}

/// Every version that is there beside the newest one of its crate, as deny.toml writes it.
fn doubles(versions: &BTreeMap<&str, Vec<&str>>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let newest = versions.iter().copied().max_by_key(|version| numbers(version));
        found.extend(
            versions
                .iter()
                .filter(|version| Some(**version) != newest)
                .map(|version| format!("{name}@{version}")),
        );
    }
    found
}

fn numbers(version: &str) -> Vec<u64> {
    let release = version.split(['-', '+']).next().unwrap_or_default();
    release.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

fn versions() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages() {
        versions
            .entry(word(package, "name"))
            .or_default()
            .push(word(package, "version"));
    }
    versions
}

#[test]
fn no_crate_comes_twice_without_a_reason() {
    let deny = toml("deny.toml");
    let skipped = deny
        .get("bans")
        .and_then(|bans| bans.get("skip"))
        .and_then(toml::Value::as_array)
        .expect("bans.skip");
    let mut borne = BTreeSet::new();
    for entry in skipped {
        let text = |key: &str| entry.get(key).and_then(toml::Value::as_str).unwrap_or_default();
        assert!(
            text("reason").len() > 10,
            "bans.skip of deny.toml: {} needs a reason",
            text("crate")
        );
        borne.insert(text("crate").to_owned());
    }
    let found = doubles(&versions());
    let new: Vec<_> = found.difference(&borne).collect();
    assert!(
        new.is_empty(),
        "a second version came in: {new:?}; see `cargo tree -d`, or give a reason in bans.skip of deny.toml"
    );
    let stale: Vec<_> = borne.difference(&found).collect();
    assert!(
        stale.is_empty(),
        "no longer there twice, take them out of bans.skip of deny.toml: {stale:?}"
    );
}

#[test]
fn what_must_be_single_is() {
    let versions = versions();
    for name in SINGLE {
        let found = versions
            .get(name)
            .unwrap_or_else(|| panic!("{name} is gone: take it out of SINGLE"));
        assert_eq!(
            found.len(),
            1,
            "{name} is there in {found:?}: no reason in deny.toml can excuse that"
        );
    }
}

#[test]
fn doubles_are_told_from_single_crates() {
    let versions = BTreeMap::from([
        ("a", vec!["1.10.0", "1.9.2"]),
        ("b", vec!["2.0.0"]),
        ("c", vec!["0.1.0", "0.2.0-rc.1"]),
    ]);
    assert_eq!(
        doubles(&versions).into_iter().collect::<Vec<_>>(),
        ["a@1.9.2", "c@0.1.0"]
    );
}

#[test]
fn the_system_these_tests_run_on_is_one_candor_is_built_for() {
    let here = format!("{}-", std::env::consts::ARCH);
    assert!(
        platforms().iter().any(|name| name.starts_with(&here)),
        "deny.toml's graph.targets: {:?}",
        platforms()
    );
}
