//! `candor ledger verify`: whether every record is as it was written.

use std::io::{self, Write};

use candor_core::names::OperationId;
use candor_ledger::{ChainFault, ChainReport, OpenFault, ReadFault, Reader, Verification, What};
use serde_json::{Value, json};

use crate::args::VerifyArgs;
use crate::calls::say_notes;
use crate::exit::Exit;
use crate::place;
use crate::screen::{self, Screen};
use crate::table::{Cell, Column, Tone, render};

pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<Exit> {
    let place = place::ledger(&args.place)?;
    let reader = match Reader::open(&place) {
        Ok(reader) => reader,
        // A file whose first bytes were overwritten is no ledger any more: where one is expected, that is found.
        Err(fault @ (OpenFault::Corrupt { .. } | OpenFault::NotALedger { .. })) => {
            return unreadable(args, &place.display().to_string(), &fault.to_string());
        }
        Err(fault) => return Err(fault.into()),
    };
    if say_notes(&reader) {
        // Where somebody names a file, its absence is not "nothing to check": the record they meant is gone.
        return Ok(if args.place.ledger.is_some() {
            Exit::USAGE
        } else {
            Exit::GOOD
        });
    }
    let verification = match reader.verify() {
        Ok(verification) => verification,
        Err(fault @ (ReadFault::Corrupt { .. } | ReadFault::Malformed { .. })) => {
            return unreadable(args, &reader.place().display().to_string(), &fault.to_string());
        }
        Err(fault) => return Err(fault.into()),
    };
    screen::print(|out| {
        if args.json {
            return writeln!(out, "{}", screen::pretty_json(&as_json(&reader, &verification)));
        }
        print(out, &reader, &verification, Screen::of_stdout())
    })?;
    Ok(if verification.is_clean() {
        Exit::GOOD
    } else {
        Exit::FINDINGS
    })
}

/// The file itself can't be read as a ledger: found, like any other damage.
fn unreadable(args: &VerifyArgs, place: &str, fault: &str) -> anyhow::Result<Exit> {
    if args.json {
        let found = json!({ "ledger": place, "clean": false, "fault": fault, "entries": null, "chains": [], "openList": [] });
        screen::print(|out| writeln!(out, "{}", screen::pretty_json(&found)))?;
    } else {
        screen::print(|out| writeln!(out, "Damaged: {}", screen::line(fault)))?;
    }
    Ok(Exit::FINDINGS)
}

fn as_json(reader: &Reader, verification: &Verification) -> Value {
    json!({
        "ledger": reader.place().display().to_string(),
        "clean": verification.is_clean(),
        "entries": verification.entries(),
        "chains": verification.chains.iter().map(chain_json).collect::<Vec<_>>(),
        "openList": verification.open_list,
        "limits": verification.limits(),
    })
}

/// One chain, as JSON.
pub(super) fn chain_json(chain: &ChainReport) -> Value {
    json!({
        "instance": chain.instance,
        "entries": chain.entries,
        "first": chain.first,
        "last": chain.last,
        "prunedThrough": chain.pruned_through,
        "prunedWithin": chain.pruned_within,
        "faults": chain.faults.iter().map(fault_json).collect::<Vec<_>>(),
        "moreFaults": chain.more_faults,
    })
}

fn fault_json(fault: &ChainFault) -> Value {
    json!({
        "sequence": fault.sequence,
        "operationId": fault.operation,
        "what": word(fault.what),
        "detail": fault.to_string(),
    })
}

fn word(what: What) -> &'static str {
    match what {
        What::Edited => "edited",
        What::Missing { .. } => "missing",
        What::Reordered { .. } => "reordered",
        What::Forged => "forged",
        What::Cut { .. } => "cut",
        What::NoHead => "no_head",
    }
}

const COLUMNS: [Column; 4] = [
    Column::fixed("instance").cut_to(8),
    Column::fixed("records").right(),
    Column::fixed("from..to"),
    Column::fixed("chain"),
];

fn print(
    out: &mut dyn Write,
    reader: &Reader,
    verification: &Verification,
    screen: Screen,
) -> io::Result<()> {
    writeln!(
        out,
        "Ledger: {}",
        screen::line(&reader.place().display().to_string())
    )?;
    if !verification.chains.is_empty() {
        let rows: Vec<Vec<Cell>> = verification.chains.iter().map(row).collect();
        writeln!(out)?;
        for line in render(&COLUMNS, &rows, screen).lines {
            writeln!(out, "{line}")?;
        }
    }
    for chain in &verification.chains {
        print_faults(out, chain)?;
    }
    if !verification.open_list.is_empty() {
        writeln!(
            out,
            "\nThe list of open calls does not fit the records; a crash could be recovered wrongly:"
        )?;
        for operation in &verification.open_list {
            writeln!(out, "  operation {operation}")?;
        }
    }
    let entries = verification.entries();
    let (records, chains) = (
        count(entries, "record"),
        count(verification.chains.len() as u64, "chain"),
    );
    let result = if verification.is_clean() {
        "all hold"
    } else {
        "NOT as they were written"
    };
    writeln!(out, "\n{records} in {chains}: {result}.")?;
    if !verification.is_clean() {
        writeln!(
            out,
            "Keep this file as it is, and compare with a copy of it; candor show ID tells what a record says now."
        )?;
    }
    let room = screen.width.unwrap_or(110).min(110);
    screen::wrap(verification.limits(), room)
        .iter()
        .try_for_each(|line| writeln!(out, "{line}"))
}

fn row(chain: &ChainReport) -> Vec<Cell> {
    let faults = u64::try_from(chain.faults.len())
        .unwrap_or(u64::MAX)
        .saturating_add(chain.more_faults);
    let span = match (chain.first, chain.last) {
        (Some(first), Some(last)) => format!("{first}..{last}"),
        _ => "–".to_owned(),
    };
    let pruned = match (chain.pruned_through, chain.pruned_within) {
        (0, 0) => String::new(),
        (0, within) => format!(", {within} pruned within"),
        (through, 0) => format!(", pruned through {through}"),
        (through, within) => format!(", pruned through {through} and {within} within"),
    };
    let state = match faults {
        0 => Cell::toned(format!("ok{pruned}"), Tone::Good),
        more => Cell::toned(format!("{}{pruned}", count(more, "fault")), Tone::Bad),
    };
    vec![
        Cell::new(chain.instance.to_string()),
        Cell::new(chain.entries.to_string()),
        Cell::new(span),
        state,
    ]
}

fn print_faults(out: &mut dyn Write, chain: &ChainReport) -> io::Result<()> {
    if chain.faults.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nChain {}", chain.instance)?;
    for fault in &chain.faults {
        let short = fault.operation.map_or_else(String::new, |id| {
            format!("  candor show {}", OperationId::new(id).short())
        });
        writeln!(out, "  {fault}{short}")?;
    }
    if chain.more_faults > 0 {
        writeln!(out, "  and {} more", chain.more_faults)?;
    }
    Ok(())
}

/// A number with its noun.
pub(super) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::Written;

    #[test]
    fn a_verification_says_what_holds_and_what_it_can_not_show() {
        let mut written = Written::new();
        written.every_kind();
        written.end();
        let reader = written.reader();
        let verification = reader.verify().unwrap();
        let mut out = Vec::new();
        print(
            &mut out,
            &reader,
            &verification,
            Screen {
                width: Some(100),
                colour: false,
            },
        )
        .unwrap();
        insta::assert_snapshot!("verify", written.fixed(&String::from_utf8(out).unwrap()));
        assert_eq!(as_json(&reader, &verification)["clean"], true);
    }

    #[test]
    fn faults_are_named_with_their_place_and_what_shows_them() {
        let operation = uuid::Uuid::from_u128(0x8f2c_1a90);
        let fault = |sequence, what| ChainFault {
            sequence,
            operation: Some(operation),
            what,
        };
        let chain = ChainReport {
            instance: uuid::Uuid::nil(),
            entries: 7,
            first: Some(3),
            last: Some(9),
            pruned_through: 2,
            pruned_within: 0,
            faults: vec![fault(4, What::Edited), fault(6, What::Missing { count: 2 })],
            more_faults: 1,
        };
        let verification = Verification {
            chains: vec![chain],
            open_list: vec![operation],
        };
        let written = Written::new();
        let mut out = Vec::new();
        print(
            &mut out,
            &written.reader(),
            &verification,
            Screen {
                width: None,
                colour: false,
            },
        )
        .unwrap();
        insta::assert_snapshot!("verify_faults", written.fixed(&String::from_utf8(out).unwrap()));
        assert_eq!(
            chain_json(&verification.chains[0])["faults"][1]["what"],
            "missing"
        );
    }
}
