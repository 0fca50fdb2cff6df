//! What the demo's page and ledger are held against: the bytes that came, and the truth.

use serde_json::{Value, json};

use crate::harness::frame;

/// What must be printed of these bytes, without white space, which wrapping may change.
pub(super) fn shown(answer: Option<&str>) -> String {
    let Some(answer) = answer else {
        return "(noanswer".to_owned();
    };
    let raw = |path: &[&str]| frame::raw_at(answer, path);
    let flag = match raw(&["result", "isError"]) {
        None => "no error flag (isError absent)",
        Some("false") => "no error flag (isError false)",
        Some(_) => "error flag (isError true)",
    };
    let mut shown = flag.to_owned();
    let result = &frame::value(answer)["result"];
    let mut same = false;
    for block in result["content"].as_array().unwrap() {
        let text = block["text"].as_str().unwrap();
        same |= serde_json::from_str::<Value>(text).is_ok_and(|value| value == result["structuredContent"]);
        shown.push_str(text);
    }
    match raw(&["result", "structuredContent"]) {
        None => {}
        Some(_) if same => shown.push_str("structuredContent: the same"),
        Some(_) if result["structuredContent"] == result["_meta"]["candor/verdict"] => {
            shown.push_str("structuredContent: the verdict");
        }
        Some(raw) => shown.push_str(&format!("structuredContent: {raw}")),
    }
    bare(&shown)
}

/// Without white space.
pub(super) fn bare(text: &str) -> String {
    text.replace(char::is_whitespace, "")
}

/// Why a recorded call claims more than the truth; none if it does not.
pub(super) fn overclaim(call: &Value, done: bool) -> Option<String> {
    let claims_done = call["outcome"] == "completed" || call["effect"] == "applied";
    let claims_not_done = call["effect"] == "not_applied";
    ((claims_done && !done) || (claims_not_done && done))
        .then(|| format!("done: {done}, and the ledger says {call}"))
}

/// Words that say that something was done, once those that only speak of it are taken out.
pub(super) fn says_done(text: &str) -> bool {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for spoken_of in [
        "NOT DONE",
        "NOT YET DONE",
        "nothing shows yet that it was done",
        "It may be done, not done, or still running",
        "It may or may not be done",
        "effect not_applied",
    ] {
        text = text.replace(spoken_of, "");
    }
    ["done", "completed", "applied", "confirmed", "succe"]
        .iter()
        .any(|word| text.to_lowercase().contains(word))
}

#[test]
fn these_checks_can_fail() {
    let call = |outcome: &str, effect: &str| json!({ "outcome": outcome, "effect": effect });
    for (outcome, effect, done, fires) in [
        ("completed", "applied", false, true),
        ("completed", "applied", true, false),
        ("rejected", "not_applied", true, true),
        ("rejected", "not_applied", false, false),
        ("reported", "unknown", false, false),
        ("unknown", "unknown", true, false),
    ] {
        assert_eq!(
            overclaim(&call(outcome, effect), done).is_some(),
            fires,
            "{outcome} {effect} {done}"
        );
    }
    assert!(says_done("Done: the room is yours") && says_done("outcome completed, effect applied"));
    assert!(!says_done(
        "NOT DONE: server \"rooms\"\nrefused; outcome rejected, effect not_applied"
    ));
    let line =
        r#"{"id":3,"result":{"content":[{"type":"text","text":"a b"}],"structuredContent":{ "c": 1 }}}"#;
    assert_eq!(
        shown(Some(line)),
        r#"noerrorflag(isErrorabsent)abstructuredContent:{"c":1}"#
    );
}
