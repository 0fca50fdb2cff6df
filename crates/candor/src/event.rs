//! What became of each call, for an event log of the server's own: the refusals too.

use std::sync::Arc;

use candor_core::judgment::verdict::{Effect, Outcome as Word};
use jiff::Timestamp;
use rmcp::ErrorData;
use rmcp::model::CallToolResponse;
use serde_json::Value;

use crate::principal::{PERMISSION_DENIED, Principal};

/// The code of a caller that could not be told from anybody else, or that may not.
const DENIED: &str = "CANDOR_PERMISSION_DENIED";

/// What became of one `tools/call`. It has neither arguments nor results: what a log may keep of those only the tool knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When it was answered, by the server's clock.
    pub at: Timestamp,
    /// The tool by the name it was called with; there may be no such tool.
    pub tool: String,
    /// Who called; `None` where the credential did not count.
    pub principal: Option<Principal>,
    /// What the caller was told: `input_required` where it was asked something, `accepted` where a task was begun.
    pub outcome: Word,
    /// What it changed, as far as that is known.
    pub effect: Effect,
    /// The code of a refusal or a failure; of a JSON-RPC error that is none of candor's, its number.
    pub code: Option<String>,
    /// The operation's id (a UUID), where there is one: refusals at the protocol have none.
    pub operation: Option<String>,
}

/// Gets every event; must be quick, and must not panic.
pub(crate) type Witness = Arc<dyn Fn(&Event) + Send + Sync>;

impl Event {
    /// Reads what the caller is about to be told.
    pub(crate) fn of(
        at: Timestamp,
        tool: String,
        principal: Option<Principal>,
        answer: &Result<CallToolResponse, ErrorData>,
    ) -> Self {
        let event = Self {
            at,
            tool,
            principal,
            outcome: Word::Rejected,
            effect: Effect::NotApplied,
            code: None,
            operation: None,
        };
        match answer {
            Ok(CallToolResponse::Complete(result)) => {
                let verdict = result.meta.as_ref().and_then(|meta| meta.0.get("candor/verdict"));
                event.by(verdict)
            }
            Ok(CallToolResponse::InputRequired(_)) => Self {
                outcome: Word::InputRequired,
                ..event
            },
            Ok(_) => Self {
                outcome: Word::Accepted,
                effect: Effect::Unknown,
                ..event
            },
            Err(error) => event.by_error(error),
        }
    }

    fn by(self, verdict: Option<&Value>) -> Self {
        let text = |pointer: &str| verdict.and_then(|verdict| verdict.pointer(pointer)?.as_str());
        Self {
            // A result without a verdict is none of candor's: nobody looked.
            outcome: text("/outcome").and_then(Word::parse).unwrap_or(Word::Reported),
            effect: text("/effect").and_then(Effect::parse).unwrap_or(Effect::Unknown),
            code: text("/error/code").map(str::to_owned),
            operation: text("/operationId").map(str::to_owned),
            ..self
        }
    }

    fn by_error(self, error: &ErrorData) -> Self {
        let data = |key: &str| error.data.as_ref().and_then(|data| data.get(key));
        // The number alone is anybody's: a tool's own error with it says nothing of what the tool did before.
        if error.code.0 == PERMISSION_DENIED && data("code").and_then(Value::as_str) == Some(DENIED) {
            return Self {
                code: Some(DENIED.to_owned()),
                ..self
            };
        }
        let verdict = data("candor/verdict");
        if verdict.is_some() {
            return self.by(verdict);
        }
        // The tool answered with an error of its own: whether it did something first is not known.
        let code = Some(error.code.0.to_string());
        Self {
            outcome: Word::Failed,
            effect: Effect::Unknown,
            code,
            ..self
        }
    }
}
