//! The first text block, by situation.
