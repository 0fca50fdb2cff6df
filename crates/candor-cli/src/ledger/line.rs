//! One record as one line of JSON, with all that its digest covers.

use candor_ledger::{Digest, Phase, StoredEntry};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::times;

/// The members of a line, in their order. Names are part of what others read: add, never rename.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line<'a> {
    r#type: &'static str,
    operation: String,
    phase: &'static str,
    at: String,
    at_ms: i64,
    server: &'a str,
    tool: &'a str,
    outcome: &'a Option<String>,
    effect: &'a Option<String>,
    evidence: &'a Option<String>,
    unsettled: bool,
    instance: String,
    sequence: u64,
    position: u64,
    previous: String,
    digest: String,
    /// The body's own bytes where they are JSON on one line; null otherwise.
    body: Option<&'a RawValue>,
    /// The body's bytes in hex where they are something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    body_hex: Option<String>,
}

impl<'a> Line<'a> {
    pub(super) fn of(record: &'a StoredEntry) -> Self {
        let entry = &record.entry;
        let body = serde_json::from_slice::<&RawValue>(&entry.body)
            .ok()
            .filter(|body| body.get().len() == entry.body.len() && !body.get().contains(['\n', '\r']));
        Self {
            r#type: "record",
            operation: entry.operation.to_string(),
            phase: phase(entry.phase),
            at: times::stamp(entry.at_ms),
            at_ms: entry.at_ms,
            server: &entry.server,
            tool: &entry.tool,
            outcome: &entry.outcome,
            effect: &entry.effect,
            evidence: &entry.evidence,
            unsettled: entry.unsettled,
            instance: record.instance.to_string(),
            sequence: record.sequence,
            position: record.position,
            previous: hex(&record.previous),
            digest: hex(&record.digest),
            body_hex: body.is_none().then(|| hex_of(&entry.body)),
            body,
        }
    }
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Intent => "intent",
        Phase::Verdict => "verdict",
        Phase::Amendment => "amendment",
    }
}

pub(super) fn hex(digest: &Digest) -> String {
    hex_of(digest)
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use candor_ledger::Entry;
    use serde_json::Value;
    use uuid::Uuid;

    use super::*;

    fn line(body: &[u8]) -> String {
        let record = StoredEntry {
            position: 7,
            instance: Uuid::nil(),
            sequence: 3,
            previous: [0; 32],
            digest: [0xab; 32],
            entry: Entry {
                operation: Uuid::nil(),
                phase: Phase::Verdict,
                at_ms: 1_796_044_389_834,
                server: "rooms".into(),
                tool: "line\nbreak".into(),
                outcome: Some("reported".into()),
                effect: None,
                evidence: None,
                unsettled: false,
                body: body.to_vec(),
            },
        };
        serde_json::to_string(&Line::of(&record)).unwrap()
    }

    #[test]
    fn a_body_keeps_its_bytes_or_is_given_in_hex() {
        let body = r#"{"v":1,  "n":1.10, "u":"\u202e é"}"#;
        let text = line(body.as_bytes());
        assert!(
            text.ends_with(&format!(r#""body":{body}}}"#)),
            "the bytes are as they were: {text}"
        );
        for odd in [&b"\xff"[..], b"", b"{\n}", b" {}", b"{} ", b"{"] {
            let text = line(odd);
            assert_eq!(text.lines().count(), 1, "{text}");
            let value: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(value["body"], Value::Null);
            assert_eq!(value["bodyHex"].as_str().unwrap().len(), 2 * odd.len());
        }
    }
}
