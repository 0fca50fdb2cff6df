//! What an earlier run left open, as the ledger has it: what can still be looked for, and the amendment it comes to.

use std::time::Duration;

use serde_json::Value;

use super::read_back::{Look, Shown, Subject};
use crate::contract::effect::EffectClass;
use crate::delivery::redaction::{KnownSecrets, holds_mask};
use crate::judgment::ending::{Scene, Voice};
use crate::judgment::how::How;
use crate::judgment::judge::Judgment;
use crate::judgment::looked::{Before, looked};
use crate::judgment::ruling::{Bytes, Channel, Flag, Opening, Ruling, error_code};
use crate::judgment::sentence::looked::sentence;
use crate::judgment::verdict::{Failure, Repeat, Verdict};
use crate::names::{OperationId, ServerName, ToolName, UnixMillis};
use crate::record::bodies::{self, VerdictFacts, digest};
use crate::record::entry::Concluded;
use crate::record::{Entry, Phase};
use crate::wire::revision::Revision;

/// What a ledger knows of an operation that is not settled.
#[derive(Debug, Clone, Copy)]
pub struct Unsettled<'a> {
    /// The operation.
    pub operation: OperationId,
    /// When its intent was recorded.
    pub at: UnixMillis,
    /// The server.
    pub server: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The body of its intent.
    pub intent: &'a [u8],
    /// The body of its latest verdict or amendment.
    pub latest: &'a [u8],
}

/// An operation that can still be looked for.
#[derive(Debug, Clone)]
pub struct Open {
    scene: Scene,
    how: How,
    verdict: Verdict,
    before: Before,
    /// What the contract's expressions see of it.
    pub subject: Subject,
}

impl Open {
    /// Reads what the ledger has; looks are made in `revision`.
    ///
    /// # Errors
    /// Why it can't be looked for, as the end of a sentence.
    pub fn read(unsettled: &Unsettled<'_>, revision: Revision) -> Result<Self, &'static str> {
        let intent: Value =
            serde_json::from_slice(unsettled.intent).map_err(|_| "its intent can't be read")?;
        let latest: Value =
            serde_json::from_slice(unsettled.latest).map_err(|_| "its verdict can't be read")?;
        let verdict = latest
            .get("verdict")
            .and_then(Verdict::from_json)
            .ok_or("its verdict can't be read")?;
        let how = latest
            .get("how")
            .and_then(Value::as_str)
            .and_then(How::parse)
            .ok_or("how it ended is not known")?;
        let before = Before::of(&ruling(how, &verdict), how).ok_or("a look would tell nothing new")?;
        // The record of a call that was sent several times began with the first: no window may begin before the last.
        let sent = match latest.get("at").and_then(Value::as_i64) {
            Some(told) if verdict.attempts > 1 => UnixMillis(told),
            _ => unsettled.at,
        };
        let class: Option<EffectClass> = intent
            .get("effectClass")
            .and_then(Value::as_str)
            .and_then(|word| word.parse().ok());
        if class == Some(EffectClass::Read) {
            return Err("it changes nothing");
        }
        Ok(Self {
            scene: Scene {
                operation: unsettled.operation,
                server: ServerName::from(unsettled.server),
                tool: ToolName::from(unsettled.tool),
                class: class.unwrap_or(EffectClass::Write),
                claims_read_only: false,
                attempts: verdict.attempts,
                elapsed: Duration::ZERO,
                strict_shape: false,
                recorded: true,
                voice: Voice::Gateway,
                // What was written before was masked then.
                secrets: KnownSecrets::default(),
            },
            how,
            before,
            subject: Subject {
                args: arguments(&intent)?,
                result: Value::Null,
                text: String::new(),
                revision,
                sent,
                may_still_run: matches!(how, How::Timeout | How::CancelledSent | How::Crashed),
            },
            verdict,
        })
    }

    /// The operation.
    pub fn operation(&self) -> OperationId {
        self.scene.operation
    }

    /// The tool.
    pub fn tool(&self) -> &ToolName {
        &self.scene.tool
    }

    /// What a look makes of it; `None` where it settles nothing.
    pub fn amendment(&self, look: Look, now: UnixMillis) -> Option<Entry> {
        let own = ruling(self.how, &self.verdict);
        let ruling = looked(own, self.before, look.shown);
        if look.shown == Shown::Nothing || ruling == own {
            return None;
        }
        let seen = sentence(&look, &self.scene.secrets);
        let earlier = self.verdict.error.as_ref();
        let message = match earlier {
            Some(error) => format!("{} Later, {seen}", error.message),
            None => seen,
        };
        let verdict = Verdict {
            outcome: ruling.outcome,
            effect: ruling.effect,
            evidence: ruling.evidence,
            error: ruling.kind.map(|kind| Failure {
                code: earlier
                    .map(|error| error.code.clone())
                    .or_else(|| error_code(self.how).map(str::to_owned))
                    .unwrap_or_default(),
                kind,
                message,
                retry_same_request: ruling.repeat == Some(Repeat::MayHelp),
                repeat: ruling.repeat.unwrap_or(Repeat::MayDuplicate),
                retry_after: None,
                issues: Vec::new(),
            }),
            suggested_next_step: None,
            ..self.verdict.clone()
        };
        let judgment = Judgment {
            how: self.how,
            ruling,
            verdict,
            findings: Vec::new(),
            look: Some(look),
        };
        Some(Entry {
            operation: self.scene.operation,
            phase: Phase::Amendment,
            at: now,
            server: self.scene.server.clone(),
            tool: self.scene.tool.clone(),
            concluded: Some(Concluded::of(&judgment.verdict)),
            body: bodies::verdict(&self.scene, now, &judgment, &VerdictFacts::default()),
        })
    }
}

/// What is recorded, as the ruling it was: nobody is left to tell.
fn ruling(how: How, verdict: &Verdict) -> Ruling {
    Ruling {
        channel: Channel::Nobody,
        flag: if how == How::Flagged {
            Flag::Set
        } else {
            Flag::NoResult
        },
        protocol: verdict.protocol,
        outcome: verdict.outcome,
        effect: verdict.effect,
        evidence: verdict.evidence,
        kind: verdict.error.as_ref().map(|error| error.kind),
        bytes: Bytes::Nothing,
        opening: Opening::Silent,
        may_retry: false,
        repeat: verdict.error.as_ref().map(|error| error.repeat),
        finding: None,
    }
}

/// The arguments as they were sent. What was masked or cut on its way to disk is not what was sent.
fn arguments(intent: &Value) -> Result<Value, &'static str> {
    let kept = match intent.get("arguments") {
        None | Some(Value::Null) => return Ok(Value::Object(serde_json::Map::new())),
        Some(kept) => kept,
    };
    let recorded = intent.get("argumentsDigest").and_then(Value::as_str);
    let text = kept.to_string();
    if recorded == Some(digest(&text).as_str()) {
        return Ok(kept.clone());
    }
    let is_cut =
        kept.get("cut").is_some_and(Value::is_string) && kept.get("bytes").is_some_and(Value::is_u64);
    if is_cut {
        return Err("its arguments were cut for the record");
    }
    if holds_mask(&text) {
        return Err("its arguments were masked for the record");
    }
    Ok(kept.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judgment::verdict::{Effect, Outcome};

    fn verdict(outcome: &str, effect: &str, protocol: &str) -> Vec<u8> {
        json!({ "how": "crashed", "verdict": {
            "outcome": outcome, "effect": effect, "protocol": protocol, "evidence": "none", "attempts": 1,
            "operationId": "01990000-0000-7000-8000-000000000001",
            "error": { "code": "CANDOR_NO_ANSWER", "kind": "outcome_unknown", "message": "It may have been sent.",
                       "retrySameRequest": false, "repeat": "may_duplicate" } } })
        .to_string()
        .into_bytes()
    }

    fn open(arguments: &Value, recorded: Option<&str>, latest: &[u8]) -> Result<Open, &'static str> {
        let intent = json!({ "arguments": arguments, "argumentsDigest": recorded, "effectClass": "write" })
            .to_string();
        Open::read(
            &Unsettled {
                operation: OperationId::new(uuid::Uuid::from_u128(1)),
                at: UnixMillis(1_000),
                server: "rooms",
                tool: "book_room",
                intent: intent.as_bytes(),
                latest,
            },
            Revision::V2025_11_25,
        )
    }

    fn look(shown: Shown) -> Look {
        Look {
            tool: "list_bookings".to_owned(),
            shown,
            why: String::new(),
            times: 1,
            since_sent: Duration::from_secs(9),
            arguments: None,
            answer: None,
        }
    }

    #[test]
    fn what_a_crash_left_is_settled_either_way_and_by_nothing_else() {
        let open = open(
            &json!({ "room": 12 }),
            None,
            &verdict("unknown", "unknown", "no_response"),
        )
        .unwrap();
        assert_eq!(open.subject.args, json!({ "room": 12 }));
        let amended = |shown| open.amendment(look(shown), UnixMillis(10_000));
        let applied = amended(Shown::Applied).unwrap();
        let columns = applied.concluded.unwrap();
        assert_eq!(
            (columns.outcome, columns.effect, columns.unsettled),
            (Outcome::Completed, Effect::Applied, false)
        );
        assert!(applied.body.contains("read_back") && applied.phase == Phase::Amendment);
        let undone = amended(Shown::NotApplied).unwrap();
        assert_eq!(undone.concluded.unwrap().effect, Effect::NotApplied);
        assert!(
            undone
                .body
                .contains("Later, list_bookings, asked 9 s after it was sent, shows that nothing changed.")
        );
        assert!(amended(Shown::Nothing).is_none());
    }

    #[test]
    fn a_window_begins_with_the_last_send() {
        let told = |attempts: u32| {
            let mut latest: Value =
                serde_json::from_slice(&verdict("unknown", "unknown", "no_response")).unwrap();
            latest["at"] = json!(8_000);
            latest["verdict"]["attempts"] = json!(attempts);
            let latest = latest.to_string();
            open(&json!({}), None, latest.as_bytes()).unwrap().subject.sent
        };
        assert_eq!((told(1), told(2)), (UnixMillis(1_000), UnixMillis(8_000)));
    }

    #[test]
    fn what_is_settled_already_is_not_looked_for() {
        let settled = verdict("failed", "not_applied", "no_response");
        assert_eq!(
            open(&json!({}), None, &settled).unwrap_err(),
            "a look would tell nothing new"
        );
    }

    #[test]
    fn arguments_that_are_not_the_ones_that_were_sent_are_not_asked_by() {
        let latest = verdict("unknown", "unknown", "no_response");
        let masked = json!({ "token": "[masked: bearer token]" });
        assert!(open(&masked, None, &latest).is_err());
        let own_words = digest(&masked.to_string());
        assert!(
            open(&masked, Some(&own_words), &latest).is_ok(),
            "they were sent so"
        );
        let cut = json!({ "cut": "{\"a\":", "bytes": 99_999 });
        assert!(open(&cut, None, &latest).is_err());
    }
}
