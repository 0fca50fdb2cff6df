//! The file, opened for writing: one connection, and the head of this instance's chain.
//!
//! The head moves only after a commit, so an error or a panic half-way leaves it where the file has it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, params};
use uuid::Uuid;

use crate::digest::{GENESIS, Link, digest};
use crate::entry::{Digest, Entry, Phase, Receipt};
use crate::fault::{Fault, OpenFault};
use crate::format::{self, FORMAT, Kind};
use crate::place;
use crate::presence::Presence;

/// How long SQLite itself waits for the write lock before the writer looks at its callers' deadlines again.
const ONE_TRY: Duration = Duration::from_millis(20);

/// The write-ahead log is cut back to this after a checkpoint.
const LOG_LIMIT: i64 = 64 << 20;

/// The ledger's file with the right to write it.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    head: Head,
    presence: Presence,
    place: PathBuf,
}

/// The end of one chain.
#[derive(Debug, Clone, Copy)]
struct Head {
    instance: Uuid,
    sequence: u64,
    digest: Digest,
}

/// What to ask of SQLite beyond the format's own settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) patience: Duration,
    pub(crate) max_pages: Option<u32>,
    pub(crate) query_only: bool,
}

/// A store, or the word that the file belongs to a newer program.
pub(crate) enum Attempt {
    Opened(Box<Store>),
    Newer { major: u32 },
}

impl Store {
    /// Opens `place`, made before, as a new instance.
    pub(crate) fn open(place: &Path, settings: &Settings, now_ms: i64) -> Result<Attempt, OpenFault> {
        let started = Instant::now();
        let fault = |error: rusqlite::Error| OpenFault::from_sqlite(place, started.elapsed(), &error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(place, flags).map_err(fault)?;
        connection.busy_timeout(settings.patience).map_err(fault)?;
        // Until it is known whose file this is, closing it must not move the log into it.
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .map_err(fault)?;
        match format::kind(&connection).map_err(fault)? {
            Kind::Foreign => {
                return Err(OpenFault::NotALedger {
                    place: place.to_owned(),
                    found: "another program's database",
                });
            }
            Kind::Ledger { major } if place::is_newer(major) => return Ok(Attempt::Newer { major }),
            Kind::Ledger { .. } | Kind::Fresh => {}
        }
        if connection.is_readonly(rusqlite::MAIN_DB).map_err(fault)? {
            return Err(OpenFault::ReadOnly {
                place: place.to_owned(),
            });
        }
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
            .map_err(fault)?;
        format::migrate(&mut connection, place, now_ms, settings.patience)?;
        write_ahead(&connection, place, settings.patience)?;
        configure(&connection, settings).map_err(fault)?;

        let instance = Uuid::now_v7();
        let folder = place::instances(place);
        place::make_folder(&folder)?;
        let presence = Presence::begin(&folder, instance).map_err(|source| OpenFault::Place {
            place: folder.clone(),
            source,
        })?;
        let head = Head {
            instance,
            sequence: 0,
            digest: GENESIS,
        };
        Ok(Attempt::Opened(Box::new(Self {
            connection,
            head,
            presence,
            place: place.to_owned(),
        })))
    }

    pub(crate) fn instance(&self) -> Uuid {
        self.head.instance
    }

    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Ends the instance cleanly.
    pub(crate) fn close(self) {
        let Self {
            connection, presence, ..
        } = self;
        if let Err((_, error)) = connection.close() {
            tracing::warn!(%error, "the ledger's file could not be closed cleanly; what was written stays");
        }
        if let Err(error) = presence.end() {
            tracing::warn!(%error, "the instance's lock file could not be taken away; the next start does it");
        }
    }

    /// One transaction. Waits for the write lock until `until`, or one short try without it; `work` runs only
    /// with the lock held, and whatever it appends is on disk when this returns.
    pub(crate) fn transact<T>(
        &mut self,
        until: Option<Instant>,
        work: impl FnOnce(&mut Pen<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let started = Instant::now();
        let transaction = begin(&self.connection, &self.place, until)?;
        let mut pen = Pen::take(&transaction, &self.place, self.head)?;
        let done = work(&mut pen)?;
        let head = pen.put_down()?;
        transaction
            .commit()
            .map_err(|error| undecided_if_io(&self.place, started.elapsed(), &error))?;
        self.head = head;
        Ok(done)
    }
}

fn begin<'a>(
    connection: &'a Connection,
    place: &Path,
    until: Option<Instant>,
) -> Result<Transaction<'a>, Fault> {
    let started = Instant::now();
    loop {
        match Transaction::new_unchecked(connection, TransactionBehavior::Immediate) {
            Ok(transaction) => return Ok(transaction),
            Err(error) => {
                let fault = Fault::from_sqlite(place, started.elapsed(), &error);
                let again = matches!(fault, Fault::Locked { .. })
                    && until.is_some_and(|until| Instant::now() < until);
                if !again {
                    return Err(fault);
                }
            }
        }
    }
}

/// A commit whose sync failed may have left whole frames in the log, which a later opening would find.
fn undecided_if_io(place: &Path, waited: Duration, error: &rusqlite::Error) -> Fault {
    match Fault::from_sqlite(place, waited, error) {
        Fault::Io { place, .. } => Fault::Undecided { place, waited },
        fault => fault,
    }
}

/// WAL mode is a property of the file, so this does something only once. Two processes that make a file at the
/// same time meet here, and SQLite does not wait for this change by itself.
fn write_ahead(connection: &Connection, place: &Path, patience: Duration) -> Result<(), OpenFault> {
    let started = Instant::now();
    loop {
        let mode: rusqlite::Result<String> =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let detail = format!("this file system allows journal mode {mode} only, WAL is needed");
                return Err(OpenFault::Io {
                    place: place.to_owned(),
                    detail,
                });
            }
            Err(error) => match OpenFault::from_sqlite(place, started.elapsed(), &error) {
                OpenFault::Locked { .. } if started.elapsed() < patience => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                fault => return Err(fault),
            },
        }
    }
}

fn configure(connection: &Connection, settings: &Settings) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Only macOS tells a sync from a real one; elsewhere these two change nothing.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_LIMIT, |_| Ok(()))?;
    connection.pragma_update(None, "trusted_schema", false)?;
    if let Some(pages) = settings.max_pages {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    if settings.query_only {
        connection.pragma_update(None, "query_only", true)?;
    }
    connection.set_prepared_statement_cache_capacity(32);
    connection.busy_timeout(ONE_TRY)
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
    fn take(transaction: &'t Transaction<'t>, place: &'t Path, head: Head) -> Result<Self, Fault> {
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
    fn put_down(self) -> Result<Head, Fault> {
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
