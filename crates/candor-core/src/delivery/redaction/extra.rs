//! What an operator adds to the rules of redaction: names whose values are secret, and formats of their own.

use std::fmt;
use std::ops::Range;

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::change::{holds_mask, mask_end};

/// Longest pattern, in bytes.
const LONGEST_PATTERN: usize = 200;
/// Largest compiled pattern, in bytes.
const COMPILED_SIZE: usize = 256 * 1024;
/// Shorter finds are words and numbers, and stay, in bytes.
const LEAST_FOUND: usize = 6;
/// Values of one call that are taken as secrets for the names they stand under.
const MOST_NAMED: usize = 64;

/// Names and patterns beside those that Candor knows by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extra {
    names: Vec<String>,
    patterns: Vec<SecretPattern>,
}

/// The format of a secret, as an operator wrote it. Cheap to clone.
#[derive(Clone)]
pub struct SecretPattern(Regex);

/// Why a text is no such pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretPatternFault {
    /// Longer than allowed.
    #[error("a pattern has at most {LONGEST_PATTERN} bytes")]
    TooLong,
    /// Nothing that can be compiled.
    #[error("not a regular expression, or too large a one")]
    NotAPattern,
    /// It would mask nothing, or everything.
    #[error("this pattern fits the empty text; the format of a secret has at least {LEAST_FOUND} characters")]
    FitsEmpty,
}

impl SecretPattern {
    /// Compiles a regular expression. It fits wherever a text holds it; finds under 6 bytes are left.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn compile(source: &str) -> Result<Self, SecretPatternFault> {
        if source.len() > LONGEST_PATTERN {
            return Err(SecretPatternFault::TooLong);
        }
        let regex = RegexBuilder::new(source)
            .size_limit(COMPILED_SIZE)
            .dfa_size_limit(COMPILED_SIZE)
            .build()
            .map_err(|_| SecretPatternFault::NotAPattern)?;
        if regex.is_match("") {
            return Err(SecretPatternFault::FitsEmpty);
        }
        Ok(Self(regex))
    }
}

impl PartialEq for SecretPattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for SecretPattern {}

impl fmt::Debug for SecretPattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SecretPattern({:?})", self.0.as_str())
    }
}

impl Extra {
    /// These names and patterns.
    pub fn new(names: impl IntoIterator<Item = String>, patterns: Vec<SecretPattern>) -> Self {
        let mut names: Vec<String> = names.into_iter().map(|name| plain(&name)).collect();
        names.sort_unstable();
        names.dedup();
        Self { names, patterns }
    }

    /// Both, together.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.patterns.extend(other.patterns.iter().cloned());
        Self::new(
            self.names.into_iter().chain(other.names.iter().cloned()),
            self.patterns,
        )
    }

    /// Is there nothing in it?
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.patterns.is_empty()
    }

    /// The names, as they are compared.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The patterns, as they were written.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(|pattern| pattern.0.as_str())
    }

    /// Is a value under this name a secret?
    pub(super) fn names_secret(&self, name: &str) -> bool {
        !self.names.is_empty() && !holds_mask(name) && self.names.binary_search(&plain(name)).is_ok()
    }

    /// Where the patterns fit in a text; masks themselves are never looked into.
    pub(super) fn spans(&self, input: &str) -> Vec<Range<usize>> {
        if self.patterns.is_empty() {
            return Vec::new();
        }
        let masks: Vec<Range<usize>> = input
            .match_indices('[')
            .filter_map(|(opening, _)| Some(opening..mask_end(input, opening)?))
            .collect();
        let free = |span: &Range<usize>| {
            span.len() >= LEAST_FOUND
                && masks
                    .iter()
                    .all(|mask| span.end <= mask.start || mask.end <= span.start)
        };
        self.patterns
            .iter()
            .flat_map(|pattern| pattern.0.find_iter(input))
            .map(|found| found.range())
            .filter(free)
            .collect()
    }

    /// The strings and numbers that stand under one of the names.
    pub(super) fn values_in(&self, value: &Value) -> Vec<String> {
        let mut out = Vec::new();
        if !self.names.is_empty() {
            self.gather(value, false, &mut out);
        }
        out
    }

    /// Recursion is bounded by the depth that the value was parsed with.
    fn gather(&self, value: &Value, secret: bool, out: &mut Vec<String>) {
        if out.len() >= MOST_NAMED {
            return;
        }
        match value {
            Value::String(text) if secret => out.push(text.clone()),
            Value::Number(number) if secret => out.push(number.to_string()),
            Value::Array(items) => items.iter().for_each(|item| self.gather(item, secret, out)),
            Value::Object(members) => members
                .iter()
                .for_each(|(name, value)| self.gather(value, self.names_secret(name), out)),
            _ => {}
        }
    }
}

/// Case, hyphens and blanks make no other name.
fn plain(name: &str) -> String {
    name.to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{KnownSecrets, json as json_of, known, masked, raw};
    use super::*;

    fn secrets() -> KnownSecrets {
        KnownSecrets::default().with_extra(Extra::new(
            ["dial_in".to_owned()],
            vec![SecretPattern::compile("AC[0-9a-f]{8}").unwrap()],
        ))
    }

    #[test]
    fn a_format_is_masked_wherever_it_stands_and_nothing_else_is() {
        let told = known("call AC0123abcd to AC01", &secrets());
        assert_eq!(told.value, "call [masked: known secret] to AC01");
        assert_eq!(known(&told.value, &secrets()).value, told.value, "once is enough");
        let both = masked("AC0123abcd and password=hunter2hunter2", &secrets()).value;
        assert!(
            !both.contains("AC0123abcd") && !both.contains("hunter2"),
            "{both}"
        );
        assert_eq!(known("AC0123abcd", &KnownSecrets::default()).value, "AC0123abcd");
    }

    #[test]
    fn a_value_under_an_added_name_is_masked_in_json() {
        let value =
            json!({ "dial_in": "hush-hush-1", "dial": "hush-hush-1", "n": { "Dial-In": "hush-hush-2" } });
        let told = json_of(&value, &secrets()).value.to_string();
        assert_eq!(told.matches("hush-hush").count(), 1, "{told}");
        assert_eq!(json_of(&value, &KnownSecrets::default()).value, value);
        let told = raw(r#"{"dial_in":"hush-hush-1"}"#, &secrets());
        assert_eq!(told.value.len(), 1);
    }

    #[test]
    fn what_a_call_sends_under_an_added_name_is_known_for_that_call() {
        let of_call = secrets()
            .with_named_in(r#"{"a":[{"dial_in":["hush-hush-1"]}],"room":"hush-hush-2"}"#)
            .unwrap();
        let told = known("no such key: hush-hush-1, hush-hush-2, AC0123abcd", &of_call).value;
        assert_eq!(
            told,
            "no such key: [masked: known secret], hush-hush-2, [masked: known secret]"
        );
        assert!(secrets().with_named_in(r#"{"room":"hush-hush-2"}"#).is_none());
        assert!(
            KnownSecrets::default()
                .with_named_in(r#"{"dial_in":"hush-hush-1"}"#)
                .is_none()
        );
    }

    #[test]
    fn a_pattern_that_fits_nothing_or_is_none_is_refused() {
        let fault = |source: &str| SecretPattern::compile(source).err();
        assert_eq!(fault("(x"), Some(SecretPatternFault::NotAPattern));
        assert_eq!(fault("x*"), Some(SecretPatternFault::FitsEmpty));
        assert_eq!(fault(&"a".repeat(201)), Some(SecretPatternFault::TooLong));
        assert_eq!(fault("AC[0-9a-f]{32}"), None);
    }
}
