//! Compiled JSON Schemas: offline, bounded, by declared dialect.

mod alternatives;
mod bounds;
mod compiled;
mod dialect;
mod expected;
mod fault;
mod findings;
mod graph;
mod phrases;
mod received;
#[cfg(test)]
mod tests;
mod validation;

pub use compiled::Schema;
pub use dialect::{Dialect, Formats};
pub use fault::SchemaFault;
pub use validation::{NotChecked, Validation, WhyNotChecked};

pub(crate) use compiled::Examined;
pub(crate) use expected::known_names_words;
pub(crate) use findings::Wanted;
pub(crate) use graph::{Graph, NodeId, Openness, child_pointer};
pub(crate) use received::{is_masked, parent, received, shown_path};
