//! Asking the user before something is done: what is put to them, and what their answer means.

pub mod confirmation;
pub mod forms;
