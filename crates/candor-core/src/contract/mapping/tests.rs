//! Mappings read what was declared and nothing else.

use serde_json::{Value, json};

use super::*;

fn scalar(value: &Value) -> Scalar {
    Scalar::of(value).unwrap()
}

fn mapping(document: Document) -> Mapping {
    let mut values = Values::default();
    for (list, value) in [
        (ValueList::Completed, json!("booked")),
        (ValueList::Completed, json!(true)),
        (ValueList::Completed, json!(1)),
        (ValueList::Accepted, json!("queued")),
        (ValueList::Rejected, json!("taken")),
        (ValueList::Rejected, json!(false)),
        (ValueList::Failed, json!(null)),
        (ValueList::Failed, json!(7205759403792793601_u64)),
        (ValueList::Partial, json!("some")),
    ] {
        values.add(list, scalar(&value)).unwrap();
    }
    Mapping {
        document,
        pointer: Some("/status".parse().unwrap()),
        values,
        code: Some("/error/code".parse().unwrap()),
        message: Some("/error/message".parse().unwrap()),
        reference: Some(ReferenceClause {
            pointer: "/job".parse().unwrap(),
            noun: Some("job".into()),
            state: Some(StateTool {
                tool: "get_job".into(),
                argument: "id".into(),
                wait: None,
            }),
        }),
        suggestion: Some("/suggestion".parse().unwrap()),
        retry_after: Some("/retry_after".parse().unwrap()),
        parts: None,
        failed_where: Vec::new(),
        nothing_done: BTreeSet::new(),
    }
}

#[test]
fn a_listed_value_means_what_its_list_says_and_no_other_does() {
    let cases = [
        (json!({"status": "booked"}), Reading::Completed),
        (json!({"status": true}), Reading::Completed),
        (json!({"status": 1.0}), Reading::Completed),
        (json!({"status": "queued"}), Reading::Accepted),
        (json!({"status": "taken"}), Reading::Rejected),
        (json!({"status": false}), Reading::Rejected),
        (json!({"status": null}), Reading::Failed),
        (json!({"status": 7205759403792793601_u64}), Reading::Failed),
        (json!({"status": "some"}), Reading::Partial),
        (json!({"status": 7205759403792793600_u64}), Reading::Unlisted),
        (json!({"status": "Booked"}), Reading::Unlisted),
        (json!({"status": "1"}), Reading::Unlisted),
        (json!({"status": ""}), Reading::Unlisted),
        (json!({"status": ["booked"]}), Reading::Unlisted),
        (json!({"status": {"booked": true}}), Reading::Unlisted),
        (json!({"state": "booked"}), Reading::Missing),
        (json!({}), Reading::Missing),
        (json!("booked"), Reading::Missing),
        (json!(null), Reading::Missing),
    ];
    for (structured, expected) in cases {
        let found = mapping(Document::Structured)
            .read(Some(&structured), &[])
            .unwrap();
        assert_eq!(found.reading, expected, "{structured}");
    }
}

#[test]
fn texts_are_not_read_for_a_structured_mapping_nor_structure_for_a_text_mapping() {
    let structured = json!({"status": "booked"});
    let text = r#"{"status": "taken"}"#;
    assert_eq!(
        mapping(Document::Structured).read(None, &[text]).unwrap().reading,
        Reading::Missing
    );
    assert_eq!(
        mapping(Document::Structured)
            .read(Some(&structured), &[text])
            .unwrap()
            .reading,
        Reading::Completed
    );
    assert_eq!(
        mapping(Document::Text)
            .read(Some(&structured), &[])
            .unwrap()
            .reading,
        Reading::Missing
    );
    assert_eq!(
        mapping(Document::Text)
            .read(Some(&structured), &[text])
            .unwrap()
            .reading,
        Reading::Rejected
    );
}

#[test]
fn the_first_text_that_is_a_whole_json_object_counts() {
    let huge = format!("{{\"status\": \"taken\", \"x\": \"{}\"}}", "y".repeat(TEXT_LIMIT));
    let cases: [(&[&str], Reading); 8] = [
        (
            &["booked your room", " {\"status\": \"booked\"}\n"],
            Reading::Completed,
        ),
        (
            &["[1]", "\"booked\"", r#"{"status": "booked"}"#],
            Reading::Completed,
        ),
        (
            &[r#"{"status": "taken"}"#, r#"{"status": "booked"}"#],
            Reading::Rejected,
        ),
        (&[r#"{"other": 1}"#, r#"{"status": "booked"}"#], Reading::Missing),
        (&[r#"result: {"status": "booked"}"#], Reading::Missing),
        (&[r#"{"status": "booked"} done"#], Reading::Missing),
        (&["Error: booked"], Reading::Missing),
        (&[&huge], Reading::Missing),
    ];
    for (texts, expected) in cases {
        let found = mapping(Document::Text).read(None, texts).unwrap();
        assert_eq!(
            found.reading,
            expected,
            "{:?}",
            texts.first().map(|text| cut(text, 60))
        );
    }
}

#[test]
fn details_come_from_where_they_were_declared() {
    let structured = json!({
        "status": "taken", "job": 4711, "suggestion": "room 14 is free",
        "error": {"code": "ROOM_UNAVAILABLE", "message": "Room 12 is taken"}
    });
    let found = mapping(Document::Structured)
        .read(Some(&structured), &[])
        .unwrap();
    assert_eq!(
        found,
        MappedReading {
            reading: Reading::Rejected,
            value: Some("taken".into()),
            code: Some("ROOM_UNAVAILABLE".into()),
            message: Some("Room 12 is taken".into()),
            reference: Some(Reference {
                value: "4711".into(),
                noun: Some("job".into()),
                state: Some(StateTool {
                    tool: "get_job".into(),
                    argument: "id".into(),
                    wait: None,
                }),
            }),
            suggestion: Some("room 14 is free".into()),
            retry_after: None,
            parts: Vec::new(),
        }
    );
}

#[test]
fn absent_null_and_structured_details_are_absent() {
    for detail in [
        json!({}),
        json!({"code": null}),
        json!({"code": {"x": 1}}),
        json!({"code": ["x"]}),
    ] {
        let found = mapping(Document::Structured)
            .read(Some(&json!({"status": 3, "error": detail})), &[])
            .unwrap();
        assert_eq!(
            (found.code, found.message, found.reference, found.suggestion),
            (None, None, None, None)
        );
        assert_eq!(found.value.as_deref(), Some("3"));
    }
}

#[test]
fn long_details_are_cut_on_a_character() {
    let long = json!({"status": "taken", "error": {"code": "é".repeat(500), "message": "ok"}});
    let found = mapping(Document::Structured).read(Some(&long), &[]).unwrap();
    let code = found.code.unwrap();
    assert!(code.len() <= SHORT_LIMIT && code.ends_with("é…"), "{code}");
    assert_eq!(found.message.as_deref(), Some("ok"));
}

#[test]
fn one_value_has_one_meaning() {
    let mut values = Values::default();
    values.add(ValueList::Completed, scalar(&json!(1))).unwrap();
    values.add(ValueList::Completed, scalar(&json!(1.0))).unwrap();
    values.add(ValueList::Rejected, scalar(&json!("1"))).unwrap();
    let fault = values.add(ValueList::Failed, scalar(&json!(1.0))).unwrap_err();
    assert_eq!(fault.to_string(), "1.0 is listed as completed and as failed");
    assert_eq!(values.of(ValueList::Completed).count(), 1);
}

#[test]
fn a_field_that_contradicts_the_one_that_decides_lowers_it_and_an_empty_one_does_not() {
    let mut declared = mapping(Document::Structured);
    declared.failed_where = vec!["/readback/error".parse().unwrap()];
    let read = |structured: Value| declared.read(Some(&structured), &[]).unwrap().reading;
    // However much was sent, and whatever else is said of it.
    let verified =
        json!({ "status": "booked", "verified": true, "commands": 12, "readback": { "error": "no signal" } });
    assert_eq!(read(verified), Reading::Failed);
    for empty in [json!(null), json!(""), json!(false), json!([]), json!({})] {
        let good = json!({ "status": "booked", "readback": { "error": empty } });
        assert_eq!(read(good.clone()), Reading::Completed, "{good}");
    }
    let taken = json!({ "status": "taken", "readback": { "error": "no signal" } });
    assert_eq!(
        read(taken),
        Reading::Rejected,
        "what is not done is not made worse"
    );
}

#[test]
fn a_wait_is_whole_seconds_of_a_refusal_or_a_failure_and_nothing_else() {
    let asked = |status: Value, wait: Value| {
        let structured = json!({ "status": status, "retry_after": wait });
        let read = mapping(Document::Structured)
            .read(Some(&structured), &[])
            .unwrap();
        read.asked_wait()
    };
    for (wait, expected) in [
        (json!(7), Some(7)),
        (json!("7"), Some(7)),
        (json!("007"), Some(7)),
        (json!(0), Some(0)),
        (json!(86_400), Some(86_400)),
        (json!(86_401), None),
        (json!("99999999999999999999999"), None),
        (json!(7.5), None),
        (json!(-7), None),
        (json!("-7"), None),
        (json!("+7"), None),
        (json!("7 s"), None),
        (json!(""), None),
        (json!("Fri, 31 Dec 1999 23:59:59 GMT"), None),
        (json!(true), None),
        (json!(null), None),
        (json!([7]), None),
    ] {
        assert_eq!(asked(json!("taken"), wait.clone()), expected, "{wait}");
    }
    assert_eq!(asked(json!(null), json!(7)), Some(7), "a failure");
    for status in ["booked", "queued", "some", "odd"] {
        assert_eq!(asked(json!(status), json!(7)), None, "{status}");
    }
}
