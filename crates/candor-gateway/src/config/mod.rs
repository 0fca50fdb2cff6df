//! `candor.toml`: read, checked as a whole, and asked for the terms of one tool.
//!
//! A file goes through four steps: `reader` takes the text apart and keeps every position, `raw` is the typed shape
//! of the file, `build` makes clauses of it, `merge` lays the command line over them. Every fault of a file is found
//! at once, with line and column.

mod build;
mod duration;
mod expand;
mod fault;
mod glob;
mod keys;
mod lower;
mod merge;
mod outcome;
mod over;
mod pack;
mod raw;
mod reader;
mod recovery;
mod redact;
mod schema;
mod span;
mod text;
mod words;

#[cfg(test)]
mod tests;

pub use build::{Config, LoadFault, ServerConfig, ToolConfig};
pub use duration::{DurationFault, parse_duration};
pub use fault::{ConfigFault, FaultKind};
pub use glob::Glob;
pub use merge::{CommandLine, Unmatched};
pub use pack::{Pack, PackFault};
pub use recovery::Recovery;
pub use schema::json_schema;
pub use words::LogLevel;
