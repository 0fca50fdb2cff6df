//! Frames as bytes: where their ids are, and whether two differ only in what Candor may change.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::{Value, value::RawValue};

type Members<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// Where the protocol puts ids, as paths into a frame. These a proxy may renumber.
const IDS: &[&[&str]] = &[
    &["id"],
    &["params", "requestId"],
    &["params", "progressToken"],
    &["params", "_meta", "progressToken"],
    &["params", "_meta", "io.modelcontextprotocol/subscriptionId"],
    &["result", "_meta", "io.modelcontextprotocol/subscriptionId"],
];

/// The raw member at this path.
pub(crate) fn raw_at<'a>(json: &'a str, path: &[&str]) -> Option<&'a str> {
    let (first, rest) = path.split_first()?;
    let member = serde_json::from_str::<Members<'a>>(json).ok()?.get(*first)?.get();
    if rest.is_empty() {
        Some(member)
    } else {
        raw_at(member, rest)
    }
}

/// The frame's id, raw.
pub(crate) fn id(line: &str) -> Option<&str> {
    raw_at(line, &["id"])
}

/// The frame under another raw id, wherever its own stands, and nothing else changed.
pub(crate) fn with_id(line: &str, id: &str) -> String {
    let own = self::id(line);
    replaced(line, id, |raw| Some(raw) == own)
}

/// The frame's method.
pub(crate) fn method(line: &str) -> Option<String> {
    serde_json::from_str(raw_at(line, &["method"])?).ok()
}

/// The frame as a value.
pub(crate) fn value(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|fault| panic!("not JSON: {fault}: {line}"))
}

/// The frame with a mark in place of every id: equal for two frames that differ in their ids only.
pub(crate) fn without_ids(line: &str) -> String {
    replaced(line, "<id>", |_| true)
}

/// The frame with another text in place of those ids that are wanted.
fn replaced(line: &str, by: &str, is_wanted: impl Fn(&str) -> bool) -> String {
    // The whole line is parsed once: some fixtures write lines of many megabytes.
    let top: Members<'_> = serde_json::from_str(line).unwrap_or_default();
    let mut spans = Vec::new();
    for path in IDS {
        let (first, rest) = path.split_first().unwrap();
        let member = top.get(*first).map(|member| member.get());
        let raw = member.and_then(|member| {
            if rest.is_empty() {
                Some(member)
            } else {
                raw_at(member, rest)
            }
        });
        spans.extend(raw.filter(|raw| is_wanted(raw)).map(|raw| span(line, raw)));
    }
    spans.sort_unstable();
    let mut made = String::with_capacity(line.len());
    let mut from = 0;
    for (start, end) in spans {
        made.push_str(&line[from..start]);
        made.push_str(by);
        from = end;
    }
    made.push_str(&line[from..]);
    made
}

/// Where a slice of a text stands in it.
fn span(whole: &str, part: &str) -> (usize, usize) {
    let start = part.as_ptr() as usize - whole.as_ptr() as usize;
    (start, start + part.len())
}

/// What was put into `original` to make `delivered`, if it is one piece.
pub(crate) fn one_insertion<'a>(original: &str, delivered: &'a str) -> Option<&'a str> {
    let length = delivered.len().checked_sub(original.len())?;
    let same = |pair: &(u8, u8)| pair.0 == pair.1;
    let before = original.bytes().zip(delivered.bytes()).take_while(same).count();
    let after = original
        .bytes()
        .rev()
        .zip(delivered.bytes().rev())
        .take_while(same)
        .count();
    if before + after < original.len() {
        return None;
    }
    // Where the piece begins with bytes that also follow it, any of the places is right: the last one that fits.
    delivered.get(before..before + length)
}

/// Fails unless `delivered` is `original` byte for byte, but for one piece that holds nothing but `candor/…` members of
/// the result's `_meta`.
pub(crate) fn assert_only_verdict_added(original: &str, delivered: &str) {
    let inserted = one_insertion(original, delivered)
        .unwrap_or_else(|| panic!("more than one piece was changed:\n{original}\n{delivered}"));
    assert!(
        inserted.contains("candor/verdict"),
        "no verdict was put in:\n{original}\n{delivered}"
    );
    let mut bare = value(delivered);
    let meta = bare["result"]["_meta"]
        .as_object_mut()
        .expect("the verdict is in result._meta");
    meta.retain(|key, _| !key.starts_with("candor/"));
    let emptied = meta.is_empty();
    let before = value(original);
    if emptied && before["result"].get("_meta").is_none() {
        bare["result"].as_object_mut().unwrap().shift_remove("_meta");
    }
    assert_eq!(before, bare, "something beside the verdict was put in");
}

#[test]
fn ids_are_blanked_where_the_protocol_puts_them_and_nowhere_else() {
    for (line, expected) in [
        (
            r#"{"id": 7,"params":{"id":8}}"#,
            r#"{"id": <id>,"params":{"id":8}}"#,
        ),
        (
            r#"{"params":{"_meta":{"progressToken":"a"},"requestId":1,"n":1.10}}"#,
            r#"{"params":{"_meta":{"progressToken":<id>},"requestId":<id>,"n":1.10}}"#,
        ),
        (r#"{"method":"x"}"#, r#"{"method":"x"}"#),
        ("no json", "no json"),
    ] {
        assert_eq!(without_ids(line), expected);
    }
}

#[test]
fn only_the_id_is_another() {
    let line = r#"{"jsonrpc":"2.0","params":{"id":2},"id":2}"#;
    assert_eq!(
        with_id(line, "\"x\""),
        r#"{"jsonrpc":"2.0","params":{"id":2},"id":"x"}"#
    );
    assert_eq!(with_id("{}", "1"), "{}");
}

#[test]
fn one_piece_put_in_is_found_and_two_are_not() {
    for (original, delivered, expected) in [
        (r#"{"a":1}"#, r#"{"_meta":{},"a":1}"#, Some(r#""_meta":{},"#)),
        (r#"{"a":{}}"#, r#"{"a":{"b":1}}"#, Some(r#""b":1"#)),
        (r#"{"a":1}"#, r#"{"a":1}"#, Some("")),
        (r#"{"a":1,"b":2}"#, r#"{"x":0,"a":1,"y":0,"b":2}"#, None),
        (r#"{"a":1.10}"#, r#"{"a":1.1}"#, None),
    ] {
        let found = one_insertion(original, delivered);
        assert_eq!(
            found.map(str::len),
            expected.map(str::len),
            "{original} {delivered}"
        );
    }
}

#[test]
fn a_verdict_is_the_only_addition_that_passes() {
    let original = r#"{"id":1,"result":{"content":[],"n":1.10}}"#;
    assert_only_verdict_added(
        original,
        r#"{"id":1,"result":{"_meta":{"candor/verdict":{}},"content":[],"n":1.10}}"#,
    );
    let also = r#"{"id":1,"result":{"_meta":{"candor/verdict":{}},"x":1,"content":[],"n":1.10}}"#;
    assert!(std::panic::catch_unwind(|| assert_only_verdict_added(original, also)).is_err());
}
