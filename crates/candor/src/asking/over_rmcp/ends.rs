//! The four ends, what is asked again, and how long is waited, in both eras with the same tool.

use std::time::Duration;

use rmcp::model::{ClientCapabilities, ProtocolVersion};
use serde_json::json;

use super::client::{Act, ERAS, User, accept, asked, call, connect, forms, once, pages, text};
use super::wrapper::Server;
use crate::asking::{Answer, Choice, Form, Integer, Link, Text};
use crate::call::{Call, Halt};

async fn ask_name(call: Call) -> Result<String, Halt> {
    let form = Form::new("Who?").required("name", Text::new().length(1, 9));
    Ok(match call.ask("name", &form).await? {
        Answer::Accepted(value) => format!("done for {}", value["name"].as_str().unwrap_or_default()),
        no => format!("NOT DONE {}", no.or_reason().expect_err("no yes").code),
    })
}

#[tokio::test]
async fn accept_decline_and_cancel_are_three_ends() {
    for modern in ERAS {
        for (act, end) in [
            (Act::Accept(json!({ "name": "Ada" })), "done for Ada"),
            (Act::Decline, "NOT DONE USER_DECLINED"),
            // The content of a refusal is not looked at.
            (Act::Cancel(json!({ "name": 7 })), "NOT DONE USER_CANCELLED"),
        ] {
            let user = User::new(forms(), [act]);
            let client = connect(Server::new(ask_name), user.clone(), modern).await;
            assert_eq!(call(&client).await, end, "modern: {modern}");
            let message = user.seen()[0]["message"].as_str().expect("a message").to_owned();
            assert_eq!(message, "Who?\n\nThis question is open for 10 minutes.");
        }
    }
}

#[tokio::test]
async fn an_answer_that_breaks_its_form_is_asked_for_again() {
    for modern in ERAS {
        let acts = [json!({ "name": "" }), json!({}), json!({ "name": "Ada" })].map(Act::Accept);
        let user = User::new(forms(), acts);
        let client = connect(Server::new(ask_name), user.clone(), modern).await;
        assert_eq!(call(&client).await, "done for Ada", "modern: {modern}");
        let seen = user.seen();
        assert_eq!(seen.len(), 3);
        let again = seen[1]["message"].as_str().expect("a message");
        assert!(
            again.contains("didn't fit") && again.contains("/name"),
            "modern: {modern}: {again}"
        );
    }
}

#[tokio::test]
async fn answers_that_never_fit_end_the_asking() {
    let user = User::new(
        forms(),
        [json!({ "name": 1 }), json!({ "name": 2 }), json!({ "name": 3 })].map(Act::Accept),
    );
    let client = connect(Server::new(ask_name), user, false).await;
    assert_eq!(call(&client).await, "HALTED Misfits [\"name\"]");
    // A modern client goes round for as long as it likes, and not without end.
    let client = connect(Server::new(ask_name), User::new(forms(), []), true).await;
    let mut answer = once(&client, &json!({}), None, &[]).await;
    for _ in 0..16 {
        let (_, state) = asked(answer);
        answer = once(
            &client,
            &json!({}),
            Some(&state),
            &[("name", accept(&json!({ "name": 1 })))],
        )
        .await;
    }
    assert_eq!(text(answer.expect("an answer")), "HALTED Misfits [\"name\"]");
}

#[tokio::test(start_paused = true)]
async fn the_users_time_is_the_forms_own() {
    // Longer than any usual timeout of a request, shorter than the form's.
    let user = User::new(
        forms(),
        [Act::After(Duration::from_secs(54 * 60), json!({ "sure": true }))],
    );
    let tool = |call: Call| async move {
        let form = Form::new("Sure?")
            .optional("sure", crate::asking::Boolean::new())
            .within(Duration::from_secs(3600));
        Ok(format!("{:?}", call.ask("sure", &form).await?))
    };
    let client = connect(Server::new(tool), user, false).await;
    assert_eq!(call(&client).await, "Accepted(***)");
}

#[tokio::test(start_paused = true)]
async fn no_answer_in_time_is_an_end_of_its_own() {
    let user = User::new(forms(), [Act::Never]);
    let client = connect(Server::new(ask_name), user.clone(), false).await;
    assert_eq!(call(&client).await, "NOT DONE INPUT_EXPIRED");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(
        user.seen().iter().any(|told| told.get("cancelled").is_some()),
        "the question goes off the screen"
    );
}

#[tokio::test]
async fn a_page_is_shown_where_the_client_can() {
    async fn tool(call: Call) -> Result<String, Halt> {
        let link = Link::new("Log in at the bank", "https://bank.example/login?flow=1");
        Ok(format!("{:?}", call.follow_url("bank", link).await?))
    }
    for modern in ERAS {
        for (act, end) in [
            (Act::Accept(json!({})), "Accepted(***)"),
            (Act::Decline, "Declined"),
        ] {
            let user = User::new(pages(), [act]);
            let client = connect(Server::new(tool), user.clone(), modern).await;
            assert_eq!(call(&client).await, end, "modern: {modern}");
            assert_eq!(user.seen()[0]["mode"], "url");
            assert_eq!(user.seen()[0]["url"], "https://bank.example/login?flow=1");
        }
        let user = User::new(forms(), []);
        let client = connect(Server::new(tool), user.clone(), modern).await;
        assert_eq!(
            call(&client).await,
            "HALTED Unable(NotOffered(Url)) [\"bank\"]",
            "modern: {modern}"
        );
        assert!(user.seen().is_empty());
    }
}

#[tokio::test]
async fn a_client_is_asked_in_the_words_of_its_revision() {
    let tool = |call: Call| async move {
        let form =
            Form::new("Which?").required("room", Choice::titled([("12", "Room 12"), ("14", "Room 14")]));
        Ok(call
            .ask("room", &form)
            .await?
            .or_reason()
            .map_or_else(|no| no.code, |value| value["room"].to_string()))
    };
    for (revision, named) in [
        (ProtocolVersion::V_2025_06_18, "enumNames"),
        (ProtocolVersion::V_2025_11_25, "oneOf"),
    ] {
        let user = User::new(forms(), [Act::Accept(json!({ "room": "14" }))]).of_revision(revision.clone());
        let client = connect(Server::new(tool), user.clone(), false).await;
        assert_eq!(call(&client).await, "\"14\"");
        let room = &user.seen()[0]["requestedSchema"]["properties"]["room"];
        assert!(room.get(named).is_some(), "{revision}: {room}");
    }
    let user = User::new(forms(), []).of_revision(ProtocolVersion::V_2025_03_26);
    let client = connect(Server::new(tool), user.clone(), false).await;
    assert_eq!(
        call(&client).await,
        "HALTED Unable(NotOffered(Form)) [\"room\"]",
        "that revision has no elicitation"
    );
    assert!(user.seen().is_empty());
}

#[tokio::test]
async fn nobody_is_asked_who_did_not_say_that_he_can_be() {
    for modern in ERAS {
        let user = User::new(ClientCapabilities::default(), []);
        let client = connect(Server::new(ask_name), user.clone(), modern).await;
        assert_eq!(
            call(&client).await,
            "HALTED Unable(NotOffered(Form)) [\"name\"]",
            "modern: {modern}"
        );
        assert!(user.seen().is_empty());
    }
}

#[tokio::test]
async fn a_client_that_said_it_can_and_cannot_is_no_consent() {
    let user = User::new(forms(), [Act::NoSuchMethod]);
    let client = connect(Server::new(ask_name), user, false).await;
    assert_eq!(
        call(&client).await,
        "HALTED Unable(Refused { code: -32601 }) [\"name\"]"
    );
}

#[tokio::test]
async fn several_questions_are_several_answers_in_their_order() {
    let tool = |call: Call| async move {
        let guests = Form::new("How many?").required("guests", Integer::new().range(1, 9));
        let name = Form::new("Who?").required("name", Text::new());
        let [guests, name] = call
            .ask_all([("guests", (&guests).into()), ("a_name", (&name).into())])
            .await?;
        Ok(match (guests.or_reason(), name.or_reason()) {
            (Ok(guests), Ok(name)) => format!("{} {}", guests["guests"], name["name"]),
            _ => "NOT DONE".to_owned(),
        })
    };
    for modern in ERAS {
        // A modern client answers by the order of the keys, a legacy one as it is asked.
        let (guests, name) = (
            Act::Accept(json!({ "guests": 2 })),
            Act::Accept(json!({ "name": "Ada" })),
        );
        let acts = if modern { [name, guests] } else { [guests, name] };
        let client = connect(Server::new(tool), User::new(forms(), acts), modern).await;
        assert_eq!(call(&client).await, "2 \"Ada\"", "modern: {modern}");
    }
}
