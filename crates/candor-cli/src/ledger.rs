//! `candor ledger`: looks after the record of calls.

pub(crate) mod args;
mod export;
pub(crate) mod file;
mod line;
pub(crate) mod progress;
mod prune;
mod sizes;
mod verify;

use crate::args::{LedgerArgs, LedgerCommand};
use crate::exit::Exit;

pub(crate) fn run(args: &LedgerArgs) -> anyhow::Result<Exit> {
    match &args.command {
        LedgerCommand::Verify(args) => verify::run(args),
        LedgerCommand::Export(args) => export::run(args),
        LedgerCommand::Prune(args) => prune::run(args),
    }
}
