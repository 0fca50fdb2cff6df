//! A person must agree before a call is sent: asked through the host, in both eras, and never taken for granted.

use std::process::Command;
use std::time::{Duration, Instant};

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    frame,
    host::{DEADLINE, Host},
    scene::{Scene, Way, candor},
    spec::SpecCheck,
    transcript::Transcript,
};

/// A server whose log has every call.
const SERVER: &str = r#"{
  "about": "Drops what it is told to.",
  "server": { "name": "rooms", "version": "1.0.0" },
  "tools": [
    { "definition": { "name": "drop", "description": "Drops a table.", "inputSchema": { "type": "object", "properties": { "table": { "type": "string" }, "count": { "type": "integer" } }, "required": ["table"] } },
      "plays": [{ "steps": [{ "done": "dropped" }, { "result": { "content": [{ "type": "text", "text": "dropped" }] } }] }] },
    { "definition": { "name": "look", "description": "Looks.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "undone": "looked" }, { "result": { "content": [{ "type": "text", "text": "seen" }] } }] }] }
  ]
}"#;

const CONTRACT: &str = r#"
[servers.fixture.tools.drop]
effect = "write"
confirm = true
"#;

fn scene() -> Scene {
    Scene::written(SERVER).config(CONTRACT)
}

/// What the host's user does with the question.
const YES: &str = r#"{"action":"accept","content":{"confirmed":true}}"#;

fn arguments() -> Value {
    json!({ "table": "bookings" })
}

/// Calls, answers the question with this body (`"result":…` or `"error":…`), and gives the question and the answer.
fn asked(host: &mut Host, opening: &Opening, id: &str, body: &str) -> (Value, Value) {
    host.send(&opening.call(id, "drop", &arguments()));
    let question = host.message("elicitation/create");
    let asked = frame::id(&question).unwrap();
    host.send(&format!(r#"{{"jsonrpc":"2.0","id":{asked},{body}}}"#));
    (frame::value(&question), frame::value(&host.response_to(id)))
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
}

fn verdict(answer: &Value) -> &Value {
    &answer["result"]["_meta"]["candor/verdict"]
}

/// Not done, not sent, and nothing in the backend's log.
fn assert_unconfirmed(answer: &Value, words: &str) {
    assert!(
        text(answer).starts_with("NOT DONE: drop was not sent to server \"fixture\""),
        "{answer}"
    );
    assert!(text(answer).contains(words), "{answer}");
    assert_eq!(answer["result"]["isError"], true);
    let verdict = verdict(answer);
    for (member, value) in [
        ("outcome", "rejected"),
        ("effect", "not_applied"),
        ("protocol", "not_sent"),
        ("evidence", "not_sent"),
    ] {
        assert_eq!(verdict[member], value, "{member}");
    }
    assert_eq!(verdict["error"]["code"], "CANDOR_NOT_CONFIRMED");
    assert_eq!(verdict["error"]["kind"], "permission_denied");
}

fn assert_nothing_reached_the_server(transcript: &Transcript) {
    assert!(
        transcript.truth.is_empty(),
        "the backend's log is not empty: {:?}",
        transcript.truth
    );
    let calls = transcript
        .server_received
        .iter()
        .filter(|line| frame::method(line).as_deref() == Some("tools/call"));
    assert_eq!(calls.count(), 0);
}

fn check(opening: &Opening, transcript: &Transcript) {
    if let Some(spec) = SpecCheck::of(opening.revision) {
        spec.check(transcript);
    }
}

#[test]
fn a_call_that_the_user_agrees_to_is_sent_once_and_its_answer_passes() {
    let (scene, opening) = (scene(), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    let (question, answer) = asked(&mut host, &opening, "5", &format!("\"result\":{YES}"));
    let message = question["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("drop on server \"fixture\"") && message.contains(r#"{"table":"bookings"}"#),
        "{message}"
    );
    assert_eq!(text(&answer), "dropped");
    assert_eq!(verdict(&answer)["outcome"], "reported");
    let transcript = scene.end(Way::Through, host);
    assert_eq!(transcript.truth.len(), 1);
    assert!(
        !transcript
            .server_received
            .iter()
            .any(|line| line.contains("candor/ask")),
        "the answer is Candor's and no business of the server's"
    );
    check(&opening, &transcript);
    assert_eq!(scene.calls().len(), 1);
    let operation = verdict(&answer)["operationId"].as_str().unwrap();
    let shown = Command::new(candor())
        .args(["show", operation, "--ledger"])
        .arg(scene.ledger())
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.contains("consent   accept: the user was asked: An agent wants"),
        "the record says who was asked what: {shown}"
    );
}

#[test]
fn whoever_does_not_agree_is_told_which_end_it_was_and_the_backends_log_is_empty() {
    let (scene, opening) = (scene(), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    for (id, body, words) in [
        ("5", r#""result":{"action":"decline"}"#, "the user declined"),
        (
            "6",
            r#""result":{"action":"cancel"}"#,
            "the user closed the question without an answer",
        ),
        (
            "7",
            r#""error":{"code":-32601,"message":"Method not found"}"#,
            "nobody could be asked: the host refused the question (-32601)",
        ),
        (
            "8",
            r#""result":{"action":"accept","content":{"confirmed":false}}"#,
            "the user declined",
        ),
        (
            "9",
            r#""result":{"action":"accept","content":{}}"#,
            "what came back is no answer to the question",
        ),
        (
            "10",
            r#""result":{}"#,
            "what came back is no answer to the question",
        ),
    ] {
        let (_, answer) = asked(&mut host, &opening, id, body);
        assert_unconfirmed(&answer, words);
    }
    let transcript = scene.end(Way::Through, host);
    assert_nothing_reached_the_server(&transcript);
    assert_eq!(scene.calls().len(), 6, "each is recorded");
    check(&opening, &transcript);
}

#[test]
fn a_host_that_shows_no_forms_gets_a_refusal_and_the_backends_log_is_empty() {
    for (revision, capabilities) in [
        ("2025-11-25", json!({})),
        ("2025-11-25", json!({ "elicitation": { "url": {} } })),
        ("2025-03-26", json!({ "elicitation": {} })),
        ("2026-07-28", json!({})),
    ] {
        let opening = Opening {
            revision,
            capabilities,
        };
        let scene = scene();
        let mut host = scene.open(Way::Through, &opening);
        let answer = frame::value(&host.ask(&opening.call("5", "drop", &arguments())));
        assert_unconfirmed(&answer, "this host does not say that it can show its user a form");
        let look = frame::value(&host.ask(&opening.call("6", "look", &json!({}))));
        assert_eq!(text(&look), "seen", "a tool without the clause asks nobody");
        let transcript = scene.end(Way::Through, host);
        assert!(
            transcript.truth.iter().all(|truth| truth.tool == "look"),
            "{revision}"
        );
        check(&opening, &transcript);
    }
}

#[test]
fn a_call_that_is_cancelled_meanwhile_takes_its_question_back_and_is_never_sent() {
    let (scene, opening) = (scene(), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    host.send(&opening.call("5", "drop", &arguments()));
    let question = host.message("elicitation/create");
    let asked = frame::id(&question).unwrap().to_owned();
    host.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#);
    let back = frame::value(&host.message("notifications/cancelled"));
    assert_eq!(back["params"]["requestId"].to_string(), asked);
    // Too late, and for nobody.
    host.send(&format!(r#"{{"jsonrpc":"2.0","id":{asked},"result":{YES}}}"#));
    let look = frame::value(&host.ask(&opening.call("6", "look", &json!({}))));
    assert_eq!(text(&look), "seen");
    let transcript = scene.end(Way::Through, host);
    assert!(transcript.truth.iter().all(|truth| truth.tool == "look"));
    assert!(
        !transcript
            .server_received
            .iter()
            .any(|line| line.contains("candor/ask"))
    );
    check(&opening, &transcript);
}

#[test]
fn a_host_that_leaves_has_not_agreed() {
    let (scene, opening) = (scene(), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    host.send(&opening.call("5", "drop", &arguments()));
    host.message("elicitation/create");
    let transcript = scene.end(Way::Through, host);
    assert_nothing_reached_the_server(&transcript);
    let calls = scene.calls();
    assert_eq!(
        (calls.len(), &calls[0]["effect"]),
        (1, &json!("not_applied")),
        "{calls:?}"
    );
}

#[test]
fn silence_is_no_consent_in_either_era() {
    for era in [Era::Legacy, Era::Modern] {
        let opening = Opening::newest(era);
        let scene = scene().option("--confirm-within").option("300ms");
        let mut host = scene.open(Way::Through, &opening);
        if opening.is_modern() {
            let (_, state) = first_round(&mut host, &opening, "5");
            // Recorded once its time is over; who comes back then is asked anew.
            wait_until_recorded(&scene);
            let late = frame::value(&host.ask(&next_round(&opening, "6", &arguments(), &state, &yes())));
            assert_eq!(late["result"]["resultType"], "input_required", "{late}");
        } else {
            host.send(&opening.call("5", "drop", &arguments()));
            let question = host.message("elicitation/create");
            let answer = frame::value(&host.response_to("5"));
            assert_unconfirmed(&answer, "the user did not answer within");
            let back = frame::value(&host.message("notifications/cancelled"));
            assert_eq!(
                Some(back["params"]["requestId"].to_string().as_str()),
                frame::id(&question)
            );
        }
        let transcript = scene.end(Way::Through, host);
        assert_nothing_reached_the_server(&transcript);
        check(&opening, &transcript);
        assert!(scene.calls().iter().all(|call| call["effect"] == "not_applied"));
    }
}

fn wait_until_recorded(scene: &Scene) {
    let start = Instant::now();
    while scene.calls().is_empty() {
        assert!(
            start.elapsed() < DEADLINE,
            "waited for the record of an expired question"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The first round of a modern call, and its state.
fn first_round(host: &mut Host, opening: &Opening, id: &str) -> (Value, String) {
    let answer = frame::value(&host.ask(&opening.call(id, "drop", &arguments())));
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    let state = answer["result"]["requestState"].as_str().unwrap().to_owned();
    (answer, state)
}

fn next_round(opening: &Opening, id: &str, arguments: &Value, state: &str, responses: &Value) -> String {
    let params =
        json!({ "name": "drop", "arguments": arguments, "requestState": state, "inputResponses": responses });
    opening.request(id, "tools/call", params)
}

fn yes() -> Value {
    json!({ "candor/confirm": { "action": "accept", "content": { "confirmed": true } } })
}

#[test]
fn in_rounds_the_call_goes_on_with_the_answer_and_the_server_sees_nothing_of_it() {
    let (scene, opening) = (scene(), Opening::newest(Era::Modern));
    let mut host = scene.open(Way::Through, &opening);
    let (first, state) = first_round(&mut host, &opening, "5");
    let asked = &first["result"]["inputRequests"]["candor/confirm"];
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(verdict(&first)["effect"], "not_applied");
    let answer = frame::value(&host.ask(&next_round(&opening, "6", &arguments(), &state, &yes())));
    assert_eq!(text(&answer), "dropped", "{answer}");
    assert_eq!(
        verdict(&answer)["operationId"],
        verdict(&first)["operationId"],
        "the rounds of one exchange are one operation"
    );
    let transcript = scene.end(Way::Through, host);
    assert_eq!(transcript.truth.len(), 1);
    let sent = transcript.server_received.last().unwrap();
    assert!(
        !sent.contains("requestState") && !sent.contains("inputResponses"),
        "{sent}"
    );
    check(&opening, &transcript);
    assert_eq!(scene.calls().len(), 1);
}

#[test]
fn a_state_is_good_for_one_use_and_for_its_own_arguments_alone() {
    let (scene, opening) = (scene(), Opening::newest(Era::Modern));
    let mut host = scene.open(Way::Through, &opening);
    let (_, state) = first_round(&mut host, &opening, "5");
    let other = json!({ "table": "customers" });
    let changed = frame::value(&host.ask(&next_round(&opening, "6", &other, &state, &yes())));
    assert_eq!(
        changed["result"]["resultType"], "input_required",
        "asked about anew: {changed}"
    );
    let forged = frame::value(&host.ask(&next_round(&opening, "7", &arguments(), "candor.g1.AAAA", &yes())));
    assert_eq!(forged["result"]["resultType"], "input_required", "{forged}");
    let declined = json!({ "candor/confirm": { "action": "decline" } });
    let answer = frame::value(&host.ask(&next_round(&opening, "8", &arguments(), &state, &declined)));
    assert_unconfirmed(&answer, "the user declined");
    let again = frame::value(&host.ask(&next_round(&opening, "9", &arguments(), &state, &yes())));
    assert_eq!(
        again["result"]["resultType"], "input_required",
        "used up: {again}"
    );
    let (_, state) = first_round(&mut host, &opening, "10");
    let silent = frame::value(&host.ask(&next_round(&opening, "11", &arguments(), &state, &json!({}))));
    assert_unconfirmed(&silent, "what came back is no answer to the question");
    let transcript = scene.end(Way::Through, host);
    assert_nothing_reached_the_server(&transcript);
    check(&opening, &transcript);
    let open = scene
        .calls()
        .iter()
        .filter(|call| call["effect"] != "not_applied")
        .count();
    assert_eq!(
        open, 0,
        "questions that nobody came back to are recorded as not sent"
    );
}
