//! Single phrases for single keywords: bounds, formats, patterns.

use jsonschema::JsonType;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value};

use super::findings::Wanted;
use super::received::{plain, received};

/// Longest `expected` or hint, in characters.
const MAX_CHARS: usize = 240;
/// Longest description or example taken over, in characters.
pub(super) const MAX_BORROWED: usize = 60;
/// Longest pattern shown, in characters.
const MAX_PATTERN: usize = 120;

/// What a schema wants that says nothing about it.
pub(super) const UNDESCRIBED: &str = "a value";

/// The JSON types in the order in which they are named.
pub(super) const TYPES: [JsonType; 7] = [
    JsonType::String,
    JsonType::Integer,
    JsonType::Number,
    JsonType::Boolean,
    JsonType::Array,
    JsonType::Object,
    JsonType::Null,
];

/// The keywords that hold at one place, of the part itself and of what it always includes.
pub(super) struct Facets<'s>(pub(super) Vec<&'s Map<String, Value>>);

impl<'s> Facets<'s> {
    /// The first value for `keyword`.
    pub(super) fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.0.iter().find_map(|part| part.get(keyword))
    }

    /// The first text for `keyword`.
    pub(super) fn text(&self, keyword: &str) -> Option<&'s str> {
        self.get(keyword).and_then(Value::as_str)
    }

    fn number(&self, keyword: &str) -> Option<String> {
        self.get(keyword)
            .filter(|value| value.is_number())
            .map(|value| plain(&value.to_string(), 40))
    }
}

/// `text` cut to the longest that an issue may say.
pub(super) fn cut(text: &str) -> String {
    plain(text, MAX_CHARS)
}

/// "a", "a or b", "a, b or c"; each only once.
pub(super) fn joined(words: &[String]) -> String {
    let mut once: Vec<&str> = Vec::new();
    for word in words {
        if !once.contains(&word.as_str()) {
            once.push(word);
        }
    }
    match once.as_slice() {
        [] => UNDESCRIBED.to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// " and 3 more", or nothing.
pub(super) fn more(all: usize, shown: usize) -> String {
    if all > shown {
        format!(" and {} more", all - shown)
    } else {
        String::new()
    }
}

/// The types by their JSON names.
pub(super) fn type_names(wanted: Wanted) -> String {
    let names: Vec<String> = TYPES
        .iter()
        .filter(|kind| wanted.admits(**kind))
        .map(|kind| article(*kind).to_owned())
        .collect();
    joined(&names)
}

fn article(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "an array",
        JsonType::Object => "an object",
    }
}

/// The types that `type` names.
pub(super) fn declared_types(facets: &Facets<'_>) -> Vec<JsonType> {
    let named = |value: &Value| {
        value
            .as_str()
            .and_then(|name| TYPES.into_iter().find(|kind| kind.as_str() == name))
    };
    match facets.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(named).collect(),
        Some(kind) => named(kind).into_iter().collect(),
        None => Vec::new(),
    }
}

/// `noun` with the bounds that hold for it.
pub(super) fn number_words(noun: &str, facets: &Facets<'_>) -> String {
    let bounds = match (facets.number("minimum"), facets.number("maximum")) {
        (Some(low), Some(high)) => format!(" from {low} to {high}"),
        (Some(low), None) => format!(" of at least {low}"),
        (None, Some(high)) => format!(" of at most {high}"),
        (None, None) => String::new(),
    };
    let above = facets
        .number("exclusiveMinimum")
        .map_or_else(String::new, |low| format!(" greater than {low}"));
    let below = facets
        .number("exclusiveMaximum")
        .map_or_else(String::new, |high| format!(" less than {high}"));
    let multiple = facets
        .number("multipleOf")
        .map_or_else(String::new, |step| format!(", a multiple of {step}"));
    let and = if above.is_empty() || below.is_empty() {
        ""
    } else {
        " and"
    };
    format!("{noun}{bounds}{above}{and}{below}{multiple}")
}

/// What a string must look like.
pub(super) fn string_words(facets: &Facets<'_>) -> String {
    if let Some(format) = facets.text("format") {
        return format_words(format);
    }
    if facets.text("pattern").is_some() {
        return pattern_words(facets).0;
    }
    format!(
        "a string{}",
        range_words(facets, "minLength", "maxLength", "character", "characters")
    )
}

/// " of 1 to 5 items" and the like.
pub(super) fn range_words(facets: &Facets<'_>, low: &str, high: &str, one: &str, many: &str) -> String {
    let noun = |count: &str| {
        if count == "1" {
            one.to_owned()
        } else {
            many.to_owned()
        }
    };
    match (facets.number(low), facets.number(high)) {
        (Some(low), Some(high)) if low == high => format!(" of exactly {low} {}", noun(&low)),
        (Some(low), Some(high)) => format!(" of {low} to {high} {many}"),
        (Some(low), None) => format!(" of at least {low} {}", noun(&low)),
        (None, Some(high)) => format!(" of at most {high} {}", noun(&high)),
        (None, None) => String::new(),
    }
}

/// How many fitting items `contains` asks for.
pub(super) fn contains_count(facets: &Facets<'_>) -> String {
    match (facets.number("minContains"), facets.number("maxContains")) {
        (Some(low), Some(high)) => format!("{low} to {high} items"),
        (Some(low), None) => format!("at least {low} items"),
        (None, Some(high)) => format!("at most {high} items"),
        (None, None) => "at least one among the items".to_owned(),
    }
}

/// Keywords that need no more than their own part of the schema: expected words and a hint.
pub(super) fn of_kind(kind: &ValidationErrorKind, facets: &Facets<'_>) -> (String, Option<String>) {
    use ValidationErrorKind as Kind;
    let expected = match kind {
        Kind::Minimum { .. }
        | Kind::Maximum { .. }
        | Kind::ExclusiveMinimum { .. }
        | Kind::ExclusiveMaximum { .. }
        | Kind::MultipleOf { .. } => {
            let integer = declared_types(facets).contains(&JsonType::Integer);
            number_words(if integer { "an integer" } else { "a number" }, facets)
        }
        Kind::MinLength { .. } | Kind::MaxLength { .. } => {
            format!(
                "a string{}",
                range_words(facets, "minLength", "maxLength", "character", "characters")
            )
        }
        Kind::MinItems { .. } | Kind::MaxItems { .. } => {
            format!(
                "an array{}",
                range_words(facets, "minItems", "maxItems", "item", "items")
            )
        }
        Kind::MinProperties { .. } | Kind::MaxProperties { .. } => {
            format!(
                "an object{}",
                range_words(facets, "minProperties", "maxProperties", "member", "members")
            )
        }
        Kind::Pattern { .. } => return pattern_words(facets),
        Kind::Format { format } => format_words(format),
        Kind::AdditionalItems { limit } => format!("at most {limit} items"),
        Kind::UnevaluatedItems { .. } => "no further items".to_owned(),
        Kind::UniqueItems => "items that all differ".to_owned(),
        Kind::FalseSchema => "nothing here".to_owned(),
        Kind::OneOfMultipleValid { context } => {
            format!(
                "a value that fits exactly one of {} alternatives; it fits several",
                context.len()
            )
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            format!("a value that fits one of {} alternatives", context.len())
        }
        Kind::Constant { expected_value } => received(expected_value, ""),
        Kind::Enum { options } => format!("one of {}", received(options, "")),
        Kind::ContentEncoding { content_encoding } => format!("text in {}", plain(content_encoding, 40)),
        Kind::ContentMediaType { content_media_type } => {
            format!("text of media type {}", plain(content_media_type, 40))
        }
        Kind::Type { kind } => type_names(kind.into()),
        other => format!("a value that keeps the schema's {}", plain(other.keyword(), 40)),
    };
    (expected, None)
}

/// What a pattern is meant to say: a date's template or an example tells more than the pattern, which then follows
/// as the hint.
fn pattern_words(facets: &Facets<'_>) -> (String, Option<String>) {
    let pattern = plain(facets.text("pattern").unwrap_or_default(), MAX_PATTERN);
    let hint = Some(format!("pattern {pattern}"));
    let described = facets
        .text("description")
        .or_else(|| facets.text("title"))
        .unwrap_or_default();
    if let Some(template) = template(described) {
        return (template.to_owned(), hint);
    }
    if let Some(format) = facets.text("format") {
        return (format_words(format), hint);
    }
    let example = facets
        .get("examples")
        .and_then(Value::as_array)
        .and_then(|examples| examples.first());
    if let Some(example) = example
        .and_then(Value::as_str)
        .filter(|text| text.chars().count() <= MAX_BORROWED)
    {
        return (
            format!("a string like \"{}\"", plain(example, MAX_BORROWED)),
            hint,
        );
    }
    if is_telling(described) {
        return (plain(described, MAX_BORROWED), hint);
    }
    (format!("a string that matches {pattern}"), None)
}

/// Short, and says how the value is written rather than what it is.
fn is_telling(description: &str) -> bool {
    let lower = description.to_lowercase();
    let marks = [
        "e.g.",
        "for example",
        "such as",
        " like ",
        "format",
        "digit",
        "letters",
        "must ",
        "starts with",
    ];
    description.chars().count() <= MAX_BORROWED && marks.iter().any(|mark| lower.contains(mark))
}

/// A template for a date or time in a description: `dd/mm/yyyy`, `YYYY-MM-DD`, `HH:MM`.
fn template(description: &str) -> Option<&str> {
    description
        .split(|letter: char| letter.is_whitespace() || "\"'`()[]<>,;=".contains(letter))
        .map(|token| token.trim_matches(|letter: char| !letter.is_ascii_alphabetic()))
        .find(|token| {
            let groups: Vec<&str> = token
                .split(['/', '-', '.', ':', 'T'])
                .filter(|group| !group.is_empty())
                .collect();
            token.len() <= 32 && groups.len() >= 2 && groups.iter().all(|group| is_template_group(group))
        })
}

/// One letter of d, m, y, h, s, two to four times.
fn is_template_group(group: &str) -> bool {
    let lower = group.to_ascii_lowercase();
    (2..=4).contains(&lower.len())
        && ["d", "m", "y", "h", "s"]
            .iter()
            .any(|letter| lower.trim_matches(|other| letter.contains(other)).is_empty())
}

fn format_words(format: &str) -> String {
    let words = match format {
        "date" => "a date, yyyy-mm-dd",
        "date-time" => "a date and time with offset, like 2026-01-31T09:30:00Z",
        "time" => "a time with offset, like 09:30:00Z",
        "duration" => "an ISO 8601 duration, like P3DT4H",
        "email" | "idn-email" => "an e-mail address",
        "uri" | "iri" => "an absolute URI, with its scheme",
        "uri-reference" | "iri-reference" => "a URI or relative reference",
        "uuid" => "a UUID, like 123e4567-e89b-12d3-a456-426614174000",
        "ipv4" => "an IPv4 address",
        "ipv6" => "an IPv6 address",
        "hostname" | "idn-hostname" => "a host name",
        "regex" => "a regular expression",
        "json-pointer" => "a JSON Pointer, like /a/b",
        other => return format!("a string of format {}", plain(other, 40)),
    };
    format!("{words} (format {format})")
}
