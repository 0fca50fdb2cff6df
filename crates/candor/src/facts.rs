//! An [`Outcome`] without its type: the facts that the verdict and the three channels of a result are made of.

use candor_core::contract::mapping::Reference;
use candor_core::judgment::told::Told;
use candor_core::judgment::verdict::{Effect, Outcome as Word};
use candor_core::judgment::whole::whole;
use rmcp::model::ContentBlock;
use serde::Serialize;
use serde_json::Value;

use crate::outcome::{Outcome, Parts, Reason};

/// What a tool said became of a call, and what it gives back.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    /// What the judge rules on.
    pub(crate) told: Told,
    /// The result itself, where there is one.
    pub(crate) value: Option<Value>,
    /// Content for a person, instead of the value as text.
    pub(crate) content: Option<Vec<ContentBlock>>,
}

impl Facts {
    /// The facts of an outcome.
    ///
    /// # Errors
    ///
    /// The value can't be written as JSON: a fault of the tool's, after it ran.
    pub(crate) fn of<T: Serialize>(outcome: Outcome<T>) -> Result<Self, serde_json::Error> {
        Ok(match outcome {
            Outcome::Completed(done) => Self {
                told: Told {
                    reference: done.receipt.map(|receipt| named(receipt.0)),
                    ..Told::new(Word::Completed, Effect::Applied)
                },
                value: Some(serde_json::to_value(done.value)?),
                content: done.content,
            },
            Outcome::Accepted(reference) => Self::bare(Told {
                reference: Some(reference.0).filter(|id| !id.is_empty()).map(named),
                ..Told::new(Word::Accepted, Effect::Unknown)
            }),
            Outcome::Rejected(reason) => Self::bare(because(Word::Rejected, Effect::NotApplied, reason)),
            Outcome::Failed(reason) => Self::bare(because(Word::Failed, Effect::Unknown, reason)),
            Outcome::Unknown(reason) => Self::bare(because(Word::Unknown, Effect::Unknown, reason)),
            Outcome::Partial(parts) => Self::of_parts(parts)?,
        })
    }

    fn of_parts<T: Serialize>(parts: Parts<T>) -> Result<Self, serde_json::Error> {
        let (outcome, effect) = whole(&parts.parts);
        let value = parts.value.map(serde_json::to_value).transpose()?;
        // Where all is done no block of candor's is written: the author's sentence stands for the value that there isn't.
        let content = (outcome == Word::Completed && value.is_none())
            .then(|| vec![ContentBlock::text(parts.message.clone())]);
        Ok(Self {
            told: Told {
                code: Some(parts.code),
                message: Some(parts.message),
                reference: parts.receipt.map(|receipt| named(receipt.0)),
                parts: parts.parts,
                ..Told::new(outcome, effect)
            },
            value,
            content,
        })
    }

    fn bare(told: Told) -> Self {
        Self {
            told,
            value: None,
            content: None,
        }
    }
}

fn because(outcome: Word, usual: Effect, reason: Reason) -> Told {
    Told {
        kind: reason.kind,
        code: Some(reason.code),
        message: Some(reason.message),
        repeat: reason.repeat,
        reference: reason.reference.map(|reference| named(reference.0)),
        parts: Vec::new(),
        // A wait of a part of a second is still a wait.
        retry_after: reason
            .retry_after
            .map(|wait| wait.as_secs() + u64::from(wait.subsec_nanos() > 0)),
        issues: reason.issues,
        next_step: reason.next_step,
        ..Told::new(outcome, reason.effect.unwrap_or(usual))
    }
}

fn named(value: String) -> Reference {
    Reference {
        value,
        noun: None,
        state: None,
    }
}
