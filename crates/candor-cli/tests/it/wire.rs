//! The wire as it comes in the field: lines that are broken, joined or too long, ids of every kind, answers that nobody
//! asked for, many calls, and servers that do not read or do not end. Each has a bound, and an end that can be seen.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io::Write,
    process::Stdio,
    sync::mpsc::channel,
    thread,
};

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    frame,
    host::{DEADLINE, Host},
    scene::{Scene, Way},
};

/// How many calls are open at once under load.
const WINDOW: usize = 64;

/// A script with these tools, each given by its name and its steps.
fn script(start: &str, tools: &[(&str, &str)]) -> String {
    let tools: Vec<String> = tools
        .iter()
        .map(|(name, steps)| {
            format!(
                r#"{{ "definition": {{ "name": "{name}", "description": "As it says.", "inputSchema": {{ "type": "object" }} }},
                     "plays": [{{ "steps": [{{ "done": "done" }}, {steps}] }}] }}"#
            )
        })
        .collect();
    format!(
        r#"{{ "about": "Odd on the wire.", "server": {{ "name": "wire", "version": "1" }}, "start": [{start}], "tools": [{}] }}"#,
        tools.join(",")
    )
}

/// The first text of a result; of an error its message.
fn told(answer: &str) -> String {
    let value = frame::value(answer);
    let text = value["result"]["content"][0]["text"]
        .as_str()
        .or(value["error"]["message"].as_str());
    text.unwrap_or_else(|| panic!("no text in {answer}")).to_owned()
}

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

/// A tool that answers well.
const GOOD: (&str, &str) = (
    "good",
    r#"{ "result": { "content": [{ "type": "text", "text": "well" }] } }"#,
);

/// Tells the host that a call has reached the server.
const HELD: &str =
    r#"{ "notify": { "method": "notifications/message", "params": { "level": "info", "data": "held" } } }"#;

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

#[test]
fn answers_for_nobody_reach_nobody_whatever_their_id_is() {
    let stray = |id: &str| {
        format!(
            r#"{{ "frame": {{ "jsonrpc": "2.0", "id": {id}, "result": {{ "content": [{{ "type": "text", "text": "stray" }}] }} }} }}"#
        )
    };
    let ids = [
        "\"nobody\"",
        "900719925474099",
        "-1",
        "1.5",
        "\"\"",
        "null",
        "true",
        "[1]",
        "{}",
    ];
    let strays: Vec<String> = ids.iter().map(|id| stray(id)).collect();
    let strays = strays.join(",");
    let steps = format!("{strays}, {}, {strays}", GOOD.1);
    // Before anything was asked too.
    let (scene, opening) = (
        Scene::written(&script(&strays, &[("odd", &steps), GOOD])),
        Opening::newest(Era::Legacy),
    );
    let mut host = scene.open(Way::Through, &opening);
    assert_eq!(told(&host.ask(&opening.call("1", "odd", &json!({})))), "well");
    assert_eq!(told(&host.ask(&opening.call("2", "good", &json!({})))), "well");
    let transcript = scene.end(Way::Through, host);
    assert!(
        transcript.server_sent.iter().any(|line| line.contains("stray")),
        "the server wrote strays"
    );
    assert!(
        transcript
            .host_received
            .iter()
            .all(|line| !line.contains("stray")),
        "{:#?}",
        transcript.host_received
    );
    assert_eq!(transcript.code, Some(0), "{}", transcript.errors);
}

#[test]
fn ids_of_every_kind_come_back_as_they_were_and_what_is_no_id_is_refused() {
    let (scene, opening) = (Scene::written(&script("", &[GOOD])), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    for id in [
        "0",
        "-7",
        "1.50",
        "1e2",
        "12345678901234567890123",
        "\"\"",
        "\"0\"",
        "\"\\u00e9 \\/\"",
    ] {
        let call = host.ask(&opening.call(id, "good", &json!({})));
        assert_eq!(told(&call), "well", "{id}");
        // The id is free again once it is answered.
        host.send(&opening.request(id, "ping", json!({})));
        let pong = std::iter::repeat_with(|| host.next())
            .find(|line| frame::id(line) == Some(id) && !line.contains("well"))
            .unwrap();
        assert!(frame::raw_at(&pong, &["result"]).is_some(), "{id}: {pong}");
    }
    for id in ["null", "true", "[1]", "{\"a\":1}"] {
        host.send(&opening.call(id, "good", &json!({})));
        let refused = std::iter::repeat_with(|| host.next())
            .find(|line| line.contains("-32600"))
            .unwrap();
        assert!(refused.contains("null is no id in MCP"), "{id}: {refused}");
    }
    assert_eq!(
        scene.end(Way::Through, host).truth.len(),
        8,
        "what has no id is not sent"
    );
}

#[test]
fn an_id_that_is_open_is_refused_a_second_time_and_free_when_it_is_answered() {
    let steps = format!(r#"{HELD}, {{ "wait": "go" }}, {}"#, GOOD.1);
    let go = format!(r#"{{ "release": "go" }}, {}"#, GOOD.1);
    let (scene, opening) = (
        Scene::written(&script("", &[("held", &steps), ("go", &go)])),
        Opening::newest(Era::Legacy),
    );
    let mut host = scene.open(Way::Through, &opening);
    host.send(&opening.call("1", "held", &json!({})));
    let refused = host.ask(&opening.call("1", "held", &json!({ "second": true })));
    assert!(
        refused.contains("-32600") && refused.contains("id 1 is still open"),
        "{refused}"
    );
    host.message("notifications/message");
    // The same digits as a text are another id.
    assert_eq!(told(&host.ask(&opening.call("\"1\"", "go", &json!({})))), "well");
    let held = std::iter::repeat_with(|| host.next())
        .find(|line| frame::id(line) == Some("1") && line.contains("well"))
        .unwrap();
    assert_eq!(told(&held), "well");
    host.send(&opening.call("1", "go", &json!({ "third": true })));
    let again = std::iter::repeat_with(|| host.next())
        .find(|line| frame::id(line) == Some("1"))
        .unwrap();
    assert_eq!(told(&again), "well");
    let transcript = scene.end(Way::Through, host);
    assert_eq!(transcript.truth.len(), 3, "{:#?}", transcript.truth);
}

#[test]
fn sixty_four_calls_in_flight_each_get_their_own_answer() {
    let held = format!(
        r#"{HELD}, {{ "wait": "go" }},
            {{ "result": {{ "content": [{{ "type": "text", "text": "well" }}], "structuredContent": "{{{{arguments}}}}" }} }}"#
    );
    let go = format!(r#"{{ "release": "go" }}, {}"#, GOOD.1);
    let (scene, opening) = (
        Scene::written(&script("", &[("held", &held), ("go", &go)])),
        Opening::newest(Era::Legacy),
    );
    let mut host = scene.open(Way::Through, &opening);
    for id in 0..WINDOW {
        host.send(&opening.call(&id.to_string(), "held", &json!({ "id": id })));
    }
    for _ in 0..WINDOW {
        host.message("notifications/message");
    }
    assert!(
        host.received.iter().all(|line| !line.contains("well")),
        "all are held at once"
    );
    host.ask(&opening.call("\"go\"", "go", &json!({})));
    for id in 0..WINDOW {
        let answer = frame::value(&host.response_to(&id.to_string()));
        assert_eq!(answer["result"]["structuredContent"], json!({ "id": id }));
    }
    assert_eq!(scene.end(Way::Through, host).truth.len(), WINDOW + 1);
}

#[test]
fn ten_thousand_quick_calls_are_answered_once_each() {
    const CALLS: usize = 10_000;
    let opening = Opening::newest(Era::Legacy);
    let scene = Scene::of("echo").option("--no-ledger");
    let mut host = scene.open(Way::Through, &opening);
    let send =
        |host: &mut Host, id: usize| host.send(&opening.call(&id.to_string(), "say", &json!({ "id": id })));
    (0..WINDOW).for_each(|id| send(&mut host, id));
    let mut answered = BTreeSet::new();
    let mut sent = WINDOW;
    while answered.len() < CALLS {
        let line = host.next();
        let Some(id) = frame::id(&line).and_then(|id| id.parse::<usize>().ok()) else {
            continue;
        };
        assert_eq!(
            frame::raw_at(&line, &["result", "structuredContent"]),
            Some(format!("{{\"id\":{id}}}").as_str())
        );
        assert!(answered.insert(id), "{id} was answered twice");
        if sent < CALLS {
            send(&mut host, sent);
            sent += 1;
        }
    }
    let transcript = scene.end(Way::Through, host);
    assert_eq!(transcript.truth.len(), CALLS);
    assert_eq!(transcript.code, Some(0), "{}", transcript.errors);
}

/// A server that shakes hands, lists one tool, and then does as `then` says, in the words of a shell.
fn shell(then: &str) -> Vec<OsString> {
    let start = r#"
answer() { read -r line; id=${line#*\"id\":}; id=${id%%[,\}]*}; printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}'
read -r line
answer '{"tools":[{"name":"act","inputSchema":{"type":"object"}}]}'
"#;
    ["sh".into(), "-c".into(), format!("{start}{then}").into()].into()
}

#[test]
fn a_server_that_stops_reading_costs_no_more_than_its_deadline() {
    let scene = Scene::with_server(&shell("exec sleep 600"))
        .option("--timeout")
        .option("2s");
    let opening = Opening::newest(Era::Legacy);
    let mut host = scene.open(Way::Through, &opening);
    let filling = "x".repeat(20_000);
    // More than the pipes on the way hold.
    for id in 0..40 {
        host.send(&opening.call(&id.to_string(), "act", &json!({ "filling": filling })));
    }
    let mut openings = BTreeMap::new();
    for id in 0..40 {
        let answer = told(&host.response_to(&id.to_string()));
        let opening = answer.split(':').next().unwrap().to_owned();
        *openings.entry(opening).or_insert(0) += 1;
    }
    // What went into the pipe may be read yet; what never left was not done.
    assert_eq!(openings.keys().collect::<Vec<_>>(), ["NOT DONE", "UNKNOWN"]);
    assert!(openings["NOT DONE"] > 20, "{openings:?}");
    // And the end of the host's input is heard: closing returns within the harness's deadline.
    let transcript = scene.end(Way::Through, host);
    assert_eq!(transcript.host_received.len(), 42, "one answer each");
}

#[test]
fn a_server_that_ignores_the_end_and_sigterm_is_ended_and_its_answers_are_kept() {
    let stubborn = r#"
echo $$ > pid
trap '' TERM HUP INT
answer '{"content":[{"type":"text","text":"well"}]}'
while :; do sleep 1; done"#;
    for (then, gone_by_itself) in [(stubborn, false), (stubborn.split("while").next().unwrap(), true)] {
        let scene = Scene::with_server(&shell(then));
        let opening = Opening::newest(Era::Legacy);
        let mut host = scene.open(Way::Through, &opening);
        assert_eq!(told(&host.ask(&opening.call("1", "act", &json!({})))), "well");
        let pid = std::fs::read_to_string(scene.path("pid")).unwrap();
        // Closing returns within the harness's deadline.
        let transcript = scene.end(Way::Through, host);
        assert_eq!(
            transcript.code == Some(0),
            gone_by_itself,
            "{:?}",
            transcript.code
        );
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let state = stat.rsplit_once(") ").map_or("X", |(_, rest)| rest);
        assert!(state.starts_with(['X', 'Z']), "the server is still there: {stat}");
        let outcomes: Vec<Value> = scene.calls().iter().map(|call| call["outcome"].clone()).collect();
        assert_eq!(outcomes, ["reported"]);
    }
}
