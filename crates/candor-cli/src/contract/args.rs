//! What was typed after `candor contract`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;

use crate::args::duration;

/// `candor contract`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  candor contract draft -- npx -y @modelcontextprotocol/server-memory > candor.toml
  candor contract test candor.toml --recorded calls.jsonl")]
pub(crate) struct ContractArgs {
    #[command(subcommand)]
    pub(crate) command: ContractCommand,
}

/// The commands of `candor contract`.
#[derive(Debug, Subcommand)]
pub(crate) enum ContractCommand {
    /// Start a server, list its tools, and propose a candor.toml for a person to finish. No tool is called.
    Draft(DraftArgs),
    /// Judge recorded calls without and with a contract, and show both verdicts.
    Test(TestArgs),
}

/// `candor contract draft`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Everything that is not certain is written as a comment: a server's own hints are claims, and a field called `status` may
mean anything. With --samples, results of calls that were made before show which values such fields have.

Exit codes: 0, 2 where the samples can't be read, 4 where the server gives no list.")]
pub(crate) struct DraftArgs {
    /// What the server is called in the file [default: the name it gives itself]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Recorded calls, one JSON object a line: see docs/contracts.md.
    #[arg(long, value_name = "FILE")]
    pub(crate) samples: Option<PathBuf>,
    /// How long the server may take for one answer.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s")]
    pub(crate) timeout: Duration,
    /// The server's command.
    #[arg(last = true, value_name = "CMD", required = true)]
    pub(crate) server: Vec<String>,
}

/// `candor contract test`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing is sent: the recorded answers are judged again, also those of a later look. A recorded call may say what is
expected of it; see docs/contracts.md for the format. With --ledger the first verdict is the one that was told then.

Exit codes: 0, 1 if a verdict is not the expected one, 2 if a file can't be read.")]
pub(crate) struct TestArgs {
    /// The contract: a candor.toml, or a pack.
    #[arg(value_name = "FILE")]
    pub(crate) contract: PathBuf,
    /// Recorded calls, one JSON object a line.
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "ledger",
        conflicts_with = "ledger"
    )]
    pub(crate) recorded: Option<PathBuf>,
    /// Calls out of a ledger: what it keeps of them is redacted, and judged without the tools' schemas.
    #[arg(long, value_name = "PATH")]
    pub(crate) ledger: Option<PathBuf>,
    /// How many calls of the ledger at most, the newest.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// The server of the file whose contracts are tried [default: the only one]; with a pack and a ledger, whose calls
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// One JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}
