//! Expressions of recovery: what to ask when looking again, and what the answer means.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::Zone;
use super::expression::{Expression, Scene, WhyNot};
use super::fault::FaultKind;
use super::tree::OF_A_TERM;
use super::value;

/// A compiled expression over a call, its result and a later look. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Term(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    source: String,
    expression: Expression,
    zone: TimeZone,
}

/// What a term can see.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'s> {
    /// `args`: the arguments as they were sent.
    pub args: &'s Value,
    /// `result`: the structure of the call's own result, or its first text block that is a JSON object or list; null
    /// where there is none, or no result came.
    pub result: &'s Value,
    /// `answer`: the same of a later look; null before it.
    pub answer: &'s Value,
    /// `text`: the text blocks of the later look, joined by line feeds; before it, those of the call's own result.
    pub text: &'s str,
    /// `now`.
    pub now: Timestamp,
}

/// Why a term has no value, as a sentence's end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NoValue {
    why: String,
    too_much: bool,
}

impl NoValue {
    /// Was there too much to look at? Then nobody knows what it would have been; otherwise something it names is not there.
    pub fn is_too_much(&self) -> bool {
        self.too_much
    }
}

impl From<WhyNot> for NoValue {
    fn from(why: WhyNot) -> Self {
        Self {
            too_much: matches!(why, WhyNot::TooLarge | WhyNot::TooMuchWork),
            why: why.to_string(),
        }
    }
}

impl Term {
    /// Compiles a CEL expression over `args`, `result`, `answer`, `text`, `now` and `today`; dates are read in `zone`.
    ///
    /// # Errors
    /// What is wrong with it, and at which byte where that is known.
    pub fn compile(source: &str, zone: &Zone) -> Result<Self, (Option<usize>, FaultKind)> {
        Ok(Self(Arc::new(Parts {
            source: source.to_owned(),
            expression: Expression::compile(source, OF_A_TERM)?,
            zone: zone.0.clone(),
        })))
    }

    /// As it was written.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Its value as JSON. Never fails otherwise and never runs long.
    ///
    /// # Errors
    /// Why it has none: members that are absent, or more work than is allowed.
    pub fn value(&self, seen: &Seen<'_>) -> Result<Value, NoValue> {
        let found = self.evaluate(seen)?;
        value::to_json(&found).ok_or_else(|| NoValue {
            why: format!("it gives {}", value::kind(&found)),
            too_much: false,
        })
    }

    /// Does it hold?
    ///
    /// # Errors
    /// Why that can't be said; also where it gives something else than true or false.
    pub fn holds(&self, seen: &Seen<'_>) -> Result<bool, NoValue> {
        match self.evaluate(seen)? {
            cel::Value::Bool(holds) => Ok(holds),
            other => Err(WhyNot::NotABoolean(value::kind(&other)).into()),
        }
    }

    fn evaluate(&self, seen: &Seen<'_>) -> Result<cel::Value, NoValue> {
        let text = Value::String(seen.text.to_owned());
        let names = [
            ("args", seen.args),
            ("result", seen.result),
            ("answer", seen.answer),
            ("text", &text),
        ];
        let scene = Scene::of(&names, seen.now, &self.0.zone)?;
        Ok(self.0.expression.evaluate(&scene)?)
    }
}

impl PartialEq for Term {
    fn eq(&self, other: &Self) -> bool {
        self.0.source == other.0.source && self.0.zone == other.0.zone
    }
}

impl fmt::Display for Term {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.source)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen<'s>(args: &'s Value, answer: &'s Value) -> Seen<'s> {
        Seen {
            args,
            result: &Value::Null,
            answer,
            text: "two\nlines",
            now: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_term_sees_the_call_and_the_later_look() {
        let args = json!({ "room": 12, "names": ["a", "b"] });
        let answer = json!({ "bookings": [{ "room": 12 }, { "room": 14 }] });
        let holds = |source: &str| {
            Term::compile(source, &Zone::utc())
                .unwrap()
                .holds(&seen(&args, &answer))
        };
        assert_eq!(holds("answer.bookings.exists(b, b.room == args.room)"), Ok(true));
        assert_eq!(holds("answer.bookings.exists(b, b.room == 13)"), Ok(false));
        assert_eq!(holds("result == null && text.contains('lines')"), Ok(true));
        assert!(holds("answer.absent == 1").is_err());
        assert!(holds("args.room").is_err());
    }

    #[test]
    fn its_value_is_json_again() {
        let args = json!({ "room": 12, "names": ["a", "b"] });
        let value = |source: &str| {
            Term::compile(source, &Zone::utc())
                .unwrap()
                .value(&seen(&args, &Value::Null))
                .unwrap()
        };
        assert_eq!(value("args.names"), json!(["a", "b"]));
        assert_eq!(value("[args.room]"), json!([12]));
        assert_eq!(
            value("{'b': args.room, 'a': now}"),
            json!({ "a": "1970-01-01T00:00:00Z", "b": 12 })
        );
    }

    #[test]
    fn a_rule_knows_nothing_of_a_later_look() {
        assert!(Expression::compile("answer == 1", super::super::tree::OF_A_RULE).is_err());
        assert!(Term::compile("answr == 1", &Zone::utc()).is_err());
    }
}
