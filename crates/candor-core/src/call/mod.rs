//! (call)
