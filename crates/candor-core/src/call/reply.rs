//! What came back for a call: read by the method that asked, never by its shape.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::contract::effect::Source;
use crate::contract::terms::Refusal;
use crate::delivery::redaction::{KnownSecrets, least, least_json};
use crate::judgment::ending::Ending;
use crate::reading::result::{Asked, read as read_result};
use crate::wire::decode::ErrorObject;
use crate::wire::reply::{Carried, Reply};

/// How much of an error's data is quoted.
const DATA: usize = 300;

/// The code of "invalid params" (JSON-RPC 2.0, section 5.1).
pub const INVALID_PARAMS: i64 = -32602;

/// Reads what answered a call. `changes_nothing` holds the refusals of which the contract says that nothing
/// was done; `listed` says whether the server still lists the tool.
pub fn ending(
    reply: &Reply,
    asked: &Asked<'_>,
    changes_nothing: &BTreeMap<Refusal, Source>,
    listed: bool,
    secrets: &KnownSecrets,
) -> Ending {
    match reply.carried() {
        Carried::Result(result) => Ending::Replied(Box::new(read_result(&result, asked))),
        Carried::Error(raw) => {
            let error = ErrorObject::read(raw);
            Ending::Refused {
                code: error.code,
                message: error.message().map(std::borrow::Cow::into_owned),
                data: error.data.and_then(|data| summary(data.get(), secrets)),
                listed,
                changes_nothing: error
                    .code
                    .is_some_and(|code| changes_nothing.contains_key(&Refusal::JsonRpc(code))),
            }
        }
        Carried::Both => Ending::Both { present: true },
        Carried::Neither => Ending::Both { present: false },
    }
}

/// Is this a JSON-RPC error with the code for invalid parameters?
pub fn refuses_parameters(reply: &Reply) -> bool {
    matches!(reply.carried(), Carried::Error(raw) if ErrorObject::read(raw).code == Some(INVALID_PARAMS))
}

/// An error's data in short: hosts tend to drop it, though servers put the useful part there. Stacks and credentials go
/// before the cut, which could leave half of one.
fn summary(data: &str, secrets: &KnownSecrets) -> Option<String> {
    let text = match serde_json::from_str::<Value>(data) {
        Ok(Value::Null) => return None,
        Ok(Value::String(text)) => text,
        Ok(value) => least_json(&value, secrets).value.to_string(),
        Err(_) => data.to_owned(),
    };
    let text = least(&text, secrets).value;
    (!text.is_empty()).then(|| text.chars().take(DATA).collect())
}
