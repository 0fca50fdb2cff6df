//! The example `rooms`, with its backend told to fail in each way.

use std::time::Duration;

use candor::{Candor, Timestamp, Tools};
use rmcp::model::{
    CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, FormElicitationCapability, Implementation,
};
use rmcp::service::RequestContext;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value, json};

use crate::ways::{Client, call, clients, ends, first_text, over_a_pipe, verdict, with_client};

#[path = "../../examples/rooms/server/mod.rs"]
mod server;

use server::{Backend, Desk, Fault, Place};

/// The server on 08/08/2025, with a backend of its own, and how long it waits for it.
async fn rooms_waiting(wait: Duration) -> (Backend, Candor<Tools>) {
    let backend = Backend::default();
    let base = backend.serve().await.expect("a free port");
    (backend, at(base, wait))
}

fn at(base: String, wait: Duration) -> Candor<Tools> {
    let now: Timestamp = "2025-08-08T12:00:00Z".parse().expect("a moment");
    let desk = Desk::new(base, wait).expect("a client");
    server::tools(desk)
        .builder()
        .and_then(|builder| builder.clock(move || now).build())
        .expect("nothing is wrong with it")
}

async fn rooms() -> (Backend, Candor<Tools>) {
    rooms_waiting(Duration::from_secs(30)).await
}

fn wish(room: &str, day: &str) -> Value {
    json!({ "room": room, "day": day, "from": "14:00", "to": "15:00", "name": "Ann" })
}

async fn book(client: &Client, wish: Value) -> CallToolResult {
    call(client, "book_room", wish).await.expect("a result")
}

async fn find(client: &Client, id: &Value) -> CallToolResult {
    call(client, "find_booking", json!({ "id": id }))
        .await
        .expect("a result")
}

fn structured(result: &CallToolResult) -> &Value {
    result.structured_content.as_ref().expect("a value")
}

#[tokio::test]
async fn a_booking_is_done_proves_it_and_can_be_read_back() {
    let (backend, server) = rooms().await;
    for (number, (way, client)) in clients(&server).await.into_iter().enumerate() {
        let mut wish = wish("12", &format!("2025-09-{:02}", number + 1));
        wish["notify"] = json!("ann@example.org");
        let result = book(&client, wish).await;
        let confirmation = json!(format!("B-{:04}", number + 1));
        assert_eq!(
            ends(&result),
            ("completed", "applied"),
            "{way}: {}",
            first_text(&result)
        );
        assert_eq!(verdict(&result)["reference"], confirmation, "{way}");
        assert_eq!(structured(&result)["confirmation"], confirmation, "{way}");
        assert_eq!(backend.counts(), (number + 1, number + 1), "{way}");
        let found = find(&client, &confirmation).await;
        assert_eq!(ends(&found), ("completed", "not_applied"), "{way}");
        assert_eq!(structured(&found)["booking"]["room"], "12", "{way}");
        let none = find(&client, &json!("B-9999")).await;
        assert_eq!(
            (ends(&none), &structured(&none)["count"]),
            (("completed", "not_applied"), &json!(0)),
            "{way}"
        );
    }
}

#[tokio::test]
async fn what_no_schema_says_is_checked_before_the_backend_is_asked() {
    let (backend, server) = rooms().await;
    let client = over_a_pipe(server, true).await;
    backend.fail(Place::Rooms, Fault::Silent);
    let wrong = json!({ "room": "12", "day": "2025-08-07", "from": "15:00", "to": "14:00", "name": "Ann" });
    let result = book(&client, wrong).await;
    assert_eq!(ends(&result), ("rejected", "not_applied"));
    let issues = verdict(&result)["error"]["issues"].as_array().expect("a list");
    let paths: Vec<_> = issues
        .iter()
        .map(|issue| issue["path"].as_str().expect("a text"))
        .collect();
    assert_eq!(paths, ["/day", "/to"]);
}

#[tokio::test]
async fn a_taken_room_is_refused_for_good_and_nothing_changed() {
    let (backend, server) = rooms().await;
    for (way, client) in clients(&server).await {
        let before = backend.counts();
        if before == (0, 0) {
            assert_eq!(
                ends(&book(&client, wish("12", "2025-09-01")).await).0,
                "completed",
                "{way}"
            );
        }
        let result = book(&client, wish("12", "2025-09-01")).await;
        assert_eq!(ends(&result), ("rejected", "not_applied"), "{way}");
        let error = &verdict(&result)["error"];
        assert_eq!(
            (&error["code"], &error["kind"]),
            (&json!("ROOM_UNAVAILABLE"), &json!("business_rule")),
            "{way}"
        );
        assert_eq!(
            (&error["retrySameRequest"], &error["repeat"]),
            (&json!(false), &json!("same_answer")),
            "{way}"
        );
        let text = first_text(&result);
        assert!(
            text.starts_with("NOT DONE: ") && text.contains("room 14 is free"),
            "{way}: {text}"
        );
        assert_eq!(
            backend.counts(),
            (1, 0),
            "{way}: no other room without the user's yes"
        );
    }
}

#[tokio::test]
async fn a_refusal_by_the_backend_itself_keeps_its_code_and_its_place() {
    let (backend, server) = rooms().await;
    let client = over_a_pipe(server, false).await;
    let result = book(&client, wish("99", "2025-09-01")).await;
    let error = &verdict(&result)["error"];
    assert_eq!(
        (ends(&result), &error["code"]),
        (("rejected", "not_applied"), &json!("NO_SUCH_ROOM"))
    );
    assert_eq!(error["issues"][0]["path"], "/room", "{error}");
    assert_eq!(backend.counts(), (0, 0));
}

/// Every fault of the backend while a room is booked, what is said, and what really happened.
#[tokio::test]
async fn each_fault_of_the_backend_is_told_as_what_is_known_of_it() {
    let (backend, server) = rooms().await;
    let client = over_a_pipe(server, true).await;
    for (number, (fault, said, code, done)) in [
        ("409", ("rejected", "not_applied"), "HTTP_409", false),
        ("429", ("rejected", "not_applied"), "HTTP_429", false),
        ("401", ("rejected", "not_applied"), "HTTP_401", false),
        ("503", ("failed", "unknown"), "HTTP_503", false),
        ("503-after", ("failed", "unknown"), "HTTP_503", true),
        ("408-after", ("rejected", "unknown"), "HTTP_408", true),
        ("page", ("unknown", "unknown"), "HTTP_BODY_NOT_AS_PROMISED", false),
        (
            "garbled",
            ("unknown", "unknown"),
            "HTTP_BODY_NOT_AS_PROMISED",
            true,
        ),
        ("close-before", ("unknown", "unknown"), "HTTP_LOST", false),
        ("close-after", ("unknown", "unknown"), "HTTP_LOST", true),
    ]
    .into_iter()
    .enumerate()
    {
        let before = backend.counts().0;
        backend.fail(Place::Bookings, Fault::parse(fault).expect("a fault"));
        let result = book(&client, wish("12", &format!("2025-10-{:02}", number + 1))).await;
        let verdict = verdict(&result);
        assert_eq!(
            (ends(&result), &verdict["error"]["code"]),
            (said, &json!(code)),
            "{fault}"
        );
        assert_eq!(result.is_error, Some(true), "{fault}");
        assert_eq!(
            backend.counts().0 - before,
            usize::from(done),
            "{fault}: sent once"
        );
        let text = first_text(&result);
        if said.1 == "not_applied" {
            assert!(text.starts_with("NOT DONE: "), "{fault}: {text}");
            continue;
        }
        // Nobody knows; but there is a way to find out, and it finds out.
        assert!(
            !text.starts_with("NOT DONE") && text.contains("find_booking"),
            "{fault}: {text}"
        );
        let found = find(&client, &verdict["reference"]).await;
        assert_eq!(
            structured(&found)["count"],
            json!(usize::from(done)),
            "{fault}: {text}"
        );
    }
}

#[tokio::test]
async fn a_silent_backend_and_one_that_is_not_there_are_told_apart() {
    let (backend, server) = rooms_waiting(Duration::from_millis(300)).await;
    let client = over_a_pipe(server, true).await;
    backend.fail(Place::Bookings, Fault::Silent);
    let result = book(&client, wish("12", "2025-09-01")).await;
    assert_eq!(ends(&result), ("unknown", "unknown"));
    backend.fail(Place::Rooms, Fault::Silent);
    let result = book(&client, wish("12", "2025-09-01")).await;
    assert_eq!(
        ends(&result),
        ("failed", "not_applied"),
        "only the list was asked for: nothing was tried"
    );
    let nowhere = at("http://127.0.0.1:1".to_owned(), Duration::from_secs(30));
    let result = book(&over_a_pipe(nowhere, true).await, wish("12", "2025-09-01")).await;
    assert_eq!(ends(&result), ("failed", "not_applied"));
    assert_eq!(verdict(&result)["error"]["code"], "HTTP_NEVER_CONNECTED");
}

#[tokio::test]
async fn a_booking_whose_notice_was_not_sent_is_done_in_part() {
    let (backend, server) = rooms().await;
    let client = over_a_pipe(server, true).await;
    for (number, (fault, effect, code)) in [
        ("429", "not_applied", "NOTICE_NOT_SENT"),
        ("503", "unknown", "NOTICE_UNKNOWN"),
        ("close-after", "unknown", "NOTICE_UNKNOWN"),
    ]
    .into_iter()
    .enumerate()
    {
        backend.fail(Place::Notices, Fault::parse(fault).expect("a fault"));
        let mut wish = wish("14", &format!("2025-09-{:02}", number + 1));
        wish["notify"] = json!("ann@example.org");
        let result = book(&client, wish).await;
        let verdict = verdict(&result);
        assert_eq!(ends(&result), ("partial", "partial"), "{fault}");
        assert_eq!(verdict["error"]["code"], code, "{fault}");
        let parts = verdict["parts"].as_array().expect("a list");
        let part = |at: usize, name: &str| parts[at][name].as_str().expect("a word");
        assert_eq!(
            (part(0, "name"), part(0, "effect")),
            ("booking", "applied"),
            "{fault}"
        );
        assert_eq!(
            (part(1, "name"), part(1, "effect")),
            ("notice", effect),
            "{fault}"
        );
        let confirmation = verdict["reference"].clone();
        assert_eq!(confirmation, json!(format!("B-{:04}", number + 1)), "{fault}");
        assert!(
            first_text(&result).starts_with("PARTLY DONE: "),
            "{fault}: {}",
            first_text(&result)
        );
        // The part that is missing can be made up for, without booking again.
        let before = backend.counts();
        let notice = json!({ "confirmation": confirmation, "to": "ann@example.org" });
        let sent = call(&client, "send_notice", notice).await.expect("a result");
        assert_eq!(ends(&sent), ("completed", "applied"), "{fault}");
        assert_eq!(backend.counts(), (before.0, before.1 + 1), "{fault}");
    }
}

#[tokio::test]
async fn a_booking_that_is_taken_on_is_no_booking_yet_and_can_be_followed() {
    let (backend, server) = rooms().await;
    let client = over_a_pipe(server, true).await;
    backend.fail(Place::Bookings, Fault::Queued);
    let result = book(&client, wish("20", "2025-09-01")).await;
    assert_eq!(ends(&result), ("accepted", "unknown"));
    let found = find(&client, &verdict(&result)["reference"]).await;
    assert_eq!(structured(&found)["booking"]["confirmation"], "B-0001");
    assert_eq!(
        structured(&result)["outcome"],
        "accepted",
        "no confirmation to be taken for one"
    );
    assert!(
        first_text(&result).starts_with("ACCEPTED, NOT YET DONE: "),
        "{}",
        first_text(&result)
    );
}

#[tokio::test]
async fn a_list_that_could_not_be_had_is_no_empty_list() {
    let (backend, server) = rooms().await;
    let client = over_a_pipe(server, true).await;
    let when = json!({ "day": "2025-09-01", "from": "14:00", "to": "15:00" });
    for fault in ["503", "page", "garbled", "401", "close-before"] {
        backend.fail(Place::Rooms, Fault::parse(fault).expect("a fault"));
        let result = call(&client, "free_rooms", when.clone()).await.expect("a result");
        assert_eq!(result.is_error, Some(true), "{fault}");
        assert_eq!(ends(&result).1, "not_applied", "{fault}");
        assert!(
            verdict(&result)["error"]["code"]
                .as_str()
                .expect("a code")
                .starts_with("HTTP_"),
            "{fault}"
        );
    }
    let result = call(&client, "free_rooms", when).await.expect("a result");
    assert_eq!(
        (ends(&result), &structured(&result)["count"]),
        (("completed", "not_applied"), &json!(3))
    );
    backend.fail(
        Place::Bookings,
        "404".parse().map(Fault::Status).expect("a status"),
    );
    let found = find(&client, &json!("B-0001")).await;
    assert_eq!(
        ends(&found).0,
        "rejected",
        "a 404 from anywhere is not the backend's word that there is none"
    );
}

/// A user who always does the same.
#[derive(Clone)]
struct User(ElicitationAction);

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let mut elicitation = ElicitationCapability::default();
        elicitation.form = Some(FormElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        ClientConfig::new(capabilities, Implementation::new("user", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = serde_json::to_string(&request).expect("JSON");
        assert!(asked.contains("Book room 14 instead?"), "{asked}");
        Ok(ElicitResult::new(self.0.clone()).with_content(json!({})))
    }
}

#[tokio::test]
async fn another_room_is_booked_only_after_the_users_yes() {
    for modern in [false, true] {
        for (action, room) in [
            (ElicitationAction::Accept, Some("14")),
            (ElicitationAction::Decline, None),
            (ElicitationAction::Cancel, None),
        ] {
            let (backend, server) = rooms().await;
            let user = User(action.clone());
            let client = with_client(user, server, modern).await;
            let first = call(&client, "book_room", wish("12", "2025-09-01"))
                .await
                .expect("a result");
            assert_eq!(
                structured(&first)["room"],
                "12",
                "the room that was wanted needs no yes"
            );
            let second = call(&client, "book_room", wish("12", "2025-09-01"))
                .await
                .expect("a result");
            match room {
                Some(room) => {
                    assert_eq!(ends(&second), ("completed", "applied"), "{action:?} {modern}");
                    assert_eq!(structured(&second)["room"], room, "{action:?} {modern}");
                    assert_eq!(backend.counts().0, 2);
                }
                None => {
                    assert_eq!(ends(&second), ("rejected", "not_applied"), "{action:?} {modern}");
                    assert_eq!(
                        verdict(&second)["error"]["code"],
                        "ROOM_UNAVAILABLE",
                        "{action:?} {modern}"
                    );
                    assert_eq!(backend.counts().0, 1, "{action:?} {modern}");
                }
            }
        }
    }
}
