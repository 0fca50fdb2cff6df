//! Contract packs applied by the program, drafts of contracts, and contracts tried on recorded calls.

use std::process::{Command, Output, Stdio};

use candor_fixtures::script::Era;
use candor_gateway::packs::input_digest;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    frame,
    scene::{Scene, Way, candor},
};

/// Runs Candor without a host.
fn run(scene: &Scene, arguments: &[&str]) -> Output {
    Command::new(candor())
        .args(arguments)
        .current_dir(scene.path("."))
        .env_remove("CANDOR_LEDGER")
        .env("XDG_STATE_HOME", scene.path("state"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The name that the fixture gives itself, and the digest of its tool `ok`.
fn known() -> (String, String) {
    let (scene, opening) = (Scene::of("results"), Opening::newest(Era::Legacy));
    let mut host = scene.start(Way::Bare);
    opening.open(&mut host);
    let opened = frame::value(&host.response_to("\"open\""));
    opening.list(&mut host);
    let listed = frame::value(&host.response_to("\"list 1\""));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == json!("ok")).unwrap();
    let definition = serde_json::value::to_raw_value(tool).unwrap();
    let name = opened["result"]["serverInfo"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    scene.end(Way::Bare, host);
    (name, input_digest(&definition).unwrap())
}

/// The effect of an unflagged call of `ok`, with a pack for a server of this name and a tool of this digest; and what is
/// logged.
fn effect_with(server: &str, digest: &str, config: &str) -> (Value, String) {
    let opening = Opening::newest(Era::Legacy);
    let scene = Scene::of("results");
    let pack = scene.path("own.toml");
    let text = format!(
        "package = \"npm:own\"\nversions = \">=1\"\nserver = [{server:?}]\n[digests]\nok = [{digest:?}]\n[tools.ok]\neffect = \"read\"\n"
    );
    std::fs::write(&pack, text).unwrap();
    let scene = scene.option("--pack").option(pack).config(config);
    let mut host = scene.open(Way::Through, &opening);
    let answer = frame::value(&host.ask(&opening.call("1", "ok", &json!({}))));
    let errors = scene.end(Way::Through, host).errors;
    (
        answer["result"]["_meta"]["candor/verdict"]["effect"].clone(),
        errors,
    )
}

#[test]
fn a_pack_holds_for_the_tools_it_was_written_for_and_below_the_operators_word() {
    let (name, digest) = known();
    let other = format!("sha256:{}", "0".repeat(64));
    let (effect, errors) = effect_with(&name, &digest, "");
    assert_eq!(effect, json!("not_applied"), "{errors}");
    assert!(!errors.contains("input schema"), "{errors}");
    let (effect, errors) = effect_with(&name, &other, "");
    assert_eq!(effect, json!("unknown"), "another schema");
    assert!(errors.contains("input schema is not the one"), "{errors}");
    let (effect, _) = effect_with("another server", &digest, "");
    assert_eq!(effect, json!("unknown"), "another server");
    let (effect, _) = effect_with(&name, &digest, "[servers.fixture.tools.ok]\neffect = \"write\"\n");
    assert_eq!(effect, json!("unknown"), "the operator says that it writes");
}

#[test]
fn a_bad_pack_keeps_candor_from_starting_and_says_where_it_is_bad() {
    let scene = Scene::of("results");
    std::fs::write(
        scene.path("own.toml"),
        "package = \"own\"\nversions = \">=1\"\nserver = []\n",
    )
    .unwrap();
    let ended = run(&scene, &["--pack", "own.toml", "--", "true"]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(
        said(&ended).contains("a package is expected here"),
        "{}",
        said(&ended)
    );
}

#[test]
fn a_draft_names_each_tool_and_is_a_file_that_candor_takes() {
    let scene = Scene::of("rooms");
    let program = candor().into_string().unwrap();
    let server = [program.as_str(), "fixture", "liar", "--script", "rooms"];
    let drafted = run(
        &scene,
        &[&["contract", "draft", "--name", "rooms", "--"], &server[..]].concat(),
    );
    assert_eq!(drafted.status.code(), Some(0), "{}", said(&drafted));
    let text = String::from_utf8(drafted.stdout).unwrap();
    assert!(text.contains("[servers.rooms.tools.book_room]"), "{text}");
    let opening = Opening::newest(Era::Legacy);
    let scene = scene.config(&text);
    let host = scene.open(Way::Through, &opening);
    let ended = scene.end(Way::Through, host);
    assert!(!ended.errors.contains("fault"), "{}", ended.errors);
    let unreachable = run(&scene, &["contract", "draft", "--", "false"]);
    assert_eq!(unreachable.status.code(), Some(4));
}

#[test]
fn a_contract_is_tried_on_records_and_a_verdict_that_was_not_expected_is_a_finding() {
    let scene = Scene::of("results");
    let write = |name: &str, text: &str| std::fs::write(scene.path(name), text).unwrap();
    write(
        "candor.toml",
        "[servers.s.tools.t.outcome]\npointer = \"/state\"\ncompleted = [\"done\"]\nfailed = [\"no\"]\n",
    );
    let call = |state: &str, outcome: &str| {
        format!(
            "{}\n",
            json!({ "tool": "t", "arguments": {}, "expect": { "outcome": outcome },
                    "result": { "content": [], "structuredContent": { "state": state } } })
        )
    };
    write("good.jsonl", &(call("done", "completed") + &call("no", "failed")));
    write("bad.jsonl", &call("no", "completed"));
    let test = |calls: &str| {
        run(
            &scene,
            &["contract", "test", "candor.toml", "--recorded", calls, "--json"],
        )
    };
    let good = test("good.jsonl");
    assert_eq!(good.status.code(), Some(0), "{}", said(&good));
    let lines: Vec<Value> = String::from_utf8(good.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let outcomes =
        |which: &str| -> Vec<&Value> { lines.iter().map(|line| &line[which]["outcome"]).collect() };
    assert_eq!(outcomes("without"), [&json!("reported"), &json!("reported")]);
    assert_eq!(outcomes("with"), [&json!("completed"), &json!("failed")]);
    let bad = test("bad.jsonl");
    assert_eq!(bad.status.code(), Some(1), "{}", said(&bad));
    assert!(
        said(&bad).contains("completed was expected, not failed"),
        "{}",
        said(&bad)
    );
    assert_eq!(test("none.jsonl").status.code(), Some(2));
}
