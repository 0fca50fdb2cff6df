//! An intent without a verdict, of an instance that is gone: the call may have been sent, and nobody knows more.

use std::time::Duration;

use serde_json::Value;

use crate::contract::effect::EffectClass;
use crate::delivery::redaction::KnownSecrets;
use crate::judgment::ending::{Ending, Scene, Voice};
use crate::judgment::judge::judge;
use crate::names::{OperationId, ServerName, ToolName, UnixMillis};
use crate::record::bodies::{self, VerdictFacts};
use crate::record::entry::Concluded;
use crate::record::{Entry, Phase};

/// What a ledger knows of an open intent.
#[derive(Debug, Clone, Copy)]
pub struct OpenIntent<'a> {
    /// The operation.
    pub operation: OperationId,
    /// When it was recorded.
    pub at: UnixMillis,
    /// The server.
    pub server: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The intent's body.
    pub body: &'a [u8],
}

/// The verdict on an open intent. `attempts` counts the last try: it may have been sent.
pub fn verdict(intent: &OpenIntent<'_>, now: UnixMillis) -> Entry {
    let body: Value = serde_json::from_slice(intent.body).unwrap_or_default();
    let class = body
        .get("effectClass")
        .and_then(Value::as_str)
        .and_then(|word| word.parse().ok());
    // Each try has an intent of its own.
    let attempts = body.get("attempt").and_then(Value::as_u64);
    let attempts = attempts.and_then(|made| u32::try_from(made).ok()).unwrap_or(1);
    let scene = Scene {
        operation: intent.operation,
        server: ServerName::from(intent.server),
        tool: ToolName::from(intent.tool),
        class: class.unwrap_or(EffectClass::Write),
        claims_read_only: false,
        attempts,
        elapsed: Duration::from_millis(now.since(intent.at)),
        strict_shape: false,
        recorded: true,
        voice: Voice::Gateway,
        // What was written before was masked then.
        secrets: KnownSecrets::default(),
    };
    let judgment = judge(&scene, &Ending::Crashed);
    Entry {
        operation: intent.operation,
        phase: Phase::Verdict,
        at: now,
        server: scene.server.clone(),
        tool: scene.tool.clone(),
        concluded: Some(Concluded::of(&judgment.verdict)),
        body: bodies::verdict(&scene, now, &judgment, &VerdictFacts::default()),
    }
}
