//! `candor ledger export`: the record as JSON Lines, verified on the way, with a manifest at the end.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write, stdout};

use candor_gateway::clock;
use candor_ledger::{Format, Reader, StoredEntry, Verification, WalkFault};
use serde_json::{Value, json};
use uuid::Uuid;

use super::args::ExportArgs;
use super::file::Draft;
use super::line::{Line, hex};
use super::progress::Progress;
use super::verify;
use crate::calls::say_notes;
use crate::exit::Exit;
use crate::{place, screen, times};

/// The version of the manifest.
const VERSION: u32 = 1;

pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<Exit> {
    let reader = Reader::open(&place::ledger(&args.place)?)?;
    if say_notes(&reader) {
        return Ok(Exit::USAGE);
    }
    let selection = Selection::of(args, clock::now().0);
    let (clean, records) = match &args.out {
        None => to_stdout(&reader, &selection)?,
        Some(out) => {
            let mut draft = Draft::begin(out, args.force)?;
            match write(&reader, &selection, Reading::Program, &mut draft) {
                Ok(done) => {
                    draft.finish()?;
                    done
                }
                Err(fault) => {
                    draft.abandon();
                    return Err(fault.into());
                }
            }
        }
    };
    if let Some(out) = &args.out {
        screen::note(&format!("{records} records in {}", out.display()));
    }
    if !clean {
        screen::note(
            "DAMAGED: not every record is as it was written; the manifest names them, and so does: candor ledger verify",
        );
        return Ok(Exit::FINDINGS);
    }
    Ok(Exit::GOOD)
}

/// Who reads what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// A terminal, which obeys what it is sent.
    Terminal,
    /// A program, which may want to digest the very bytes.
    Program,
}

fn to_stdout(reader: &Reader, selection: &Selection) -> anyhow::Result<(bool, u64)> {
    let out = stdout().lock();
    let reading = if out.is_terminal() {
        Reading::Terminal
    } else {
        Reading::Program
    };
    match write(reader, selection, reading, &mut BufWriter::new(out)) {
        // A reader that has gone (`| head`) is no fault.
        Err(WalkFault::Receiver(error)) if error.kind() == ErrorKind::BrokenPipe => Ok((true, 0)),
        written => Ok(written?),
    }
}

/// What was asked for.
struct Selection {
    since_ms: Option<i64>,
    server: Option<String>,
    tool: Option<String>,
}

impl Selection {
    fn of(args: &ExportArgs, now_ms: i64) -> Self {
        let back = |span: std::time::Duration| {
            now_ms.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX))
        };
        Self {
            since_ms: args.since.map(back),
            server: args.server.clone(),
            tool: args.tool.clone(),
        }
    }

    fn has(&self, record: &StoredEntry) -> bool {
        self.since_ms.is_none_or(|since| record.entry.at_ms >= since)
            && self
                .server
                .as_ref()
                .is_none_or(|name| *name == record.entry.server)
            && self.tool.as_ref().is_none_or(|name| *name == record.entry.tool)
    }
}

/// What was written of one chain.
struct Written {
    records: u64,
    first: Value,
    last: Value,
}

/// Writes the records and the manifest; says whether all chains hold, and how many records there are.
fn write(
    reader: &Reader,
    selection: &Selection,
    reading: Reading,
    out: &mut dyn Write,
) -> Result<(bool, u64), WalkFault> {
    let mut progress = Progress::new();
    let mut chains: BTreeMap<Uuid, Written> = BTreeMap::new();
    let walked = reader.walk(|record| {
        progress.step();
        if !selection.has(record) {
            return Ok(());
        }
        let end = || json!({ "sequence": record.sequence, "digest": hex(&record.digest) });
        let chain = chains.entry(record.instance).or_insert_with(|| Written {
            records: 0,
            first: end(),
            last: Value::Null,
        });
        chain.records += 1;
        chain.last = end();
        writeln!(out, "{}", line(record, reading)?)
    });
    progress.end();
    let verification = walked?;
    let records = chains.values().map(|chain| chain.records).sum();
    let manifest = manifest(reader, reader.format()?, selection, &verification, &chains);
    writeln!(out, "{}", screen::json(&manifest))?;
    out.flush()?;
    Ok((verification.is_clean(), records))
}

fn manifest(
    reader: &Reader,
    format: Option<Format>,
    selection: &Selection,
    verification: &Verification,
    written: &BTreeMap<Uuid, Written>,
) -> Value {
    let chains: Vec<Value> = verification
        .chains
        .iter()
        .map(|chain| {
            let written = written.get(&chain.instance);
            json!({
                "instance": chain.instance,
                "records": written.map_or(0, |written| written.records),
                "first": written.map(|written| &written.first),
                "last": written.map(|written| &written.last),
                "inLedger": verify::chain_json(chain),
            })
        })
        .collect();
    json!({
        "type": "manifest",
        "version": VERSION,
        "format": format.map(|format| format.to_string()),
        "program": concat!("candor ", env!("CARGO_PKG_VERSION")),
        "madeAt": times::stamp(clock::now().0),
        "ledger": reader.place().display().to_string(),
        "filters": {
            "since": selection.since_ms.map(times::stamp),
            "server": selection.server,
            "tool": selection.tool,
        },
        "records": written.values().map(|chain| chain.records).sum::<u64>(),
        "clean": verification.is_clean(),
        "chains": chains,
        "openList": verification.open_list,
        "limits": verification.limits(),
    })
}

/// One line. What a terminal would obey is escaped where one reads: the value stays, the bytes do not.
fn line(record: &StoredEntry, reader: Reading) -> io::Result<String> {
    let text = serde_json::to_string(&Line::of(record))?;
    match reader {
        Reading::Program => Ok(text),
        Reading::Terminal => Ok(screen::json(&serde_json::from_str(&text)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::Written as Ledger;

    fn export(ledger: &Ledger, selection: &Selection) -> Vec<Value> {
        let mut out = Vec::new();
        let (clean, records) = write(&ledger.reader(), selection, Reading::Program, &mut out).unwrap();
        let lines: Vec<Value> = String::from_utf8(out)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(clean);
        assert_eq!(lines.len() as u64, records + 1, "the manifest is the last");
        lines
    }

    #[test]
    fn every_record_is_a_line_and_the_manifest_counts_them() {
        let mut ledger = Ledger::new();
        ledger.every_kind();
        ledger.end();
        let all = Selection {
            since_ms: None,
            server: None,
            tool: None,
        };
        let lines = export(&ledger, &all);
        let (manifest, records) = lines.split_last().unwrap();
        let chain = &manifest["chains"][0];
        assert_eq!(manifest["records"], records.len());
        assert_eq!(chain["records"], records.len());
        assert_eq!(chain["first"]["sequence"], 1);
        assert_eq!(chain["last"]["digest"], records.last().unwrap()["digest"]);
        assert_eq!(chain["inLedger"]["entries"], records.len());
        for (record, next) in records.iter().zip(records.iter().skip(1)) {
            assert_eq!(record["digest"], next["previous"]);
        }
        assert_eq!(
            manifest["filters"],
            json!({ "since": null, "server": null, "tool": null })
        );

        let few = Selection {
            since_ms: Some(crate::written::BEGIN + 5_000),
            server: Some("rooms".into()),
            tool: Some("book_room".into()),
        };
        let lines = export(&ledger, &few);
        let (manifest, some) = lines.split_last().unwrap();
        assert!(!some.is_empty() && some.len() < records.len());
        assert!(some.iter().all(|line| line["tool"] == "book_room"));
        assert_eq!(manifest["records"], some.len());
        assert_eq!(
            manifest["chains"][0]["inLedger"]["entries"],
            records.len(),
            "all of it was verified"
        );
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_written_to_one() {
        let mut ledger = Ledger::new();
        ledger.append(candor_ledger::Entry {
            operation: Uuid::nil(),
            phase: candor_ledger::Phase::Intent,
            at_ms: 0,
            server: "\u{1b}[2J".into(),
            tool: "\u{202e}x".into(),
            outcome: None,
            effect: None,
            evidence: None,
            unsettled: false,
            body: "{\"a\":\"\u{9b}31m\"}".into(),
        });
        ledger.end();
        let reader = ledger.reader();
        let mut texts = Vec::new();
        reader
            .walk(|record| {
                texts.push(line(record, Reading::Terminal)?);
                texts.push(line(record, Reading::Program)?);
                Ok(())
            })
            .unwrap();
        let [terminal, program] = texts.as_slice() else {
            panic!("{texts:?}")
        };
        let obeyed = |text: &str| text.contains(['\u{9b}', '\u{202e}', '\u{1b}']);
        assert!(!obeyed(terminal), "{terminal:?}");
        assert!(obeyed(program), "the very bytes");
        let values = [terminal, program].map(|text| serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(values[0], values[1]);
    }
}
