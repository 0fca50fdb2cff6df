//! What became of a whole, by what became of its parts. The author says the parts; the whole can't be said beside them,
//! so it can't contradict them.

use candor_core::judgment::verdict::{Effect, Outcome as Word, Part};

/// Outcome and effect of the whole: a pair that the judge has a row for.
///
/// All done is done. Nothing done is no part of anything done: it failed, was refused, or nobody knows. Without any part
/// there is the author's own word alone, that some of it is done.
pub(crate) fn whole(parts: &[Part]) -> (Word, Effect) {
    let all = |is: fn(&Part) -> bool| !parts.is_empty() && parts.iter().all(is);
    let any = |is: fn(&Part) -> bool| parts.iter().any(is);
    if all(is_done) {
        let effect = if all(changed_nothing) {
            Effect::NotApplied
        } else {
            Effect::Applied
        };
        return (Word::Completed, effect);
    }
    if parts.is_empty() || any(is_done) || any(changed_something) {
        return (Word::Partial, Effect::Partial);
    }
    if all(|part| part.outcome == Word::Accepted) {
        return (Word::Accepted, Effect::Unknown);
    }
    if !all(changed_nothing) {
        return (Word::Unknown, Effect::Unknown);
    }
    if all(|part| part.outcome == Word::Rejected) {
        return (Word::Rejected, Effect::NotApplied);
    }
    (Word::Failed, Effect::NotApplied)
}

/// A part that is called done and of which nobody knows what it changed is not known to be done.
fn is_done(part: &Part) -> bool {
    part.outcome == Word::Completed && matches!(part.effect, Effect::Applied | Effect::NotApplied)
}

fn changed_nothing(part: &Part) -> bool {
    part.effect == Effect::NotApplied
}

fn changed_something(part: &Part) -> bool {
    matches!(part.effect, Effect::Applied | Effect::Partial)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pair = (Word, Effect);

    fn of(parts: &[Pair]) -> Pair {
        let parts: Vec<Part> = parts
            .iter()
            .map(|(outcome, effect)| Part {
                name: "p".to_owned(),
                outcome: *outcome,
                effect: *effect,
                code: None,
            })
            .collect();
        whole(&parts)
    }

    #[test]
    fn the_whole_follows_from_its_parts() {
        let done = (Word::Completed, Effect::Applied);
        let read = (Word::Completed, Effect::NotApplied);
        let not = (Word::Failed, Effect::NotApplied);
        let refused = (Word::Rejected, Effect::NotApplied);
        let unknown = (Word::Unknown, Effect::Unknown);
        let taken = (Word::Accepted, Effect::Unknown);
        let partial = (Word::Partial, Effect::Partial);
        let cases: &[(&[Pair], Pair)] = &[
            (&[], partial),
            (&[done, done], done),
            (&[done, read], done),
            (&[read, read], read),
            (&[done, not], partial),
            (&[done, unknown], partial),
            (&[done, taken], partial),
            (&[not, not], not),
            (&[not, refused], not),
            (&[refused, refused], refused),
            (&[not, unknown], unknown),
            (&[unknown], unknown),
            (&[taken, taken], taken),
            (&[taken, not], unknown),
            (&[(Word::Failed, Effect::Applied), not], partial),
            (&[(Word::Completed, Effect::Unknown)], unknown),
        ];
        for (parts, expected) in cases {
            assert_eq!(of(parts), *expected, "{parts:?}");
        }
    }
}
