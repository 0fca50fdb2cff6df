//! Each way an exchange can end, in pairs: it fires where it should, and stays quiet where it should not.

use std::time::Duration;

use candor_core::judgment::verdict::{Effect, Kind, Outcome as Word, Repeat};
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::http::{Credential, Sign};
use crate::outcome::{Reason, Receipt, Reference};

#[derive(Debug, Deserialize, PartialEq)]
struct Booking {
    room: String,
}

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn terms() -> Terms {
    Terms::new("the booking service")
}

fn answer(method: Method, status: u16, headers: &[(&'static str, &str)], body: &str) -> Exchange {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    let (head, ()) = response.body(()).unwrap().into_parts();
    let body = Body::from(body.as_bytes().to_vec());
    Exchange {
        method,
        answer: Answer::Answered {
            status: head.status,
            headers: head.headers,
            body,
        },
    }
}

fn post(status: u16, headers: &[(&'static str, &str)], body: &str) -> Exchange {
    answer(Method::POST, status, headers, body)
}

const JSON: (&str, &str) = ("content-type", "application/json");
const PROBLEM: (&str, &str) = ("content-type", "application/problem+json; charset=utf-8");

fn booked(exchange: &Exchange) -> Outcome<Booking> {
    exchange.read(&terms(), NOW)
}

/// The reason, with the word for the outcome.
fn reason<T: std::fmt::Debug>(outcome: Outcome<T>) -> (Word, Reason) {
    match outcome {
        Outcome::Rejected(reason) => (Word::Rejected, reason),
        Outcome::Failed(reason) => (Word::Failed, reason),
        Outcome::Unknown(reason) => (Word::Unknown, reason),
        other => panic!("no reason in {other:?}"),
    }
}

fn short(outcome: Outcome<Booking>) -> (Word, Effect, Option<Kind>, Option<Repeat>) {
    let (word, reason) = reason(outcome);
    (word, reason.effect.unwrap(), reason.kind, reason.repeat)
}

#[test]
fn data_as_promised_is_done_and_another_shape_is_not_known_to_be() {
    let Outcome::Completed(done) = booked(&post(200, &[JSON], r#"{"room":"12"}"#)) else {
        panic!("not done")
    };
    assert_eq!(
        done.value,
        Booking {
            room: "12".to_owned()
        }
    );
    for body in [r#"{"rooms":"12"}"#, r#"{"room":"12"#, "null", "[]"] {
        let said = booked(&post(200, &[JSON], body));
        let (word, told) = reason(said);
        assert_eq!(
            (word, told.effect),
            (Word::Unknown, Some(Effect::Unknown)),
            "{body}"
        );
        assert_eq!(told.code, "HTTP_BODY_NOT_AS_PROMISED");
    }
    let said = booked(&answer(Method::GET, 200, &[JSON], "{}"));
    let expected = (
        Word::Failed,
        Effect::NotApplied,
        Some(Kind::ContractBroken),
        Some(Repeat::SameAnswer),
    );
    assert_eq!(short(said), expected);
}

#[test]
fn a_page_is_no_data_even_at_200_and_even_if_it_says_it_is_json() {
    let page = "<!doctype html><title>Sign in</title>";
    for headers in [&[("content-type", "text/html; charset=utf-8")][..], &[JSON], &[]] {
        let (word, told) = reason(post(200, headers, page).read::<Value>(&terms(), NOW));
        assert_eq!(
            (word, told.kind),
            (Word::Unknown, Some(Kind::ContractBroken)),
            "{headers:?}"
        );
        assert!(!told.message.contains("Sign in"), "{}", told.message);
    }
    let text = post(200, &[("content-type", "text/html")], page);
    let Outcome::Completed(done) = text.read_bytes(&terms().media_type("text/html"), NOW) else {
        panic!("promised")
    };
    assert_eq!(done.value, page);
    let other = post(
        200,
        &[("content-type", "application/hal+json")],
        r#"{"room":"1"}"#,
    );
    assert!(
        matches!(booked(&other), Outcome::Completed(_)),
        "another JSON is JSON"
    );
}

#[test]
fn success_without_a_body_is_success_and_the_text_says_what_came() {
    for status in [204, 205] {
        let Outcome::Completed(done) = post(status, &[], "").read::<()>(&terms(), NOW) else {
            panic!("{status}")
        };
        let said = serde_json::to_string(&done.content).unwrap();
        assert!(
            said.contains(&format!("The booking service answered {status}")),
            "{said}"
        );
        let or = post(status, &[], "").read_or(&terms(), NOW, |_| Booking { room: "?".to_owned() });
        assert!(matches!(or, Outcome::Completed(_)));
        // The action is done; only its data is missing.
        let Outcome::Partial(parts) = booked(&post(status, &[], "")) else {
            panic!("{status}")
        };
        assert_eq!(
            (parts.parts[0].outcome, parts.parts[0].effect),
            (Word::Completed, Effect::Applied)
        );
        let read = booked(&answer(Method::GET, status, &[], ""));
        assert_eq!(reason(read).0, Word::Failed, "a read without data is none");
    }
    assert!(matches!(
        post(200, &[], "").read::<()>(&terms(), NOW),
        Outcome::Completed(_)
    ));
    assert_eq!(
        reason(booked(&post(200, &[], ""))).0,
        Word::Unknown,
        "200 promises data"
    );
    let head = answer(Method::HEAD, 200, &[JSON], "").read::<()>(&terms(), NOW);
    assert!(matches!(head, Outcome::Completed(_)));
}

#[test]
fn accepted_is_never_done_and_can_be_followed() {
    let reference = |exchange: &Exchange, terms: &Terms| match exchange.read::<Value>(terms, NOW) {
        Outcome::Accepted(Reference(reference)) => reference,
        other => panic!("{other:?}"),
    };
    let both = post(202, &[JSON, ("location", "/jobs/7")], r#"{"id":4711,"job":"j"}"#);
    assert_eq!(reference(&both, &terms()), "/jobs/7");
    assert_eq!(reference(&post(202, &[JSON], r#"{"id":4711}"#), &terms()), "4711");
    assert_eq!(
        reference(
            &post(202, &[JSON], r#"{"id":1,"job":"j"}"#),
            &terms().reference_at("/job")
        ),
        "j"
    );
    assert_eq!(reference(&post(202, &[], ""), &terms()), "", "still accepted");
    assert_eq!(
        reference(&post(202, &[JSON], r#"{"room":"12"}"#), &terms()),
        "",
        "data makes it no success"
    );
    assert_eq!(
        reference(&post(303, &[("location", "/orders/1")], ""), &terms()),
        "/orders/1"
    );
    assert_eq!(reason(booked(&post(303, &[], ""))).0, Word::Unknown);
    assert_eq!(
        reason(booked(&answer(Method::GET, 303, &[("location", "/x")], ""))).0,
        Word::Failed
    );
}

#[test]
fn what_proves_it_comes_from_where_it_is_declared() {
    let receipt = |exchange: &Exchange, terms: &Terms| match exchange.read::<Value>(terms, NOW) {
        Outcome::Completed(done) => done.receipt,
        other => panic!("{other:?}"),
    };
    let created = post(
        201,
        &[JSON, ("location", "/bookings/7")],
        r#"{"confirmation":"C-1"}"#,
    );
    assert_eq!(
        receipt(&created, &terms()),
        Some(Receipt("/bookings/7".to_owned()))
    );
    assert_eq!(
        receipt(&created, &terms().receipt_at("/confirmation")),
        Some(Receipt("C-1".to_owned()))
    );
    let found = post(200, &[JSON, ("location", "/bookings/7")], "{}");
    assert_eq!(
        receipt(&found, &terms().receipt_at("/confirmation")),
        None,
        "nothing is made up"
    );
}

#[test]
fn parts_are_ruled_one_by_one_and_never_left_out() {
    let terms = terms().parts("/items", "/name", "/status");
    let body = json!({ "items": [
        { "name": "a", "status": 200 }, { "name": "b", "status": 409 }, { "name": "c", "status": 500 },
        { "name": "d", "status": 202 }, { "name": 5 }, { "status": 207 },
    ] });
    let Outcome::Partial(parts) = post(207, &[JSON], &body.to_string()).read::<Value>(&terms, NOW) else {
        panic!("not in parts")
    };
    let said: Vec<_> = parts
        .parts
        .iter()
        .map(|part| (part.name.as_str(), part.outcome, part.effect))
        .collect();
    assert_eq!(
        said,
        [
            ("a", Word::Completed, Effect::Applied),
            ("b", Word::Rejected, Effect::NotApplied),
            ("c", Word::Failed, Effect::Unknown),
            ("d", Word::Accepted, Effect::Unknown),
            ("5", Word::Unknown, Effect::Unknown),
            ("#6", Word::Unknown, Effect::Unknown),
        ]
    );
    assert_eq!(parts.message, "The booking service did 1 of 6 parts");
    let codes: Vec<_> = parts.parts.iter().map(|part| part.code.as_deref()).collect();
    assert_eq!(
        codes,
        [
            None,
            Some("HTTP_409"),
            Some("HTTP_500"),
            None,
            None,
            Some("HTTP_207")
        ]
    );
    let all = json!({ "items": [{ "name": "a", "status": 200 }] }).to_string();
    assert!(matches!(
        post(207, &[JSON], &all).read::<Value>(&terms, NOW),
        Outcome::Completed(_)
    ));
    let undeclared = post(207, &[JSON], &all).read::<Value>(&self::terms(), NOW);
    assert_eq!(
        reason(undeclared).0,
        Word::Unknown,
        "without a declared place nothing is guessed"
    );
    for body in [r#"{"items":[]}"#, "{}"] {
        assert_eq!(
            reason(post(207, &[JSON], body).read::<Value>(&terms, NOW)).0,
            Word::Unknown,
            "{body}"
        );
    }
}

#[test]
fn a_problem_is_known_by_its_type_and_never_by_its_sentences() {
    let taken = Reason::new("ROOM_UNAVAILABLE", "The room is taken").kind(Kind::BusinessRule);
    let terms = terms().rejected(Sign::of_type("https://rooms.example/taken"), taken);
    let body = |of_type: &str| {
        json!({ "type": of_type, "title": "Taken", "detail": "room 12 14:00-15:00" }).to_string()
    };
    let (word, told) =
        reason(post(409, &[PROBLEM], &body("https://rooms.example/taken")).read::<Value>(&terms, NOW));
    assert_eq!((word, told.code.as_str()), (Word::Rejected, "ROOM_UNAVAILABLE"));
    assert_eq!(
        (told.effect, told.repeat),
        (Some(Effect::NotApplied), Some(Repeat::SameAnswer))
    );
    assert_eq!(
        told.message,
        "The room is taken, in its words: \"Taken: room 12 14:00-15:00\"; problem type https://rooms.example/taken"
    );
    // Another type with the same words is another problem.
    let (_, told) =
        reason(post(409, &[PROBLEM], &body("https://rooms.example/closed")).read::<Value>(&terms, NOW));
    assert_eq!(told.code, "HTTP_409");
    for words in ["Success, booked", "nothing was changed", "Error: retry at once"] {
        let body = json!({ "detail": words }).to_string();
        let said = short(booked(&post(500, &[PROBLEM], &body)));
        assert_eq!(said, short(booked(&post(500, &[], ""))), "{words}");
    }
}

#[test]
fn a_sign_can_say_what_the_status_leaves_open_and_no_more() {
    let sign = || Sign::code("SOLD_OUT");
    let body = r#"{"code":"SOLD_OUT"}"#;
    let read =
        |terms: &Terms, method: Method, status| short(answer(method, status, &[JSON], body).read(terms, NOW));
    let plain = terms().rejected(sign(), Reason::new("SOLD_OUT", "Sold out"));
    assert_eq!(
        read(&plain, Method::POST, 503),
        (
            Word::Rejected,
            Effect::Unknown,
            Some(Kind::DependencyUnavailable),
            Some(Repeat::MayDuplicate)
        ),
        "what the reason leaves open follows from the status"
    );
    let known = terms().rejected(
        sign(),
        Reason::new("SOLD_OUT", "Sold out").effect(Effect::NotApplied),
    );
    assert_eq!(
        read(&known, Method::POST, 503),
        (Word::Rejected, Effect::NotApplied, None, None)
    );
    let open = terms().unknown(
        sign(),
        Reason::new("SOLD_OUT", "Who knows").effect(Effect::NotApplied),
    );
    assert_eq!(
        read(&open, Method::POST, 409).1,
        Effect::Unknown,
        "unknown is unknown"
    );
    assert_eq!(
        read(&open, Method::GET, 409).0,
        Word::Failed,
        "a read changed nothing: that much is known"
    );
    let failed = terms().failed(Sign::Status(StatusCode::CONFLICT), Reason::new("X", "x"));
    assert_eq!(read(&failed, Method::POST, 409).0, Word::Failed);
    assert_eq!(
        read(&failed, Method::POST, 412).0,
        Word::Rejected,
        "another status"
    );
}

#[test]
fn failures_inside_a_success_are_seen_where_they_are_declared() {
    let limited = Reason::new("LIMITED", "Too many calls")
        .kind(Kind::RateLimited)
        .effect(Effect::NotApplied);
    let terms = terms().rejected(Sign::member("/result/type", "error"), limited);
    let body = r#"{"result":{"type":"error","error":"rate limit"}}"#;
    let (word, told) = reason(post(200, &[JSON], body).read::<Value>(&terms, NOW));
    assert_eq!(
        (word, told.kind, told.effect),
        (Word::Rejected, Some(Kind::RateLimited), Some(Effect::NotApplied))
    );
    let fine = r#"{"result":{"type":"answer","error":"Error: a line of a log"}}"#;
    assert!(matches!(
        post(200, &[JSON], fine).read::<Value>(&terms, NOW),
        Outcome::Completed(_)
    ));
    // Data may have members called type and code.
    let terms = self::terms().rejected(Sign::code("A1"), Reason::new("A1", "a1"));
    assert!(matches!(
        post(200, &[JSON], r#"{"code":"A1"}"#).read::<Value>(&terms, NOW),
        Outcome::Completed(_)
    ));
    assert_eq!(
        reason(post(200, &[PROBLEM], r#"{"code":"A1"}"#).read::<Value>(&terms, NOW)).0,
        Word::Rejected
    );
    let undeclared =
        post(200, &[PROBLEM], r#"{"type":"https://x.example/y"}"#).read::<Value>(&self::terms(), NOW);
    assert_eq!(reason(undeclared).0, Word::Unknown, "problem details are no data");
}

#[test]
fn pointers_become_places_in_the_arguments() {
    let body =
        json!({ "errors": [{ "pointer": "#/stay/from", "detail": "is past" }, { "pointer": "#/guests" }] });
    let terms = terms().argument("/stay/from", "/arrival");
    let (word, told) = reason(post(422, &[PROBLEM], &body.to_string()).read::<Value>(&terms, NOW));
    assert_eq!((word, told.kind), (Word::Rejected, Some(Kind::InvalidInput)));
    let paths: Vec<_> = told.issues.iter().map(|issue| issue.path.as_str()).collect();
    assert_eq!(paths, ["/arrival", "/guests"]);
    assert_eq!(reason(booked(&post(422, &[PROBLEM], "{}"))).1.issues, []);
    let (_, data) = reason(booked(&post(200, &[JSON], &body.to_string())));
    assert_eq!(
        data.issues,
        [],
        "data that has errors in it is not problem details"
    );
}

#[test]
fn each_refusal_keeps_status_code_and_the_id_of_its_request() {
    let missing = post(
        404,
        &[PROBLEM, ("x-request-id", "r-1")],
        r#"{"title":"No such room","code":"NO_ROOM"}"#,
    );
    let (_, missing) = reason(booked(&missing));
    assert_eq!(missing.code, "NO_ROOM");
    assert_eq!(
        missing.message,
        "The booking service answered 404 Not Found, in its words: \"No such room\"; its id of the request: r-1"
    );
    let (_, broken) = reason(booked(&post(
        500,
        &[JSON],
        r#"{"message":"oops","code":"not a code"}"#,
    )));
    assert_eq!(broken.code, "HTTP_500");
    assert_ne!(missing.message, broken.message);
    let again = reason(booked(&post(
        404,
        &[PROBLEM],
        r#"{"title":"Not Found","detail":"no room 12"}"#,
    )))
    .1;
    assert_eq!(
        again.message, "The booking service answered 404 Not Found, in its words: \"no room 12\"",
        "a title that is the status is said once"
    );
    let (_, page) = reason(booked(&post(
        500,
        &[("content-type", "text/html")],
        "<h1>oops at 10.0.0.7</h1>",
    )));
    assert_eq!(
        page.message,
        "The booking service answered 500 Internal Server Error"
    );
}

#[test]
fn trouble_with_our_own_credential_is_not_the_callers_business() {
    let body = r#"{"error":"invalid_token","error_description":"token of svc-rooms expired"}"#;
    for status in [401, 403, 407] {
        let (word, told) = reason(booked(&post(status, &[JSON], body)));
        assert_eq!(
            (word, told.kind),
            (Word::Rejected, Some(Kind::PermissionDenied)),
            "{status}"
        );
        assert!(!told.message.contains("svc-rooms"), "{}", told.message);
    }
    let callers = terms().credential(Credential::Callers);
    let (_, told) = reason(post(403, &[JSON], body).read::<Value>(&callers, NOW));
    assert!(
        told.message.contains("token of svc-rooms expired"),
        "{}",
        told.message
    );
    let (_, proxy) = reason(post(407, &[JSON], body).read::<Value>(&callers, NOW));
    assert!(!proxy.message.contains("svc-rooms"), "a proxy is always ours");
}

#[test]
fn a_wait_is_told_where_one_is_asked_for() {
    let wait = |exchange: &Exchange| reason(booked(exchange)).1.retry_after;
    assert_eq!(
        wait(&post(429, &[("retry-after", "7")], "")),
        Some(Duration::from_secs(7))
    );
    let date = ("retry-after", "Thu, 01 Jan 1970 00:01:00 GMT");
    assert_eq!(wait(&post(503, &[date], "")), Some(Duration::from_secs(60)));
    assert_eq!(wait(&post(503, &[("retry-after", "soon")], "")), None);
    let said = short(booked(&post(503, &[("retry-after", "7")], "")));
    assert_eq!(
        said.1,
        Effect::Unknown,
        "a wait says nothing about the first call"
    );
}

#[test]
fn a_lost_answer_is_unknown_and_a_request_that_never_left_changed_nothing() {
    let read = |exchange: Exchange| short(booked(&exchange));
    for how in [Loss::Closed, Loss::TimedOut, Loss::NotHttp, Loss::Other] {
        let open = (
            Word::Unknown,
            Effect::Unknown,
            Some(Kind::OutcomeUnknown),
            Some(Repeat::MayDuplicate),
        );
        assert_eq!(read(Exchange::lost(Method::POST, how)), open);
        let again = (
            Word::Unknown,
            Effect::Unknown,
            Some(Kind::OutcomeUnknown),
            Some(Repeat::MayHelp),
        );
        assert_eq!(read(Exchange::lost(Method::PUT, how)), again);
        let none = (
            Word::Failed,
            Effect::NotApplied,
            Some(Kind::OutcomeUnknown),
            Some(Repeat::MayHelp),
        );
        assert_eq!(read(Exchange::lost(Method::GET, how)), none);
    }
    use NoConnection::{NoAddress, Other, Refused, TimedOut, Tls};
    for why in [NoAddress, Refused, TimedOut, Tls, Other] {
        let not = (
            Word::Failed,
            Effect::NotApplied,
            Some(Kind::DependencyUnavailable),
            Some(Repeat::MayHelp),
        );
        assert_eq!(read(Exchange::never_connected(Method::POST, why)), not);
        assert_eq!(read(Exchange::never_connected(Method::GET, why)), not);
    }
}

#[test]
fn a_body_that_is_too_long_or_broken_off_costs_its_data_and_not_its_status() {
    let body = r#"{"room":"12"}"#;
    let long = post(200, &[JSON], body).read::<Booking>(&terms().most(body.len() - 1), NOW);
    assert_eq!(reason(long).0, Word::Unknown);
    assert!(matches!(
        post(200, &[JSON], body).read::<Booking>(&terms().most(body.len()), NOW),
        Outcome::Completed(_)
    ));
    for body in [Body::TooLong, Body::Broken] {
        let mut exchange = post(409, &[PROBLEM], "");
        if let Answer::Answered { body: place, .. } = &mut exchange.answer {
            *place = body;
        }
        assert_eq!(
            short(booked(&exchange)),
            short(booked(&post(409, &[PROBLEM], "")))
        );
    }
}
