//! Scripts played in this process: lines in, lines out. Each lie is shown once with the truth beside it.

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use super::Server;
use crate::{
    Truth, catalog,
    options::Serve,
    script::{MODERN, REVISIONS, Script},
};

/// Output that the test can read while the server writes.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Written {
    /// What was written since the last time.
    fn take(&self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut *self.0.lock().unwrap())).into_owned()
    }
}

/// A server that plays, its output and its truth file.
struct Stage<'s> {
    server: Server<'s>,
    written: Written,
    folder: tempfile::TempDir,
}

impl<'s> Stage<'s> {
    fn of(script: &'s Script) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let written = Written::default();
        let options = Serve {
            truth: Some(folder.path().join("truth")),
            ..Serve::default()
        };
        let server = Server::new(script, options, Box::new(written.clone())).unwrap();
        Self {
            server,
            written,
            folder,
        }
    }

    fn send(&mut self, message: &str) -> Vec<String> {
        self.server.receive(message).unwrap();
        self.written.take().lines().map(str::to_owned).collect()
    }

    /// Calls a tool in the legacy era, and gives the lines that came.
    fn call(&mut self, tool: &str, arguments: &Value) -> Vec<String> {
        let params = json!({ "name": tool, "arguments": arguments });
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string())
    }

    fn truth(&self) -> Vec<(bool, String)> {
        let truths = Truth::read(&self.folder.path().join("truth")).unwrap();
        truths.into_iter().map(|truth| (truth.done, truth.what)).collect()
    }
}

fn only(lines: impl AsRef<[String]>) -> Value {
    let lines = lines.as_ref();
    assert_eq!(lines.len(), 1, "one line was expected: {lines:?}");
    serde_json::from_str(&lines[0]).unwrap()
}

#[test]
fn a_taken_room_is_an_unflagged_success_and_the_truth_says_nothing_was_booked() {
    let script = catalog::embedded("rooms").unwrap();
    let mut stage = Stage::of(&script);
    let taken = only(stage.call(
        "book_room",
        &json!({ "room": "12", "date": "2027-03-01", "from": "14:00", "to": "15:00" }),
    ));
    assert_eq!(taken["result"]["structuredContent"]["code"], "ROOM_UNAVAILABLE");
    assert!(taken["result"].get("isError").is_none() && taken["result"].get("resultType").is_none());
    let booked = only(stage.call(
        "book_room",
        &json!({ "room": "14", "date": "2027-03-01", "from": "14:00", "to": "15:00" }),
    ));
    assert_eq!(
        booked["result"]["structuredContent"],
        json!({ "status": "booked", "confirmation": "R-14-2" })
    );
    assert_eq!(
        stage.truth(),
        [
            (false, "room 12 is taken: nothing was booked".to_owned()),
            (true, "booked room 14 on 2027-03-01, 14:00-15:00".to_owned())
        ]
    );
}

#[test]
fn a_flight_in_the_past_and_in_the_wrong_format_is_booked() {
    let script = catalog::embedded("flights").unwrap();
    let mut stage = Stage::of(&script);
    for date in ["01/01/2001", "2024-12-12"] {
        let booked = only(stage.call(
            "book_flight",
            &json!({ "departureDate": date, "from": "ZRH", "to": "OSL", "passengers": 2 }),
        ));
        assert_eq!(booked["result"]["structuredContent"]["status"], "confirmed");
    }
    assert!(stage.truth().iter().all(|(done, _)| *done) && stage.truth().len() == 2);
}

#[test]
fn a_ticket_is_created_and_nobody_is_told() {
    let script = catalog::embedded("tickets").unwrap();
    let mut stage = Stage::of(&script);
    assert!(
        stage
            .call("create_ticket", &json!({ "title": "Printer on fire" }))
            .is_empty()
    );
    assert_eq!(
        stage.truth(),
        [(true, "created ticket T-101: Printer on fire".to_owned())]
    );
}

#[test]
fn a_late_answer_comes_when_another_call_lets_it() {
    let script = catalog::embedded("silence").unwrap();
    let mut stage = Stage::of(&script);
    assert!(
        stage
            .send(r#"{"jsonrpc":"2.0","id":"first","method":"tools/call","params":{"name":"late"}}"#)
            .is_empty()
    );
    let lines = stage.call("release", &json!({}));
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].contains(r#""id":"first""#) && lines[0].contains("done, late"),
        "{}",
        lines[0]
    );
    assert!(lines[1].contains(r#""id":1"#), "{}", lines[1]);
}

#[test]
fn a_cancellation_is_in_the_truth_and_only_that_of_an_open_call() {
    let script = catalog::embedded("silence").unwrap();
    let mut stage = Stage::of(&script);
    let begun = only(stage.call("cancelled", &json!({})));
    assert_eq!(
        begun["method"], "notifications/message",
        "it says that it has begun, and no more"
    );
    let notice = |id: i64| {
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id, "reason": "bored" } })
            .to_string()
    };
    assert!(stage.send(&notice(2)).is_empty());
    assert_eq!(stage.send(&notice(1)).len(), 1);
    assert_eq!(
        stage.truth(),
        [
            (true, "done".to_owned()),
            (false, "cancelled while open: bored".to_owned())
        ]
    );
}

#[test]
fn a_request_to_the_host_holds_the_call_until_it_is_answered() {
    let script = catalog::embedded("asking").unwrap();
    let mut stage = Stage::of(&script);
    let asked = only(stage.call("elicit", &json!({})));
    assert_eq!(asked["method"], "elicitation/create");
    assert!(stage.truth().is_empty());
    let lines = stage
        .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } }).to_string());
    assert_eq!(
        only(lines)["result"]["content"][0]["text"],
        r#"the host said {"action":"decline"}"#
    );
    assert_eq!(stage.truth().len(), 1);
}

#[test]
fn every_revision_is_answered_in_its_own_era() {
    let script = catalog::embedded("rooms").unwrap();
    let mut stage = Stage::of(&script);
    for revision in REVISIONS {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": revision } });
        let expected = if revision == MODERN {
            "2025-11-25"
        } else {
            revision
        };
        assert_eq!(
            only(stage.send(&request.to_string()))["result"]["protocolVersion"],
            expected
        );
    }
    let meta = |revision: &str| json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": revision } });
    let modern = |method: &str, revision: &str| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": meta(revision) }).to_string()
    };
    let discovered = only(stage.send(&modern("server/discover", MODERN)));
    assert_eq!(discovered["result"]["resultType"], "complete");
    assert_eq!(
        only(stage.send(&modern("tools/list", MODERN)))["result"]["resultType"],
        "complete"
    );
    assert_eq!(
        only(stage.send(&modern("tools/list", "1900-01-01")))["error"]["code"],
        -32022
    );
    assert_eq!(only(stage.send(&modern("ping", MODERN)))["error"]["code"], -32601);
}

#[test]
fn lists_come_in_pages_and_a_bad_cursor_is_refused() {
    let script = catalog::embedded("pages").unwrap();
    let mut stage = Stage::of(&script);
    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params });
        let page = only(stage.send(&request.to_string()));
        let tools = page["result"]["tools"].as_array().unwrap().clone();
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        let Some(cursor) = page["result"].get("nextCursor") else {
            break;
        };
        params = json!({ "cursor": cursor });
    }
    assert_eq!(names, ["one", "two", "three", "four", "five"]);
    let request =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "cursor": "nonsense" } });
    assert_eq!(only(stage.send(&request.to_string()))["error"]["code"], -32602);
}

#[test]
fn bytes_of_a_script_and_of_a_call_arrive_as_they_were() {
    let script = catalog::embedded("echo").unwrap();
    let mut stage = Stage::of(&script);
    let params = r#"{"n":1.10,"n":2,"u":"\u00e9",  "a": [ ]}"#;
    let odd = format!(r#"{{"jsonrpc":"2.0","id":"a\"b","method":"x-odd","params":{params}}}"#);
    assert_eq!(
        stage.send(&odd),
        [format!(
            r#"{{"jsonrpc":"2.0","id":"a\"b","result":{{"received":{params}}}}}"#
        )]
    );
    let lines = stage.send(r#"{"jsonrpc":"2.0","id":7,"method":"x-log"}"#);
    assert!(lines[3].ends_with(r#""result":{ "z": 1, "a": { "n": 123456789012345678901234567890 }, "text": "caf\u00e9 \/ \ud83d\ude00" }}"#), "{}", lines[3]);
    let poked = stage.send(r#"{"jsonrpc":"2.0","method":"notifications/x-poke","params":{"n":1.0}}"#);
    assert_eq!(
        poked,
        [r#"{"jsonrpc":"2.0","method":"notifications/x-poked","params":{"n":1.0}}"#]
    );
}

#[test]
fn ids_and_tokens_are_the_hosts_own_bytes() {
    let script = catalog::embedded("asking").unwrap();
    let mut stage = Stage::of(&script);
    let lines = stage.send(
        r#"{"jsonrpc":"2.0","id":"\u00e9","method":"tools/call","params":{"name":"progress","_meta":{"progressToken":"a\/b"}}}"#,
    );
    assert!(lines[0].contains(r#""progressToken": "a\/b""#), "{}", lines[0]);
    assert!(lines[3].contains(r#""id":"\u00e9""#), "{}", lines[3]);
}

#[test]
fn a_changed_list_is_announced_or_not() {
    let script = catalog::embedded("stale").unwrap();
    for (tool, lines) in [("change", 2), ("change_quietly", 1)] {
        let mut stage = Stage::of(&script);
        assert_eq!(stage.call(tool, &json!({})).len(), lines);
        let list = only(stage.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#));
        assert_eq!(
            list["result"]["tools"][0]["inputSchema"]["properties"]["to"]["type"],
            "array"
        );
    }
}

#[test]
fn a_long_answer_has_the_length_it_promises() {
    let script = catalog::embedded("silence").unwrap();
    let mut stage = Stage::of(&script);
    let large = only(stage.call("large", &json!({})));
    assert_eq!(
        large["result"]["content"][0]["text"].as_str().unwrap().len(),
        2_000_000
    );
}

#[test]
fn what_no_script_says_is_refused_with_the_place() {
    for (text, expected) in [
        (
            r#"{"about":"","server":{},"tools":[{"definition":{"name":"t"},"plays":[{"steps":[]}]}]}"#,
            "play 0 of t",
        ),
        (
            r#"{"about":"","server":{},"tools":[{"definition":{},"plays":[]}]}"#,
            "no name",
        ),
        (
            r#"{"about":"","server":{},"start":[{"relist":"x"}]}"#,
            "no list \"x\"",
        ),
        (r#"{"about":"","server":{},"colour":1}"#, "colour"),
    ] {
        let fault = catalog::parse("test", text).unwrap_err().to_string();
        assert!(fault.contains(expected), "{fault}");
    }
}

#[test]
fn what_was_done_before_is_known_to_a_later_process() {
    let script = catalog::parse(
        "test",
        r#"{"about":"","server":{},"tools":[
            {"definition":{"name":"book"},"plays":[
                {"when":{"before":"done"},"steps":[{"undone":"was booked"},{"result":{"again":true}}]},
                {"when":{"before":"undone"},"steps":[{"done":"booked"},{"result":{"again":false}}]},
                {"steps":[{"undone":"swallowed"},{"result":{"lost":true}}]}]},
            {"definition":{"name":"list"},"plays":[{"steps":[{"undone":"looked"},{"result":{"booked":"{{done book}}"}}]}]}]}"#,
    )
    .unwrap();
    let mut stage = Stage::of(&script);
    let (one, other) = (json!({ "room": "1" }), json!({ "room": "2" }));
    assert_eq!(only(stage.call("book", &one))["result"], json!({ "lost": true }));
    assert_eq!(
        only(stage.call("list", &json!({})))["result"]["booked"],
        json!([])
    );
    // As after a crash: another process over the same file.
    let options = Serve {
        truth: Some(stage.folder.path().join("truth")),
        ..Serve::default()
    };
    stage.server = Server::new(&script, options, Box::new(stage.written.clone())).unwrap();
    assert_eq!(
        only(stage.call("book", &one))["result"],
        json!({ "again": false })
    );
    assert_eq!(only(stage.call("book", &one))["result"], json!({ "again": true }));
    assert_eq!(
        only(stage.call("book", &other))["result"],
        json!({ "lost": true })
    );
    assert_eq!(
        only(stage.call("list", &json!({})))["result"]["booked"],
        json!([one])
    );
}
