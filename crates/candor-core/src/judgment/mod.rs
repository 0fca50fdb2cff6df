//! (judgment)
