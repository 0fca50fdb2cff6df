//! What goes on disk: versioned entries, and the proof that they are there.

pub mod bodies;
pub mod entry;

pub use entry::{Entry, Phase, Receipt, Recording};
