//! `candor explain`
use crate::args::ExplainArgs;
use crate::exit::Exit;

pub(crate) fn run(_args: &ExplainArgs) -> anyhow::Result<Exit> { anyhow::bail!("being written") }
