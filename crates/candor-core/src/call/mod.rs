//! One tool call as a state machine without I/O: it is told what happened and asks for what must be done.
//!
//! A shell carries the actions out. Any recorded call can be judged again offline from the same events.

pub mod admission;
pub mod crashed;
pub mod keyed;
pub mod machine;
pub mod malformed;
pub mod reply;
pub mod request;
pub mod rounds;
pub mod settled;

#[cfg(test)]
mod tests;
