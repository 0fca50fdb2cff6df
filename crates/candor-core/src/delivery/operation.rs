//! An operation as an agent may ask for it: what is known of it now, what was known before, and one sentence.

use serde_json::{Value, json};

use crate::describe::{Lang, Subject, describe};
use crate::judgment::verdict::Verdict;
use crate::names::UnixMillis;
use crate::record::Phase;

/// One record of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Which step it records.
    pub phase: Phase,
    /// When.
    pub at: UnixMillis,
    /// Its body.
    pub body: &'a [u8],
}

/// What is known of an operation, newest first where it changed. The steps are in the order they were written.
pub fn operation(id: &str, server: &str, tool: &str, steps: &[Step<'_>]) -> Value {
    let concluded: Vec<(UnixMillis, Value)> = steps
        .iter()
        .filter(|step| step.phase != Phase::Intent)
        .map(|step| (step.at, serde_json::from_slice(step.body).unwrap_or_default()))
        .collect();
    let told = |(at, body): &(UnixMillis, Value)| json!({ "at": moment(*at), "verdict": body.get("verdict").unwrap_or(&Value::Null) });
    let mut newest_first = concluded.iter().rev();
    let latest = newest_first.next();
    let verdict = latest.and_then(|(_, body)| Verdict::from_json(body.get("verdict")?));
    json!({
        "operationId": id,
        "server": server,
        "tool": tool,
        "startedAt": steps.first().map(|step| moment(step.at)),
        "sentence": sentence(server, tool, verdict.as_ref(), latest.map(|(_, body)| body)),
        "settled": verdict.as_ref().is_some_and(|verdict| !verdict.is_unsettled()),
        "latest": latest.map(told),
        "earlier": newest_first.map(told).collect::<Vec<_>>(),
    })
}

fn sentence(server: &str, tool: &str, verdict: Option<&Verdict>, body: Option<&Value>) -> String {
    let Some(verdict) = verdict else {
        return format!("{tool} on {server} has no verdict yet.");
    };
    let says = |member: &str| body.and_then(|body| body.get(member)?.as_bool()).unwrap_or(false);
    let subject = Subject {
        server,
        tool,
        verdict,
        flagged: says("flagged"),
        count_is_zero: says("countIsZero"),
    };
    describe(&subject, Lang::En)
}

/// A moment as RFC 3339 writes it.
pub(super) fn moment(at: UnixMillis) -> Value {
    jiff::Timestamp::from_millisecond(at.0).map_or(Value::Null, |at| json!(at.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_word_stands_first_and_earlier_ones_stay() {
        let body = |outcome: &str, effect: &str, evidence: &str| {
            json!({ "verdict": {
                "operationId": "01999999-0000-7000-8000-000000000001", "protocol": "delivered", "attempts": 1,
                "outcome": outcome, "effect": effect, "evidence": evidence, "reference": "t-1",
            } })
            .to_string()
        };
        let (first, second) = (
            body("accepted", "unknown", "declared"),
            body("completed", "applied", "declared"),
        );
        let step = |phase, at, body| Step {
            phase,
            at: UnixMillis(at),
            body,
        };
        let intent = step(Phase::Intent, 1_000, b"{}".as_slice());
        let accepted = step(Phase::Verdict, 2_000, first.as_bytes());
        let completed = step(Phase::Amendment, 3_000, second.as_bytes());
        let open = operation("op", "reports", "send", &[intent, accepted]);
        assert_eq!(
            (&open["settled"], &open["latest"]["verdict"]["outcome"]),
            (&json!(false), &json!("accepted"))
        );
        let done = operation("op", "reports", "send", &[intent, accepted, completed]);
        assert_eq!(
            (&done["settled"], &done["latest"]["verdict"]["outcome"]),
            (&json!(true), &json!("completed"))
        );
        assert_eq!(done["earlier"][0]["verdict"]["outcome"], "accepted");
        assert_eq!(done["startedAt"], "1970-01-01T00:00:01Z");
        let running = operation("op", "reports", "send", &[intent]);
        assert_eq!(
            (&running["settled"], &running["latest"]),
            (&json!(false), &Value::Null)
        );
        assert_eq!(running["sentence"], "send on reports has no verdict yet.");
    }
}
