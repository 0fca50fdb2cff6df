//! Checkpoints within a chain: what pruning took around an operation that nobody has settled.
//!
//! A gap holds the digest that its first record was chained to and the digest of its last, so that the records on both
//! sides stay tied to each other: whoever edits one of them has to edit the gap, too.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use uuid::Uuid;

use crate::entry::Digest;
use crate::row;

/// Records that are gone from within one chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) instance: Uuid,
    /// The first that is gone.
    pub(crate) first: u64,
    /// The last that is gone.
    pub(crate) last: u64,
    /// What the first was chained to.
    pub(crate) previous: Digest,
    /// The digest of the last.
    pub(crate) digest: Digest,
}

impl Gap {
    /// How many records are gone.
    pub(crate) const fn records(&self) -> u64 {
        (self.last + 1).saturating_sub(self.first)
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            instance: row::id(row, 0)?,
            first: row.get::<_, i64>(1)?.unsigned_abs(),
            last: row.get::<_, i64>(2)?.unsigned_abs(),
            previous: row::sum(row, 3)?,
            digest: row::sum(row, 4)?,
        })
    }
}

/// All gaps, by chain and place. A file that only an older program has written has no table of them.
pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<Gap>> {
    let known: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'gap')",
        [],
        |row| row.get(0),
    )?;
    if !known {
        return Ok(Vec::new());
    }
    connection
        .prepare_cached(
            "SELECT instance, first_sequence, last_sequence, previous, digest FROM gap ORDER BY instance, first_sequence",
        )?
        .query_map([], Gap::read)?
        .collect()
}

/// Notes that the records of `gap` are gone. It grows together with the gaps beside it, and with the chain's checkpoint
/// where it begins right behind that.
pub(crate) fn note(transaction: &Transaction<'_>, mut gap: Gap) -> rusqlite::Result<()> {
    if let Some(before) = take(transaction, gap.instance, "last_sequence", gap.first - 1)? {
        gap.first = before.first;
        gap.previous = before.previous;
    }
    if let Some(behind) = take(transaction, gap.instance, "first_sequence", gap.last + 1)? {
        gap.last = behind.last;
        gap.digest = behind.digest;
    }
    let (instance, last) = (gap.instance.as_bytes(), gap.last.cast_signed());
    let moved = transaction
        .prepare_cached(
            "UPDATE chain SET pruned_through = ?2, pruned_digest = ?3 WHERE instance = ?1 AND pruned_through = ?4",
        )?
        .execute(params![
            instance,
            last,
            gap.digest,
            gap.first.cast_signed() - 1
        ])?;
    if moved == 0 {
        transaction
            .prepare_cached(
                "INSERT INTO gap (instance, first_sequence, last_sequence, previous, digest) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                instance,
                gap.first.cast_signed(),
                last,
                gap.previous,
                gap.digest
            ])?;
    }
    Ok(())
}

/// Takes away the gap that has this number in this column, one of two.
fn take(
    transaction: &Transaction<'_>,
    instance: Uuid,
    column: &'static str,
    number: u64,
) -> rusqlite::Result<Option<Gap>> {
    let sql = format!(
        "DELETE FROM gap WHERE instance = ?1 AND {column} = ?2
         RETURNING instance, first_sequence, last_sequence, previous, digest"
    );
    transaction
        .prepare_cached(&sql)?
        .query_row(params![instance.as_bytes(), number.cast_signed()], Gap::read)
        .optional()
}
