//! `candor ledger`
use crate::args::LedgerArgs;
use crate::exit::Exit;

pub(crate) fn run(_args: &LedgerArgs) -> anyhow::Result<Exit> { anyhow::bail!("being written") }
