//! `candor doctor`: looks at everything Candor depends on here, changes nothing, and says what to do.
//!
//! Each part gives findings (`finding`): `hosts` from the configs of hosts, `ledger` from the record and the clock,
//! `config` from a candor.toml, `probe` and `tools` from servers that are started for it (`conversation`).

pub(crate) mod args;
mod config;
mod conversation;
mod finding;
mod hosts;
mod ledger;
pub(crate) mod probe;
mod report;
mod run;
mod tools;

pub(crate) use run::run;
