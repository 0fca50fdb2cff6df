//! What became of a whole, by what became of its parts. The whole is never said beside its parts, so it can't contradict
//! them.

use super::verdict::{Effect, Outcome, Part};

/// Outcome and effect of the whole: a pair that the judge has a row for.
///
/// All done is done. Nothing done is no part of anything done: it failed, was refused, or nobody knows. Without any part
/// there is the author's own word alone, that some of it is done.
pub fn whole(parts: &[Part]) -> (Outcome, Effect) {
    let all = |is: fn(&Part) -> bool| !parts.is_empty() && parts.iter().all(is);
    let any = |is: fn(&Part) -> bool| parts.iter().any(is);
    if all(is_done) {
        let effect = if all(changed_nothing) {
            Effect::NotApplied
        } else {
            Effect::Applied
        };
        return (Outcome::Completed, effect);
    }
    if parts.is_empty() || any(is_done) || any(changed_something) {
        return (Outcome::Partial, Effect::Partial);
    }
    if all(|part| part.outcome == Outcome::Accepted) {
        return (Outcome::Accepted, Effect::Unknown);
    }
    if all(|part| part.outcome == Outcome::Rejected && changed_nothing(part)) {
        return (Outcome::Rejected, Effect::NotApplied);
    }
    if all(changed_nothing) {
        return (Outcome::Failed, Effect::NotApplied);
    }
    // Every part is known to have gone wrong, only not whether it left something behind.
    if all(|part| matches!(part.outcome, Outcome::Failed | Outcome::Rejected)) {
        return (Outcome::Failed, Effect::Unknown);
    }
    (Outcome::Unknown, Effect::Unknown)
}

/// A part that is called done and of which nobody knows what it changed is not known to be done.
fn is_done(part: &Part) -> bool {
    part.outcome == Outcome::Completed && matches!(part.effect, Effect::Applied | Effect::NotApplied)
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

    type Pair = (Outcome, Effect);

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
        let done = (Outcome::Completed, Effect::Applied);
        let read = (Outcome::Completed, Effect::NotApplied);
        let not = (Outcome::Failed, Effect::NotApplied);
        let refused = (Outcome::Rejected, Effect::NotApplied);
        let unknown = (Outcome::Unknown, Effect::Unknown);
        let taken = (Outcome::Accepted, Effect::Unknown);
        let partial = (Outcome::Partial, Effect::Partial);
        let tried = (Outcome::Failed, Effect::Unknown);
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
            (&[(Outcome::Failed, Effect::Applied), not], partial),
            (&[(Outcome::Completed, Effect::Unknown)], unknown),
            (&[tried, tried], tried),
            (&[tried, refused], tried),
            (&[tried, not], tried),
            (&[tried, unknown], unknown),
            (&[tried, done], partial),
        ];
        for (parts, expected) in cases {
            assert_eq!(of(parts), *expected, "{parts:?}");
        }
    }
}
