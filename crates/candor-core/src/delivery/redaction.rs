//! Credentials leave no text that Candor writes: not towards the model, not in a log, not in the ledger.

mod names;

pub use names::is_secret_name;
