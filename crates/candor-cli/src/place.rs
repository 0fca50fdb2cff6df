//! Where the record of calls is.

use std::env;
use std::path::PathBuf;

use anyhow::Context;

use crate::args::LedgerPlace;

/// The ledger's file: as said, else in the user's state folder.
pub(crate) fn ledger(place: &LedgerPlace) -> anyhow::Result<PathBuf> {
    match &place.ledger {
        Some(path) => Ok(path.clone()),
        None => default_ledger(),
    }
}

/// The default place (XDG base directories, `XDG_STATE_HOME`).
pub(crate) fn default_ledger() -> anyhow::Result<PathBuf> {
    let state = env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".local").join("state")));
    let state = state.context(
        "no place for the record of calls: neither HOME nor XDG_STATE_HOME is set; give one with --ledger PATH",
    )?;
    Ok(state.join("candor").join("ledger.sqlite"))
}
