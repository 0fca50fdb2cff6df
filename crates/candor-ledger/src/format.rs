//! The format of the file: its version, and the migrations that make it.
//!
//! Major: who may write. A program never writes a file of a newer major. It stands in SQLite's `user_version`,
//! where it can be read without opening the file as a database. Minor: additions that an older program may
//! ignore and still write correctly. Both stand in the table `meta`.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use sha2::{Digest as _, Sha256};

use crate::entry::Digest;
use crate::fault::OpenFault;

/// The version of a ledger's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Who may write: a program never writes a newer major than its own.
    pub major: u32,
    /// Additions that older programs may ignore.
    pub minor: u32,
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What this program writes. Minor 1 added the table `gap`: an older program leaves it alone, and calls what went there
/// missing. Minor 2 added the table `idempotency_key`: an older program knows no keys and passes such calls on.
pub(crate) const FORMAT: Format = Format { major: 1, minor: 2 };

/// `Cndr`: how the file command and this program know a ledger.
pub(crate) const APPLICATION_ID: u32 = 0x436e_6472;

struct Migration {
    number: u32,
    name: &'static str,
    sql: &'static str,
}

impl Migration {
    fn checksum(&self) -> Digest {
        Sha256::digest(self.sql.as_bytes()).into()
    }
}

/// In order. One that was released is never edited: a new one is added.
const MIGRATIONS: &[Migration] = &[
    Migration {
        number: 1,
        name: "ledger",
        sql: include_str!("../migrations/0001_ledger.sql"),
    },
    Migration {
        number: 2,
        name: "gap",
        sql: include_str!("../migrations/0002_gap.sql"),
    },
    Migration {
        number: 3,
        name: "idempotency_key",
        sql: include_str!("../migrations/0003_idempotency_key.sql"),
    },
];

/// What an opened database turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing in it yet.
    Fresh,
    /// A ledger of this major.
    Ledger { major: u32 },
    /// Another program's database.
    Foreign,
}

/// Asks SQLite, which also sees what is still in the write-ahead log.
pub(crate) fn kind(connection: &Connection) -> rusqlite::Result<Kind> {
    // The tables first: another process may be making the ledger between the two looks, in one transaction.
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let application: u32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if application == APPLICATION_ID {
        let major = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        return Ok(Kind::Ledger { major });
    }
    Ok(if application == 0 && tables == 0 {
        Kind::Fresh
    } else {
        Kind::Foreign
    })
}

/// Applies what is missing, one transaction each, and refuses a file made by other migrations.
///
/// Runs before the file is put in WAL mode, so that the marks of a new file stand in its header at once.
pub(crate) fn migrate(
    connection: &mut Connection,
    place: &Path,
    now_ms: i64,
    patience: Duration,
) -> Result<(), OpenFault> {
    let started = Instant::now();
    let fault = |error: rusqlite::Error| OpenFault::from_sqlite(place, started.elapsed(), &error);
    connection.busy_timeout(patience).map_err(fault)?;
    for migration in MIGRATIONS {
        // Looked at without the write lock first: a file that is up to date costs no transaction at its opening.
        match applied(connection, migration).map_err(fault)? {
            Applied::AsOurs => continue,
            Applied::Otherwise => return Err(foreign(place, migration)),
            Applied::NotYet => {}
        }
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(fault)?;
        match applied(&transaction, migration).map_err(fault)? {
            Applied::AsOurs => continue,
            Applied::Otherwise => return Err(foreign(place, migration)),
            Applied::NotYet => apply(&transaction, migration, now_ms).map_err(fault)?,
        }
        transaction.commit().map_err(fault)?;
    }
    Ok(())
}

fn foreign(place: &Path, migration: &Migration) -> OpenFault {
    OpenFault::ForeignSchema {
        place: place.to_owned(),
        number: migration.number,
    }
}

enum Applied {
    AsOurs,
    Otherwise,
    NotYet,
}

fn applied(connection: &Connection, migration: &Migration) -> rusqlite::Result<Applied> {
    let known: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration')",
        [],
        |row| row.get(0),
    )?;
    if !known {
        return Ok(Applied::NotYet);
    }
    let checksum: Option<Vec<u8>> = connection
        .query_row(
            "SELECT checksum FROM migration WHERE number = ?1",
            [migration.number],
            |row| row.get(0),
        )
        .optional()?;
    Ok(match checksum {
        None => Applied::NotYet,
        Some(checksum) if checksum == migration.checksum() => Applied::AsOurs,
        Some(_) => Applied::Otherwise,
    })
}

fn apply(connection: &Connection, migration: &Migration, now_ms: i64) -> rusqlite::Result<()> {
    connection.execute_batch(migration.sql)?;
    connection.execute(
        "INSERT INTO migration (number, name, checksum, applied_ms) VALUES (?1, ?2, ?3, ?4)",
        params![migration.number, migration.name, migration.checksum(), now_ms],
    )?;
    connection.execute(
        "INSERT INTO meta (one, major, minor, created_ms, created_by) VALUES (1, ?1, ?2, ?3, ?4)
         ON CONFLICT (one) DO UPDATE SET major = ?1, minor = max(minor, ?2)",
        params![
            FORMAT.major,
            FORMAT.minor,
            now_ms,
            concat!("candor ", env!("CARGO_PKG_VERSION"))
        ],
    )?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", FORMAT.major)
}
