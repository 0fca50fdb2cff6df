//! A `tools/call` that is none (no tool named, arguments that are no object, no id or one that is open already):
//! refused as an error, and recorded like any other refusal.

use std::time::Duration;

use super::machine::Circumstances;
use super::request::BadCall;
use crate::contract::effect::EffectClass;
use crate::delivery::answer::{Caller, Disclosure, Draft};
use crate::judgment::ending::{Ending, Scene, Voice};
use crate::judgment::judge::judge;
use crate::names::{OperationId, ToolName, UnixMillis};
use crate::record::bodies::{self, IntentFacts, VerdictFacts};
use crate::record::entry::Concluded;
use crate::record::{Entry, Phase};
use crate::wire::revision::Revision;

/// Drafts the refusal of a malformed call, with the two entries that record it. `id` is the request's id as it was
/// written.
pub fn refuse(
    id: &str,
    why: BadCall,
    revision: Revision,
    operation: OperationId,
    circumstances: &Circumstances,
    now: UnixMillis,
) -> (Vec<Entry>, Draft) {
    let scene = Scene {
        operation,
        server: circumstances.server.clone(),
        tool: ToolName::from(""),
        class: EffectClass::Write,
        claims_read_only: false,
        attempts: 0,
        elapsed: Duration::ZERO,
        strict_shape: false,
        recorded: circumstances.has_ledger,
        voice: Voice::Gateway,
        secrets: circumstances.secrets.clone(),
    };
    let ending = Ending::Malformed {
        why: why.to_string(),
        rpc_code: why.rpc_code(),
    };
    let judgment = judge(&scene, &ending);
    let caller = Caller {
        id: id.to_owned(),
        revision,
        promises_structure: true,
    };
    let draft = Draft::new(&scene, &ending, judgment, caller, &Disclosure::default(), None);
    let entry = |phase, concluded, body| Entry {
        operation,
        phase,
        at: now,
        server: scene.server.clone(),
        tool: scene.tool.clone(),
        concluded,
        body,
    };
    let intent = bodies::intent(
        &scene,
        now,
        &IntentFacts {
            arguments: None,
            class: None,
            schema: None,
            revision: revision.as_str(),
            host: circumstances.host.as_deref(),
            principal: circumstances.principal.as_deref(),
            request_id: id,
            deadline_ms: 0,
            disclosed: serde_json::Value::Null,
            contract: Vec::new(),
            key: None,
        },
    );
    let verdict = bodies::verdict(&scene, now, draft.judgment(), &VerdictFacts::default());
    let concluded = Concluded::of(&draft.judgment().verdict);
    (
        vec![
            entry(Phase::Intent, None, intent),
            entry(Phase::Verdict, Some(concluded), verdict),
        ],
        draft,
    )
}
