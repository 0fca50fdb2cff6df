//! Tools of an MCP server that tell what really happened.

pub mod asking;
pub mod call;
pub mod carry;
pub mod http;
#[expect(
    deprecated,
    reason = "the specification gives logging up and knows nothing better for messages during a call"
)]
mod log;
pub mod outcome;
pub mod principal;
pub mod seal;
pub mod tasks;

pub use call::{Call, Halt};
pub use log::Level;
pub use outcome::{Outcome, Reason, Receipt, Reference};
pub use principal::Principal;
pub use rmcp;
