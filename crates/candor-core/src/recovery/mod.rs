//! (recovery)
