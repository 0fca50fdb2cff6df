//! What a tool call means: words, verdicts, the judge, the call machine.
//!
//! Pure on purpose: no socket, file, clock, environment, randomness, thread or async. Time and ids come in as
//! arguments, so any recorded call can be judged again offline and get the same answer.

pub mod arguments;
pub mod asking;
pub mod call;
pub mod contract;
pub mod decisions;
pub mod delivery;
pub mod describe;
pub mod judgment;
pub mod known;
pub mod names;
pub mod reading;
pub mod record;
pub mod recovery;
pub mod wire;
