//! What leaves towards the caller: wording, redaction, and the one value that may be delivered.

pub mod answer;
pub mod news;
pub mod operation;
pub mod quote;
pub mod redaction;
pub mod replay;
pub mod result;
pub mod task;
pub mod wording;
