//! A power cut between any two receipts, simulated on copies of the files: what was not synced is there, is gone, is there
//! in part, or is garbage, a sector at a time.
//!
//! What is assumed, and not shown here: that a sync puts on disk what was written before it, and that SQLite syncs as it
//! says with `synchronous = FULL`: the log before a commit returns, the log before a checkpoint writes to the file, the
//! file before the log begins anew, the log's new header before its new frames. And that a sector which is written on from
//! its middle keeps the bytes before that ("powersafe overwrite" in SQLite's words): a disk without it can take the end
//! of the last commit with the next one.

use std::fs;
use std::path::{Path, PathBuf};

use candor_ledger::{Entry, Ledger, Phase};
use uuid::Uuid;

use crate::chance::Chance;
use crate::support::{Place, intent, keep_all, verdict};

/// Batches that are written, each with a picture of the files behind it.
const BATCHES: u64 = 150;
const SECTOR: usize = 512;
/// The log's header: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.
const LOG_HEADER: usize = 32;

/// The files after a receipt.
#[derive(Clone, Default, PartialEq)]
struct Picture {
    file: Vec<u8>,
    log: Vec<u8>,
}

impl Picture {
    fn of(place: &Path) -> Self {
        Self {
            file: fs::read(place).unwrap(),
            log: fs::read(log_of(place)).unwrap_or_default(),
        }
    }

    /// Whether the log began anew between the two.
    fn begins_anew(&self, next: &Self) -> bool {
        self.log.get(..LOG_HEADER) != next.log.get(..LOG_HEADER)
    }
}

fn log_of(place: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", place.display()))
}

/// What becomes of the sectors that were written and not synced.
#[derive(Debug, Clone, Copy)]
enum Fate {
    /// All are gone.
    Gone,
    /// They came to the disk in order, up to some point.
    Prefix,
    /// Each came or not.
    Some,
    /// Each came, did not, or is full of something else behind the bytes that were there before.
    Garbage,
    /// The file has its new length, and where a sector did not come it has zeros.
    Zeros,
    /// All came.
    There,
}

const FATES: [Fate; 6] = [
    Fate::Gone,
    Fate::Prefix,
    Fate::Some,
    Fate::Garbage,
    Fate::Zeros,
    Fate::There,
];

/// A file that was `before` when it was synced and has been written to be `after`, as a power cut leaves it.
fn cut(before: &[u8], after: &[u8], fate: Fate, chance: &mut Chance) -> Vec<u8> {
    let mut left = before.to_vec();
    let all = after.len().div_ceil(SECTOR);
    let changed: Vec<usize> = (0..all)
        .filter(|sector| of(before, *sector) != of(after, *sector))
        .collect();
    let prefix = usize::try_from(chance.below(changed.len() as u64 + 1)).unwrap();
    for (index, sector) in changed.into_iter().enumerate() {
        let lot = chance.below(3);
        let came = match fate {
            Fate::Gone => false,
            Fate::There => true,
            Fate::Prefix => index < prefix,
            Fate::Some | Fate::Garbage | Fate::Zeros => lot == 0,
        };
        let (old, new) = (of(before, sector), of(after, sector));
        let content: Vec<u8> = match fate {
            _ if came => new.to_vec(),
            Fate::Garbage if lot == 1 => {
                let kept = old.iter().zip(new).take_while(|(old, new)| old == new).count();
                let garbage = (kept..SECTOR).map(|_| chance.next().to_le_bytes()[0]);
                new.iter().take(kept).copied().chain(garbage).collect()
            }
            Fate::Zeros if old.is_empty() => vec![0; new.len()],
            _ => continue,
        };
        let from = sector * SECTOR;
        if left.len() < from + content.len() {
            left.resize(from + content.len(), 0);
        }
        left[from..from + content.len()].copy_from_slice(&content);
    }
    left
}

fn of(bytes: &[u8], sector: usize) -> &[u8] {
    let from = (sector * SECTOR).min(bytes.len());
    &bytes[from..(from + SECTOR).min(bytes.len())]
}

/// What a power cut between two receipts may leave, by the order in which SQLite writes and syncs.
fn states(
    before: &Picture,
    after: &Picture,
    fate: Fate,
    chance: &mut Chance,
) -> Vec<(&'static str, Picture)> {
    let mut states = Vec::new();
    if after.log.is_empty() {
        // Closed: the log was moved into the file, synced, and taken away.
        let moving = Picture {
            file: cut(&before.file, &after.file, fate, chance),
            log: before.log.clone(),
        };
        return vec![
            ("while it was closed", moving),
            ("when it was closed", after.clone()),
        ];
    }
    let mut log_before = before.log.clone();
    if before.begins_anew(after) && !before.log.is_empty() {
        let header = cut(&before.log[..LOG_HEADER], &after.log[..LOG_HEADER], fate, chance);
        log_before[..LOG_HEADER].copy_from_slice(&header[..LOG_HEADER]);
        let torn = Picture {
            log: log_before.clone(),
            ..before.clone()
        };
        states.push(("while the log begins anew", torn));
        log_before[..LOG_HEADER].copy_from_slice(&after.log[..LOG_HEADER]);
    }
    let log = cut(&log_before, &after.log, fate, chance);
    let torn = Picture {
        log,
        ..before.clone()
    };
    states.push(("before the commit was synced", torn));
    if before.file != after.file {
        let file = cut(&before.file, &after.file, fate, chance);
        let torn = Picture {
            file,
            log: after.log.clone(),
        };
        states.push(("while the log was moved into the file", torn));
    }
    states
}

fn operation(number: u64) -> Uuid {
    Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0000 | u128::from(number))
}

/// One to three records, some of many pages.
fn batch(number: u64) -> Vec<Entry> {
    let length = |salt: u64| usize::try_from((number + salt) * 7_919 % 40_000).unwrap();
    let large = |entry: Entry, salt| Entry {
        body: vec![b'a' + u8::try_from(number % 26).unwrap(); length(salt)],
        ..entry
    };
    let mut batch = vec![large(intent(operation(number)), 1)];
    if !number.is_multiple_of(3) {
        batch.push(large(verdict(operation(number), "unknown"), 2));
    }
    if number.is_multiple_of(5) {
        let amendment = Entry {
            phase: Phase::Amendment,
            ..verdict(operation(number), "completed")
        };
        batch.push(large(amendment, 3));
    }
    batch
}

/// Opens what a power cut left, as the next start would, and gives the number of the last batch that is there.
/// Everything up to there must be whole, and nothing behind it.
async fn last_batch(folder: &Path, left: &Picture) -> u64 {
    let place = folder.join("ledger.db");
    for old in [
        place.clone(),
        log_of(&place),
        PathBuf::from(format!("{}-shm", place.display())),
    ] {
        let _ = fs::remove_file(old);
    }
    fs::write(&place, &left.file).unwrap();
    if !left.log.is_empty() {
        fs::write(log_of(&place), &left.log).unwrap();
    }
    let ledger = Ledger::open(&place, keep_all()).unwrap().ledger;
    ledger.close().await.unwrap();
    let mut records = Vec::new();
    let report = candor_ledger::Reader::open(&place)
        .unwrap()
        .walk(|record| {
            records.push(record.entry.clone());
            Ok(())
        })
        .unwrap();
    assert!(report.is_clean(), "{report:#?}");
    let mut there = records.as_slice();
    let mut number = 0;
    while !there.is_empty() {
        let expected = batch(number + 1);
        assert!(
            there.len() >= expected.len() && there[..expected.len()] == expected,
            "batch {} is there in part",
            number + 1
        );
        there = &there[expected.len()..];
        number += 1;
    }
    number
}

/// A folder in memory, where there is one: nothing here depends on a real disk.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// Writes all batches, and gives the files after each receipt, those at the beginning first.
async fn pictures() -> Vec<Picture> {
    let place = Place::new();
    let ledger = place.open();
    let mut pictures = vec![Picture::of(&place.path)];
    for number in 1..=BATCHES {
        ledger.append(batch(number)).await.unwrap();
        pictures.push(Picture::of(&place.path));
    }
    ledger.close().await.unwrap();
    pictures.push(Picture::of(&place.path));
    pictures
}

#[tokio::test]
async fn a_power_cut_takes_nothing_that_had_a_receipt_and_leaves_nothing_in_part() {
    let pictures = pictures().await;
    let mut chance = Chance::new();
    let folder = folder();
    let mut seen = std::collections::BTreeMap::new();
    let (mut whole, mut taken) = (0, 0);
    for (number, pair) in pictures.windows(2).enumerate() {
        let number = number as u64;
        let [before, after] = pair else { unreachable!() };
        let rare = before.file != after.file || before.begins_anew(after);
        // Common steps get one fate each, in turn; where the log is moved or begins anew, they all get every fate.
        let turn = usize::try_from(number).unwrap() % FATES.len();
        let fates = if rare { &FATES[..] } else { &FATES[turn..=turn] };
        for fate in fates {
            for (step, left) in states(before, after, *fate, &mut chance) {
                *seen.entry(step).or_insert(0) += 1;
                let last = last_batch(folder.path(), &left).await;
                assert!(
                    last == number || last == number + 1,
                    "{step}, {fate:?}: {number} had its receipt, {last} is there"
                );
                if last > number {
                    whole += 1;
                } else {
                    taken += 1;
                }
            }
        }
    }
    println!("{seen:?}; the batch under way was there {whole} times, and gone {taken} times");
    assert_eq!(seen.len(), 5, "every step was met: {seen:?}");
    assert!(whole > 0 && taken > 0);
}

#[tokio::test]
async fn a_disk_that_did_not_sync_would_be_found() {
    let pictures = pictures().await;
    let folder = folder();
    let appended = pictures.windows(2).enumerate().rfind(|(_, pair)| {
        let [before, after] = pair else { unreachable!() };
        before.file == after.file && !before.begins_anew(after) && before.log.len() < after.log.len()
    });
    let (number, pair) = appended.unwrap();
    let unsynced = Picture {
        log: pair[0].log.clone(),
        ..pair[1].clone()
    };
    assert_eq!(
        last_batch(folder.path(), &unsynced).await,
        number as u64,
        "the receipt of the next was worth nothing"
    );
}
