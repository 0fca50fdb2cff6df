//! What is written is what is read, and whatever else comes is no verdict and no fault.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use serde_json::Map;

use super::*;

fn issue() -> impl Strategy<Value = Issue> {
    (".*", ".*", ".*", option::of(".*"), option::of(".*")).prop_map(
        |(path, rule, expected, received, hint)| Issue {
            path,
            rule,
            expected,
            received,
            hint,
        },
    )
}

fn failure() -> impl Strategy<Value = Failure> {
    (
        ".*",
        select(Kind::ALL),
        ".*",
        any::<bool>(),
        select(Repeat::ALL),
        option::of(any::<u64>()),
        vec(issue(), 0..3),
    )
        .prop_map(
            |(code, kind, message, retry_same_request, repeat, retry_after, issues)| Failure {
                code,
                kind,
                message,
                retry_same_request,
                repeat,
                retry_after,
                issues,
            },
        )
}

fn part() -> impl Strategy<Value = Part> {
    (".*", select(Outcome::ALL), select(Effect::ALL), option::of(".*")).prop_map(
        |(name, outcome, effect, code)| Part {
            name,
            outcome,
            effect,
            code,
        },
    )
}

fn verdict() -> impl Strategy<Value = Verdict> {
    let words = (
        select(Protocol::ALL),
        select(Outcome::ALL),
        select(Effect::ALL),
        select(Evidence::ALL),
    );
    let rest = (
        option::of(failure()),
        option::of(".*"),
        vec(part(), 0..3),
        any::<u32>(),
        option::of(".*"),
    );
    (any::<u128>(), words, rest).prop_map(
        |(
            id,
            (protocol, outcome, effect, evidence),
            (error, reference, parts, attempts, suggested_next_step),
        )| {
            Verdict {
                operation: OperationId::new(Uuid::from_u128(id)),
                protocol,
                outcome,
                effect,
                evidence,
                error,
                reference,
                parts,
                attempts,
                suggested_next_step,
            }
        },
    )
}

/// Any JSON, small.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
        select(Outcome::ALL).prop_map(|word| Value::from(word.as_str())),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((".{0,8}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Every place in a document, as pointers.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                let place = format!("{at}/{name}");
                places(inner, &place, out);
                out.push(place);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                let place = format!("{at}/{index}");
                places(inner, &place, out);
                out.push(place);
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn what_is_written_is_what_is_read(verdict in verdict(), recorded: bool) {
        let written = verdict.to_json(recorded);
        prop_assert_eq!(Verdict::from_json(&written), Some(verdict.clone()));
        let text = serde_json::from_str(&written.to_string()).unwrap();
        prop_assert_eq!(Verdict::from_json(&text), Some(verdict), "through bytes");
    }

    /// Total over anything, and over a verdict with anything in one place: what is read is written back as read.
    #[test]
    fn hostile_input_is_read_or_refused(verdict in verdict(), foreign in anything(), at in any::<prop::sample::Index>()) {
        let read = |value: &Value| Verdict::from_json(value);
        prop_assert!(read(&foreign).is_none_or(|read| Verdict::from_json(&read.to_json(true)) == Some(read)));
        let mut written = verdict.to_json(true);
        let mut all = Vec::new();
        places(&written, "", &mut all);
        *written.pointer_mut(at.get::<String>(&all)).unwrap() = foreign;
        if let Some(seen) = read(&written) {
            prop_assert_eq!(read(&seen.to_json(true)), Some(seen));
        }
    }
}

#[test]
fn a_member_that_can_not_be_missing_or_wrong_makes_it_no_verdict() {
    let whole = serde_json::json!({
        "outcome": "rejected",
        "error": { "code": "C", "kind": "business_rule", "message": "m", "retrySameRequest": false,
                   "repeat": "same_answer", "retryAfter": null,
                   "issues": [{ "path": "/a", "rule": "type", "expected": "e", "received": null, "hint": null }] },
        "effect": "not_applied", "operationId": "01990000-0000-7000-8000-000000000001",
        "suggestedNextStep": null, "protocol": "delivered", "evidence": "declared", "attempts": 1,
        "recorded": true, "reference": null, "parts": [{ "name": "p", "outcome": "completed", "effect": "applied" }],
    });
    assert!(Verdict::from_json(&whole).is_some());
    for place in [
        "/outcome",
        "/effect",
        "/operationId",
        "/protocol",
        "/evidence",
        "/attempts",
        "/error/code",
        "/error/kind",
        "/error/message",
        "/error/retrySameRequest",
        "/error/repeat",
        "/error/issues/0/path",
        "/error/issues/0/rule",
        "/error/issues/0/expected",
        "/parts/0/name",
        "/parts/0/outcome",
        "/parts/0/effect",
    ] {
        let (parent, name) = place.rsplit_once('/').unwrap();
        let mut without = whole.clone();
        let members = without.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        members.remove(name).unwrap();
        assert_eq!(Verdict::from_json(&without), None, "without {place}");
        let mut wrong = whole.clone();
        *wrong.pointer_mut(place).unwrap() = serde_json::json!({ "a": 1 });
        assert_eq!(Verdict::from_json(&wrong), None, "wrong {place}");
    }
    for (place, value) in [
        ("/error/retryAfter", serde_json::json!(-1)),
        ("/attempts", serde_json::json!(4_294_967_296_u64)),
        ("/attempts", serde_json::json!(1.5)),
        ("/outcome", serde_json::json!("marvellous")),
        ("/parts", serde_json::json!({})),
        ("/reference", serde_json::json!(4711)),
    ] {
        let mut wrong = whole.clone();
        *wrong.pointer_mut(place).unwrap() = value;
        assert_eq!(Verdict::from_json(&wrong), None, "wrong {place}");
    }
    let mut short = whole;
    for absent in ["error", "reference", "parts", "suggestedNextStep", "recorded"] {
        short.as_object_mut().unwrap().remove(absent).unwrap();
    }
    assert!(
        Verdict::from_json(&short).is_some(),
        "null and empty members may be left out"
    );
}
