//! Transports with the rewriting that carries 2025-11-25 tasks through rmcp.

mod answer;
mod http;
pub(crate) mod rewriting;
mod stdio;

pub use http::{CarriedBody, Carry, CarryLayer};
pub use stdio::{over, stdio};
