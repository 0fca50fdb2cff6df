//! Holds the judge to `decisions.toml`: the table is expanded, found total and unambiguous, and every row is run.

use std::collections::BTreeMap;

use toml::Value;

use super::how::How;
use super::ruling::{Clauses, Flag, Ruling, error_code, late, refusal_codes, rule};
use super::told::Declared;
use super::verdict::{Effect, Outcome, Repeat};
use crate::contract::effect::EffectClass;
use crate::contract::mapping::Reading;
use crate::contract::recovery::Lowered;

const TABLE: &str = include_str!("../../decisions.toml");
const CLASSES: [(EffectClass, &str); 3] = [
    (EffectClass::Read, "read"),
    (EffectClass::Write, "write"),
    (EffectClass::Idempotent, "idempotent"),
];
const READINGS: [(Option<Reading>, &str); 13] = [
    (None, "none"),
    (Some(Reading::Completed), "completed"),
    (Some(Reading::Accepted), "accepted"),
    (Some(Reading::Rejected), "rejected"),
    (Some(Reading::Failed), "failed"),
    (Some(Reading::Partial), "partial"),
    (Some(Reading::Missing), "missing"),
    (Some(Reading::Unlisted), "unlisted"),
    (Some(Reading::FailedUnapplied), "failed_not_applied"),
    (Some(Reading::Unknown), "unknown"),
    (Some(Reading::Lowered(Lowered::Failed)), "text_failed"),
    (Some(Reading::Lowered(Lowered::Rejected)), "text_rejected"),
    (Some(Reading::Lowered(Lowered::Unknown)), "text_unknown"),
];
/// The endings that a mapping can read; every other has no reading.
const MAPPED: [&str; 4] = ["ok", "ok_bad_shape", "ok_no_structure", "flagged"];
/// What is given beside an ending and a class: the column `contract`, and what it is to the judge.
type Given = (String, Option<Reading>, Clauses);

/// Everything that can be given for an ending: what a mapping reads, or what a tool declares of itself.
fn givens(how: How) -> Vec<Given> {
    let none = ("none".to_owned(), None, Clauses::default());
    if how == How::Told {
        let pairs = Outcome::ALL
            .iter()
            .flat_map(|outcome| Effect::ALL.iter().map(|effect| declares(*outcome, *effect)));
        return std::iter::once(none).chain(pairs).collect();
    }
    if !MAPPED.contains(&how.as_str()) {
        return vec![none];
    }
    READINGS
        .iter()
        .map(|(reading, name)| ((*name).to_owned(), *reading, Clauses::default()))
        .collect()
}

fn declares(outcome: Outcome, effect: Effect) -> Given {
    let declared = Some(Declared { outcome, effect });
    let clauses = Clauses {
        declared,
        ..Clauses::default()
    };
    (format!("{outcome}/{effect}"), None, clauses)
}

/// Endings of the table that lean on another row ("as its own row"): circumstances rather than endings.
const LEANING: [&str; 7] = [
    "late",
    "unsettled",
    "unlisted_tools",
    "unrecorded",
    "replayed",
    "settled_applied",
    "settled_not_applied",
];

type Row = BTreeMap<String, Value>;

fn table() -> toml::Table {
    TABLE.parse().expect("decisions.toml is TOML")
}

fn rows(table: &toml::Table) -> Vec<Row> {
    let cases = table["case"].as_array().expect("[[case]] tables");
    cases
        .iter()
        .flat_map(|case| case["rows"].as_array().expect("rows").clone())
        .map(|row| {
            row.as_table()
                .expect("a row is a table")
                .clone()
                .into_iter()
                .collect()
        })
        .collect()
}

fn cell<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    row.get(name).and_then(Value::as_str)
}

/// The one row written for exactly this class (or for every class) and reading.
fn written<'a>(rows: &'a [Row], how: &str, class: &str, reading: &str) -> Option<&'a Row> {
    let fits = |row: &&Row| {
        cell(row, "how") == Some(how)
            && cell(row, "class").is_none_or(|of| of == class)
            && cell(row, "contract").unwrap_or("none") == reading
    };
    let mut found = rows.iter().filter(fits);
    let first = found.next();
    assert!(found.next().is_none(), "two rows for {how}, {class}, {reading}");
    first
}

/// The row for this class: as written, or derived from the row for a write as the table's head says.
fn for_class(rows: &[Row], how: &str, class: &str, reading: &str) -> Option<Row> {
    if let Some(row) = written(rows, how, class, reading) {
        return Some(row.clone());
    }
    let mut row = written(rows, how, "write", reading)?.clone();
    match class {
        "idempotent"
            if cell(&row, "protocol") == Some("no_response")
                || cell(&row, "effect") == Some("not_applied") =>
        {
            row.insert("retry".into(), Value::Boolean(true));
        }
        "read" => {
            row.insert("effect".into(), Value::String("not_applied".into()));
            if matches!(
                cell(&row, "opening"),
                Some("FAILED, EFFECT UNKNOWN" | "REJECTED, EFFECT UNKNOWN")
            ) {
                row.insert("opening".into(), Value::String("NOT DONE".into()));
            }
        }
        _ => {}
    }
    Some(row)
}

fn expected(rows: &[Row], how: &str, class: &str, reading: &str) -> Option<Row> {
    for_class(rows, how, class, reading).or_else(|| {
        let mut row = for_class(rows, how, class, "none")?;
        let finding = match reading {
            "missing" => "mapping_missing",
            "unlisted" => "mapping_unlisted",
            _ => return Some(row),
        };
        row.insert("finding".into(), Value::String(finding.into()));
        Some(row)
    })
}

/// Every cell in which a ruling differs from a row.
fn differences(ruling: &Ruling, row: &Row) -> Vec<String> {
    let how = How::parse(cell(row, "how").unwrap_or_default());
    let codes = how.map_or((None, &[][..]), refusal_codes);
    let mut out = Vec::new();
    for (name, want) in row {
        let got = match name.as_str() {
            "channel" => Value::from(ruling.channel.as_str()),
            "flag" => match ruling.flag {
                Flag::Kept => Value::from("kept"),
                Flag::Set => Value::from(true),
                Flag::NoResult => Value::from("no result"),
                Flag::Cleared => Value::from(false),
            },
            "protocol" => Value::from(ruling.protocol.as_str()),
            "outcome" => Value::from(ruling.outcome.as_str()),
            "effect" => Value::from(ruling.effect.as_str()),
            "evidence" => Value::from(ruling.evidence.as_str()),
            "kind" => Value::from(ruling.kind.map_or("none", super::verdict::Kind::as_str)),
            "bytes" => Value::from(ruling.bytes.as_str()),
            "opening" => Value::from(ruling.opening.as_str()),
            "retry" => Value::from(ruling.may_retry),
            "finding" => Value::from(ruling.finding.map_or("none", super::finding::FindingCode::as_str)),
            "rpc_code" => Value::from(codes.0.unwrap_or(0)),
            "http" => Value::Array(codes.1.iter().map(|code| Value::from(*code)).collect()),
            "how" | "class" | "contract" | "note" => continue,
            other => panic!("decisions.toml has a column nobody compares: {other}"),
        };
        if want.as_str() == Some("as its own row") {
            continue;
        }
        if got != *want {
            out.push(format!("{name}: table {want}, judge {got}"));
        }
    }
    // What a row does not say must not be there either.
    if !row.contains_key("flag") && ruling.flag != Flag::NoResult {
        out.push("flag: none in the table".into());
    }
    if !row.contains_key("kind") && ruling.kind.is_some() {
        out.push("kind: none in the table".into());
    }
    out
}

/// Everything in which the judge differs from the table.
fn all_differences(rows: &[Row]) -> Vec<String> {
    let mut out = Vec::new();
    for how in How::ALL {
        for (class, class_name) in CLASSES {
            if *how == How::Unrecorded && class == EffectClass::Read {
                continue; // goes through: no ending of its own (see `leaning_rows`)
            }
            for (given, reading, clauses) in givens(*how) {
                let Some(row) = expected(rows, how.as_str(), class_name, &given) else {
                    out.push(format!("no row for {how}, {class_name}, {given}"));
                    continue;
                };
                let ruling = rule(*how, class, reading, clauses);
                for difference in differences(&ruling, &row) {
                    out.push(format!("{how}, {class_name}, {given}: {difference}"));
                }
            }
        }
    }
    // A late answer is ruled as its own row, with nobody to tell.
    let row = written(rows, "late", "write", "none").expect("the row for late");
    for how in [How::Ok, How::Flagged, How::EOther] {
        let own = late(rule(how, EffectClass::Write, None, Clauses::default()));
        let mut own_row = row.clone();
        own_row.insert(
            "kind".into(),
            Value::from(own.kind.map_or("none", super::verdict::Kind::as_str)),
        );
        out.extend(
            differences(&own, &own_row)
                .into_iter()
                .map(|difference| format!("late {how}: {difference}")),
        );
    }
    out
}

#[test]
fn the_judge_agrees_with_every_row() {
    let differences = all_differences(&rows(&table()));
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn the_table_names_every_ending_and_the_judge_knows_every_name() {
    let table = table();
    let named = table["how"].as_table().expect("[how]");
    for how in How::ALL {
        assert!(named.contains_key(how.as_str()), "[how] lacks {how}");
    }
    for name in named.keys() {
        assert!(
            How::parse(name).is_some() || LEANING.contains(&name.as_str()),
            "the judge lacks {name}"
        );
        assert!(
            written(&rows(&table), name, "write", "none").is_some(),
            "no row for {name}"
        );
    }
}

/// Flips each cell of each row in turn: a test that stayed green would be checking nothing.
#[test]
fn flipping_any_cell_is_noticed() {
    let rows = rows(&table());
    assert!(
        all_differences(&rows).is_empty(),
        "flips are counted against a table that agrees"
    );
    let mut flipped = 0;
    for (index, row) in rows.iter().enumerate() {
        if LEANING.contains(&cell(row, "how").unwrap()) && cell(row, "how") != Some("late") {
            continue; // these are held by the call machine's own tests and by those of a person's word
        }
        for (name, value) in row {
            let other = match (name.as_str(), value) {
                ("how" | "class" | "contract" | "note", _) => continue,
                (_, Value::String(text)) if text == "as its own row" => continue,
                (_, Value::Boolean(truth)) => Value::Boolean(!truth),
                (_, Value::Integer(code)) => Value::Integer(code + 1),
                (_, Value::Array(_)) => Value::Array(vec![]),
                _ => Value::from("flipped"),
            };
            let mut changed = rows.clone();
            changed[index].insert(name.clone(), other);
            assert!(
                !all_differences(&changed).is_empty(),
                "row {index} ({row:?}): nobody noticed {name}"
            );
            flipped += 1;
        }
    }
    assert!(flipped > 500, "only {flipped} cells were flipped");
}

#[test]
fn error_codes_are_the_tables() {
    let table = table();
    let codes = table["error_code"].as_table().expect("[error_code]");
    for (name, code) in codes {
        let how = How::parse(name).unwrap_or_else(|| panic!("[error_code] names {name}"));
        assert_eq!(error_code(how), code.as_str(), "{name}");
    }
    for how in How::ALL {
        // `ok` stands for all three readings of an unflagged result.
        let listed = codes.contains_key(how.as_str()) || matches!(how, How::OkBadShape | How::OkNoStructure);
        assert_eq!(error_code(*how).is_some(), listed, "{how}");
    }
}

/// `[repeat]`: "a, b on read or idempotent", "x by contract", "flagged without a contract".
#[test]
fn repeats_are_the_tables() {
    let table = table();
    let mut compared = 0;
    for (word, entries) in table["repeat"].as_table().expect("[repeat]") {
        let want = Repeat::parse(word).expect("a word for a repeat");
        for entry in entries
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Value::as_str)
        {
            for (how, class, (given, reading, clauses)) in meant(entry) {
                let want = if class == EffectClass::Read && want == Repeat::MayDuplicate {
                    Repeat::MayHelp
                } else {
                    want
                };
                let ruling = rule(how, class, reading, clauses);
                assert_eq!(ruling.repeat, Some(want), "{entry}: {how}, {class:?}, {given}");
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "only {compared} repeats were compared");
}

fn meant(entry: &str) -> Vec<(How, EffectClass, Given)> {
    let all = CLASSES.map(|(class, _)| class);
    let (what, classes) = match entry.split_once(" on ") {
        Some((what, "write")) => (what, vec![EffectClass::Write]),
        Some((what, "read or idempotent")) => (what, vec![EffectClass::Read, EffectClass::Idempotent]),
        Some((_, other)) => panic!("[repeat] names the classes {other}"),
        None => (entry, all.to_vec()),
    };
    let mapped = |how, reading: Option<Reading>| (how, (format!("{reading:?}"), reading, Clauses::default()));
    let cases: Vec<(How, Given)> = match what {
        "rejected by contract" => vec![
            mapped(How::Ok, Some(Reading::Rejected)),
            mapped(How::Flagged, Some(Reading::Rejected)),
        ],
        "unknown by contract" => vec![
            mapped(How::Ok, Some(Reading::Missing)),
            mapped(How::Ok, Some(Reading::Unlisted)),
            mapped(How::Ok, Some(Reading::Unknown)),
            mapped(How::Flagged, Some(Reading::Unknown)),
        ],
        "failed_not_applied by contract" => vec![
            mapped(How::Ok, Some(Reading::FailedUnapplied)),
            mapped(How::Flagged, Some(Reading::FailedUnapplied)),
        ],
        "rejected by text" => vec![mapped(How::Ok, Some(Reading::Lowered(Lowered::Rejected)))],
        "failed or unknown by text" => vec![
            mapped(How::Ok, Some(Reading::Lowered(Lowered::Failed))),
            mapped(How::Ok, Some(Reading::Lowered(Lowered::Unknown))),
        ],
        "accepted" => vec![mapped(How::Ok, Some(Reading::Accepted)), mapped(How::Task, None)],
        "partial" => vec![
            mapped(How::Ok, Some(Reading::Partial)),
            mapped(How::Flagged, Some(Reading::Partial)),
        ],
        "flagged without a contract" => vec![mapped(How::Flagged, None)],
        told if told.starts_with("told ") => {
            let all = givens(How::Told);
            let given = |name: &str| all.iter().find(|given| given.0 == name).expect("a pair").clone();
            let names = told.trim_start_matches("told ").split(", ");
            names.map(|name| (How::Told, given(name))).collect()
        }
        list => list
            .split(", ")
            .map(|name| mapped(How::parse(name).expect("an ending"), None))
            .collect(),
    };
    cases
        .iter()
        .flat_map(|(how, given)| classes.iter().map(|class| (*how, *class, given.clone())))
        .collect()
}

/// A pair that the table has no row for is a contradiction; a row for a pair that can't be declared would never be read.
#[test]
fn every_pair_that_a_tool_can_declare_has_a_row_or_is_a_contradiction() {
    let rows = rows(&table());
    let pairs: Vec<String> = givens(How::Told).into_iter().map(|given| given.0).collect();
    let written = rows.iter().filter(|row| cell(row, "how") == Some("told"));
    let mut believed = 0;
    for row in written {
        let pair = cell(row, "contract").unwrap_or("none");
        assert!(
            pairs.iter().any(|known| known == pair),
            "no tool can declare {pair}"
        );
        if cell(row, "finding").is_none() {
            let kept = format!(
                "{}/{}",
                cell(row, "outcome").unwrap(),
                cell(row, "effect").unwrap()
            );
            assert_eq!(pair, kept, "what is believed is what is declared");
            believed += 1;
        }
    }
    assert_eq!(believed, 12);
    for (pair, reading, clauses) in givens(How::Told) {
        let ruling = rule(How::Told, EffectClass::Write, reading, clauses);
        assert_eq!(
            ruling.finding.is_some(),
            pair == "none" || !rows.iter().any(|row| cell(row, "contract") == Some(&pair)),
            "{pair}"
        );
    }
}

#[test]
fn strict_shape_never_says_that_nothing_changed() {
    let strict = Clauses {
        strict_shape: true,
        ..Clauses::default()
    };
    for (reading, _) in READINGS {
        let ruling = rule(How::OkBadShape, EffectClass::Write, reading, strict);
        assert_eq!(
            (ruling.outcome.as_str(), ruling.effect.as_str()),
            ("unknown", "unknown"),
            "{reading:?}"
        );
        assert_eq!(
            (ruling.flag, ruling.opening.as_str()),
            (Flag::Set, "UNKNOWN"),
            "{reading:?}"
        );
        assert_eq!(ruling.finding.unwrap().as_str(), "output_shape");
    }
}

#[test]
fn a_contract_may_vouch_for_a_refusal() {
    let vouched = Clauses {
        refusal_changes_nothing: true,
        ..Clauses::default()
    };
    let ruling = rule(How::EParams, EffectClass::Write, None, vouched);
    assert_eq!(
        (ruling.effect.as_str(), ruling.opening.as_str()),
        ("not_applied", "NOT DONE")
    );
    let bare = rule(How::EParams, EffectClass::Write, None, Clauses::default());
    assert_eq!(
        (bare.effect.as_str(), bare.opening.as_str()),
        ("unknown", "REJECTED, EFFECT UNKNOWN")
    );
    let timeout = rule(How::Timeout, EffectClass::Write, None, vouched);
    assert_eq!(timeout.effect.as_str(), "unknown", "a lost answer is no refusal");
}
