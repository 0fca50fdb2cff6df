//! The record of calls and the clock that its records are dated by.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use candor_ledger::{Filter, OpenFault, OpenNote, ReadFault, Reader, Verification};

use super::finding::{Finding, Part};
use crate::{screen, times};

/// How long the chains are walked before the doctor goes on without them.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long anything may take before somebody is told that it goes on.
const QUIET: Duration = Duration::from_secs(2);

/// How many unsettled calls are counted.
const MOST_UNSETTLED: u32 = 1000;

/// 2026-01-01T00:00:00Z: no Candor is older, so no clock that is right shows less.
const EARLIEST: i64 = 1_767_225_600_000;

/// 2100-01-01T00:00:00Z.
const LATEST: i64 = 4_102_444_800_000;

/// By how much, in milliseconds, a record may be later than now: clocks are corrected in small steps.
const SLACK: i64 = 5_000;

/// Looks at one record, and at the clock beside it.
pub(super) fn look(place: &Path, told: &str, now_ms: i64) -> Vec<Finding> {
    // Before the record is opened for reading: closing a file gives up this process's locks on it.
    let mut findings: Vec<Finding> = not_writable(place, told).into_iter().collect();
    let reader = match Reader::open(place) {
        Ok(reader) => reader,
        Err(fault) => {
            findings.push(unopened(told, &fault));
            return findings;
        }
    };
    for note in reader.notes() {
        match note {
            OpenNote::NoLedger { .. } => {
                let what = "no record yet; it is made when `candor -- CMD` first runs";
                findings.push(Part::Ledger.note("no_ledger", told, what));
                return findings;
            }
            OpenNote::NewerFormat { opened, .. } => {
                let what = format!("belongs to a newer Candor; this one writes {}", opened.display());
                findings.push(
                    Part::Ledger
                        .note("newer_ledger", told, what)
                        .todo("update Candor"),
                );
            }
            _ => {}
        }
    }
    let size = size(reader.place());
    findings.push(Part::Ledger.good("ledger", told, format!("readable, {}", in_bytes(size))));
    findings.push(chains(reader.place(), told));
    match last_record(&reader) {
        Ok(Some(last)) if last > now_ms.saturating_add(SLACK) => findings.push(Part::Clock.problem(
            "clock_behind_record",
            "clock",
            format!(
                "now is {}, but the record's last entry is of {}",
                times::moment(now_ms),
                times::moment(last)
            ),
            "set the clock right; until then new calls are dated before old ones",
        )),
        Ok(_) => {}
        Err(fault) => findings.push(unread(told, &fault)),
    }
    match unsettled(&reader) {
        Ok(0) => {}
        Ok(count) => {
            let more = if count > MOST_UNSETTLED as usize {
                "more than "
            } else {
                ""
            };
            let count = count.min(MOST_UNSETTLED as usize);
            let what = format!("{more}{count} unsettled: nobody knows how they ended");
            findings.push(
                Part::Ledger
                    .note("unsettled", told, what)
                    .todo("candor calls --unsettled"),
            );
        }
        Err(fault) => findings.push(unread(told, &fault)),
    }
    findings
}

/// Looks at the clock alone.
pub(super) fn clock(now_ms: i64) -> Finding {
    let shown = times::moment(now_ms);
    if (EARLIEST..LATEST).contains(&now_ms) {
        return Part::Clock.good("clock", "clock", shown);
    }
    let todo = "set it right: records are dated by it, and rules about dates are checked against it";
    Part::Clock.problem(
        "clock_implausible",
        "clock",
        format!("it says {shown}, which can't be"),
        todo,
    )
}

fn unopened(told: &str, fault: &OpenFault) -> Finding {
    let code = match fault {
        OpenFault::NotALedger { .. } | OpenFault::NotAFile { .. } | OpenFault::ForeignSchema { .. } => {
            "not_a_ledger"
        }
        OpenFault::Corrupt { .. } => "ledger_damaged",
        OpenFault::NewerFormat { .. } => "newer_ledger",
        OpenFault::Locked { .. } => "ledger_locked",
        _ => "ledger_unreadable",
    };
    let todo = "until then calls are not recorded, and known writes are refused";
    Part::Ledger.problem(code, told, fault.to_string(), todo)
}

fn unread(told: &str, fault: &ReadFault) -> Finding {
    let todo = "keep the file as it is, and see candor ledger verify";
    Part::Ledger.problem("ledger_unreadable", told, fault.to_string(), todo)
}

/// Could records be added?
fn not_writable(place: &Path, told: &str) -> Option<Finding> {
    let problem = |what: String| {
        let todo = "check owner, mode and free space, or choose another place with --ledger";
        Some(Part::Ledger.problem("ledger_not_writable", told, what, todo))
    };
    if place.exists()
        && let Err(fault) = OpenOptions::new().write(true).open(place)
    {
        return problem(format!("can't be written: {fault}"));
    }
    let folder = nearest_folder(place);
    match folder.as_deref().map(can_hold_files) {
        None => problem("no folder for it exists".to_owned()),
        Some(Ok(())) => None,
        Some(Err(fault)) => problem(format!(
            "its folder {} can't be written: {fault}",
            folder.unwrap_or_default().display()
        )),
    }
}

/// The folder that holds it, or the nearest one above that is there.
fn nearest_folder(place: &Path) -> Option<PathBuf> {
    let place = std::path::absolute(place).ok()?;
    place
        .ancestors()
        .skip(1)
        .find(|folder| folder.is_dir())
        .map(Path::to_owned)
}

/// Makes a file there and takes it away again: what modes allow is not all that counts.
fn can_hold_files(folder: &Path) -> io::Result<()> {
    let trial = folder.join(format!(".candor-doctor-{}", process::id()));
    OpenOptions::new().write(true).create_new(true).open(&trial)?;
    fs::remove_file(&trial)
}

/// Bytes of the file and of what is not yet folded into it.
fn size(place: &Path) -> u64 {
    let mut log = place.as_os_str().to_owned();
    log.push("-wal");
    let of = |path: &Path| fs::metadata(path).map_or(0, |about| about.len());
    of(place) + of(Path::new(&log))
}

fn in_bytes(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} bytes"),
        10_240..10_485_760 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / (1024 * 1024)),
    }
}

/// Walks the chains, as far as that is done in time.
fn chains(place: &Path, told: &str) -> Finding {
    let (sender, receiver) = sync_channel(1);
    let place = place.to_owned();
    // It only reads. If it takes longer, this process ends without it.
    thread::spawn(move || {
        let walked = Reader::open(&place).map_err(|fault| fault.to_string());
        let _ = sender.send(walked.and_then(|reader| reader.verify().map_err(|fault| fault.to_string())));
    });
    let mut walked = receiver.recv_timeout(QUIET);
    if walked == Err(RecvTimeoutError::Timeout) {
        screen::note("still checking the record's chains…");
        walked = receiver.recv_timeout(PATIENCE.saturating_sub(QUIET));
    }
    match walked {
        Ok(Ok(verification)) => verified(told, &verification),
        Ok(Err(fault)) => {
            Part::Ledger.problem("ledger_damaged", told, fault, "candor ledger verify says more")
        }
        Err(_) => Part::Ledger
            .note(
                "chains_not_checked",
                told,
                format!("its chains were not checked within {} s", PATIENCE.as_secs()),
            )
            .todo("candor ledger verify takes the time it needs"),
    }
}

fn verified(told: &str, verification: &Verification) -> Finding {
    let (records, chains) = (verification.entries(), verification.chains.len());
    if verification.is_clean() {
        return Part::Ledger.good(
            "chains",
            told,
            format!("{records} records in {chains} chains: all hold"),
        );
    }
    let what = "records are not as they were written";
    let todo = "keep the file as it is; candor ledger verify names each record";
    Part::Ledger.problem("chain_broken", told, what, todo)
}

fn last_record(reader: &Reader) -> Result<Option<i64>, ReadFault> {
    let newest = reader.operations(&Filter {
        limit: 1,
        ..Filter::default()
    })?;
    Ok(newest
        .iter()
        .map(|row| row.ended_ms.unwrap_or(0).max(row.started_ms))
        .max())
}

fn unsettled(reader: &Reader) -> Result<usize, ReadFault> {
    let rows = reader.operations(&Filter {
        unsettled_only: true,
        limit: MOST_UNSETTLED + 1,
        ..Filter::default()
    })?;
    Ok(rows.len())
}

#[cfg(test)]
mod tests {
    use super::super::finding::Weight;
    use super::*;
    use crate::written::{BEGIN, Written};

    fn codes(findings: &[Finding], weight: Weight) -> Vec<&'static str> {
        findings
            .iter()
            .filter(|finding| finding.weight == weight)
            .map(|finding| finding.code)
            .collect()
    }

    #[test]
    fn a_sound_record_is_good_and_says_what_is_unsettled() {
        let mut written = Written::new();
        written.every_kind();
        written.end();
        let findings = look(&written.place(), "ledger", BEGIN + 3_600_000);
        assert_eq!(
            codes(&findings, Weight::Problem),
            Vec::<&str>::new(),
            "{findings:?}"
        );
        assert_eq!(codes(&findings, Weight::Note), ["unsettled"]);
        assert_eq!(codes(&findings, Weight::Good), ["ledger", "chains"]);
    }

    #[test]
    fn a_clock_that_went_back_is_seen() {
        let mut written = Written::new();
        written.every_kind();
        written.end();
        let findings = look(&written.place(), "ledger", BEGIN - 60_000);
        assert_eq!(codes(&findings, Weight::Problem), ["clock_behind_record"]);
        assert_eq!(codes(&[clock(0)], Weight::Problem), ["clock_implausible"]);
        assert_eq!(codes(&[clock(BEGIN)], Weight::Good), ["clock"]);
    }

    #[test]
    fn what_is_no_record_or_not_yet_one_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let none = look(&folder.path().join("a/b/ledger.sqlite"), "ledger", BEGIN);
        assert_eq!(codes(&none, Weight::Note), ["no_ledger"]);
        assert_eq!(codes(&none, Weight::Problem), Vec::<&str>::new());
        assert!(!folder.path().join("a").exists(), "looking makes nothing");
        let foreign = folder.path().join("notes.txt");
        fs::write(&foreign, "milk and bread, and more of it").unwrap();
        assert_eq!(
            codes(&look(&foreign, "ledger", BEGIN), Weight::Problem),
            ["not_a_ledger"]
        );
        assert_eq!(
            fs::read_to_string(&foreign).unwrap(),
            "milk and bread, and more of it"
        );
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing is left behind"
        );
    }
}
