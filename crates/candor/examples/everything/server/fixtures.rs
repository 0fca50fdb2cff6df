//! What the suite wants to be given: an image, a sound, forms.

use std::sync::Arc;

use candor::Outcome;
use candor::outcome::Done;
use rmcp::ErrorData;
use rmcp::model::{
    ContentBlock, ElicitRequest, ElicitRequestParams, ElicitationSchema, InputRequest, JsonObject,
    ResourceContents,
};
use serde_json::{Value, json};

/// A red PNG of one pixel, in base64.
pub(super) const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
/// A WAV of silence, in base64.
pub(super) const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
/// How long clients may keep what was listed or read.
pub(super) const KEEP_MS: u64 = 60_000;

/// A text under a URI.
pub(super) fn text(uri: &str, mime_type: &str, text: impl Into<String>) -> ResourceContents {
    ResourceContents::TextResourceContents {
        uri: uri.into(),
        mime_type: Some(mime_type.into()),
        text: text.into(),
        meta: None,
    }
}

/// A question with one text in its answer, in the form in which a prompt has to ask it.
pub(super) fn question(message: &str, name: &str) -> Result<InputRequest, ErrorData> {
    let form = json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    let requested_schema: ElicitationSchema =
        serde_json::from_value(form).map_err(|fault| ErrorData::internal_error(fault.to_string(), None))?;
    Ok(InputRequest::Elicitation(ElicitRequest::new(
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message.into(),
            requested_schema,
        },
    )))
}

/// The text at a place of some JSON, or nothing.
pub(super) fn text_at<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// What is at a place of some JSON.
pub(super) fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

/// A finished call whose result is its content.
pub(super) fn shown<const N: usize>(blocks: [ContentBlock; N]) -> Outcome<()> {
    Outcome::Completed(Done {
        value: (),
        receipt: None,
        content: Some(blocks.into()),
    })
}

/// A schema as it is written.
pub(super) fn verbatim(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(members) => Arc::new(members),
        _ => Arc::default(),
    }
}
