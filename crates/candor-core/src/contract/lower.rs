//! Clauses about what a result holds, as expressions, for a server that tells its failures in no field of their own.
//!
//! Like a clause about texts, such a clause can only lower a claim (DESIGN 3a): it holds only of a result that is not
//! flagged and of which no declared field is read, and what it concludes stands on `asserted`.

use super::effect::Sourced;
use super::recovery::Lowered;
use super::rules::{Seen, Term};
use super::text::{Clause, LoweredReading};

/// One clause: results of which this holds mean that.
#[derive(Debug, Clone, PartialEq)]
pub struct LowerClause {
    /// What holds of such a result.
    pub when: Term,
    /// What it is lowered to.
    pub means: Lowered,
}

/// What the clauses make of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// The first of them that holds.
    Holds(LoweredReading),
    /// None holds. One that has no value does not: a good result need not have the members it names.
    Nothing,
    /// None holds, and for one of them there was too much to look at: it might.
    TooMuch,
}

/// Reads a result by the clauses.
pub fn read(clauses: &[Sourced<LowerClause>], seen: &Seen<'_>) -> Found {
    let mut found = Found::Nothing;
    for Sourced { value, source } in clauses {
        match value.when.holds(seen) {
            Ok(true) => {
                return Found::Holds(LoweredReading {
                    means: value.means,
                    clause: Clause::Expression(value.when.source().to_owned()),
                    source: source.clone(),
                    block: 0,
                });
            }
            Err(why) if why.is_too_much() => found = Found::TooMuch,
            Ok(false) | Err(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::*;
    use crate::contract::effect::Source;
    use crate::contract::rules::Zone;
    use crate::reading::result::ResultReading;

    fn found(when: &str, result: &Value) -> Found {
        let when = Term::compile(when, &Zone::utc()).unwrap();
        let means = Lowered::Failed;
        let clause = Sourced::new(LowerClause { when, means }, Source::CommandLine);
        let seen = Seen {
            args: &Value::Null,
            result,
            answer: &Value::Null,
            text: "",
            now: Timestamp::UNIX_EPOCH,
        };
        read(&[clause], &seen)
    }

    #[test]
    fn what_is_not_there_and_what_is_too_much_are_not_the_same() {
        let small = json!({ "list": [1, 2] });
        let large = json!({ "list": (0..20_000).collect::<Vec<u32>>() });
        let squared = "result.list.exists(a, result.list.exists(b, a + b < 0))";
        assert_eq!(found(squared, &small), Found::Nothing);
        assert_eq!(found("result.absent == 1", &small), Found::Nothing);
        assert_eq!(found(squared, &large), Found::TooMuch);
        assert!(matches!(found("size(result.list) == 2", &small), Found::Holds(_)));
    }

    #[test]
    fn a_result_that_could_not_be_looked_into_has_a_finding() {
        let when = Term::compile("true", &Zone::utc()).unwrap();
        let means = Lowered::Failed;
        let clauses = [Sourced::new(LowerClause { when, means }, Source::CommandLine)];
        let reading = || ResultReading {
            how: crate::judgment::how::How::Ok,
            ..ResultReading::no_result("")
        };
        let (mut unread, mut without) = (reading(), reading());
        unread.lower(&clauses, None);
        without.lower(&[], None);
        assert_eq!((unread.findings.len(), unread.lowered), (1, None));
        assert!(without.findings.is_empty());
    }
}
