//! The rounds of one `input_required` exchange (2026-07-28) are one operation: how a further round names the one before.

use serde_json::value::RawValue;

use super::keyed::arguments_digest;
use crate::names::{OperationId, ToolName};
use crate::record::bodies::{digest, hex};
use crate::wire::decode::CallParams;
use crate::wire::envelope::text_of;
use crate::wire::members::object;

/// What ties a round to the one before: the digest of the server's `requestState`, or, where it gave none, of the tool and
/// the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RoundMark(String);

/// An operation that goes on in a further round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The operation.
    pub operation: OperationId,
    /// How often it was sent in the rounds before.
    pub attempts: u32,
    /// The key it was begun with.
    pub key: Option<String>,
}

impl RoundMark {
    fn of_state(tool: &str, raw: &str) -> Option<Self> {
        let state = text_of(raw).ok()?;
        Some(Self(digest(&format!("state\n{tool}\n{state}"))))
    }

    /// Of an exchange whose server gave no state.
    pub fn without_state(tool: &ToolName, arguments: Option<&str>) -> Self {
        Self(digest(&format!(
            "call\n{tool}\n{}",
            hex(&arguments_digest(arguments))
        )))
    }

    /// What a request goes on with; `None` for one that begins something.
    pub fn of_request(params: &CallParams<'_>, tool: &str) -> Option<Self> {
        match (params.request_state, params.input_responses) {
            (Some(state), _) => Self::of_state(tool, state.get()),
            (None, Some(_)) => Some(Self::without_state(
                &ToolName::from(tool),
                params
                    .arguments
                    .map(RawValue::get)
                    .filter(|raw| raw.starts_with('{')),
            )),
            (None, None) => None,
        }
    }

    /// What the next round will go on with, read from a raw `input_required` result.
    pub fn of_result(result: &str, tool: &ToolName, arguments: Option<&str>) -> Option<Self> {
        #[derive(serde::Deserialize)]
        struct Asking<'a> {
            #[serde(borrow, default, rename = "requestState")]
            state: Option<&'a RawValue>,
        }
        let asking: Asking<'_> = object(result)?;
        match asking.state {
            Some(state) => Self::of_state(tool.as_str(), state.get()),
            None => Some(Self::without_state(tool, arguments)),
        }
    }
}
