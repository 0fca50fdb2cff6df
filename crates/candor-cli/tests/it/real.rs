//! Real servers from the package registries, bare and through Candor. `scripts/subjects.sh` installs them.

use std::{ffi::OsString, path::PathBuf, process::Command};

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    frame,
    scene::{Scene, Way},
    spec::SpecCheck,
};

/// A real server and two calls of it.
struct Subject {
    command: Vec<OsString>,
    tool: &'static str,
    good: Value,
    bad: Value,
    /// What a refusal of `bad` must name.
    names: &'static str,
    /// Keeps what the server works on.
    _folder: tempfile::TempDir,
}

/// A file under `.subjects`; where it is not installed, says so and gives none. In CI that is a failure.
fn installed(file: &str) -> Option<OsString> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.subjects")).join(file);
    if path.exists() {
        return Some(path.into());
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "{} is not installed",
        path.display()
    );
    eprintln!("skipped: no {} (run scripts/subjects.sh)", path.display());
    None
}

fn everything() -> Option<Subject> {
    let index = installed("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js")?;
    Some(Subject {
        command: vec!["node".into(), index],
        tool: "echo",
        good: json!({ "message": "caf\u{e9}" }),
        bad: json!({ "mesage": "x" }),
        names: "/message",
        _folder: tempfile::tempdir().unwrap(),
    })
}

fn git() -> Option<Subject> {
    let server = installed("python/venv/bin/mcp-server-git")?;
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new("git")
        .args(["init", "--quiet"])
        .arg(folder.path())
        .status()
        .unwrap();
    assert!(made.success());
    let path = folder.path().to_string_lossy().into_owned();
    Some(Subject {
        command: vec![server, "--repository".into(), folder.path().into()],
        tool: "git_status",
        good: json!({ "repo_path": path }),
        bad: json!({ "repo_path": 7 }),
        names: "/repo_path",
        _folder: folder,
    })
}

/// A host that can do nothing for its server: server-everything asks such as can for their roots, and lives on for a
/// minute after its stdin ended if nobody answers.
fn opening(era: Era) -> Opening {
    Opening {
        capabilities: json!({}),
        ..Opening::newest(era)
    }
}

/// The answers to what a host asks first, and to a good call.
fn answers(subject: &Subject, opening: &Opening, way: Way) -> (Vec<String>, String) {
    let scene = Scene::with_server(&subject.command);
    let mut host = scene.start(way);
    opening.open(&mut host);
    let mut lists = vec![host.response_to("\"open\"")];
    for method in [
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "x-unknown",
    ] {
        lists.push(host.ask(&opening.request(&format!("\"{method}\""), method, json!({}))));
    }
    let called = host.ask(&opening.call("\"good\"", subject.tool, &subject.good));
    let transcript = scene.end(way, host);
    if let (Way::Through, Some(spec)) = (way, SpecCheck::of(opening.revision)) {
        spec.check(&transcript);
    }
    (lists, called)
}

fn as_direct_but_for_the_verdict(subject: Option<Subject>, eras: &[Era]) {
    let Some(subject) = subject else { return };
    for era in eras {
        let opening = opening(*era);
        let (bare_lists, bare_call) = answers(&subject, &opening, Way::Bare);
        let (lists, call) = answers(&subject, &opening, Way::Through);
        assert_eq!(bare_lists, lists);
        frame::assert_only_verdict_added(&bare_call, &call);
    }
}

fn bad_arguments_do_not_reach_it(subject: Option<Subject>) {
    let Some(subject) = subject else { return };
    let (scene, opening) = (Scene::with_server(&subject.command), opening(Era::Legacy));
    let mut host = scene.start(Way::Through);
    opening.open(&mut host);
    let answer = frame::value(&host.ask(&opening.call("1", subject.tool, &subject.bad)));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("NOT DONE:") && text.contains(subject.names),
        "{text}"
    );
    let transcript = scene.end(Way::Through, host);
    let called = transcript
        .server_received
        .iter()
        .any(|line| frame::method(line).as_deref() == Some("tools/call"));
    assert!(!called, "the server saw bad arguments");
}

#[test]
fn server_everything_is_as_direct_but_for_the_verdict() {
    as_direct_but_for_the_verdict(everything(), &[Era::Legacy]);
}

#[test]
fn server_everything_does_not_see_bad_arguments() {
    bad_arguments_do_not_reach_it(everything());
}

#[test]
fn mcp_server_git_is_as_direct_but_for_the_verdict() {
    as_direct_but_for_the_verdict(git(), &[Era::Legacy, Era::Modern]);
}

#[test]
fn mcp_server_git_does_not_see_bad_arguments() {
    bad_arguments_do_not_reach_it(git());
}
