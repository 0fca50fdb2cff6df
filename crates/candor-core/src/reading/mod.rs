//! The reply to a call, kept whole, and what its structured facts say. Prose never decides.

pub mod members;
pub mod result;
