//! A recorded verdict as the core's own value: what `describe` makes its sentence from.

use candor_core::arguments::issue::Issue;
use candor_core::judgment::verdict::{
    Effect, Evidence, Failure, Kind, Outcome, Part, Protocol, Repeat, Verdict,
};
use candor_core::names::OperationId;
use serde_json::Value;

use super::body::Body;

/// The verdict in a body; `None` where a part that a verdict can't be without is missing, or is a word that this
/// program does not know.
pub(crate) fn verdict(operation: OperationId, body: &Body) -> Option<Verdict> {
    let whole = body.at("/verdict")?;
    let word = |name: &str| whole.get(name)?.as_str();
    Some(Verdict {
        operation,
        protocol: Protocol::parse(word("protocol")?)?,
        outcome: Outcome::parse(word("outcome")?)?,
        effect: Effect::parse(word("effect")?)?,
        evidence: Evidence::parse(word("evidence")?)?,
        error: match whole.get("error").filter(|error| !error.is_null()) {
            Some(error) => Some(failure(error)?),
            None => None,
        },
        reference: word("reference").map(str::to_owned),
        parts: whole
            .get("parts")
            .and_then(Value::as_array)
            .map_or_else(|| Some(Vec::new()), |parts| parts.iter().map(part).collect())?,
        attempts: whole
            .get("attempts")
            .and_then(Value::as_u64)
            .and_then(|count| count.try_into().ok())
            .unwrap_or(0),
        suggested_next_step: word("suggestedNextStep").map(str::to_owned),
    })
}

fn failure(error: &Value) -> Option<Failure> {
    Some(Failure {
        code: text(error, "code")?,
        kind: Kind::parse(error.get("kind")?.as_str()?)?,
        message: text(error, "message")?,
        retry_same_request: error.get("retrySameRequest")?.as_bool()?,
        repeat: Repeat::parse(error.get("repeat")?.as_str()?)?,
        retry_after: error.get("retryAfter").and_then(Value::as_u64),
        issues: issues(error.get("issues")),
    })
}

fn part(part: &Value) -> Option<Part> {
    Some(Part {
        name: text(part, "name")?,
        outcome: Outcome::parse(part.get("outcome")?.as_str()?)?,
        effect: Effect::parse(part.get("effect")?.as_str()?)?,
        code: text(part, "code"),
    })
}

/// A list of issues; what is none is left out.
pub(crate) fn issues(list: Option<&Value>) -> Vec<Issue> {
    let issue = |value: &Value| {
        Some(Issue {
            path: text(value, "path")?,
            rule: text(value, "rule")?,
            expected: text(value, "expected")?,
            received: text(value, "received"),
            hint: text(value, "hint"),
        })
    };
    list.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(issue)
        .collect()
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What the core writes is what is read here: through JSON and back nothing is lost.
    #[test]
    fn a_verdict_comes_back_as_it_was_written() {
        let operation = OperationId::new(uuid::Uuid::nil());
        let failed = Verdict {
            operation,
            protocol: Protocol::NotSent,
            outcome: Outcome::Rejected,
            effect: Effect::NotApplied,
            evidence: Evidence::NotSent,
            error: Some(Failure {
                code: "CANDOR_INVALID_INPUT".into(),
                kind: Kind::InvalidInput,
                message: "m".into(),
                retry_same_request: false,
                repeat: Repeat::SameAnswer,
                retry_after: Some(3),
                issues: vec![Issue {
                    path: "/a".into(),
                    rule: "type".into(),
                    expected: "a number".into(),
                    received: Some("\"x\"".into()),
                    hint: None,
                }],
            }),
            reference: Some("4711".into()),
            parts: vec![Part {
                name: "p".into(),
                outcome: Outcome::Completed,
                effect: Effect::Applied,
                code: Some("C".into()),
            }],
            attempts: 0,
            suggested_next_step: Some("s".into()),
        };
        let done = Verdict {
            protocol: Protocol::Delivered,
            outcome: Outcome::Completed,
            effect: Effect::Applied,
            evidence: Evidence::Declared,
            error: None,
            reference: None,
            parts: vec![],
            attempts: 1,
            suggested_next_step: None,
            ..failed.clone()
        };
        for written in [failed, done] {
            let body = Body::Known(json!({ "v": 1, "verdict": written.to_json(true) }));
            assert_eq!(verdict(operation, &body), Some(written));
        }
    }

    #[test]
    fn words_that_nobody_knows_make_no_verdict() {
        let operation = OperationId::new(uuid::Uuid::nil());
        let body = |outcome: &str| {
            Body::Known(json!({ "v": 1, "verdict": {
                "protocol": "delivered", "outcome": outcome, "effect": "unknown", "evidence": "asserted",
            } }))
        };
        assert!(verdict(operation, &body("reported")).is_some());
        assert!(verdict(operation, &body("marvellous")).is_none());
    }
}
