//! What the scripts prove, held against the decision table.

mod coverage;
