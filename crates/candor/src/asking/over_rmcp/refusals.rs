//! Rounds of a modern client: the four attacks, single use, and which answers count.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::client::{User, accept, asked, connect, forms, once, refusal, text};
use super::wrapper::{Server, locked, messages};
use crate::asking::{Boolean, Form, Text};
use crate::call::{Call, Halt};
use crate::principal::Principal;

/// Asks for a name, then whether that is right.
async fn two_steps(call: Call) -> Result<String, Halt> {
    let name = call
        .ask("name", &Form::new("Who?").required("name", Text::new()))
        .await?;
    let Ok(name) = name.or_reason() else {
        return Ok("NOT DONE".to_owned());
    };
    let sure = Form::new(format!("Book for {}?", name["name"])).required("sure", Boolean::new());
    let sure = call.ask("sure", &sure).await?;
    call.effect_begins();
    Ok(format!("{name} {:?}", sure.or_reason().map_err(|no| no.code)))
}

fn arguments() -> Value {
    json!({ "room": 12, "day": "2026-12-01" })
}

fn ada() -> [(&'static str, Value); 1] {
    [("name", accept(&json!({ "name": "Ada" })))]
}

#[tokio::test]
async fn answers_travel_sealed_from_round_to_round() {
    let client = connect(Server::new(two_steps), User::new(forms(), []), true).await;
    let (round, first) = asked(once(&client, &arguments(), None, &[]).await);
    assert_eq!(
        round.input_requests.expect("requests").keys().collect::<Vec<_>>(),
        ["name"]
    );
    let (round, second) = asked(once(&client, &arguments(), Some(&first), &ada()).await);
    let requests = round.input_requests.expect("requests");
    assert_eq!(
        requests.keys().collect::<Vec<_>>(),
        ["sure"],
        "what is answered isn't asked again"
    );
    assert!(messages(&requests)["sure"].contains("Ada"));
    assert_ne!(first, second, "a fresh seal each round");
    assert!(!second.contains("Ada"));
    // A later round can't change what an earlier one was decided by.
    let late = [
        ("sure", accept(&json!({ "sure": true }))),
        ("name", accept(&json!({ "name": "Eve" }))),
    ];
    let reordered = json!({ "day": "2026-12-01", "room": 12 });
    let done = text(
        once(&client, &reordered, Some(&second), &late)
            .await
            .expect("done"),
    );
    assert_eq!(done, r#"{"name":"Ada"} Ok(Object {"sure": Bool(true)})"#);
}

#[tokio::test]
async fn the_four_attacks_are_refused_and_the_tool_does_not_run() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let server = Server::new(move |call| {
        counted.fetch_add(1, Ordering::SeqCst);
        two_steps(call)
    });
    let client = connect(server.clone(), User::new(forms(), []), true).await;
    let (_, state) = asked(once(&client, &arguments(), None, &[]).await);
    assert_eq!(runs.load(Ordering::SeqCst), 1);

    let changed = json!({ "room": 13, "day": "2026-12-01" });
    assert_eq!(
        refusal(once(&client, &changed, Some(&state), &ada()).await),
        "foreign"
    );
    assert_eq!(
        refusal(once(&client, &Value::Null, Some(&state), &ada()).await),
        "foreign"
    );

    *locked(&server.who) = Principal::new("bob");
    assert_eq!(
        refusal(once(&client, &arguments(), Some(&state), &ada()).await),
        "foreign"
    );
    *locked(&server.who) = Principal::new("alice");

    let tampered = format!("{state}-TAMPERED");
    let why = refusal(once(&client, &arguments(), Some(&tampered), &ada()).await);
    assert!(
        ["malformed", "foreign"].contains(&why.as_str()),
        "by the length of the state: {why}"
    );
    let place = state.len() / 2;
    let other = if &state[place..=place] == "A" { "B" } else { "A" };
    let altered = format!("{}{other}{}", &state[..place], &state[place + 1..]);
    assert_eq!(
        refusal(once(&client, &arguments(), Some(&altered), &ada()).await),
        "foreign"
    );

    *locked(&server.now) = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(600);
    assert_eq!(
        refusal(once(&client, &arguments(), Some(&state), &ada()).await),
        "expired"
    );
    assert_eq!(runs.load(Ordering::SeqCst), 1, "no attack ran the tool");

    *locked(&server.now) = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(599);
    asked(once(&client, &arguments(), Some(&state), &ada()).await);
    assert_eq!(runs.load(Ordering::SeqCst), 2, "the state itself was good");
}

#[tokio::test]
async fn a_confirmation_is_good_for_one_use() {
    let tool = |call: Call| async move {
        let yes = call.ask("yes", &Form::new("Pay 100?").once()).await?;
        Ok(format!("{yes:?}"))
    };
    let client = connect(Server::new(tool), User::new(forms(), []), true).await;
    let (_, state) = asked(once(&client, &arguments(), None, &[]).await);
    let yes = [("yes", json!({ "action": "accept" }))];
    assert_eq!(
        text(
            once(&client, &arguments(), Some(&state), &yes)
                .await
                .expect("done")
        ),
        "Accepted(***)"
    );
    assert_eq!(
        refusal(once(&client, &arguments(), Some(&state), &yes).await),
        "spent"
    );
    // Without `once` a client may try again, as after a broken connection.
    let client = connect(Server::new(two_steps), User::new(forms(), []), true).await;
    let (_, state) = asked(once(&client, &arguments(), None, &[]).await);
    asked(once(&client, &arguments(), Some(&state), &ada()).await);
    asked(once(&client, &arguments(), Some(&state), &ada()).await);
}

#[tokio::test]
async fn only_what_was_asked_is_answered() {
    let client = connect(Server::new(two_steps), User::new(forms(), []), true).await;
    // Nothing was asked yet: a yes that comes with the first request is none.
    let (round, state) = asked(once(&client, &arguments(), None, &ada()).await);
    assert!(round.input_requests.expect("requests").contains_key("name"));
    // Neither is one to a question that comes later.
    let both = [
        ada()[0].clone(),
        ("sure", accept(&json!({ "sure": true }))),
        ("extra", json!(1)),
    ];
    let (round, _) = asked(once(&client, &arguments(), Some(&state), &both).await);
    assert!(round.input_requests.expect("requests").contains_key("sure"));
    // No answer, or none that can be read: asked again.
    for missing in [
        vec![],
        vec![("name", json!("Ada"))],
        vec![("name", json!({ "action": "yes" }))],
        vec![("other", json!({}))],
    ] {
        let (round, _) = asked(once(&client, &arguments(), Some(&state), &missing).await);
        assert!(round.input_requests.expect("requests").contains_key("name"));
    }
}

#[tokio::test]
async fn a_yes_counts_for_the_question_that_was_shown() {
    let room = Arc::new(AtomicUsize::new(12));
    let free = Arc::clone(&room);
    let tool = move |call: Call| {
        let room = free.load(Ordering::SeqCst);
        async move {
            Ok(format!(
                "{room} {:?}",
                call.ask("yes", &Form::new(format!("Book room {room}?"))).await?
            ))
        }
    };
    let client = connect(Server::new(tool), User::new(forms(), []), true).await;
    let (_, state) = asked(once(&client, &arguments(), None, &[]).await);
    room.store(14, Ordering::SeqCst);
    let yes = [("yes", json!({ "action": "accept" }))];
    let (round, state) = asked(once(&client, &arguments(), Some(&state), &yes).await);
    assert!(
        messages(&round.input_requests.expect("requests"))["yes"].contains("14"),
        "asked anew, about the new room"
    );
    assert_eq!(
        text(
            once(&client, &arguments(), Some(&state), &yes)
                .await
                .expect("done")
        ),
        "14 Accepted(***)"
    );
}
