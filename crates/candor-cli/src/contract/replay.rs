//! Judges a recorded call again: the machine of a call is told what was recorded, and nothing is sent.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use candor_core::asking::confirmation::Answer as Consent;
use candor_core::call::machine::{Action, Call, Circumstances, Event, Loss};
use candor_core::call::request::CallRequest;
use candor_core::contract::terms::ToolTerms;
use candor_core::contract::tool::{Knowledge, Listed};
use candor_core::delivery::redaction::KnownSecrets;
use candor_core::names::{OperationId, ServerName, UnixMillis};
use candor_core::record::Recording;
use candor_core::recovery::read_back::LookAnswer;
use candor_core::wire::reply::Reply;
use candor_core::wire::revision::Revision;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use uuid::Uuid;

use super::recorded::{Answer, Expected, RecordedCall};

/// The time of every replay: nothing depends on it but rules about time.
const NOW: UnixMillis = UnixMillis(1_767_225_600_000);
/// A call that goes on longer asks for something that no record can give.
const MOST_ACTIONS: usize = 1_000;

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replayed {
    /// The outcome.
    pub(crate) outcome: String,
    /// The effect.
    pub(crate) effect: String,
    /// The evidence.
    pub(crate) evidence: String,
    /// Is the answer flagged, or an error?
    pub(crate) flagged: bool,
    /// The first text block, where the answer is flagged.
    pub(crate) text: String,
}

impl Replayed {
    /// The parts that are not the expected ones, as sentences.
    pub(crate) fn differs(&self, expected: &Expected) -> Vec<String> {
        let parts = [
            ("outcome", &expected.outcome, &self.outcome),
            ("effect", &expected.effect, &self.effect),
            ("evidence", &expected.evidence, &self.evidence),
        ];
        let differing = parts.into_iter().filter_map(|(part, expected, found)| {
            let expected = expected.as_ref().filter(|expected| *expected != found)?;
            Some(format!("{part} {expected} was expected, not {found}"))
        });
        differing.collect()
    }
}

/// Judges `call` by `terms`. `definition` is the tool as it was listed, where that is known.
pub(crate) fn replay(
    call: &RecordedCall,
    definition: Option<&RawValue>,
    contract: &dyn Fn(&str) -> ToolTerms,
) -> anyhow::Result<Replayed> {
    let terms = contract(&call.tool);
    let knowledge = match definition.and_then(Listed::read) {
        Some(listed) => {
            let terms = match &listed.annotations {
                Some(annotations) => terms.with_annotations(annotations),
                None => terms,
            };
            Knowledge::Listed(Arc::new(listed.compile(terms)))
        }
        None => Knowledge::Unlistable {
            why: "the record has no definition of it".to_owned(),
            terms: Arc::new(terms),
        },
    };
    let params = json!({ "name": call.tool, "arguments": call.arguments });
    let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    let request = CallRequest::parse(&frame, Revision::V2025_11_25)
        .ok_or_else(|| anyhow::anyhow!("line {}: not a call", call.line))??;
    let circumstances = Arc::new(Circumstances {
        server: ServerName::from("recorded"),
        host: None,
        principal: None,
        ledger_required: false,
        has_ledger: false,
        deadline: Duration::from_secs(55),
        secrets: KnownSecrets::default(),
    });
    let operation = OperationId::new(Uuid::from_u128(0));
    let (machine, actions) = Call::open(request, operation, circumstances, 0, NOW);
    delivered(machine, actions, call, &knowledge, contract)
        .map(|frame| read(&frame))
        .ok_or_else(|| anyhow::anyhow!("line {}: this call is not answered from its record", call.line))
}

/// Carries out what the machine asks for from the record, until it has an answer.
fn delivered(
    mut machine: Call,
    actions: Vec<Action>,
    call: &RecordedCall,
    knowledge: &Knowledge,
    contract: &dyn Fn(&str) -> ToolTerms,
) -> Option<String> {
    let mut queue = VecDeque::from(actions);
    let mut looks = call.looks.iter();
    let mut now = NOW;
    for _ in 0..MOST_ACTIONS {
        let events = match queue.pop_front()? {
            Action::Learn { .. } => vec![Event::Learnt(knowledge.clone())],
            // It was sent then, so the user was asked and agreed.
            Action::Ask => vec![Event::Answered(Consent::Accepted)],
            Action::Record { .. } | Action::RecordKeyed { .. } => vec![Event::Recorded(Recording::Off)],
            Action::Send => vec![Event::Sent, answered(&call.answer)?],
            // The record holds one answer of it.
            Action::Wait { .. } | Action::Hold { .. } => vec![Event::TimedOut],
            Action::LookUpKey { .. } => vec![Event::KeyFree],
            Action::ReadBack { tool, after, .. } => {
                now = UnixMillis(
                    now.0
                        .saturating_add(i64::try_from(after.as_millis()).unwrap_or(i64::MAX)),
                );
                vec![match looks.next().filter(|look| look.tool == tool) {
                    Some(look) => Event::Looked(LookAnswer::read(
                        reply("result", &look.result)?,
                        Revision::V2025_11_25,
                        &contract(&tool),
                    )),
                    None => Event::CannotLook {
                        why: format!("the record holds no answer of {tool}"),
                    },
                }]
            }
            Action::Deliver(delivery) => {
                let frame = delivery.into_frame()?;
                return Some(frame.into_text());
            }
            Action::CancelUpstream | Action::Told { .. } | Action::AwaitKey => Vec::new(),
        };
        for event in events {
            queue.extend(machine.on(event, now));
        }
    }
    None
}

fn answered(answer: &Answer) -> Option<Event> {
    Some(match answer {
        Answer::Result(raw) => Event::Replied(reply("result", raw)?),
        Answer::Error(raw) => Event::Replied(reply("error", raw)?),
        Answer::Lost => Event::Lost(Loss::Closed {
            exit: "it was lost".to_owned(),
            restarts: true,
        }),
    })
}

fn reply(member: &str, raw: &RawValue) -> Option<Reply> {
    Reply::parse(format!(r#"{{"jsonrpc":"2.0","id":1,"{member}":{}}}"#, raw.get()))
}

fn read(frame: &str) -> Replayed {
    let answer: Value = serde_json::from_str(frame).unwrap_or_default();
    let at = |pointer: &str| {
        answer
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let verdict = |part: &str| at(&format!("/result/_meta/candor~1verdict/{part}")).to_owned();
    let flagged = answer.get("error").is_some()
        || answer.pointer("/result/isError").and_then(Value::as_bool) == Some(true);
    Replayed {
        outcome: verdict("outcome"),
        effect: verdict("effect"),
        evidence: verdict("evidence"),
        flagged,
        text: if flagged {
            at("/result/content/0/text").to_owned()
        } else {
            String::new()
        },
    }
}
