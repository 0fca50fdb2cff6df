//! What was typed behind `candor import`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::hosts::{HOSTS, Host};

/// `candor import`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  candor import                                 list the configs found here, and their servers
  candor import --host cursor --dry-run         show the change as a diff
  candor import --host cursor                   make it; a backup is kept beside the file
  candor import .mcp.json --server git -- --read 'git_status,git_log'
      Wrap one server of one file; what stands behind the dashes becomes its options.
  candor import --host cursor --undo            take it out again

Without FILE, --host or --all nothing is changed. Values of env and headers are never shown.
Exit codes: 0, 1 if a server was left because its entry is not understood, 2 if a file could not be read or changed.")]
pub(crate) struct ImportArgs {
    /// Configs to change; their form is recognised.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Change the configs of this host.
    #[arg(long, value_name = "NAME", value_parser = host())]
    pub(crate) host: Vec<&'static Host>,
    /// Change every config that is found.
    #[arg(long, conflicts_with_all = ["files", "host"])]
    pub(crate) all: bool,
    /// Change nothing; show what would change, as a diff.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Take `candor --` out again.
    #[arg(long, conflicts_with = "options")]
    pub(crate) undo: bool,
    /// Only this server.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Vec<String>,
    /// What hosts start [default: this program by its full path; `candor` in a project's own files]
    #[arg(long, value_name = "PATH")]
    pub(crate) candor: Option<String>,
    /// Options that each wrapped server gets, as for `candor [options] -- CMD`.
    #[arg(last = true, value_name = "OPTION")]
    pub(crate) options: Vec<String>,
}

/// A host by its name. The parser's own list makes the message for any other word, with the nearest right one.
fn host() -> impl TypedValueParser<Value = &'static Host> {
    PossibleValuesParser::new(HOSTS.iter().map(|host| host.word)).try_map(|word| {
        HOSTS
            .iter()
            .find(|host| host.word == word)
            .ok_or("this is no known host")
    })
}
