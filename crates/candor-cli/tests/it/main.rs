//! Candor as a program, between a host that drives it and fixtures that lie to it. Every test here starts processes.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may fail by panicking, in its shared parts too"
)]

mod arguments;
mod confirming;
mod contracts;
mod demo;
mod ease;
mod exits;
mod fidelity;
mod field_cases;
mod following;
mod harness;
mod keys;
mod ledger;
mod ledger_stress;
mod own_tools;
mod reading;
mod recovering;
mod redaction;
mod revival;
mod rows;
mod settling;
mod tasks;
mod wire;
