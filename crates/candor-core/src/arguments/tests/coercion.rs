//! What is unwrapped, what is dropped, and what is left alone because it may be meant.

use serde_json::json;

use super::{checked, in_mode, sent, told};
use crate::arguments::{Checked, Mode, Terms, lines};

#[test]
fn only_what_loses_nothing_is_coerced() {
    let one = |kind: &str| json!({ "properties": { "a": { "type": kind } } });
    let coerced = [
        ("number", r#""4711""#, "4711"),
        ("integer", r#""9007199254740993""#, "9007199254740993"),
        ("integer", r#""-3""#, "-3"),
        ("integer", r#""0""#, "0"),
        ("number", r#""3.70""#, "3.70"),
        ("number", r#""-0.5""#, "-0.5"),
        ("boolean", r#""true""#, "true"),
        ("boolean", r#""false""#, "false"),
        ("object", r#""{\"a\":1}""#, r#"{"a":1}"#),
        ("object", r#""{}""#, "{}"),
        ("array", r#""[1, 2]""#, "[1,2]"),
    ];
    for (kind, value, expected) in coerced {
        let arguments = format!("{{\"a\":{value}}}");
        assert_eq!(
            sent(&one(kind), &arguments, &in_mode(Mode::Coerce)),
            format!("{{\"a\":{expected}}}"),
            "{value}"
        );
        let refused = checked(&one(kind), &arguments, &in_mode(Mode::Enforce));
        assert!(refused.coerced.is_none() && refused.total == 1, "{value}");
        let hint = refused.issues[0].hint.as_deref().unwrap();
        assert!(hint.ends_with("itself, not as text, would fit"), "{hint}");
    }
    let refused = [
        ("integer", r#""3.7""#),
        ("integer", r#""5.0""#),
        ("integer", r#""abc""#),
        ("integer", r#""1e3""#),
        ("integer", r#"" 5 ""#),
        ("integer", r#""0x10""#),
        ("integer", r#""007""#),
        ("integer", r#""+5""#),
        ("integer", r#""-0""#),
        ("integer", r#""""#),
        ("number", r#""1e3""#),
        ("number", r#"".5""#),
        ("number", r#""5.""#),
        ("number", r#""-0.0""#),
        ("number", r#""NaN""#),
        ("boolean", r#""yes""#),
        ("boolean", r#""True""#),
        ("boolean", r#""1""#),
        ("boolean", "1"),
        ("object", r#""[]""#),
        ("object", r#""""#),
        ("object", r#""\"{}\"""#),
        ("object", r#""{\"a\":1,\"a\":2}""#),
        ("array", r#""{}""#),
        ("array", r#""1""#),
        ("string", "5"),
    ];
    for (kind, value) in refused {
        let arguments = format!("{{\"a\":{value}}}");
        let checked = checked(&one(kind), &arguments, &in_mode(Mode::Coerce));
        assert!(
            checked.coerced.is_none() && checked.total == 1,
            "{kind} {value}: {checked:?}"
        );
    }
}

#[test]
fn text_that_may_be_meant_as_text_is_never_decoded() {
    let quiet = [
        json!({ "anyOf": [{ "type": "object" }, { "type": "string", "maxLength": 2 }] }),
        json!({ "anyOf": [{ "type": "integer" }, { "enum": ["x"] }] }),
        json!({ "type": ["object", "string"], "maxLength": 2 }),
    ];
    for schema in quiet {
        let checked = checked(
            &json!({ "properties": { "a": schema } }),
            r#"{"a":"{\"a\":1}"}"#,
            &in_mode(Mode::Coerce),
        );
        assert!(checked.coerced.is_none() && checked.total == 1, "{checked:?}");
    }
    let fires = json!({ "properties": { "a": { "anyOf": [{ "type": "object" }, { "type": "null" }] } } });
    assert_eq!(
        sent(&fires, r#"{"a":"{\"a\":1}"}"#, &in_mode(Mode::Coerce)),
        r#"{"a":{"a":1}}"#
    );
}

#[test]
fn an_optional_union_is_coerced_like_its_only_value_branch() {
    let schema =
        json!({ "properties": { "limit": { "anyOf": [{ "type": "integer" }, { "type": "null" }] } } });
    assert_eq!(
        sent(&schema, r#"{"limit":"5"}"#, &in_mode(Mode::Coerce)),
        r#"{"limit":5}"#
    );
    assert_eq!(
        told(&schema, r#"{"limit":"five"}"#, &in_mode(Mode::Coerce)),
        "/limit: expected an integer or null, received \"five\"."
    );
}

#[test]
fn numbers_in_text_inside_a_decoded_object_are_unwrapped_but_not_text_inside_text() {
    let schema = json!({ "properties": { "q": {
        "type": "object", "properties": { "n": { "type": "integer" }, "o": { "type": "object" } }
    } } });
    assert_eq!(
        sent(&schema, r#"{"q":"{\"n\":\"5\"}"}"#, &in_mode(Mode::Coerce)),
        r#"{"q":{"n":5}}"#
    );
    let checked = checked(&schema, r#"{"q":"{\"o\":\"{}\"}"}"#, &in_mode(Mode::Coerce));
    assert_eq!(checked.total, 1);
    assert_eq!(checked.issues[0].path, "/q");
    assert_eq!(
        checked.issues[0].hint.as_deref(),
        Some("read as JSON, /q/o should be an object, not \"{}\"")
    );
}

#[test]
fn nothing_is_coerced_while_something_stays_wrong_and_only_that_is_told() {
    let schema =
        json!({ "properties": { "n": { "type": "integer" }, "s": { "type": "string" } }, "required": ["s"] });
    let checked = checked(&schema, r#"{"n":"5"}"#, &in_mode(Mode::Coerce));
    assert_eq!(checked.coerced, None);
    assert_eq!(checked.total, 1);
    assert_eq!(
        lines(&checked.issues, checked.total, 1000),
        "/s: missing, expected a string."
    );
}

#[test]
fn a_coerced_value_out_of_bounds_is_told_as_it_came() {
    let schema = json!({ "properties": { "n": { "type": "integer", "minimum": 10 } } });
    assert_eq!(
        told(&schema, r#"{"n":"5"}"#, &in_mode(Mode::Coerce)),
        "/n: expected an integer of at least 10, received \"5\" (taken as 5 it is not an integer of at least \
         10 either)."
    );
}

#[test]
fn a_condition_that_shows_only_after_coercion_is_told() {
    let schema = json!({
        "properties": { "n": { "type": "integer" } },
        "if": { "properties": { "n": { "const": 5 } } },
        "then": { "required": ["why"] }
    });
    let checked = checked(&schema, r#"{"n":"5"}"#, &in_mode(Mode::Coerce));
    assert_eq!(checked.coerced, None);
    assert_eq!(
        lines(&checked.issues, checked.total, 1000),
        "/why: missing, expected a value."
    );
    assert_eq!(
        sent(&schema, r#"{"n":"6"}"#, &in_mode(Mode::Coerce)),
        r#"{"n":6}"#
    );
}

#[test]
fn null_is_dropped_only_where_told_so_and_only_if_optional() {
    let schema = json!({
        "properties": { "b": { "type": "string" }, "since": { "type": "string" }, "n": { "type": ["integer", "null"] } },
        "required": ["b"]
    });
    let dropping = Terms {
        drop_nulls: true,
        ..in_mode(Mode::Coerce)
    };
    assert_eq!(
        sent(&schema, r#"{"since":null,"b":"x","n":null}"#, &dropping),
        r#"{"b":"x","n":null}"#
    );
    assert_eq!(
        told(&schema, r#"{"since":null,"b":"x"}"#, &in_mode(Mode::Coerce)),
        "/since: expected a string, received null (it is optional and may be left out)."
    );
    assert_eq!(
        told(&schema, r#"{"b":null}"#, &dropping),
        "/b: expected a string, received null."
    );
    assert_eq!(
        sent(&schema, r#"{"b":"","since":""}"#, &dropping),
        r#"{"b":"","since":""}"#
    );
    let enforced = Terms {
        drop_nulls: true,
        ..in_mode(Mode::Enforce)
    };
    assert_eq!(checked(&schema, r#"{"since":null,"b":"x"}"#, &enforced).total, 1);
}

#[test]
fn the_text_null_is_hinted_and_never_changed() {
    let schema = json!({ "properties": {
        "entity": { "type": ["string", "null"] }, "ids": { "type": "array", "items": { "type": ["string", "null"] } },
        "n": { "type": ["integer", "null"] }, "name": { "type": "string" }
    } });
    let passed = checked(
        &schema,
        r#"{"entity":"null","ids":["null"],"name":"null"}"#,
        &in_mode(Mode::Coerce),
    );
    assert_eq!((passed.total, passed.coerced), (0, None));
    let paths: Vec<&str> = passed.notices.iter().map(|notice| notice.path.as_str()).collect();
    assert_eq!(paths, ["/entity", "/ids/0"]);
    assert_eq!(
        told(&schema, r#"{"n":"null"}"#, &in_mode(Mode::Coerce)),
        "/n: expected an integer or null, received \"null\" (the text \"null\" is not the value null)."
    );
}

#[test]
fn modes_say_what_is_done() {
    let schema = json!({ "properties": { "n": { "type": "integer" } } });
    let arguments = r#"{"n":"5","m":1}"#;
    assert_eq!(
        checked(&schema, arguments, &in_mode(Mode::Off)),
        Checked::default()
    );
    for mode in [Mode::Warn, Mode::Enforce] {
        let checked = checked(&schema, arguments, &in_mode(mode));
        assert_eq!((checked.total, checked.coerced), (1, None));
    }
    let coerced = checked(&schema, arguments, &in_mode(Mode::Coerce))
        .coerced
        .unwrap();
    assert_eq!(coerced.arguments.to_string(), r#"{"n":5,"m":1}"#);
    let change = &coerced.changes[0];
    assert_eq!(
        (change.path.as_str(), change.from.as_str(), change.to.as_str()),
        ("/n", "\"5\"", "5")
    );
    for mode in [Mode::Off, Mode::Warn, Mode::Enforce, Mode::Coerce] {
        assert_eq!(mode.to_string().parse(), Ok(mode));
    }
    assert!("Coerce ".parse::<Mode>().is_err());
    assert_eq!(Mode::default(), Mode::Coerce);
}
