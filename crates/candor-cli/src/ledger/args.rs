//! What `candor ledger` takes.

use std::path::PathBuf;
use std::time::Duration;

use super::sizes;
use crate::args::LedgerPlace;
use crate::times;

/// `candor ledger export`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  candor ledger export > calls.jsonl
  candor ledger export --server rooms --since 24h --out rooms.jsonl
  candor ledger export | jq -c 'select(.phase == \"verdict\") | [.tool, .outcome]'

One record a line, chain by chain; the last line is a manifest that says what is there and whether every chain holds. A
file without it is not whole. Records are verified on the way: docs/ledger.md tells how to do it again from the lines.
Exit codes: 0, 1 if a record is damaged, changed or missing (what can be read is written all the same), 2 if nothing was
written.")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
    /// Only records made within this time, such as 10m, 2h or 7d.
    #[arg(long, value_name = "TIME", value_parser = times::ago)]
    pub(crate) since: Option<Duration>,
    /// Only records of this server.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only records of this tool.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Write to this file, for its owner alone, and only when all is written [default: stdout]
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it is there.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

/// `candor ledger prune`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  candor ledger prune                           what would go by the defaults; changes nothing
  candor ledger prune --older-than 7d --apply   do it
  candor ledger prune --max-size 100MiB

Whole calls go, oldest first, but for what is open or unsettled: that stays at any age, and is named.
Exit codes: 0, 1 if the record does not verify afterwards, 2 if it can't be opened or written.")]
pub(crate) struct PruneArgs {
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
    /// Calls whose last record is older than this may go.
    #[arg(long, value_name = "TIME", value_parser = times::ago, default_value = "30d")]
    pub(crate) older_than: Duration,
    /// Beyond this size of all records together the oldest may go at any age.
    #[arg(long, value_name = "SIZE", value_parser = sizes::bytes, default_value = "1GiB")]
    pub(crate) max_size: u64,
    /// Do it. Without this, the plan is printed and nothing changes.
    #[arg(long)]
    pub(crate) apply: bool,
    /// The plan, and what was done, as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
