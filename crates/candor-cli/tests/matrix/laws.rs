//! The laws that hold for every cell.

use crate::{
    class::Class,
    seen::{Claim, Fact, Record, Seen},
};

/// The laws that this cell breaks, in words.
pub(crate) fn broken(class: Class, seen: &Seen) -> Vec<String> {
    let mut broken = Vec::new();
    if let Some(told) = &seen.told {
        broken.extend(too_much(
            class,
            "the caller was told",
            told,
            seen.then,
            seen.truth,
        ));
    }
    for claim in seen.verdicts.iter().chain(&seen.recorded) {
        broken.extend(too_much(class, "the ledger says", claim, seen.truth, seen.truth));
    }
    broken.extend(told_and_recorded(seen));
    broken.extend(sent_too_often(class, seen));
    if class == Class::Read && seen.truth.done > 0 {
        broken.push("a read has changed something".to_owned());
    }
    if seen.operations > 0 && seen.recorded.is_none() {
        broken.push("an intent on disk has no end".to_owned());
    }
    if class.reads_back()
        && let Some(recorded) = &seen.recorded
        && (seen.unsettled || recorded.effect == "unknown")
    {
        broken.push(format!(
            "the backend answers, and it stays {} with effect {}",
            recorded.outcome, recorded.effect
        ));
    }
    broken.extend(
        seen.recorded
            .as_ref()
            .and_then(|recorded| listed(recorded, seen.unsettled)),
    );
    broken.extend(
        seen.damage
            .iter()
            .map(|damage| format!("the ledger does not verify: {damage}")),
    );
    broken
}

/// What nobody knows the end of is on the list of what somebody must settle, and nothing else is.
fn listed(recorded: &Claim, unsettled: bool) -> Option<String> {
    let known = ["applied", "not_applied"].contains(&recorded.effect.as_str());
    let open = ["unknown", "accepted"].contains(&recorded.outcome.as_str()) && !known;
    let words = &recorded.outcome;
    if open && !unsettled {
        Some(format!("it ends {words}, and is not on the list of what is open"))
    } else if known && unsettled {
        Some(format!(
            "it ends {words}, {}, and is on the list of what is open",
            recorded.effect
        ))
    } else {
        None
    }
}

/// What a claim says beyond the truth: at the time it was made, and of what cannot become true later.
fn too_much(class: Class, who: &str, claim: &Claim, then: Fact, truth: Fact) -> Option<String> {
    let words = format!("{who}: {}, {} ({})", claim.outcome, claim.effect, claim.evidence);
    if !class.writes() {
        return (claim.effect != "not_applied").then(|| format!("{words}, of a read"));
    }
    let known = claim.effect == "applied" || claim.outcome == "completed";
    if known && claim.evidence == "asserted" {
        return Some(format!("{words}, on nothing but a flag"));
    }
    if known && then.done != 1 {
        return Some(format!("{words}, and there are {} bookings", then.done));
    }
    if claim.effect == "not_applied" && truth.done != 0 {
        return Some(format!("{words}, and there are {} bookings", truth.done));
    }
    if claim.outcome == "accepted" && then.received == 0 {
        return Some(format!("{words}, and no call came"));
    }
    None
}

/// A caller who was told something was told what the ledger says, unless it said itself that there is no record, or claimed
/// none: then there may be none, and not another one.
fn told_and_recorded(seen: &Seen) -> Option<String> {
    let told = seen.told.as_ref().filter(|told| told.record != Record::Missing)?;
    match seen.verdicts.first() {
        None if told.record == Record::OnItsWay => None,
        None => Some("the caller was told what the ledger does not have".to_owned()),
        Some(first) if !seen.verdicts.iter().any(|claim| claim.agrees(told)) => Some(format!(
            "the caller was told {}, {}, and the ledger has {}, {}",
            told.outcome, told.effect, first.outcome, first.effect
        )),
        Some(_) => None,
    }
}

/// Nothing is sent twice unless it may be, and no more came than Candor says it sent.
fn sent_too_often(class: Class, seen: &Seen) -> Vec<String> {
    let mut broken = Vec::new();
    // A read may be sent twice too, and here no contract asks for it.
    let most = if class == Class::Idempotent { 2 } else { 1 };
    if seen.truth.received > most {
        broken.push(format!("{} calls came", seen.truth.received));
    }
    if seen.truth.done > 1 {
        broken.push(format!("{} bookings were made", seen.truth.done));
    }
    if let Some(told) = &seen.told
        && (told.attempts as usize) < seen.then.received
    {
        broken.push(format!(
            "{} calls came, and the caller was told of {} attempts",
            seen.then.received, told.attempts
        ));
    }
    if let Some(recorded) = &seen.recorded
        && (recorded.attempts as usize) < seen.truth.received
    {
        broken.push(format!(
            "{} calls came, and the ledger has {} attempts",
            seen.truth.received, recorded.attempts
        ));
    }
    broken
}

fn claim(outcome: &str, effect: &str, evidence: &str) -> Claim {
    Claim {
        outcome: outcome.to_owned(),
        effect: effect.to_owned(),
        evidence: evidence.to_owned(),
        attempts: 1,
        record: Record::Kept,
    }
}

/// A write that came, was done, and was told and recorded as done.
fn good() -> Seen {
    let done = claim("completed", "applied", "declared");
    let fact = Fact { received: 1, done: 1 };
    Seen {
        told: Some(done.clone()),
        operations: 1,
        verdicts: vec![done.clone()],
        recorded: Some(done),
        then: fact,
        truth: fact,
        ..Seen::default()
    }
}

#[test]
fn what_is_good_breaks_no_law() {
    assert_eq!(broken(Class::Write, &good()), [""; 0]);
    assert_eq!(broken(Class::ReadBack, &good()), [""; 0]);
    let unknown = claim("unknown", "unknown", "none");
    let lost = Seen {
        told: Some(unknown.clone()),
        verdicts: vec![unknown.clone()],
        recorded: Some(unknown),
        unsettled: true,
        ..good()
    };
    assert_eq!(broken(Class::Write, &lost), [""; 0]);
}

#[test]
fn every_law_can_be_broken() {
    let none = Fact { received: 1, done: 0 };
    let twice = Fact { received: 2, done: 2 };
    let refused = claim("rejected", "not_applied", "declared");
    let unknown = claim("unknown", "unknown", "none");
    let cases = [
        (
            Class::Write,
            Seen {
                then: none,
                truth: none,
                ..good()
            },
            "0 bookings",
        ),
        (
            Class::Write,
            Seen { then: none, ..good() },
            "the caller was told: completed",
        ),
        (
            Class::Write,
            Seen {
                told: Some(refused),
                ..good()
            },
            "told: rejected, not_applied",
        ),
        (
            Class::Write,
            Seen {
                recorded: Some(claim("completed", "applied", "asserted")),
                ..good()
            },
            "on nothing but a flag",
        ),
        (
            Class::Write,
            Seen {
                then: twice,
                truth: twice,
                ..good()
            },
            "2 calls came",
        ),
        (
            Class::Idempotent,
            Seen {
                then: twice,
                truth: twice,
                ..good()
            },
            "2 bookings were made",
        ),
        (Class::Read, good(), "a read has changed something"),
        (
            Class::Write,
            Seen {
                recorded: None,
                ..good()
            },
            "has no end",
        ),
        (
            Class::Write,
            Seen {
                told: Some(unknown.clone()),
                ..good()
            },
            "and the ledger has completed",
        ),
        (
            Class::Write,
            Seen {
                verdicts: Vec::new(),
                ..good()
            },
            "what the ledger does not have",
        ),
        (
            Class::ReadBack,
            Seen {
                recorded: Some(unknown.clone()),
                ..good()
            },
            "it stays unknown",
        ),
        (
            Class::Write,
            Seen {
                unsettled: true,
                ..good()
            },
            "is on the list",
        ),
        (
            Class::Write,
            Seen {
                recorded: Some(unknown.clone()),
                ..good()
            },
            "is not on the list",
        ),
        (
            Class::ReadBack,
            Seen {
                unsettled: true,
                ..good()
            },
            "it stays completed",
        ),
        (
            Class::Write,
            Seen {
                damage: Some("edited".to_owned()),
                ..good()
            },
            "does not verify",
        ),
    ];
    for (class, seen, expected) in cases {
        let broken = broken(class, &seen);
        assert!(
            broken.iter().any(|law| law.contains(expected)),
            "{expected}: {broken:?}"
        );
    }
}
