//! The examples, driven by the official TypeScript and Python clients: what their callers are shown of every ending.
//! `scripts/clients.sh` installs the clients; their drivers are in `clients/`.
//!
//! All four throw a JSON-RPC error, each as a class of its own, and a success without the structure that its tool promises, or
//! with another. The TypeScript SDK's 1.x line throws a flagged result, too, whose structure is another. So a step that wants
//! a result also shows that it is none of these.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may fail by panicking, in its shared parts too"
)]

mod clients;
mod examples;
mod steps;

use candor::principal::PERMISSION_DENIED;
use clients::{Client, PYTHON_1, PYTHON_2, TYPESCRIPT_1, TYPESCRIPT_2};
use examples::{Incidents, program};
use serde_json::{Value, json};
use steps::{Session, Step};

/// A flight of a far future: the examples live by the real clock.
fn flight(departs: &str, passengers: u32) -> (&'static str, Value) {
    let wish = json!({ "from": "HEL", "to": "SIN", "departureDate": departs, "passengers": passengers });
    ("book_flight", wish)
}

fn flights() -> Session {
    let steps = vec![
        Step::list(&["book_flight"]),
        Step::thrown(
            "a tool that is not there",
            ("book_train", json!({})),
            -32602,
            "book_train",
        ),
        Step::done(
            "booked",
            flight("01/02/2099", 9),
            "applied",
            ("/booking", json!("FL-0001")),
        ),
        Step::refused(
            "by its arguments",
            flight("01.02.2099", 0),
            &["/departureDate", "/passengers"],
        ),
        Step::refused(
            "by a rule",
            flight("01/02/2020", 1),
            &["/departureDate", "a day in the future"],
        ),
        Step::refused(
            "sold out",
            flight("01/02/2099", 9),
            &["SOLD_OUT", "3 seats are left"],
        ),
    ];
    Session {
        name: "flight".to_owned(),
        server: json!({ "command": [program("flight")] }),
        steps,
    }
}

fn room(room: &str, day: &str) -> (&'static str, Value) {
    let wish = json!({ "room": room, "day": day, "from": "14:00", "to": "15:00", "name": "Ann" });
    ("book_room", wish)
}

fn rooms() -> Session {
    const INSTEAD: &str = "Room 12 is taken on 2099-02-03 from 14:00 to 15:00. Book room 14 instead?";
    let mut notified = room("12", "2099-02-02");
    notified.1["notify"] = json!("ann@example.org");
    let steps = vec![
        Step::list(&["book_room", "free_rooms", "find_booking", "send_notice"]),
        Step::refused("by its arguments", room("", "tomorrow"), &["/room", "/day"]),
        Step::refused("by a rule", room("12", "2020-02-01"), &["/day"]),
        Step::accepted("taken on", room("12", "2099-02-01")),
        Step::partial("without its notice", notified, &["B-0002", "NOTICE_NOT_SENT"]),
        Step::done(
            "booked",
            room("12", "2099-02-03"),
            "applied",
            ("/room", json!("12")),
        ),
        Step::refused(
            "the user's no",
            room("12", "2099-02-03"),
            &["ROOM_UNAVAILABLE", "the user declined"],
        )
        .asks(INSTEAD, json!({ "action": "decline" })),
        Step::done(
            "the user's yes",
            room("12", "2099-02-03"),
            "applied",
            ("/room", json!("14")),
        )
        .asks(INSTEAD, json!({ "action": "accept", "content": {} })),
    ];
    let command = [
        program("rooms").to_str().unwrap(),
        "bookings=queued",
        "notices=429",
    ]
    .map(str::to_owned);
    Session {
        name: "rooms".to_owned(),
        server: json!({ "command": command }),
        steps,
    }
}

/// Ada may all; Bob may only read.
fn incidents(server: &Incidents, client: &Client) -> [Session; 2] {
    let report = || {
        (
            "incident.report",
            json!({ "title": "checkout is slow", "severity": "high" }),
        )
    };
    let of = |tool: &'static str, ticket: &str| (tool, json!({ "ticket": ticket }));
    let service = json!({ "action": "accept", "content": { "service": "payments" } });
    let diagnosed = Step::done(
        "diagnosed",
        of("incident.diagnose", "INC-0001"),
        "not_applied",
        ("/service", json!("payments")),
    );
    let diagnosed = diagnosed.asks("Which service is ill?", service);
    let listed = [
        "incident.search",
        "incident.report",
        "incident.state",
        "incident.withdraw",
        "incident.diagnose",
        "incident.events",
        // For clients that have no tasks.
        "task_state",
        "task_answer",
        "task_cancel",
    ];
    let ada = vec![
        Step::list(&listed),
        Step::accepted("taken on", report()),
        Step::done(
            "seen",
            of("incident.state", "INC-0001"),
            "not_applied",
            ("/ticket", json!("INC-0001")),
        ),
        Step::refused("by its arguments", of("incident.state", "1"), &["/ticket"]),
        Step::refused(
            "not there",
            of("incident.withdraw", "INC-0404"),
            &["NO_SUCH_TICKET"],
        ),
        if client.tasks {
            diagnosed.through(&["working", "input_required"])
        } else {
            diagnosed
        },
    ];
    let bob = vec![
        Step::thrown(
            "without the right",
            report(),
            i64::from(PERMISSION_DENIED),
            "incidents:write",
        ),
        Step::done(
            "seen",
            of("incident.state", "INC-0001"),
            "not_applied",
            ("/ticket", json!("INC-0001")),
        ),
    ];
    [("ada", ada), ("bob", bob)].map(|(who, steps)| Session {
        name: format!("incidents of {who}"),
        server: json!({ "url": server.url, "bearer": server.badges[who] }),
        steps,
    })
}

/// Plays every example with one client in each of its eras.
async fn holds_for(client: &Client) {
    if !client.is_installed() {
        return;
    }
    let mut faults = Vec::new();
    for era in client.eras {
        let server = Incidents::start().await;
        let mut sessions = vec![flights(), rooms()];
        sessions.extend(incidents(&server, client));
        let seen = client
            .play(sessions.iter().map(|session| session.told(era)).collect())
            .await;
        faults.extend(
            sessions
                .iter()
                .flat_map(|session| session.faults(client, era, &seen)),
        );
    }
    assert!(
        faults.is_empty(),
        "{} faults with {}:\n{}",
        faults.len(),
        client.name,
        faults.join("\n")
    );
}

#[tokio::test]
async fn the_typescript_sdk_1_shows_what_the_examples_say() {
    holds_for(&TYPESCRIPT_1).await;
}

#[tokio::test]
async fn the_typescript_sdk_2_shows_what_the_examples_say() {
    holds_for(&TYPESCRIPT_2).await;
}

#[tokio::test]
async fn the_python_sdk_1_shows_what_the_examples_say() {
    holds_for(&PYTHON_1).await;
}

#[tokio::test]
async fn the_python_sdk_2_shows_what_the_examples_say() {
    holds_for(&PYTHON_2).await;
}
