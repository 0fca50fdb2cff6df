//! The desk: asks the backend over HTTP, and knows of each answer what it means.

use std::time::Duration;

use axum::http::Method;
use candor::http::{Exchange, Loss, NoConnection, Sign, Terms};
use candor::{Effect, Kind, Outcome, Reason, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::slot::Slot;

/// The most of an answer that is read, in bytes.
const MOST: usize = 64 * 1024;

/// A room, and whether it is free.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Room {
    /// Its number.
    pub(crate) room: String,
    /// How many can sit in it.
    pub(crate) seats: u32,
    /// Is it free then?
    pub(crate) free: bool,
}

/// A booking.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Booked {
    /// What proves it, such as `B-0001`.
    pub(crate) confirmation: String,
    /// Which room.
    pub(crate) room: String,
    /// `yyyy-mm-dd`.
    pub(crate) day: String,
    /// `hh:mm`.
    pub(crate) from: String,
    /// `hh:mm`.
    pub(crate) to: String,
}

/// The way to the backend.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    client: reqwest::Client,
    base: String,
    wait: Duration,
}

impl Desk {
    /// A desk whose backend is here, and which waits this long for an answer.
    pub(crate) fn new(base: impl Into<String>, wait: Duration) -> reqwest::Result<Self> {
        // Redirections are not followed: after one, "no connection" could be about the second request.
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy();
        Ok(Self {
            client: client.timeout(wait).build()?,
            base: base.into(),
            wait,
        })
    }

    /// All rooms, and which of them are free then.
    pub(crate) async fn rooms(&self, slot: &Slot, now: Timestamp) -> Outcome<Vec<Room>> {
        let Slot { day, from, to } = slot;
        self.ask(Method::GET, &format!("/rooms/{day}/{from}/{to}"), None)
            .await
            .read(&terms(), now)
    }

    /// Books a room. `reference` is ours: by it the booking can be found, even if its answer is lost.
    pub(crate) async fn book(
        &self,
        room: &str,
        slot: &Slot,
        name: &str,
        reference: &str,
        now: Timestamp,
    ) -> Outcome<Booked> {
        let Slot { day, from, to } = slot;
        let body =
            json!({ "room": room, "day": day, "from": from, "to": to, "who": name, "reference": reference });
        let exchange = self.ask(Method::POST, "/bookings", Some(body)).await;
        let taken = taken(format!("room {room} is taken on {day} from {from} to {to}"));
        let terms = terms()
            .receipt_at("/confirmation")
            .argument("/who", "/name")
            .rejected(problem(TAKEN), taken);
        can_be_found(exchange.read(&terms, now), reference)
    }

    /// The booking with this confirmation or reference. That there is none is said only where the backend says it by its
    /// code: a 404 alone may come from anywhere on the way.
    pub(crate) async fn find(&self, id: &str, now: Timestamp) -> Outcome<Option<Booked>> {
        const NONE: &str = "NO_SUCH_BOOKING";
        let exchange = self.ask(Method::GET, &format!("/bookings/{id}"), None).await;
        let none = Reason::new(NONE, "there is no such booking");
        match exchange.read::<Booked>(&terms().rejected(problem(NONE), none), now) {
            Outcome::Rejected(reason) if reason.code == NONE => Outcome::completed(None),
            other => other.map(Some),
        }
    }

    /// Sends a notice about a booking.
    pub(crate) async fn notify(&self, confirmation: &str, to: &str, now: Timestamp) -> Outcome<()> {
        let body = json!({ "confirmation": confirmation, "to": to });
        self.ask(Method::POST, "/notices", Some(body))
            .await
            .read(&terms(), now)
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Exchange {
        let mut request = self
            .client
            .request(method.clone(), format!("{}{path}", self.base));
        if let Some(body) = body {
            request = request.json(&body);
        }
        match request.send().await {
            Ok(response) => Exchange::answered(method, response.into(), MOST, self.wait).await,
            Err(fault) if fault.is_builder() => Exchange::never_connected(method, NoConnection::Other),
            Err(fault) if fault.is_connect() => Exchange::never_connected(method, NoConnection::Refused),
            Err(fault) if fault.is_timeout() => Exchange::lost(method, Loss::TimedOut),
            Err(_) => Exchange::lost(method, Loss::Closed),
        }
    }
}

/// The code for a room that somebody else has.
pub(crate) const TAKEN: &str = "ROOM_UNAVAILABLE";

/// A refusal because the room is taken.
pub(crate) fn taken(message: String) -> Reason {
    Reason::new(TAKEN, message).kind(Kind::BusinessRule)
}

fn terms() -> Terms {
    Terms::new("the booking service")
}

fn problem(code: &str) -> Sign {
    Sign::of_type(format!("https://rooms.example/problems/{code}"))
}

/// Where nobody knows whether the room is booked, or it is not booked yet, says how to find out.
fn can_be_found(outcome: Outcome<Booked>, reference: &str) -> Outcome<Booked> {
    let point = |reason: Reason| match reason.effect {
        Some(Effect::NotApplied) => reason,
        _ => reason.reference(reference).next_step(format!(
            "find_booking with id {reference} shows whether the room is booked"
        )),
    };
    match outcome {
        Outcome::Rejected(reason) => Outcome::Rejected(point(reason)),
        Outcome::Failed(reason) => Outcome::Failed(point(reason)),
        Outcome::Unknown(reason) => Outcome::Unknown(point(reason)),
        // The backend's own reference is a path that no tool takes; by ours find_booking follows it.
        Outcome::Accepted(_) => Outcome::accepted(reference),
        other => other,
    }
}
