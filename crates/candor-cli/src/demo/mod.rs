//! `candor demo`
use crate::args::DemoArgs;
use crate::exit::Exit;

pub(crate) fn run(_args: &DemoArgs) -> anyhow::Result<Exit> { anyhow::bail!("being written") }
