//! Arguments through the program: what is refused before the server sees it, what is passed on unchecked and said so,
//! and that one schema never costs more than its own tool.

use candor_fixtures::script::Era;
use serde_json::{Value, json, value::RawValue};

use crate::harness::{
    conversation::Opening,
    frame,
    scene::{Scene, Way, candor},
    transcript::Transcript,
};

/// A server whose tools have these input schemas, raw, and answer everything with "done".
fn server(schemas: &[(&str, &str)]) -> String {
    let tools: Vec<String> = schemas
        .iter()
        .map(|(name, schema)| {
            format!(
                r#"{{"definition":{{"name":"{name}","inputSchema":{schema}}},"plays":[{{"steps":[{{"done":"done"}},{{"result":{{"content":[{{"type":"text","text":"done"}}]}}}}]}}]}}"#
            )
        })
        .collect();
    format!(
        r#"{{"about":"Answers.","server":{{"name":"schemas","version":"1"}},"tools":[{}]}}"#,
        tools.join(",")
    )
}

/// Calls tools with raw arguments, in order; the answers and what both ends saw.
fn play(scene: &Scene, calls: &[(&str, &str)]) -> (Vec<Value>, Transcript) {
    let opening = Opening::newest(Era::Legacy);
    let mut host = scene.open(Way::Through, &opening);
    let mut answers = Vec::new();
    for (number, (tool, arguments)) in calls.iter().enumerate() {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        );
        answers.push(serde_json::from_str(&host.ask(&line)).unwrap());
    }
    (answers, scene.end(Way::Through, host))
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
}

fn findings(answer: &Value) -> Vec<&str> {
    let findings = answer["result"]["_meta"]["candor/findings"].as_array();
    findings
        .into_iter()
        .flatten()
        .filter_map(|finding| finding["code"].as_str())
        .collect()
}

fn lines(transcript: &Transcript, method: &str) -> Vec<String> {
    let is_method = |line: &&String| frame::method(line).as_deref() == Some(method);
    transcript
        .server_received
        .iter()
        .filter(is_method)
        .cloned()
        .collect()
}

#[test]
fn one_bad_schema_costs_its_own_tool_and_is_found() {
    let doubled: Vec<String> = (0..24)
        .map(|level| {
            format!(
                r##""d{level}":{{"allOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##,
                level + 1
            )
        })
        .collect();
    let doubling = format!(
        r##"{{"type":"object","$defs":{{{},"d24":{{}}}},"$ref":"#/$defs/d0"}}"##,
        doubled.join(",")
    );
    let schemas = [
        (
            "good",
            r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#,
        ),
        (
            "no_type",
            r#"{"type":"object","properties":{"n":{"type":"strng"}}}"#,
        ),
        (
            "nested",
            r##"{"type":"object","properties":{"n":{"$defs":{"X":{"type":"integer"}},"$ref":"#/$defs/X"}}}"##,
        ),
        (
            "remote",
            r#"{"type":"object","properties":{"n":{"$ref":"https://example.com/n.json"}}}"#,
        ),
        (
            "unknown",
            r#"{"$schema":"https://example.com/dialect","type":"object"}"#,
        ),
        (
            "pattern",
            r#"{"type":"object","properties":{"n":{"pattern":"(("}}}"#,
        ),
        ("doubling", &doubling),
    ];
    let scene = Scene::written(&server(&schemas));
    let calls: Vec<(&str, &str)> = schemas.iter().map(|(name, _)| (*name, r#"{"n":"x"}"#)).collect();
    let (answers, transcript) = play(&scene, &calls);
    assert!(text(&answers[0]).starts_with("NOT DONE"), "{}", answers[0]);
    for (answer, (name, _)) in answers.iter().zip(&schemas).skip(1) {
        assert_eq!(text(answer), "done", "{name}: {answer}");
        assert_eq!(findings(answer), ["input_schema"], "{name}: {answer}");
    }
    assert_eq!(lines(&transcript, "tools/call").len(), schemas.len() - 1);
}

#[test]
fn every_dialect_is_read_by_its_own_rules() {
    let draft = |number: &str| format!("http://json-schema.org/draft-{number}/schema#");
    let schema = |dialect: &str, rest: &str| format!(r#"{{"$schema":"{dialect}","type":"object",{rest}}}"#);
    let exclusive = r#""properties":{"n":{"maximum":5,"exclusiveMaximum":true}}"#;
    let number = r#""properties":{"n":{"exclusiveMaximum":5}}"#;
    let definitions = r##""definitions":{"small":{"exclusiveMaximum":5}},"properties":{"n":{"$ref":"#/definitions/small"}}"##;
    let defs = r##""$defs":{"small":{"exclusiveMaximum":5,"type":"integer"}},"properties":{"n":{"$ref":"#/$defs/small"}}"##;
    let tree = r##""properties":{"n":{"exclusiveMaximum":5},"next":{"$ref":"#"}}"##;
    let texts = [
        schema(&draft("04"), exclusive),
        schema(&draft("06"), number),
        schema(&draft("07"), definitions),
        schema("https://json-schema.org/draft/2019-09/schema", defs),
        schema("https://json-schema.org/draft/2020-12/schema", defs),
        format!(r#"{{"type":"object",{tree}}}"#),
    ];
    let names = ["d04", "d06", "d07", "d2019", "d2020", "none"];
    let schemas: Vec<(&str, &str)> = names
        .iter()
        .copied()
        .zip(texts.iter().map(String::as_str))
        .collect();
    let scene = Scene::written(&server(&schemas));
    let mut calls: Vec<(&str, &str)> = names.iter().map(|name| (*name, r#"{"n":5}"#)).collect();
    calls.extend(names.iter().map(|name| (*name, r#"{"n":4}"#)));
    calls.push(("none", r#"{"next":{"next":{"n":5}}}"#));
    let (answers, _) = play(&scene, &calls);
    let (refused, rest) = answers.split_at(names.len());
    for (answer, name) in refused.iter().zip(names) {
        assert!(text(answer).contains("/n: expected"), "{name}: {answer}");
    }
    for (answer, name) in rest.iter().zip(names) {
        assert_eq!(
            (text(answer), findings(answer).len()),
            ("done", 0),
            "{name}: {answer}"
        );
    }
    assert!(
        text(&answers[12]).contains("/next/next/n: expected"),
        "{}",
        answers[12]
    );
}

#[test]
fn a_stale_schema_is_refreshed_once_before_a_call_is_refused() {
    let scene = Scene::of("stale");
    let new = r#"{"to":["attic"]}"#;
    let (answers, transcript) = play(
        &scene,
        &[
            ("change_quietly", "{}"),
            ("move", new),
            ("move", r#"{"to":5}"#),
            ("move", r#"{"to":6}"#),
        ],
    );
    assert_eq!(
        text(&answers[1]),
        "moved",
        "what fits the new schema goes through: {}",
        answers[1]
    );
    for refused in &answers[2..] {
        assert!(
            text(refused).contains("expected an array"),
            "told by the new schema: {refused}"
        );
    }
    let asked: Vec<String> = lines(&transcript, "tools/list");
    assert_eq!(
        asked.len(),
        2,
        "the host's list and one refresh, however many are refused: {asked:?}"
    );
}

#[test]
fn what_cannot_be_checked_is_passed_on_as_it_came_and_said() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"number","maximum":5},"t":{"type":"string","pattern":"^(?!.*x)(a|a)*\\1$"}}}"#;
    let scene = Scene::written(&server(&[("tool", schema)]));
    let costly = format!(r#"{{"t":"{}!"}}"#, "a".repeat(60));
    let arguments = [
        r#"{"n":1e400}"#,
        r#"{ "t" : "\ud800" }"#,
        &costly,
        r#"{"n":1.0}"#,
        r#"{"n":6}"#,
    ];
    let calls: Vec<(&str, &str)> = arguments.iter().map(|arguments| ("tool", *arguments)).collect();
    let (answers, transcript) = play(&scene, &calls);
    let received = lines(&transcript, "tools/call");
    for (number, arguments) in arguments[..4].iter().enumerate() {
        // The fixture reads its arguments too, and can't hold half a surrogate pair: what matters is that it came.
        assert!(
            number == 1 || text(&answers[number]) == "done",
            "{}",
            answers[number]
        );
        assert!(
            received[number].contains(&format!(r#""arguments":{arguments}"#)),
            "{}",
            received[number]
        );
        let expected: &[&str] = if number < 3 { &["not_checked"] } else { &[] };
        assert_eq!(findings(&answers[number]), expected, "{arguments}");
    }
    assert!(
        text(&answers[4]).starts_with("NOT DONE"),
        "a number that can be compared is: {}",
        answers[4]
    );
}

#[test]
fn long_complaints_are_bounded_and_still_useful() {
    let options: Vec<String> = (0..400).map(|number| format!("\"region-{number:03}\"")).collect();
    let schema = format!(
        r#"{{"type":"object","properties":{{"region":{{"enum":[{}]}},"beds":{{"type":"array","items":{{"type":"integer"}}}}}}}}"#,
        options.join(",")
    );
    let scene = Scene::written(&server(&[("tool", &schema)]));
    let beds = json!({ "beds": vec!["x"; 60] }).to_string();
    let (answers, _) = play(&scene, &[("tool", r#"{"region":"region-12"}"#), ("tool", &beds)]);
    let region = text(&answers[0]);
    assert!(
        region.contains("one of 400 values, the nearest: \"region-12"),
        "{region}"
    );
    assert!(region.len() < 1_000, "{} bytes", region.len());
    let beds = text(&answers[1]);
    assert!(
        beds.contains("/beds/0: expected an integer") && beds.contains("60 arguments"),
        "{beds}"
    );
    assert!(beds.len() < 3_500, "{} bytes", beds.len());
}

#[test]
fn the_record_says_by_which_schema_a_call_was_checked() {
    let schema = r#"{ "type" : "object" , "properties" : { "n" : { "type" : "integer" } } }"#;
    let raw: Box<RawValue> = serde_json::from_str(schema).unwrap();
    let scene = Scene::written(&server(&[("tool", raw.get()), ("broken", r#"{"type":5}"#)]));
    play(&scene, &[("tool", r#"{"n":1}"#), ("broken", "{}")]);
    let digests: Vec<Value> = scene
        .calls()
        .iter()
        .map(|call| schema_digest(&scene, call))
        .collect();
    let expected = json!(candor_core::record::bodies::digest(schema));
    assert!(
        digests.contains(&expected) && digests.contains(&Value::Null),
        "{digests:?}"
    );
}

/// The digest of the schema that a call was checked by, as its intent says.
fn schema_digest(scene: &Scene, call: &Value) -> Value {
    let mut command = std::process::Command::new(candor());
    command.args([
        "show",
        "--json",
        call["operationId"].as_str().unwrap(),
        "--ledger",
    ]);
    let output = command.arg(scene.ledger()).output().unwrap();
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    shown["records"][0]["body"]["schemaDigest"].clone()
}

#[test]
fn strict_names_refuse_what_would_be_a_notice_and_the_record_says_who_wanted_it() {
    let schema = r#"{"type":"object","properties":{"symbol":{"type":"string"}}}"#;
    let tools = server(&[("strict", schema), ("lenient", schema)]);
    let config =
        "[servers.fixture]\nstrict_names = true\n[servers.fixture.tools.lenient]\nstrict_names = false\n";
    let scene = Scene::written(&tools).config(config);
    let (answers, transcript) = play(
        &scene,
        &[
            ("strict", r#"{"colour":1}"#),
            ("strict", r#"{"symbol":"f"}"#),
            ("lenient", r#"{"colour":1}"#),
        ],
    );
    let refused = text(&answers[0]);
    assert!(refused.starts_with("NOT DONE"), "{refused}");
    assert!(
        refused.contains("/colour: unknown name, expected the only known name, symbol"),
        "{refused}"
    );
    for passed in &answers[1..] {
        assert_eq!(text(passed), "done", "{passed}");
    }
    assert!(
        answers[2]["result"]["_meta"]["candor/notices"].is_array(),
        "{}",
        answers[2]
    );
    assert_eq!(lines(&transcript, "tools/call").len(), 2);
    let calls = scene.calls();
    let strict = calls.iter().find(|call| call["tool"] == "strict").unwrap();
    let mut command = std::process::Command::new(candor());
    command.args(["show", strict["operationId"].as_str().unwrap(), "--ledger"]);
    let shown = command.arg(scene.ledger()).output().unwrap().stdout;
    let shown = String::from_utf8(shown).unwrap();
    assert!(
        shown.contains("strict_names = true") && shown.contains("candor.toml:2"),
        "{shown}"
    );
}

#[test]
fn a_tool_that_is_listed_twice_is_called_and_told_to_be() {
    let number = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    let words = r#"{"type":"object","properties":{"n":{"type":"string"}}}"#;
    let scene = Scene::written(&server(&[("twin", number), ("twin", words), ("only", number)]));
    let (answers, _) = play(
        &scene,
        &[
            ("twin", r#"{"n":1}"#),
            ("twin", r#"{"n":"x"}"#),
            ("only", r#"{"n":1}"#),
        ],
    );
    assert_eq!(
        (text(&answers[0]), text(&answers[2])),
        ("done", "done"),
        "{answers:?}"
    );
    assert!(
        text(&answers[1]).contains("expected an integer"),
        "the first counts: {}",
        answers[1]
    );
    let told = |answer| findings(answer);
    assert_eq!(told(&answers[0]), ["tool_twice"]);
    assert_eq!(told(&answers[1]), ["tool_twice"], "{}", answers[1]);
    assert!(told(&answers[2]).is_empty(), "{}", answers[2]);
    let detail = answers[0]["result"]["_meta"]["candor/findings"][0]["detail"]
        .as_str()
        .unwrap();
    assert!(detail.contains("names this tool 2 times"), "{detail}");
}

#[test]
fn a_configuration_that_names_other_servers_only_is_told_once_and_a_fitting_one_never() {
    for (named, warnings) in [("fixtures", 1), ("fixture", 0)] {
        let config = format!("[servers.{named}.tools.tool]\neffect = \"read\"\n");
        let scene = Scene::written(&server(&[("tool", r#"{"type":"object"}"#)])).config(&config);
        let opening = Opening::newest(Era::Legacy);
        let mut host = scene.open(Way::Through, &opening);
        for id in ["1", "2"] {
            host.ask(&opening.call(id, "tool", &json!({})));
        }
        let errors = host.close().errors;
        assert_eq!(
            errors.matches("no contract").count(),
            warnings,
            "{named}: {errors}"
        );
        if warnings > 0 {
            for part in ["fixtures", "\\\"fixture\\\"", "--name"] {
                assert!(errors.contains(part), "no {part} in {errors}");
            }
        }
    }
}
