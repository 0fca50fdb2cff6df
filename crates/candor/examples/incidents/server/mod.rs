//! The incident server: the desk, its event log, who may what, and the tools.

mod access;
mod desk;
mod log;
mod tools;

pub(crate) use access::{Badges, protected};
pub(crate) use desk::Desk;
pub(crate) use log::Log;
pub(crate) use tools::server;
