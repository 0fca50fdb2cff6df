//! The table: every status has its row, no row claims what it can't know, and the page shows what the code does.

use std::path::PathBuf;

use super::*;

fn of(status: u16, class: EffectClass) -> Ruling {
    ruling(Ending::Status(StatusCode::from_u16(status).unwrap()), class)
}

/// Every ending there is.
fn endings() -> Vec<Ending> {
    let statuses = (100..=999).map(|status| Ending::Status(StatusCode::from_u16(status).unwrap()));
    statuses
        .chain([Ending::NotPromised, Ending::Lost, Ending::NeverConnected])
        .collect()
}

#[test]
fn every_ending_has_a_row_and_every_row_is_reached() {
    let mut reached = vec![false; TABLE.len()];
    for ending in endings() {
        let row = TABLE.iter().position(|row| row.is_about(ending));
        reached[row.unwrap_or_else(|| panic!("no row for {ending:?}"))] = true;
    }
    let idle: Vec<_> = TABLE
        .iter()
        .zip(reached)
        .filter(|(_, reached)| !reached)
        .map(|(row, _)| row.because)
        .collect();
    assert_eq!(idle, Vec::<&str>::new());
}

#[test]
fn no_row_claims_what_it_cannot_know() {
    for ending in endings() {
        for class in EffectClass::ALL {
            let said = ruling(ending, class);
            let note = format!("{ending:?} {class:?} {said:?}");
            if class == EffectClass::Read {
                assert_eq!(said.effect, Effect::NotApplied, "a read changes nothing: {note}");
                assert_ne!(said.repeat, Some(Repeat::MayDuplicate), "{note}");
            } else if said.effect != Effect::NotApplied && class == EffectClass::Write {
                let known = said.outcome == Outcome::Completed;
                assert_eq!(said.repeat, (!known).then_some(Repeat::MayDuplicate), "{note}");
            }
            if let Ending::Status(status) = ending
                && status.as_u16() >= 300
            {
                assert_ne!(said.outcome, Outcome::Completed, "no success from 300 on: {note}");
                assert!(
                    status.as_u16() < 400 || said.outcome != Outcome::Accepted,
                    "{note}"
                );
            }
            let pairs: &[Effect] = match said.outcome {
                Outcome::Completed => &[Effect::Applied, Effect::NotApplied],
                Outcome::Accepted | Outcome::Rejected | Outcome::Failed => {
                    &[Effect::NotApplied, Effect::Unknown]
                }
                Outcome::Partial => &[Effect::Partial, Effect::NotApplied],
                Outcome::Unknown => &[Effect::Unknown],
                other => panic!("{other:?} is no outcome of an exchange: {note}"),
            };
            assert!(pairs.contains(&said.effect), "{note}");
            assert_eq!(
                said.kind.is_none(),
                matches!(said.outcome, Outcome::Completed | Outcome::Accepted),
                "{note}"
            );
        }
    }
}

/// `(status, outcome, effect, kind, repeat)` of a write, `(outcome, repeat)` of a read, repeat of an idempotent one.
#[test]
fn each_status_of_the_table_means_what_it_should() {
    use Effect::{Applied, NotApplied as Not, Unknown as Open};
    use Kind::{BusinessRule as Rule, DependencyUnavailable as Missing, Internal, InvalidInput as Input};
    use Outcome::{Accepted, Completed, Failed, Rejected, Unknown};
    use Repeat::{MayDuplicate as Twice, MayHelp as Help, SameAnswer as Same};
    for (status, outcome, effect, kind, repeat) in [
        (200, Completed, Applied, None, None),
        (201, Completed, Applied, None, None),
        (203, Completed, Applied, None, None),
        (202, Accepted, Open, None, Some(Twice)),
        (204, Completed, Applied, None, None),
        (205, Completed, Applied, None, None),
        (301, Unknown, Open, Some(Kind::OutcomeUnknown), Some(Twice)),
        (303, Accepted, Open, None, Some(Twice)),
        (307, Unknown, Open, Some(Kind::OutcomeUnknown), Some(Twice)),
        (400, Rejected, Not, Some(Input), Some(Same)),
        (401, Rejected, Not, Some(Kind::PermissionDenied), Some(Same)),
        (403, Rejected, Not, Some(Kind::PermissionDenied), Some(Same)),
        (404, Rejected, Not, Some(Rule), Some(Same)),
        (405, Rejected, Not, Some(Internal), Some(Same)),
        (408, Rejected, Open, Some(Kind::OutcomeUnknown), Some(Twice)),
        (409, Rejected, Not, Some(Rule), Some(Same)),
        (412, Rejected, Not, Some(Rule), Some(Same)),
        (422, Rejected, Not, Some(Input), Some(Same)),
        (425, Rejected, Not, Some(Missing), Some(Help)),
        (428, Rejected, Not, Some(Rule), Some(Same)),
        (429, Rejected, Not, Some(Kind::RateLimited), Some(Help)),
        (418, Rejected, Not, Some(Input), Some(Same)),
        (500, Failed, Open, Some(Internal), Some(Twice)),
        (501, Rejected, Not, Some(Internal), Some(Same)),
        (502, Failed, Open, Some(Missing), Some(Twice)),
        (503, Failed, Open, Some(Missing), Some(Twice)),
        (504, Failed, Open, Some(Missing), Some(Twice)),
        (599, Failed, Open, Some(Internal), Some(Twice)),
        (742, Failed, Open, Some(Internal), Some(Twice)),
    ] {
        assert_eq!(
            of(status, EffectClass::Write),
            Ruling {
                outcome,
                effect,
                kind,
                repeat
            },
            "{status}, write"
        );
        let idempotent = repeat.map(|repeat| if repeat == Twice { Help } else { repeat });
        let expected = Ruling {
            outcome,
            effect,
            kind,
            repeat: idempotent,
        };
        assert_eq!(
            of(status, EffectClass::Idempotent),
            expected,
            "{status}, idempotent"
        );
        let read = match outcome {
            Unknown => Failed,
            Accepted if status == 303 => Failed,
            Rejected if status == 408 => Failed,
            other => other,
        };
        let said = of(status, EffectClass::Read);
        assert_eq!((said.outcome, said.effect), (read, Not), "{status}, read");
    }
}

/// Statuses that are often taken for one another, and what tells them apart.
#[test]
fn neighbours_are_told_apart() {
    let write = |status| of(status, EffectClass::Write);
    assert_ne!(write(200), write(202), "done is not taken on");
    assert_ne!(write(400).kind, write(404).kind);
    assert_ne!(write(404), write(500));
    assert_ne!(write(408).effect, write(409).effect);
    assert_ne!(write(422).kind, write(409).kind);
    assert_ne!(write(425).repeat, write(428).repeat);
    assert_ne!(write(429).kind, write(503).kind);
    assert_ne!(write(500).effect, write(501).effect);
    let (lost, unsent) = (Ending::Lost, Ending::NeverConnected);
    assert_ne!(
        ruling(lost, EffectClass::Write).effect,
        ruling(unsent, EffectClass::Write).effect
    );
}

#[test]
fn the_page_shows_the_table() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/library-http.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let shown = page
        .split("<!-- table -->\n")
        .nth(1)
        .and_then(|rest| rest.split("<!-- end -->").next());
    let table = rendered();
    assert!(
        shown == Some(table.as_str()),
        "between <!-- table --> and <!-- end --> put:\n{table}"
    );
}

fn rendered() -> String {
    let mut out = "| answer | write | read | why |\n| --- | --- | --- | --- |\n".to_owned();
    for row in TABLE {
        let (write, read) = (cell(row.write), cell(row.read));
        let read = if read == write { "same".to_owned() } else { read };
        out.push_str(&format!(
            "| {} | {write} | {read} | {} |\n",
            answer(row.when),
            row.because
        ));
    }
    out
}

fn answer(when: When) -> String {
    match when {
        When::Statuses(ranges) => {
            let one = |(first, last): &(u16, u16)| match last - first {
                0 => first.to_string(),
                1 => format!("{first}, {last}"),
                _ => format!("{first} to {last}"),
            };
            ranges.iter().map(one).collect::<Vec<_>>().join(", ")
        }
        When::NotPromised => "2xx, not as promised".to_owned(),
        When::Lost => "sent, no answer".to_owned(),
        When::NeverConnected => "no connection".to_owned(),
    }
}

fn cell(said: Ruling) -> String {
    let mut out = format!("{} / {}", said.outcome, said.effect);
    if let Some(kind) = said.kind {
        out.push_str(&format!("; {kind}"));
    }
    if let Some(repeat) = said.repeat {
        out.push_str(&format!("; {repeat}"));
    }
    out
}
