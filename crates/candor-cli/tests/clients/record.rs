//! Holds the ledger against what callers were shown: each call is there once, with the verdict of its row, also where a client
//! hid it from its caller.

use std::process::Command;

use serde_json::{Value, json};

use crate::{
    decisions::Row,
    judge::{self, Seen, VERDICT},
    plan::{Plan, Turn, candor},
    sessions::{Client, Step},
};

/// Everything in the ledgers of a plan that is not as expected.
pub(crate) fn faults(plan: &Plan, seen: &[Seen]) -> Vec<String> {
    let mut faults = Vec::new();
    for turn in plan.turns.iter().filter(|turn| !turn.session.bare) {
        let calls = calls(turn);
        let found = of_turn(plan.client, turn, &calls, seen);
        faults.extend(
            found
                .into_iter()
                .map(|fault| format!("ledger of {} ({:?}): {fault}", turn.session.name, turn.era)),
        );
    }
    faults
}

/// What `candor calls` says of a session, oldest first.
fn calls(turn: &Turn) -> Vec<Value> {
    let output = Command::new(candor())
        .args(["calls", "--json", "--limit", "1000", "--ledger"])
        .arg(&turn.ledger)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "candor calls: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = String::from_utf8(output.stdout).unwrap();
    let mut calls: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    calls.reverse();
    calls
}

fn of_turn(client: &Client, turn: &Turn, calls: &[Value], seen: &[Seen]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut rest = calls.iter();
    for step in turn.steps() {
        let own = step.expected(client, turn.era).row;
        if let Some(name) = &own {
            faults.extend(of_call(step, &name.row(), rest.next()));
        }
        let last = calls
            .len()
            .checked_sub(rest.len() + 1)
            .map(|at| &calls[at]["operationId"]);
        let shown = judge::saw(seen, turn, &step.name)
            .and_then(|saw| saw["result"].pointer(&format!("{VERDICT}/operationId")));
        if own.is_some() && shown.is_some() && shown != last {
            faults.push(format!(
                "{}: the caller was shown operation {shown:?}, not {last:?}",
                step.name
            ));
        }
    }
    // A call that a client, or Candor, repeated by itself would be left over: that must not happen.
    let in_pair = |call: &Value| {
        let mut tools = turn.steps().flat_map(|step| &step.tools);
        tools.any(|tool| call["tool"] == json!(tool))
    };
    let unasked = rest.filter(|call| !in_pair(call));
    faults.extend(unasked.map(|call| format!("nobody asked for {call}")));
    faults
}

/// One operation, against the row it must have.
fn of_call(step: &Step, row: &Row, call: Option<&Value>) -> Vec<String> {
    let Some(call) = call else {
        return vec![format!("{} is missing", step.name)];
    };
    let sent = step.rounds.filter(|rounds| call["attempts"] != json!(rounds));
    let sent = sent.map(|rounds| format!("{}: it should be sent {rounds} times: {call}", step.name));
    [
        ("tool", &step.tool),
        ("protocol", &row.protocol),
        ("outcome", &row.outcome),
        ("effect", &row.effect),
        ("evidence", &row.evidence),
    ]
    .into_iter()
    .filter(|(part, expected)| call[*part] != json!(expected))
    .map(|(part, expected)| format!("{}: {part} should be {expected}: {call}", step.name))
    .chain(sent)
    .collect()
}
