//! Clauses made of the expressions that lower a claim.

use candor_core::contract::effect::Sourced;
use candor_core::contract::lower::LowerClause;
use candor_core::contract::rules::Zone;

use super::build::{Builder, list};
use super::fault::FaultKind;
use super::keys::Placed;
use super::raw::RawLower;

/// Most of them of one tool.
const MOST_LOWER: usize = 32;

impl Builder<'_, '_> {
    /// The clauses, in the order of the file.
    pub(super) fn lower(
        &mut self,
        raw: Option<Placed<Vec<Placed<RawLower>>>>,
        zone: &Zone,
    ) -> Vec<Sourced<LowerClause>> {
        let mut clauses = Vec::new();
        for placed in list(raw) {
            if clauses.len() >= MOST_LOWER {
                self.reader
                    .fault::<()>(placed.key, FaultKind::TooManyLower { limit: MOST_LOWER });
                break;
            }
            let source = self.source(&placed.key);
            let when = placed.value.when.and_then(|written| self.term(&written, zone));
            if let (Some(when), Some(means)) = (when, placed.value.means) {
                clauses.push(Sourced::new(
                    LowerClause {
                        when,
                        means: means.value.0,
                    },
                    source,
                ));
            }
        }
        clauses
    }
}
