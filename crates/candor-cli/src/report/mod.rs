//! `candor report`: what a session, or a span of time, really did, and on what evidence.
//!
//! [`span`] says which calls are asked for and [`gather`] reads them, a page at a time, into a [`summary`]. [`words`] and
//! [`tables`] (of [`cells`]) say it once for all forms; `terminal`, `markdown` and `html` (with `chart` and `timeline`) set
//! them, each escaping foreign text in its own way. `json` is the shape for programs. Deliberately absent: any judgment. What
//! a call is worth was concluded when it ended; here it is only counted.

pub(crate) mod args;
mod cells;
mod chart;
mod gather;
mod html;
mod json;
mod markdown;
mod run;
mod section;
mod span;
mod summary;
mod tables;
mod terminal;
mod timeline;
mod words;

pub(crate) use run::run;

#[cfg(test)]
mod tests;
