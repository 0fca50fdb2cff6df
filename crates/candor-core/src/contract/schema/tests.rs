//! Schemas good, bad and hostile: what compiles, what is refused and why, and what one check may cost.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Dialect, Formats, Schema, SchemaFault, WhyNotChecked};

fn compiled(raw: &str) -> Result<Schema, SchemaFault> {
    Schema::compile(raw, Formats::Annotate)
}

fn total(schema: &Value, instance: &Value) -> usize {
    compiled(&schema.to_string())
        .unwrap()
        .violations(instance, 10)
        .total
}

#[test]
fn the_declared_dialect_decides_and_none_means_2020_12() {
    let cases = [
        (None, Dialect::Draft202012),
        (
            Some("https://json-schema.org/draft/2020-12/schema"),
            Dialect::Draft202012,
        ),
        (
            Some("https://json-schema.org/draft/2020-12/schema#"),
            Dialect::Draft202012,
        ),
        (
            Some("https://json-schema.org/draft/2019-09/schema"),
            Dialect::Draft201909,
        ),
        (Some("http://json-schema.org/draft-07/schema#"), Dialect::Draft07),
        (Some("http://json-schema.org/draft-07/schema"), Dialect::Draft07),
        (Some("https://json-schema.org/draft-07/schema#"), Dialect::Draft07),
        (Some("http://json-schema.org/draft-06/schema#"), Dialect::Draft06),
        (Some("http://json-schema.org/draft-04/schema#"), Dialect::Draft04),
    ];
    for (declared, dialect) in cases {
        let mut schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
        if let Some(declared) = declared {
            schema["$schema"] = json!(declared);
        }
        let schema = compiled(&schema.to_string()).unwrap();
        assert_eq!(schema.dialect(), dialect, "{declared:?}");
        assert_eq!(schema.violations(&json!({ "a": 1 }), 10).total, 1, "{declared:?}");
        assert!(
            schema.violations(&json!({ "a": "x" }), 10).is_clean(),
            "{declared:?}"
        );
    }
    for unknown in [
        json!("http://json-schema.org/draft-03/schema#"),
        json!("https://example.com/mine"),
        json!(7),
    ] {
        let fault = compiled(&json!({ "$schema": unknown }).to_string()).unwrap_err();
        assert!(matches!(fault, SchemaFault::UnknownDialect { .. }), "{fault:?}");
    }
}

#[test]
fn keywords_mean_what_their_dialect_says() {
    let draft = |name: &str, mut schema: Value| {
        schema["$schema"] = json!(format!("http://json-schema.org/{name}/schema#"));
        schema
    };
    // An array of `items` is draft-07's tuple and no schema at all in 2020-12, whose word is `prefixItems`.
    let tuple = json!({ "items": [{ "type": "string" }], "additionalItems": false });
    assert_eq!(total(&draft("draft-07", tuple.clone()), &json!([1, 2])), 2);
    assert!(matches!(
        compiled(&tuple.to_string()),
        Err(SchemaFault::NotASchema { .. })
    ));
    assert_eq!(
        total(&json!({ "prefixItems": [{ "type": "string" }] }), &json!([1, 2])),
        1
    );
    // In draft-07 a `$ref` silences its neighbours.
    let beside = json!({ "definitions": { "s": { "type": "string" } }, "properties": { "a": {
        "$ref": "#/definitions/s", "minLength": 3
    } } });
    assert_eq!(total(&draft("draft-07", beside.clone()), &json!({ "a": "x" })), 0);
    assert_eq!(total(&beside, &json!({ "a": "x" })), 1);
    // draft-04 writes exclusive bounds as a flag.
    let flag = json!({ "maximum": 5, "exclusiveMaximum": true });
    assert_eq!(total(&draft("draft-04", flag), &json!(5)), 1);
}

#[test]
fn a_bad_schema_is_named_by_what_is_wrong_with_it() {
    let cases = [
        ("{", "NotJson"),
        ("5", "NotASchema"),
        (r#"{"properties":{"x":{"type":"strng"}}}"#, "NotASchema"),
        (r#"{"properties":{"x":{"pattern":"(("}}}"#, "NotASchema"),
        (
            r##"{"properties":{"a":{"$defs":{"X":{}},"$ref":"#/$defs/X"}}}"##,
            "UnresolvableRef",
        ),
        (r#"{"$ref":"https://example.com/schema.json"}"#, "UnresolvableRef"),
        (r#"{"$ref":"file:///etc/passwd"}"#, "UnresolvableRef"),
        (r##"{"$ref":"#nowhere"}"##, "UnresolvableRef"),
        (r##"{"$ref":"#"}"##, "EndlessRef"),
        (
            r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}"##,
            "EndlessRef",
        ),
    ];
    for (raw, expected) in cases {
        let fault = compiled(raw).unwrap_err();
        assert!(format!("{fault:?}").starts_with(expected), "{raw}: {fault:?}");
        assert!(fault.to_string().contains("not checked"), "{fault}");
    }
    let fault = compiled(r#"{"properties":{"x":{"type":"strng"}}}"#).unwrap_err();
    assert_eq!(
        fault,
        SchemaFault::NotASchema {
            keyword: "type".into(),
            at: "/properties/x/type".into()
        }
    );
}

#[test]
fn refs_of_every_local_kind_are_followed() {
    let cases = [
        json!({ "$defs": { "s": { "type": "string" } }, "properties": { "a": { "$ref": "#/$defs/s" } } }),
        json!({ "$defs": { "s": { "$ref": "#/$defs/t" }, "t": { "type": "string" } }, "properties": { "a": { "$ref": "#/$defs/s" } } }),
        json!({ "$defs": { "s": { "$anchor": "here", "type": "string" } }, "properties": { "a": { "$ref": "#here" } } }),
        json!({ "$defs": { "a~/b %": { "type": "string" } }, "properties": { "a": { "$ref": "#/$defs/a~0~1b%20%25" } } }),
        json!({ "$id": "https://x.example/root", "$defs": { "s": { "$id": "part", "type": "string" } }, "properties": { "a": { "$ref": "part" } } }),
        json!({ "$id": "https://x.example/root", "$defs": { "s": { "type": "string" } }, "properties": { "a": { "$ref": "#/$defs/s" } } }),
    ];
    for schema in cases {
        let schema = compiled(&schema.to_string()).unwrap();
        let answer = schema.violations(&json!({ "a": 1 }), 10);
        assert_eq!(answer.issues[0].expected, "a string", "{schema:?}");
        assert!(schema.violations(&json!({ "a": "x" }), 10).is_clean());
    }
    let tree = json!({ "$defs": { "node": { "type": "object", "properties": {
        "value": { "type": "integer" }, "next": { "$ref": "#/$defs/node" }
    } } }, "$ref": "#/$defs/node" });
    let answer = compiled(&tree.to_string())
        .unwrap()
        .violations(&json!({ "next": { "next": { "value": "x" } } }), 10);
    assert_eq!(answer.issues[0].path, "/next/next/value");
}

/// `levels` definitions, each of which applies the next one twice.
fn doubling(levels: usize) -> String {
    let mut defs = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        defs.insert(format!("d{level}"), json!({ "allOf": [next, next] }));
    }
    defs.insert(format!("d{levels}"), json!({ "type": "string" }));
    json!({ "$defs": defs, "$ref": "#/$defs/d0" }).to_string()
}

#[test]
fn a_doubling_schema_is_refused_and_a_small_one_is_not() {
    assert!(matches!(
        compiled(&doubling(24)),
        Err(SchemaFault::TooManyPaths { .. })
    ));
    assert!(matches!(
        compiled(&doubling(60)),
        Err(SchemaFault::TooManyPaths { .. })
    ));
    assert_eq!(compiled(&doubling(8)).unwrap().violations(&json!(1), 10).total, 1);
}

#[test]
fn size_nesting_chains_and_long_paths_are_bounded() {
    let large = format!(r#"{{"description":"{}"}}"#, "x".repeat(300_000));
    assert!(matches!(compiled(&large), Err(SchemaFault::TooLarge { .. })));
    let deep = format!(r#"{}{{}}{}"#, r#"{"not":"#.repeat(110), "}".repeat(110));
    assert!(matches!(compiled(&deep), Err(SchemaFault::TooDeep { .. })));
    let brackets_in_text = format!(r#"{{"description":"{}"}}"#, "[{".repeat(500));
    assert!(compiled(&brackets_in_text).is_ok());
    let chain = |length: usize| {
        let mut defs: serde_json::Map<String, Value> = (0..length)
            .map(|step| {
                (
                    format!("d{step}"),
                    json!({ "$ref": format!("#/$defs/d{}", step + 1) }),
                )
            })
            .collect();
        defs.insert(format!("d{length}"), json!({ "type": "string" }));
        json!({ "$defs": defs, "$ref": "#/$defs/d0" }).to_string()
    };
    assert!(matches!(
        compiled(&chain(3_000)),
        Err(SchemaFault::TooDeep { .. })
    ));
    assert_eq!(compiled(&chain(300)).unwrap().violations(&json!(1), 1).total, 1);
    let parts: serde_json::Map<String, Value> =
        (0..10_000).map(|part| (format!("p{part}"), json!({}))).collect();
    let long_name = json!({ "properties": { "n".repeat(50_000): { "properties": parts } } }).to_string();
    assert!(matches!(compiled(&long_name), Err(SchemaFault::TooLarge { .. })));
    let short_name = json!({ "properties": { "n": { "properties": parts } } }).to_string();
    assert!(compiled(&short_name).is_ok());
}

#[test]
fn work_that_grows_with_the_value_is_not_begun() {
    let node = json!({ "$ref": "#/$defs/node" });
    let schema = json!({
        "$defs": { "node": { "type": "array", "anyOf": [{ "items": node }, { "items": node }] } }, "$ref": "#/$defs/node"
    });
    let schema = compiled(&schema.to_string()).unwrap();
    let nested = |depth: usize| -> Value {
        serde_json::from_str(&format!("{}5{}", "[".repeat(depth), "]".repeat(depth))).unwrap()
    };
    assert_eq!(schema.violations(&nested(4), 10).total, 1);
    let answer = schema.violations(&nested(100), 10);
    assert_eq!(
        (answer.total, answer.not_checked[0].why),
        (0, WhyNotChecked::TooMuchWork)
    );

    let chain: serde_json::Map<String, Value> = (0..50)
        .map(|step| {
            (
                format!("d{step}"),
                json!({ "anyOf": [{ "$ref": format!("#/$defs/d{}", step + 1) }] }),
            )
        })
        .chain([(
            "d50".to_owned(),
            json!({ "type": "array", "items": { "$ref": "#/$defs/d0" } }),
        )])
        .collect();
    let deep = compiled(&json!({ "$defs": chain, "$ref": "#/$defs/d0" }).to_string()).unwrap();
    assert_eq!(
        deep.violations(&nested(100), 10).not_checked[0].why,
        WhyNotChecked::TooMuchWork
    );
    assert_eq!(deep.violations(&nested(4), 10).total, 1);

    let hard = compiled(&json!({ "items": { "pattern": "^(?=(a+)+$)b" } }).to_string()).unwrap();
    let texts = |count: usize| json!(vec![format!("{}!", "a".repeat(40)); count]);
    assert_eq!(
        hard.violations(&texts(100_000), 10).not_checked[0].why,
        WhyNotChecked::TooMuchWork
    );
    assert_eq!(hard.violations(&texts(10), 10).total, 10);
}

#[test]
fn numbers_are_compared_exactly() {
    let cases = [
        (
            r#"{"maximum":7205759403792793600}"#,
            "7205759403792793601",
            "7205759403792793600",
        ),
        (
            r#"{"enum":[7205759403792793600,0]}"#,
            "7205759403792793601",
            "7205759403792793600",
        ),
        (
            r#"{"const":0.100000000000000000000000000001}"#,
            "0.100000000000000000000000000002",
            "0.100000000000000000000000000001",
        ),
        (
            r#"{"type":"integer"}"#,
            "720575940379279360111111.5",
            "720575940379279360111111.0",
        ),
        (r#"{"multipleOf":0.01}"#, "4.025", "4.02"),
        (
            r#"{"minimum":-7205759403792793601}"#,
            "-7205759403792793602",
            "-7205759403792793601",
        ),
    ];
    for (raw, bad, good) in cases {
        let schema = compiled(raw).unwrap();
        let total = |text: &str| schema.violations(&serde_json::from_str(text).unwrap(), 10).total;
        assert_eq!((total(bad), total(good)), (1, 0), "{raw}");
    }
    let shown = compiled(r#"{"type":"string"}"#)
        .unwrap()
        .violations(&serde_json::from_str("7205759403792793601").unwrap(), 1);
    assert_eq!(shown.issues[0].received.as_deref(), Some("7205759403792793601"));
}

#[test]
fn a_schema_is_known_by_its_text() {
    let raw = "{ \"type\": \"object\" }";
    let schema = compiled(raw).unwrap();
    assert_eq!(schema.digest(), <[u8; 32]>::from(Sha256::digest(raw.as_bytes())));
    assert_eq!(
        (schema.raw(), schema.source()),
        (raw, &json!({ "type": "object" }))
    );
    assert!(compiled("true").unwrap().violations(&json!([1]), 1).is_clean());
    assert_eq!(compiled("false").unwrap().violations(&json!([1]), 1).total, 1);
}

#[test]
fn more_issues_than_asked_for_are_counted() {
    let schema = compiled(r#"{"items":{"type":"integer"}}"#).unwrap();
    let answer = schema.violations(&json!(vec!["x"; 50]), 3);
    assert_eq!((answer.issues.len(), answer.total), (3, 50));
    assert_eq!(schema.violations(&json!(["x"]), 0).total, 1);
}

#[test]
fn formats_and_encodings_describe_or_decide() {
    let raw = r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{
        "when":{"format":"date"},"data":{"contentEncoding":"base64"},"odd":{"format":"no-such-format"}}}"#;
    let instance = json!({ "when": "2026-02-30", "data": "!!", "odd": "x" });
    let described = compiled(raw).unwrap().violations(&instance, 10);
    assert_eq!((described.total, described.format_doubts.len()), (0, 2));
    let asserted = Schema::compile(raw, Formats::Assert)
        .unwrap()
        .violations(&instance, 10);
    assert_eq!((asserted.total, asserted.format_doubts.len()), (2, 0));
    let good = json!({ "when": "2026-02-28", "data": "aGk=" });
    assert_eq!(
        compiled(raw).unwrap().violations(&good, 10),
        super::Validation::default()
    );
}
