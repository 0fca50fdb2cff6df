//! A person's word: what it makes of a call, and what it leaves as it was.

use super::*;
use crate::call::crashed::{self, OpenIntent};

const NOW: UnixMillis = UnixMillis(1_796_044_380_000);

fn operation() -> OperationId {
    OperationId::new(uuid::Uuid::from_u128(7))
}

fn settle(intent: &[u8], latest: &[u8], word: Word, because: &str) -> (Entry, Value) {
    let call = Settled {
        operation: operation(),
        server: "rooms",
        tool: "book_room",
        intent,
        latest,
    };
    let settling = Settling {
        word,
        because,
        by: "ada",
    };
    let entry = amendment(&call, &settling, NOW);
    let body = serde_json::from_str(&entry.body).unwrap();
    (entry, body)
}

/// A verdict that a crash left, as the ledger has it.
fn lost() -> String {
    let open = OpenIntent {
        operation: operation(),
        at: UnixMillis(NOW.0 - 1_000),
        server: "rooms",
        tool: "book_room",
        body: b"{}",
    };
    crashed::verdict(&open, NOW).body
}

/// The row of the table for a word and a class.
fn row(how: &str, class: &str) -> toml::Table {
    let table: toml::Table = include_str!("../../../decisions.toml").parse().unwrap();
    let rows = table["case"].as_array().unwrap().iter();
    let rows = rows.flat_map(|case| case["rows"].as_array().unwrap());
    let of = |row: &&toml::Value, class: &str| {
        let of = row.get("class").and_then(toml::Value::as_str);
        row["how"].as_str() == Some(how) && of.is_none_or(|of| of == class)
    };
    let all: Vec<&toml::Value> = rows.collect();
    let found = all.iter().find(|row| of(row, class));
    let found = found.or_else(|| all.iter().find(|row| of(row, "write")));
    found.unwrap().as_table().unwrap().clone()
}

#[test]
fn a_word_concludes_what_the_table_says() {
    for (word, class) in [
        (Word::Applied, "write"),
        (Word::Applied, "idempotent"),
        (Word::Applied, "read"),
        (Word::NotApplied, "write"),
        (Word::NotApplied, "read"),
    ] {
        let intent = format!(r#"{{"v":1,"effectClass":"{class}"}}"#);
        let (entry, body) = settle(intent.as_bytes(), lost().as_bytes(), word, "I looked");
        let (row, concluded) = (row(word.how(), class), entry.concluded.unwrap());
        assert_eq!(
            row["outcome"].as_str(),
            Some(concluded.outcome.as_str()),
            "{word:?} {class}"
        );
        assert_eq!(
            row["effect"].as_str(),
            Some(concluded.effect.as_str()),
            "{word:?} {class}"
        );
        assert_eq!(row["evidence"].as_str(), Some(concluded.evidence.as_str()));
        assert_eq!(
            row.get("kind").and_then(toml::Value::as_str),
            body["verdict"]["error"]["kind"].as_str()
        );
        assert_eq!(row["channel"].as_str(), body["channel"].as_str());
        assert!(
            !concluded.unsettled,
            "a person's word settles it: {word:?} {class}"
        );
        assert_eq!(entry.phase, Phase::Amendment);
    }
}

#[test]
fn what_arrived_and_what_went_wrong_stay_as_they_were() {
    let (_, body) = settle(
        b"",
        lost().as_bytes(),
        Word::NotApplied,
        "the list does not have it",
    );
    let verdict = Verdict::from_json(&body["verdict"]).unwrap();
    assert_eq!(verdict.protocol, Protocol::NoResponse);
    assert_eq!(verdict.error.unwrap().code, "CANDOR_NO_ANSWER");
    assert_eq!(verdict.attempts, 1);
    assert_eq!(body["settled"]["by"], "ada");
    assert_eq!(body["settled"]["because"], "the list does not have it");
    let (_, body) = settle(b"", lost().as_bytes(), Word::Applied, "I looked");
    assert!(Verdict::from_json(&body["verdict"]).unwrap().error.is_none());
}

#[test]
fn parts_and_reference_are_kept_and_every_part_takes_the_word() {
    let mut before: Value = serde_json::from_str(&lost()).unwrap();
    before["verdict"]["reference"] = json!("4711");
    before["findings"] = json!([{ "code": "output_shape", "detail": "d" }]);
    before["verdict"]["parts"] =
        json!([{ "name": "a", "outcome": "unknown", "effect": "unknown", "code": "LOST" }]);
    let before = before.to_string();
    let (_, body) = settle(b"", before.as_bytes(), Word::Applied, "I looked");
    assert_eq!(body["verdict"]["reference"], "4711");
    assert_eq!(
        body["verdict"]["parts"],
        json!([{ "name": "a", "outcome": "completed", "effect": "applied" }])
    );
    assert_eq!(body["findings"][0]["code"], "output_shape");
    let (_, body) = settle(b"", before.as_bytes(), Word::NotApplied, "I looked");
    assert_eq!(body["verdict"]["parts"][0]["code"], "LOST");
}

#[test]
fn a_reason_is_masked_first_and_cut_afterwards() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let long = format!("{}{secret}", "é".repeat(MOST_REASON / 2 - 5));
    let (_, body) = settle(b"", b"", Word::Applied, &long);
    let kept = body["settled"]["because"].as_str().unwrap();
    assert!(kept.len() <= MOST_REASON, "{}", kept.len());
    assert!(!kept.contains("ghp_0"), "{kept}");
    let (_, body) = settle(b"", b"", Word::Applied, &format!("seen with {secret}"));
    assert!(!body.to_string().contains(secret), "{body}");
}

#[test]
fn bodies_that_cant_be_read_do_not_stop_it() {
    for latest in [
        &b""[..],
        b"\xff",
        b"[]",
        br#"{"v":9,"verdict":{"reference":"x"}}"#,
    ] {
        let (entry, body) = settle(latest, latest, Word::NotApplied, "I looked");
        assert_eq!(entry.concluded.unwrap().outcome, Outcome::Failed);
        assert_eq!(
            body["verdict"]["reference"],
            Value::Null,
            "what a newer program means is not read"
        );
        assert!(!body["verdict"]["error"]["code"].as_str().unwrap().is_empty());
    }
}
