//! JSON-RPC 2.0 as MCP uses it, read without touching what is inside.
//!
//! Only the envelope is parsed; `params`, `result` and `error` stay raw bytes. What Candor must change it
//! splices into the original text, so that everything else leaves exactly as it came.

pub mod decode;
pub mod encode;
pub mod envelope;
pub mod head;
pub mod members;
pub mod method;
pub mod reply;
pub mod revision;
