//! Tool calls through Candor: what the server wrote arrives with nothing but the verdict added.

use candor_fixtures::script::Era;
use serde_json::json;

use crate::harness::{
    conversation::Opening,
    frame,
    scene::{Scene, Way},
    spec::SpecCheck,
    transcript::Transcript,
};

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// The line that the server wrote in answer to the call that reached it with this tool's name.
fn as_written<'a>(transcript: &'a Transcript, tool: &str) -> &'a str {
    let name = json!(tool).to_string();
    let call = transcript.server_received.iter().find(|line| {
        frame::method(line).as_deref() == Some("tools/call")
            && frame::raw_at(line, &["params", "name"]) == Some(&name)
    });
    let id = frame::id(call.expect("the call reached the server")).unwrap();
    let answer = |line: &&String| frame::id(line) == Some(id) && frame::method(line).is_none();
    transcript
        .server_sent
        .iter()
        .find(answer)
        .expect("the server answered")
}

fn check(opening: &Opening, transcript: &Transcript) {
    if let Some(spec) = SpecCheck::of(opening.revision) {
        spec.check(transcript);
    }
}

#[test]
fn a_good_result_gets_a_verdict_and_keeps_its_bytes() {
    let tools = [
        "ok",
        "ok_no_count",
        "ok_bad_shape",
        "ok_good_shape",
        "ok_no_structure",
        "ok_secret",
        "flagged",
        "flagged_structure",
    ];
    for era in ERAS {
        let (scene, opening) = (Scene::of("results"), Opening::newest(era));
        let mut host = scene.open(Way::Through, &opening);
        let answers =
            tools.map(|tool| host.ask(&opening.call(&format!("\"call {tool}\""), tool, &json!({}))));
        let transcript = scene.end(Way::Through, host);
        for (tool, answer) in tools.iter().zip(&answers) {
            assert_eq!(frame::id(answer), Some(format!("\"call {tool}\"").as_str()));
            let written = as_written(&transcript, tool);
            let own = frame::with_id(written, frame::id(answer).unwrap());
            frame::assert_only_verdict_added(&own, answer);
        }
        check(&opening, &transcript);
    }
}

#[test]
fn arguments_reach_the_server_as_they_were_and_come_back_so() {
    for era in ERAS {
        let (scene, opening) = (Scene::of("asking"), Opening::newest(era));
        let mut host = scene.open(Way::Through, &opening);
        let arguments =
            r#"{"n":1.10,"e":1E2,"big":123456789012345678901234567890,"u":"\u00e9 \/","z":null,"a":[ ]}"#;
        let line = opening
            .call("19", "say", &json!({}))
            .replace(r#""arguments":{}"#, &format!(r#""arguments":{arguments}"#));
        let answer = host.ask(&line);
        assert_eq!(
            frame::raw_at(&answer, &["result", "structuredContent"]),
            Some(arguments)
        );
        let transcript = scene.end(Way::Through, host);
        let received: Vec<String> = transcript
            .server_received
            .iter()
            .map(|line| frame::without_ids(line))
            .collect();
        assert!(
            received.contains(&frame::without_ids(&line)),
            "the call was changed: {received:#?}"
        );
        check(&opening, &transcript);
    }
}

#[test]
fn absent_arguments_stay_absent() {
    for era in ERAS {
        let (scene, opening) = (Scene::of("results"), Opening::newest(era));
        let mut host = scene.open(Way::Through, &opening);
        let line = opening.request("1", "tools/call", json!({ "name": "ok" }));
        host.ask(&line);
        let transcript = scene.end(Way::Through, host);
        let received: Vec<String> = transcript
            .server_received
            .iter()
            .map(|line| frame::without_ids(line))
            .collect();
        assert!(received.contains(&frame::without_ids(&line)), "{received:#?}");
    }
}

#[test]
fn progress_comes_before_the_result_under_the_hosts_own_token() {
    for era in ERAS {
        for token in ["\"tok \\u00e9\"", "7"] {
            let (scene, opening) = (Scene::of("asking"), Opening::newest(era));
            let mut host = scene.open(Way::Through, &opening);
            let params =
                json!({ "name": "progress", "arguments": {}, "_meta": { "progressToken": "TOKEN" } });
            host.ask(
                &opening
                    .request("1", "tools/call", params)
                    .replace("\"TOKEN\"", token),
            );
            let transcript = scene.end(Way::Through, host);
            let progress = |line: &&String| frame::method(line).as_deref() == Some("notifications/progress");
            let heard: Vec<_> = transcript.host_received.iter().filter(progress).collect();
            assert_eq!(heard.len(), 3);
            let said: Vec<_> = transcript.server_sent.iter().filter(progress).collect();
            for (heard, said) in heard.iter().zip(said) {
                assert_eq!(frame::raw_at(heard, &["params", "progressToken"]), Some(token));
                assert_eq!(frame::without_ids(heard), frame::without_ids(said));
            }
            assert!(
                transcript
                    .host_received
                    .last()
                    .is_some_and(|last| frame::id(last) == Some("1"))
            );
        }
    }
}

#[test]
fn a_cancellation_reaches_the_server_and_nobody_is_answered() {
    for era in ERAS {
        let (scene, opening) = (Scene::of("silence"), Opening::newest(era));
        let mut host = scene.open(Way::Through, &opening);
        host.send(&opening.call("\"c\"", "cancelled", &json!({})));
        // The server has begun: what was never sent would be cancelled by Candor itself.
        host.message("notifications/message");
        host.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c","reason":"bored"}}"#);
        // The server answers the cancelled call before this one: when this answer is here, the other would be.
        host.ask(&opening.call("2", "release", &json!({})));
        let transcript = scene.end(Way::Through, host);
        let whats: Vec<_> = transcript.truth.iter().map(|truth| truth.what.as_str()).collect();
        assert_eq!(
            whats,
            ["done", "cancelled while open: bored", "nothing of its own"]
        );
        assert!(
            transcript
                .host_received
                .iter()
                .all(|line| frame::id(line) != Some("\"c\""))
        );
        let heard_behind_it = transcript
            .server_sent
            .iter()
            .filter(|line| line.contains("done all the same"))
            .count();
        assert_eq!(heard_behind_it, 1, "the server answered the cancelled call");
        check(&opening, &transcript);
    }
}

#[test]
fn a_cancellation_of_nothing_is_forwarded_and_harms_nothing() {
    let (scene, opening) = (Scene::of("silence"), Opening::newest(Era::Legacy));
    let mut host = scene.start(Way::Through);
    opening.open(&mut host);
    host.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"never used"}}"#);
    let answer = host.ask(&opening.call("2", "release", &json!({})));
    assert!(answer.contains("released"), "{answer}");
    scene.end(Way::Through, host);
}

#[test]
fn the_server_asks_the_host_inside_a_call_and_gets_its_answer() {
    let opening = Opening::newest(Era::Legacy);
    for (tool, method, answer) in [
        (
            "elicit",
            "elicitation/create",
            r#"{"action":"accept","content":{"name":"Ada"}}"#,
        ),
        (
            "sample",
            "sampling/createMessage",
            r#"{"role":"assistant","content":{"type":"text","text":"4"},"model":"m","x-unknown":1.10}"#,
        ),
        ("roots", "roots/list", r#"{"roots":[]}"#),
    ] {
        let scene = Scene::of("asking");
        let mut host = scene.open(Way::Through, &opening);
        host.send(&opening.call("1", tool, &json!({})));
        let asked = host.message(method);
        host.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{answer}}}"#,
            frame::id(&asked).unwrap()
        ));
        let result = frame::value(&host.response_to("1"));
        assert_eq!(
            result["result"]["content"][0]["text"],
            format!("the host said {answer}")
        );
        let transcript = scene.end(Way::Through, host);
        let said: Vec<_> = transcript
            .server_sent
            .iter()
            .map(|line| frame::without_ids(line))
            .collect();
        assert!(
            said.contains(&frame::without_ids(&asked)),
            "the server's request was changed: {asked}"
        );
        check(&opening, &transcript);
    }
}

#[test]
fn answers_in_another_order_reach_their_own_calls() {
    for era in ERAS {
        let (scene, opening) = (Scene::of("asking"), Opening::newest(era));
        let mut host = scene.open(Way::Through, &opening);
        host.send(&opening.call("\"1\"", "first", &json!({})));
        host.send(&opening.call("1", "second", &json!({})));
        assert!(host.response_to("1").contains("second"));
        assert!(host.response_to("\"1\"").contains("first"));
        scene.end(Way::Through, host);
    }
}

#[test]
fn many_large_calls_at_once_get_their_own_answers() {
    // More than any pipe holds, in both directions, before the first answer is asked for.
    let (scene, opening) = (Scene::of("asking"), Opening::newest(Era::Modern));
    let mut host = scene.open(Way::Through, &opening);
    let filling = "x".repeat(20_000);
    for id in 0..200 {
        host.send(&opening.call(&id.to_string(), "say", &json!({ "id": id, "filling": filling })));
    }
    for id in 0..200 {
        let answer = host.response_to(&id.to_string());
        let structure = frame::raw_at(&answer, &["result", "structuredContent"]).unwrap();
        assert_eq!(structure, json!({ "id": id, "filling": filling }).to_string());
    }
    assert_eq!(scene.end(Way::Through, host).truth.len(), 200);
}
