//! The flight server: what the desk knows, what a schema can't say, and the tool.

mod booking;
mod rules;
mod tool;

pub(crate) use tool::Flights;
