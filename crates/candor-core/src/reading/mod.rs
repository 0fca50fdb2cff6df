//! The reply to a call, kept whole, and what its structured facts say. Prose never decides.

mod believed;
pub mod members;
pub mod result;
pub mod sign;
