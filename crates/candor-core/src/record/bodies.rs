//! The bodies of entries: what `candor show` reads years later. Redacted, cut, with digests of the raw bytes.
//!
//! Version 1. Members may be added; a change of meaning takes a new number.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::delivery::redaction::{self, KnownSecrets};
use crate::judgment::ending::Scene;
use crate::judgment::finding::Finding;
use crate::judgment::judge::Judgment;
use crate::names::{ToolName, UnixMillis};
use crate::recovery::read_back::Look;

/// The version of every body written here.
pub const VERSION: u32 = 1;
/// Arguments and results are cut at this many bytes of JSON text (DESIGN section 3e).
pub const CUT: usize = 16 * 1024;
/// Up to this size JSON is redacted as a whole before it is cut.
const WHOLE: usize = 64 * 1024;
/// At the end of a part of a text, so many bytes may be half a credential.
const EDGE: usize = 4 * 1024;

/// What an intent says beside its columns.
#[derive(Debug, Clone)]
pub struct IntentFacts<'a> {
    /// The arguments as they will be sent, raw; `None` where the call has none.
    pub arguments: Option<&'a str>,
    /// The effect class and where it came from; `None` where nobody classified the tool.
    pub class: Option<String>,
    /// The digest of the tool's input schema, hexadecimal.
    pub schema: Option<String>,
    /// The revision in force.
    pub revision: &'a str,
    /// The host's name, where it gave one.
    pub host: Option<&'a str>,
    /// Who calls, where somebody said.
    pub principal: Option<&'a str>,
    /// The request's id as the host wrote it.
    pub request_id: &'a str,
    /// The deadline in milliseconds.
    pub deadline_ms: u64,
    /// Coercions, notices and findings so far.
    pub disclosed: Value,
    /// The clauses of the contract that hold, each with its source.
    pub contract: Vec<(String, String)>,
    /// The idempotency key. Only its digest is written.
    pub key: Option<&'a str>,
}

/// The body of an intent.
pub fn intent(scene: &Scene, at: UnixMillis, facts: &IntentFacts<'_>) -> String {
    let secrets = &scene.secrets;
    let body = json!({
        "v": VERSION,
        "type": "intent",
        "operationId": scene.operation,
        "server": scene.server,
        "tool": tool(scene),
        "at": at,
        "arguments": facts.arguments.map(|raw| kept(raw, secrets)),
        "argumentsDigest": facts.arguments.map(digest),
        "effectClass": facts.class,
        "schemaDigest": facts.schema,
        "revision": facts.revision,
        "host": facts.host.map(|host| redaction::text(host).value),
        "principal": facts.principal.map(|principal| redaction::text(principal).value),
        "requestId": redaction::text(facts.request_id).value,
        "deadlineMs": facts.deadline_ms,
        "disclosed": facts.disclosed,
        "contract": facts.contract.iter().map(|(clause, source)| json!({ "clause": clause, "source": source })).collect::<Vec<_>>(),
    });
    let mut body = redaction::known_json(body, secrets);
    if let (Some(key), Some(members)) = (facts.key, body.as_object_mut()) {
        members.insert("idempotencyKeyDigest".to_owned(), json!(digest(key)));
    }
    body.to_string()
}

/// What a verdict says beside itself.
#[derive(Debug, Clone, Default)]
pub struct VerdictFacts<'a> {
    /// Candor's block as it was given to the model.
    pub block: Option<&'a str>,
    /// What the server answered, raw; `None` where nothing came.
    pub reply: Option<&'a str>,
    /// Findings from before the answer came.
    pub earlier_findings: &'a [Finding],
    /// The structured `count` is 0.
    pub count_is_zero: bool,
}

/// The body of a verdict or an amendment.
pub fn verdict(scene: &Scene, at: UnixMillis, judgment: &Judgment, facts: &VerdictFacts<'_>) -> String {
    let findings: Vec<&Finding> = facts.earlier_findings.iter().chain(&judgment.findings).collect();
    let secrets = &scene.secrets;
    let body = json!({
        "v": VERSION,
        "type": "verdict",
        "operationId": scene.operation,
        "server": scene.server,
        "tool": tool(scene),
        "at": at,
        "how": judgment.how,
        "verdict": judgment.verdict.to_json(true),
        "channel": judgment.ruling.channel,
        "flagged": judgment.ruling.flag == crate::judgment::ruling::Flag::Set,
        "countIsZero": facts.count_is_zero,
        "text": facts.block,
        "findings": findings,
        "readBack": judgment.look.as_ref().map(|look| read_back(look, secrets)),
        "reply": facts.reply.map(|raw| kept(raw, secrets)),
        "replyDigest": facts.reply.map(digest),
    });
    redaction::known_json(body, secrets).to_string()
}

/// What looking came to, as it is kept: the evidence of a verdict that stands on it.
fn read_back(look: &Look, secrets: &KnownSecrets) -> Value {
    json!({
        "tool": redaction::masked(&look.tool, secrets).value,
        "shows": look.shown,
        "why": (!look.why.is_empty()).then(|| redaction::masked(&look.why, secrets).value),
        "looks": look.times,
        "sinceSentMs": u64::try_from(look.since_sent.as_millis()).unwrap_or(u64::MAX),
        "arguments": look.arguments.as_ref().map(|arguments| kept(&arguments.to_string(), secrets)),
        "answer": look.answer.as_deref().map(|raw| kept(raw, secrets)),
        "answerDigest": look.answer.as_deref().map(digest),
    })
}

/// The tool's name as it is recorded: whatever a host called it, without credentials.
pub fn tool(scene: &Scene) -> ToolName {
    ToolName::from(
        redaction::masked(scene.tool.as_str(), &scene.secrets)
            .value
            .as_ref(),
    )
}

/// JSON text as it is kept: redacted, and as a value where it fits; cut text otherwise.
fn kept(raw: &str, secrets: &KnownSecrets) -> Value {
    if raw.len() <= CUT
        && let Ok(value) = serde_json::from_str::<Value>(raw)
    {
        return redaction::json_owned(value, secrets).value;
    }
    // Redact before the cut: a cut through a credential would hide it from redaction and keep its first half. The
    // window is twice the cut, so that reading a huge reply stays cheap; what stands at its own end is not kept.
    let whole = if raw.len() <= WHOLE {
        serde_json::from_str::<Value>(raw).ok()
    } else {
        None
    };
    let masked = match whole {
        Some(value) => redaction::json_owned(value, secrets).value.to_string(),
        None => {
            let window = raw.get(..raw.floor_char_boundary(2 * CUT)).unwrap_or_default();
            let mut masked = redaction::masked(window, secrets).value.into_owned();
            if window.len() < raw.len() {
                masked.truncate(masked.floor_char_boundary(masked.len().saturating_sub(EDGE)));
            }
            masked
        }
    };
    let end = masked.floor_char_boundary(masked.len().min(CUT));
    json!({ "cut": masked.get(..end).unwrap_or_default(), "bytes": raw.len() })
}

/// SHA-256 in hexadecimal.
pub fn digest(raw: &str) -> String {
    hex(&Sha256::digest(raw.as_bytes()))
}

/// SHA-256 over several parts, each behind its length, so that no two lists of parts are the same text.
pub fn digest_of_parts(parts: &[&[u8]]) -> [u8; 32] {
    let mut whole = Sha256::new();
    for part in parts {
        whole.update((part.len() as u64).to_be_bytes());
        whole.update(part);
    }
    whole.finalize().into()
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
            out.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
            out.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
            out
        })
}
