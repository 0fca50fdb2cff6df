//! `candor import`: puts `candor --` in front of the servers in the configs of hosts, and takes it out again.
//!
//! A config is read into a tree that knows where each value stands (`document`, `jsonc`, `toml_spans`); `servers` finds
//! what is started there; `edits` changes single values by their place, so that everything else stays byte for byte.
//! `outline` is what a file would become, `file` the one way to write, `undo` the way back.

pub(crate) mod args;
mod document;
mod edits;
mod fault;
mod file;
pub(crate) mod hosts;
mod jsonc;
mod outline;
pub(crate) mod program;
mod run;
pub(crate) mod servers;
pub(crate) mod shown;
mod toml_spans;
mod undo;

pub(crate) use fault::FileFault;
pub(crate) use file::ConfigFile;
pub(crate) use run::run;
