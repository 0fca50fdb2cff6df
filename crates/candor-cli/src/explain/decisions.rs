//! The decision table as a program reads it: rows as written, and the rows that follow from them by the rules in the
//! table's head.

use std::collections::BTreeMap;

use candor_core::contract::effect::EffectClass;
use candor_core::contract::mapping::Reading;
use candor_core::contract::recovery::Lowered;
use candor_core::decisions::DECISIONS;
use candor_core::judgment::how::How;
use candor_core::judgment::ruling::{Clauses, rule};
use candor_core::judgment::told::Declared;
use candor_core::judgment::verdict::{Effect, Outcome, Repeat};
use serde::Deserialize;

use super::looks::Looks;

/// What a cell says where a circumstance leans on the row of the call's real end.
pub(crate) const AS_ITS_OWN: &str = "as its own row";

/// The endings whose result a mapping can read.
const MAPPED: [&str; 4] = ["ok", "ok_bad_shape", "ok_no_structure", "flagged"];

/// The ending that a tool declares itself: its readings are the pairs of outcome and effect that have a row.
const TOLD: &str = "told";

/// What a mapping can make of a result, in the table's words.
const READINGS: [(&str, Option<Reading>); 13] = [
    ("none", None),
    ("completed", Some(Reading::Completed)),
    ("accepted", Some(Reading::Accepted)),
    ("rejected", Some(Reading::Rejected)),
    ("failed", Some(Reading::Failed)),
    ("partial", Some(Reading::Partial)),
    ("missing", Some(Reading::Missing)),
    ("unlisted", Some(Reading::Unlisted)),
    ("failed_not_applied", Some(Reading::FailedUnapplied)),
    ("unknown", Some(Reading::Unknown)),
    ("text_failed", Some(Reading::Lowered(Lowered::Failed))),
    ("text_rejected", Some(Reading::Lowered(Lowered::Rejected))),
    ("text_unknown", Some(Reading::Lowered(Lowered::Unknown))),
];

/// The table.
#[derive(Debug, Deserialize)]
pub(crate) struct Decisions {
    how: BTreeMap<String, String>,
    case: Vec<Case>,
    error_code: BTreeMap<String, String>,
    #[serde(rename = "read_back")]
    pub(super) looks: Vec<Looks>,
}

#[derive(Debug, Deserialize)]
struct Case {
    rows: Vec<Row>,
}

/// One row: what holds for one end, class and reading.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Row {
    how: String,
    #[serde(default)]
    class: Option<String>,
    #[serde(default)]
    contract: Option<String>,
    pub(crate) channel: String,
    #[serde(default)]
    flag: Option<FlagCell>,
    pub(crate) protocol: String,
    pub(crate) outcome: String,
    pub(crate) effect: String,
    pub(crate) evidence: String,
    #[serde(default)]
    pub(crate) kind: Option<String>,
    pub(crate) bytes: String,
    pub(crate) opening: String,
    pub(crate) retry: bool,
    #[serde(default)]
    pub(crate) finding: Option<String>,
    #[serde(default)]
    pub(crate) note: Option<String>,
}

/// A cell of the column `flag`: a truth, or the word `kept`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FlagCell(String);

impl FlagCell {
    /// The word that is printed.
    pub(super) fn word(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for FlagCell {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(match toml::Value::deserialize(from)? {
            toml::Value::String(word) => word,
            toml::Value::Boolean(true) => "set".to_owned(),
            toml::Value::Boolean(false) => "cleared".to_owned(),
            other => {
                return Err(serde::de::Error::custom(format!(
                    "a flag is true or \"kept\", not {other}"
                )));
            }
        }))
    }
}

impl Row {
    /// `set`, `kept`, or `–` where there is no result to flag.
    pub(crate) fn flag(&self) -> &str {
        self.flag.as_ref().map_or("–", |flag| &flag.0)
    }
}

/// What holds for some classes under one reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// The classes, in the order of the design.
    pub(crate) classes: Vec<EffectClass>,
    /// What the contract's mapping made of the result, or what the tool declares of itself; `None` where neither can be.
    pub(crate) reading: Option<String>,
    /// What holds.
    pub(crate) row: Row,
    /// What a repeat would mean, by the judge; `None` where nothing went wrong or the end leans on another.
    pub(crate) repeat: Option<&'static str>,
}

impl Decisions {
    /// Reads the table that was built in.
    ///
    /// # Errors
    /// The table can't be read: the build is broken.
    pub(crate) fn read() -> anyhow::Result<Self> {
        toml::from_str(DECISIONS)
            .map_err(|fault| anyhow::anyhow!("the decision table that is built in can't be read: {fault}"))
    }

    /// What an end means.
    pub(crate) fn how(&self, how: &str) -> Option<&str> {
        self.how.get(how).map(String::as_str)
    }

    /// Every end: those of the judge in its order, then the circumstances that lean on another row.
    pub(crate) fn endings(&self) -> Vec<&str> {
        let judged = How::ALL
            .iter()
            .map(|how| how.as_str())
            .filter(|how| self.how.contains_key(*how));
        let leaning = self
            .how
            .keys()
            .map(String::as_str)
            .filter(|how| How::parse(how).is_none());
        judged.chain(leaning).collect()
    }

    /// The stable code of an end. The two further readings of an unflagged result share that of `ok`.
    pub(crate) fn code(&self, how: &str) -> Option<&str> {
        let listed = if matches!(how, "ok_bad_shape" | "ok_no_structure") {
            "ok"
        } else {
            how
        };
        self.error_code.get(listed).map(String::as_str)
    }

    /// Every stable code, each once.
    pub(crate) fn codes(&self) -> Vec<&str> {
        let mut codes: Vec<&str> = self.error_code.values().map(String::as_str).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    /// The ends that a code stands for.
    pub(crate) fn endings_of(&self, code: &str) -> Vec<&str> {
        self.endings()
            .into_iter()
            .filter(|how| self.code(how) == Some(code))
            .collect()
    }

    /// The row as written for exactly this class (or for every class) and reading.
    fn written(&self, how: &str, class: EffectClass, reading: &str) -> Option<&Row> {
        self.case.iter().flat_map(|case| &case.rows).find(|row| {
            row.how == how
                && row.class.as_deref().is_none_or(|of| of == class.as_str())
                && row.contract.as_deref().unwrap_or("none") == reading
        })
    }

    fn for_class(&self, how: &str, class: EffectClass, reading: &str) -> Option<Row> {
        if let Some(row) = self.written(how, class, reading) {
            return Some(row.clone());
        }
        let mut row = self.written(how, EffectClass::Write, reading)?.clone();
        // A note is about the row it stands in.
        row.note = None;
        match class {
            EffectClass::Write => {}
            EffectClass::Idempotent => {
                row.retry |= row.protocol == "no_response" || row.effect == "not_applied";
            }
            EffectClass::Read if row.effect == AS_ITS_OWN => {}
            EffectClass::Read => {
                row.effect = "not_applied".to_owned();
                if matches!(
                    row.opening.as_str(),
                    "FAILED, EFFECT UNKNOWN" | "REJECTED, EFFECT UNKNOWN"
                ) {
                    row.opening = "NOT DONE".to_owned();
                }
            }
        }
        Some(row)
    }

    fn expanded(&self, how: &str, class: EffectClass, reading: &str) -> Option<Row> {
        self.for_class(how, class, reading).or_else(|| {
            let mut row = self.for_class(how, class, "none")?;
            match reading {
                "missing" => row.finding = Some("mapping_missing".to_owned()),
                "unlisted" => row.finding = Some("mapping_unlisted".to_owned()),
                _ => {}
            }
            Some(row)
        })
    }

    /// What can be given beside an end and a class: the column `contract`, and what it is to the judge.
    fn readings(&self, how: &str) -> Vec<(String, Option<Reading>, Clauses)> {
        if how == TOLD {
            let mut pairs: Vec<&str> = Vec::new();
            for row in self
                .case
                .iter()
                .flat_map(|case| &case.rows)
                .filter(|row| row.how == how)
            {
                let pair = row.contract.as_deref().unwrap_or("none");
                if !pairs.contains(&pair) {
                    pairs.push(pair);
                }
            }
            let given = |pair: &str| (pair.to_owned(), None, declares(pair));
            return pairs.into_iter().map(given).collect();
        }
        let readings = if MAPPED.contains(&how) {
            &READINGS[..]
        } else {
            READINGS.split_at(1).0
        };
        let given = |(word, read): &(&str, _)| ((*word).to_owned(), *read, Clauses::default());
        readings.iter().map(given).collect()
    }

    /// Everything that holds for one end; classes for which the same holds stand together.
    pub(crate) fn lines(&self, how: &str) -> Vec<Line> {
        let readings = self.readings(how);
        let has_readings = readings.len() > 1;
        let mut lines: Vec<Line> = Vec::new();
        for (reading, read, clauses) in readings {
            let first = lines.len();
            for class in EffectClass::ALL {
                let Some(row) = self.expanded(how, class, &reading) else {
                    continue;
                };
                let repeat = How::parse(how)
                    .filter(|_| row.outcome != AS_ITS_OWN)
                    .and_then(|how| rule(how, class, read, clauses).repeat)
                    .map(Repeat::as_str);
                let same = lines
                    .iter_mut()
                    .skip(first)
                    .find(|line| holds_the_same(&line.row, &row) && line.repeat == repeat);
                match same {
                    Some(line) => {
                        line.classes.push(class);
                        line.row.note = line.row.note.take().or(row.note);
                    }
                    None => lines.push(Line {
                        classes: vec![class],
                        reading: has_readings.then(|| reading.clone()),
                        row,
                        repeat,
                    }),
                }
            }
        }
        lines
    }
}

/// A pair of outcome and effect as the judge takes it.
fn declares(pair: &str) -> Clauses {
    let words = pair.split_once('/');
    Clauses {
        declared: words.and_then(|(outcome, effect)| {
            Some(Declared {
                outcome: Outcome::parse(outcome)?,
                effect: Effect::parse(effect)?,
            })
        }),
        ..Clauses::default()
    }
}

/// Do two rows say the same? For whom they were written, and what a note adds, is beside that.
fn holds_the_same(left: &Row, right: &Row) -> bool {
    let bare = |row: &Row| Row {
        class: None,
        contract: None,
        note: None,
        ..row.clone()
    };
    bare(left) == bare(right)
}

#[cfg(test)]
mod tests {
    use candor_core::judgment::ruling::Flag;
    use candor_core::judgment::verdict::Kind;

    use super::*;

    /// What is explained is what is judged: every line against the ruling itself.
    #[test]
    fn every_line_is_what_the_judge_rules() {
        let decisions = Decisions::read().unwrap();
        let mut compared = 0;
        for how in How::ALL {
            let lines = decisions.lines(how.as_str());
            assert!(!lines.is_empty(), "{how}");
            for line in lines.iter().filter(|line| line.row.outcome != AS_ITS_OWN) {
                let given = decisions.readings(how.as_str()).into_iter();
                let word = line.reading.as_deref().unwrap_or("none");
                let (_, reading, clauses) = given.into_iter().find(|given| given.0 == word).unwrap();
                for class in &line.classes {
                    let ruling = rule(*how, *class, reading, clauses);
                    let flag = match ruling.flag {
                        Flag::Set => "set",
                        Flag::Kept => "kept",
                        Flag::Cleared => "cleared",
                        Flag::NoResult => "–",
                    };
                    let row = &line.row;
                    let ours = [
                        row.channel.as_str(),
                        row.flag(),
                        &row.protocol,
                        &row.outcome,
                        &row.effect,
                        &row.evidence,
                        &row.bytes,
                        &row.opening,
                    ];
                    let judged = [
                        ruling.channel.as_str(),
                        flag,
                        ruling.protocol.as_str(),
                        ruling.outcome.as_str(),
                        ruling.effect.as_str(),
                        ruling.evidence.as_str(),
                        ruling.bytes.as_str(),
                        ruling.opening.as_str(),
                    ];
                    assert_eq!(ours, judged, "{how} {class} {:?}", line.reading);
                    assert_eq!(row.retry, ruling.may_retry, "{how} {class} {:?}", line.reading);
                    assert_eq!(
                        row.kind.as_deref(),
                        ruling.kind.map(Kind::as_str),
                        "{how} {class}"
                    );
                    compared += 1;
                }
            }
        }
        assert!(compared > 150, "only {compared} lines were compared");
    }

    #[test]
    fn every_class_is_explained_for_every_end() {
        let decisions = Decisions::read().unwrap();
        for how in decisions.endings() {
            let mut by_reading: BTreeMap<Option<String>, usize> = BTreeMap::new();
            for line in decisions.lines(how) {
                *by_reading.entry(line.reading.clone()).or_default() += line.classes.len();
            }
            assert!(
                by_reading.values().all(|classes| *classes == 3),
                "{how}: {by_reading:?}"
            );
        }
    }
}
