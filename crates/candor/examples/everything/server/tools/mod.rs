//! The tools, by what they show: content, notifications, questions, rounds, tasks.

mod content;
mod notifying;
mod questions;
mod rounds;
mod schemas;
mod tasks;

pub(super) use tasks::declared;
