//! The judge: from an ending and its scene to a verdict. Total and pure; the same facts give the same verdict.

use super::ending::{Ending, Scene, Voice};
use super::finding::{Finding, FindingCode};
use super::how::How;
use super::looked::{Before, looked};
use super::ruling::{self, Clauses, Ruling, rule};
use super::sentence;
use super::verdict::{Effect, Failure, Part, Repeat, Verdict};
use crate::contract::effect::EffectClass;
use crate::contract::mapping::{MappedReading, Reading, Reference};
use crate::contract::text::Clause;
use crate::reading::result::ResultReading;
use crate::recovery::read_back::{Look, Shown};

/// A verdict with all that led to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgment {
    /// How the call ended.
    pub how: How,
    /// The row of the table.
    pub ruling: Ruling,
    /// The conclusion.
    pub verdict: Verdict,
    /// Broken or unverifiable clauses.
    pub findings: Vec<Finding>,
    /// What looking again came to, where Candor looked.
    pub look: Option<Look>,
}

/// Judges one call.
pub fn judge(scene: &Scene, ending: &Ending) -> Judgment {
    let how = ending.how();
    let (reading, changes_nothing) = match ending {
        Ending::Replied(reply) => (reading_of(reply), false),
        Ending::Refused { changes_nothing, .. } => (None, *changes_nothing),
        _ => (None, false),
    };
    let clauses = Clauses {
        strict_shape: scene.strict_shape,
        refusal_changes_nothing: changes_nothing,
        sent_before: scene.attempts > 0 && scene.voice == Voice::Gateway,
        declared: match ending {
            Ending::Told(told) => Some(told.declared()),
            _ => None,
        },
    };
    let ruling = rule(how, scene.class, reading, clauses);
    Judgment {
        how,
        verdict: verdict(scene, ending, &ruling),
        findings: findings(scene, ending, &ruling),
        ruling,
        look: None,
    }
}

/// Judges one call that was looked after.
pub fn judge_looked(scene: &Scene, ending: &Ending, look: Look) -> Judgment {
    let own = judge(scene, ending);
    let Some(before) = Before::of(&own.ruling, own.how) else {
        return own;
    };
    let ruling = looked(own.ruling, before, look.shown);
    let mut verdict = verdict(scene, ending, &ruling);
    if let Some(error) = &mut verdict.error {
        error.message = sentence::looked::after(scene, ending, &ruling, before, &look);
    }
    let mut findings = own.findings;
    if look.shown == Shown::Nothing {
        let code = if look.times == 0 {
            FindingCode::ReadBackUnusable
        } else {
            FindingCode::ReadBackNothing
        };
        findings.push(Finding::new(
            code,
            sentence::looked::sentence(&look, &scene.secrets),
        ));
    }
    Judgment {
        how: own.how,
        ruling,
        verdict,
        findings,
        look: Some(look),
    }
}

/// Judges an answer that came after the verdict: the operation is amended, nobody is told twice.
pub fn judge_late(scene: &Scene, ending: &Ending) -> Judgment {
    let own = judge(scene, ending);
    let ruling = ruling::late(own.ruling);
    Judgment {
        verdict: Verdict {
            protocol: ruling.protocol,
            ..own.verdict
        },
        ruling,
        ..own
    }
}

/// Judges an answer that came after another one, which declared `earlier` as the effect. They are two statements of one
/// server: where they declare different effects, neither is believed.
pub fn judge_second(scene: &Scene, ending: &Ending, earlier: Effect) -> Judgment {
    let own = judge_late(scene, ending);
    let now = own.ruling.effect;
    if [earlier, now].contains(&Effect::Unknown) || earlier == now {
        return own;
    }
    let ruling = ruling::contradicted(own.ruling);
    let contradiction = Finding::new(
        FindingCode::Contradiction,
        format!("one answer declared the effect {earlier}, and a later one {now}: neither is believed"),
    );
    Judgment {
        verdict: verdict(scene, ending, &ruling),
        findings: own.findings.into_iter().chain([contradiction]).collect(),
        ruling,
        ..own
    }
}

fn verdict(scene: &Scene, ending: &Ending, ruling: &Ruling) -> Verdict {
    let reference = reference(ending);
    Verdict {
        operation: scene.operation,
        protocol: ruling.protocol,
        outcome: ruling.outcome,
        effect: ruling.effect,
        evidence: ruling.evidence,
        error: failure(scene, ending, ruling),
        reference: reference.map(|reference| reference.value.clone()),
        parts: parts(scene, ending),
        attempts: scene.attempts,
        suggested_next_step: sentence::next_step(scene, ending, ruling),
    }
}

fn failure(scene: &Scene, ending: &Ending, ruling: &Ruling) -> Option<Failure> {
    let kind = ruling.kind?;
    let own = match ending {
        Ending::Replied(reply) => reply.mapped.as_ref().and_then(|mapped| mapped.code.clone()),
        Ending::Told(told) => told.code.clone(),
        _ => None,
    };
    let usual = ruling.repeat.unwrap_or(Repeat::MayDuplicate);
    let (kind, repeat) = match ending {
        // What contradicts itself has no say in what it means.
        Ending::Told(told) if ruling.finding.is_none() => (told.kind_or(kind), told.repeat_or(usual)),
        _ => (kind, usual),
    };
    Some(Failure {
        code: own
            .or_else(|| ruling::error_code(ending.how()).map(str::to_owned))
            .unwrap_or_default(),
        kind,
        message: sentence::message(scene, ending, ruling),
        retry_same_request: repeat == Repeat::MayHelp,
        repeat,
        retry_after: match ending {
            Ending::Told(told) => told.retry_after,
            Ending::Replied(reply) => reply.mapped.as_ref().and_then(MappedReading::asked_wait),
            Ending::Resting { seconds, .. } => Some(*seconds),
            _ => None,
        },
        issues: match ending {
            Ending::BadInput { issues, .. } => issues.clone(),
            Ending::Told(told) => told.issues.clone(),
            _ => Vec::new(),
        },
    })
}

fn findings(scene: &Scene, ending: &Ending, ruling: &Ruling) -> Vec<Finding> {
    let mut out = Vec::new();
    if let Some(code) = ruling.finding {
        out.push(Finding::new(code, finding_detail(code, ending)));
    }
    if let Ending::Replied(reply) = ending {
        // The same of a text that was read beside it.
        if reply.lowered.is_some() && ruling.finding != Some(FindingCode::TextClause) {
            out.push(Finding::new(
                FindingCode::TextClause,
                finding_detail(FindingCode::TextClause, ending),
            ));
        }
        if let Some(sign) = &reply.sign {
            out.push(Finding::new(
                FindingCode::FailureSign,
                sentence::failure_sign(scene, sign),
            ));
        }
        // A broken shape beside a mapping that is broken too: both are said.
        if reply.how == How::OkBadShape && ruling.finding != Some(FindingCode::OutputShape) {
            out.push(Finding::new(
                FindingCode::OutputShape,
                finding_detail(FindingCode::OutputShape, ending),
            ));
        }
        out.extend(reply.findings.iter().cloned());
    }
    out
}

fn finding_detail(code: FindingCode, ending: &Ending) -> String {
    let reply = match ending {
        Ending::Replied(reply) => reply,
        Ending::Told(told) => {
            return format!(
                "the tool declares the outcome {} with the effect {}, which can't both be",
                told.outcome, told.effect
            );
        }
        _ => return String::new(),
    };
    match code {
        FindingCode::OutputShape => sentence::shape(reply),
        FindingCode::OutputMissing => {
            "the tool declares an outputSchema and sent no structuredContent".to_owned()
        }
        FindingCode::ResultType => reply.why.clone().unwrap_or_default(),
        FindingCode::MappingMissing => "the field that the contract reads is absent".to_owned(),
        FindingCode::MappingUnlisted => {
            let value = reply
                .mapped
                .as_ref()
                .and_then(|mapped| mapped.value.clone())
                .unwrap_or_default();
            format!("the field that the contract reads holds a value that no list names: {value}")
        }
        FindingCode::TextClause => {
            let Some(lowered) = &reply.lowered else {
                return String::new();
            };
            let which = match &lowered.clause {
                Clause::Pattern(pattern) => format!("the text of the answer fits the pattern {pattern:?}"),
                Clause::Expression(expression) => {
                    format!("the expression {expression:?} holds of the answer")
                }
            };
            format!("{which} ({}); no field says how the call ended", lowered.source)
        }
        FindingCode::Contradiction => {
            "isError and the field that the contract reads contradict each other".to_owned()
        }
        _ => String::new(),
    }
}

/// What the contract reads in a result: a field it names, or else a text.
fn reading_of(reply: &ResultReading) -> Option<Reading> {
    let of_text = reply
        .lowered
        .as_ref()
        .map(|lowered| Reading::Lowered(lowered.means));
    reply.mapped.as_ref().map(|mapped| mapped.reading).or(of_text)
}

/// The parts, each by itself. Of a tool that only reads none changed anything.
fn parts(scene: &Scene, ending: &Ending) -> Vec<Part> {
    match ending {
        Ending::Told(told) => told.parts.clone(),
        Ending::Replied(reply) => {
            let parts = reply.mapped.as_ref().map(|mapped| mapped.parts.clone());
            let mut parts = parts.unwrap_or_default();
            if scene.class == EffectClass::Read {
                parts.iter_mut().for_each(|part| part.effect = Effect::NotApplied);
            }
            parts
        }
        _ => Vec::new(),
    }
}

/// What an ending leaves to follow.
pub fn reference(ending: &Ending) -> Option<&Reference> {
    match ending {
        Ending::Replied(reply) => reply
            .reference
            .as_ref()
            .or_else(|| reply.mapped.as_ref()?.reference.as_ref()),
        Ending::Told(told) => told.reference.as_ref(),
        _ => None,
    }
}
