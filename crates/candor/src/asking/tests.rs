//! Forms and answers: shapes, faults, the four ends.

use std::path::PathBuf;

use candor_core::contract::schema::{Formats, Schema};
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use rmcp::model::InputRequest;
use serde_json::{Value, json};

use super::*;
use crate::outcome::Effect;

/// A form with every kind of field and every shape of a choice.
fn everything() -> Form {
    Form::new("All of it")
        .required(
            "name",
            Text::new()
                .title("Name")
                .description("As in the passport")
                .length(1, 9)
                .with_default("John"),
        )
        .optional("mail", Text::new().format(Format::Email))
        .optional("score", Number::new().range(0.5, 99.5).with_default(95.5))
        .optional("age", Integer::new().title("Age").range(0, 150).with_default(30))
        .optional("verified", Boolean::new().with_default(true))
        .optional("plain", Choice::of(["a", "b"]).with_default("a"))
        .optional(
            "titled",
            Choice::titled([("a", "First"), ("b", "Second")]).with_default("b"),
        )
        .optional("older", Choice::enum_names([("a", "First"), ("b", "Second")]))
        .optional(
            "some",
            Choices::of(["a", "b", "c"]).count(1, 2).with_default(["a"]),
        )
        .optional("some_titled", Choices::titled([("a", "First"), ("b", "Second")]))
}

fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn read(form: &Form, given: &Value) -> Result<Answer, Misfit> {
    Question::from(form).read(given)
}

fn params(request: &InputRequest) -> Value {
    serde_json::to_value(request).expect("JSON")["params"].clone()
}

/// Does a value fit the part `name` of the specification's schema of a revision? `None` where there is no specification
/// beside this repository; in CI that is a failure.
fn fits(revision: &str, name: &str, value: &Value) -> Option<bool> {
    let shared = std::env::var_os("CANDOR_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let place = shared.join(format!("spec/schema-{revision}.json"));
    let Ok(text) = std::fs::read_to_string(&place) else {
        assert!(
            std::env::var_os("CI").is_none(),
            "{} is missing: in CI it must be there",
            place.display()
        );
        return None;
    };
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    let place = if whole.get("$defs").is_some() {
        "$defs"
    } else {
        "definitions"
    };
    let part = json!({ "$ref": format!("#/{place}/{name}"), place: whole[place] });
    let schema = Schema::compile(&part.to_string(), Formats::Annotate).expect("a schema");
    Some(issues(&schema, value).is_empty())
}

fn issues(schema: &Schema, value: &Value) -> Vec<String> {
    let found = answer::checked(schema, value);
    found
        .issues
        .iter()
        .map(|issue| format!("{} {}", issue.path, issue.rule))
        .collect()
}

#[test]
fn every_shape_is_as_the_specification_has_it() {
    let form = everything();
    assert_eq!(form.check(), Ok(()));
    let sent = params(&Question::from(&form).request(None).expect("a request"));
    assert_eq!(
        sent["requestedSchema"],
        form.schema(),
        "rmcp's types lose nothing of it"
    );
    let names: Vec<&str> = sent["requestedSchema"]["properties"]
        .as_object()
        .expect("fields")
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(names[..3], ["name", "mail", "score"], "in the author's order");
    for (revision, part) in [
        ("2025-11-25", "ElicitRequestFormParams"),
        ("2026-07-28", "ElicitRequestFormParams"),
    ] {
        assert_ne!(fits(revision, part, &sent), Some(false), "{revision}");
    }
    // The check can fail.
    let broken = json!({ "message": "m", "requestedSchema": { "type": "object", "properties": { "a": { "type": "object" } } } });
    assert_ne!(fits("2026-07-28", "ElicitRequestFormParams", &broken), Some(true));
}

#[test]
fn an_older_client_gets_the_shapes_it_knows() {
    let form = Form::new("Which?")
        .required(
            "room",
            Choice::titled([("12", "Room 12"), ("14", "Room 14")]).with_default("12"),
        )
        .optional("name", Text::new().with_default("Ada"))
        .optional("yes", Boolean::new().with_default(true));
    let sent = params(
        &Question::from(&form)
            .request_2025_06_18(None)
            .expect("a request")
            .expect("one it knows"),
    );
    assert_eq!(
        sent["requestedSchema"]["properties"],
        json!({
            "room": { "type": "string", "enum": ["12", "14"], "enumNames": ["Room 12", "Room 14"] },
            "name": { "type": "string" },
            "yes": { "type": "boolean", "default": true },
        })
    );
    let whole = json!({ "method": "elicitation/create", "params": sent });
    assert_ne!(fits("2025-06-18", "ElicitRequest", &whole), Some(false));
    let some = Form::new("Which?").required("rooms", Choices::of(["12", "14"]));
    assert!(
        Question::from(&some)
            .request_2025_06_18(None)
            .expect("no fault")
            .is_none()
    );
}

#[test]
fn a_form_of_json_is_the_form_of_the_builder() {
    let form = everything();
    assert_eq!(Form::from_schema("All of it", &form.schema()), Ok(form));
}

#[test]
fn shapes_that_forms_cannot_have_are_refused() {
    for property in [
        json!({ "type": "object", "properties": {} }),
        json!({ "type": "object", "enum": [{}] }),
        json!({ "type": ["string", "null"] }),
        json!({ "type": "string", "pattern": "^a" }),
        json!({ "type": "string", "format": "hostname" }),
        json!({ "type": "array", "items": { "type": "object" } }),
        json!({ "type": "array", "items": { "type": "string" } }),
        json!({ "type": "array", "items": { "type": "integer", "enum": ["1"] } }),
        json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["A"] }),
        json!({ "type": "string", "oneOf": [{ "const": "a" }] }),
        json!({ "type": "string", "enum": [1] }),
        json!({ "type": "integer", "multipleOf": 2 }),
        json!({ "$ref": "#/$defs/a" }),
        json!(true),
    ] {
        let schema = json!({ "type": "object", "properties": { "field": property } });
        let fault = Form::from_schema("m", &schema).expect_err(&property.to_string());
        assert!(
            matches!(&fault, FormFault::Shape { field, .. } if field == "field"),
            "{property}: {fault}"
        );
    }
    for schema in [
        json!({ "type": "string" }),
        json!({ "type": "object" }),
        json!([]),
        json!({ "type": "object", "properties": {}, "oneOf": [] }),
        json!({ "type": "object", "properties": {}, "required": ["a"] }),
    ] {
        assert!(
            matches!(Form::from_schema("m", &schema), Err(FormFault::Shape { .. })),
            "{schema}"
        );
    }
}

#[test]
fn fields_that_ask_for_secrets_are_refused_with_the_reason() {
    for (name, by) in [
        ("apiKey", "name"),
        ("password", "name"),
        ("token", "name"),
        ("密码", "name"),
    ] {
        let fault = Form::new("m")
            .required(name, Text::new())
            .check()
            .expect_err(name);
        assert_eq!(
            fault,
            FormFault::Secret {
                field: name.to_owned(),
                by
            }
        );
        assert!(
            fault.to_string().contains(name) && fault.to_string().contains("follow_url"),
            "{fault}"
        );
    }
    let titled = Form::new("m")
        .required("value", Text::new().title("Your API key"))
        .check();
    assert_eq!(
        titled,
        Err(FormFault::Secret {
            field: "value".to_owned(),
            by: "title"
        })
    );
    let schema =
        json!({ "type": "object", "properties": { "value": { "type": "string", "format": "password" } } });
    assert_eq!(
        Form::from_schema("m", &schema),
        Err(FormFault::Secret {
            field: "value".to_owned(),
            by: "format"
        })
    );
    // What takes no secret in, and a message that merely talks of one.
    for harmless in [
        Form::new("Your password is never asked for here").required("name", Text::new()),
        Form::new("m").required("reset_password", Boolean::new()),
        Form::new("m").required("token", Choice::of(["keep", "rotate"])),
        Form::new("m").required("max_tokens", Integer::new()),
    ] {
        assert_eq!(harmless.check(), Ok(()));
    }
}

#[test]
fn fields_that_contradict_themselves_are_refused() {
    for form in [
        Form::new("m").required("a", Text::new().length(5, 1)),
        Form::new("m").required("a", Integer::new().range(5, 1)),
        Form::new("m").required("a", Integer::new().range(1, 5).with_default(9)),
        Form::new("m").required("a", Number::new().range(5.0, 1.0)),
        Form::new("m").required("a", Number::new().with_default(f64::NAN)),
        Form::new("m").required("a", Text::new().format(Format::Email).with_default("nobody")),
        Form::new("m").required("a", Choice::of(["x"]).with_default("y")),
        Form::new("m").required("a", Choice::of(["x", "x"])),
        Form::new("m").required("a", Choice::of(Vec::<String>::new())),
        Form::new("m").required("a", Choices::of(["x", "y"]).count(2, 1)),
        Form::new("m").required("a", Choices::of(["x"]).with_default(["y"])),
        Form::new("m")
            .required("a", Text::new())
            .optional("a", Text::new()),
    ] {
        let fault = form.check().expect_err("a contradiction");
        assert!(
            matches!(&fault, FormFault::Contradiction { field, .. } if field == "a"),
            "{fault}"
        );
    }
}

#[test]
fn answers_are_checked_on_accept_only() {
    let form = everything();
    let junk = json!({ "name": 7, "age": "old" });
    for (action, end) in [("decline", Answer::Declined), ("cancel", Answer::Cancelled)] {
        assert_eq!(read(&form, &json!({ "action": action })), Ok(end.clone()));
        assert_eq!(
            read(&form, &json!({ "action": action, "content": junk })),
            Ok(end)
        );
    }
    let misfit = read(&form, &accept(&junk)).expect_err("junk");
    let paths: Vec<&str> = misfit.issues.iter().map(|issue| issue.path.as_str()).collect();
    assert_eq!((paths, misfit.total), (vec!["/name", "/age"], 2));
    for no_answer in [
        json!(null),
        json!({}),
        json!("accept"),
        json!({ "action": "yes" }),
        json!({ "content": { "name": "Ada" } }),
    ] {
        assert_eq!(
            read(&form, &no_answer).expect_err("no answer").total,
            0,
            "{no_answer}"
        );
    }
}

#[test]
fn each_shape_takes_its_values_and_no_others() {
    for (field, good, bad) in [
        ("mail", json!("a@example.org"), json!("a")),
        ("score", json!(1.5), json!(100)),
        ("age", json!(0), json!(1.5)),
        ("age", json!(150), json!("30")),
        ("verified", json!(false), json!("true")),
        ("plain", json!("a"), json!("c")),
        ("titled", json!("b"), json!("Second")),
        ("older", json!("a"), json!("First")),
        ("some", json!(["a", "c"]), json!(["a", "b", "c"])),
        ("some", json!(["b"]), json!([])),
        ("some_titled", json!([]), json!(["First"])),
    ] {
        let content = |value: &Value| json!({ "name": "Ada", field: value });
        assert_eq!(
            read(&everything(), &accept(&content(&good))),
            Ok(Answer::Accepted(content(&good))),
            "{field}"
        );
        assert_eq!(
            read(&everything(), &accept(&content(&bad)))
                .expect_err(field)
                .issues[0]
                .path
                .split('/')
                .nth(1),
            Some(field)
        );
    }
    assert!(
        read(&everything(), &accept(&json!({}))).is_err(),
        "the name is required, and its default is no answer"
    );
}

#[test]
fn what_was_not_asked_is_left_out() {
    let form = Form::new("Who?").required("name", Text::new());
    let given = accept(&json!({ "name": "Ada", "confirm": true }));
    assert_eq!(
        read(&form, &given),
        Ok(Answer::Accepted(json!({ "name": "Ada" })))
    );
}

#[test]
fn a_form_without_fields_asks_for_a_yes() {
    let form = Form::new("Delete 3 files?");
    assert_eq!(form.check(), Ok(()));
    assert_eq!(
        read(&form, &json!({ "action": "accept" })),
        Ok(Answer::Accepted(json!({})))
    );
    assert_eq!(read(&form, &json!({ "action": "decline" })), Ok(Answer::Declined));
}

#[test]
fn the_user_sees_the_deadline_and_what_was_wrong() {
    let form = Form::new("How many?")
        .required("guests", Integer::new().range(1, 9))
        .within(std::time::Duration::from_secs(600));
    let question = Question::from(&form);
    let first = params(&question.request(None).expect("a request"));
    assert_eq!(
        first["message"],
        "How many?\n\nThis question is open for 10 minutes."
    );
    let misfit = question
        .read(&accept(&json!({ "guests": 12 })))
        .expect_err("too many");
    let again = params(&question.request(Some(&misfit)).expect("a request"));
    let message = again["message"].as_str().expect("a message");
    assert!(
        message.contains("didn't fit") && message.contains("/guests") && message.contains("12"),
        "{message}"
    );
}

#[test]
fn answers_show_nothing_in_logs() {
    let answer = Answer::Accepted(json!({ "name": "Ada Lovelace" }));
    assert_eq!(format!("{answer:?}"), "Accepted(***)");
    let mut answers = Answers::default();
    answers.give("who", &(&everything()).into(), accept(&json!({ "name": "Ada" })));
    let shown = format!("{answers:?}");
    assert!(shown.contains("who") && !shown.contains("Ada"), "{shown}");
}

#[test]
fn the_three_noes_are_told_apart_and_change_nothing() {
    let codes: Vec<String> = [Answer::<()>::Declined, Answer::Cancelled, Answer::Expired]
        .into_iter()
        .map(|answer| {
            let reason = answer.or_reason().expect_err("no yes");
            assert_eq!(reason.effect, Some(Effect::NotApplied));
            reason.code
        })
        .collect();
    assert_eq!(codes, ["USER_DECLINED", "USER_CANCELLED", "INPUT_EXPIRED"]);
    assert_eq!(Answer::Accepted(5).or_reason(), Ok(5));
}

#[test]
fn users_are_sent_to_safe_urls_only() {
    for url in [
        "https://example.org/pay?id=1",
        "http://localhost:8080/",
        "http://127.0.0.1/x",
        "http://[::1]:9/",
    ] {
        assert_eq!(Link::new("m", url).check(), Ok(()), "{url}");
    }
    for url in [
        "http://example.org/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "/relative",
        "",
        "https://user:pw@example.org/",
        "http://localhost@example.org/",
        "ftp://example.org/",
    ] {
        let fault = Link::new("m", url).check().expect_err(url);
        assert!(!fault.to_string().contains("pw"), "{fault}");
    }
}

#[test]
fn an_answer_counts_for_the_question_that_was_shown() {
    let about = |room: &str| Question::from(Form::new(format!("Book room {room}?")));
    let mut answers = Answers::default();
    assert!(answers.give("yes", &about("12"), json!({ "action": "accept" })));
    assert!(matches!(
        answers.to("yes", &about("12")),
        Some(Ok(Answer::Accepted(_)))
    ));
    assert!(answers.to("yes", &about("14")).is_none());
    assert!(
        !answers.give("yes", &about("12"), json!({ "action": "decline" })),
        "the first answer stands"
    );
    assert!(matches!(
        answers.to("yes", &about("12")),
        Some(Ok(Answer::Accepted(_)))
    ));
}

proptest! {
    #[test]
    fn only_an_accept_is_a_yes(action in ".{0,10}", content in any::<Option<i64>>()) {
        let form = Form::new("m").optional("n", Integer::new());
        let given = json!({ "action": action, "content": content.map(|n| json!({ "n": n })) });
        let taken = read(&form, &given);
        prop_assert_eq!(matches!(taken, Ok(Answer::Accepted(_))), action == "accept");
    }

    #[test]
    fn whatever_is_accepted_fits(guests in any::<i64>()) {
        let form = Form::new("m").required("guests", Integer::new().range(1, 9));
        let taken = read(&form, &accept(&json!({ "guests": guests })));
        prop_assert_eq!(taken.is_ok(), (1..=9).contains(&guests));
    }

    #[test]
    fn any_name_makes_a_form_or_a_fault(name in ".{0,20}", title in ".{0,20}") {
        let form = Form::new("m").required(name, Text::new().title(title));
        if form.check().is_ok() {
            prop_assert!(Question::from(&form).request(None).is_ok());
            prop_assert_eq!(Form::from_schema("m", &form.schema()), Ok(form));
        }
    }
}
