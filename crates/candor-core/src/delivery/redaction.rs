//! Credentials leave no text that Candor writes.
