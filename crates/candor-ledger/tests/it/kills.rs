//! A writer that is killed at a thousand points, and what it leaves: nothing lost, nothing invented, nothing half-written.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

use candor_ledger::{Entry, Ledger, Phase, StoredEntry};
use uuid::Uuid;

use crate::chance::Chance;
use crate::child::Process;
use crate::support::{Place, assert_clean, intent, keep_all, verdict};

const KILLS: u64 = 1000;

/// So many kills go between two looks at the file: the writers themselves then find what the killed ones left.
const BETWEEN: u64 = 20;

/// How many batches a writer has under way at most.
const AT_ONCE: u64 = 3;

/// The `count`th operation of a round: every part of its records follows from these two numbers.
fn operation(round: u64, count: u64) -> Uuid {
    Uuid::from_u128(u128::from(round + 1) << 64 | u128::from(count))
}

fn numbers(operation: Uuid) -> (u64, u64) {
    let (round, count) = operation.as_u64_pair();
    (round - 1, count)
}

/// Bodies from a few bytes to several pages.
fn body(round: u64, count: u64, phase: Phase) -> Vec<u8> {
    let length = (round * 7 + count * 1_301) % 9_000;
    let mut body = format!("{round} {count} {phase:?} ").into_bytes();
    body.resize(body.len() + usize::try_from(length).unwrap(), b'x');
    body
}

fn first(round: u64, count: u64) -> Entry {
    Entry {
        body: body(round, count, Phase::Intent),
        ..intent(operation(round, count))
    }
}

fn second(round: u64, count: u64) -> Entry {
    Entry {
        body: body(round, count, Phase::Verdict),
        ..verdict(operation(round, count), "reported")
    }
}

/// How a start judges what a killed writer left open.
fn lost(open: &StoredEntry) -> Entry {
    verdict(open.entry.operation, "unknown")
}

/// Every third operation is written as one batch, the others as two.
fn is_one_batch(count: u64) -> bool {
    count.is_multiple_of(3)
}

/// The part of the child: settles what the last one left, then writes as fast as it can and says after each receipt
/// what it was given for.
pub(crate) fn write(place: &Path, round: u64) {
    let ledger = Ledger::open(place, keep_all()).unwrap().ledger;
    ledger.recover(lost).unwrap();
    println!("ready");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let counter = Cell::new(0);
    let write = async || {
        // It never comes to the end of this.
        while counter.get() < 1_000_000 {
            let count = counter.get() + 1;
            counter.set(count);
            if !is_one_batch(count) {
                ledger.append(vec![first(round, count)]).await.unwrap();
                println!("ack {count} first");
                ledger.append(vec![second(round, count)]).await.unwrap();
            } else {
                let batch = vec![first(round, count), second(round, count)];
                ledger.append(batch).await.unwrap();
            }
            println!("ack {count} both");
        }
    };
    runtime.block_on(async { tokio::join!(write(), write(), write()) });
}

/// What a round heard: of each operation, whether both of its records were acknowledged or only the first.
type Heard = BTreeMap<u64, bool>;

/// Starts a writer and kills it: somewhere in its start, or some time behind some receipt.
fn round(place: &Place, number: u64, chance: &mut Chance) -> Heard {
    let mut process = Process::start(&format!("kill {number}"), &place.path);
    let mut heard = Vec::new();
    let wait = if chance.below(5) == 0 {
        Duration::from_micros(chance.below(15_000))
    } else {
        for _ in 0..=chance.below(6) {
            heard.push(process.hear("ack").unwrap());
        }
        Duration::from_micros(chance.below(3_000))
    };
    let begun = Instant::now();
    while begun.elapsed() < wait {
        std::hint::spin_loop();
    }
    heard.extend(process.kill("ack"));
    let mut acknowledged = Heard::new();
    for ack in heard {
        // The kill may have cut the last line short.
        match ack.split_once(' ') {
            Some((count, "both")) => acknowledged.insert(count.parse().unwrap(), true),
            Some((count, "first")) => acknowledged.insert(count.parse().unwrap(), false),
            _ => None,
        };
    }
    acknowledged
}

/// Reads every record of the file, and holds it against what was heard so far.
fn check(place: &Place, heard: &HashMap<u64, Heard>, last_round: u64) {
    let mut found: HashMap<(Uuid, bool), bool> = HashMap::new();
    let mut highest: HashMap<u64, u64> = HashMap::new();
    let report = place
        .reader()
        .walk(|record| {
            let entry = &record.entry;
            let (round, count) = numbers(entry.operation);
            let is_first = entry.phase == Phase::Intent;
            let own = if is_first {
                *entry == first(round, count)
            } else {
                *entry == second(round, count)
            };
            assert!(
                own || *entry == lost(record),
                "half-written or invented: {record:?}"
            );
            assert!(round <= last_round, "invented: {record:?}");
            let twice = found.insert((entry.operation, is_first), own);
            assert!(twice.is_none(), "written twice: {record:?}");
            let top = highest.entry(round).or_default();
            *top = (*top).max(count);
            Ok(())
        })
        .unwrap();
    assert!(report.is_clean(), "{report:#?}");
    for ((operation, is_first), own) in &found {
        let (_, count) = numbers(*operation);
        let first = found.contains_key(&(*operation, true));
        assert!(first, "an end without a beginning: {operation}");
        if is_one_batch(count) && *is_first {
            assert_eq!(
                found.get(&(*operation, false)),
                Some(&true),
                "half a batch: {operation}"
            );
        }
        assert!(*own || !is_first);
    }
    for (round, heard) in heard {
        for (count, both) in heard {
            let has = |first| found.get(&(operation(*round, *count), first)) == Some(&true);
            assert!(has(true), "lost: the first record of {count} in round {round}");
            assert!(
                !both || has(false),
                "lost: the second record of {count} in round {round}"
            );
        }
        let top = highest.get(round).copied().unwrap_or_default();
        let known = heard.last_key_value().map_or(0, |(count, _)| *count);
        assert!(
            top <= known + AT_ONCE,
            "invented: {top} in round {round}, where {known} was heard"
        );
    }
}

#[test]
fn a_thousand_kills_lose_nothing_and_leave_nothing_half_written() {
    let place = Place::new();
    let mut chance = Chance::new();
    let begun = Instant::now();
    let mut heard = HashMap::new();
    for number in 0..KILLS {
        heard.insert(number, round(&place, number, &mut chance));
        if number % BETWEEN == BETWEEN - 1 && place.path.exists() {
            check(&place, &heard, number);
        }
    }
    // The last start settles what is open, and then nothing is.
    let ledger = place.open();
    ledger.recover(lost).unwrap();
    drop(ledger);
    check(&place, &heard, KILLS - 1);
    assert_eq!(place.count("SELECT count(*) FROM open"), 0);
    assert_clean(&place.path);
    let acknowledged: usize = heard.values().map(BTreeMap::len).sum();
    let early = heard.values().filter(|heard| heard.is_empty()).count();
    let records = place.count("SELECT count(*) FROM record");
    let settled = place.count("SELECT count(*) FROM record WHERE outcome = 'unknown'");
    println!(
        "{KILLS} kills in {:.1?}, {early} before the first receipt; {acknowledged} operations acknowledged, \
         {records} records, {} of them settled by a later start",
        begun.elapsed(),
        settled
    );
    assert!(acknowledged as u64 > KILLS, "the writers came to write");
    assert!(early > 0 && settled > 0, "the kills came at all times");
}

#[test]
fn a_record_that_was_promised_and_is_not_there_would_be_seen() {
    let place = Place::new();
    let mut chance = Chance::new();
    let mut heard = HashMap::new();
    for number in 0.. {
        let round = round(&place, number, &mut chance);
        let wrote = !round.is_empty();
        heard.insert(number, round);
        if wrote {
            break;
        }
    }
    let rounds = heard.len() as u64;
    check(&place, &heard, rounds - 1);
    let promise = |count| {
        let mut heard = heard.clone();
        heard.entry(rounds - 1).or_default().insert(count, true);
        let checked = std::panic::catch_unwind(|| check(&place, &heard, rounds - 1));
        let said = checked.unwrap_err().downcast::<String>().unwrap();
        assert!(said.starts_with("lost: "), "{said}");
    };
    promise(1_000);
}
