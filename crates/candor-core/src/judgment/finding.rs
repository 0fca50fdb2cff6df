//! Broken or unverifiable clauses, by stable code. A finding never moves an outcome by itself.

use super::how::words;

words! {
    /// Which clause.
    FindingCode {
        /// The structure breaks the tool's `outputSchema`.
        OutputShape = "output_shape",
        /// The tool declares an `outputSchema` and sent no structure.
        OutputMissing = "output_missing",
        /// The server's tools can't be listed: nothing was checked.
        Unchecked = "unchecked",
        /// The tool's `inputSchema` is no usable schema: its arguments are not checked.
        InputSchema = "input_schema",
        /// The tool's `outputSchema` is no usable schema: its results are not checked.
        OutputSchema = "output_schema",
        /// The server's list names the tool more than once: the call was checked by the first.
        ToolTwice = "tool_twice",
        /// A part of the arguments could not be checked within the bounds.
        NotChecked = "not_checked",
        /// The arguments break the schema, and the operator's mode lets them through.
        ArgumentsWarned = "arguments_warned",
        /// The mapped field is absent.
        MappingMissing = "mapping_missing",
        /// The mapped field has a value that the contract does not list.
        MappingUnlisted = "mapping_unlisted",
        /// The server's flag and its mapped field contradict each other.
        Contradiction = "contradiction",
        /// A `resultType` that neither the revision nor an extension defines.
        ResultType = "result_type",
        /// An answer, or a second one, came when the verdict was already told.
        LateAnswer = "late_answer",
        /// The contract's read-back can't be asked: its tool is not known to change nothing, or not there.
        ReadBackUnusable = "read_back_unusable",
        /// Candor looked, and what it saw settles nothing.
        ReadBackNothing = "read_back_nothing",
        /// No field says how it ended, and its text fits a clause that lowers the claim.
        TextClause = "text_clause",
        /// A result that is not flagged and that no contract reads holds a member that looks like a failure.
        FailureSign = "failure_sign",
        /// A verdict under Candor's own key from a server that is not trusted.
        ClaimedVerdict = "claimed_verdict",
    }
}

/// One broken or unverifiable clause of one call.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// Which clause.
    pub code: FindingCode,
    /// Where and how, in one sentence.
    pub detail: String,
}

impl Finding {
    /// A finding with its detail.
    pub fn new(code: FindingCode, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
        }
    }
}
