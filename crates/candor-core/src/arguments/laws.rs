//! Laws that hold for any arguments under any schema, tried with random ones.

use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Value, json};

use super::{Mode, Terms, check, lines};
use crate::contract::schema::{Formats, Schema};

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a".to_owned()),
        Just("maxDepth".to_owned()),
        Just("password".to_owned()),
        "[a-c~/é]{0,4}"
    ]
}

fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop_oneof![
            Just("1e400"),
            Just("5.0"),
            Just("-0"),
            Just("7205759403792793601"),
            Just("1e-400")
        ]
        .prop_map(|text| serde_json::from_str(text).unwrap()),
        prop_oneof![
            "-?[0-9]{1,3}(\\.[0-9])?",
            Just("true".to_owned()),
            Just("null".to_owned()),
            Just("{\"a\":\"5\"}".to_owned()),
            Just("[\"1\",2]".to_owned()),
            "\\PC{0,90}",
        ]
        .prop_map(Value::from),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((names(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn kinds() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("string"),
        Just("integer"),
        Just("number"),
        Just("boolean"),
        Just("array"),
        Just("object"),
        Just("null")
    ]
}

/// Schemas that mostly compile: random combinations of keywords in their right places.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        kinds().prop_map(|kind| json!({ "type": kind })),
        (kinds(), kinds())
            .prop_filter("types differ", |(one, other)| one != other)
            .prop_map(|(one, other)| json!({ "type": [one, other] })),
        proptest::collection::vec(scalars(), 1..12).prop_map(|options| json!({ "enum": options })),
        scalars().prop_map(|value| json!({ "const": value })),
        (-3..3_i64, 0..9_i64).prop_map(|(low, high)| json!({ "minimum": low, "exclusiveMaximum": high })),
        (0..3_u8, 0..9_u8)
            .prop_map(|(low, high)| json!({ "type": "string", "minLength": low, "maxLength": high })),
        prop_oneof![Just("^a+$"), Just("^(?!.*x)(a|a)*\\1$"), Just("\\d{2}/\\d{2}")]
            .prop_map(|pattern| json!({ "pattern": pattern, "description": "dd/mm/yyyy or so" })),
        Just(json!({ "$ref": "#/$defs/d" })),
        Just(json!({ "format": "date", "type": "string" })),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let list = proptest::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            (list.clone(), prop_oneof![Just("anyOf"), Just("oneOf"), Just("allOf"), Just("prefixItems")])
                .prop_map(|(parts, keyword)| json!({ keyword: parts })),
            (inner.clone(), prop_oneof![
                Just("not"), Just("items"), Just("contains"), Just("propertyNames"), Just("additionalProperties"),
                Just("unevaluatedProperties"), Just("unevaluatedItems"), Just("if"),
            ])
            .prop_map(|(part, keyword)| json!({ keyword: part, "then": { "required": ["b"] } })),
            (proptest::collection::vec((names(), inner), 0..4), any::<bool>()).prop_map(|(members, closed)| {
                let required: Vec<String> = members.iter().take(1).map(|(name, _)| name.clone()).collect();
                let mut schema = json!({
                    "type": "object", "properties": Value::Object(members.into_iter().collect()), "required": required
                });
                if closed {
                    schema["additionalProperties"] = json!(false);
                }
                schema
            }),
        ]
    })
    .prop_map(|root| match root {
        Value::Object(mut members) => {
            members.insert("$defs".to_owned(), json!({ "d": { "items": { "$ref": "#/$defs/d" }, "maxItems": 2 } }));
            Value::Object(members)
        }
        other => other,
    })
}

fn terms() -> impl Strategy<Value = Terms> {
    let modes = prop_oneof![
        Just(Mode::Off),
        Just(Mode::Warn),
        Just(Mode::Enforce),
        Just(Mode::Coerce)
    ];
    (modes, any::<bool>(), any::<bool>()).prop_map(|(mode, strict_names, drop_nulls)| Terms {
        mode,
        strict_names,
        drop_nulls,
    })
}

proptest! {
    #[test]
    fn a_check_always_answers_and_its_answer_is_consistent(
        schema in schemas(), arguments in values(), terms in terms(), budget in 0..2_000_usize,
    ) {
        for formats in [Formats::Annotate, Formats::Assert] {
            let Ok(schema) = Schema::compile(&schema.to_string(), formats) else { continue };
            let checked = check(&schema, &arguments, &terms);
            prop_assert!(checked.issues.len() <= checked.total);
            prop_assert_eq!(checked.issues.is_empty(), checked.total == 0);
            prop_assert!(lines(&checked.issues, checked.total, budget).len() <= budget);
            if let Some(coerced) = checked.coerced {
                prop_assert_eq!(terms.mode, Mode::Coerce);
                prop_assert_eq!(checked.total, 0);
                prop_assert!(!coerced.changes.is_empty());
                prop_assert!(schema.violations(&coerced.arguments, 1).is_clean());
                prop_assert!(!schema.violations(&arguments, 1).is_clean());
            }
        }
    }

    #[test]
    fn any_json_is_a_schema_or_a_fault(raw in values(), arguments in values()) {
        if let Ok(schema) = Schema::compile(&raw.to_string(), Formats::Annotate) {
            check(&schema, &arguments, &Terms::default());
        }
    }

    #[test]
    fn any_text_is_a_schema_or_a_fault(raw in "[\\[\\]{}\",:a$0 \\\\]{0,60}") {
        let _ = Schema::compile(&raw, Formats::Assert);
    }

    #[test]
    fn coercion_gives_back_the_digits_that_came(digits in "-?[1-9][0-9]{0,40}") {
        let schema = Schema::compile(r#"{"properties":{"n":{"type":"integer"}}}"#, Formats::Annotate).unwrap();
        let checked = check(&schema, &json!({ "n": digits }), &Terms::default());
        prop_assert_eq!(checked.coerced.unwrap().arguments.to_string(), format!("{{\"n\":{digits}}}"));
    }
}
