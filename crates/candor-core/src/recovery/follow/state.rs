//! What a declared state of a task makes of its operation, and how that is told.

use super::Followed;
use crate::contract::effect::EffectClass;
use crate::delivery::quote::{name, quote, reference};
use crate::judgment::ending::Scene;
use crate::judgment::how::{How, words};
use crate::judgment::judge::Judgment;
use crate::judgment::ruling::{Clauses, Ruling, late, rule};
use crate::judgment::verdict::{Effect, Evidence, Failure, Kind, Outcome, Protocol, Repeat, Verdict};

words! {
    /// What is known of followed work.
    State {
        /// It goes on, or waits for something.
        Working = "working",
        /// Done.
        Completed = "completed",
        /// Tried, and failed.
        Failed = "failed",
        /// Stopped on somebody's word; how far it had come is open.
        Cancelled = "cancelled",
        /// The server does not know it any more.
        Gone = "gone",
    }
}

/// What a declared state of a task makes of its operation: the rows `[[followed]]` of `decisions.toml`.
pub(crate) fn settled(state: State, class: EffectClass) -> (Outcome, Effect, Evidence, Option<Kind>) {
    let (outcome, effect, evidence, kind) = match state {
        State::Working => (Outcome::Accepted, Effect::Unknown, Evidence::Declared, None),
        State::Completed => (Outcome::Completed, Effect::Applied, Evidence::Declared, None),
        State::Failed => (
            Outcome::Failed,
            Effect::Unknown,
            Evidence::Declared,
            Some(Kind::Internal),
        ),
        State::Cancelled => (
            Outcome::Failed,
            Effect::Unknown,
            Evidence::Declared,
            Some(Kind::Cancelled),
        ),
        State::Gone => (
            Outcome::Unknown,
            Effect::Unknown,
            Evidence::None,
            Some(Kind::OutcomeUnknown),
        ),
    };
    match class {
        EffectClass::Read => (outcome, Effect::NotApplied, evidence, kind),
        EffectClass::Write | EffectClass::Idempotent => (outcome, effect, evidence, kind),
    }
}

pub(crate) fn judged(scene: &Scene, followed: &Followed, state: State, words: Option<&str>) -> Judgment {
    let (outcome, effect, evidence, kind) = settled(state, followed.class);
    let harmless = followed.class != EffectClass::Write;
    let repeat = match (kind, harmless) {
        (None, _) => None,
        (Some(_), true) => Some(Repeat::MayHelp),
        (Some(_), false) => Some(Repeat::MayDuplicate),
    };
    let ruling = Ruling {
        outcome,
        effect,
        evidence,
        kind,
        repeat,
        may_retry: false,
        ..late(rule(How::Task, followed.class, None, Clauses::default()))
    };
    let error = kind.zip(repeat).map(|(kind, repeat)| Failure {
        code: code(state).to_owned(),
        kind,
        message: message(scene, followed, state, words),
        retry_same_request: repeat == Repeat::MayHelp,
        repeat,
        retry_after: None,
        issues: Vec::new(),
    });
    Judgment {
        how: How::Task,
        look: None,
        verdict: Verdict {
            operation: followed.operation,
            protocol: Protocol::Delivered,
            outcome,
            effect,
            evidence,
            error,
            reference: Some(followed.reference.clone()),
            parts: Vec::new(),
            attempts: followed.attempts,
            suggested_next_step: None,
        },
        findings: Vec::new(),
        ruling,
    }
}

fn code(state: State) -> &'static str {
    match state {
        State::Cancelled => "CANDOR_CANCELLED",
        State::Gone => "CANDOR_NO_ANSWER",
        State::Working | State::Completed | State::Failed => "CANDOR_TOOL_FAILED",
    }
}

fn message(scene: &Scene, followed: &Followed, state: State, words: Option<&str>) -> String {
    let secrets = &scene.secrets;
    let task = reference(&followed.reference, secrets);
    let server = name(followed.server.as_str(), secrets);
    let tool = name(followed.tool.as_str(), secrets);
    let own = words.filter(|text| !text.trim().is_empty());
    let own = own.map_or_else(String::new, |text| {
        format!(", in its words: {}", quote(text, secrets))
    });
    match state {
        State::Gone => format!(
            "Server \"{server}\" knows task {task} no more, which {tool} had become. It may be done, not done, or half done."
        ),
        State::Cancelled => {
            format!(
                "Server \"{server}\" says that task {task}, which {tool} had become, was cancelled{own}. How far it had come is not said."
            )
        }
        State::Failed | State::Working | State::Completed => {
            format!("Server \"{server}\" says that task {task}, which {tool} had become, failed{own}.")
        }
    }
}
