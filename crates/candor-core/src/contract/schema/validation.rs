//! What a check of one value against one schema found, and what it could not find out.

use crate::arguments::issue::Issue;

/// The answer of a check. Judging bad input is no failure: there is always an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Validation {
    /// What breaks the schema, as many as were asked for, in the schema's order.
    pub issues: Vec<Issue>,
    /// How many were found, before the cut. Of a value too large to collect everything from, only the first is.
    pub total: usize,
    /// Values that do not look like their `format`, where `format` only describes. They refuse nothing.
    pub format_doubts: Vec<Issue>,
    /// Parts of the value that could not be judged; they are not called wrong.
    pub not_checked: Vec<NotChecked>,
}

impl Validation {
    /// Whether nothing was found wrong. What could not be checked is not wrong.
    pub fn is_clean(&self) -> bool {
        self.total == 0
    }
}

/// One place in a value that could not be judged, and why.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NotChecked {
    /// JSON Pointer into the value; `""` is the whole.
    pub path: String,
    /// The reason.
    pub why: WhyNotChecked,
}

/// Why something could not be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum WhyNotChecked {
    /// A pattern of the schema needs more steps on this text than Candor allows.
    #[error("the schema's pattern takes too many steps on this text")]
    PatternBudget,
    /// A number beyond what can be compared reliably, such as `1e400`.
    #[error("the number is outside the range that can be compared reliably")]
    Number,
    /// Value and schema together are more work than one check may cost.
    #[error("the value is too large or too deeply nested for its schema to be checked in bounded work")]
    TooMuchWork,
    /// The validator broke on this value. A defect, told as one.
    #[error("the validator failed on this value")]
    ValidatorFailed,
}
