//! Holds what a caller saw against what it must see: the row of the decision table, and what `sessions.toml` adds.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    decisions::Row,
    plan::{Plan, Turn},
    sessions::{Client, Do, Era, RowName, Seeing, Step, Structured, Throws},
};

/// What the caller of a client saw of one step.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seen {
    pub(crate) session: String,
    pub(crate) era: Era,
    pub(crate) step: String,
    /// `result`, `threw`, `tools` …, as the client gave it, and `heard`.
    pub(crate) saw: Value,
}

/// The verdict that a result carries.
pub(crate) const VERDICT: &str = "/_meta/candor~1verdict";

/// Everything that is not as expected, each with its place.
pub(crate) fn faults(plan: &Plan, seen: &[Seen]) -> Vec<String> {
    let mut faults = Vec::new();
    for turn in &plan.turns {
        let place = |step: &str| format!("{}/{step} ({:?})", turn.session.name, turn.era);
        let mut add = |step: &str, found: Vec<String>| {
            faults.extend(found.into_iter().map(|fault| format!("{}: {fault}", place(step))));
        };
        add("open", of_opening(turn, saw(seen, turn, "open")));
        for step in turn.steps() {
            let expected = step.expected(plan.client, turn.era);
            add(
                &step.name,
                of_step(plan.client, step, &expected, saw(seen, turn, &step.name)),
            );
        }
        let closed = saw(seen, turn, "close");
        let well = closed.is_some_and(|saw| saw["closed"] == json!(true));
        add(
            "close",
            if well {
                Vec::new()
            } else {
                vec![format!("closed: {closed:?}")]
            },
        );
    }
    faults
}

/// What was seen of a step of one session.
pub(crate) fn saw<'a>(seen: &'a [Seen], turn: &Turn, step: &str) -> Option<&'a Value> {
    let is_it = |one: &&Seen| one.session == turn.session.name && one.era == turn.era && one.step == step;
    seen.iter().find(is_it).map(|one| &one.saw)
}

fn of_opening(turn: &Turn, saw: Option<&Value>) -> Vec<String> {
    let Some(saw) = saw else {
        return vec!["nothing was seen".to_owned()];
    };
    let script = turn.session.script.trim_end_matches(".json");
    let revision = turn.session.revision.as_deref().unwrap_or(match turn.era {
        Era::Legacy => "2025-11-25",
        Era::Modern | Era::Auto => "2026-07-28",
    });
    let mut faults = Vec::new();
    if saw["server"]["name"] != json!(script) {
        faults.push(format!("the server {script} was not seen: {saw}"));
    }
    // One client does not tell its caller what it agreed upon.
    if saw.get("revision").is_some_and(|seen| seen != revision) {
        faults.push(format!("revision {revision} was not agreed upon: {saw}"));
    }
    faults
}

fn of_step(client: &Client, step: &Step, expected: &Seeing, saw: Option<&Value>) -> Vec<String> {
    let Some(saw) = saw else {
        return vec!["nothing was seen".to_owned()];
    };
    let mut faults = Vec::new();
    if let Some(heard) = &expected.heard {
        let was = saw.get("heard").cloned().unwrap_or_else(|| json!([]));
        if !alike(&was, &json!(heard)) {
            faults.push(format!("should hear {heard:?}, heard {was}"));
        }
    }
    if let Some(throws) = &expected.throws {
        faults.extend(of_error(client, throws, expected, saw));
        return faults;
    }
    if let Some(threw) = saw.get("threw") {
        faults.push(format!("threw {threw}"));
        return faults;
    }
    match step.act {
        Do::Ping => check(&mut faults, saw["pong"].is_object(), || format!("no pong: {saw}")),
        Do::List => {
            let names: Vec<_> = saw["tools"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|tool| tool["name"].clone())
                .collect();
            check(
                &mut faults,
                expected
                    .tools
                    .as_ref()
                    .is_none_or(|tools| json!(tools) == json!(names)),
                || format!("listed {names:?}"),
            );
            faults.extend(of_members(expected, saw));
        }
        Do::Call => faults.extend(of_result(step, expected, &saw["result"])),
        Do::Cancel => check(&mut faults, saw.get("result").is_none(), || {
            format!("was answered: {saw}")
        }),
        Do::Pair => {
            let answered: Vec<_> = saw["answered"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|one| one[0].clone())
                .collect();
            check(&mut faults, json!(answered) == json!(["second", "first"]), || {
                format!("answered {answered:?}")
            });
            for (at, tool) in answered.iter().enumerate() {
                let text = &saw["answered"][at][1]["content"][0]["text"];
                check(&mut faults, text == tool, || {
                    format!("{tool} was given the answer {text}")
                });
            }
        }
        Do::Listen => {
            check(
                &mut faults,
                saw["honored"]["toolsListChanged"] == json!(true),
                || format!("honoured: {saw}"),
            );
            check(&mut faults, saw["events"] == json!(["tools"]), || {
                format!("events: {saw}")
            });
        }
    }
    faults
}

fn check(faults: &mut Vec<String>, holds: bool, fault: impl FnOnce() -> String) {
    if !holds {
        faults.push(fault());
    }
}

fn of_error(client: &Client, throws: &Throws, expected: &Seeing, saw: &Value) -> Vec<String> {
    let threw = &saw["threw"];
    let mut faults = Vec::new();
    let class = throws.class.as_ref().unwrap_or(&client.throws);
    check(&mut faults, threw["class"] == json!(class), || {
        format!("should throw {class}: {saw}")
    });
    if let Some(code) = &throws.code {
        check(&mut faults, threw["code"] == *code, || {
            format!("should throw code {code}: {saw}")
        });
    }
    let message = threw["message"].as_str().unwrap_or_default();
    check(&mut faults, message.contains(&throws.says), || {
        format!("should throw \"{}\": {saw}", throws.says)
    });
    // An error that Candor wrote itself carries the verdict in its data.
    if let Some(row) = expected.row.as_ref().map(RowName::row)
        && row.channel == "error"
        && row.bytes == "authored"
    {
        faults.extend(of_verdict(&row, &threw["data"]["candor/verdict"]));
    }
    faults
}

fn of_result(step: &Step, expected: &Seeing, result: &Value) -> Vec<String> {
    let mut faults = of_members(expected, result);
    let Some(row) = expected.row.as_ref().map(RowName::row) else {
        return faults;
    };
    check(&mut faults, row.channel == "result", || {
        format!("an error was expected: {result}")
    });
    let verdict = result.pointer(VERDICT).unwrap_or(&Value::Null);
    faults.extend(of_verdict(&row, verdict));
    let flagged = result["isError"] == json!(true);
    if let Some(flag) = row.flagged() {
        check(&mut faults, flagged == flag, || format!("flagged: {flagged}"));
    }
    let blocks = result["content"].as_array().map_or(&[][..], Vec::as_slice);
    let text = blocks
        .first()
        .and_then(|block| block["text"].as_str())
        .unwrap_or_default();
    if !row.opening.is_empty() {
        let opening = format!("{}:", row.opening);
        check(&mut faults, text.starts_with(&opening), || {
            format!("should open {opening} {text}")
        });
    }
    for piece in &step.says {
        check(&mut faults, text.contains(piece), || {
            format!("should say \"{piece}\": {text}")
        });
    }
    if row.bytes == "prefixed" {
        check(&mut faults, blocks.len() > 1, || {
            "the server's own blocks are gone".to_owned()
        });
    }
    let authored = (row.bytes == "authored").then_some(Structured::Candor);
    if let Some(whose) = expected.structured.clone().or(authored) {
        let structured = &result["structuredContent"];
        let as_expected = match &whose {
            Structured::Absent => structured.is_null(),
            Structured::Candor => alike(structured, verdict),
            Structured::Own(own) => alike(structured, own),
        };
        check(&mut faults, as_expected, || {
            format!("structure should be {whose:?}: {structured}")
        });
    }
    if let Some(code) = &row.finding {
        let findings = result["_meta"]["candor/findings"]
            .as_array()
            .into_iter()
            .flatten();
        let found = findings.into_iter().any(|finding| finding["code"] == json!(code));
        check(&mut faults, found, || {
            format!("no finding {code}: {}", result["_meta"])
        });
    }
    faults
}

fn of_verdict(row: &Row, verdict: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let parts = [
        ("protocol", &row.protocol),
        ("outcome", &row.outcome),
        ("effect", &row.effect),
        ("evidence", &row.evidence),
    ];
    for (part, expected) in parts {
        check(&mut faults, verdict[part] == json!(expected), || {
            format!("{part} should be {expected}: {verdict}")
        });
    }
    if let Some(kind) = &row.kind {
        check(&mut faults, verdict["error"]["kind"] == json!(kind), || {
            format!("kind should be {kind}: {verdict}")
        });
    }
    faults
}

fn of_members(expected: &Seeing, whole: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for (pointer, value) in &expected.has {
        let found = whole.pointer(pointer);
        check(
            &mut faults,
            found.is_some_and(|found| alike(found, value)),
            || format!("{pointer} should be {value}: {found:?}"),
        );
    }
    for pointer in &expected.lacks {
        let found = whole.pointer(pointer);
        check(&mut faults, found.is_none(), || {
            format!("{pointer} should not be there: {found:?}")
        });
    }
    faults
}

/// Equal as a caller sees it. Languages write `3` and `3.0` for one number, and some leave out members that are null.
fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let covers = |one: &serde_json::Map<String, Value>, other: &serde_json::Map<String, Value>| {
                one.iter().all(|(name, value)| match other.get(name) {
                    Some(found) => alike(value, found),
                    None => value.is_null(),
                })
            };
            covers(one, other) && covers(other, one)
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    //! The judge finds what is not so, and says nothing of what is.

    use super::*;
    use crate::sessions::ALL;

    fn step(session: &str, step: &str) -> &'static Step {
        let session = ALL.session.iter().find(|one| one.name == session).unwrap();
        session.step.iter().find(|one| one.name == step).unwrap()
    }

    fn judged(step: &Step, saw: &Value) -> Vec<String> {
        let client = &ALL.client[0];
        of_step(client, step, &step.expected(client, Era::Legacy), Some(saw))
    }

    fn taken() -> Value {
        let own = json!({ "status": "taken", "code": "ROOM_UNAVAILABLE", "message": "Room 12 is taken 14:00-15:00", "suggestion": "room 14 is free" });
        json!({ "result": {
            "isError": true,
            "content": [{ "type": "text", "text": "NOT DONE: ROOM_UNAVAILABLE" }, { "type": "text", "text": "own" }],
            "structuredContent": own,
            "_meta": { "candor/verdict": {
                "protocol": "delivered", "outcome": "rejected", "effect": "not_applied", "evidence": "declared",
                "error": { "kind": "business_rule" },
            } },
        } })
    }

    #[test]
    fn an_honest_answer_is_let_be() {
        assert_eq!(judged(step("rooms", "taken"), &taken()), Vec::<String>::new());
    }

    #[test]
    fn every_part_of_an_answer_that_is_not_so_is_found() {
        for (pointer, lie) in [
            ("/result/isError", json!(false)),
            ("/result/content/0/text", json!("Room booked: ROOM_UNAVAILABLE")),
            ("/result/content/0/text", json!("NOT DONE: no code")),
            (
                "/result/content",
                json!([{ "type": "text", "text": "NOT DONE: ROOM_UNAVAILABLE" }]),
            ),
            ("/result/structuredContent", json!({ "status": "booked" })),
            ("/result/_meta/candor~1verdict/outcome", json!("completed")),
            ("/result/_meta/candor~1verdict/effect", json!("applied")),
            ("/result/_meta/candor~1verdict/evidence", json!("asserted")),
            ("/result/_meta/candor~1verdict/protocol", json!("error")),
            ("/result/_meta/candor~1verdict/error/kind", json!("internal")),
        ] {
            let mut saw = taken();
            *saw.pointer_mut(pointer).unwrap() = lie;
            assert_eq!(judged(step("rooms", "taken"), &saw).len(), 1, "{pointer}: {saw}");
        }
        assert_eq!(
            judged(
                step("rooms", "taken"),
                &json!({ "threw": { "class": "McpError" } })
            )
            .len(),
            1
        );
    }

    #[test]
    fn an_error_that_should_be_thrown_and_is_not_is_found() {
        let hidden = step("errors", "method not found");
        let thrown = json!({ "threw": { "class": "McpError", "code": -32601, "message": "destination outside root" } });
        assert_eq!(judged(hidden, &thrown), Vec::<String>::new());
        assert!(!judged(hidden, &taken()).is_empty());
    }

    #[test]
    fn numbers_and_nulls_are_compared_as_callers_see_them() {
        assert!(alike(&json!({ "a": 3, "b": null }), &json!({ "a": 3.0 })));
        assert!(!alike(&json!({ "a": 3 }), &json!({ "a": 4 })));
        assert!(!alike(&json!({ "a": [1] }), &json!({ "a": [1, 2] })));
        assert!(!alike(&json!({ "a": 3 }), &json!({ "a": 3, "b": 0 })));
    }
}
