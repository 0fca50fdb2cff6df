//! `candor contract test`: recorded calls, judged without and with a contract.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::bail;
use candor_core::contract::terms::ToolTerms;
use candor_gateway::config::{CommandLine, Config, Pack};
use serde_json::json;

use super::args::TestArgs;
use super::from_ledger;
use super::recorded::{Recorded, RecordedCall};
use super::replay::{Replayed, replay};
use crate::exit::Exit;
use crate::screen;
use crate::screen::Screen;
use crate::table::{Cell, Column, Tone, render};

/// What gives the terms of a tool: one server of a candor.toml, or a pack.
enum Contract {
    File(Box<Config>, String),
    Pack(Box<Pack>, Option<String>),
}

/// One call, judged twice.
struct Row<'r> {
    call: &'r RecordedCall,
    before: Replayed,
    after: Replayed,
    differs: Vec<String>,
}

pub(crate) fn run(args: &TestArgs) -> anyhow::Result<Exit> {
    let contract = Contract::load(&args.contract, args.server.as_deref())?;
    let (recorded, past) = match (&args.recorded, &args.ledger) {
        (Some(path), _) => (Recorded::load(path)?, Vec::new()),
        (None, Some(path)) => {
            let (recorded, past, left_out) = from_ledger::load(path, contract.server(), args.limit)?;
            if left_out > 0 {
                screen::note(&format!(
                    "{left_out} calls are left out: they were not sent, still run, or are not kept whole"
                ));
            }
            (recorded, past)
        }
        (None, None) => bail!("no calls to try it on; give --recorded FILE or --ledger PATH"),
    };
    if recorded.calls.is_empty() {
        bail!("there is no recorded call to try it on");
    }
    let mut past = past.into_iter();
    let rows = recorded
        .calls
        .iter()
        .map(|call| judged_twice(call, past.next(), &recorded, &contract))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let met = rows.iter().all(|row| row.differs.is_empty());
    if args.json {
        print_json(&rows)?;
    } else {
        print_table(&rows)?;
    }
    Ok(if met { Exit::GOOD } else { Exit::FINDINGS })
}

impl Contract {
    /// A pack names its package at its top, and a candor.toml knows no such key.
    fn load(path: &Path, server: Option<&str>) -> anyhow::Result<Self> {
        match Pack::load(path) {
            Ok(pack) => return Ok(Self::Pack(Box::new(pack), server.map(str::to_owned))),
            Err(fault) => {
                let text = std::fs::read_to_string(path).unwrap_or_default();
                let table: BTreeMap<String, toml::Value> = toml::from_str(&text).unwrap_or_default();
                if table.contains_key("package") {
                    return Err(fault.into());
                }
            }
        }
        let config = Config::load(path, &|name| std::env::var(name).ok())?;
        let named: Vec<&str> = config.servers.keys().map(String::as_str).collect();
        let server = match (server, named.as_slice()) {
            (Some(server), _) if config.servers.contains_key(server) => server,
            (None, [only]) => only,
            (Some(server), _) => bail!(
                "{} has no server {server:?}, it has: {}",
                path.display(),
                named.join(", ")
            ),
            (None, []) => bail!("{} has contracts of no server", path.display()),
            (None, _) => bail!(
                "say whose contracts are tried, with --server: {}",
                named.join(", ")
            ),
        };
        let server = server.to_owned();
        Ok(Self::File(Box::new(config), server))
    }

    /// The server whose calls of a ledger are tried. A pack knows no name that an operator gave: without one, all are.
    fn server(&self) -> Option<&str> {
        match self {
            Self::File(_, server) => Some(server),
            Self::Pack(_, server) => server.as_deref(),
        }
    }

    fn terms(&self, tool: &str) -> ToolTerms {
        let nothing = CommandLine::default();
        match self {
            Self::File(config, server) => config.for_tool(server, tool, &nothing),
            Self::Pack(pack, _) => Config::default().for_tool_over("", tool, &nothing, pack.tools.get(tool)),
        }
    }
}

fn judged_twice<'r>(
    call: &'r RecordedCall,
    past: Option<Replayed>,
    recorded: &'r Recorded,
    contract: &Contract,
) -> anyhow::Result<Row<'r>> {
    let definition = recorded.tools.get(&call.tool).map(AsRef::as_ref);
    let before = match past {
        Some(then) => then,
        None => replay(call, definition, &|_| ToolTerms::default())?,
    };
    let after = replay(call, definition, &|tool| contract.terms(tool))?;
    Ok(Row {
        differs: call
            .expect
            .as_ref()
            .map(|expected| after.differs(expected))
            .unwrap_or_default(),
        call,
        before,
        after,
    })
}

fn told(verdict: &Replayed) -> String {
    format!("{}, {} ({})", verdict.outcome, verdict.effect, verdict.evidence)
}

const COLUMNS: [Column; 5] = [
    Column::fixed("line").right(),
    Column::fixed("tool").cut_to(10),
    Column::fixed("without").cut_to(20),
    Column::fixed("with").cut_to(20),
    Column::fixed("as expected"),
];

fn print_table(rows: &[Row<'_>]) -> anyhow::Result<()> {
    let cells: Vec<Vec<Cell>> = rows.iter().map(cells).collect();
    let table = render(&COLUMNS, &cells, Screen::of_stdout());
    screen::print(|out| {
        for line in &table.lines {
            writeln!(out, "{line}")?;
        }
        for row in rows.iter().filter(|row| !row.differs.is_empty()) {
            writeln!(
                out,
                "line {}: {}",
                row.call.line,
                screen::line(&row.differs.join("; "))
            )?;
        }
        Ok(())
    })
}

fn cells(row: &Row<'_>) -> Vec<Cell> {
    let met = match (&row.call.expect, row.differs.is_empty()) {
        (None, _) => Cell::new("–"),
        (Some(_), true) => Cell::toned("yes", Tone::Good),
        (Some(_), false) => Cell::toned("no", Tone::Bad),
    };
    vec![
        Cell::new(row.call.line.to_string()),
        Cell::new(screen::line(&row.call.tool)),
        Cell::new(told(&row.before)),
        Cell::new(told(&row.after)),
        met,
    ]
}

fn print_json(rows: &[Row<'_>]) -> anyhow::Result<()> {
    let verdict = |found: &Replayed| {
        json!({ "outcome": found.outcome, "effect": found.effect, "evidence": found.evidence,
                "flagged": found.flagged, "text": found.text })
    };
    screen::print(|out| {
        for row in rows {
            let line = json!({ "line": row.call.line, "tool": row.call.tool, "without": verdict(&row.before),
                               "with": verdict(&row.after), "differs": row.differs });
            writeln!(out, "{}", screen::json(&line))?;
        }
        Ok(())
    })
}
