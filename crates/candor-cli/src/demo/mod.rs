//! `candor demo`: servers that lie, each played bare and then through Candor, with what the model would see on either
//! side. Real processes on this machine, and no network.
//!
//! [`scene`] is the programme; [`run()`] goes through it. A [`play`] is one call made twice by the demo's own small
//! [`host`]; [`seen`] reads what came back as a model would; [`page`] says it, and [`layout`] fits it to the terminal.
//! The files are in a [`folder`]. Deliberately absent: any look into the fixtures' truth files. What the demo says of a
//! call is what came over the pipes.

mod fault;
mod folder;
mod host;
mod layout;
mod next;
mod page;
mod play;
mod run;
mod scene;
mod seen;

pub(crate) use run::run;
