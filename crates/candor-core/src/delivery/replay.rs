//! The answer to a call that is a repeat by its idempotency key: the first answer once more, or the settled verdict.

use serde_json::{Map, Value, json};

use super::answer::{Caller, Delivery, Disclosure, VERDICT, own_result};
use super::quote::name;
use super::redaction;
use crate::judgment::ending::Scene;
use crate::judgment::ruling::Flag;
use crate::judgment::ruling::Opening;
use crate::judgment::verdict::{Effect, Evidence, OnDisk, Outcome, Verdict};
use crate::names::OperationId;
use crate::record::Recording;
use crate::wire::encode::{Edits, add_members, span};
use crate::wire::reply::{Carried, Reply};

/// The key in `_meta` that says of a result that it is told once more.
const REPLAYED: &str = "candor/replayed";

/// A kept answer for a new request: every byte stays but the id, and `_meta` says that it is told once more, beside what
/// is known of the operation now where that has changed. `None` where the kept bytes are no answer.
pub fn replayed(
    answer: &str,
    id: &str,
    operation: OperationId,
    amendment: Option<&Verdict>,
) -> Option<Delivery> {
    let reply = Reply::parse(answer)?;
    let frame = reply.frame();
    let mut edits = Edits::new();
    edits.replace(reply.id(), id);
    if let Carried::Result(result) = reply.carried() {
        let mut said = json!({ "operationId": operation });
        if let (Some(now), Some(said)) = (amendment, said.as_object_mut()) {
            said.insert("outcome".to_owned(), json!(now.outcome));
            said.insert("effect".to_owned(), json!(now.effect));
            said.insert("evidence".to_owned(), json!(now.evidence));
        }
        let member = format!("\"{REPLAYED}\":{said}");
        let place = span(frame, result.raw())?;
        let (at, what) = match result.member("_meta").and_then(|raw| span(frame, raw)) {
            Some(meta) => add_members(frame, &meta, &member)?,
            None => add_members(frame, &place, &format!("\"_meta\":{{{member}}}"))?,
        };
        edits.insert(at, what);
    }
    Some(Delivery::of(Some(edits.share(frame))))
}

/// The verdict on a first call of which no answer is kept.
pub fn settled(
    scene: &Scene,
    verdict: &Verdict,
    caller: &Caller,
    disclosure: &Disclosure,
    recording: &Recording,
) -> Delivery {
    let on_disk = if recording.is_recorded() {
        OnDisk::Yes
    } else {
        OnDisk::No
    };
    let mut meta = Map::new();
    let told = json!(verdict.told(on_disk));
    meta.insert(VERDICT.to_owned(), redaction::known_json(told, &scene.secrets));
    meta.insert(REPLAYED.to_owned(), json!({ "operationId": verdict.operation }));
    let news = disclosure.news_members();
    if !news.is_empty() {
        meta.insert("candor/news".to_owned(), Value::Array(news));
    }
    let mut block = in_words(scene, verdict);
    for news in &disclosure.news {
        block.push('\n');
        block.push_str(&news.line(&scene.secrets));
    }
    let block = redaction::known(&block, &scene.secrets).value.into_owned();
    let flag = match verdict.outcome {
        Outcome::Reported | Outcome::Completed | Outcome::Accepted | Outcome::InputRequired => Flag::Cleared,
        Outcome::Rejected | Outcome::Failed | Outcome::Partial | Outcome::Unknown => Flag::Set,
    };
    Delivery::of(Some(own_result(caller, &block, flag, meta).into()))
}

fn in_words(scene: &Scene, verdict: &Verdict) -> String {
    let opening = match opening(verdict) {
        Opening::Silent => String::new(),
        opening => format!("{opening}: "),
    };
    let how_known = match verdict.evidence {
        Evidence::Operator => ", as a person recorded",
        Evidence::ReadBack => ", as a look at the target showed",
        Evidence::Declared => ", as the server declared",
        Evidence::NotSent => ", since it was never sent",
        Evidence::Asserted | Evidence::None => "",
    };
    format!(
        "{opening}{tool} was called before with this idempotency key (call {short}): the outcome is {outcome}, the effect \
         {effect}{how_known}. It was not sent again.\nThe same call with this key gets the same answer; another key makes a \
         new call. The server's own answer to the first call is not kept.",
        tool = name(scene.tool.as_str(), &scene.secrets),
        short = verdict.operation.short(),
        outcome = verdict.outcome,
        effect = verdict.effect,
    )
}

/// The opening words that go with a verdict.
fn opening(verdict: &Verdict) -> Opening {
    match (verdict.outcome, verdict.effect) {
        (Outcome::Rejected | Outcome::Failed, Effect::NotApplied) => Opening::NotDone,
        (Outcome::Rejected, _) => Opening::RejectedEffectUnknown,
        (Outcome::Failed, _) => Opening::FailedEffectUnknown,
        (Outcome::Partial, _) => Opening::PartlyDone,
        (Outcome::Accepted, _) => Opening::AcceptedNotYetDone,
        (Outcome::InputRequired, _) => Opening::NeedsInput,
        (Outcome::Unknown, _) => Opening::Unknown,
        (Outcome::Reported | Outcome::Completed, _) => Opening::Silent,
    }
}
