//! What was typed. What it means is found out in the modules that run it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use candor_core::arguments::check::Mode;
use candor_core::judgment::verdict::Outcome;
use candor_gateway::config::{LogLevel, parse_duration};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};

use crate::completions::CompletionsArgs;
use crate::contract::args::ContractArgs;
use crate::doctor::args::DoctorArgs;
use crate::import::args::ImportArgs;
use crate::ledger::args::{ExportArgs, PruneArgs};
use crate::man::ManArgs;
use crate::report::args::ReportArgs;
use crate::settle::args::SettleArgs;
use crate::times;

const EXAMPLES: &str = "\
Examples:
  candor -- npx -y @modelcontextprotocol/server-everything
      Put this in a host's config in the place of the server's own command. Nothing else changes.
  candor --read 'list_*,get_*' --timeout 30s -- uvx mcp-server-git
      Say which tools change nothing, and how long a call may take.
  candor --config candor.toml -- my-server
      Contracts per tool: see docs/config.md.
  candor calls --unsettled
      What nobody knows the end of.
  candor report --session last
      What the last session really did, and on what evidence.
  candor demo
      See what it is for: real processes, no network, under a minute.
  candor import
      Find the configs of the hosts on this machine, and put Candor into them.

With `--`, Candor ends with the server's own exit code when the host closes its end (4 if the server could not be
started). Exit codes of the other commands: 0 good, 1 findings, 2 usage or configuration, 4 unreachable.
Completions: candor completions bash (or zsh, fish, elvish, powershell). Manual: candor man | man -l -";

/// Tool calls that tell the truth: wraps an MCP server, checks what goes in, judges what comes back, and writes down
/// what really happened.
#[derive(Debug, Parser)]
#[command(name = "candor", version, about, long_about = None, after_help = EXAMPLES, args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) wrap: WrapArgs,
}

/// [`Args`] without the other commands.
#[derive(Debug, Parser)]
#[command(name = "candor")]
pub(crate) struct WrapAlone {
    #[command(flatten)]
    pub(crate) wrap: WrapArgs,
}

/// The commands beside `candor -- CMD…`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List recorded calls.
    Calls(CallsArgs),
    /// Show one call: three layers, timeline, wording as given.
    Show(ShowArgs),
    /// Report what a session or a span of time really did, and on what evidence.
    Report(ReportArgs),
    /// Say what became of a call that nobody knows the end of.
    Settle(SettleArgs),
    /// Look after the record of calls.
    Ledger(LedgerArgs),
    /// Explain a code, a way a call can end, or a word.
    Explain(ExplainArgs),
    /// Play servers that lie, bare and through Candor.
    Demo(DemoArgs),
    /// Draft contracts from what a server lists, and try them on recorded calls.
    Contract(ContractArgs),
    /// Put `candor --` before the servers in hosts' configs, or take it out again.
    Import(ImportArgs),
    /// Look at the hosts' configs, the record, the clock and the servers, and say what to do.
    Doctor(DoctorArgs),
    /// Print completions for a shell.
    #[command(hide = true)]
    Completions(CompletionsArgs),
    /// Print a manual page.
    #[command(hide = true)]
    Man(ManArgs),
    /// Play one lying server on stdin and stdout (used by the demo and the tests).
    #[command(hide = true)]
    Fixture(FixtureArgs),
}

/// Where the record of calls is.
#[derive(Debug, clap::Args)]
pub(crate) struct LedgerPlace {
    /// The file with the record of calls [default: $XDG_STATE_HOME/candor/ledger.sqlite, else ~/.local/state/candor/ledger.sqlite]
    #[arg(long, value_name = "PATH", env = "CANDOR_LEDGER")]
    pub(crate) ledger: Option<PathBuf>,
}

/// `candor [options] -- CMD…`
#[derive(Debug, clap::Args)]
pub(crate) struct WrapArgs {
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
    /// Keep no record of calls.
    #[arg(long, conflicts_with_all = ["ledger_required"])]
    pub(crate) no_ledger: bool,
    /// Refuse every call that can't be recorded, but for trusted reads.
    #[arg(long)]
    pub(crate) ledger_required: bool,
    /// How long a person may think before a call that they must agree to (confirm) [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) confirm_within: Option<Duration>,
    /// Add Candor's own tools (candor_operation, candor_unsettled) and the resource candor://operations/{id} to what the
    /// server lists.
    #[arg(long)]
    pub(crate) own_tools: bool,
    /// The contracts (candor.toml).
    #[arg(long, short = 'c', value_name = "FILE", env = "CANDOR_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Apply the contract packs that are part of Candor: contracts for servers that many people run.
    #[arg(long)]
    pub(crate) packs: bool,
    /// Apply this contract pack where it fits the server. It stands before those that are part of Candor.
    #[arg(long, value_name = "FILE")]
    pub(crate) pack: Vec<PathBuf>,
    /// How long a call may take, from its opening (waits for the list of tools, the record and a server that starts
    /// are in it), such as 30s or 2m [default: 2 s less than the host, else 55s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// What to do about arguments: off, warn, enforce or coerce [default: coerce]
    #[arg(long, value_name = "MODE")]
    pub(crate) arguments: Option<Mode>,
    /// Tools that change nothing, as names with * and ?, separated by commas.
    #[arg(long, value_name = "GLOBS")]
    pub(crate) read: Vec<String>,
    /// Believe the server's annotations (readOnlyHint, idempotentHint).
    #[arg(long)]
    pub(crate) trust_annotations: bool,
    /// What to call the server [default: the name it gives itself]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Who calls: for rules that hold for some callers only, and for the record.
    #[arg(long, value_name = "NAME", env = "CANDOR_PRINCIPAL", value_parser = principal)]
    pub(crate) principal: Option<String>,
    /// Do not start the server anew for the next call after it has died.
    #[arg(long)]
    pub(crate) no_restart: bool,
    /// The longest message that is carried, in bytes.
    #[arg(long, value_name = "BYTES", hide = true)]
    pub(crate) frame_limit: Option<usize>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// The server's command.
    #[arg(last = true, value_name = "CMD")]
    pub(crate) server: Vec<OsString>,
}

/// Logs go to stderr; stdout is the protocol's.
#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    /// How much to log: error, warn, info, debug or trace [default: warn; RUST_LOG and LOG_LEVEL count too]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log_level: Option<LogLevel>,
    /// How to log [default: text for a terminal, json otherwise]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

/// The form of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// `candor calls`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  candor calls                          the last 50 calls, newest first
  candor calls --unsettled              what nobody knows the end of, how old it is, and what would settle it
  candor calls --server rooms --outcome rejected --since 1h
  candor calls --json | jq .outcome     one object a line; outcome is null while a call runs

Times are UTC. The effect is shown as – where only the server's own word stands for it (evidence asserted).
Exit codes: 0, or 1 with --unsettled if there are any.")]
pub(crate) struct CallsArgs {
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
    /// Only calls of this server.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only calls of this tool.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only calls with this outcome; `candor explain outcome` tells the words.
    #[arg(long, value_name = "OUTCOME", value_parser = outcome())]
    pub(crate) outcome: Option<Outcome>,
    /// Only calls that somebody still has to settle.
    #[arg(long)]
    pub(crate) unsettled: bool,
    /// Only calls that began within this time, such as 10m, 2h or 7d.
    #[arg(long, value_name = "TIME", value_parser = times::ago)]
    pub(crate) since: Option<Duration>,
    /// How many calls at most.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// One JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `candor show ID`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  candor show 8f2c1a90               a unique end of the id is enough, at least 4 characters
  candor show 8f2c1a90 --lang zh     with the sentence for a person in Chinese
  candor show 8f2c1a90 --json | jq '.records[].body'

Exit codes: 0, 1 if no call has such an id, 2 if several have.")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
    /// The operation's id, or a unique end of it.
    pub(crate) id: String,
    /// The language of the sentence for a person: en or zh.
    #[arg(long, value_name = "LANG", default_value_t)]
    pub(crate) lang: candor_core::describe::Lang,
    /// The whole record as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `candor ledger`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  candor ledger verify
  candor ledger export --since 24h --out calls.jsonl
  candor ledger prune")]
pub(crate) struct LedgerArgs {
    #[command(subcommand)]
    pub(crate) command: LedgerCommand,
}

/// The commands of `candor ledger`.
#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Check that nothing in the record was changed or taken out.
    Verify(VerifyArgs),
    /// Write the record as JSON Lines, verified on the way.
    Export(ExportArgs),
    /// Show what is old enough to go, and with --apply take it away.
    Prune(PruneArgs),
}

/// `candor ledger verify`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  candor ledger verify
  candor ledger verify --ledger /var/lib/candor/ledger.sqlite --json | jq .clean

What chains without a key can't show is said at the end.
Exit codes: 0 if every chain holds, 1 if a record is damaged, changed or missing, 2 if the file that --ledger names is not there.")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
    /// The whole result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `candor explain WHAT`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  candor explain CANDOR_NO_ANSWER    an error code
  candor explain timeout             a way a call can end, with its rows of the decision table
  candor explain output_shape        a finding
  candor explain evidence            a word of the verdict, or all words of its kind
  candor explain 'NOT DONE'          the words that open a text for the model
  candor explain                     everything there is

Exit codes: 0, or 2 if there is nothing of that name.")]
pub(crate) struct ExplainArgs {
    /// A code, a finding, a way a call can end, or a word of the verdict.
    pub(crate) what: Option<String>,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `candor demo`
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Keep the demo's files (ledger, contract, what was really received) in this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Play without the demo's contract: what Candor knows by itself.
    #[arg(long)]
    pub(crate) no_contract: bool,
    /// Play only these scenes.
    #[arg(long, value_name = "SCENE")]
    pub(crate) only: Vec<String>,
}

/// `candor fixture NAME …`
#[derive(Debug, clap::Args)]
pub(crate) struct FixtureArgs {
    /// Which one.
    pub(crate) name: String,
    /// Its own options.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) rest: Vec<OsString>,
}

/// The name of a caller: short, and fit for a line.
fn principal(text: &str) -> Result<String, String> {
    const LONGEST: usize = 200;
    if text.len() > LONGEST || text.chars().any(char::is_control) {
        return Err(format!(
            "a name of at most {LONGEST} bytes without control characters is expected"
        ));
    }
    Ok(text.to_owned())
}

pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|fault| fault.to_string())
}

/// The words for an outcome. The parser's own list makes the message for any other word, with the nearest right one.
fn outcome() -> impl TypedValueParser<Value = Outcome> {
    PossibleValuesParser::new(Outcome::ALL.iter().map(|word| word.as_str()))
        .try_map(|word| Outcome::parse(&word).ok_or("this is no outcome"))
}
