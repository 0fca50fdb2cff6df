//! What became known of an earlier call whose caller was told `UNKNOWN`: one line, once, on a later result.

use serde_json::{Value, json};

use super::quote::name;
use super::redaction::KnownSecrets;
use crate::judgment::verdict::{Effect, Evidence, Outcome};
use crate::names::{OperationId, ToolName};

/// News of one earlier call.
#[derive(Debug, Clone, PartialEq)]
pub struct News {
    /// The operation.
    pub operation: OperationId,
    /// Its tool.
    pub tool: ToolName,
    /// What is known now.
    pub outcome: Outcome,
    /// What changed, as known now.
    pub effect: Effect,
    /// How that is known.
    pub evidence: Evidence,
    /// Was it told in the `_meta` of an earlier result? Then it is owed to a text only.
    pub in_meta: bool,
}

impl News {
    /// The member of `_meta["candor/news"]`.
    pub fn member(&self) -> Value {
        json!({
            "operationId": self.operation,
            "tool": self.tool,
            "told": Outcome::Unknown,
            "outcome": self.outcome,
            "effect": self.effect,
            "evidence": self.evidence,
        })
    }

    /// The line for a model.
    pub fn line(&self, secrets: &KnownSecrets) -> String {
        let by = match self.evidence {
            Evidence::Operator => "settled by a person",
            Evidence::ReadBack => "settled by a look at the target",
            Evidence::NotSent | Evidence::None | Evidence::Asserted | Evidence::Declared => "answered late",
        };
        let known = match self.outcome {
            Outcome::Reported => {
                "the server reported no error, and nobody looked whether it was done".to_owned()
            }
            outcome => format!("outcome {outcome}, effect {}", self.effect),
        };
        format!(
            "Earlier: {} ({}), told UNKNOWN, was {by}: {known}.",
            name(self.tool.as_str(), secrets),
            self.operation.short()
        )
    }
}
