//! Holds the answers of a run through Candor against those of a bare run and against the decision table, and says for
//! the report what was found.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    harness::{
        decisions::{self, Row},
        frame,
    },
    play::Played,
    subject::{Bad, Call, Same, Subject},
};

/// The tools as listed: byte for byte as the server wrote them, and as it wrote them without Candor.
pub(crate) fn lists(subject: &Subject, bare: &Played, through: &Played) -> String {
    let written: Vec<String> = through
        .transcript()
        .server_sent
        .iter()
        .map(|line| frame::without_ids(line))
        .collect();
    for page in &through.pages {
        assert!(
            written.contains(&frame::without_ids(page)),
            "changed on its way: {page}"
        );
    }
    assert_eq!(bare.others, through.others, "methods that are no tool call");
    match subject.list {
        Same::Bytes => assert_eq!(bare.pages, through.pages, "tools/list"),
        Same::Shape => {
            let shapes = |pages: &[String]| {
                pages
                    .iter()
                    .map(|page| shape(&frame::value(page)))
                    .collect::<Vec<_>>()
            };
            assert_eq!(shapes(&bare.pages), shapes(&through.pages), "tools/list");
        }
    }
    let tools: usize = bare
        .pages
        .iter()
        .map(|page| frame::value(page)["result"]["tools"].as_array().unwrap().len())
        .sum();
    assert!(tools > 0, "no tools");
    let noun = if tools == 1 { "tool" } else { "tools" };
    match subject.list {
        Same::Bytes => format!("{tools} {noun}, same bytes"),
        Same::Shape => format!("{tools} {noun}, same shape"),
    }
}

/// The good call, and those that Candor mended: as the bare answer to what reached the server.
pub(crate) fn good(subject: &Subject, bare: &Played, through: &Played) -> String {
    for (at, repaired) in subject.repaired.iter().enumerate() {
        let name = format!("repaired {at}");
        let answer = &through.answers[&name];
        if frame::value(&bare.answers[&name]).get("error").is_none() {
            same(subject, &name, Same::Bytes, &bare.answers[&name], answer);
        }
        let disclosed = &frame::value(answer)["result"]["_meta"]["candor/coerced"];
        assert!(
            disclosed.as_array().is_some_and(|changes| !changes.is_empty()),
            "mended and not said: {answer}"
        );
        let reached = reached(through, &repaired.tool);
        assert!(
            reached.contains(&repaired.reaches),
            "{} reached the server with {reached:?}",
            repaired.tool
        );
        assert!(
            !reached.contains(&repaired.arguments),
            "{} reached the server unmended",
            repaired.tool
        );
    }
    let Some(call) = &subject.good else {
        return "–".to_owned();
    };
    judged(subject, "good 0", call, bare, through);
    match call.same {
        Same::Bytes => format!("`{}`: same bytes", call.tool),
        Same::Shape => format!("`{}`: same shape", call.tool),
    }
}

/// Bad arguments: refused by Candor, which names field, expected and received; never seen by the server.
pub(crate) fn bad(subject: &Subject, through: &Played) -> String {
    let refused = subject.bad.iter().enumerate().map(|(at, bad)| {
        let answer = &through.answers[&format!("bad {at}")];
        assert!(
            !reached(through, &bad.tool).contains(&bad.arguments),
            "the server saw {} {}",
            bad.tool,
            bad.arguments
        );
        refusal(bad, answer)
    });
    let mut told: Vec<String> = refused.collect();
    if !subject.unchecked.is_empty() {
        let noun = if subject.unchecked.len() == 1 {
            "one fault"
        } else {
            "faults"
        };
        told.push(format!("{noun} that no schema names goes to the server"));
    }
    joined(&told)
}

/// Failures, and bad arguments that only the server can know: as the decision table says of how the server told them.
pub(crate) fn failures(subject: &Subject, bare: &Played, through: &Played) -> String {
    let failing = |(name, _): &(String, &Call)| name.starts_with("failure") || name.starts_with("unchecked");
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for (name, call) in subject.calls().filter(failing) {
        let row = judged(subject, &name, call, bare, through);
        let verdict = if row.opening.is_empty() {
            format!("{}, {}", row.outcome, row.evidence)
        } else {
            row.opening
        };
        *kinds
            .entry(format!("{} → {verdict}", as_told(&bare.answers[&name])))
            .or_default() += 1;
    }
    recorded(subject, through);
    let kinds: Vec<String> = kinds
        .into_iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    joined(&kinds)
}

/// Answers that only look like failures: left as they are.
pub(crate) fn honest(subject: &Subject, bare: &Played, through: &Played) -> String {
    for (at, call) in subject.honest.iter().enumerate() {
        assert_eq!(call.how, "ok", "an honest answer is not flagged");
        judged(subject, &format!("honest {at}"), call, bare, through);
    }
    match subject.honest.len() {
        0 => "–".to_owned(),
        count => format!("0 of {count}"),
    }
}

/// How a server itself told the end of a call, in the report's words.
fn as_told(answer: &str) -> String {
    let value = frame::value(answer);
    if let Some(code) = value["error"].get("code") {
        format!("error {code}")
    } else if value["result"]["isError"] == json!(true) {
        "flagged".to_owned()
    } else {
        "hidden".to_owned()
    }
}

/// Holds one answered call against what the server wrote, against the bare answer, and against its row of the decision
/// table.
fn judged(subject: &Subject, name: &str, call: &Call, bare: &Played, played: &Played) -> Row {
    let (bare, through) = (bare.answers[name].as_str(), played.answers[name].as_str());
    let what = format!("{}, {name}, {}: {bare}\n{through}", subject.name, call.tool);
    let row = decisions::row(&call.how, "write", "none");
    // An answer is what the data says it is, or the rest would be held against the wrong row.
    let told = as_told(bare);
    match call.how.as_str() {
        "ok" => assert_eq!(told, "hidden", "{what}"),
        "flagged" => assert_eq!(told, "flagged", "{what}"),
        "e_params" => assert_eq!(told, "error -32602", "{what}"),
        _ => assert!(told.starts_with("error "), "{what}"),
    }
    let words = quoted(&call.says);
    assert!(
        bare.contains(&words) && through.contains(&words),
        "{words} is missing: {what}"
    );
    let result = &frame::value(through)["result"];
    let verdict = &result["_meta"]["candor/verdict"];
    for (part, expected) in [
        ("protocol", &row.protocol),
        ("outcome", &row.outcome),
        ("effect", &row.effect),
        ("evidence", &row.evidence),
    ] {
        assert_eq!(verdict[part], json!(expected), "{part}: {what}");
    }
    if row.bytes == "untouched" {
        frame::assert_only_verdict_added(&written(played, call, name), through);
        same(subject, name, call.same, bare, through);
    } else {
        authored(&row, result, bare, &what);
    }
    row
}

/// An answer that Candor wrote in place of a JSON-RPC error.
fn authored(row: &Row, result: &Value, bare: &str, what: &str) {
    assert_eq!(result["isError"], json!(true), "{what}");
    let first = result["content"][0]["text"].as_str().unwrap_or_default();
    assert!(first.starts_with(&format!("{}:", row.opening)), "{what}");
    let upstream = &result["_meta"]["candor/upstreamError"];
    assert_eq!(upstream["code"], frame::value(bare)["error"]["code"], "{what}");
    for secret in ["node_modules", "/.subjects/"] {
        assert!(
            !first.contains(secret),
            "a text of Candor's shows where the server is installed: {what}"
        );
    }
}

/// The same answer but for Candor's own members of `_meta`.
pub(crate) fn same(subject: &Subject, name: &str, same: Same, bare: &str, through: &str) {
    match same {
        Same::Bytes => frame::assert_only_verdict_added(bare, through),
        Same::Shape => {
            let mut result = frame::value(through)["result"].take();
            let meta = result["_meta"].as_object_mut().unwrap();
            meta.retain(|key, _| !key.starts_with("candor/"));
            if meta.is_empty() && frame::value(bare)["result"].get("_meta").is_none() {
                result.as_object_mut().unwrap().shift_remove("_meta");
            }
            assert_eq!(
                shape(&frame::value(bare)["result"]),
                shape(&result),
                "{}, {name}: {bare}\n{through}",
                subject.name
            );
        }
    }
}

/// A value with its scalars replaced by the name of their type.
fn shape(value: &Value) -> Value {
    match value {
        Value::Null => json!("null"),
        Value::Bool(_) => json!("boolean"),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("string"),
        Value::Array(items) => items.iter().map(shape).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), shape(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}

/// Holds one refusal, and says it for the report.
fn refusal(bad: &Bad, answer: &str) -> String {
    let result = &frame::value(answer)["result"];
    let row = decisions::row("bad_input", "write", "none");
    assert_eq!(result["isError"], json!(true), "{answer}");
    let verdict = &result["_meta"]["candor/verdict"];
    assert_eq!(verdict["outcome"], json!(row.outcome), "{answer}");
    assert_eq!(verdict["effect"], json!(row.effect), "{answer}");
    let issues = verdict["error"]["issues"].as_array().unwrap();
    let issue = issues.iter().find(|issue| issue["path"] == json!(bad.field));
    let issue = issue.unwrap_or_else(|| panic!("nothing about {}: {answer}", bad.field));
    let expected = issue["expected"].as_str().unwrap();
    assert!(expected.contains(&bad.expected), "{answer}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with(&format!("{}:", row.opening)), "{text}");
    let received = match &bad.received {
        None => {
            assert_eq!(issue["received"], Value::Null, "{answer}");
            "nothing".to_owned()
        }
        Some(part) => {
            let received = issue["received"].as_str().unwrap();
            assert!(received.contains(part), "{answer}");
            // Of an unknown name the block tells the name; what it holds is no matter.
            let is_name = ["unknown_name", "additionalProperties"]
                .map(Value::from)
                .contains(&issue["rule"]);
            assert!(
                is_name || text.contains(received),
                "{received} is not in the first block: {text}"
            );
            received.to_owned()
        }
    };
    assert!(text.contains(&bad.field) && text.contains(expected), "{text}");
    format!("`{}`: expected {expected}, received {received}", bad.field)
}

/// What the server wrote in answer to this call, under the id that the host gave it.
fn written(through: &Played, call: &Call, name: &str) -> String {
    let transcript = through.transcript();
    let is_call = |line: &&String| {
        let params = &frame::value(line)["params"];
        params["name"] == json!(call.tool) && params["arguments"] == call.arguments
    };
    let sent: Vec<_> = transcript.server_received.iter().filter(is_call).collect();
    let [sent] = sent[..] else {
        panic!("{name} reached the server {} times: {sent:?}", sent.len());
    };
    let is_answer = |line: &&String| frame::id(line) == frame::id(sent) && frame::method(line).is_none();
    let answer = transcript.server_sent.iter().find(is_answer).unwrap();
    frame::with_id(answer, &format!("\"{name}\""))
}

/// The arguments that reached the server in calls of this tool.
fn reached(through: &Played, tool: &str) -> Vec<Value> {
    let lines = &through.transcript().server_received;
    let calls = lines
        .iter()
        .filter(|line| frame::method(line).as_deref() == Some("tools/call"));
    calls
        .map(|line| frame::value(line)["params"].take())
        .filter(|params| params["name"] == json!(tool))
        .map(|mut params| params["arguments"].take())
        .collect()
}

/// Each call is in the ledger once, with the outcome its answer told; nothing else reached the server as a call, and
/// Candor never asked it what it may not know.
fn recorded(subject: &Subject, through: &Played) {
    let told = through.answers.values().map(|answer| {
        let verdict = &frame::value(answer)["result"]["_meta"]["candor/verdict"];
        (verdict["operationId"].clone(), verdict["outcome"].clone())
    });
    let told: BTreeMap<String, String> = told
        .map(|(id, outcome)| (id.to_string(), outcome.to_string()))
        .collect();
    let kept: BTreeMap<String, String> = through
        .ledger
        .iter()
        .map(|call| (call["operationId"].to_string(), call["outcome"].to_string()))
        .collect();
    assert_eq!(
        told, kept,
        "{}: what was told and what was recorded",
        subject.name
    );
    assert_eq!(kept.len(), through.answers.len());
    let methods: Vec<_> = through
        .transcript()
        .server_received
        .iter()
        .filter_map(|line| frame::method(line))
        .collect();
    let sent = methods.iter().filter(|method| *method == "tools/call").count();
    assert_eq!(sent, through.answers.len() - subject.bad.len());
    assert!(
        !methods.iter().any(|method| method == "server/discover"),
        "Candor probed"
    );
}

/// A text as it stands inside a JSON string.
fn quoted(text: &str) -> String {
    let quoted = json!(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn joined(parts: &[String]) -> String {
    if parts.is_empty() {
        "–".to_owned()
    } else {
        parts.join("; ")
    }
}

#[test]
fn how_a_server_told_it_is_read_from_flag_and_error_and_never_from_words() {
    for (answer, told) in [
        (r#"{"id":1,"error":{"code":0,"message":"done"}}"#, "error 0"),
        (r#"{"id":1,"error":{"code":-32603,"message":""}}"#, "error -32603"),
        (r#"{"id":1,"result":{"content":[],"isError":true}}"#, "flagged"),
        (r#"{"id":1,"result":{"content":[],"isError":false}}"#, "hidden"),
        (
            r#"{"id":1,"result":{"content":[{"type":"text","text":"Error: it failed"}]}}"#,
            "hidden",
        ),
    ] {
        assert_eq!(as_told(answer), told, "{answer}");
    }
}

#[test]
fn a_shape_keeps_members_and_types_and_no_values() {
    let first = json!({ "at": "12:00", "n": [1, 2], "none": null });
    assert_eq!(
        shape(&first),
        shape(&json!({ "at": "13:00", "n": [3, 4], "none": null }))
    );
    for other in [
        json!({ "at": 12, "n": [1, 2], "none": null }),
        json!({ "at": "", "n": [1], "none": null }),
        json!({ "at": "", "n": [1, 2] }),
    ] {
        assert_ne!(shape(&first), shape(&other));
    }
}
