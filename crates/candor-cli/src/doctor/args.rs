//! What was typed behind `candor doctor`.

use std::path::PathBuf;
use std::time::Duration;

use candor_gateway::config::parse_duration;

use crate::args::LedgerPlace;

/// `candor doctor`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  candor doctor                       hosts' configs, the record, the clock
  candor doctor --probe               also start each wrapped server and look at its tools
  candor doctor -c candor.toml        also check a configuration
  candor doctor --json | jq '.findings[] | select(.weight == \"problem\")'

Nothing is changed, and no value of env or headers is shown.
Exit codes: 0, 1 if there is a problem, 2 for wrong usage.")]
pub(crate) struct DoctorArgs {
    /// Hosts' configs to look at besides those found in the usual places.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
    /// The contracts (candor.toml).
    #[arg(long, short = 'c', value_name = "FILE", env = "CANDOR_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Start each wrapped server in a process of its own, and look at the tools it lists.
    #[arg(long)]
    pub(crate) probe: bool,
    /// How long a probed server may take for an answer.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = patience, requires = "probe")]
    pub(crate) timeout: Duration,
    /// The findings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

fn patience(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|fault| fault.to_string())
}
