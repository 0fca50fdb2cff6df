//! What looks at accepted work make of it, as data: nothing sleeps.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::state::{State, settled};
use super::*;
use crate::contract::effect::{Source, Sourced};
use crate::contract::lower::LowerClause;
use crate::contract::mapping::scalar::Scalar;
use crate::contract::mapping::{Document, Mapping, ReferenceClause, StateTool, ValueList, Values};
use crate::contract::recovery::Lowered;
use crate::contract::rules::{Term, Zone};
use crate::judgment::verdict::Kind;

const ACCEPTED: UnixMillis = UnixMillis(1_000);
const NOW: UnixMillis = UnixMillis(5_000);

fn mapping(state: Option<StateTool>) -> ToolTerms {
    let mut values = Values::default();
    for (list, value) in [
        (ValueList::Completed, "done"),
        (ValueList::Accepted, "queued"),
        (ValueList::Failed, "broken"),
    ] {
        values.add(list, Scalar::of(&json!(value)).unwrap()).unwrap();
    }
    ToolTerms {
        mapping: Some(Sourced::new(
            Mapping {
                document: Document::Structured,
                pointer: Some("/state".parse().unwrap()),
                values,
                code: None,
                message: None,
                reference: Some(ReferenceClause {
                    pointer: "/id".parse().unwrap(),
                    noun: Some("job".to_owned()),
                    state,
                }),
                suggestion: None,
                retry_after: None,
                parts: None,
                failed_where: Vec::new(),
                nothing_done: BTreeSet::new(),
            },
            Source::CommandLine,
        )),
        ..ToolTerms::default()
    }
}

fn record(how: &str, verdict: &Value, reply: &Value) -> Vec<u8> {
    json!({ "how": how, "verdict": verdict, "reply": reply })
        .to_string()
        .into_bytes()
}

fn accepted() -> Value {
    json!({
        "outcome": "accepted", "effect": "unknown", "protocol": "delivered", "evidence": "declared",
        "operationId": Uuid::from_u128(7).to_string(), "attempts": 1, "reference": "t-1",
    })
}

fn followed(body: &[u8], terms: &ToolTerms) -> Option<Followed> {
    let record = Recorded {
        operation: OperationId::new(Uuid::from_u128(7)),
        server: "reports",
        tool: "send_report",
        at: ACCEPTED,
        body,
    };
    Followed::of_record(&record, EffectClass::Write, terms)
}

fn task() -> Followed {
    let reply = json!({ "task": { "taskId": "t-1", "ttl": 60_000, "pollInterval": 5_000 } });
    followed(&record("task", &accepted(), &reply), &ToolTerms::default()).unwrap()
}

fn look(followed: &Followed, terms: &ToolTerms, body: &str, now: UnixMillis) -> Look {
    let reply = Reply::parse(format!(r#"{{"jsonrpc":"2.0","id":1,{body}}}"#)).unwrap();
    let secrets = KnownSecrets::default();
    let reader = Reader {
        revision: Revision::V2025_11_25,
        terms,
        secrets: &secrets,
        now,
    };
    reader.look(followed, &reply)
}

fn end_of(look: Look) -> (String, String, String, bool, Value) {
    let Look::Ended { entry, .. } = look else {
        panic!("it has not ended: {look:?}")
    };
    assert_eq!(
        (entry.phase, entry.operation.uuid()),
        (Phase::Amendment, Uuid::from_u128(7))
    );
    let columns = entry.concluded.unwrap();
    (
        columns.outcome.to_string(),
        columns.effect.to_string(),
        columns.evidence.to_string(),
        columns.unsettled,
        serde_json::from_str(&entry.body).unwrap(),
    )
}

fn status(status: &str) -> String {
    format!(r#""result":{{"taskId":"t-1","status":"{status}"}}"#)
}

#[test]
fn every_state_settles_as_the_table_says() {
    #[derive(serde::Deserialize)]
    struct Row {
        state: String,
        outcome: String,
        effect: String,
        evidence: String,
        kind: Option<String>,
    }
    let table: toml::Table = include_str!("../../../decisions.toml").parse().unwrap();
    let rows: Vec<Row> = table["followed"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|case| case["rows"].clone().try_into::<Vec<Row>>().unwrap())
        .collect();
    assert_eq!(
        rows.iter().map(|row| row.state.as_str()).collect::<Vec<_>>(),
        State::ALL.iter().map(|state| state.as_str()).collect::<Vec<_>>()
    );
    for row in rows {
        let state = State::parse(&row.state).unwrap();
        for class in [EffectClass::Write, EffectClass::Idempotent, EffectClass::Read] {
            let (outcome, effect, evidence, kind) = settled(state, class);
            let wanted = if class == EffectClass::Read {
                "not_applied"
            } else {
                &row.effect
            };
            assert_eq!(
                (
                    outcome.as_str(),
                    effect.as_str(),
                    evidence.as_str(),
                    kind.map(Kind::as_str)
                ),
                (
                    row.outcome.as_str(),
                    wanted,
                    row.evidence.as_str(),
                    row.kind.as_deref()
                ),
                "{state} {class}"
            );
        }
    }
}

#[test]
fn a_task_is_followed_at_its_servers_pace_and_settled_by_its_declared_end() {
    let task = task();
    assert_eq!(
        (&task.way, task.wait(0), task.wait(9)),
        (&Way::Task, Duration::from_secs(5), Duration::from_secs(5))
    );
    let terms = ToolTerms::default();
    let goes_on = look(&task, &terms, &status("working"), NOW);
    assert_eq!(goes_on, Look::GoesOn { interval: None });
    let waits = look(&task, &terms, &status("input_required"), NOW);
    assert_eq!(waits, Look::GoesOn { interval: None });
    let (outcome, effect, evidence, unsettled, body) = end_of(look(&task, &terms, &status("completed"), NOW));
    assert_eq!(
        (outcome.as_str(), effect.as_str(), evidence.as_str(), unsettled),
        ("completed", "applied", "declared", false)
    );
    assert_eq!(
        (&body["verdict"]["reference"], &body["reply"]["status"]),
        (&json!("t-1"), &json!("completed"))
    );
    assert_eq!(body["followedBy"], "tasks/get");
    let (outcome, _, _, unsettled, body) = end_of(look(&task, &terms, &status("failed"), NOW));
    assert_eq!((outcome.as_str(), unsettled), ("failed", true));
    assert_eq!(body["verdict"]["error"]["kind"], "internal");
    let (outcome, effect, ..) = end_of(look(&task, &terms, &status("cancelled"), NOW));
    assert_eq!((outcome.as_str(), effect.as_str()), ("failed", "unknown"));
}

#[test]
fn the_result_inside_a_completed_task_may_say_that_it_failed() {
    let body = r#""result":{"resultType":"complete","taskId":"t-1","status":"completed","result":{"content":[{"type":"text","text":"no"}],"isError":true}}"#;
    let (outcome, effect, ..) = end_of(look(&task(), &ToolTerms::default(), body, NOW));
    assert_eq!((outcome.as_str(), effect.as_str()), ("failed", "unknown"));
    let good = body.replace("true", "false");
    let (outcome, ..) = end_of(look(&task(), &ToolTerms::default(), &good, NOW));
    assert_eq!(outcome, "completed");
    let mapped = r#""result":{"taskId":"t-1","status":"completed","result":{"content":[],"structuredContent":{"state":"broken"}}}"#;
    let (outcome, ..) = end_of(look(&task(), &mapping(None), mapped, NOW));
    assert_eq!(outcome, "failed", "its contract reads it as any other result");
    let when = |source: &str| ToolTerms {
        lower: vec![Sourced::new(
            LowerClause {
                when: Term::compile(source, &Zone::utc()).unwrap(),
                means: Lowered::Failed,
            },
            Source::CommandLine,
        )],
        ..ToolTerms::default()
    };
    let (outcome, _, evidence, ..) = end_of(look(&task(), &when("text.startsWith('no')"), &good, NOW));
    assert_eq!((outcome.as_str(), evidence.as_str()), ("failed", "asserted"));
    let (outcome, ..) = end_of(look(&task(), &when("text.startsWith('on')"), &good, NOW));
    assert_eq!(outcome, "completed");
}

#[test]
fn what_is_no_state_of_this_task_settles_nothing_and_what_is_gone_is_unknown() {
    let terms = ToolTerms::default();
    for body in [
        r#""result":{"taskId":"t-2","status":"completed"}"#,
        r#""result":{"status":"completed"}"#,
        r#""result":{"taskId":"t-1","status":"gone"}"#,
        r#""result":{"taskId":"t-1","status":"finished"}"#,
        r#""result":{"taskId":"t-1"}"#,
        r#""error":{"code":-32601,"message":"Method not found"}"#,
        r#""error":{"code":-32603,"message":"busy"}"#,
    ] {
        let shown = look(&task(), &terms, body, NOW);
        assert!(matches!(shown, Look::Nothing { .. }), "{body}: {shown:?}");
    }
    let unknown = r#""error":{"code":-32602,"message":"no such task"}"#;
    let (outcome, _, evidence, unsettled, _) = end_of(look(&task(), &terms, unknown, NOW));
    assert_eq!(
        (outcome.as_str(), evidence.as_str(), unsettled),
        ("unknown", "none", true)
    );
    let past = r#""error":{"code":-32603,"message":"expired"}"#;
    let (outcome, ..) = end_of(look(&task(), &terms, past, UnixMillis(1_000 + 60_001)));
    assert_eq!(outcome, "unknown", "its time at the server is over");
}

#[test]
fn a_mapped_state_is_asked_of_the_tool_that_the_contract_names() {
    let state = StateTool {
        tool: "get_job".to_owned(),
        argument: "id".to_owned(),
        wait: None,
    };
    let body = record(
        "ok",
        &accepted(),
        &json!({ "structuredContent": { "ttl": 1, "state": "queued" } }),
    );
    let job = followed(&body, &mapping(Some(state))).unwrap();
    assert_eq!(parameters(&job, true), json!({ "id": "t-1" }));
    assert_eq!(
        (job.interval, job.kept),
        (None, None),
        "only the protocol's tasks have a pace of their own"
    );
    let shown =
        |state: &str| format!(r#""result":{{"content":[],"structuredContent":{{"state":"{state}"}}}}"#);
    let terms = mapping(None);
    assert_eq!(
        look(&job, &terms, &shown("queued"), NOW),
        Look::GoesOn { interval: None }
    );
    let (outcome, effect, evidence, ..) = end_of(look(&job, &terms, &shown("done"), NOW));
    assert_eq!(
        (outcome.as_str(), effect.as_str(), evidence.as_str()),
        ("completed", "applied", "declared")
    );
    let (outcome, ..) = end_of(look(&job, &terms, &shown("broken"), NOW));
    assert_eq!(outcome, "failed");
    for (terms, body) in [
        (&terms, shown("odd")),
        (&ToolTerms::default(), shown("done")),
        (&terms, r#""error":{"code":-32602,"message":"no"}"#.to_owned()),
        (
            &terms,
            shown("done").replace("\"content\":[]", "\"content\":[],\"isError\":true"),
        ),
    ] {
        let shown = look(&job, terms, &body, NOW);
        assert!(matches!(shown, Look::Nothing { .. }), "{body}: {shown:?}");
    }
    assert_eq!(
        followed(&body, &mapping(None)),
        None,
        "nobody says who shows its state"
    );
}

#[test]
fn only_what_can_be_asked_for_is_followed_and_not_for_ever() {
    let mut other = accepted();
    other["outcome"] = json!("completed");
    assert_eq!(
        followed(&record("task", &other, &Value::Null), &ToolTerms::default()),
        None
    );
    let mut cut = accepted();
    cut["reference"] = json!("x".repeat(200));
    assert_eq!(
        followed(&record("task", &cut, &Value::Null), &ToolTerms::default()),
        None
    );
    let mut none = accepted();
    none["reference"] = Value::Null;
    assert_eq!(
        followed(&record("task", &none, &Value::Null), &ToolTerms::default()),
        None
    );
    let plain = followed(&record("task", &accepted(), &Value::Null), &ToolTerms::default()).unwrap();
    let waits: Vec<u64> = [0, 1, 2, 5, 40]
        .iter()
        .map(|look| plain.wait(*look).as_secs())
        .collect();
    assert_eq!(waits, [2, 4, 8, 60, 60]);
    assert!(plain.is_due(UnixMillis(1_000 + 86_399_000)) && !plain.is_due(UnixMillis(1_000 + 86_400_000)));
    let hasty = Followed {
        interval: Some(Duration::ZERO),
        ..plain
    };
    assert_eq!(hasty.wait(0), OFTENEST);
}

#[test]
fn a_number_is_asked_for_as_one_only_where_it_is_wanted_as_one() {
    let job = Followed {
        reference: "4711".to_owned(),
        way: Way::Tool {
            tool: "get_job".to_owned(),
            argument: "id".to_owned(),
        },
        ..task()
    };
    assert_eq!(parameters(&job, true), json!({ "id": 4711 }));
    assert_eq!(parameters(&job, false), json!({ "id": "4711" }));
    let padded = Followed {
        reference: "007".to_owned(),
        ..job
    };
    assert_eq!(parameters(&padded, true), json!({ "id": "007" }));
}
