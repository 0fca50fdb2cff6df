//! The everything-server. Its fixtures have the names and the words that the suite looks for.

mod everything;
mod fixtures;
mod listening;
mod prompts;
mod resources;
mod subscriptions;
mod tools;

pub(crate) use listening::listen;
