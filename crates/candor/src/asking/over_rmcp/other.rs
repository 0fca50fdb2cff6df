//! Tasks, sampling and roots, callers that leave, and what a tool tells while it runs.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, ClientCapabilities, ClientRequest, InputRequest, Request};
use rmcp::service::PeerRequestOptions;
use serde_json::json;
use tokio::sync::Notify;

use super::client::{Act, ERAS, User, accept, asked, call, connect, forms, once, text};
use super::wrapper::{Server, TestBoard};
use crate::asking::{Form, Means, Text};
use crate::call::{Call, Halt};

fn sampling() -> InputRequest {
    serde_json::from_value(json!({
        "method": "sampling/createMessage",
        "params": { "messages": [{ "role": "user", "content": { "type": "text", "text": "Capital of France?" } }], "maxTokens": 100 },
    }))
    .expect("a request")
}

fn roots() -> InputRequest {
    serde_json::from_value(json!({ "method": "roots/list" })).expect("a request")
}

fn everything() -> ClientCapabilities {
    let mut all = forms();
    let more: ClientCapabilities =
        serde_json::from_value(json!({ "sampling": {}, "roots": {} })).expect("capabilities");
    all.sampling = more.sampling;
    all.roots = more.roots;
    all
}

async fn three_inputs(call: Call) -> Result<String, Halt> {
    let form = Form::new("Who?").required("name", Text::new());
    let [name, greeting, roots] = call
        .ask_all([
            ("user", (&form).into()),
            ("greeting", sampling().into()),
            ("roots", roots().into()),
        ])
        .await?;
    let all = (name.or_reason(), greeting.or_reason(), roots.or_reason());
    Ok(match all {
        (Ok(name), Ok(greeting), Ok(roots)) => {
            format!("{} {} {}", name["name"], greeting["model"], roots["roots"])
        }
        _ => "NOT DONE".to_owned(),
    })
}

#[tokio::test]
async fn a_form_a_model_and_roots_are_asked_in_one_round() {
    let client = connect(Server::new(three_inputs), User::new(everything(), []), true).await;
    let (round, state) = asked(once(&client, &json!({}), None, &[]).await);
    assert_eq!(
        round.input_requests.expect("requests").keys().collect::<Vec<_>>(),
        ["greeting", "roots", "user"]
    );
    let model =
        json!({ "role": "assistant", "content": { "type": "text", "text": "Paris" }, "model": "m-1" });
    let answers = [
        ("user", accept(&json!({ "name": "Ada" }))),
        ("greeting", model),
        ("roots", json!({ "roots": [] })),
    ];
    let (round, second) = asked(once(&client, &json!({}), Some(&state), &answers[..2]).await);
    assert_eq!(
        round.input_requests.expect("requests").keys().collect::<Vec<_>>(),
        ["roots"],
        "only what is missing"
    );
    let done = once(&client, &json!({}), Some(&second), &answers[2..])
        .await
        .expect("done");
    assert_eq!(text(done), r#""Ada" "m-1" []"#);
}

#[tokio::test]
async fn only_what_the_client_offers_is_asked_for() {
    let tool = |call: Call| async move {
        if call.can_ask(Means::Form) {
            let _name = call.ask("user", &Form::new("Who?")).await?;
        }
        let answer = call.input("greeting", sampling()).await?;
        Ok(format!("{answer:?}"))
    };
    let only: ClientCapabilities = serde_json::from_value(json!({ "sampling": {} })).expect("capabilities");
    let client = connect(Server::new(tool), User::new(only, []), true).await;
    let (round, _) = asked(once(&client, &json!({}), None, &[]).await);
    assert_eq!(
        round.input_requests.expect("requests").keys().collect::<Vec<_>>(),
        ["greeting"]
    );
}

#[tokio::test]
async fn rounds_first_then_a_task_with_one_tool() {
    async fn tool(call: Call) -> Result<String, Halt> {
        let name = call
            .ask("name", &Form::new("Who?").required("name", Text::new()))
            .await?;
        call.as_task().await?;
        let [one, two] = call
            .ask_all([("one", Form::new("1?").into()), ("two", Form::new("2?").into())])
            .await?;
        Ok(format!(
            "{} {one:?} {two:?}",
            name.or_reason()
                .map_or_else(|no| no.code, |name| name["name"].to_string())
        ))
    }
    for modern in ERAS {
        let (board, mut wanted) = TestBoard::new();
        let user = User::new(forms(), [Act::Accept(json!({ "name": "Ada" }))]);
        let client = connect(Server::new(tool).with_board(board), user, modern).await;
        let answering = tokio::spawn(async move {
            // Both stand on the board before either is answered.
            let (one, two) = (
                wanted.recv().await.expect("one"),
                wanted.recv().await.expect("two"),
            );
            assert_eq!((one.key.as_str(), two.key.as_str()), ("one", "two"));
            two.answer
                .send(json!({ "action": "decline" }))
                .expect("waited for");
            one.answer.send(json!({ "action": "maybe" })).expect("waited for");
            let again = wanted.recv().await.expect("one again");
            assert_eq!(again.key, "one");
            let request = serde_json::to_value(&again.request).expect("JSON");
            assert!(
                request["params"]["message"]
                    .as_str()
                    .is_some_and(|message| message.contains("couldn't be read"))
            );
            again
                .answer
                .send(json!({ "action": "accept" }))
                .expect("waited for");
        });
        assert_eq!(
            call(&client).await,
            "task: \"Ada\" Accepted(***) Declined",
            "modern: {modern}"
        );
        answering.await.expect("answered");
        // Where no task can be had, it just goes on.
        let acts = ["name", "one", "two"].map(|_| Act::Accept(json!({ "name": "Ada" })));
        let client = connect(Server::new(tool), User::new(forms(), acts), modern).await;
        assert_eq!(
            call(&client).await,
            "\"Ada\" Accepted(***) Accepted(***)",
            "modern: {modern}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_on_a_board_expires_and_a_stopped_task_halts() {
    async fn tool(call: Call) -> Result<String, Halt> {
        call.as_task().await?;
        Ok(format!(
            "{:?}",
            call.ask("yes", &Form::new("?").within(Duration::from_secs(60)))
                .await?
        ))
    }
    let (board, mut wanted) = TestBoard::new();
    let client = connect(Server::new(tool).with_board(board), User::new(forms(), []), true).await;
    let looking = tokio::spawn(async move {
        let held = wanted.recv().await;
        tokio::time::sleep(Duration::from_secs(120)).await;
        (held.is_some(), wanted)
    });
    assert_eq!(call(&client).await, "task: Expired");
    let (held, mut wanted) = looking.await.expect("looked");
    assert!(held);
    let stopping = tokio::spawn(async move { drop(wanted.recv().await.expect("a question").answer) });
    assert_eq!(call(&client).await, "task: halted");
    stopping.await.expect("stopped");
}

#[tokio::test]
async fn a_form_that_asks_for_a_secret_reaches_nobody() {
    let tool = |call: Call| async move {
        let answer = call
            .ask("login", &Form::new("Log in").required("password", Text::new()))
            .await?;
        Ok(format!("{answer:?}"))
    };
    for modern in ERAS {
        let user = User::new(forms(), []);
        let client = connect(Server::new(tool), user.clone(), modern).await;
        let told = call(&client).await;
        assert!(
            told.contains("Faulty(Secret") && told.contains("password"),
            "{told}"
        );
        assert!(user.seen().is_empty());
    }
}

#[tokio::test]
async fn a_key_stands_for_one_question() {
    let tool = |call: Call| async move {
        let _yes = call.ask("yes", &Form::new("Book?")).await?;
        Ok(format!("{:?}", call.ask("yes", &Form::new("Pay?")).await?))
    };
    for modern in ERAS {
        let user = User::new(forms(), [Act::Accept(json!({}))]);
        let client = connect(Server::new(tool), user.clone(), modern).await;
        let told = call(&client).await;
        assert!(told.contains("Faulty(Contradiction"), "modern: {modern}: {told}");
        assert_eq!(user.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_caller_that_cancels_ends_the_question() {
    let left = Arc::new(Notify::new());
    let seen = Arc::clone(&left);
    let tool = move |call: Call| {
        let seen = Arc::clone(&seen);
        async move {
            let answer = call.ask("yes", &Form::new("Book?")).await;
            assert!(answer.is_err(), "no answer is no consent");
            assert_eq!(call.0.asking.halted(), Some(crate::asking::Cause::Left));
            call.stopped().await;
            seen.notify_one();
            answer.map(|answer| format!("{answer:?}"))
        }
    };
    for by_leaving in [false, true] {
        let user = User::new(forms(), [Act::Never]);
        let client = connect(Server::new(tool.clone()), user.clone(), false).await;
        let request = ClientRequest::CallToolRequest(Request::new(CallToolRequestParams::new("book")));
        let handle = client
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await
            .expect("sent");
        while user.seen().is_empty() {
            tokio::task::yield_now().await;
        }
        if by_leaving {
            client.cancel().await.expect("left");
        } else {
            handle.cancel(None).await.expect("cancelled");
            let told = async {
                while user.seen().len() < 2 {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(Duration::from_secs(30), told)
                .await
                .expect("the question goes off the screen");
        }
        tokio::time::timeout(Duration::from_secs(30), left.notified())
            .await
            .expect("the wait ends");
    }
}

#[tokio::test]
#[should_panic(expected = "asked after effect_begins")]
async fn asking_after_the_effect_is_a_fault() {
    let asking = crate::asking::Asking::nobody();
    asking.effect_begins();
    let _ = asking.put(vec![("yes".to_owned(), Form::new("?").into())]).await;
}

#[tokio::test]
#[should_panic(expected = "effect_begins after a Halt")]
async fn an_effect_after_a_halt_is_a_fault() {
    let asking = crate::asking::Asking::nobody();
    assert!(
        asking
            .put(vec![("yes".to_owned(), Form::new("?").into())])
            .await
            .is_err()
    );
    asking.effect_begins();
}

#[tokio::test]
async fn progress_is_told_to_who_asked_for_it() {
    let tool = |call: Call| async move {
        call.progress(1.0, Some(2.0), Some("half")).await;
        Ok("done".to_owned())
    };
    for modern in ERAS {
        let user = User::new(forms(), []);
        let client = connect(Server::new(tool), user.clone(), modern).await;
        assert_eq!(call(&client).await, "done");
        let told = async {
            while user.seen().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), told)
            .await
            .expect("progress");
        assert_eq!(user.seen()[0]["message"], "half");
        assert_eq!(user.seen()[0]["total"].as_f64(), Some(2.0));
    }
}

#[tokio::test(start_paused = true)]
async fn the_users_time_does_not_count_against_the_tools() {
    let tool = |call: Call| async move {
        let work = async {
            let early = Form::new("Sure?").within(Duration::from_secs(7200));
            // Two questions at the same time pause the clock once.
            let (one, two) = tokio::join!(call.ask("one", &early), call.ask("two", &early));
            tokio::time::sleep(Duration::from_secs(50)).await;
            Ok::<_, Halt>(format!("{:?} {:?}", one?, two?))
        };
        match call.limited(Duration::from_secs(60), work).await {
            Ok(done) => done,
            Err(late) => Ok(late.to_string()),
        }
    };
    let minutes = |minutes: u64| Act::After(Duration::from_secs(60 * minutes), json!({}));
    let client = connect(
        Server::new(tool),
        User::new(forms(), [minutes(54), minutes(20)]),
        false,
    )
    .await;
    assert_eq!(call(&client).await, "Accepted(***) Accepted(***)");
    // The tool's own time is limited all the same.
    let slow = |call: Call| async move {
        let late = call
            .limited(
                Duration::from_secs(60),
                tokio::time::sleep(Duration::from_secs(70)),
            )
            .await;
        Ok(late.map_or_else(|late| late.to_string(), |()| "done".to_owned()))
    };
    let client = connect(Server::new(slow), User::new(forms(), []), false).await;
    assert_eq!(
        call(&client).await,
        "it took longer than 60 s, without the time in which the user was asked"
    );
}

#[tokio::test]
async fn log_messages_go_out_masked_to_who_wants_them() {
    let tool = |call: Call| async move {
        call.log(crate::Level::Debug, json!("unwanted")).await;
        call.log(
            crate::Level::Warning,
            json!({ "password": "hunter2-hunter2", "room": 12 }),
        )
        .await;
        Ok("done".to_owned())
    };
    for modern in ERAS {
        let user = User::new(forms(), []);
        let client = connect(Server::new(tool), user.clone(), modern).await;
        let mut request = CallToolRequestParams::new("book");
        if modern {
            let least = json!({ "io.modelcontextprotocol/logLevel": "warning" });
            request.meta = Some(serde_json::from_value(least).expect("metadata"));
        }
        client.call_tool(request).await.expect("a result");
        let wanted = if modern { 1 } else { 2 };
        let told = async {
            while user.seen().len() < wanted {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), told)
            .await
            .expect("messages");
        let last = user.seen().pop().expect("a message");
        assert_eq!(
            (&last["level"], &last["log"]["room"]),
            (&json!("warning"), &json!(12)),
            "modern: {modern}"
        );
        assert!(!last.to_string().contains("hunter2"), "{last}");
        assert_eq!(user.seen().len(), wanted);
        // Nothing that was not asked for.
        if modern {
            let user = User::new(forms(), []);
            let client = connect(Server::new(tool), user.clone(), modern).await;
            assert_eq!(call(&client).await, "done");
            assert!(user.seen().is_empty());
        }
    }
}

#[tokio::test]
async fn who_can_not_be_asked_is_told_what_is_needed() {
    let asking = crate::asking::Asking::nobody();
    let form = Form::new("Who comes?").required("name", Text::new());
    assert!(asking.put(vec![("who".to_owned(), form.into())]).await.is_err());
    let reason = asking
        .halted()
        .expect("a cause")
        .reason(&asking)
        .expect("a reason");
    assert_eq!(reason.code, "INPUT_UNAVAILABLE");
    assert_eq!(reason.effect, Some(crate::outcome::Effect::NotApplied));
    let next = reason.next_step.expect("what is needed");
    assert_eq!(next, "What it asks the user: Who comes? (name)");
}
