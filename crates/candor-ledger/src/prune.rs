//! What may go, planned first and executed second.
//!
//! Only the beginning of a chain goes, as far as all its records belong to settled operations; the digest of the
//! last record taken stays as a checkpoint, so what follows still verifies. An operation is settled when its last
//! record is a verdict or an amendment that is not marked unsettled. The price of whole beginnings: one operation
//! that nobody settles keeps everything behind it in its chain. The plan names it, so that a person can.
//!
//! Pruning does not verify: it looks for gaps, but an edited record goes like any other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use crate::entry::Digest;
use crate::fault::Fault;
use crate::pen::Pen;
use crate::row;
use crate::store::Store;

/// How many records go in one transaction. Other writers wait for it, and their patience is short.
pub(crate) const STEP: u64 = 500;

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Operations whose last record is older than this may go.
    pub age: Duration,
    /// How large the records may be together, in bytes of used pages; beyond it the oldest may go at any age. The
    /// file does not shrink: freed pages are used again.
    pub bytes: u64,
}

impl Default for Retention {
    /// 30 days, 1 GiB.
    fn default() -> Self {
        Self {
            age: Duration::from_hours(30 * 24),
            bytes: 1 << 30,
        }
    }
}

/// What pruning would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PrunePlan {
    /// What would go.
    pub cuts: Vec<Cut>,
    /// What is old enough to go and can't, with all that follows it in its chain.
    pub held: Vec<Held>,
}

impl PrunePlan {
    /// Whether nothing would go.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cuts.is_empty()
    }
}

/// The beginning of one chain that would go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The chain.
    pub instance: Uuid,
    /// The last record that would go.
    pub through: u64,
    /// How many records.
    pub records: u64,
    /// About how many bytes.
    pub bytes: u64,
}

/// An operation that keeps its chain from being pruned further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The chain.
    pub instance: Uuid,
    /// The first record that stays.
    pub sequence: u64,
    /// Its operation.
    pub operation: Uuid,
    /// Why it stays.
    pub because: HeldBecause,
}

/// Why an operation can't be pruned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldBecause {
    /// It has no verdict yet.
    Open,
    /// A person has to settle it.
    Unsettled,
    /// Records before it are missing. Pruning over the gap would hide it from `verify`.
    Damaged,
}

/// What pruning did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Records that went.
    pub records: u64,
    /// Chains they went from.
    pub chains: u64,
    /// What stayed though it is old enough.
    pub held: Vec<Held>,
}

/// The first record of a chain that is not in the plan yet, with the state of its operation. The heap orders by
/// position: oldest commit first, over all chains.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Next {
    position: i64,
    instance: Uuid,
    sequence: i64,
    /// Whether the record before it is there or was pruned.
    follows: bool,
    operation: Uuid,
    at_ms: i64,
    bytes: u64,
    last_phase: i64,
    last_unsettled: bool,
    last_at_ms: i64,
}

/// Computes a plan of `most` records at most. Reads no body, and of each chain only what would go and one record
/// more.
pub(crate) fn plan(store: &Store, retention: &Retention, now_ms: i64, most: u64) -> Result<PrunePlan, Fault> {
    let fault = |error: rusqlite::Error| Fault::from_sqlite(store.place(), Duration::ZERO, &error);
    // One snapshot, whatever siblings write meanwhile.
    let snapshot = store.connection().unchecked_transaction().map_err(fault)?;
    compute(&snapshot, retention, now_ms, most).map_err(fault)
}

fn compute(
    connection: &Connection,
    retention: &Retention,
    now_ms: i64,
    most: u64,
) -> rusqlite::Result<PrunePlan> {
    let age = i64::try_from(retention.age.as_millis()).unwrap_or(i64::MAX);
    let cutoff = now_ms.saturating_sub(age);
    let excess = used_bytes(connection)?.saturating_sub(retention.bytes);
    let oldest: Option<i64> = connection.query_row("SELECT min(at_ms) FROM record", [], |row| row.get(0))?;
    if excess == 0 && oldest.is_none_or(|oldest| oldest >= cutoff) {
        return Ok(PrunePlan::default());
    }
    let mut heap = BinaryHeap::new();
    for (instance, after) in chains(connection)? {
        heap.extend(next(connection, instance, after)?.map(Reverse));
    }
    let mut plan = PrunePlan::default();
    let (mut freed, mut taken) = (0, 0);
    while taken < most
        && let Some(Reverse(record)) = heap.pop()
    {
        let due = record.at_ms < cutoff || freed < excess;
        if let Some(because) = record.held() {
            plan.held.extend(due.then(|| Held {
                instance: record.instance,
                sequence: record.sequence.unsigned_abs(),
                operation: record.operation,
                because,
            }));
        } else if record.last_at_ms < cutoff || freed < excess {
            freed += record.bytes;
            taken += 1;
            plan.take(&record);
            heap.extend(next(connection, record.instance, record.sequence)?.map(Reverse));
        }
    }
    Ok(plan)
}

impl Next {
    fn held(&self) -> Option<HeldBecause> {
        match (self.follows, self.last_phase, self.last_unsettled) {
            (false, _, _) => Some(HeldBecause::Damaged),
            (true, 0, _) => Some(HeldBecause::Open),
            (true, _, true) => Some(HeldBecause::Unsettled),
            (true, _, false) => None,
        }
    }
}

impl PrunePlan {
    fn take(&mut self, record: &Next) {
        let through = record.sequence.unsigned_abs();
        match self.cuts.iter_mut().rfind(|cut| cut.instance == record.instance) {
            Some(cut) => {
                cut.through = through;
                cut.records += 1;
                cut.bytes += record.bytes;
            }
            None => {
                let cut = Cut {
                    instance: record.instance,
                    through,
                    records: 1,
                    bytes: record.bytes,
                };
                self.cuts.push(cut);
            }
        }
    }
}

fn used_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = number("page_count")? - number("freelist_count")?;
    Ok((pages * number("page_size")?).unsigned_abs())
}

fn chains(connection: &Connection) -> rusqlite::Result<Vec<(Uuid, i64)>> {
    connection
        .prepare_cached("SELECT instance, pruned_through FROM chain WHERE sequence > pruned_through")?
        .query_map([], |row| Ok((row::id(row, 0)?, row.get(1)?)))?
        .collect()
}

/// 300 bytes are a record's fixed columns, its four index entries and their share of pages, roughly.
const NEXT: &str = "
    SELECT r.position, r.sequence, r.operation, r.at_ms,
           300 + length(r.server) + length(r.tool) + length(r.body),
           l.phase, l.unsettled, l.at_ms
    FROM record r
    JOIN record l ON l.position = (SELECT max(o.position) FROM record o WHERE o.operation = r.operation)
    WHERE r.instance = ?1 AND r.sequence > ?2
    ORDER BY r.sequence LIMIT 1";

fn next(connection: &Connection, instance: Uuid, after: i64) -> rusqlite::Result<Option<Next>> {
    connection
        .prepare_cached(NEXT)?
        .query_row(params![instance.as_bytes(), after], |row| {
            let sequence = row.get(1)?;
            Ok(Next {
                position: row.get(0)?,
                instance,
                sequence,
                follows: sequence == after + 1,
                operation: row::id(row, 2)?,
                at_ms: row.get(3)?,
                bytes: row.get::<_, i64>(4)?.unsigned_abs(),
                last_phase: row.get(5)?,
                last_unsettled: row.get(6)?,
                last_at_ms: row.get(7)?,
            })
        })
        .optional()
}

/// Carries a plan out in steps of [`STEP`] records, each a transaction that leaves a valid checkpoint.
pub(crate) fn execute(store: &mut Store, plan: &PrunePlan, patience: Duration) -> Result<Pruned, Fault> {
    let mut pruned = Pruned {
        held: plan.held.clone(),
        ..Pruned::default()
    };
    for cut in &plan.cuts {
        let mut from_chain = 0;
        loop {
            let taken = store.transact(Some(Instant::now() + patience), |pen| {
                step(pen, cut).map_err(|error| pen.fault(&error))
            })?;
            if taken == 0 {
                break;
            }
            from_chain += taken;
        }
        pruned.records += from_chain;
        pruned.chains += u64::from(from_chain > 0);
    }
    Ok(pruned)
}

/// Takes the next records of one chain, as far as the plan goes and nothing has become unsettled since.
fn step(pen: &Pen<'_>, cut: &Cut) -> rusqlite::Result<u64> {
    let transaction = pen.transaction();
    let instance = cut.instance.as_bytes();
    let from: Option<i64> = transaction
        .prepare_cached("SELECT pruned_through FROM chain WHERE instance = ?1")?
        .query_row([instance], |row| row.get(0))
        .optional()?;
    let Some(from) = from else { return Ok(0) };
    let to = cut.through.min(from.unsigned_abs() + STEP).cast_signed();
    let held: Option<i64> = transaction
        .prepare_cached(
            "SELECT min(r.sequence) FROM record r
             JOIN record l ON l.position = (SELECT max(o.position) FROM record o WHERE o.operation = r.operation)
             WHERE r.instance = ?1 AND r.sequence > ?2 AND r.sequence <= ?3 AND (l.phase = 0 OR l.unsettled = 1)",
        )?
        .query_row(params![instance, from, to], |row| row.get(0))?;
    let to = held.map_or(to, |held| held - 1);
    let whole: bool = transaction
        .prepare_cached(
            "SELECT count(*) = ?3 - ?2 FROM record WHERE instance = ?1 AND sequence > ?2 AND sequence <= ?3",
        )?
        .query_row(params![instance, from, to], |row| row.get(0))?;
    if !whole || to <= from {
        return Ok(0);
    }
    let digest: Digest = transaction
        .prepare_cached("SELECT digest FROM record WHERE instance = ?1 AND sequence = ?2")?
        .query_row(params![instance, to], |row| row::sum(row, 0))?;
    let taken = transaction
        .prepare_cached("DELETE FROM record WHERE instance = ?1 AND sequence <= ?2")?
        .execute(params![instance, to])?;
    transaction
        .prepare_cached("UPDATE chain SET pruned_through = ?2, pruned_digest = ?3 WHERE instance = ?1")?
        .execute(params![instance, to, digest])?;
    Ok(taken as u64)
}
