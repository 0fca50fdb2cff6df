//! The backend: rooms over HTTP, with problem details, on a port of this machine. It fails where it is told to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use candor::http::Api;
use candor::{Issue, Kind, Outcome, Reason};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::books::{Booking, Books, ROOMS, Refused};
use super::fault::{Fault, Place};
use super::slot::Slot;

/// The backend. Clones share everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backend(Arc<Mutex<Inside>>);

#[derive(Debug, Default)]
struct Inside {
    books: Books,
    faults: BTreeMap<Place, Fault>,
}

/// What is asked for when a room is booked.
#[derive(Debug, Deserialize)]
struct Wanted {
    room: String,
    day: String,
    from: String,
    to: String,
    who: String,
    reference: String,
}

/// What is asked for when a notice is sent.
#[derive(Debug, Deserialize)]
struct Notice {
    confirmation: String,
    to: String,
}

impl Backend {
    /// The next request to this place fails in this way.
    pub(crate) fn fail(&self, place: Place, fault: Fault) {
        self.inside().faults.insert(place, fault);
    }

    /// How many bookings and notices there really are, whatever was answered.
    pub(crate) fn counts(&self) -> (usize, usize) {
        self.inside().books.counts()
    }

    /// Serves on a free port; gives the base URL. It ends with the process, or with the runtime.
    pub(crate) async fn serve(&self) -> std::io::Result<String> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let base = format!("http://{}", listener.local_addr()?);
        let app = Router::new()
            .route("/rooms/{day}/{from}/{to}", get(rooms))
            .route("/bookings", post(book))
            .route("/bookings/{id}", get(find))
            .route("/notices", post(notify))
            .route("/faults/{place}/{fault}", post(fail))
            .with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(base)
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(&self, place: Place, work: impl FnOnce(&mut Books) -> Response) -> Response {
        let fault = self.inside().faults.remove(&place);
        let work = || work(&mut self.inside().books);
        match fault {
            None => work(),
            Some(fault) => fault.answer(work).await,
        }
    }
}

async fn rooms(
    State(backend): State<Backend>,
    Path((day, from, to)): Path<(String, String, String)>,
) -> Response {
    let slot = Slot { day, from, to };
    let list = |books: &mut Books| {
        let room = |(room, seats): &(&str, u32)| json!({ "room": room, "seats": seats, "free": books.is_free(room, &slot) });
        reply(&Outcome::completed(ROOMS.iter().map(room).collect::<Vec<_>>()))
    };
    backend.answer(Place::Rooms, list).await
}

async fn book(State(backend): State<Backend>, body: Bytes) -> Response {
    let Some(wanted) = read::<Wanted>(&body) else {
        return reply::<()>(&not_understood());
    };
    backend
        .answer(Place::Bookings, |books| booked(books, wanted))
        .await
}

fn booked(books: &mut Books, wanted: Wanted) -> Response {
    let Wanted {
        room,
        day,
        from,
        to,
        who,
        reference,
    } = wanted;
    let (slot, confirmation) = (Slot { day, from, to }, String::new());
    match books.book(Booking {
        room,
        slot,
        name: who,
        reference,
        confirmation,
    }) {
        Ok(booking) => {
            let mut response = reply(&Outcome::completed(shown(&booking)));
            *response.status_mut() = StatusCode::CREATED;
            let place = HeaderValue::from_str(&format!("/bookings/{}", booking.confirmation));
            if let Ok(place) = place {
                response.headers_mut().insert(header::LOCATION, place);
            }
            response
        }
        Err(refused) => reply::<()>(&Outcome::Rejected(why(&refused))),
    }
}

fn why(refused: &Refused) -> Reason {
    match refused {
        Refused::Taken(free) => {
            let taken = Reason::new("ROOM_UNAVAILABLE", "the room is taken then").kind(Kind::BusinessRule);
            match free.first() {
                Some(room) => taken.next_step(format!("room {room} is free then")),
                None => taken,
            }
        }
        Refused::NoSuchRoom => {
            let expected = format!("one of {}", ROOMS.map(|(room, _)| room).join(", "));
            let (path, rule) = ("/room".to_owned(), "exists".to_owned());
            let issue = Issue {
                path,
                rule,
                expected,
                received: None,
                hint: None,
            };
            Reason::new("NO_SUCH_ROOM", "there is no such room")
                .kind(Kind::InvalidInput)
                .issues(vec![issue])
        }
        Refused::Full => Reason::new("BOOKS_FULL", "no more bookings are kept").kind(Kind::BusinessRule),
    }
}

async fn find(State(backend): State<Backend>, Path(id): Path<String>) -> Response {
    let look = |books: &mut Books| match books.find(&id) {
        Some(booking) => reply(&Outcome::completed(shown(booking))),
        None => {
            let none = Reason::new("NO_SUCH_BOOKING", "there is no such booking").kind(Kind::BusinessRule);
            let mut response = reply::<()>(&Outcome::Rejected(none));
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
    };
    backend.answer(Place::Bookings, look).await
}

async fn notify(State(backend): State<Backend>, body: Bytes) -> Response {
    let Some(notice) = read::<Notice>(&body) else {
        return reply::<()>(&not_understood());
    };
    let send = |books: &mut Books| {
        if books.notify(&notice.confirmation, &notice.to) {
            return reply(&Outcome::completed(()));
        }
        reply::<()>(&Outcome::Rejected(Reason::new(
            "NO_SUCH_BOOKING",
            "there is no such booking",
        )))
    };
    backend.answer(Place::Notices, send).await
}

async fn fail(State(backend): State<Backend>, Path((place, fault)): Path<(String, String)>) -> StatusCode {
    match (Place::parse(&place), Fault::parse(&fault)) {
        (Some(place), Some(fault)) => {
            backend.fail(place, fault);
            StatusCode::NO_CONTENT
        }
        _ => StatusCode::NOT_FOUND,
    }
}

fn shown(booking: &Booking) -> Value {
    let Booking {
        room,
        slot,
        name,
        reference,
        confirmation,
    } = booking;
    let Slot { day, from, to } = slot;
    json!({
        "confirmation": confirmation, "room": room, "day": day, "from": from, "to": to, "who": name,
        "reference": reference,
    })
}

fn read<'a, T: Deserialize<'a>>(body: &'a Bytes) -> Option<T> {
    serde_json::from_slice(body).ok()
}

fn not_understood() -> Outcome<()> {
    Outcome::Rejected(
        Reason::new("NOT_UNDERSTOOD", "the body is not what is read here").kind(Kind::InvalidInput),
    )
}

/// An outcome as HTTP has it: the other half of what the desk reads.
fn reply<T: Serialize>(outcome: &Outcome<T>) -> Response {
    let reply = Api::with_types("https://rooms.example/problems/").reply(outcome);
    let response: Response<Bytes> = reply.into();
    response.map(Body::from)
}
