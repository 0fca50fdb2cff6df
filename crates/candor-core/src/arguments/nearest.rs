//! The nearest right name or value to a wrong one.
