//! Redaction as a whole: each format fires, each look-alike stays, twice is as good as once.
//!
//! Examples are put together from pieces, so that no tool that looks for credentials stops at this file.

mod least;
mod pairs;
mod properties;
mod stacks;
