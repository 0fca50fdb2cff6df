//! What our own API answers, and that reading it back never learns more than was known.

use std::time::Duration;

use ::http::Method;
use jiff::Timestamp;

use super::*;
use crate::http::{Answer, Body, Credential, Exchange, Sign, Terms};
use crate::outcome::{Issue, Receipt};

fn reason(code: &str) -> Reason {
    Reason::new(code, "It is so")
}

fn body(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap()
}

fn none(outcome: Outcome<Value>) -> Outcome<Value> {
    outcome
}

#[test]
fn values_and_nothing_are_answered_as_they_are() {
    let api = Api::new();
    let reply = api.reply(&Outcome::completed(json!({ "room": 12 })));
    assert_eq!(
        (reply.status, reply.media_type),
        (StatusCode::OK, Some("application/json"))
    );
    assert_eq!(body(&reply), json!({ "room": 12 }));
    let reply = api.reply(&Outcome::completed(()));
    assert_eq!(
        (reply.status, reply.media_type, reply.body.len()),
        (StatusCode::NO_CONTENT, None, 0)
    );
    let odd = std::collections::BTreeMap::from([(Some(1), 2)]);
    let odd = api.reply(&Outcome::completed(std::collections::BTreeMap::from([(
        vec![odd],
        1,
    )])));
    assert_eq!(
        odd.status,
        StatusCode::INTERNAL_SERVER_ERROR,
        "done, but it can't be said"
    );
    assert_eq!(body(&odd)["candor"]["effect"], "applied");
}

#[test]
fn an_acceptance_has_a_place_only_if_it_is_one() {
    let reply = Api::new().reply(&none(Outcome::accepted("/jobs/7")));
    assert_eq!(
        (reply.status, &reply.headers[LOCATION]),
        (StatusCode::ACCEPTED, &HeaderValue::from_static("/jobs/7"))
    );
    let reply = Api::new().reply(&none(Outcome::accepted("job 7")));
    assert!(reply.headers.is_empty());
    assert_eq!(body(&reply)["id"], "job 7");
}

#[test]
fn problems_have_their_type_code_pointers_and_wait() {
    let issue = Issue {
        path: "/a b/0".to_owned(),
        rule: "pattern".to_owned(),
        expected: "dd/mm/yyyy".to_owned(),
        received: Some("\"x\"".to_owned()),
        hint: None,
    };
    let told = reason("BAD_DATE")
        .kind(Kind::InvalidInput)
        .issues(vec![issue])
        .retry_after(Duration::from_millis(1500));
    let reply = Api::with_types("https://rooms.example/problems/").reply(&none(Outcome::Rejected(told)));
    assert_eq!(
        (reply.status.as_u16(), reply.media_type),
        (422, Some("application/problem+json"))
    );
    assert_eq!(reply.headers[RETRY_AFTER], "2");
    let body = body(&reply);
    assert_eq!(body["type"], "https://rooms.example/problems/BAD_DATE");
    assert_eq!(body["errors"][0]["pointer"], "#/a%20b/0");
    assert_eq!(
        (&body["status"], &body["code"]),
        (&json!(422), &json!("BAD_DATE"))
    );
    let reply = Api::new().reply(&none(Outcome::Rejected(reason("X"))));
    let body = self::body(&reply);
    assert_eq!(
        (&body["type"], &body["title"]),
        (&json!("about:blank"), &json!("Conflict"))
    );
    assert!(body.get("errors").is_none() && reply.headers.is_empty());
}

/// Every outcome with every effect and kind, answered and read again by status alone.
#[test]
fn reading_an_answer_back_never_learns_more_than_was_known() {
    // Else a 403 is about the reader's own credential, and tells nothing.
    let terms = Terms::default().credential(Credential::Callers);
    let effects = [
        Effect::NotApplied,
        Effect::Applied,
        Effect::Partial,
        Effect::Unknown,
    ];
    for kind in Kind::ALL {
        for effect in effects {
            let told = || reason("X").kind(*kind).effect(effect);
            for outcome in [
                Outcome::Rejected(told()),
                Outcome::Failed(told()),
                Outcome::Unknown(told()),
            ] {
                let note = format!("{outcome:?}");
                let read = again(&Api::new().reply(&none(outcome)), &terms);
                let (Outcome::Rejected(read) | Outcome::Failed(read) | Outcome::Unknown(read)) = read else {
                    panic!("read as a success: {note}")
                };
                assert!(
                    read.effect == Some(Effect::Unknown) || read.effect == Some(effect),
                    "{note} {read:?}"
                );
                assert_eq!(read.code, "X");
            }
        }
    }
    let parts = Parts {
        value: Some(json!({ "room": 12 })),
        parts: vec![
            Part {
                name: "booking".to_owned(),
                outcome: Word::Completed,
                effect: Effect::Applied,
                code: None,
            },
            Part {
                name: "notice".to_owned(),
                outcome: Word::Failed,
                effect: Effect::NotApplied,
                code: None,
            },
        ],
        message: "Booked, notice not sent".to_owned(),
        code: "NOTICE_NOT_SENT".to_owned(),
        receipt: Some(Receipt("C-1".to_owned())),
    };
    let reply = Api::new().reply(&Outcome::Partial(parts));
    assert_eq!(body(&reply)["parts"][0]["effect"], "applied");
    assert_eq!(body(&reply)["candor"]["outcome"], "partial");
    let none_done = Parts::<Value>::new("X", "0 of 1 done").not_done("booking", "Y");
    let reply_of_none = Api::new().reply(&Outcome::Partial(none_done));
    assert_eq!(body(&reply_of_none)["candor"]["outcome"], "failed");
    assert_eq!(body(&reply_of_none)["candor"]["effect"], "not_applied");
    assert!(matches!(again(&reply, &terms), Outcome::Unknown(_)));
    assert!(matches!(
        again(
            &Api::new().reply(&none(Outcome::accepted("7"))),
            &Terms::default()
        ),
        Outcome::Accepted(_)
    ));
}

#[test]
fn a_sign_reads_back_what_the_status_had_to_leave_open() {
    let sent = Outcome::Failed(reason("FULL").effect(Effect::NotApplied));
    let reply = Api::with_types("https://x.example/").reply(&none(sent));
    let terms = Terms::default().failed(
        Sign::of_type("https://x.example/FULL"),
        reason("FULL").effect(Effect::NotApplied),
    );
    let Outcome::Failed(read) = again(&reply, &terms) else {
        panic!("not failed")
    };
    assert_eq!(read.effect, Some(Effect::NotApplied));
}

fn again(reply: &Reply, terms: &Terms) -> Outcome<Value> {
    let (head, body) = Response::from(reply.clone()).into_parts();
    let answer = Answer::Answered {
        status: head.status,
        headers: head.headers,
        body: Body::Whole(body),
    };
    Exchange {
        method: Method::POST,
        answer,
    }
    .read(terms, Timestamp::UNIX_EPOCH)
}
