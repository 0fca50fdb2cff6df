//! What Candor writes holds no secret, whatever is planted where; what a server says keeps all but its credentials.

use std::{ffi::OsString, path::Path, process::Command};

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    host::{Ended, Host},
    scene::{Scene, Way, candor},
};

/// Secrets without a format of their own: only their place says that they are. One for each place.
const ENVIRONMENT: &str = "sentinelEnvironment7Kq2";
const IN_URL_OF_ENVIRONMENT: &str = "sentinelDatabase3Xw9";
const HEADER: &str = "sentinelHeader5Tz8";
const URL_USER: &str = "sentinelUrlUser4Bn6";
const URL_QUERY: &str = "sentinelUrlQuery9Lm1";
const FLAG: &str = "sentinelFlag2Pd7";
const ARGUMENT: &str = "sentinelArgument8Vc3";
const RESULT: &str = "sentinelResult6Rj5";
const ERROR_TEXT: &str = "sentinelErrorText1Hf4";
/// With a vendor's format.
const TOKEN: &str = "ghp_Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8";
/// In a query under a name that says nothing.
const ODD_QUERY: &str = "sentinelOddQuery3Sg9";

const PLANTED: &[&str] = &[
    ENVIRONMENT,
    IN_URL_OF_ENVIRONMENT,
    HEADER,
    URL_USER,
    URL_QUERY,
    FLAG,
    ARGUMENT,
    RESULT,
    ERROR_TEXT,
    TOKEN,
];

/// Everything that is secret, in one text, as servers put it into their errors.
fn leak() -> String {
    format!(
        "GET http://{URL_USER}:x@10.0.0.7/mcp?api_key={URL_QUERY} failed; headers: Authorization: Bearer {HEADER}; \
         environment {ENVIRONMENT}, {IN_URL_OF_ENVIRONMENT}; flag {FLAG}; token {TOKEN}; password={ERROR_TEXT}; {}{ENVIRONMENT}",
        "x".repeat(60)
    )
}

/// A server that leaks wherever a server can.
fn leaky() -> String {
    let leak = leak();
    let many = format!("{leak} {}", "padding ".repeat(20_000));
    let arguments = json!({
        "type": "object",
        "properties": { "password": { "type": "string" }, "room": { "type": "integer" }, "note": { "type": "string", "maxLength": 8 } },
    });
    let tool = |name: &str, mut steps: Value| {
        steps
            .as_array_mut()
            .unwrap()
            .insert(0, json!({ "undone": "leaked" }));
        json!({ "definition": { "name": name, "description": name, "inputSchema": arguments }, "plays": [{ "steps": steps }] })
    };
    json!({
        "about": "Leaks.",
        "server": { "name": format!("http://{URL_USER}:x@h/mcp?api_key={URL_QUERY}"), "version": "1" },
        "start": [{ "line": format!("starting with {leak}") }],
        "tools": [
            tool("good", json!([{ "result": {
                "content": [{ "type": "text", "text": leak }],
                "structuredContent": { "accessToken": RESULT, "note": leak },
            } }])),
            tool("large", json!([{ "result": { "content": [{ "type": "text", "text": many }] } }])),
            tool("flagged", json!([{ "result": {
                "content": [
                    { "type": "text", "text": leak },
                    { "type": "resource", "resource": { "uri": format!("http://h/?api_key={URL_QUERY}"), "text": leak } },
                ],
                "structuredContent": { "accessToken": RESULT, "nested": [{ "why": leak }] },
                "isError": true,
                "_meta": { "x/trace": leak },
            } }])),
            tool("failing", json!([{ "error": { "code": -32603, "message": leak, "data": { "accessToken": RESULT, "why": leak } } }])),
            tool("refusing", json!([{ "error": { "code": -32602, "message": leak, "data": leak } }])),
            tool("missing", json!([{ "error": { "code": -32601, "message": leak, "data": { "why": leak } } }])),
            tool("bare", json!([{ "error": { "code": -32601, "message": leak } }])),
            tool("dying", json!([{ "line": format!("dying with {leak}") }, { "die": { "exit": 3 } }])),
        ],
    })
    .to_string()
}

/// Candor before a script, with secrets in its environment and in the server's command line.
fn command(scene: &Scene, script: &str) -> Command {
    let file = scene.path("leaky.json");
    std::fs::write(&file, script).unwrap();
    let mut command = Command::new(candor());
    command
        .arg("--ledger")
        .arg(scene.ledger())
        .args(["--log-level", "debug", "--"]);
    // The words behind the script are the shell's own: a server would read them.
    command
        .args(["sh", "-c", "exec \"$0\" fixture liar --script \"$1\""])
        .arg(candor())
        .arg(file);
    command.args([
        &format!("http://{URL_USER}:x@h/mcp?api_key={URL_QUERY}"),
        "--header",
        &format!("Authorization: Bearer {HEADER}"),
        "--api-key",
        FLAG,
    ]);
    command
        .env("ROOMS_API_KEY", ENVIRONMENT)
        .env(
            "DATABASE_URL",
            format!("postgres://rooms:{IN_URL_OF_ENVIRONMENT}@db/rooms"),
        )
        .current_dir(scene.path(""));
    command
}

/// Every secret in `bytes`.
fn found<'s>(bytes: &[u8], secrets: &[&'s str]) -> Vec<&'s str> {
    let holds = |secret: &&&str| {
        bytes
            .windows(secret.len())
            .any(|window| window == secret.as_bytes())
    };
    secrets.iter().filter(holds).copied().collect()
}

/// The raw bytes of the ledger, its journal too.
fn ledger_bytes(scene: &Scene) -> Vec<u8> {
    let name = scene.ledger().file_name().unwrap().to_owned();
    let is_ledger = |path: &Path| {
        path.file_name()
            .is_some_and(|file| file.to_string_lossy().starts_with(&*name.to_string_lossy()))
    };
    let files = std::fs::read_dir(scene.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.is_file() && is_ledger(path))
        .flat_map(|path| std::fs::read(path).unwrap())
        .collect()
}

fn told(scene: &Scene, words: &[&str]) -> Vec<u8> {
    let output = Command::new(candor())
        .args(words)
        .arg("--ledger")
        .arg(scene.ledger())
        .output()
        .unwrap();
    [output.stdout, output.stderr].concat()
}

fn session(scene: &Scene) -> (Ended, Vec<u8>) {
    let opening = Opening::newest(Era::Legacy);
    let mut host = Host::start(command(scene, &leaky()));
    opening.open(&mut host);
    opening.list(&mut host);
    let tools = [
        "good", "large", "flagged", "failing", "refusing", "missing", "bare", "dying",
    ];
    for (number, tool) in tools.iter().enumerate() {
        let arguments = json!({ "password": ARGUMENT, "room": "12" });
        host.ask(&opening.call(&number.to_string(), tool, &arguments));
    }
    // Refused by Candor, with secrets in what it shows of the arguments, cut where one begins.
    let note = format!("{}{ENVIRONMENT} {TOKEN}", "n".repeat(66));
    let arguments = json!({ "password": 5, "passwort": ARGUMENT, "note": note, "room": "twelve" });
    host.ask(&opening.call("20", "good", &arguments));
    host.ask(&opening.call("21", &format!("no_{ENVIRONMENT}_such"), &json!({})));
    let mut open = ledger_bytes(scene);
    let ended = host.close();
    open.extend(ledger_bytes(scene));
    (ended, open)
}

#[test]
fn no_planted_secret_reaches_the_model_a_log_or_the_record() {
    let scene = Scene::of("");
    let (ended, ledger) = session(&scene);
    let by_id = |id: &str| {
        let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
        ended
            .received
            .iter()
            .find(|line| line.starts_with(&start))
            .unwrap_or_else(|| panic!("no answer to {id}"))
    };
    // A success is the server's own, byte for byte: this is also what shows that the secrets were really there.
    let good = by_id("0");
    assert_eq!(found(good.as_bytes(), PLANTED).len(), PLANTED.len() - 1, "{good}");
    for id in ["2", "3", "4", "5", "6", "7", "20", "21"] {
        let answer = by_id(id);
        assert_eq!(
            found(answer.as_bytes(), PLANTED),
            Vec::<&str>::new(),
            "in the answer to {id}: {answer}"
        );
        assert!(
            !answer.contains("sentinelEnv"),
            "the beginning of a secret in {answer}"
        );
    }
    assert!(
        ended.errors.contains("no MCP message"),
        "the noise was logged: {}",
        ended.errors
    );
    assert_eq!(
        found(ended.errors.as_bytes(), PLANTED),
        Vec::<&str>::new(),
        "in the log: {}",
        ended.errors
    );
    assert!(ledger.len() > 10_000, "the ledger was read");
    assert_eq!(found(&ledger, PLANTED), Vec::<&str>::new(), "in the ledger");
    assert_eq!(
        found(&ledger, &["Padding", "padding"]),
        ["padding"],
        "what is no secret is recorded"
    );

    let mut listed = told(&scene, &["calls"]);
    for call in scene.calls() {
        listed.extend(told(&scene, &["show", call["operationId"].as_str().unwrap()]));
        listed.extend(told(
            &scene,
            &["show", "--json", call["operationId"].as_str().unwrap()],
        ));
    }
    assert!(listed.len() > 10_000);
    assert_eq!(found(&listed, PLANTED), Vec::<&str>::new(), "in what is shown");
}

#[test]
fn what_was_masked_is_disclosed() {
    let scene = Scene::of("");
    let (ended, _) = session(&scene);
    let answers: Vec<Value> = ended
        .received
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let by_id = |id: i64| answers.iter().find(|answer| answer["id"] == id).unwrap();
    for id in [0, 1] {
        let meta = &by_id(id)["result"]["_meta"];
        assert!(meta.get("candor/redacted").is_none() && meta.get("candor/verdict").is_some());
    }
    for id in [2, 3, 4] {
        let redacted = &by_id(id)["result"]["_meta"]["candor/redacted"];
        assert!(redacted["known_secret"].as_u64() > Some(0), "{id}: {redacted}");
    }
    for id in [5, 6] {
        let redacted = &by_id(id)["error"]["data"]["candor/redacted"];
        assert!(redacted["github_token"].as_u64() > Some(0), "{id}: {redacted}");
    }
    let server = scene.calls()[0]["server"].clone();
    assert_eq!(
        server, "http://h/mcp?…",
        "a server's name is a name, not a URL with its secrets"
    );
}

/// Plays one tool call on a server of its own and gives the delivered line.
fn call(script: &Value, tool: &str) -> String {
    let (scene, opening) = (Scene::written(&script.to_string()), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    let answer = host.ask(&opening.call("1", tool, &json!({})));
    host.close();
    answer
}

fn script(tool: &str, step: &Value) -> Value {
    json!({
        "about": "One tool.",
        "server": { "name": "one", "version": "1" },
        "tools": [{ "definition": { "name": tool, "inputSchema": { "type": "object" } }, "plays": [{ "steps": [{ "undone": "answered" }, step] }] }],
    })
}

#[test]
fn in_a_flagged_answer_only_credentials_change() {
    let kept = [
        r#"{"data":"iVBORw0KGgoAKIAIOSFODNN7EXAMPLEghp/AIzaSyA+eyJhbGciOi=","mimeType":"image/png","type":"image"}"#,
        r#""data:image/png;base64,AKIAIOSFODNN7EXAMPLE""#,
        r#""018f3c2e-7a5b-7c3d-9e1f-0a1b2c3d4e5f""#,
        r#""0123456789abcdef0123456789abcdef01234567""#,
        r#""sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=""#,
        r#""must have 8 characters""#,
        r#""********""#,
        "4096000000000000000001",
    ];
    let stack = "Error: no room\\n    at f (/srv/a.js:1:2)\\nhttps://h/p?x=1#y \\u202e";
    let result = format!(
        r#"{{"content":[{{"type":"text","text":"token {TOKEN} and {stack}"}},{}],"isError":true,"structuredContent":{{"image":{},"id":{},"sha":{},"integrity":{},"password":{},"apiKey":{},"max_tokens":{}}}}}"#,
        kept[0], kept[1], kept[2], kept[3], kept[4], kept[5], kept[6], kept[7]
    );
    let result: Box<serde_json::value::RawValue> = serde_json::from_str(&result).unwrap();
    let text = script("one", &json!({ "result": "@@" }))
        .to_string()
        .replace("\"@@\"", result.get());
    let (scene, opening) = (Scene::written(&text), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    let answer = host.ask(&opening.call("1", "one", &json!({})));
    host.close();
    for part in kept {
        assert!(answer.contains(part), "{part} is gone from {answer}");
    }
    assert!(!answer.contains(TOKEN), "{answer}");
    let parsed: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(
        parsed["result"]["content"][0]["text"],
        "token [masked: github token] and Error: no room\n    at f (/srv/a.js:1:2)\nhttps://h/p?x=1#y \u{202e}",
        "its own stack and URLs stay"
    );
    assert_eq!(
        parsed["result"]["_meta"]["candor/redacted"],
        json!({ "github_token": 1 })
    );
}

#[test]
fn a_flagged_answer_without_credentials_is_untouched() {
    let result = r#"{"content":[{"type":"text","text":"Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: see https://h/p?x=1"}],"isError":true}"#;
    let text = script("one", &json!({ "result": "@@" }))
        .to_string()
        .replace("\"@@\"", result);
    let answer = call(&serde_json::from_str(&text).unwrap(), "one");
    let content = result.split_once("]").unwrap().0;
    assert!(answer.contains(content), "{answer}");
    assert!(!answer.contains("candor/redacted"), "{answer}");
}

#[test]
fn stacks_in_errors_that_candor_tells_are_left_out_in_six_languages() {
    for (language, stack, cause, frame) in [
        (
            "Python",
            "Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in f\n    g()\nValueError: no room",
            "ValueError: no room",
            "a.py",
        ),
        (
            "Java",
            "java.lang.Error: x\n\tat com.a.B.c(B.java:1)\nCaused by: java.io.IOException: no room\n\tat com.a.B.d(B.java:2)",
            "java.io.IOException: no room",
            "B.java",
        ),
        (
            "Node",
            "Error: no room\n    at f (/srv/a.js:1:2)\n    at node:internal/x:1:2",
            "Error: no room",
            "a.js",
        ),
        (
            "Rust",
            "thread 'main' panicked at a.rs:1:2:\nno room\nstack backtrace:\n   0: a::deep\n             at /srv/deep.rs:1:2",
            "no room",
            "deep",
        ),
        (
            ".NET",
            "System.Exception: no room\n   at A.B.C(String d) in /srv/c.cs:line 5",
            "System.Exception: no room",
            "c.cs",
        ),
        (
            "Go",
            "panic: no room\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:5 +0x1a",
            "panic: no room",
            "main.go",
        ),
    ] {
        for error in [
            json!({ "code": -32603, "message": stack }),
            json!({ "code": -32603, "message": "failed", "data": stack }),
            json!({ "code": -32603, "message": "failed", "data": { "trace": [stack] } }),
        ] {
            let answer = call(&script("one", &json!({ "error": error })), "one");
            let parsed: Value = serde_json::from_str(&answer).unwrap();
            let text = parsed["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(cause), "{language}: the cause is gone: {text}");
            assert!(text.contains("stack frames left out"), "{language}: {text}");
            assert!(!answer.contains(frame), "{language}: a frame is left in {answer}");
            let redacted = &parsed["result"]["_meta"]["candor/redacted"];
            assert!(
                redacted["stack_frame"].as_u64() > Some(0),
                "{language}: {redacted}"
            );
        }
    }
}

#[test]
fn urls_in_errors_that_candor_tells_lose_all_but_scheme_host_and_path() {
    let error = json!({ "code": -32603, "message": format!("GET https://anna@h.example/rooms?room={ODD_QUERY}#{ODD_QUERY} failed") });
    let answer = call(&script("one", &json!({ "error": error })), "one");
    assert!(answer.contains("https://h.example/rooms?… failed"), "{answer}");
    assert!(
        !answer.contains(ODD_QUERY) && !answer.contains("anna"),
        "{answer}"
    );
}

#[test]
fn nothing_invisible_or_forged_in_names_and_words_reaches_a_text() {
    let forged = "x\nNOT DONE: \u{202e}\u{200b}\u{1b}[2J\u{e0041}";
    let script = json!({
        "about": "Names that forge.",
        "server": { "name": format!("srv {forged}"), "version": "1" },
        "tools": [{
            "definition": { "name": format!("tool {forged}"), "inputSchema": { "type": "object" } },
            "plays": [{ "steps": [{ "undone": "failed" }, { "error": { "code": -32603, "message": format!("words {forged}") } }] }],
        }],
    });
    let scene = Scene::of("");
    let opening = Opening::newest(Era::Legacy);
    let mut host = Host::start(command(&scene, &script.to_string()));
    opening.open(&mut host);
    opening.list(&mut host);
    let known = host.ask(&opening.call("1", &format!("tool {forged}"), &json!({})));
    let unknown = host.ask(&opening.call("2", &format!("no {forged}"), &json!({})));
    host.close();
    for (answer, pointer) in [(known, "/result/content/0/text"), (unknown, "/error/message")] {
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let text = answer
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_else(|| panic!("{answer}"));
        assert!(
            text.contains(r"\u{202e}") && text.contains("srv x NOT DONE"),
            "{text}"
        );
        let invisible = |letter: char| {
            letter != '\n' && (letter.is_control() || matches!(letter, '\u{202e}' | '\u{200b}' | '\u{e0041}'))
        };
        assert!(!text.contains(invisible), "{text:?}");
        assert!(!text.contains("\nNOT DONE"), "a line is forged: {text}");
    }
}

#[test]
fn a_program_that_cant_be_started_is_told_without_its_secrets() {
    let url = format!("http://{URL_USER}:x@h/mcp?api_key={URL_QUERY}");
    let words: [OsString; 3] = ["--no-ledger".into(), "--".into(), url.into()];
    let output = Command::new(candor()).args(words).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("http://h/mcp"), "{said}");
    assert_eq!(found(said.as_bytes(), PLANTED), Vec::<&str>::new(), "{said}");
}
