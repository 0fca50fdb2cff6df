//! `candor calls`
use crate::args::CallsArgs;
use crate::exit::Exit;

pub(crate) fn run(_args: &CallsArgs) -> anyhow::Result<Exit> { anyhow::bail!("being written") }
