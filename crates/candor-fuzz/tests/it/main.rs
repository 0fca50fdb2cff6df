//! The bounded run of every target, and that a run finds what is wrong.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail by panicking, in its shared parts too, and say what it did"
)]

mod bounded;
mod runner;
