//! Any text and any JSON value: masked once and for all, nothing else lost, a planted credential never left. An input
//! is a text, or a text, `---`, and values known to be secret, one a line.

use candor_core::delivery::redaction::{KnownSecrets, escape_invisible, json, known, text as redact};
use serde_json::Value;

use crate::broken::{Broken, law};
use crate::input::{parts, text};

/// Words that redaction reacts to.
pub(crate) const WORDS: &[&str] = &[
    "password",
    "token",
    "api_key=",
    "Authorization: ",
    "Cookie: ",
    "Bearer ",
    "Basic ",
    "Digest ",
    "realm=\"x\"",
    "--token ",
    "密码：",
    " = ",
    ": ",
    "=>",
    "\\\"",
    "'",
    "`",
    "?",
    "&sig=",
    "%20",
    "\\n",
    "\u{1b}[31m",
    "\u{200b}",
    "\u{202e}",
    "https://u:p@h/",
    "postgres://",
    "ghp_",
    "sk-",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx",
    "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "[masked: secret]",
    "[masked: ",
    "***",
    "${X}",
    "null",
    "data:image/png;base64,AAAA",
    "\"mimeType\":\"a/b\",\"data\":\"AAAA\"",
    "{\"password\":[\"hunter22222\"]}",
    "must be",
    "\n",
    "é",
    "…",
];

/// A credential whose format nothing else has.
const TOKEN: &str = "ghp_Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8";
/// The longest mask, in bytes: no text grows by more than this for each of its bytes.
const LONGEST_MASK: usize = 40;

/// Shortest value that is taken as a secret, in bytes.
const LEAST_KNOWN: usize = 8;
/// The mask of a known value.
const MASK: &str = "[masked: known secret]";

/// Holds one input against the target's laws.
pub(crate) fn check(input: &[u8]) -> Result<(), Broken> {
    let text = text(input);
    let [text, secrets] = parts(&text);
    masked_text(text)?;
    let planted = format!("{text}\n{TOKEN}\n{text}");
    let after = redact(&planted).value;
    law(
        "a credential on a line of its own is found",
        !after.contains(TOKEN),
        || after.to_string(),
    )?;
    known_values(text, secrets)?;
    let escaped = escape_invisible(text);
    law(
        "what is invisible is escaped once",
        escape_invisible(&escaped) == escaped,
        || escaped.to_string(),
    )?;
    let value = serde_json::from_str::<Value>(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    masked_value(&value)
}

fn masked_text(text: &str) -> Result<(), Broken> {
    let once = redact(text);
    let twice = redact(&once.value);
    let settled = twice.value == once.value && twice.changes.is_empty();
    law("a text is masked once and for all", settled, || {
        format!("{:?}, then {:?}", once.value, twice.value)
    })?;
    law(
        "changes are told, and only changes",
        once.changes.is_empty() == (once.value == text),
        || format!("{once:?} of {text:?}"),
    )?;
    let bounded = once.value.len() <= (text.len() + 1) * LONGEST_MASK;
    law("masks do not multiply", bounded, || {
        format!("{} bytes of {}", once.value.len(), text.len())
    })
}

fn known_values(text: &str, secrets: &str) -> Result<(), Broken> {
    let secrets: Vec<&str> = secrets.lines().take(4).map(str::trim).collect();
    let known_here = KnownSecrets::new(&secrets);
    let once = known(text, &known_here);
    let twice = known(&once.value, &known_here);
    let settled = twice.value == once.value && twice.changes.is_empty();
    law("known values are masked once and for all", settled, || {
        format!("{:?}, then {:?}", once.value, twice.value)
    })?;
    // A value that reads like a part of a mask is in every mask.
    let plain = |secret: &str| {
        secret.len() >= LEAST_KNOWN
            && secret.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !MASK.contains(secret)
    };
    let left = secrets
        .iter()
        .find(|secret| plain(secret) && once.value.contains(**secret));
    law("a known value is left nowhere", left.is_none(), || {
        format!("{left:?} in {:?}", once.value)
    })
}

fn masked_value(value: &Value) -> Result<(), Broken> {
    let once = json(value);
    let twice = json(&once.value);
    let settled = twice.value == once.value && twice.changes.is_empty();
    law("a value is masked once and for all", settled, || {
        format!("{}, then {}", once.value, twice.value)
    })?;
    law(
        "changes of a value are told, and only changes",
        once.changes.is_empty() == (once.value == *value),
        || format!("{once:?} of {value}"),
    )?;
    law(
        "only strings of a value change",
        same_but_strings(value, &once.value),
        || format!("{} of {value}", once.value),
    )
}

fn same_but_strings(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::String(_), Value::String(_)) => true,
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len()
                && before
                    .iter()
                    .zip(after)
                    .all(|(one, other)| same_but_strings(one, other))
        }
        (Value::Object(before), Value::Object(after)) => {
            before.len() == after.len()
                && before
                    .values()
                    .zip(after.values())
                    .all(|(one, other)| same_but_strings(one, other))
        }
        (before, after) => before == after,
    }
}
