//! The tools: what they are called with, what they give, and in which order things are done.

use candor::asking::Means;
use candor::outcome::Part;
use candor::{Answer, Call, Effect, Form, Kind, Outcome, Parts, Reason, Stop, Tool, Tools};
use candor_core::judgment::verdict::Outcome as Word;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::desk::{Booked, Desk, Room, taken};
use super::slot::{Slot, ends_after_it_begins, is_to_come};

/// What `book_room` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BookRoom {
    /// Number of the room, such as 12
    #[schemars(length(min = 1, max = 20))]
    room: String,
    /// yyyy-mm-dd, today or later
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    day: String,
    /// hh:mm
    #[schemars(regex(pattern = r"^([01]\d|2[0-3]):[0-5]\d$"))]
    from: String,
    /// hh:mm, after from
    #[schemars(regex(pattern = r"^([01]\d|2[0-3]):[0-5]\d$"))]
    to: String,
    /// For whom
    #[schemars(length(min = 1, max = 80))]
    name: String,
    /// Mail address that gets a notice, once the room is booked
    notify: Option<String>,
}

/// What `free_rooms` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FreeWhen {
    /// yyyy-mm-dd, today or later
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    day: String,
    /// hh:mm
    #[schemars(regex(pattern = r"^([01]\d|2[0-3]):[0-5]\d$"))]
    from: String,
    /// hh:mm, after from
    #[schemars(regex(pattern = r"^([01]\d|2[0-3]):[0-5]\d$"))]
    to: String,
}

/// What `find_booking` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
struct FindBooking {
    /// A confirmation such as B-0001, or the reference of a call whose end nobody knows
    #[schemars(regex(pattern = r"^[A-Za-z0-9-]{1,64}$"))]
    id: String,
}

/// What `send_notice` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
struct SendNotice {
    /// A confirmation such as B-0001
    #[schemars(regex(pattern = r"^[A-Za-z0-9-]{1,64}$"))]
    confirmation: String,
    /// Mail address
    to: String,
}

/// Which rooms are free.
#[derive(Debug, Serialize, JsonSchema)]
struct FreeRooms {
    /// How many.
    count: usize,
    /// Which.
    rooms: Vec<Room>,
}

/// Whether there is a booking.
#[derive(Debug, Serialize, JsonSchema)]
struct Found {
    /// 1 or 0.
    count: usize,
    /// The booking.
    booking: Option<Booked>,
}

/// That a notice was sent.
#[derive(Debug, Serialize, JsonSchema)]
struct Sent {
    /// About which booking.
    confirmation: String,
}

/// The server of rooms, with this desk.
pub(crate) fn tools(desk: Desk) -> Tools {
    Tools::new("rooms", "1.0.0")
        .with(book_room(desk.clone()))
        .with(free_rooms(desk.clone()))
        .with(find_booking(desk.clone()))
        .with(send_notice(desk))
}

fn book_room(desk: Desk) -> Tool {
    Tool::new(
        "book_room",
        "Books a meeting room. Another room than the one wanted only if the user says yes",
    )
    .writes()
    .rule(is_to_come)
    .rule(ends_after_it_begins)
    .run(move |wanted: BookRoom, call: Call| {
        let desk = desk.clone();
        async move { book(&desk, wanted, &call).await }
    })
}

fn free_rooms(desk: Desk) -> Tool {
    let tool = Tool::new("free_rooms", "Lists the rooms that are free").reads();
    tool.rule(is_to_come)
        .rule(ends_after_it_begins)
        .run(move |when: FreeWhen, call: Call| {
            let desk = desk.clone();
            async move {
                let slot = Slot {
                    day: when.day,
                    from: when.from,
                    to: when.to,
                };
                desk.rooms(&slot, call.opened()).await.map(|rooms| {
                    let rooms: Vec<Room> = rooms.into_iter().filter(|room| room.free).collect();
                    FreeRooms {
                        count: rooms.len(),
                        rooms,
                    }
                })
            }
        })
}

fn find_booking(desk: Desk) -> Tool {
    let description =
        "Shows a booking, or that there is none: also whether a call did its work whose answer was lost";
    Tool::new("find_booking", description)
        .reads()
        .run(move |wanted: FindBooking, call: Call| {
            let desk = desk.clone();
            async move {
                let found = desk.find(&wanted.id, call.opened()).await;
                found.map(|booking| Found {
                    count: usize::from(booking.is_some()),
                    booking,
                })
            }
        })
}

fn send_notice(desk: Desk) -> Tool {
    Tool::new("send_notice", "Sends a notice about a booking")
        .writes()
        .run(move |wanted: SendNotice, call: Call| {
            let desk = desk.clone();
            async move {
                let sent = desk.notify(&wanted.confirmation, &wanted.to, call.opened()).await;
                sent.map(|()| Sent {
                    confirmation: wanted.confirmation,
                })
            }
        })
}

/// Looks, asks, books, notifies; in this order, so that nothing has changed when the user is asked.
async fn book(desk: &Desk, wanted: BookRoom, call: &Call) -> Result<Outcome<Booked>, Stop> {
    let slot = Slot {
        day: wanted.day,
        from: wanted.from,
        to: wanted.to,
    };
    let rooms = match desk.rooms(&slot, call.opened()).await {
        Outcome::Completed(done) => done.value,
        other => return Ok(unseen(other)),
    };
    let room = match choose(&rooms, &wanted.room, &slot, call).await? {
        Ok(room) => room,
        Err(reason) => return Ok(Outcome::Rejected(*reason)),
    };
    call.effect_begins();
    let reference = call.operation().to_string();
    let booked = desk
        .book(&room, &slot, &wanted.name, &reference, call.opened())
        .await;
    match (booked, wanted.notify) {
        (Outcome::Completed(done), Some(to)) => {
            let notice = desk.notify(&done.value.confirmation, &to, call.opened()).await;
            Ok(with_notice(done.value, notice))
        }
        (booked, _) => Ok(booked),
    }
}

/// The rooms could not be seen, so nothing was tried.
fn unseen(rooms: Outcome<Vec<Room>>) -> Outcome<Booked> {
    match rooms {
        Outcome::Rejected(reason) => Outcome::Rejected(reason),
        Outcome::Failed(reason) | Outcome::Unknown(reason) => Outcome::Failed(reason),
        Outcome::Completed(_) | Outcome::Accepted(_) | Outcome::Partial(_) => Outcome::Failed(
            Reason::new("ROOMS_UNSEEN", "the booking service did not list its rooms")
                .kind(Kind::DependencyUnavailable)
                .effect(Effect::NotApplied),
        ),
    }
}

/// The room to book: the one wanted, or another if that is taken and the user says yes to it. A room that is not in the
/// list at all is left to the backend, which knows what to say.
async fn choose(
    rooms: &[Room],
    wanted: &str,
    slot: &Slot,
    call: &Call,
) -> Result<Result<String, Box<Reason>>, Stop> {
    let is_taken = rooms.iter().any(|room| room.room == wanted && !room.free);
    if !is_taken {
        return Ok(Ok(wanted.to_owned()));
    }
    let Slot { day, from, to } = slot;
    let fact = format!("room {wanted} is taken on {day} from {from} to {to}");
    let Some(other) = rooms.iter().find(|room| room.free) else {
        return Ok(Err(Box::new(taken(format!("{fact}, and so are all others")))));
    };
    let other = &other.room;
    if !call.can_ask(Means::Form) {
        return Ok(Err(Box::new(
            taken(fact).next_step(format!("room {other} is free then")),
        )));
    }
    // Without fields: a plain yes or no.
    let form = Form::new(format!(
        "Room {wanted} is taken on {day} from {from} to {to}. Book room {other} instead?"
    ));
    let end = match call.ask("another_room", &form.once()).await? {
        Answer::Accepted(_) => return Ok(Ok(other.clone())),
        Answer::Declined => "the user declined",
        Answer::Cancelled => "the user closed the question",
        Answer::Expired => "the user did not answer in time",
    };
    Ok(Err(Box::new(taken(format!(
        "{fact}; room {other} is free, and {end}"
    )))))
}

/// A booking is there; what became of its notice is a part of its own.
fn with_notice(booked: Booked, notice: Outcome<()>) -> Outcome<Booked> {
    let receipt = booked.confirmation.clone();
    let (outcome, reason) = match notice {
        Outcome::Completed(_) => return Outcome::completed_with(booked, receipt),
        Outcome::Rejected(reason) => (Word::Rejected, reason),
        Outcome::Failed(reason) => (Word::Failed, reason),
        Outcome::Unknown(reason) => (Word::Unknown, reason),
        Outcome::Accepted(_) | Outcome::Partial(_) => (
            Word::Unknown,
            Reason::new("NOTICE_TAKEN_ON", "the notice was taken on").effect(Effect::Unknown),
        ),
    };
    let effect = reason.effect.unwrap_or(Effect::Unknown);
    let (said, code) = match effect {
        Effect::NotApplied => ("was not sent", "NOTICE_NOT_SENT"),
        _ => ("may not have been sent", "NOTICE_UNKNOWN"),
    };
    let part = |name: &str, outcome, effect, code| Part {
        name: name.to_owned(),
        outcome,
        effect,
        code,
    };
    Outcome::Partial(Parts {
        message: format!(
            "room {} is booked as {receipt}, and the notice {said}: {}",
            booked.room, reason.message
        ),
        parts: vec![
            part("booking", Word::Completed, Effect::Applied, None),
            part("notice", outcome, effect, Some(reason.code)),
        ],
        value: Some(booked),
        code: code.to_owned(),
        receipt: Some(candor::Receipt(receipt)),
    })
}
