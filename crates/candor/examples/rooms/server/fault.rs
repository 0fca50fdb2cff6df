//! The ways in which the backend can be told to fail.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Where it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// The list of rooms.
    Rooms,
    /// Making or finding a booking.
    Bookings,
    /// Sending a notice.
    Notices,
}

impl Place {
    /// Reads the word that the command line and the URL have for it.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        match word {
            "rooms" => Some(Self::Rooms),
            "bookings" => Some(Self::Bookings),
            "notices" => Some(Self::Notices),
            _ => None,
        }
    }
}

/// How it fails. "After" is after the work is done: what the answer hides is real.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `503`: this status, and nothing is done.
    Status(StatusCode),
    /// `503-after`: the work is done, and answered by this status.
    StatusAfter(StatusCode),
    /// `page`: a page of HTML with 200, as from a proxy that wants a login. Nothing is done.
    Page,
    /// `garbled`: the work is done, and answered by broken JSON with 200.
    Garbled,
    /// `close-before`: the connection ends, and nothing is done.
    CloseBefore,
    /// `close-after`: the work is done, and the connection ends without an answer.
    CloseAfter,
    /// `silent`: nothing is done and nothing is answered.
    Silent,
    /// `queued`: 202 with `Location`. The work is done behind the caller's back.
    Queued,
}

impl Fault {
    /// Reads the word that the command line and the URL have for it.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "page" => Self::Page,
            "garbled" => Self::Garbled,
            "close-before" => Self::CloseBefore,
            "close-after" => Self::CloseAfter,
            "silent" => Self::Silent,
            "queued" => Self::Queued,
            _ => match word.strip_suffix("-after") {
                Some(status) => Self::StatusAfter(status.parse().ok()?),
                None => Self::Status(word.parse().ok()?),
            },
        })
    }

    /// Answers in this way. `work` does what was asked, and answers as it should.
    pub(crate) async fn answer(self, work: impl FnOnce() -> Response) -> Response {
        match self {
            Self::Status(status) => broken(status),
            Self::StatusAfter(status) => {
                work();
                broken(status)
            }
            Self::Page => {
                let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
                (html, "<!doctype html><title>Sign in</title>").into_response()
            }
            Self::Garbled => {
                work();
                ([(header::CONTENT_TYPE, "application/json")], "{\"confirmation\":").into_response()
            }
            Self::CloseBefore => close(),
            Self::CloseAfter => {
                work();
                close()
            }
            Self::Silent => std::future::pending().await,
            Self::Queued => match work().headers().get(header::LOCATION) {
                Some(place) => (StatusCode::ACCEPTED, [(header::LOCATION, place.clone())]).into_response(),
                None => StatusCode::ACCEPTED.into_response(),
            },
        }
    }
}

fn broken(status: StatusCode) -> Response {
    let problem = [(header::CONTENT_TYPE, "application/problem+json")];
    (status, problem, "{\"title\":\"Told to fail\"}").into_response()
}

/// Ends the connection: unwinding takes the task of this connection with it, and nothing else. An unwinding that is
/// resumed writes no message.
fn close() -> Response {
    std::panic::resume_unwind(Box::new("told to close the connection"))
}
