//! Lines that are broken, joined, marked, cut off or too long, from either side.

use std::{io::Write, process::Stdio, sync::mpsc::channel, thread};

use candor_fixtures::script::Era;
use serde_json::json;

use super::{GOOD, script, told};
use crate::harness::{
    conversation::Opening,
    frame,
    host::DEADLINE,
    scene::{Scene, Way},
};

/// Gives Candor all these bytes, then the end of its input, and returns every line that it wrote.
fn answers_to(scene: &Scene, bytes: Vec<u8>) -> Vec<String> {
    let mut command = scene.command(Way::Through);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let (sender, receiver) = channel();
    thread::spawn(move || {
        input.write_all(&bytes).unwrap();
        drop(input);
        sender.send(child.wait_with_output().unwrap()).unwrap();
    });
    let output = receiver
        .recv_timeout(DEADLINE)
        .expect("Candor ends when its input has");
    let text = String::from_utf8(output.stdout).expect("Candor writes UTF-8");
    text.lines().map(str::to_owned).collect()
}

/// `initialize` and its notification, as lines.
fn handshake() -> String {
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"open\",\"method\":\"initialize\",\"params\":{params}}}\n\
         {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n"
    )
}

#[test]
fn a_line_of_the_server_that_can_not_be_read_ends_its_call_and_nothing_else() {
    let answer = r#"{\"jsonrpc\":\"2.0\",\"id\":\"{{id}}\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"sent"#;
    let rest = r#"\"}]}}"#;
    let cases: &[(&str, String, &str)] = &[
        ("plain", format!(r#"{{ "line": "{answer}{rest}" }}"#), "sent"),
        (
            "crlf",
            format!(r#"{{ "bytes": "{answer}{rest}" }}, {{ "hex": "0d0a" }}"#),
            "sent",
        ),
        (
            "blank_lines_around",
            format!(r#"{{ "hex": "0a0d0a" }}, {{ "line": "{answer}{rest}" }}, {{ "line": "" }}"#),
            "sent",
        ),
        (
            "in_two_writes",
            format!(
                r#"{{ "bytes": "{answer}" }}, {{ "after_ms": 20 }}, {{ "bytes": "{rest}" }}, {{ "hex": "0a" }}"#
            ),
            "sent",
        ),
        (
            "not_utf8",
            format!(r#"{{ "bytes": "{answer}" }}, {{ "hex": "ff" }}, {{ "line": "{rest}" }}"#),
            "UNKNOWN: ",
        ),
        ("cut_off", format!(r#"{{ "line": "{answer}" }}"#), "UNKNOWN: "),
        (
            "glued",
            format!(
                r#"{{ "bytes": "{answer}{rest}" }}, {{ "line": "{{\"jsonrpc\":\"2.0\",\"method\":\"n\"}}" }}"#
            ),
            "UNKNOWN: ",
        ),
    ];
    let mut tools: Vec<_> = cases
        .iter()
        .map(|(name, steps, _)| (*name, steps.as_str()))
        .collect();
    tools.push(GOOD);
    let (scene, opening) = (Scene::written(&script("", &tools)), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    for (name, _, expected) in cases {
        let answer = told(&host.ask(&opening.call(&format!("\"{name}\""), name, &json!({}))));
        assert!(answer.starts_with(expected), "{name}: {answer}");
        let after = host.ask(&opening.call(&format!("\"after {name}\""), "good", &json!({})));
        assert_eq!(told(&after), "well", "{name}: the session went on");
    }
    let transcript = scene.end(Way::Through, host);
    assert_eq!(transcript.code, Some(0), "{}", transcript.errors);
}

#[test]
fn a_last_line_without_a_newline_counts_where_it_is_whole() {
    let whole = r#"{\"jsonrpc\":\"2.0\",\"id\":\"{{id}}\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"last\"}]}}"#;
    let die = r#"{ "die": { "exit": 0 } }"#;
    for (bytes, expected) in [(whole, "last"), (whole.trim_end_matches("]}}"), "UNKNOWN: ")] {
        let steps = format!(r#"{{ "bytes": "{bytes}" }}, {die}"#);
        let (scene, opening) = (
            Scene::written(&script("", &[("last", &steps)])),
            Opening::newest(Era::Legacy),
        );
        let mut host = scene.open(Way::Through, &opening);
        let answer = told(&host.ask(&opening.call("1", "last", &json!({}))));
        assert!(answer.starts_with(expected), "{bytes}: {answer}");
        scene.end(Way::Through, host);
    }
}

#[test]
fn what_a_host_writes_is_read_as_it_was_meant_or_refused_and_the_next_line_counts() {
    let ping = r#"{"jsonrpc":"2.0","id":"odd","method":"ping"}"#;
    let next = "{\"jsonrpc\":\"2.0\",\"id\":\"next\",\"method\":\"ping\"}";
    let cases: &[(&str, Vec<u8>, Option<i64>)] = &[
        ("plain", format!("{ping}\n").into(), None),
        ("crlf", format!("{ping}\r\n").into(), None),
        ("blank lines", format!("\n\r\n{ping}\n\n").into(), None),
        ("not UTF-8", [ping.as_bytes(), b"\xff\n"].concat(), Some(-32700)),
        ("cut off", format!("{}\n", &ping[..20]).into(), Some(-32700)),
        ("glued", format!("{ping}{ping}\n").into(), Some(-32700)),
        ("a mark inside", format!("\u{feff}{ping}\n").into(), Some(-32700)),
        ("no object", b"3\n".to_vec(), Some(-32600)),
    ];
    let scene = Scene::of("echo");
    for (what, bytes, code) in cases {
        // The last line has no newline, and counts all the same.
        let all = [handshake().as_bytes(), bytes, next.as_bytes()].concat();
        let answers = answers_to(&scene, all);
        let by_id = |id: &str| answers.iter().find(|line| frame::id(line) == Some(id));
        let after = by_id("\"next\"").unwrap_or_else(|| panic!("{what}: no next answer: {answers:#?}"));
        assert!(frame::raw_at(after, &["result"]).is_some(), "{what}: {after}");
        let odd = by_id("\"odd\"").is_some_and(|line| frame::raw_at(line, &["result"]).is_some());
        assert_eq!(odd, code.is_none(), "{what}: {answers:#?}");
        let refusals: Vec<i64> = answers
            .iter()
            .filter_map(|line| frame::value(line)["error"]["code"].as_i64())
            .collect();
        assert_eq!(
            refusals,
            code.iter().copied().collect::<Vec<_>>(),
            "{what}: {answers:#?}"
        );
    }
}

#[test]
fn a_byte_order_mark_before_the_first_line_is_no_part_of_it() {
    let answers = answers_to(&Scene::of("echo"), format!("\u{feff}{}", handshake()).into());
    assert_eq!(answers.len(), 1, "{answers:#?}");
    assert_eq!(frame::id(&answers[0]), Some("\"open\""));
    assert!(frame::raw_at(&answers[0], &["result"]).is_some(), "{answers:#?}");
    let marked = script(r#"{ "hex": "efbbbf" }"#, &[GOOD]);
    let (scene, opening) = (Scene::written(&marked), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    assert_eq!(told(&host.ask(&opening.call("1", "good", &json!({})))), "well");
    scene.end(Way::Through, host);
}

#[test]
fn a_message_over_the_limit_ends_one_call_and_not_the_session() {
    let tools = [
        ("long", r#"{ "oversized": 9000 }"#),
        ("short", r#"{ "oversized": 1000 }"#),
        GOOD,
    ];
    let scene = Scene::written(&script("", &tools))
        .option("--frame-limit")
        .option("8192");
    let opening = Opening::newest(Era::Legacy);
    let mut host = scene.open(Way::Through, &opening);
    let long = told(&host.ask(&opening.call("1", "long", &json!({}))));
    assert!(long.starts_with("UNKNOWN: ") && long.contains("8192"), "{long}");
    assert_eq!(
        told(&host.ask(&opening.call("2", "short", &json!({})))).len(),
        1000
    );
    // Towards the server the same: what is refused here is known by its id, and nothing of it is sent.
    let refused = host.ask(&opening.call("3", "good", &json!({ "filling": "x".repeat(9000) })));
    assert!(
        refused.contains("-32600") && refused.contains("8192"),
        "{refused}"
    );
    assert_eq!(told(&host.ask(&opening.call("4", "good", &json!({})))), "well");
    let transcript = scene.end(Way::Through, host);
    assert!(
        transcript
            .server_received
            .iter()
            .all(|line| !line.contains("xxxx"))
    );
    assert_eq!(transcript.code, Some(0), "{}", transcript.errors);
}
