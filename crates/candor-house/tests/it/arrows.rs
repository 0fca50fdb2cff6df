//! Arrows between our crates point down only (DESIGN section 5), and some crates of others stay on one floor.

use serde_json::{Value, json};

use super::workspace::{list, members, toml, word};

/// Each crate, and the crates of ours that it may build on. A crate that is not in this list fails the test: give it
/// a floor here first.
const FLOORS: &[(&str, &[&str])] = &[
    ("candor-core", &[]),
    ("candor-transport", &[]),
    ("candor-ledger", &[]),
    (
        "candor-gateway",
        &["candor-core", "candor-transport", "candor-ledger"],
    ),
    ("candor-fixtures", &[]),
    (
        "candor-cli",
        &[
            "candor-core",
            "candor-transport",
            "candor-ledger",
            "candor-gateway",
            "candor-fixtures",
        ],
    ),
    // Beside the gateway: a server that has it needs neither gateway nor ledger.
    ("candor", &["candor-core"]),
    ("candor-house", &[]),
    (
        "candor-fuzz",
        &["candor-core", "candor-transport", "candor-gateway"],
    ),
    // It measures the program that is shipped, from outside.
    ("candor-bench", &[]),
];

/// Everyone's tests may use the servers that lie.
const FOR_TESTS: &[&str] = &["candor-fixtures"];

/// Crates of others that belong to one place, and why.
const KEPT_TO: &[(&str, &[&str], &str)] = &[
    (
        "anyhow",
        &["candor-cli", "candor-bench"],
        "below the roof an error is an enum whose variants can be matched and counted",
    ),
    ("clap", &["candor-cli"], "only the roof reads a command line"),
    (
        "mimalloc",
        &["candor-cli"],
        "a library never chooses the allocator",
    ),
    (
        "tracing-subscriber",
        &["candor-cli"],
        "a library never decides where logs go",
    ),
    (
        "rmcp",
        &["candor"],
        "it drops what it does not know: what the library stands beside, another end in tests, never on the data path",
    ),
    (
        "rusqlite",
        &["candor-ledger", "candor"],
        "only the ledger knows where records are; the library keeps its tasks in a file of its own, if asked to",
    ),
    ("jsonschema", &["candor-core"], "schemas are judged in one place"),
    ("cel", &["candor-core"], "rules are judged in one place"),
];

/// What is wrong with the arrows of these packages.
fn wrong(packages: &[&Value]) -> Vec<String> {
    packages.iter().flat_map(|package| wrong_of(package)).collect()
}

fn wrong_of(package: &Value) -> Vec<String> {
    let name = word(package, "name");
    let Some((_, allowed)) = FLOORS.iter().find(|(known, _)| *known == name) else {
        return vec![format!(
            "{name} has no floor: add it to FLOORS in this test, and to DESIGN's picture"
        )];
    };
    let mut faults = Vec::new();
    for dependency in list(package, "dependencies") {
        let wanted = word(dependency, "name");
        let for_tests = dependency.get("kind").and_then(Value::as_str) == Some("dev");
        let known = FLOORS.iter().any(|(known, _)| *known == wanted);
        // A crate's tests may ask for more of itself: a feature.
        let for_tests_alone = for_tests && (FOR_TESTS.contains(&wanted) || wanted == name);
        if known && !allowed.contains(&wanted) && !for_tests_alone {
            faults.push(format!("{name} -> {wanted}: this arrow does not point down"));
        }
        let kept = KEPT_TO
            .iter()
            .find(|(kept, places, _)| *kept == wanted && !places.contains(&name));
        if let Some((_, _, why)) = kept.filter(|_| !for_tests) {
            faults.push(format!("{name} -> {wanted}: {why}"));
        }
    }
    faults
}

#[test]
fn arrows_point_down_only() {
    assert_eq!(wrong(&members()), Vec::<String>::new());
    assert_eq!(
        members().len(),
        FLOORS.len(),
        "a crate in FLOORS is gone: take it out"
    );
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    for (name, _) in FLOORS {
        let manifest = toml(&format!("crates/{name}/Cargo.toml"));
        let lints = manifest
            .get("lints")
            .and_then(|lints| lints.get("workspace"))
            .and_then(toml::Value::as_bool);
        assert_eq!(
            lints,
            Some(true),
            "crates/{name}/Cargo.toml needs [lints] workspace = true"
        );
    }
}

#[test]
fn every_dependency_of_the_workspace_is_used() {
    let root = toml("Cargo.toml");
    let table = root
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"));
    let named: Vec<_> = table
        .and_then(toml::Value::as_table)
        .expect("a table of dependencies")
        .keys()
        .collect();
    let used = |name: &str| {
        members().iter().any(|package| {
            list(package, "dependencies")
                .iter()
                .any(|found| word(found, "name") == name)
        })
    };
    let unused: Vec<_> = named.into_iter().filter(|name| !used(name)).collect();
    assert!(
        unused.is_empty(),
        "in the root Cargo.toml and used by no crate: {unused:?}"
    );
}

#[test]
fn an_arrow_that_points_up_or_sideways_is_found() {
    let package = |name: &str, wanted: &str, kind: Value| json!({ "name": name, "dependencies": [{ "name": wanted, "kind": kind }] });
    let wrong_ones = [
        package("candor-core", "candor-ledger", Value::Null),
        package("candor-ledger", "candor-core", json!("dev")),
        package("candor-gateway", "candor-cli", json!("build")),
        package("candor-gateway", "candor-fixtures", Value::Null),
        package("candor-cli", "candor-house", json!("dev")),
        package("candor-bench", "candor-gateway", Value::Null),
        package("candor-core", "candor-fuzz", json!("dev")),
        package("candor-new", "serde", Value::Null),
        package("candor-gateway", "anyhow", Value::Null),
        package("candor-gateway", "rmcp", Value::Null),
        package("candor", "candor-ledger", Value::Null),
        package("candor", "candor", Value::Null),
        package("candor-gateway", "candor", Value::Null),
    ];
    for one in &wrong_ones {
        assert_eq!(wrong(&[one]).len(), 1, "{one}");
    }
    let right_ones = [
        package("candor-gateway", "candor-core", Value::Null),
        package("candor-ledger", "candor-fixtures", json!("dev")),
        package("candor-cli", "candor-fixtures", Value::Null),
        package("candor-cli", "anyhow", Value::Null),
        package("candor-bench", "anyhow", Value::Null),
        package("candor-fuzz", "candor-gateway", Value::Null),
        package("candor-cli", "rmcp", json!("dev")),
        package("candor", "rmcp", Value::Null),
        package("candor", "candor", json!("dev")),
        package("candor-core", "serde", Value::Null),
    ];
    for one in &right_ones {
        assert_eq!(wrong(&[one]), Vec::<String>::new(), "{one}");
    }
}
