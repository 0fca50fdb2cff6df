//! (record)
