//! Appending records within one transaction: the chain grows, the list of open operations follows.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Transaction, params};
use uuid::Uuid;

use crate::digest::{Link, digest};
use crate::entry::{Digest, Entry, Phase, Receipt};
use crate::fault::Fault;
use crate::format::FORMAT;

/// The end of one chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub(crate) instance: Uuid,
    pub(crate) sequence: u64,
    pub(crate) digest: Digest,
}

/// The right to append within one transaction.
pub(crate) struct Pen<'t> {
    transaction: &'t Transaction<'t>,
    place: &'t Path,
    head: Head,
    position: u64,
    wrote: bool,
}

impl<'t> Pen<'t> {
    /// Looks where the file stands, within the transaction.
    pub(crate) fn take(transaction: &'t Transaction<'t>, place: &'t Path, head: Head) -> Result<Self, Fault> {
        let fault = |error: rusqlite::Error| Fault::from_sqlite(place, Duration::ZERO, &error);
        // A newer program may have migrated the file while this one ran.
        let major = transaction
            .prepare_cached("SELECT user_version FROM pragma_user_version")
            .and_then(|mut statement| statement.query_row([], |row| row.get::<_, u32>(0)))
            .map_err(fault)?;
        if major != FORMAT.major {
            return Err(Fault::NewerFormat {
                place: place.to_owned(),
                found: major,
            });
        }
        let last: i64 = transaction
            .prepare_cached("SELECT coalesce(max(position), 0) FROM record")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .map_err(fault)?;
        Ok(Self {
            transaction,
            place,
            head,
            position: last.unsigned_abs(),
            wrote: false,
        })
    }

    /// The transaction, for statements other than an append.
    pub(crate) fn transaction(&self) -> &'t Transaction<'t> {
        self.transaction
    }

    /// The file.
    pub(crate) fn place(&self) -> &'t Path {
        self.place
    }

    /// SQLite's error as a fault of this file.
    pub(crate) fn fault(&self, error: &rusqlite::Error) -> Fault {
        Fault::from_sqlite(self.place, Duration::ZERO, error)
    }

    /// Writes one record at the end of this instance's chain.
    pub(crate) fn append(&mut self, entry: &Entry) -> Result<Receipt, Fault> {
        let link = Link {
            previous: self.head.digest,
            instance: self.head.instance,
            sequence: self.head.sequence + 1,
            position: self.position + 1,
        };
        let digest = digest(&link, entry);
        self.insert(&link, digest, entry)
            .map_err(|error| self.fault(&error))?;
        self.head = Head {
            sequence: link.sequence,
            digest,
            ..self.head
        };
        self.position = link.position;
        self.wrote = true;
        Ok(Receipt {
            instance: link.instance,
            sequence: link.sequence,
            digest,
        })
    }

    fn insert(&self, link: &Link, digest: Digest, entry: &Entry) -> rusqlite::Result<()> {
        let instance = link.instance.as_bytes();
        let operation = entry.operation.as_bytes();
        let position = link.position.cast_signed();
        self.transaction
            .prepare_cached(
                "INSERT INTO record (position, instance, sequence, operation, phase, at_ms, unsettled,
                     previous, digest, server, tool, outcome, effect, evidence, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?
            .execute(params![
                position,
                instance,
                link.sequence.cast_signed(),
                operation,
                entry.phase.code(),
                entry.at_ms,
                entry.unsettled,
                link.previous,
                digest,
                entry.server,
                entry.tool,
                entry.outcome,
                entry.effect,
                entry.evidence,
                entry.body,
            ])?;
        match entry.phase {
            // A second round of one operation opens it again, at its newer intent.
            Phase::Intent => self
                .transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO open (operation, instance, position) VALUES (?1, ?2, ?3)",
                )?
                .execute(params![operation, instance, position])?,
            Phase::Verdict | Phase::Amendment => self
                .transaction
                .prepare_cached("DELETE FROM open WHERE operation = ?1")?
                .execute([operation])?,
        };
        Ok(())
    }

    /// Writes the new head beside the records it heads.
    pub(crate) fn put_down(self) -> Result<Head, Fault> {
        if self.wrote {
            self.transaction
                .prepare_cached(
                    "INSERT INTO chain (instance, sequence, digest) VALUES (?1, ?2, ?3)
                     ON CONFLICT (instance) DO UPDATE SET sequence = ?2, digest = ?3",
                )
                .and_then(|mut statement| {
                    statement.execute(params![
                        self.head.instance.as_bytes(),
                        self.head.sequence.cast_signed(),
                        self.head.digest
                    ])
                })
                .map_err(|error| self.fault(&error))?;
        }
        Ok(self.head)
    }
}
