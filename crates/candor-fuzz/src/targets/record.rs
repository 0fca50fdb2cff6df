//! Any bytes as the body of an open intent: judging what a crash left behind always gives a verdict that claims
//! nothing, and what is written of any arguments is JSON that is read again.

use std::time::Duration;

use candor_core::call::crashed::{self, OpenIntent};
use candor_core::contract::effect::EffectClass;
use candor_core::delivery::redaction::KnownSecrets;
use candor_core::judgment::ending::{Scene, Voice};
use candor_core::judgment::verdict::{Effect, Evidence, Outcome};
use candor_core::names::{OperationId, ServerName, ToolName, UnixMillis};
use candor_core::record::Entry;
use candor_core::record::bodies::{self, CUT, IntentFacts};
use serde_json::Value;
use uuid::Uuid;

use crate::broken::{Broken, law};
use crate::input::text;

/// Words that record bodies are made of.
pub(crate) const WORDS: &[&str] = &[
    "\"v\":1",
    "\"v\":2",
    "\"type\":\"intent\"",
    "\"effectClass\":\"read\"",
    "\"effectClass\":\"write\"",
    "\"effectClass\":\"idempotent\"",
    "\"effectClass\":7",
    "\"effectClass\":\"x\"",
    "\"arguments\":{\"password\":\"hunter22222\"}",
    "\"disclosed\":{}",
    "\"contract\":[]",
];

const AT: UnixMillis = UnixMillis(1_764_500_000_000);
/// What stands around the arguments in a body, in bytes, with room to spare: masks are longer than what they mask.
const AROUND: usize = 4 * 1024;

/// Holds one input against the target's laws.
pub(crate) fn check(input: &[u8]) -> Result<(), Broken> {
    let judged = judge(input);
    claims_nothing(input, &judged)?;
    let written = written(&text(input));
    let read: Result<Value, _> = serde_json::from_str(&written);
    law(
        "an intent's body is JSON of this version",
        versioned(read.ok().as_ref()),
        || written.clone(),
    )?;
    law(
        "an intent's body is bounded",
        written.len() <= 8 * CUT + AROUND,
        || format!("{} bytes", written.len()),
    )?;
    let again = judge(written.as_bytes());
    let is_read = again.concluded.map(|columns| columns.effect) == Some(Effect::NotApplied);
    law(
        "the class that was written is the class that is read",
        is_read,
        || again.body.clone(),
    )
}

fn judge(body: &[u8]) -> Entry {
    let intent = OpenIntent {
        operation: OperationId::new(Uuid::from_u128(0x0199_8f2c_1a90)),
        at: AT,
        server: "rooms",
        tool: "book_room",
        body,
    };
    crashed::verdict(&intent, UnixMillis(AT.0 + 1_000))
}

fn claims_nothing(input: &[u8], entry: &Entry) -> Result<(), Broken> {
    let seen = || format!("{:?}, {}", entry.concluded, entry.body);
    let value: Result<Value, _> = serde_json::from_str(&entry.body);
    law(
        "a verdict's body is JSON of this version",
        versioned(value.ok().as_ref()),
        seen,
    )?;
    let Some(columns) = entry.concluded else {
        return law("a verdict has its columns", false, seen);
    };
    let class = serde_json::from_slice::<Value>(input)
        .ok()
        .and_then(|body| body.get("effectClass")?.as_str().map(str::to_owned));
    let lost = columns.evidence == Evidence::None
        && if class.as_deref() == Some("read") {
            columns.effect == Effect::NotApplied
        } else {
            columns.effect == Effect::Unknown && columns.outcome == Outcome::Unknown && columns.unsettled
        };
    law("nothing is known of a call that a crash interrupted", lost, seen)
}

fn versioned(body: Option<&Value>) -> bool {
    body.and_then(|body| body.get("v")).and_then(Value::as_u64) == Some(u64::from(bodies::VERSION))
}

/// The body of a trusted read's intent with these arguments.
fn written(arguments: &str) -> String {
    let scene = Scene {
        operation: OperationId::new(Uuid::from_u128(0x0199_8f2c_1a90)),
        server: ServerName::from("rooms"),
        tool: ToolName::from("list_rooms"),
        class: EffectClass::Read,
        claims_read_only: true,
        attempts: 0,
        elapsed: Duration::ZERO,
        strict_shape: false,
        recorded: true,
        voice: Voice::Gateway,
        secrets: KnownSecrets::default(),
    };
    let facts = IntentFacts {
        key: None,
        arguments: Some(arguments),
        class: Some(EffectClass::Read.to_string()),
        schema: None,
        revision: "2025-11-25",
        host: None,
        principal: None,
        request_id: "1",
        deadline_ms: 55_000,
        disclosed: Value::Null,
        contract: Vec::new(),
    };
    bodies::intent(&scene, AT, &facts)
}
