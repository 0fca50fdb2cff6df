//! One message that is being played, and the values it lends to what is sent.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    script::{Before, Era, MODERN, When},
    template,
    wire::{self, Envelope},
};

/// One received message, with all that a template may ask of it.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) method: String,
    /// The request's id, raw; none for a notification.
    pub(super) id: Option<String>,
    params: Value,
    /// `params`, raw.
    raw_params: Option<String>,
    /// `params.arguments`, raw.
    pub(super) arguments: Option<Box<RawValue>>,
    /// How many calls of this tool there were, this one included.
    pub(super) count: u64,
    /// What the host answered to our request, raw.
    pub(super) answer: Option<String>,
    /// What was found in the ledger, raw.
    pub(super) found: Option<String>,
}

impl Call {
    /// No message at all: steps that are played before anything was read.
    pub(super) fn none() -> Self {
        Self {
            method: String::new(),
            id: None,
            params: Value::Null,
            raw_params: None,
            arguments: None,
            count: 0,
            answer: None,
            found: None,
        }
    }

    pub(super) fn of(method: &str, envelope: &Envelope<'_>) -> Self {
        #[derive(Deserialize)]
        struct Params {
            #[serde(default)]
            arguments: Option<Box<RawValue>>,
        }
        let raw_params = envelope.params.map(|params| params.get().to_owned());
        let params = raw_params
            .as_deref()
            .and_then(|params| serde_json::from_str(params).ok());
        let arguments = raw_params
            .as_deref()
            .and_then(|params| serde_json::from_str::<Params>(params).ok());
        Self {
            method: method.to_owned(),
            id: envelope.id.map(|id| id.get().to_owned()),
            params: params.unwrap_or_default(),
            raw_params,
            arguments: arguments.and_then(|params| params.arguments),
            ..Self::none()
        }
    }

    /// `params.name`.
    pub(super) fn tool_name(&self) -> &str {
        self.text_at("/name").unwrap_or_default()
    }

    /// A text in `params`.
    pub(super) fn text_at(&self, pointer: &str) -> Option<&str> {
        self.params.pointer(pointer)?.as_str()
    }

    /// `params.requestId`, raw.
    pub(super) fn request_id(&self) -> Option<String> {
        self.raw_at(&["requestId"])
    }

    /// A member below `params`, as the bytes it came in.
    fn raw_at(&self, path: &[&str]) -> Option<String> {
        wire::member(self.raw_params.as_deref()?, path).map(str::to_owned)
    }

    /// The revision that a modern request names for itself.
    pub(super) fn revision(&self) -> Option<&str> {
        self.text_at("/_meta/io.modelcontextprotocol~1protocolVersion")
    }

    pub(super) fn era(&self) -> Era {
        if self.revision() == Some(MODERN) {
            Era::Modern
        } else {
            Era::Legacy
        }
    }

    pub(super) fn fits(&self, when: &When, before: Before) -> bool {
        let argument = |pointer: &str| self.params.pointer(&format!("/arguments{pointer}"));
        when.call.is_none_or(|call| call == self.count)
            && when.era.is_none_or(|era| era == self.era())
            && [Before::Anything, before].contains(&when.before)
            && when
                .arguments
                .iter()
                .all(|(pointer, value)| argument(pointer) == Some(value))
    }

    /// The raw JSON that stands for a blank; `None` for a name that is no blank.
    pub(super) fn value_of(&self, name: &str) -> Option<String> {
        let value = match name {
            "id" => self.id.clone(),
            "params" => self.raw_params.clone(),
            "arguments" => self
                .arguments
                .as_ref()
                .map(|arguments| arguments.get().to_owned()),
            "progressToken" => self.raw_at(&["_meta", "progressToken"]),
            "call" => Some(self.count.to_string()),
            "answer" => self.answer.clone(),
            "found" => self.found.clone(),
            other => {
                let path: Vec<&str> = other.strip_prefix("argument /")?.split('/').collect();
                self.arguments
                    .as_ref()
                    .and_then(|all| wire::member(all.get(), &path))
                    .map(str::to_owned)
            }
        };
        Some(value.unwrap_or_else(|| "null".to_owned()))
    }

    /// A result as this call's era wants it: an object without `resultType` gets one where the call is modern.
    pub(super) fn with_result_type(&self, result: &str) -> String {
        #[derive(Deserialize)]
        struct Typed {
            #[serde(default, rename = "resultType")]
            result_type: Option<Value>,
        }
        let result = template::one_line(result);
        let typed = serde_json::from_str::<Typed>(&result).map(|typed| typed.result_type.is_some());
        match result.trim_start().strip_prefix('{') {
            Some(members) if self.era() == Era::Modern && matches!(typed, Ok(false)) => {
                let comma = if members.trim() == "}" { "" } else { "," };
                format!(r#"{{"resultType":"complete"{comma}{members}"#)
            }
            _ => result,
        }
    }
}
