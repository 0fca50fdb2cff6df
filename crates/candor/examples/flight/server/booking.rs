//! What the flight desk knows: seats, bookings, and which day is a day in the future. Nothing of MCP in here, and no clock:
//! whoever calls says what time it is.

use std::collections::BTreeMap;
use std::sync::Mutex;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;

/// Seats on each flight of each day.
const SEATS: u32 = 12;
/// Most flights that are kept, so that this desk's memory has a bound. A real one has a database.
const MAX_FLIGHTS: usize = 10_000;

/// One connection on one day.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Flight {
    /// IATA code of the airport of departure.
    pub(crate) from: String,
    /// IATA code of the airport of arrival.
    pub(crate) to: String,
    /// The day of departure.
    pub(crate) day: Date,
}

/// Seats that were taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Booking {
    /// What proves it: a booking number such as `FL-0001`.
    pub(crate) number: String,
    /// Seats left on that flight afterwards.
    pub(crate) seats_left: u32,
}

/// Why no seat was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Fewer seats are left than were asked for: so many.
    SoldOut(u32),
    /// This desk can't keep more flights.
    Full,
}

/// All bookings, in memory.
#[derive(Debug, Default)]
pub(crate) struct Desk(Mutex<Books>);

#[derive(Debug, Default)]
struct Books {
    taken: BTreeMap<Flight, u32>,
    bookings: u32,
}

impl Desk {
    /// Takes seats, all of them or none.
    pub(crate) fn book(&self, flight: Flight, passengers: u32) -> Result<Booking, Refused> {
        let mut books = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if books.taken.len() >= MAX_FLIGHTS && !books.taken.contains_key(&flight) {
            return Err(Refused::Full);
        }
        let taken = books.taken.entry(flight).or_default();
        let left = SEATS.saturating_sub(*taken);
        let seats_left = left.checked_sub(passengers).ok_or(Refused::SoldOut(left))?;
        *taken += passengers;
        books.bookings += 1;
        let number = format!("FL-{:04}", books.bookings);
        Ok(Booking { number, seats_left })
    }
}

/// Reads `dd/mm/yyyy`; `None` for what is no such day, such as 31/02/2026.
pub(crate) fn day(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '/');
    let mut number = |digits: usize| {
        let part = parts.next()?;
        let fits = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        fits.then(|| part.parse::<i16>().ok())?
    };
    let (day, month, year) = (number(2)?, number(2)?, number(4)?);
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// The day it is, by UTC: a desk that has customers in many zones would ask for theirs.
pub(crate) fn today(now: Timestamp) -> Date {
    Offset::UTC.to_datetime(now).date()
}

/// A day as people write it here.
pub(crate) fn written(day: Date) -> String {
    format!("{:02}/{:02}/{:04}", day.day(), day.month(), day.year())
}
