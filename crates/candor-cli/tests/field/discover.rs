//! `server/discover` as the first message, in processes of its own: what servers of each age make of it, bare and through.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    sync::mpsc::channel,
    thread,
};

use candor_fixtures::script::{Era, MODERN};
use serde_json::json;

use crate::{
    harness::{
        conversation::Opening,
        frame,
        host::{DEADLINE, Host},
        scene::{Scene, Way},
        spec::SpecCheck,
    },
    isolation, play,
    subject::{Same, Subject},
};

/// Holds what the data says, bare and through Candor, and says it for the report.
pub(crate) fn hold(subject: &Subject) -> String {
    match subject.discover.as_str() {
        "dies" => {
            dies_of_it(subject);
            survived(subject);
            "bare: no answer to it nor to what follows; through Candor: both told at once, the next `initialize` works"
                .to_owned()
        }
        "answers" => modern(subject),
        expected => {
            let bare = asked_first(subject, Way::Bare);
            let through = asked_first(subject, Way::Through);
            assert_eq!(bare, through, "{}", subject.name);
            let code = &frame::value(&bare[0])["error"]["code"];
            assert_eq!(format!("error {code}"), expected, "{}: {bare:?}", subject.name);
            format!("error {code}, the same through Candor; `initialize` works after it")
        }
    }
}

fn initialize(id: &str) -> String {
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "candor-tests", "version": "0.0.0" } });
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{params}}}"#)
}

fn discover(opening: &Opening) -> String {
    opening.request("\"discover\"", "server/discover", json!({}))
}

/// The answers to `server/discover` and to an `initialize` after it.
fn asked_first(subject: &Subject, way: Way) -> Vec<String> {
    subject.lay();
    let scene = Scene::with_server(&subject.command());
    let mut host = scene.start(way);
    let first = host.ask(&discover(&play::opening(Era::Modern)));
    let second = host.ask(&initialize("\"then\""));
    assert!(
        frame::value(&second).get("result").is_some(),
        "{}: {second}",
        subject.name
    );
    finish(subject, way, &scene, host);
    vec![first, second]
}

fn finish(subject: &Subject, way: Way, scene: &Scene, host: Host) {
    match way {
        Way::Bare => {
            host.kill();
            isolation::end_all(&subject.folder());
        }
        Way::Through => {
            let transcript = scene.end(way, host);
            isolation::assert_none_left(&subject.folder());
            if let Some(spec) = SpecCheck::of(MODERN) {
                spec.check(&transcript);
            }
        }
    }
}

/// A whole modern conversation: discover, the list, one call. Each answer is as the bare one.
fn modern(subject: &Subject) -> String {
    let (first, list, called) = conversation(subject, Way::Bare);
    let (first_through, list_through, called_through) = conversation(subject, Way::Through);
    assert_eq!(first, first_through, "{}", subject.name);
    assert_eq!(list, list_through, "{}", subject.name);
    assert!(
        frame::value(&first).get("result").is_some(),
        "{}: {first}",
        subject.name
    );
    let (_, call) = subject.calls().next().unwrap();
    let (bare, through) = (frame::value(&called), frame::value(&called_through));
    if bare.get("error").is_some() {
        let code = &bare["error"]["code"];
        assert_eq!(
            bare["error"]["message"], through["error"]["message"],
            "{called}\n{called_through}"
        );
        assert_eq!(code, &through["error"]["code"], "{called}\n{called_through}");
        return format!("answers; same list without `initialize`, then refuses calls with {code}, passed on");
    }
    match call.same {
        Same::Bytes => frame::assert_only_verdict_added(&called, &called_through),
        Same::Shape => assert_eq!(
            through["result"]["_meta"]["candor/verdict"]["outcome"],
            json!("reported"),
            "{called_through}"
        ),
    }
    "answers; same list and same call without `initialize`".to_owned()
}

fn conversation(subject: &Subject, way: Way) -> (String, Vec<String>, String) {
    subject.lay();
    let scene = Scene::with_server(&subject.command());
    let mut host = scene.start(way);
    let opening = play::opening(Era::Modern);
    let first = host.ask(&discover(&opening));
    let list = play::pages(&opening, &mut host);
    let (_, call) = subject.calls().next().unwrap();
    let called = host.ask(&opening.call("\"call\"", &call.tool, &call.arguments));
    finish(subject, way, &scene, host);
    (first, list, called)
}

/// Bare: the server answers neither `server/discover` nor the `initialize` of a host that falls back.
fn dies_of_it(subject: &Subject) {
    subject.lay();
    let words = subject.command();
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines = [
        discover(&play::opening(Era::Modern)),
        initialize("\"then\""),
        String::new(),
    ]
    .join("\n");
    input.write_all(lines.as_bytes()).unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let (sender, ended) = channel();
    thread::spawn(move || sender.send(output.lines().map_while(Result::ok).collect::<Vec<_>>()));
    let answers = ended.recv_timeout(DEADLINE);
    child.kill().unwrap();
    child.wait().unwrap();
    isolation::end_all(&subject.folder());
    assert_eq!(
        answers,
        Ok(Vec::new()),
        "{}: it should close its stdout and say nothing",
        subject.name
    );
}

/// Through Candor the host is told that the server ended, and can go on with a new one on the same pipe.
fn survived(subject: &Subject) {
    subject.lay();
    let scene = Scene::with_server(&subject.command());
    let mut host = scene.start(Way::Through);
    host.send(&discover(&play::opening(Era::Modern)));
    host.send(&initialize("\"then\""));
    for id in ["\"discover\"", "\"then\""] {
        let answer = host.response_to(id);
        assert_eq!(
            frame::value(&answer)["error"]["code"],
            json!(-32603),
            "{}: {answer}",
            subject.name
        );
    }
    let opening = play::opening(Era::Legacy);
    opening.open(&mut host);
    assert!(!play::pages(&opening, &mut host).is_empty());
    finish(subject, Way::Through, &scene, host);
}
