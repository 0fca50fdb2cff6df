//! Strings inside a JSON value.

use serde_json::{Map, Value};

use super::assignment::{LEAST_QUOTED, after_scheme, is_authorization};
use super::change::{Change, CredentialKind, Redacted, holds_mask, mask_end, tally};
use super::encoded::{is_base64, is_data_uri};
use super::names::is_secret_name;
use super::scan::text;
use super::values;

/// Members that hold the bytes of an image, a sound or a resource in MCP's content blocks.
const BLOB_MEMBERS: &[&str] = &["data", "blob"];

/// Masks the credentials in a JSON value.
///
/// Every string is treated as [`text`] treats it, member names included. A string of 8 bytes or more whose member
/// name is a secret's (also inside an array under that name) is masked whole, whatever its format: an argument
/// `password` may hold anything. Numbers, booleans and null never change, nor do data URIs, what is masked
/// already, and base64 in `data` or `blob` beside a `mimeType`.
#[must_use]
pub fn json(value: &Value) -> Redacted<Value> {
    let mut changes = Vec::new();
    let value = redact(value, Place::Anywhere, &mut changes);
    Redacted { value, changes }
}

/// Where a value stands.
#[derive(Debug, Clone, Copy)]
enum Place<'a> {
    Anywhere,
    /// Under this name, which is a secret's.
    Secret(&'a str),
    /// In an array under this name, which is a secret's. Servers list complaints about a field the same way, so
    /// sentences pass.
    SecretList(&'a str),
}

/// Recursion is bounded by the depth that the value was parsed or built with.
fn redact(value: &Value, place: Place<'_>, changes: &mut Vec<Change>) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(string) => Value::String(redact_string(string, place, changes)),
        Value::Array(items) => {
            let place = match place {
                Place::Secret(name) | Place::SecretList(name) => Place::SecretList(name),
                Place::Anywhere => Place::Anywhere,
            };
            Value::Array(items.iter().map(|item| redact(item, place, changes)).collect())
        }
        Value::Object(members) => Value::Object(redact_members(members, changes)),
    }
}

fn redact_members(members: &Map<String, Value>, changes: &mut Vec<Change>) -> Map<String, Value> {
    let is_block = members.get("mimeType").is_some_and(Value::is_string);
    let mut redacted = Map::new();
    for (position, (name, value)) in members.iter().enumerate() {
        let is_blob =
            is_block && BLOB_MEMBERS.contains(&name.as_str()) && value.as_str().is_some_and(is_base64);
        // A mask in a name says "secret" of something else.
        let is_secret = is_secret_name(name) && !holds_mask(name);
        let place = if is_secret {
            Place::Secret(name)
        } else {
            Place::Anywhere
        };
        let value = if is_blob {
            value.clone()
        } else {
            redact(value, place, changes)
        };
        let mut name = redact_string(name, Place::Anywhere, changes);
        if redacted.contains_key(&name) {
            // Two names that masking made equal: both members stay.
            name = format!("{name} {position}");
        }
        redacted.insert(name, value);
    }
    redacted
}

fn redact_string(string: &str, place: Place<'_>, changes: &mut Vec<Change>) -> String {
    let secret_name = match place {
        Place::Secret(name) => Some(name),
        Place::SecretList(name) => (!values::is_sentence(string)).then_some(name),
        Place::Anywhere => None,
    };
    if let Some(name) = secret_name
        && string.len() >= LEAST_QUOTED
        && let Some(masked) = mask_whole(name, string, changes)
    {
        return masked;
    }
    let redacted = text(string);
    for change in &redacted.changes {
        tally(changes, change.kind, change.count);
    }
    redacted.value.into_owned()
}

/// Masks a whole string under a secret's name; of an authorization header the scheme stays. `None` where the
/// string stands for a secret instead of being one.
fn mask_whole(name: &str, string: &str, changes: &mut Vec<Change>) -> Option<String> {
    let (kind, offset) = match after_scheme(string) {
        Some(found) if is_authorization(name) => found,
        _ => (CredentialKind::NamedSecret, 0),
    };
    let (scheme, credentials) = string.split_at_checked(offset)?;
    let stands_for_secret = mask_end(credentials, 0) == Some(credentials.len())
        || values::is_masked(credentials)
        || values::is_placeholder(credentials)
        || is_data_uri(credentials);
    // A filler beside a credential covers nothing.
    if stands_for_secret && text(string).changes.is_empty() {
        return None;
    }
    tally(changes, kind, 1);
    Some(format!("{scheme}{}", kind.mask()))
}
