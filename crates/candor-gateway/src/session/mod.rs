//! One host and one server on two pipes: the loop that carries frames, and carries out what calls ask for.
//!
//! One task owns all of it, so there is no lock and no order to get wrong. Everything that waits (disk, deadlines,
//! pipes) comes back to the loop as an event.

mod batches;
mod breaker;
mod calls;
mod confirming;
mod fate;
mod following;
mod from_host;
mod from_server;
mod keys;
mod linger;
mod listing;
mod news;
mod own;
mod own_tools;
mod pending;
mod reconciler;
mod recovery;
mod revival;
mod rounds;
mod run;
mod state;
mod stops;
mod tasks;
mod timers;

pub use run::{Options, RunFault, run};
