//! One file for each target: what it takes from an input, and what must hold.

pub(crate) mod arguments;
pub(crate) mod coercion;
pub(crate) mod config;
pub(crate) mod envelope;
pub(crate) mod frame;
pub(crate) mod head;
pub(crate) mod record;
pub(crate) mod redaction;
pub(crate) mod reply;
pub(crate) mod rules;
pub(crate) mod schema;
mod shape;
