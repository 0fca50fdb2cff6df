//! Between a host and its server: joins meaning, wire and ledger.

pub mod config;
