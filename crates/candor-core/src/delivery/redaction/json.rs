//! Strings inside a JSON value.

use std::borrow::Cow;
use std::mem;

use serde_json::{Map, Value};

use super::assignment::{LEAST_QUOTED, after_scheme, is_authorization};
use super::change::{Change, Redacted, RedactionKind, holds_mask, mask_end, tally};
use super::encoded::{is_base64, is_data_uri};
use super::known::{KnownSecrets, find_known, known};
use super::least::least;
use super::names::is_secret_name;
use super::scan::{masked, text};
use super::values;

/// Members that hold the bytes of an image, a sound or a resource in MCP's content blocks.
pub(super) const BLOB_MEMBERS: &[&str] = &["data", "blob"];

/// Masks the credentials in a JSON value.
///
/// Every string is treated as [`masked`] treats it, member names included. A string of 8 bytes or more whose member
/// name is a secret's (also inside an array under that name) is masked whole, whatever its format: an argument
/// `password` may hold anything. Numbers, booleans and null never change, but for a number that is itself a known
/// secret; nor do data URIs, what is masked already, and base64 in `data` or `blob` beside a `mimeType`.
#[must_use]
pub fn json(value: &Value, secrets: &KnownSecrets) -> Redacted<Value> {
    json_owned(value.clone(), secrets)
}

/// As [`json`], for a value that nobody else needs: copying one takes longer than looking through it.
#[must_use]
pub fn json_owned(value: Value, secrets: &KnownSecrets) -> Redacted<Value> {
    walk(value, secrets, Strings::Masked)
}

/// Masks known secrets in a JSON value and changes nothing else: for what Candor put together from parts that are
/// redacted already.
#[must_use]
pub fn known_json(value: Value, secrets: &KnownSecrets) -> Value {
    if secrets.is_empty() {
        return value;
    }
    walk(value, secrets, Strings::Known).value
}

/// What is done to each string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strings {
    /// Known secrets are masked, and names of members mean nothing.
    Known,
    /// Credentials are masked.
    Masked,
    /// All that [`least`] does.
    Least,
}

/// Redacts every string of a value, in place.
pub(super) fn walk(mut value: Value, secrets: &KnownSecrets, strings: Strings) -> Redacted<Value> {
    let mut walk = Walk {
        secrets,
        strings,
        changes: Vec::new(),
    };
    walk.value(&mut value, Place::Anywhere);
    Redacted {
        value,
        changes: walk.changes,
    }
}

struct Walk<'s> {
    secrets: &'s KnownSecrets,
    strings: Strings,
    changes: Vec<Change>,
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

impl Walk<'_> {
    /// Recursion is bounded by the depth that the value was parsed or built with.
    fn value(&mut self, value: &mut Value, place: Place<'_>) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if is_known(number.as_str(), self.secrets) {
                    tally(&mut self.changes, RedactionKind::KnownSecret, 1);
                    *value = RedactionKind::KnownSecret.mask().into();
                }
            }
            Value::String(string) => {
                if let Some(redacted) = self.string(string, place) {
                    *string = redacted;
                }
            }
            Value::Array(items) => {
                let place = match place {
                    Place::Secret(name) | Place::SecretList(name) => Place::SecretList(name),
                    Place::Anywhere => Place::Anywhere,
                };
                for item in items {
                    self.value(item, place);
                }
            }
            Value::Object(members) => self.members(members),
        }
    }

    fn members(&mut self, members: &mut Map<String, Value>) {
        let is_block = members
            .iter()
            .any(|(name, value)| name == "mimeType" && value.is_string());
        let mut renamed = Vec::new();
        for (position, (name, value)) in members.iter_mut().enumerate() {
            let is_blob =
                is_block && BLOB_MEMBERS.contains(&name.as_str()) && value.as_str().is_some_and(is_base64);
            let place = if self.strings != Strings::Known && names_secret(name, self.secrets) {
                Place::Secret(name)
            } else {
                Place::Anywhere
            };
            if !is_blob {
                self.value(value, place);
            }
            if let Some(name) = self.string(name, Place::Anywhere) {
                renamed.push((position, name));
            }
        }
        if !renamed.is_empty() {
            rename(members, renamed);
        }
    }

    /// What is to stand instead of a string; `None` where it stays.
    fn string(&mut self, string: &str, place: Place<'_>) -> Option<String> {
        let secret_name = match place {
            Place::Secret(name) => Some(name),
            Place::SecretList(name) => (!values::is_sentence(string)).then_some(name),
            Place::Anywhere => None,
        };
        if let Some(name) = secret_name
            && string.len() >= LEAST_QUOTED
            && let Some(masked) = mask_whole(name, string, &mut self.changes)
        {
            return Some(masked);
        }
        let redacted = match self.strings {
            Strings::Known => known(string, self.secrets),
            Strings::Masked => masked(string, self.secrets),
            Strings::Least => least(string, self.secrets),
        };
        for change in &redacted.changes {
            tally(&mut self.changes, change.kind, change.count);
        }
        match redacted.value {
            Cow::Owned(value) => Some(value),
            Cow::Borrowed(_) => None,
        }
    }
}

/// Gives the members at these positions, in order, their new names.
fn rename(members: &mut Map<String, Value>, renamed: Vec<(usize, String)>) {
    let mut renamed = renamed.into_iter().peekable();
    for (position, (name, value)) in mem::take(members).into_iter().enumerate() {
        let mut name = renamed
            .next_if(|(at, _)| *at == position)
            .map_or(name, |(_, name)| name);
        if members.contains_key(&name) {
            // Two names that masking made equal: both members stay.
            name = format!("{name} {position}");
        }
        members.insert(name, value);
    }
}

/// Whether a member's name says that its value is a secret; a mask in it says that of something else.
pub(super) fn names_secret(name: &str, secrets: &KnownSecrets) -> bool {
    (is_secret_name(name) && !holds_mask(name)) || secrets.adds_name(name)
}

/// Whether all of `text` is a known secret.
pub(super) fn is_known(text: &str, secrets: &KnownSecrets) -> bool {
    matches!(find_known(text, secrets).as_slice(), [found] if found.span == (0..text.len()))
}

/// Masks a whole string under a secret's name; of an authorization header the scheme stays. `None` where the
/// string stands for a secret instead of being one.
fn mask_whole(name: &str, string: &str, changes: &mut Vec<Change>) -> Option<String> {
    let (kind, offset) = match after_scheme(string) {
        Some(found) if is_authorization(name) => found,
        _ => (RedactionKind::NamedSecret, 0),
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
