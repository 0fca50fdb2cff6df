//! Anything a server may answer, read, judged and delivered by several contracts: always one JSON-RPC answer under the
//! caller's own id, and of a result that nothing is wrong with, every byte.

mod sameness;

use std::sync::LazyLock;
use std::time::Duration;

use candor_core::call::reply;
use candor_core::contract::effect::EffectClass;
use candor_core::contract::schema::{Formats, Schema};
use candor_core::contract::terms::{ShapeMode, ToolTerms};
use candor_core::delivery::answer::{Caller, Disclosure, Draft};
use candor_core::delivery::redaction::KnownSecrets;
use candor_core::judgment::ending::{Scene, Voice};
use candor_core::judgment::judge::{Judgment, judge};
use candor_core::judgment::ruling::{Bytes, Channel, Flag};
use candor_core::names::{OperationId, ServerName, ToolName, UnixMillis};
use candor_core::reading::result::Asked;
use candor_core::record::bodies::{self, VerdictFacts};
use candor_core::record::{Receipt, Recording};
use candor_core::wire::encode::Pieces;
use candor_core::wire::envelope::{Body, Message, read};
use candor_core::wire::reply::Reply;
use candor_core::wire::revision::Revision;
use candor_gateway::config::{CommandLine, Config};
use serde_json::Value;
use uuid::Uuid;

use crate::broken::{Broken, law};
use crate::input::text;

/// Words that answers are made of.
pub(crate) const WORDS: &[&str] = &[
    "S3nt1nelValue",
    "\"S3nt1nelValue\"",
    "\"jsonrpc\":\"2.0\"",
    "\"id\":7",
    "\"result\":{\"content\":[]}",
    "\"result\":null",
    "\"error\":{\"code\":-32602,\"message\":\"no\"}",
    "\"error\":null",
    "\"code\":-32042",
    "\"code\":-32050",
    "\"code\":1.5",
    "\"data\":{\"token\":\"hunter22222\"}",
    "\"content\":[]",
    "\"content\":null",
    "{\"type\":\"text\",\"text\":\"a\"}",
    "{\"type\":\"text\",\"text\":\"ghp_Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8\"}",
    "{\"type\":\"text\"}",
    "{\"type\":\"image\",\"data\":\"AAAA\",\"mimeType\":\"image/png\"}",
    "\"isError\":true",
    "\"isError\":false",
    "\"isError\":null",
    "\"isError\":\"true\"",
    "\"structuredContent\":{\"count\":0,\"status\":\"booked\"}",
    "\"structuredContent\":{\"status\":\"taken\"}",
    "\"structuredContent\":null",
    "\"status\":\"queued\",\"job\":4711",
    "\"status\":\"some\"",
    "\"status\":0.5",
    "\"resultType\":\"complete\"",
    "\"resultType\":\"input_required\"",
    "\"resultType\":\"task\",\"taskId\":\"t1\"",
    "\"resultType\":\"x\"",
    "\"task\":{\"taskId\":\"t1\"}",
    "\"_meta\":{}",
    "\"_meta\":null",
    "\"_meta\":[]",
    "\"_meta\":{\"candor/verdict\":{\"outcome\":\"completed\"}}",
    "\"candor/claimed\":1",
    "\"candor/x\":1",
    "\"candor\\/verdict\":2",
    "\"a\":1.10",
    "\"\\ud800\"",
];

/// A contract for one tool, and the same server's tool that has none.
const CONTRACT: &str = r#"
[servers.s.tools.strict]
output = "strict"
nothing_done_on = [-32602]
[servers.s.tools.strict.outcome]
pointer = "/status"
completed = ["booked", true]
accepted = ["queued"]
rejected = ["taken"]
failed = [0.5]
partial = ["some"]
code = "/code"
message = "/message"
reference = "/job"
reference_name = "job"
suggestion = "/suggestion"
"#;

/// The output schema of the tool that promises structure.
const OUTPUT: &str = r#"{"type":"object","properties":{"count":{"type":"integer"},"status":{"type":"string"}},"required":["status"]}"#;

static CONTRACTS: LazyLock<Config> =
    LazyLock::new(|| Config::parse("candor.toml", CONTRACT, &|_| None).unwrap_or_default());
static SCHEMA: LazyLock<Option<Schema>> = LazyLock::new(|| Schema::compile(OUTPUT, Formats::Annotate).ok());

/// The caller's id: one that no number holds, and that has to be escaped.
const CALLER: &str = r#""a\"18446744073709551617""#;
/// A value that the wrapped server was given as a secret.
const SECRET: &str = "S3nt1nelValue";
const OPERATION: u128 = 0x0199_8f2c_1a90;
const AT: UnixMillis = UnixMillis(1_764_500_000_000);

/// One way to have asked.
#[derive(Debug, Clone, Copy)]
struct Setting {
    revision: Revision,
    class: EffectClass,
    /// Which tool's contract holds.
    tool: &'static str,
    promises: bool,
    as_task: bool,
}

const fn setting(
    revision: Revision,
    class: EffectClass,
    tool: &'static str,
    promises: bool,
    as_task: bool,
) -> Setting {
    Setting {
        revision,
        class,
        tool,
        promises,
        as_task,
    }
}

const SETTINGS: [Setting; 6] = [
    setting(Revision::V2024_11_05, EffectClass::Write, "plain", false, false),
    setting(Revision::V2025_03_26, EffectClass::Read, "plain", false, false),
    setting(
        Revision::V2025_06_18,
        EffectClass::Idempotent,
        "strict",
        true,
        false,
    ),
    setting(Revision::V2025_11_25, EffectClass::Write, "strict", false, true),
    setting(Revision::V2026_07_28, EffectClass::Write, "plain", true, false),
    setting(Revision::V2026_07_28, EffectClass::Read, "strict", true, true),
];

/// Holds one input against the target's laws.
pub(crate) fn check(input: &[u8]) -> Result<(), Broken> {
    // A frame is one line.
    let frame = text(input).replace('\n', " ");
    for setting in &SETTINGS {
        for recording in [
            Recording::OnDisk(Receipt::asserted_by_ledger(1)),
            Recording::Not {
                why: "disk full".to_owned(),
            },
        ] {
            answered(&frame, setting, &recording)?;
        }
    }
    Ok(())
}

fn answered(frame: &str, setting: &Setting, recording: &Recording) -> Result<(), Broken> {
    // What is no answer at all never gets as far.
    let Some(answer) = Reply::parse(frame) else {
        return Ok(());
    };
    let terms = CONTRACTS.for_tool("s", setting.tool, &CommandLine::default());
    let scene = scene(setting, &terms, recording);
    let asked = Asked {
        revision: setting.revision,
        as_task: setting.as_task,
        promises_structure: setting.promises,
        output: SCHEMA.as_ref().filter(|_| setting.promises),
        mapping: terms.mapping.as_ref().map(|mapping| &mapping.value),
        text: &terms.text,
        believed: setting.as_task.then_some(setting.class),
    };
    let ending = reply::ending(
        &answer,
        &asked,
        &terms.nothing_done_on,
        !setting.as_task,
        &scene.secrets,
    );
    let judgment = judge(&scene, &ending);
    law(
        "the same answer is judged the same",
        judgment == judge(&scene, &ending),
        || format!("{judgment:?}"),
    )?;
    recorded(&scene, &judgment, &answer)?;
    let caller = Caller {
        id: CALLER.to_owned(),
        revision: setting.revision,
        promises_structure: setting.promises,
    };
    let draft = Draft::new(
        &scene,
        &ending,
        judgment,
        caller,
        &Disclosure::default(),
        Some(&answer),
    );
    let ruling = draft.judgment().ruling;
    let Some(out) = draft.sign(recording).into_frame().map(Pieces::into_text) else {
        return law(
            "an answer reaches the caller",
            ruling.channel == Channel::Nobody,
            || format!("{ruling:?}"),
        );
    };
    let seen = || format!("{out} by {setting:?}, {ruling:?}");
    law("an answer is one line", !out.contains('\n'), seen)?;
    let well_formed = match read(&out) {
        Ok(Message::Response(response)) => {
            response.id.get() == CALLER
                && match response.body {
                    Body::Result(_) => ruling.channel == Channel::Result,
                    Body::Error(_) => ruling.channel == Channel::Error,
                    Body::Both | Body::Neither => false,
                }
        }
        _ => false,
    };
    law(
        "an answer is one message under the caller's id, on its channel",
        well_formed,
        seen,
    )?;
    match (ruling.bytes, ruling.flag) {
        (Bytes::Untouched, Flag::Kept) => sameness::untouched(frame, &out, CALLER),
        (Bytes::Untouched | Bytes::Prefixed, _) => sameness::reworked(frame, &out, &ruling),
        (Bytes::Passed, _) => sameness::passed(frame, &out, CALLER),
        (Bytes::Authored | Bytes::Nothing, _) => {
            law(
                "no text of Candor's holds a known secret",
                !out.contains(SECRET),
                seen,
            )?;
            sameness::authored(&out, OPERATION)
        }
    }
}

fn scene(setting: &Setting, terms: &ToolTerms, recording: &Recording) -> Scene {
    Scene {
        operation: OperationId::new(Uuid::from_u128(OPERATION)),
        server: ServerName::from("s"),
        tool: ToolName::from(setting.tool),
        class: setting.class,
        claims_read_only: setting.promises,
        attempts: 1,
        elapsed: Duration::from_millis(5),
        strict_shape: terms.output.value == ShapeMode::Strict,
        recorded: recording.is_recorded(),
        voice: Voice::Gateway,
        secrets: KnownSecrets::new([SECRET]),
    }
}

fn recorded(scene: &Scene, judgment: &Judgment, answer: &Reply) -> Result<(), Broken> {
    let facts = VerdictFacts {
        reply: answer.said(),
        ..VerdictFacts::default()
    };
    let body = bodies::verdict(scene, AT, judgment, &facts);
    let kept = serde_json::from_str::<Value>(&body).is_ok();
    law("the record of an answer is JSON", kept, || body.clone())?;
    law("no record holds a known secret", !body.contains(SECRET), || body)
}
