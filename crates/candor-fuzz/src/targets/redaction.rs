//! Any text and any JSON value: masked once and for all, nothing else lost, a planted credential never left. An input
//! is a text, or a text, `---`, and values known to be secret, one a line.

use std::borrow::Cow;

use candor_core::delivery::redaction::{
    KnownSecrets, Redacted, escape_invisible, json, known, least, least_json, masked, rewritten,
};
use serde_json::Value;

use super::shape::same_but_strings;
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
    let [text, values] = parts(&text);
    let values: Vec<&str> = values.lines().take(4).map(str::trim).collect();
    let secrets = KnownSecrets::new(&values);
    settled(
        text,
        |text| masked(text, &KnownSecrets::default()),
        "a text is masked once and for all",
    )?;
    settled(
        text,
        |text| known(text, &secrets),
        "known values are masked once and for all",
    )?;
    settled(
        text,
        |text| masked(text, &secrets),
        "both are masked once and for all",
    )?;
    settled(
        text,
        |text| least(text, &secrets),
        "a text says the least once and for all",
    )?;
    nothing_is_left(text, &values, &secrets)?;
    let escaped = escape_invisible(text);
    law(
        "what is invisible is escaped once",
        escape_invisible(&escaped) == escaped,
        || escaped.to_string(),
    )?;
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        rewritten_in_place(text, &value, &secrets)?;
        return masked_value(&value, &secrets);
    }
    masked_value(&Value::String(text.to_owned()), &secrets)
}

/// A rule that is done twice does nothing the second time, and tells what it did the first.
fn settled(
    text: &str,
    rule: impl for<'t> Fn(&'t str) -> Redacted<Cow<'t, str>>,
    name: &'static str,
) -> Result<(), Broken> {
    let once = rule(text);
    let twice = rule(&once.value);
    law(
        name,
        twice.value == once.value && twice.changes.is_empty(),
        || format!("{:?}, then {:?}", once.value, twice.value),
    )?;
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

fn nothing_is_left(text: &str, values: &[&str], secrets: &KnownSecrets) -> Result<(), Broken> {
    let planted = format!("{text}\n{TOKEN}\n{text}");
    let after = masked(&planted, secrets).value;
    law(
        "a credential on a line of its own is found",
        !after.contains(TOKEN),
        || after.to_string(),
    )?;
    // A value that reads like a part of a mask is in every mask.
    let plain = |secret: &str| {
        secret.len() >= LEAST_KNOWN
            && secret.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !MASK.contains(secret)
    };
    let left = values
        .iter()
        .find(|secret| plain(secret) && after.contains(**secret));
    law("a known value is left nowhere", left.is_none(), || {
        format!("{left:?} in {after:?}")
    })
}

/// JSON that stays as it was written but for single strings: still JSON, of the same shape, and only once.
fn rewritten_in_place(text: &str, value: &Value, secrets: &KnownSecrets) -> Result<(), Broken> {
    let once = rewritten(text, secrets);
    let after: Result<Value, _> = serde_json::from_str(&once);
    let shaped = after.is_ok_and(|after| same_but_strings(value, &after));
    law("JSON that is rewritten keeps its shape", shaped, || {
        format!("{once} of {text}")
    })?;
    let twice = rewritten(&once, secrets);
    law("JSON is rewritten once and for all", twice == once, || {
        format!("{once}, then {twice}")
    })
}

fn masked_value(value: &Value, secrets: &KnownSecrets) -> Result<(), Broken> {
    for rule in [json, least_json] {
        let once = rule(value, secrets);
        let twice = rule(&once.value, secrets);
        let settled = twice.value == once.value && twice.changes.is_empty();
        law("a value is masked once and for all", settled, || {
            format!("{}, then {}", once.value, twice.value)
        })?;
        let told = once.changes.is_empty() == (once.value == *value);
        law("changes of a value are told, and only changes", told, || {
            format!("{once:?} of {value}")
        })?;
        law(
            "a value keeps its shape",
            same_but_strings(value, &once.value),
            || format!("{} of {value}", once.value),
        )?;
    }
    Ok(())
}
