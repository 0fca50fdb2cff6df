//! The official conformance suite against the everything-server: every check passes, or its failure has a written reason.
//! `scripts/conformance.sh` installs the suite.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may fail by panicking, in its shared parts too"
)]

mod page;
#[path = "../../examples/everything/server/mod.rs"]
mod server;
mod suite;

use serde::Deserialize;
use suite::{Scenario, Status, Suite};

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// A failure that is known, and why it is there.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Known {
    revision: String,
    scenario: String,
    check: String,
    reason: String,
}

#[derive(Debug, Default, Deserialize)]
struct Failures {
    #[serde(default)]
    failure: Vec<Known>,
}

/// What failed and is not listed, what is listed and passes, what is listed without a reason.
fn faults(known: &[Known], played: &[(&str, Vec<Scenario>)]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut met = vec![false; known.len()];
    for (revision, scenarios) in played {
        for scenario in scenarios {
            for check in &scenario.checks {
                if !matches!(check.status, Status::Failure | Status::Warning) {
                    continue;
                }
                let at = known.iter().position(|known| {
                    known.revision == *revision && known.scenario == scenario.name && known.check == check.id
                });
                match at {
                    Some(at) => met[at] = true,
                    None => faults.push(format!(
                        "{revision} {} {}: {:?} {}",
                        scenario.name, check.id, check.status, check.message
                    )),
                }
            }
        }
    }
    for (known, met) in known.iter().zip(met) {
        let name = format!("{} {} {}", known.revision, known.scenario, known.check);
        if !met {
            faults.push(format!("{name}: is listed as a failure, and passes"));
        }
        if known.reason.trim().len() < 20 {
            faults.push(format!("{name}: is listed without a reason"));
        }
    }
    faults
}

#[tokio::test(flavor = "multi_thread")]
async fn the_everything_server_conforms() {
    let Some(suite) = Suite::installed() else { return };
    let known: Failures = toml::from_str(include_str!("failures.toml")).unwrap();
    let url = server::listen(0).await.expect("a port of loopback is free");
    let mut played = Vec::new();
    for revision in REVISIONS {
        played.push((revision, suite.play(&url, revision).await));
    }
    let faults = faults(&known.failure, &played);
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
    page::hold(&suite.version(), &known.failure, &played);
}

#[test]
fn failures_without_an_entry_and_entries_without_a_failure_are_both_faults() {
    let check = |id: &str, status| suite::Check {
        id: id.to_owned(),
        status,
        message: String::new(),
    };
    let checks = vec![
        check("a", Status::Failure),
        check("b", Status::Success),
        check("c", Status::Skipped),
    ];
    let scenario = Scenario {
        name: "s".to_owned(),
        scored: true,
        checks,
    };
    let played = [("r", vec![scenario])];
    let known = |check: &str, reason: &str| Known {
        revision: "r".to_owned(),
        scenario: "s".to_owned(),
        check: check.to_owned(),
        reason: reason.to_owned(),
    };
    let reason = "the suite asks for what the revision forbids";
    assert_eq!(faults(&[known("a", reason)], &played), Vec::<String>::new());
    assert_eq!(faults(&[], &played).len(), 1);
    assert_eq!(
        faults(&[known("a", reason), known("b", reason)], &played).len(),
        1
    );
    assert_eq!(faults(&[known("a", "")], &played).len(), 1);
}
