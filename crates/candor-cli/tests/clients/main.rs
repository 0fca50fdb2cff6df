//! The official SDKs' clients, each through a whole session with Candor between: what their callers are shown of every
//! outcome. `sessions.toml` says what is done and what must be seen; `scripts/clients.sh` installs the clients.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may fail by panicking, in its shared parts too"
)]

#[path = "../it/harness/contract.rs"]
mod contract;
#[path = "../it/harness/decisions.rs"]
mod decisions;
mod judge;
mod official;
mod plan;
mod record;
mod rmcp_client;
mod sessions;
mod tasks;

use plan::Plan;
use sessions::{ALL, openings};

/// Plays every session with one client in each of its eras, and holds what its caller saw, and the ledger, to the expectations.
fn holds_for(name: &str, play: impl FnOnce(&Plan) -> Option<Vec<judge::Seen>>) {
    let plan = Plan::of(name);
    let Some(seen) = play(&plan) else { return };
    let mut faults = judge::faults(&plan, &seen);
    faults.extend(record::faults(&plan, &seen));
    assert!(
        faults.is_empty(),
        "{} faults with {name}:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn the_typescript_sdk_1_shows_the_honest_answer() {
    holds_for("typescript-1", |plan| {
        official::typescript("v1.mjs", &plan.path())
    });
}

#[test]
fn the_typescript_sdk_2_shows_the_honest_answer() {
    holds_for("typescript-2", |plan| {
        official::typescript("v2.mjs", &plan.path())
    });
}

#[test]
fn the_python_sdk_1_shows_the_honest_answer() {
    holds_for("python-1", |plan| official::python("1", &plan.path()));
}

#[test]
fn the_python_sdk_2_shows_the_honest_answer() {
    holds_for("python-2", |plan| official::python("2", &plan.path()));
}

#[test]
fn the_rust_sdk_shows_the_honest_answer() {
    holds_for("rmcp", |plan| Some(rmcp_client::play(plan)));
}

#[test]
fn every_opening_is_shown_to_every_client_in_each_of_its_eras() {
    for client in &ALL.client {
        for era in client.eras.iter().filter(|era| era.is_fixed()) {
            let steps = ALL.session.iter().filter(|session| session.eras.contains(era));
            let steps = steps.flat_map(|session| &session.step);
            let steps = steps.filter(|step| step.eras.contains(era));
            let seen = steps.map(|step| step.expected(client, *era));
            let shown: Vec<String> = seen
                .filter(|seen| seen.throws.is_none())
                .filter_map(|seen| Some(seen.row?.row().opening))
                .collect();
            let missing: Vec<_> = openings()
                .into_iter()
                .filter(|opening| !shown.contains(opening))
                .collect();
            assert!(missing.is_empty(), "{} in {era:?}: {missing:?}", client.name);
        }
    }
}
