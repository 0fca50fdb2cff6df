//! A verdict that a server gives of itself: written with the library, or another Candor. Read only where an operator
//! trusts it, and then as a contract's declaration would be.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::contract::effect::EffectClass;
use crate::contract::mapping::{MappedReading, Reading, Reference};
use crate::judgment::verdict::{Effect, Outcome, Verdict};
use crate::wire::members::object;

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "candor/verdict")]
    verdict: Option<&'a RawValue>,
}

/// What the verdict in a result's `_meta` declares. `None` where there is none, where it contradicts the flag, or where
/// no declaration could say as little as it does: the result then speaks for itself.
pub(super) fn read(meta: &str, class: EffectClass, flagged: bool) -> Option<MappedReading> {
    let meta: Meta<'_> = object(meta)?;
    let verdict = Verdict::from_json(&serde_json::from_str(meta.verdict?.get()).ok()?)?;
    let reading = match (verdict.outcome, verdict.effect, flagged) {
        (Outcome::Completed, Effect::Applied, false) => Reading::Completed,
        (Outcome::Completed, Effect::NotApplied, false) if class == EffectClass::Read => Reading::Completed,
        (Outcome::Accepted, _, false) => Reading::Accepted,
        (Outcome::Rejected, Effect::NotApplied, true) => Reading::Rejected,
        (Outcome::Rejected | Outcome::Failed, _, true) => Reading::Failed,
        (Outcome::Partial, _, true) => Reading::Partial,
        _ => return None,
    };
    let error = verdict.error;
    Some(MappedReading {
        reading,
        value: Some(verdict.outcome.to_string()),
        code: error.as_ref().map(|error| error.code.clone()),
        message: error.map(|error| error.message),
        reference: verdict.reference.map(|value| Reference {
            value,
            noun: None,
            state: None,
        }),
        suggestion: verdict.suggested_next_step,
        retry_after: None,
        parts: verdict.parts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_verdict_is_read_for_more_than_it_says() {
        let told = |outcome: &str, effect: &str, class, flagged| {
            let meta = format!(
                r#"{{"candor/verdict":{{"outcome":"{outcome}","effect":"{effect}","operationId":"01a22d2f-553f-729f-96b1-cbf0b94d4895","protocol":"delivered","evidence":"declared","attempts":1,"recorded":false}}}}"#
            );
            read(&meta, class, flagged).map(|mapped| mapped.reading)
        };
        let (write, only_reads) = (EffectClass::Write, EffectClass::Read);
        assert_eq!(
            told("completed", "applied", write, false),
            Some(Reading::Completed)
        );
        assert_eq!(told("completed", "not_applied", write, false), None);
        assert_eq!(
            told("completed", "not_applied", only_reads, false),
            Some(Reading::Completed)
        );
        assert_eq!(told("accepted", "unknown", write, false), Some(Reading::Accepted));
        // What flag and verdict contradict counts for neither.
        assert_eq!(told("completed", "applied", write, true), None);
        assert_eq!(told("rejected", "not_applied", write, false), None);
        assert_eq!(told("reported", "unknown", write, false), None);
        for meta in [
            "{}",
            "[]",
            "null",
            r#"{"candor/verdict":5}"#,
            r#"{"candor/verdict":{}}"#,
        ] {
            assert_eq!(read(meta, write, false), None, "{meta}");
        }
    }
}
