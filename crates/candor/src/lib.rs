//! Tools of an MCP server that tell what really happened.

pub mod asking;
pub mod call;
pub mod carry;
pub mod describe;
pub mod http;
pub mod outcome;
pub mod principal;
pub mod seal;
pub mod tasks;

pub use call::{Call, Halt};
pub use outcome::{Outcome, Reason, Receipt, Reference};
pub use principal::Principal;
pub use rmcp;
