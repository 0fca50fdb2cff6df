//! `candor show`
use crate::args::ShowArgs;
use crate::exit::Exit;

pub(crate) fn run(_args: &ShowArgs) -> anyhow::Result<Exit> { anyhow::bail!("being written") }
