//! The tool `book_flight`.

use std::sync::Arc;

use candor::{Outcome, outcome::Reason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::booking::{self, Desk, Flight, Refused};

/// What `book_flight` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BookFlight {
    /// IATA code of the airport of departure, such as HEL
    #[schemars(regex(pattern = "^[A-Z]{3}$"))]
    from: String,
    /// IATA code of the airport of arrival, such as SIN
    #[schemars(regex(pattern = "^[A-Z]{3}$"))]
    to: String,
    /// dd/mm/yyyy, a day in the future
    #[schemars(regex(pattern = r"^\d{2}/\d{2}/\d{4}$"))]
    departure_date: String,
    /// How many fly
    #[schemars(range(min = 1, max = 9))]
    passengers: u32,
}

/// What it gives.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Booked {
    /// The booking's number.
    booking: String,
    /// Seats left on this flight.
    seats_left: u32,
}

/// Books seats: all of them, or none and says why.
fn book(desk: &Desk, wanted: BookFlight) -> Outcome<Booked> {
    let Some(day) = booking::day(&wanted.departure_date) else {
        // The rules have seen to this; whoever calls without them is refused all the same.
        return Outcome::Rejected(Reason::new("NO_SUCH_DAY", "there is no such day"));
    };
    let flight = Flight { from: wanted.from, to: wanted.to, day };
    match desk.book(flight, wanted.passengers) {
        Ok(booked) => {
            let receipt = booked.number.clone();
            let value = Booked { booking: booked.number, seats_left: booked.seats_left };
            Outcome::completed_with(value, receipt)
        }
        Err(Refused::SoldOut(left)) => Outcome::Rejected(
            Reason::new("SOLD_OUT", format!("only {left} seats are left on that flight"))
                .next_step("another day or fewer passengers make another call"),
        ),
        Err(Refused::Full) => {
            Outcome::Rejected(Reason::new("DESK_FULL", "this desk can't keep more flights"))
        }
    }
}
