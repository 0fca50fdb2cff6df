//! Holds looking again to `[[read_back]]` of the table: every ending that a look can settle, by every row.

use toml::Value;

use super::{Before, looked};
use crate::contract::effect::EffectClass;
use crate::contract::mapping::Reading;
use crate::judgment::how::How;
use crate::judgment::ruling::{Channel, Clauses, Flag, Opening, Ruling, rule};
use crate::judgment::verdict::{Effect, Evidence, Outcome};
use crate::recovery::read_back::Shown;

const READINGS: [Option<Reading>; 8] = [
    None,
    Some(Reading::Completed),
    Some(Reading::Accepted),
    Some(Reading::Rejected),
    Some(Reading::Failed),
    Some(Reading::Partial),
    Some(Reading::Missing),
    Some(Reading::Unlisted),
];

fn rows() -> Vec<toml::Table> {
    let table: toml::Table = crate::decisions::DECISIONS
        .parse()
        .expect("decisions.toml is TOML");
    table["read_back"]
        .as_array()
        .expect("[[read_back]] tables")
        .iter()
        .flat_map(|part| part["rows"].as_array().expect("rows").clone())
        .map(|row| row.as_table().expect("a row is a table").clone())
        .collect()
}

/// Every ruling that leaves something open, with what it leaves.
fn open() -> Vec<(How, Option<Reading>, Ruling, Before)> {
    let mut out = Vec::new();
    // What only a tool says of itself is no ending of the gateway's.
    let heard = |how: &&How| !matches!(how, How::Told | How::Panicked);
    for how in How::ALL.iter().filter(heard) {
        for class in [EffectClass::Write, EffectClass::Idempotent] {
            for reading in READINGS {
                let ruling = rule(*how, class, reading, Clauses::default());
                if let Some(before) = Before::of(&ruling, *how) {
                    out.push((*how, reading, ruling, before));
                }
            }
        }
    }
    out
}

fn differences(own: &Ruling, got: &Ruling, row: &toml::Table) -> Vec<String> {
    let told = own.channel == Channel::Result;
    let silent = own.opening == Opening::Silent && got.flag != Flag::Set;
    let mut out = Vec::new();
    for (name, want) in row {
        let got = match name.as_str() {
            "flag" | "opening" | "bytes" if !told => continue,
            // Where Candor had no block to write, it writes none now.
            "opening" if silent && want.as_str().and_then(Opening::parse).is_some() => continue,
            "flag" => match got.flag {
                Flag::Kept => Value::from("kept"),
                Flag::Set => Value::from(true),
                Flag::Cleared => Value::from(false),
                Flag::NoResult => Value::from("no result"),
            },
            "outcome" => Value::from(got.outcome.as_str()),
            "effect" => Value::from(got.effect.as_str()),
            "evidence" => Value::from(got.evidence.as_str()),
            "kind" => Value::from(got.kind.map_or("none", crate::judgment::verdict::Kind::as_str)),
            // What is Candor's own result already stays so.
            "bytes" if own.bytes.as_str() == "authored" => continue,
            "bytes" => Value::from(got.bytes.as_str()),
            "opening" => Value::from(got.opening.as_str()),
            "retry" => Value::from(got.may_retry),
            "repeat" => Value::from(
                got.repeat
                    .map_or("none", crate::judgment::verdict::Repeat::as_str),
            ),
            "before" | "shows" | "note" => continue,
            other => panic!("[[read_back]] has a column nobody compares: {other}"),
        };
        if got != *want {
            out.push(format!("{name}: table {want}, judge {got}"));
        }
    }
    out
}

fn all_differences(rows: &[toml::Table]) -> Vec<String> {
    let mut out = Vec::new();
    for (how, reading, own, before) in open() {
        for shown in [Shown::Applied, Shown::NotApplied] {
            let mut fitting = rows.iter().filter(|row| {
                row["before"].as_str() == Some(before.as_str())
                    && row["shows"].as_str() == Some(shown.as_str())
            });
            let Some(row) = fitting.next() else {
                out.push(format!("no row for {before}, {shown}"));
                continue;
            };
            assert!(fitting.next().is_none(), "two rows for {before}, {shown}");
            let got = looked(own, before, shown);
            for difference in differences(&own, &got, row) {
                out.push(format!("{how}, {reading:?}, {before}, {shown}: {difference}"));
            }
        }
    }
    out
}

#[test]
fn looking_again_agrees_with_every_row() {
    let differences = all_differences(&rows());
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn flipping_any_cell_is_noticed() {
    let rows = rows();
    let mut flipped = 0;
    for (index, row) in rows.iter().enumerate() {
        for (name, value) in row {
            let other = match (name.as_str(), value) {
                ("before" | "shows" | "note", _) => continue,
                (_, Value::Boolean(truth)) => Value::Boolean(!truth),
                _ => Value::from("flipped"),
            };
            let mut changed = rows.clone();
            changed[index].insert(name.clone(), other);
            assert!(
                !all_differences(&changed).is_empty(),
                "row {index}: nobody noticed {name}"
            );
            flipped += 1;
        }
    }
    assert!(flipped > 60, "only {flipped} cells were flipped");
}

#[test]
fn every_row_is_reached_by_some_ending() {
    let open = open();
    for row in rows() {
        assert!(
            open.iter()
                .any(|(_, _, _, before)| row["before"].as_str() == Some(before.as_str())),
            "{row:?}"
        );
    }
}

#[test]
fn a_look_that_shows_nothing_changes_nothing_and_one_that_shows_something_is_the_evidence() {
    for (how, _, own, before) in open() {
        assert_eq!(looked(own, before, Shown::Nothing), own, "{how}");
        for shown in [Shown::Applied, Shown::NotApplied] {
            let ruling = looked(own, before, shown);
            if ruling != own {
                assert_eq!(ruling.evidence, Evidence::ReadBack, "{how}");
            }
            // What nobody heard of is never told as something else than what was seen.
            assert_eq!(ruling.channel, own.channel, "{how}");
            assert!(
                ruling.outcome != Outcome::Completed || ruling.effect == Effect::Applied,
                "{how}: done is what is applied"
            );
        }
    }
}
