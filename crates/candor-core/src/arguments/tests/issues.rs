//! What is told of each broken rule, how it is cut, and what is not called wrong.

use serde_json::{Value, json};

use super::{checked, in_mode, sent, told};
use crate::arguments::{Checked, Mode, check, lines};
use crate::contract::schema::{Formats, Schema, WhyNotChecked};

#[test]
fn each_broken_rule_is_told_so_that_it_can_be_mended() {
    let property = |schema: Value| json!({ "properties": { "a": schema } });
    let cases = [
        (
            json!({ "type": "string", "pattern": r"^\d{2}/\d{2}/\d{4}$", "description": "Day of departure (dd/mm/yyyy)" }),
            "\"2024-12-12\"",
            "/a: expected dd/mm/yyyy, received \"2024-12-12\".",
        ),
        (
            json!({ "type": "string", "pattern": "^[A-Z]{2}$", "examples": ["CH"] }),
            "\"ch\"",
            "/a: expected a string like \"CH\", received \"ch\".",
        ),
        (
            json!({ "type": "string", "pattern": "^[A-Z]{2}$", "description": "The user's country" }),
            "\"ch\"",
            "/a: expected a string that matches ^[A-Z]{2}$, received \"ch\".",
        ),
        (
            json!({ "type": "integer", "minimum": 1, "maximum": 10 }),
            "11",
            "/a: expected an integer from 1 to 10, received 11.",
        ),
        (
            json!({ "type": "number", "exclusiveMinimum": 0 }),
            "0",
            "/a: expected a number greater than 0, received 0.",
        ),
        (
            json!({ "type": "number", "multipleOf": 0.1 }),
            "0.25",
            "/a: expected a number, a multiple of 0.1, received 0.25.",
        ),
        (
            json!({ "type": "string", "minLength": 3, "maxLength": 5 }),
            "\"ab\"",
            "/a: expected a string of 3 to 5 characters, received \"ab\".",
        ),
        (
            json!({ "type": "array", "items": { "type": "integer" }, "minItems": 1 }),
            "[]",
            "/a: expected an array of at least 1 item, received [].",
        ),
        (
            json!({ "uniqueItems": true }),
            "[1,1.0]",
            "/a: expected items that all differ, received [1,1.0].",
        ),
        (
            json!({ "enum": ["economy", "business"] }),
            "\"econmy\"",
            "/a: expected one of \"economy\", \"business\", received \"econmy\", did you mean \"economy\"?",
        ),
        (
            json!({ "const": "on" }),
            "\"off\"",
            "/a: expected \"on\", received \"off\".",
        ),
        (
            json!({ "type": "string", "pattern": "^[0-9]+$", "description": "Number of the room, such as 12" }),
            "12",
            "/a: expected a string, Number of the room, such as 12, received 12.",
        ),
        (
            json!({ "type": ["integer", "null"] }),
            "true",
            "/a: expected an integer or null, received true.",
        ),
        (
            json!({ "type": "boolean" }),
            "1",
            "/a: expected true or false, received 1.",
        ),
        (
            json!({ "type": "object", "properties": { "limit": { "type": "integer" } }, "required": ["limit"] }),
            "[]",
            "/a: expected an object with limit (integer, required), received [].",
        ),
        (
            json!({ "not": { "type": "string" } }),
            "\"x\"",
            "/a: expected something other than a string, received \"x\".",
        ),
        (json!(false), "1", "/a: expected nothing here, received 1."),
        (
            json!({ "type": "array", "contains": { "const": 1 } }),
            "[2]",
            "/a: expected at least one among the items that are 1, received [2].",
        ),
        (
            json!({ "type": "array", "contains": { "type": "integer" }, "minContains": 2 }),
            "[1]",
            "/a: expected at least 2 items that are an integer, received [1].",
        ),
        (
            json!({ "propertyNames": { "maxLength": 3 } }),
            "{\"long\":1}",
            "/a/long: expected a name that is a string of at most 3 characters, received 1.",
        ),
        (
            json!({ "prefixItems": [{ "type": "string" }], "items": false }),
            "[\"x\",2]",
            "/a/1: expected nothing here, received 2.",
        ),
        (
            json!({ "type": "object", "dependentRequired": { "from": ["to"] }, "properties": { "to": { "type": "integer" } } }),
            "{\"from\":1}",
            "/a/to: missing, expected an integer.",
        ),
    ];
    for (schema, value, expected) in cases {
        let arguments = format!("{{\"a\":{value}}}");
        assert_eq!(
            told(&property(schema), &arguments, &in_mode(Mode::Coerce)),
            expected,
            "{value}"
        );
    }
}

#[test]
fn what_fits_is_passed_untouched() {
    let cases = [
        (json!({ "type": "integer" }), "5.0"),
        (json!({ "type": "integer" }), "7205759403792793601"),
        (
            json!({ "maximum": 7205759403792793601_u64 }),
            "7205759403792793601",
        ),
        (json!({ "type": "string" }), "\"4711\""),
        (json!({ "type": "string" }), "\"{\\\"a\\\":1}\""),
        (json!({ "type": ["string", "integer"] }), "\"5\""),
        (json!({ "type": ["object", "string"] }), "\"{}\""),
        (
            json!({ "type": "string", "format": "date-time" }),
            "\"2026-01-02T03:04:05.678Z\"",
        ),
        (json!({ "type": ["string", "null"] }), "null"),
        (json!({ "type": "string" }), "\"\""),
        (
            json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }),
            "null",
        ),
        (json!({ "multipleOf": 0.1 }), "0.3"),
    ];
    for (schema, value) in cases {
        let checked = checked(
            &json!({ "properties": { "a": schema } }),
            &format!("{{\"a\":{value}}}"),
            &in_mode(Mode::Coerce),
        );
        assert_eq!(checked, Checked::default(), "{value}");
    }
}

#[test]
fn all_issues_of_a_call_come_at_once() {
    let schema = json!({
        "type": "object",
        "properties": {
            "departureDate": { "type": "string", "pattern": r"^\d{2}/\d{2}/\d{4}$", "description": "dd/mm/yyyy" },
            "seatClass": { "enum": ["economy", "business"] },
            "passengers": { "type": "integer", "minimum": 1 }
        },
        "required": ["departureDate", "passengers"],
        "additionalProperties": false
    });
    let text = told(
        &schema,
        r#"{"departureDate":"2024-12-12","seatClas":"economy"}"#,
        &in_mode(Mode::Coerce),
    );
    assert_eq!(
        text,
        "/passengers: missing, expected an integer of at least 1. /departureDate: expected dd/mm/yyyy, received \
         \"2024-12-12\". /seatClas: unknown name, did you mean /seatClass?"
    );
}

#[test]
fn refs_are_followed_and_the_path_leads_into_the_arguments() {
    let schema = json!({
        "$defs": { "Q": { "type": "object", "properties": { "limit": { "type": "integer" } } } },
        "properties": { "query": { "$ref": "#/$defs/Q" } },
        "required": ["query"]
    });
    assert_eq!(
        told(&schema, r#"{"limit":5}"#, &in_mode(Mode::Coerce)),
        "/query: missing, expected an object with limit (integer) (perhaps sent as /limit). /limit: unknown name, did \
         you mean /query?"
    );
    assert_eq!(
        told(&schema, r#"{"query":{"limit":"five"}}"#, &in_mode(Mode::Coerce)),
        "/query/limit: expected an integer, received \"five\"."
    );
}

#[test]
fn a_long_enum_is_cut_to_the_nearest_and_a_count() {
    let options: Vec<String> = (0..400).map(|index| format!("region-{index:03}")).collect();
    let schema = json!({ "properties": { "a": { "enum": options } } });
    let text = told(&schema, r#"{"a":"region-12"}"#, &in_mode(Mode::Coerce));
    assert!(
        text.starts_with("/a: expected one of 400 values, the nearest: \"region-12"),
        "{text}"
    );
    assert!(text.len() < 250, "{text}");
    let short = json!({ "properties": { "a": { "enum": ["x", "y", null] } } });
    assert_eq!(
        told(&short, r#"{"a":7}"#, &in_mode(Mode::Coerce)),
        "/a: expected one of \"x\", \"y\", null, received 7."
    );
}

#[test]
fn sixty_bad_elements_are_told_by_the_first_and_a_count() {
    let schema = json!({ "properties": { "a": { "type": "array", "items": { "type": "integer" } } } });
    let arguments = json!({ "a": vec!["x"; 60] }).to_string();
    let checked = checked(&schema, &arguments, &in_mode(Mode::Coerce));
    assert_eq!((checked.issues.len(), checked.total), (20, 60));
    let text = lines(&checked.issues, checked.total, 600);
    assert!(
        text.starts_with("/a/0: expected an integer") && text.ends_with("52 more problems were found."),
        "{text}"
    );
    let digits = json!({ "a": vec!["7"; 60] }).to_string();
    assert_eq!(
        sent(&schema, &digits, &in_mode(Mode::Coerce)),
        json!({ "a": vec![7; 60] }).to_string()
    );
}

#[test]
fn a_union_is_told_by_its_closest_branch() {
    let tagged = json!({ "properties": { "a": { "oneOf": [
        { "type": "object", "properties": { "kind": { "const": "x" }, "n": { "type": "integer" } }, "required": ["kind", "n"] },
        { "type": "object", "properties": { "kind": { "const": "y" }, "m": { "type": "integer" } }, "required": ["kind"] },
        { "type": "null" }
    ] } } });
    let alternatives = "(by the closest of the schema's 3 alternatives)";
    let cases = [
        (
            r#"{"a":{"kind":"x"}}"#,
            format!("/a/n: missing, expected an integer {alternatives}."),
        ),
        (
            r#"{"a":{"kind":"y","m":"q"}}"#,
            format!("/a/m: expected an integer, received \"q\" {alternatives}."),
        ),
        (
            r#"{"a":{"kind":"z"}}"#,
            "/a/kind: expected one of \"x\", \"y\", received \"z\".".to_owned(),
        ),
        (
            r#"{"a":5}"#,
            "/a: expected an object with kind, n (integer, required) or null, received 5.".to_owned(),
        ),
    ];
    for (arguments, expected) in cases {
        let text = told(&tagged, arguments, &in_mode(Mode::Coerce));
        if arguments.contains(":5") {
            assert!(
                text.contains("an object") && text.contains("or null, received 5"),
                "{text}"
            );
        } else {
            assert_eq!(text, expected);
        }
    }
    let constants = json!({ "properties": { "a": { "oneOf": [{ "const": "p" }, { "const": "q" }] } } });
    assert_eq!(
        told(&constants, r#"{"a":"r"}"#, &in_mode(Mode::Coerce)),
        "/a: expected one of \"p\", \"q\", received \"r\"."
    );
    let presence = json!({ "properties": { "id": {}, "url": {} }, "anyOf": [{ "required": ["id"] }, { "required": ["url"] }] });
    assert_eq!(
        told(&presence, "{}", &in_mode(Mode::Coerce)),
        "(the whole): expected an object that also has id or url, received {}."
    );
    let both = json!({ "properties": { "a": { "oneOf": [{ "type": "integer" }, { "minimum": 0 }] } } });
    assert!(told(&both, r#"{"a":5}"#, &in_mode(Mode::Coerce)).contains("fits several"));
}

#[test]
fn every_fault_of_the_one_branch_that_was_meant_is_told() {
    let schema = json!({ "properties": { "a": { "anyOf": [
        { "type": "object", "properties": { "mode": { "enum": ["r", "w"] }, "n": { "type": "integer" } } },
        { "type": "null" }
    ] } } });
    assert_eq!(
        checked(&schema, r#"{"a":{"mode":"x","n":"y"}}"#, &in_mode(Mode::Coerce)).total,
        2
    );
}

#[test]
fn secrets_are_masked_and_names_that_only_look_like_one_are_not() {
    let schema = json!({ "properties": {
        "password": { "type": "integer" }, "max_tokens": { "type": "integer" }, "config": { "type": "integer" },
        "note": { "type": "integer" }
    } });
    let text = told(
        &schema,
        r#"{"password":"hunter2hunter2","max_tokens":"many many","config":{"apiKey":"abcdefgh1","x":1},"note":"ghp_0123456789abcdefghijklmnopqrstuvwxyz"}"#,
        &in_mode(Mode::Coerce),
    );
    for secret in ["hunter2", "abcdefgh1", "ghp_0123"] {
        assert!(!text.contains(secret), "{text}");
    }
    assert!(text.contains("\"many many\""), "{text}");
    let short = told(&schema, r#"{"password":"short"}"#, &in_mode(Mode::Coerce));
    assert!(short.contains("\"short\""), "{short}");
    let coerced = checked(&schema, r#"{"password":"1234567890"}"#, &in_mode(Mode::Coerce))
        .coerced
        .unwrap();
    assert!(!coerced.changes[0].from.contains("1234567890"), "{coerced:?}");
    let hinted = told(&schema, r#"{"password":"1234567890"}"#, &in_mode(Mode::Enforce));
    assert!(!hinted.contains("1234567890"), "{hinted}");
}

#[test]
fn what_came_is_cut_and_shows_nothing_invisible() {
    let schema = json!({ "properties": { "a": { "type": "integer" } } });
    let text = told(
        &schema,
        &json!({ "a": "x".repeat(5000) }).to_string(),
        &in_mode(Mode::Coerce),
    );
    assert!(text.chars().count() < 150 && text.contains('…'), "{text}");
    let text = told(
        &schema,
        &json!({ "a": "a\u{202e}b\u{1b}[31m\n" }).to_string(),
        &in_mode(Mode::Coerce),
    );
    assert!(
        !text.contains(['\u{202e}', '\u{1b}', '\n']) && text.contains("202e"),
        "{text}"
    );
    let text = told(
        &schema,
        &json!({ "a": [1, 2, { "b": null }] }).to_string(),
        &in_mode(Mode::Coerce),
    );
    assert!(text.contains("received [1,2,{\"b\":null}]"), "{text}");
}

#[test]
fn format_only_describes_unless_it_is_asserted() {
    let schema = json!({ "properties": { "from": { "type": "string", "format": "date-time" } } });
    let arguments = r#"{"from":"2026-01-02T03:04:05.678"}"#;
    let passed = checked(&schema, arguments, &in_mode(Mode::Coerce));
    assert_eq!((passed.total, passed.notices.len()), (0, 1));
    assert!(passed.notices[0].text.contains("date-time"), "{passed:?}");
    let asserted = Schema::compile(&schema.to_string(), Formats::Assert).unwrap();
    let refused = check(
        &asserted,
        &serde_json::from_str(arguments).unwrap(),
        &in_mode(Mode::Coerce),
    );
    assert_eq!((refused.total, refused.issues[0].rule.as_str()), (1, "format"));
}

#[test]
fn what_cannot_be_judged_is_not_called_wrong() {
    let pattern =
        json!({ "properties": { "a": { "pattern": r"^(?!.*x)(a|a)*\1$" }, "n": { "type": "integer" } } });
    let text = format!("{}!", "a".repeat(40));
    let open = checked(
        &pattern,
        &json!({ "a": text }).to_string(),
        &in_mode(Mode::Coerce),
    );
    assert_eq!(open.total, 0);
    assert_eq!(
        (open.not_checked[0].path.as_str(), open.not_checked[0].why),
        ("/a", WhyNotChecked::PatternBudget)
    );
    assert_eq!(
        checked(
            &pattern,
            &json!({ "a": text, "n": "x" }).to_string(),
            &in_mode(Mode::Coerce)
        )
        .total,
        1
    );
    assert_eq!(
        checked(&pattern, &json!({ "a": "x" }).to_string(), &in_mode(Mode::Coerce)).total,
        1
    );

    let number = json!({ "properties": { "a": { "maximum": 5 }, "b": { "enum": [1, 2] }, "c": { "type": "string" } } });
    let open = checked(&number, r#"{"a":1e400,"b":1e-400}"#, &in_mode(Mode::Coerce));
    assert_eq!((open.total, open.not_checked.len()), (0, 2));
    assert!(
        open.not_checked
            .iter()
            .all(|part| part.why == WhyNotChecked::Number)
    );
    assert_eq!(
        checked(&number, r#"{"a":1e300,"b":3}"#, &in_mode(Mode::Coerce)).total,
        2
    );
    assert_eq!(
        checked(&number, r#"{"c":1e400}"#, &in_mode(Mode::Coerce)).total,
        1
    );
}

/// More patterns over their budget than the validator tries the outcomes of.
#[test]
fn what_is_wrong_beside_patterns_over_budget_is_told() {
    let costly = json!({ "type": "string", "pattern": r"^(?!.*x)(a|a)*\1$" });
    let mut properties = json!({ "n": { "type": "integer" }, "m": { "$ref": "#/$defs/small" } });
    let mut arguments = json!({ "n": "x", "m": 12 });
    for index in 0..12 {
        properties[format!("p{index}")] = costly.clone();
        arguments[format!("p{index}")] = format!("{}!", "a".repeat(40 + index)).into();
    }
    let schema = json!({
        "$defs": { "small": { "maximum": 9 } },
        "properties": properties,
        // What depends on a pattern decides nothing, whichever way it would go.
        "if": { "properties": { "p0": { "pattern": "^b" } } }, "then": { "required": ["q"] }, "else": { "required": ["r"] },
        "anyOf": [{ "properties": { "p1": costly } }, { "required": ["s"] }],
    });
    let check = |arguments: &Value| checked(&schema, &arguments.to_string(), &in_mode(Mode::Coerce));
    let found = check(&arguments);
    let paths: Vec<&str> = found.issues.iter().map(|issue| issue.path.as_str()).collect();
    assert_eq!(paths, ["/n", "/m"]);
    assert!(
        found
            .not_checked
            .iter()
            .all(|part| part.why == WhyNotChecked::PatternBudget)
    );
    assert!(!found.not_checked.is_empty());

    (arguments["n"], arguments["m"]) = (json!(1), json!(1));
    let open = check(&arguments);
    assert_eq!((open.total, open.not_checked.len()), (0, 1), "{:?}", open.issues);
    (arguments["n"], arguments["p3"]) = (json!("7"), json!("p"));
    let coerced = check(&arguments);
    assert_eq!(
        (
            coerced.total,
            coerced.coerced.map(|coerced| coerced.arguments["n"].clone())
        ),
        (0, Some(json!(7)))
    );
}

#[test]
fn one_place_is_told_once_for_all_its_bounds() {
    let schema = json!({ "properties": { "a": { "type": "integer", "maximum": 9, "multipleOf": 4 }, "b": { "type": "integer", "enum": [1, 2] } } });
    assert_eq!(
        told(&schema, r#"{"a":11,"b":"x"}"#, &in_mode(Mode::Coerce)),
        "/a: expected an integer of at most 9, a multiple of 4, received 11. /b: expected one of 1, 2, received \"x\"."
    );
    let two = json!({ "allOf": [{ "properties": { "a": { "maximum": 9 } } }, { "properties": { "a": { "maxLength": 1 } } }] });
    assert_eq!(checked(&two, r#"{"a":"xx"}"#, &in_mode(Mode::Coerce)).total, 1);
    let both = json!({ "properties": { "a": { "minLength": 3, "pattern": "^a" } } });
    assert_eq!(checked(&both, r#"{"a":"b"}"#, &in_mode(Mode::Coerce)).total, 2);
}

#[test]
fn a_value_too_large_to_collect_all_from_is_still_refused() {
    let schema = json!({ "properties": { "a": { "items": { "type": "integer" } } } });
    let many = json!({ "a": vec!["x"; 200_000] }).to_string();
    assert_eq!(checked(&schema, &many, &in_mode(Mode::Coerce)).total, 1);
    let good = json!({ "a": vec![1; 200_000] }).to_string();
    assert_eq!(
        checked(&schema, &good, &in_mode(Mode::Coerce)),
        Checked::default()
    );
}
