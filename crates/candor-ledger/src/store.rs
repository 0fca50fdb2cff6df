//! The file, opened for writing: one connection, and the head of this instance's chain.
//!
//! The head moves only after a commit, so an error or a panic half-way leaves it where the file has it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use uuid::Uuid;

use crate::digest::GENESIS;
use crate::fault::{Fault, OpenFault};
use crate::format::{self, Kind};
use crate::pen::{Head, Pen};
use crate::place::{self, Identity};
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
    identity: Identity,
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
        let read_only = connection.is_readonly(rusqlite::MAIN_DB).map_err(fault)?;
        match format::kind(&connection) {
            Ok(Kind::Foreign) => {
                return Err(OpenFault::NotALedger {
                    place: place.to_owned(),
                    found: "another program's database",
                });
            }
            Ok(Kind::Ledger { major }) if place::is_newer(major) => return Ok(Attempt::Newer { major }),
            // Also where SQLite could not even look: in a folder that can't be written it can't make its log.
            _ if read_only => {
                return Err(OpenFault::ReadOnly {
                    place: place.to_owned(),
                });
            }
            Ok(Kind::Ledger { .. } | Kind::Fresh) => {}
            Err(error) => return Err(fault(error)),
        }
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
            .map_err(fault)?;
        format::migrate(&mut connection, place, now_ms, settings.patience)?;
        write_ahead(&connection, place, settings.patience)?;
        configure(&connection, settings).map_err(fault)?;

        let unusable = |source| OpenFault::Place {
            place: place.to_owned(),
            source,
        };
        let identity = Identity::at(place).map_err(unusable)?;
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
            identity,
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
        // SQLite goes on writing to a file that was moved away or removed, where nobody would look for it.
        if Identity::at(&self.place).ok() != Some(self.identity) {
            return Err(Fault::Gone {
                place: self.place.clone(),
            });
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_commit_is_synced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        place::prepare(&path).unwrap();
        let settings = Settings {
            patience: Duration::from_secs(30),
            max_pages: None,
            query_only: false,
        };
        let Attempt::Opened(store) = Store::open(&path, &settings, 0).unwrap() else {
            panic!("it is new")
        };
        let pragma = |name| {
            store
                .connection
                .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
                .unwrap()
        };
        assert_eq!(pragma("synchronous"), 2, "FULL");
        assert_eq!(pragma("fullfsync"), 1);
    }
}
