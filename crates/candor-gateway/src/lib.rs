//! Between a host and its server: joins meaning, wire and ledger.
//!
//! [`session`] carries frames and carries out what the core's call machine asks for; it decides nothing about what
//! an answer means.

pub mod catalogue;
pub mod clock;
pub mod config;
pub mod deadline;
pub mod packs;
pub mod recorder;
mod seal;
pub mod session;
