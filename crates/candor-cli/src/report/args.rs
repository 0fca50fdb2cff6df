//! What `candor report` takes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;

use super::span;
use crate::args::LedgerPlace;
use crate::times;

/// `candor report`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  candor report --session last                       what the last session did
  candor report --since 1h --format markdown >> \"$GITHUB_STEP_SUMMARY\"
  candor report --from 2026-11-30 --to 2026-12-01 --out report.html
  candor report --session last --json | jq .unsettled

A session is one run of `candor -- CMD…`. Moments are in UTC; without a span the whole record is reported. An HTML report is
one file that loads nothing. docs/report.md explains every part, and the JSON.
Exit codes: 0 if everything is settled, 1 if something is unsettled or still runs, 2 if there is nothing to report on or it
can't be written.")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
    /// Only calls that began within this time, such as 10m, 2h or 7d.
    #[arg(long, value_name = "TIME", value_parser = times::ago, conflicts_with_all = ["from", "session"])]
    pub(crate) since: Option<Duration>,
    /// Only calls that began at this moment or later: 2026-11-30, or 2026-11-30T13:00Z.
    #[arg(long, value_name = "MOMENT", value_parser = span::moment, conflicts_with = "session")]
    pub(crate) from: Option<i64>,
    /// Only calls that began before this moment.
    #[arg(long, value_name = "MOMENT", value_parser = span::moment, conflicts_with = "session")]
    pub(crate) to: Option<i64>,
    /// Only calls of one session: last, or a unique end of its id (`candor report` names them).
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// In which form [default: that of the file's name, else terminal]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// As JSON; short for --format json.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Write to this file, for its owner alone, and only when all is written [default: stdout]
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it is there.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a terminal, or for reading as text.
    Terminal,
    /// For an issue, a pull request or a job's summary.
    Markdown,
    /// One page with charts, which loads nothing.
    Html,
    /// For a program.
    Json,
}

impl ReportArgs {
    /// The form: as said, else by the file's name.
    pub(crate) fn form(&self) -> Format {
        let of_name = |path: &Path| match path.extension()?.to_str()? {
            "html" | "htm" => Some(Format::Html),
            "md" | "markdown" => Some(Format::Markdown),
            "json" => Some(Format::Json),
            _ => None,
        };
        if self.json {
            return Format::Json;
        }
        self.format
            .or_else(|| of_name(self.out.as_deref()?))
            .unwrap_or(Format::Terminal)
    }
}
