//! The tool `book_flight`, and the server that has it.

use std::sync::Arc;

use candor::{Builder, Candor, Declaration, Outcome, Parameters, Reason};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::booking::{Desk, Flight, Refused, day};
use super::rules::{departs_in_the_future, leads_elsewhere};

/// What `book_flight` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BookFlight {
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
struct Booked {
    /// The booking's number.
    booking: String,
    /// Seats left on this flight.
    seats_left: u32,
}

/// A server that books flights. Cloning is cheap: all clones have one desk.
#[derive(Clone, Default)]
pub(crate) struct Flights {
    desk: Arc<Desk>,
}

impl Flights {
    /// The server with what is declared of its tool. The clock can still be set.
    pub(crate) fn declared() -> Builder<Self> {
        let book = Declaration::writes()
            .rule(departs_in_the_future)
            .rule(leads_elsewhere);
        Candor::builder(Self::default()).tool("book_flight", book)
    }
}

#[tool_router]
impl Flights {
    /// Books seats: all of them, or none.
    #[tool(description = "Books seats on a flight", output_schema = candor::output_schema::<Booked>())]
    async fn book_flight(&self, Parameters(wanted): Parameters<BookFlight>) -> Outcome<Booked> {
        let Some(day) = day(&wanted.departure_date) else {
            // The rules have seen to this; whoever calls without them is refused all the same.
            return Outcome::Rejected(Reason::new("NO_SUCH_DAY", "there is no such day"));
        };
        let flight = Flight {
            from: wanted.from,
            to: wanted.to,
            day,
        };
        match self.desk.book(flight, wanted.passengers) {
            Ok(booked) => {
                let receipt = booked.number.clone();
                Outcome::completed_with(
                    Booked {
                        booking: booked.number,
                        seats_left: booked.seats_left,
                    },
                    receipt,
                )
            }
            Err(Refused::SoldOut(left)) => Outcome::Rejected(
                Reason::new("SOLD_OUT", format!("{left} seats are left on that flight"))
                    .next_step("fewer passengers or another day make another call"),
            ),
            Err(Refused::Full) => {
                Outcome::Rejected(Reason::new("DESK_FULL", "this desk can't keep more flights"))
            }
        }
    }
}

#[tool_handler]
impl ServerHandler for Flights {}
