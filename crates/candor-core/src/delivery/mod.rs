//! What leaves towards the caller: wording, redaction, and the one value that may be delivered.

pub mod redaction;
pub mod wording;
