//! Rows of docs/field-cases.md that no other test holds, each with the case beside it in which the rule must stay quiet.

use std::ffi::OsString;

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    frame,
    scene::{Scene, Way, candor},
};

/// A script with one tool, `act`, that gives this result, and whatever else stands in `more`.
fn script(result: &str, more: &str) -> String {
    format!(
        r#"{{ "about": "Gives one result.", "server": {{ "name": "field", "version": "1" }}, {more} "tools": [
             {{ "definition": {{ "name": "act", "description": "Acts.", "inputSchema": {{ "type": "object", "properties": {{ "n": {{ "type": "integer" }} }} }} }},
                "plays": [{{ "steps": [{{ "done": "done" }}, {{ "result": {result} }}] }}] }}] }}"#
    )
}

fn verdict(answer: &str, part: &str) -> Value {
    frame::value(answer)["result"]["_meta"]["candor/verdict"][part].clone()
}

/// Calls `act` once and gives what the server wrote, under the caller's id, and what the host read.
fn act(result: &str, opening: &Opening) -> (String, String) {
    act_by(&script(result, ""), opening)
}

/// As [`act`], with a whole script.
fn act_by(script: &str, opening: &Opening) -> (String, String) {
    let scene = Scene::written(script);
    let mut host = scene.open(Way::Through, opening);
    let answer = host.ask(&opening.call("\"act\"", "act", &json!({})));
    let transcript = scene.end(Way::Through, host);
    let call = transcript
        .server_received
        .iter()
        .find(|line| frame::method(line).as_deref() == Some("tools/call"))
        .unwrap();
    let written = transcript
        .server_sent
        .iter()
        .find(|line| frame::id(line) == frame::id(call))
        .unwrap();
    (frame::with_id(written, "\"act\""), answer)
}

/// F2-01: what a server promises of good results does not hold for its errors.
#[test]
fn a_flagged_result_is_not_held_against_the_output_schema_and_an_unflagged_one_is() {
    let broken = r#"{"content":[{"type":"text","text":"no such order"}],"structuredContent":{"problem":{"code":"ORDER_UNKNOWN"}}"#;
    for (result, outcome, found) in [
        (format!(r#"{broken},"isError":true}}"#), "failed", json!(null)),
        (format!("{broken}}}"), "reported", json!("output_shape")),
    ] {
        for era in [Era::Legacy, Era::Modern] {
            let opening = Opening::newest(era);
            let script = script(&result, "").replace(
                r#""inputSchema""#,
                r#""outputSchema": { "type": "object", "properties": { "orders": { "type": "array" } }, "required": ["orders"] }, "inputSchema""#,
            );
            let (written, answer) = act_by(&script, &opening);
            assert_eq!(verdict(&answer, "outcome"), outcome, "{answer}");
            let meta = &frame::value(&answer)["result"]["_meta"];
            assert_eq!(meta["candor/findings"][0]["code"], found, "{answer}");
            if found.is_null() {
                frame::assert_only_verdict_added(&written, &answer);
                assert_eq!(verdict(&answer, "evidence"), "asserted", "the server's own word");
            } else {
                for member in ["content", "structuredContent"] {
                    let path = ["result", member];
                    assert_eq!(frame::raw_at(&answer, &path), frame::raw_at(&written, &path));
                }
            }
        }
    }
}

/// DESIGN 3b: a verdict of the server's own counts only where an operator trusts it.
#[test]
fn a_servers_own_verdict_is_declared_where_it_is_trusted_and_claimed_elsewhere() {
    let told = |outcome: &str, effect: &str, flagged: bool| {
        let mut verdict = json!({
            "outcome": outcome, "effect": effect, "operationId": "01a22d2f-553f-729f-96b1-cbf0b94d4895",
            "protocol": "delivered", "evidence": "declared", "attempts": 1, "recorded": false, "reference": "R-7",
        });
        if outcome == "rejected" {
            verdict["error"] = json!({
                "code": "ROOM_UNAVAILABLE", "kind": "business_rule", "message": "It is taken.",
                "retrySameRequest": false, "repeat": "same_answer", "retryAfter": null, "issues": [],
            });
            verdict["suggestedNextStep"] = json!(null);
            verdict["parts"] = json!([]);
        }
        json!({
            "content": [{ "type": "text", "text": "said" }], "isError": flagged, "_meta": { "candor/verdict": verdict },
        })
        .to_string()
    };
    for (result, trusted, distrusted) in [
        (
            told("completed", "applied", false),
            ["completed", "applied", "declared"],
            ["reported", "unknown", "asserted"],
        ),
        (
            told("rejected", "not_applied", true),
            ["rejected", "not_applied", "declared"],
            ["failed", "unknown", "asserted"],
        ),
        // What its flag contradicts is believed by nobody.
        (
            told("completed", "applied", true),
            ["failed", "unknown", "asserted"],
            ["failed", "unknown", "asserted"],
        ),
    ] {
        for (config, expected) in [
            ("trust_verdicts = true", trusted),
            ("trust_verdicts = false", distrusted),
        ] {
            for era in [Era::Legacy, Era::Modern] {
                let opening = Opening::newest(era);
                let scene =
                    Scene::written(&script(&result, "")).config(&format!("[servers.fixture]\n{config}\n"));
                let mut host = scene.open(Way::Through, &opening);
                let answer = host.ask(&opening.call("1", "act", &json!({})));
                scene.end(Way::Through, host);
                let found = ["outcome", "effect", "evidence"].map(|part| verdict(&answer, part));
                assert_eq!(found, expected.map(Value::from), "{config}: {answer}");
                let meta = &frame::value(&answer)["result"]["_meta"];
                assert_eq!(
                    meta["candor/claimed"]["reference"], "R-7",
                    "what the server said stays to be read: {answer}"
                );
                let believed = expected[2] == "declared";
                let finding = &meta["candor/findings"][0]["code"];
                assert_eq!(finding.is_null(), believed, "{answer}");
                let blocks = &frame::value(&answer)["result"]["content"];
                assert_eq!(blocks[0]["text"], "said", "its own words stay: {answer}");
            }
        }
    }
}

#[test]
fn odd_results_pass_whole_and_are_what_their_flag_says() {
    for (result, outcome) in [
        // F9-04: members of closed lists that nobody knows.
        (
            r#"{"content":[{"type":"text","text":"x","annotations":{"audience":["system"]}}]}"#,
            "reported",
        ),
        (r#"{"content":[{"type":"chart","points":[1.0,2]}]}"#, "reported"),
        // F5-10: null where a member could have been left out.
        (
            r#"{"content":[{"type":"text","text":"x","annotations":null,"_meta":null}]}"#,
            "reported",
        ),
        // F2-16 and F2-17: text and structure say two things; and one.
        (
            r#"{"content":[{"type":"text","text":"the whole file"}],"structuredContent":{"fileName":"a"}}"#,
            "reported",
        ),
        (
            r#"{"content":[{"type":"text","text":"{\"rows\":[1]}"}],"structuredContent":{"rows":[1]}}"#,
            "reported",
        ),
        // F5-13: numbers that no float holds.
        (
            r#"{"content":[],"structuredContent":{"id":7205759403792793601,"e":1e400,"d":0.100000000000000000000000000001}}"#,
            "reported",
        ),
        // F2-14: a flag counts, whatever the structure looks like.
        (
            r#"{"content":[{"type":"text","text":"connection lost"}],"structuredContent":{"rows":3},"isError":true}"#,
            "failed",
        ),
    ] {
        for era in [Era::Legacy, Era::Modern] {
            let (written, answer) = act(result, &Opening::newest(era));
            frame::assert_only_verdict_added(&written, &answer);
            if outcome == "reported" {
                assert_eq!(verdict(&answer, "outcome"), outcome, "{result}");
            } else {
                assert_ne!(verdict(&answer, "outcome"), "reported", "{result}");
            }
        }
    }
}

#[test]
fn a_question_with_meta_is_no_result() {
    let asked = r#"{"resultType":"input_required","requestState":"s","inputRequests":{"name":{"method":"elicitation/create","params":{"mode":"form","message":"Name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}},"_meta":{"a":1}}"#;
    let complete = r#"{"resultType":"complete","content":[],"_meta":{"a":1}}"#;
    for (result, outcome) in [(asked, "input_required"), (complete, "reported")] {
        let (written, answer) = act(result, &Opening::newest(Era::Modern));
        frame::assert_only_verdict_added(&written, &answer);
        assert_eq!(verdict(&answer, "outcome"), outcome, "{answer}");
    }
}

#[test]
fn hints_on_a_list_cost_no_tool_and_its_schemas_are_known() {
    for hints in [
        r#""ttlMs":0,"cacheScope":"""#,
        r#""ttlMs":-1,"cacheScope":"private""#,
        r#""ttlMs":"soon","cacheScope":7"#,
    ] {
        let list = format!(
            r#"{{"tools":[{{"name":"act","inputSchema":{{"type":"object","properties":{{"n":{{"type":"integer"}}}}}}}}],{hints}}}"#
        );
        let more = format!(r#""methods": {{ "tools/list": [{{ "result": {list} }}] }},"#);
        let scene = Scene::written(&script(r#"{"content":[]}"#, &more));
        let opening = Opening::newest(Era::Modern);
        let mut host = scene.open(Way::Through, &opening);
        assert!(
            host.received.iter().any(|line| line.contains(hints)),
            "the list came as it was"
        );
        let wrong = host.ask(&opening.call("1", "act", &json!({ "n": "many" })));
        assert_eq!(verdict(&wrong, "protocol"), "not_sent", "{hints}: {wrong}");
        let right = host.ask(&opening.call("2", "act", &json!({ "n": 3 })));
        assert_eq!(verdict(&right, "outcome"), "reported", "{hints}: {right}");
        assert_eq!(scene.end(Way::Through, host).truth.len(), 1);
    }
}

#[test]
fn requests_between_the_handshake_and_its_confirmation_are_served() {
    let (scene, opening) = (Scene::of("echo"), Opening::newest(Era::Legacy));
    let mut host = scene.start(Way::Through);
    let params = json!({ "protocolVersion": opening.revision, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    host.ask(&opening.request("1", "initialize", params));
    let level = host.ask(&opening.request("2", "logging/setLevel", json!({ "level": "debug" })));
    assert!(frame::raw_at(&level, &["result"]).is_some(), "{level}");
    host.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let said = host.ask(&opening.call("3", "say", &json!({ "n": 1 })));
    assert_eq!(verdict(&said, "outcome"), "reported", "{said}");
    scene.end(Way::Through, host);
}

#[test]
fn through_two_gateways_a_failure_stays_one_and_a_success_too() {
    for (flag, expected) in [("true", true), ("false", false)] {
        let result = format!(r#"{{"content":[{{"type":"text","text":"out of paper"}}],"isError":{flag}}}"#);
        // A scene only for its script and the ledger of the second gateway.
        let inner = Scene::written(&script(&result, ""));
        let mut command: Vec<OsString> =
            vec![candor(), "--ledger".into(), inner.ledger().into(), "--".into()];
        command.extend([candor(), "fixture".into(), "liar".into(), "--script".into()]);
        command.push(inner.path("script.json").into());
        let (scene, opening) = (Scene::with_server(&command), Opening::newest(Era::Legacy));
        let mut host = scene.open(Way::Through, &opening);
        let answer = host.ask(&opening.call("1", "act", &json!({})));
        scene.end(Way::Through, host);
        let value = frame::value(&answer);
        assert_eq!(value["result"]["isError"], expected, "{answer}");
        let (near, far) = (scene.calls(), inner.calls());
        assert_eq!((near.len(), far.len()), (1, 1));
        assert_eq!(near[0]["outcome"], far[0]["outcome"], "both records agree");
        assert_eq!(near[0]["outcome"] == "reported", !expected, "{}", near[0]);
    }
}

#[test]
fn what_an_error_says_in_its_data_is_in_the_text() {
    for (tool, said) in [("e_data", true), ("e_no_message", false)] {
        let (scene, opening) = (Scene::of("errors"), Opening::newest(Era::Legacy));
        let mut host = scene.open(Way::Through, &opening);
        let answer = frame::value(&host.ask(&opening.call("1", tool, &json!({}))));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert_eq!(text.contains("owner has the wrong type"), said, "{text}");
        assert!(!text.contains("null"), "what is absent is not told: {text}");
        scene.end(Way::Through, host);
    }
}
