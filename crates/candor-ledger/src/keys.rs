//! Idempotency keys: claimed in the transaction that writes the intent, so that of two who come with one key, also from
//! two processes, exactly one sends.
//!
//! A key is held while its operation is open or unsettled, at any age, and for a time after. What became of the
//! operation is read from its records, never from the key: a verdict that is amended later needs no second change here.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use crate::entry::{Digest, Entry, Phase, Receipt, StoredEntry};
use crate::fault::{Fault, Misuse};
use crate::ledger::now_ms;
use crate::operations::Standing;
use crate::pen::Pen;
use crate::place;
use crate::presence;
use crate::row;

/// How long a key is held after its operation is settled.
const LIFE: Duration = Duration::from_hours(24);

/// What one batch does with a key, in the same transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyStep {
    /// Takes the key for the batch's operation; a batch whose key is another's is not written.
    Claim {
        /// The digest of the key and all that it is scoped to.
        scope: Digest,
        /// The digest of the arguments it is used with.
        arguments: Digest,
    },
    /// Keeps the answer that the caller is about to get.
    Keep {
        /// The key's scope.
        scope: Digest,
        /// The answer, as bytes.
        answer: Vec<u8>,
    },
    /// Gives the key back: nothing was sent under it.
    Free {
        /// The key's scope.
        scope: Digest,
    },
}

impl KeyStep {
    /// What it weighs in the queue, in bytes.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Keep { answer, .. } => 64 + answer.len(),
            Self::Claim { .. } | Self::Free { .. } => 64,
        }
    }
}

/// What became of a batch with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Appended {
    /// It is on disk.
    Written(Receipt),
    /// It is not, and never will be: another operation has the key.
    Taken(Box<FirstUse>),
}

/// The operation that used a key first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstUse {
    /// The operation.
    pub operation: Uuid,
    /// The digest of its arguments.
    pub arguments: Digest,
    /// Is it over?
    pub standing: Standing,
    /// Its last record; `None` where that was pruned.
    pub last: Option<StoredEntry>,
    /// The answer that is kept of it.
    pub answer: Option<Vec<u8>>,
}

impl FirstUse {
    /// Is the time of its key over?
    fn is_over(&self, since_ms: i64, now_ms: i64) -> bool {
        let settled = self
            .last
            .as_ref()
            .is_none_or(|last| last.entry.phase != Phase::Intent && !last.entry.unsettled);
        settled && since_ms <= now_ms.saturating_sub(life_ms())
    }
}

fn life_ms() -> i64 {
    i64::try_from(LIFE.as_millis()).unwrap_or(i64::MAX)
}

/// Before a batch is written: takes its key, or says whose it is.
pub(crate) fn claim(pen: &Pen<'_>, step: &KeyStep, batch: &[Entry]) -> Result<Option<FirstUse>, Fault> {
    let KeyStep::Claim { scope, arguments } = step else {
        return Ok(None);
    };
    let operation = batch.first().ok_or(Misuse::EmptyBatch)?.operation;
    let fault = |error: rusqlite::Error| pen.fault(&error);
    let now = now_ms();
    let first = held(pen.transaction(), pen.place(), scope).map_err(fault)?;
    // A further round of the operation that has it.
    if matches!(&first, Some((first, _)) if first.operation == operation) {
        return Ok(None);
    }
    if let Some(first) = still(first, now) {
        return Ok(Some(first));
    }
    pen.transaction()
        .prepare_cached(
            "INSERT OR REPLACE INTO idempotency_key (scope, operation, arguments, claimed_ms) VALUES (?1, ?2, ?3, ?4)",
        )
        .and_then(|mut statement| statement.execute(params![scope, operation.as_bytes(), arguments, now]))
        .map_err(fault)?;
    Ok(None)
}

/// Who but this operation has a key now.
pub(crate) fn holder(
    connection: &Connection,
    file: &Path,
    scope: &Digest,
    operation: Uuid,
) -> rusqlite::Result<Option<FirstUse>> {
    let first = held(connection, file, scope)?;
    Ok(still(first, now_ms()).filter(|first| first.operation != operation))
}

/// The key that this operation has, whatever it is, and what became of the operation.
pub(crate) fn of_operation(
    connection: &Connection,
    file: &Path,
    operation: Uuid,
) -> rusqlite::Result<Option<FirstUse>> {
    let scope = connection
        .prepare_cached("SELECT scope FROM idempotency_key WHERE operation = ?1")?
        .query_row([operation.as_bytes()], |row| row::sum(row, 0))
        .optional()?;
    let Some(scope) = scope else { return Ok(None) };
    Ok(still(held(connection, file, &scope)?, now_ms()))
}

/// The use of a key whose time is not over.
fn still(first: Option<(FirstUse, i64)>, now_ms: i64) -> Option<FirstUse> {
    first
        .filter(|(first, since)| !first.is_over(*since, now_ms))
        .map(|(first, _)| first)
}

/// After a batch was written: what it says of its key.
pub(crate) fn follow(pen: &Pen<'_>, step: &KeyStep, batch: &[Entry]) -> Result<(), Fault> {
    let operation = batch.first().ok_or(Misuse::EmptyBatch)?.operation;
    let operation = operation.as_bytes();
    let transaction = pen.transaction();
    let done = match step {
        KeyStep::Claim { .. } => Ok(0),
        KeyStep::Keep { scope, answer } => transaction
            .prepare_cached(
                "UPDATE idempotency_key SET answer = ?3, kept_ms = ?4 WHERE scope = ?1 AND operation = ?2",
            )
            .and_then(|mut statement| statement.execute(params![scope, operation, answer, now_ms()])),
        KeyStep::Free { scope } => transaction
            .prepare_cached("DELETE FROM idempotency_key WHERE scope = ?1 AND operation = ?2")
            .and_then(|mut statement| statement.execute(params![scope, operation])),
    };
    done.map(drop).map_err(|error| pen.fault(&error))
}

/// Who has a key, and since when its time counts once it is settled.
fn held(connection: &Connection, file: &Path, scope: &Digest) -> rusqlite::Result<Option<(FirstUse, i64)>> {
    let found = connection
        .prepare_cached(
            "SELECT operation, arguments, coalesce(kept_ms, claimed_ms), answer FROM idempotency_key WHERE scope = ?1",
        )?
        .query_row([scope], |row| {
            Ok((row::id(row, 0)?, row::sum(row, 1)?, row.get::<_, i64>(2)?, row.get(3)?))
        })
        .optional()?;
    let Some((operation, arguments, since, answer)) = found else {
        return Ok(None);
    };
    let last = last_of(connection, operation)?;
    let since = last.as_ref().map_or(since, |last| since.max(last.entry.at_ms));
    let standing = match &last {
        Some(last) if last.entry.phase == Phase::Intent => {
            if presence::lives(&place::instances(file), last.instance) {
                Standing::Running
            } else {
                Standing::Abandoned
            }
        }
        _ => Standing::Ended,
    };
    let first = FirstUse {
        operation,
        arguments,
        standing,
        last,
        answer,
    };
    Ok(Some((first, since)))
}

/// The last record of an operation that can be read.
pub(crate) fn last_of(connection: &Connection, operation: Uuid) -> rusqlite::Result<Option<StoredEntry>> {
    let sql = format!(
        "SELECT {} FROM record r WHERE r.operation = ?1 ORDER BY r.position DESC LIMIT 1",
        row::COLUMNS
    );
    let row = connection
        .prepare_cached(&sql)?
        .query_row([operation.as_bytes()], row::stored)
        .optional()?;
    Ok(row.and_then(Result::ok))
}

/// Which keys' time is over: `k` is the key.
const OVER: &str = "
    coalesce((SELECT max(l.at_ms, coalesce(k.kept_ms, k.claimed_ms)) FROM record l
              WHERE l.operation = k.operation ORDER BY l.position DESC LIMIT 1),
             coalesce(k.kept_ms, k.claimed_ms)) <= ?1
    AND NOT EXISTS (SELECT 1 FROM record l
        WHERE l.position = (SELECT max(o.position) FROM record o WHERE o.operation = k.operation)
          AND (l.phase = 0 OR l.unsettled = 1))";

/// How many keys' time is over. A file that only an older program has written has no table of them.
pub(crate) fn over(connection: &Connection, now_ms: i64) -> rusqlite::Result<u64> {
    let known: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'idempotency_key')",
        [],
        |row| row.get(0),
    )?;
    if !known {
        return Ok(0);
    }
    let sql = format!("SELECT count(*) FROM idempotency_key k WHERE {OVER}");
    connection
        .prepare_cached(&sql)?
        .query_row([now_ms.saturating_sub(life_ms())], |row| row.get::<_, i64>(0))
        .map(i64::unsigned_abs)
}

/// Forgets the keys whose time is over, with the answers kept for them.
pub(crate) fn drop_over(pen: &Pen<'_>, now_ms: i64) -> Result<u64, Fault> {
    let sql = format!(
        "DELETE FROM idempotency_key WHERE scope IN (SELECT k.scope FROM idempotency_key k WHERE {OVER})"
    );
    pen.transaction()
        .prepare_cached(&sql)
        .and_then(|mut statement| statement.execute([now_ms.saturating_sub(life_ms())]))
        .map(|gone| gone as u64)
        .map_err(|error| pen.fault(&error))
}
