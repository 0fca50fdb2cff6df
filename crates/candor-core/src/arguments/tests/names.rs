//! Names that the schema does not list: refused, told, or none of our business.

use serde_json::{Value, json};

use super::{checked, in_mode, told};
use crate::arguments::{Checked, Mode, Terms, lines};

#[test]
fn a_near_miss_of_an_unset_name_is_refused_and_other_names_are_told() {
    let schema =
        json!({ "properties": { "symbol": { "type": "string" }, "maxDepth": { "type": "integer" } } });
    assert_eq!(
        told(&schema, r#"{"symbol":"f","depth":1}"#, &in_mode(Mode::Coerce)),
        "/depth: unknown name, did you mean /maxDepth?"
    );
    for arguments in [
        r#"{"symbol":"f","depth":1,"maxDepth":2}"#,
        r#"{"symbol":"f","colour":1}"#,
    ] {
        let passed = checked(&schema, arguments, &in_mode(Mode::Coerce));
        assert_eq!(
            (passed.total, passed.notices.len()),
            (0, 1),
            "{arguments}: {passed:?}"
        );
    }
    let strict = Terms {
        strict_names: true,
        ..in_mode(Mode::Coerce)
    };
    assert_eq!(
        told(&schema, r#"{"colour":1}"#, &strict),
        "/colour: unknown name, expected one of the names symbol, maxDepth."
    );
}

#[test]
fn a_name_that_is_wrong_inside_a_text_is_refused_and_a_right_one_is_unwrapped() {
    let schema = json!({ "properties": { "options": {
        "type": "object", "properties": { "maxDepth": { "type": "integer" } },
    } } });
    assert_eq!(
        told(&schema, r#"{"options":"{\"depth\":1}"}"#, &in_mode(Mode::Coerce)),
        "/options/depth: unknown name, did you mean /options/maxDepth?"
    );
    let right = checked(
        &schema,
        r#"{"options":"{\"maxDepth\":1}"}"#,
        &in_mode(Mode::Coerce),
    );
    assert!(right.total == 0 && right.coerced.is_some(), "{right:?}");
}

#[test]
fn names_that_the_schema_settles_are_the_schemas_business() {
    let with = |keyword: &str, value: Value| json!({ "properties": { "maxDepth": {} }, keyword: value });
    let open = [
        with("additionalProperties", json!(true)),
        with("additionalProperties", json!({ "type": "integer" })),
        with("patternProperties", json!({ "^x-": {} })),
        with("unevaluatedProperties", json!(true)),
        json!({ "$ref": "https://json-schema.org/draft/2020-12/schema" }),
    ];
    let strict = Terms {
        strict_names: true,
        ..in_mode(Mode::Coerce)
    };
    for schema in open {
        assert_eq!(
            checked(&schema, r#"{"depth":1}"#, &strict),
            Checked::default(),
            "{schema}"
        );
    }
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        let closed = checked(
            &with(keyword, json!(false)),
            r#"{"depth":1,"zzz":1}"#,
            &in_mode(Mode::Coerce),
        );
        assert_eq!(
            lines(&closed.issues, closed.total, 1000),
            "/depth: unknown name, did you mean /maxDepth? /zzz: unknown name, expected the only known name, maxDepth."
        );
        assert_eq!(closed.issues[0].rule, keyword);
    }
}

#[test]
fn a_missing_name_and_an_unknown_one_are_linked() {
    let schema = json!({
        "properties": { "folder": { "type": "string" }, "content": { "type": "string" } }, "required": ["content"]
    });
    assert_eq!(
        told(&schema, r#"{"folder":"a","text":"hi"}"#, &in_mode(Mode::Coerce)),
        "/content: missing, expected a string (perhaps sent as /text). /text: unknown name, did you mean /content?"
    );
    assert_eq!(
        told(
            &schema,
            r#"{"folder":"a","text":"hi","more":1}"#,
            &in_mode(Mode::Coerce)
        ),
        "/content: missing, expected a string. /text: unknown name, expected one of the names folder, content. /more: \
         unknown name, expected one of the names folder, content."
    );
}

#[test]
fn names_are_judged_inside_objects_lists_and_refs_too() {
    let schema = json!({
        "$defs": { "Q": { "type": "object", "properties": { "maxDepth": {}, "next": { "$ref": "#/$defs/Q" } } } },
        "properties": { "list": { "type": "array", "items": { "$ref": "#/$defs/Q" } }, "free": { "type": "object" } }
    });
    assert_eq!(
        told(
            &schema,
            r#"{"list":[{"next":{"depth":1}}],"free":{"depth":1}}"#,
            &in_mode(Mode::Coerce)
        ),
        "/list/0/next/depth: unknown name, did you mean /list/0/next/maxDepth?"
    );
}

#[test]
fn very_many_names_cost_no_more_than_their_share() {
    let listed: serde_json::Map<String, Value> = (0..8_000)
        .map(|name| (format!("name{name}"), json!({})))
        .collect();
    let unlisted: serde_json::Map<String, Value> =
        (0..20_000).map(|name| (format!("zz{name}"), json!(1))).collect();
    let arguments = Value::Object(unlisted).to_string();
    let passed = checked(
        &json!({ "properties": listed }),
        &arguments,
        &in_mode(Mode::Coerce),
    );
    assert_eq!((passed.total, passed.notices.len()), (0, 20));
}
