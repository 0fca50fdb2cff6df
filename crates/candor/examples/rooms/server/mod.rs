//! The server of rooms: a backend that can be told to fail, the desk that asks it, and the tools.

mod backend;
mod books;
mod desk;
mod fault;
mod slot;
mod tools;

pub(crate) use backend::Backend;
pub(crate) use desk::Desk;
pub(crate) use fault::{Fault, Place};
pub(crate) use tools::tools;
