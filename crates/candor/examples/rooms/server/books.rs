//! What the backend knows: rooms, bookings and notices. Nothing of HTTP or MCP in here.

use super::slot::Slot;

/// The rooms there are, with their seats.
pub(crate) const ROOMS: [(&str, u32); 3] = [("12", 8), ("14", 10), ("20", 40)];

/// Most bookings, and most notices, that are kept, so that memory has a bound. A real one has a database.
const MOST: usize = 10_000;

/// A room for a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Booking {
    /// Which room.
    pub(crate) room: String,
    /// When.
    pub(crate) slot: Slot,
    /// For whom.
    pub(crate) name: String,
    /// What the client calls it: its own id for the request.
    pub(crate) reference: String,
    /// What proves it.
    pub(crate) confirmation: String,
}

/// Why there is no booking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The room is taken then; these are free.
    Taken(Vec<&'static str>),
    /// There is no such room.
    NoSuchRoom,
    /// The books are full.
    Full,
}

/// All bookings and notices.
#[derive(Debug, Default)]
pub(crate) struct Books {
    bookings: Vec<Booking>,
    notices: Vec<(String, String)>,
}

impl Books {
    /// Is this room free then?
    pub(crate) fn is_free(&self, room: &str, slot: &Slot) -> bool {
        !self
            .bookings
            .iter()
            .any(|booking| booking.room == room && booking.slot.meets(slot))
    }

    /// Books a room, and gives the confirmation.
    pub(crate) fn book(&mut self, mut booking: Booking) -> Result<Booking, Refused> {
        if !ROOMS.iter().any(|(room, _)| *room == booking.room) {
            return Err(Refused::NoSuchRoom);
        }
        if !self.is_free(&booking.room, &booking.slot) {
            let free = ROOMS.iter().map(|(room, _)| *room);
            return Err(Refused::Taken(
                free.filter(|room| self.is_free(room, &booking.slot)).collect(),
            ));
        }
        if self.bookings.len() >= MOST {
            return Err(Refused::Full);
        }
        booking.confirmation = format!("B-{:04}", self.bookings.len() + 1);
        self.bookings.push(booking.clone());
        Ok(booking)
    }

    /// The booking with this confirmation, or of this client's reference.
    pub(crate) fn find(&self, id: &str) -> Option<&Booking> {
        self.bookings
            .iter()
            .find(|booking| booking.confirmation == id || booking.reference == id)
    }

    /// Sends a notice about a booking; `false` where there is no such booking, or no room for a notice.
    pub(crate) fn notify(&mut self, confirmation: &str, to: &str) -> bool {
        let sent = self.find(confirmation).is_some() && self.notices.len() < MOST;
        if sent {
            self.notices.push((confirmation.to_owned(), to.to_owned()));
        }
        sent
    }

    /// How many bookings and notices there are.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.bookings.len(), self.notices.len())
    }
}
