//! Carrying a plan out, in steps that leave valid checkpoints.

use std::time::{Duration, Instant};

use rusqlite::{OptionalExtension, params};

use super::{Cut, PrunePlan, Pruned, STEP};
use crate::fault::Fault;
use crate::gap::{self, Gap};
use crate::keys;
use crate::pen::Pen;
use crate::row;
use crate::store::Store;

/// Carries a plan out in steps of [`STEP`] records, each a transaction.
pub(crate) fn execute(store: &mut Store, plan: &PrunePlan, patience: Duration) -> Result<Pruned, Fault> {
    let mut pruned = Pruned {
        held: plan.held.clone(),
        ..Pruned::default()
    };
    let mut chains = std::collections::HashSet::new();
    for cut in &plan.cuts {
        let mut from = cut.from;
        while from <= cut.through {
            let taken = store.transact(Some(Instant::now() + patience), |pen| {
                step(pen, cut, from).map_err(|error| pen.fault(&error))
            })?;
            if taken == 0 {
                break;
            }
            from += taken;
            pruned.records += taken;
            chains.insert(cut.instance);
        }
    }
    pruned.chains = chains.len() as u64;
    if plan.keys > 0 {
        let until = Some(Instant::now() + patience);
        pruned.keys = store.transact(until, |pen| keys::drop_over(pen, plan.keys_until_ms))?;
    }
    Ok(pruned)
}

/// Takes the next records of one cut, as far as nothing is missing and nothing has become unsettled since the plan.
fn step(pen: &Pen<'_>, cut: &Cut, from: u64) -> rusqlite::Result<u64> {
    let transaction = pen.transaction();
    let instance = cut.instance.as_bytes();
    let to = cut.through.min(from + STEP - 1).cast_signed();
    let first = from.cast_signed();
    let held: Option<i64> = transaction
        .prepare_cached(
            "SELECT min(r.sequence) FROM record r
             JOIN record l ON l.position = (SELECT max(o.position) FROM record o WHERE o.operation = r.operation)
             WHERE r.instance = ?1 AND r.sequence >= ?2 AND r.sequence <= ?3 AND (l.phase = 0 OR l.unsettled = 1)",
        )?
        .query_row(params![instance, first, to], |row| row.get(0))?;
    let to = held.map_or(to, |held| held - 1);
    let whole: bool = transaction
        .prepare_cached(
            "SELECT count(*) = ?3 - ?2 + 1 FROM record WHERE instance = ?1 AND sequence >= ?2 AND sequence <= ?3",
        )?
        .query_row(params![instance, first, to], |row| row.get(0))?;
    if !whole || to < first {
        return Ok(0);
    }
    let end = |column: &str, sequence: i64| {
        let sql = format!("SELECT {column} FROM record WHERE instance = ?1 AND sequence = ?2");
        transaction
            .prepare_cached(&sql)?
            .query_row(params![instance, sequence], |row| row::sum(row, 0))
            .optional()
    };
    let (Some(previous), Some(digest)) = (end("previous", first)?, end("digest", to)?) else {
        return Ok(0);
    };
    let taken = transaction
        .prepare_cached("DELETE FROM record WHERE instance = ?1 AND sequence >= ?2 AND sequence <= ?3")?
        .execute(params![instance, first, to])?;
    let gap = Gap {
        instance: cut.instance,
        first: from,
        last: to.unsigned_abs(),
        previous,
        digest,
    };
    gap::note(transaction, gap)?;
    Ok(taken as u64)
}
