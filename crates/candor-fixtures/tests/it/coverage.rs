//! Every row of the decision table that bytes on stdio can produce is produced by a fixture, and every fixture's case
//! stands for a row that is there.

#![expect(
    clippy::unwrap_used,
    reason = "a test may fail by panicking, in its shared parts too"
)]

use std::collections::BTreeSet;

use candor_fixtures::{CATALOG, script::Case};
use serde::Deserialize;

/// Ways a call can end that no server's bytes produce, with the reason.
const NOT_BY_A_SERVER: &[(&str, &str)] = &[
    ("malformed", "the host's own request is not a call"),
    ("unauthorised", "stdio has no credentials"),
    ("foreign", "stdio has one tenant"),
    ("unconfirmed", "asked of the user, before anything is sent"),
    ("limited", "Candor's own limit"),
    ("resting", "Candor leaves the server alone"),
    ("unrecorded", "the ledger's state"),
    ("key_conflict", "the caller's own key, used twice"),
    ("key_unknown", "the caller's own key, used twice"),
    ("replayed", "the caller's own key, used twice"),
    ("unsettled", "the ledger's state"),
    ("cancelled_unsent", "the host cancels before anything is sent"),
    ("http_refused", "HTTP only"),
    ("http_broken", "HTTP only"),
    ("crashed", "Candor itself is killed"),
    ("settled_applied", "a person's word"),
    ("settled_not_applied", "a person's word"),
    ("told", "only a tool written with the library says so itself"),
    (
        "panicked",
        "only a tool written with the library is seen to panic",
    ),
];

#[derive(Deserialize)]
struct Table {
    how: toml::Table,
    case: Vec<Rows>,
}

#[derive(Deserialize)]
struct Rows {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    how: String,
    #[serde(default)]
    class: Option<String>,
    #[serde(default)]
    contract: Option<String>,
}

fn table() -> Table {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-core/decisions.toml");
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn cases() -> Vec<(String, Case)> {
    let scripts = CATALOG.iter().map(|entry| (entry.name, entry.script().unwrap()));
    let tools = scripts.flat_map(|(name, script)| script.tools.into_iter().map(move |tool| (name, tool)));
    tools
        .flat_map(|(name, tool)| {
            let place = format!("{name}/{}", tool.name().unwrap());
            tool.cases.into_iter().map(move |case| (place.clone(), case))
        })
        .collect()
}

#[test]
fn every_row_that_a_server_can_produce_has_a_case() {
    let proven: BTreeSet<(String, String, String)> = cases()
        .into_iter()
        .flat_map(|(_, case)| {
            case.class
                .clone()
                .into_iter()
                .map(move |class| (case.how.clone(), class, case.contract.clone()))
        })
        .collect();
    let exempt: BTreeSet<&str> = NOT_BY_A_SERVER.iter().map(|(how, _)| *how).collect();
    let missing: Vec<_> = table()
        .case
        .into_iter()
        .flat_map(|rows| rows.rows)
        .filter(|row| !exempt.contains(row.how.as_str()))
        .map(|row| {
            (
                row.how,
                row.class.unwrap_or_else(|| "write".to_owned()),
                row.contract.unwrap_or_else(|| "none".to_owned()),
            )
        })
        .filter(|row| !proven.contains(row))
        .collect();
    assert!(missing.is_empty(), "rows that no fixture produces: {missing:?}");
}

#[test]
fn every_case_names_a_row_and_no_exemption_is_stale() {
    let how = table().how;
    for (place, case) in cases() {
        assert!(
            how.contains_key(&case.how),
            "{place}: no such way to end: {}",
            case.how
        );
        let exempt = NOT_BY_A_SERVER.iter().find(|(exempt, _)| *exempt == case.how);
        assert!(exempt.is_none(), "{place}: proves {exempt:?}, which is exempt");
        let leaves_it = ["late", "unlisted_tools"].contains(&case.how.as_str());
        assert_eq!(
            case.own.is_some(),
            leaves_it,
            "{place}: {} and its own row",
            case.how
        );
        for class in &case.class {
            assert!(
                ["read", "write", "idempotent"].contains(&class.as_str()),
                "{place}: class {class}"
            );
        }
    }
    for (exempt, _) in NOT_BY_A_SERVER {
        assert!(how.contains_key(*exempt), "{exempt} is exempt and does not exist");
    }
}

#[test]
fn a_reading_other_than_none_has_a_mapping_to_read_it_with() {
    for entry in CATALOG {
        for tool in entry.script().unwrap().tools {
            for case in &tool.cases {
                assert!(
                    case.contract == "none" || tool.mapping.is_some() || tool.contract.is_some(),
                    "{}/{}: {} without a mapping",
                    entry.name,
                    tool.name().unwrap(),
                    case.contract
                );
            }
        }
    }
}
