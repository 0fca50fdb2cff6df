//! From a row of the table `record` to a stored entry, and why not where it can't be one.

use rusqlite::Row;
use rusqlite::types::FromSql;
use uuid::Uuid;

use crate::digest::{Link, digest};
use crate::entry::{Digest, Entry, Phase, StoredEntry};

/// The columns that [`stored`] reads, in its order. The table must be called `r` in the statement.
pub(crate) const COLUMNS: &str = "r.position, r.instance, r.sequence, r.operation, r.phase, r.at_ms, r.unsettled, \
     r.previous, r.digest, r.server, r.tool, r.outcome, r.effect, r.evidence, r.body";

/// A row that is no record: someone other than the ledger wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) position: i64,
    /// The operation, where at least that can be read.
    pub(crate) operation: Option<Uuid>,
    /// The first column that can't be read.
    pub(crate) column: &'static str,
}

/// Reads one row. The outer error is SQLite's, the inner one the row's.
pub(crate) fn stored(row: &Row<'_>) -> rusqlite::Result<Result<StoredEntry, Malformed>> {
    let position: i64 = row.get(0)?;
    let operation = fixed::<16>(row, 3).map(Uuid::from_bytes);
    Ok(read(row, position).map_err(|column| Malformed {
        position,
        operation,
        column,
    }))
}

fn read(row: &Row<'_>, position: i64) -> Result<StoredEntry, &'static str> {
    let entry = Entry {
        operation: fixed(row, 3).map(Uuid::from_bytes).ok_or("operation")?,
        phase: column(row, 4).and_then(Phase::from_code).ok_or("phase")?,
        at_ms: column(row, 5).ok_or("at_ms")?,
        unsettled: match column::<i64>(row, 6) {
            Some(0) => false,
            Some(1) => true,
            _ => return Err("unsettled"),
        },
        server: column(row, 9).ok_or("server")?,
        tool: column(row, 10).ok_or("tool")?,
        outcome: column(row, 11).ok_or("outcome")?,
        effect: column(row, 12).ok_or("effect")?,
        evidence: column(row, 13).ok_or("evidence")?,
        body: column(row, 14).ok_or("body")?,
    };
    Ok(StoredEntry {
        position: u64::try_from(position).map_err(|_| "position")?,
        instance: fixed(row, 1).map(Uuid::from_bytes).ok_or("instance")?,
        sequence: column::<i64>(row, 2)
            .and_then(|number| number.try_into().ok())
            .ok_or("sequence")?,
        previous: fixed(row, 7).ok_or("previous")?,
        digest: fixed(row, 8).ok_or("digest")?,
        entry,
    })
}

/// The value of a column if it has the type that the format gives it.
fn column<T: FromSql>(row: &Row<'_>, index: usize) -> Option<T> {
    row.get(index).ok()
}

fn fixed<const N: usize>(row: &Row<'_>, index: usize) -> Option<[u8; N]> {
    row.get_ref(index).ok()?.as_blob().ok()?.try_into().ok()
}

impl StoredEntry {
    /// Whether the record is what was digested.
    pub(crate) fn holds(&self) -> bool {
        self.holds_at(self.sequence, self.position)
    }

    /// Whether the record is what was digested, had it stood at another place.
    pub(crate) fn holds_at(&self, sequence: u64, position: u64) -> bool {
        let link = Link {
            previous: self.previous,
            instance: self.instance,
            sequence,
            position,
        };
        digest(&link, &self.entry) == self.digest
    }
}

/// An id or digest as SQLite hands it out, where the caller checked the table's own constraint.
pub(crate) fn id(row: &Row<'_>, index: usize) -> rusqlite::Result<Uuid> {
    fixed(row, index)
        .map(Uuid::from_bytes)
        .ok_or(rusqlite::Error::InvalidColumnType(
            index,
            "id".into(),
            rusqlite::types::Type::Blob,
        ))
}

/// A digest, as [`id`].
pub(crate) fn sum(row: &Row<'_>, index: usize) -> rusqlite::Result<Digest> {
    fixed(row, index).ok_or(rusqlite::Error::InvalidColumnType(
        index,
        "digest".into(),
        rusqlite::types::Type::Blob,
    ))
}
