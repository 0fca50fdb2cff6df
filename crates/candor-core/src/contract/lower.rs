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

/// The first clause that holds. One that has no value does not: a good result need not have the members it names.
pub fn read(clauses: &[Sourced<LowerClause>], seen: &Seen<'_>) -> Option<LoweredReading> {
    let holds = |clause: &&Sourced<LowerClause>| clause.value.when.holds(seen) == Ok(true);
    clauses
        .iter()
        .find(holds)
        .map(|Sourced { value, source }| LoweredReading {
            means: value.means,
            clause: Clause::Expression(value.when.source().to_owned()),
            source: source.clone(),
            block: 0,
        })
}
