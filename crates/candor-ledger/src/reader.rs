//! Questions to a ledger: read-only, also while others write.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};
use uuid::Uuid;

use crate::entry::StoredEntry;
use crate::fault::{OpenFault, ReadFault};
use crate::format::{self, FORMAT, Format, Kind};
use crate::ledger::OpenNote;
use crate::place::{self, Header};
use crate::presence;
use crate::prune::{self, PrunePlan, Retention};
use crate::row;

/// How long a question waits for a program that holds the file exclusively.
const PATIENCE: Duration = Duration::from_secs(2);

/// The fewest hex digits of an operation's id that are looked up.
const LEAST_DIGITS: usize = 4;

/// How many operations an ambiguous suffix names.
const CANDIDATES: usize = 16;

/// A ledger, opened for reading. Where none is, it reads as empty and a note says so.
#[derive(Debug)]
pub struct Reader {
    place: PathBuf,
    connection: Option<Connection>,
    notes: Vec<OpenNote>,
}

/// What the end of an id led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// One operation: all its records, in the order they were written.
    One(Vec<StoredEntry>),
    /// No operation ends so.
    None,
    /// Several do: some of them.
    Ambiguous(Vec<Uuid>),
}

impl Reader {
    /// Opens the ledger at `place` for reading. Changes nothing in it, and makes no ledger where none is.
    ///
    /// # Errors
    /// [`OpenFault`], as for a ledger that is written. A newer program's file is not read: the one kept beside it
    /// is, and a note says so.
    pub fn open(place: &Path) -> Result<Self, OpenFault> {
        let place = &place::absolute(place)?;
        let major = match open_unless_newer(place)? {
            Attempt::Opened(connection) => return Ok(Self::over(place, connection, Vec::new())),
            Attempt::Newer { major } => major,
        };
        let beside = place::beside_newer(place);
        let note = OpenNote::NewerFormat {
            left: place.to_owned(),
            major,
            opened: beside.clone(),
        };
        match open_unless_newer(&beside)? {
            Attempt::Opened(connection) => Ok(Self::over(&beside, connection, vec![note])),
            Attempt::Newer { .. } => Err(OpenFault::NewerFormat {
                place: place.to_owned(),
                ours: FORMAT,
            }),
        }
    }

    fn over(place: &Path, connection: Option<Connection>, mut notes: Vec<OpenNote>) -> Self {
        if connection.is_none() {
            notes.push(OpenNote::NoLedger {
                place: place.to_owned(),
            });
        }
        Self {
            place: place.to_owned(),
            connection,
            notes,
        }
    }

    /// The file that is read: not the one asked for, if that was a newer program's.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Does the instance that wrote a record live?
    #[must_use]
    pub fn is_alive(&self, instance: Uuid) -> bool {
        presence::lives(&place::instances(&self.place), instance)
    }

    /// What a person should know about what is read: no ledger yet, or a newer program's left aside.
    #[must_use]
    pub fn notes(&self) -> &[OpenNote] {
        &self.notes
    }

    pub(crate) fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref()
    }

    pub(crate) fn fault(&self, error: &rusqlite::Error) -> ReadFault {
        ReadFault::from_sqlite(&self.place, error)
    }

    /// One record by its position.
    pub(crate) fn record(
        &self,
        connection: &Connection,
        position: i64,
    ) -> Result<Option<StoredEntry>, ReadFault> {
        let sql = format!("SELECT {} FROM record r WHERE r.position = ?1", row::COLUMNS);
        let row = connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_row([position], row::stored).optional())
            .map_err(|error| self.fault(&error))?;
        row.transpose().map_err(|malformed| self.malformed(&malformed))
    }

    fn malformed(&self, row: &row::Malformed) -> ReadFault {
        ReadFault::Malformed {
            place: self.place.clone(),
            position: row.position,
            detail: format!("column {} is not of this format", row.column),
        }
    }

    /// The format of what is read; `None` where no ledger is.
    ///
    /// # Errors
    /// A fault of the file.
    pub fn format(&self) -> Result<Option<Format>, ReadFault> {
        let Some(connection) = &self.connection else {
            return Ok(None);
        };
        connection
            .query_row("SELECT major, minor FROM meta", [], |row| {
                Ok(Some(Format {
                    major: row.get(0)?,
                    minor: row.get(1)?,
                }))
            })
            .map_err(|error| self.fault(&error))
    }

    /// Computes what pruning would take now. Changes nothing.
    ///
    /// # Errors
    /// A fault of the file.
    pub fn prune_plan(&self, retention: &Retention, now_ms: i64) -> Result<PrunePlan, ReadFault> {
        match &self.connection {
            None => Ok(PrunePlan::default()),
            Some(connection) => prune::of_connection(connection, retention, now_ms, u64::MAX)
                .map_err(|error| self.fault(&error)),
        }
    }

    /// Finds an operation by the last digits of its id: hex, dashes and case ignored, at least four.
    ///
    /// # Errors
    /// [`ReadFault::NotASuffix`], a fault of the file, or a record that can't be read.
    pub fn operation(&self, id_suffix: &str) -> Result<Lookup, ReadFault> {
        let suffix: String = id_suffix
            .chars()
            .filter(|digit| *digit != '-')
            .map(|digit| digit.to_ascii_lowercase())
            .collect();
        let is_suffix = (LEAST_DIGITS..=32).contains(&suffix.len())
            && suffix.chars().all(|digit| digit.is_ascii_hexdigit());
        if !is_suffix {
            return Err(ReadFault::NotASuffix {
                given: id_suffix.to_owned(),
                least: LEAST_DIGITS,
            });
        }
        let Some(connection) = &self.connection else {
            return Ok(Lookup::None);
        };
        let snapshot = connection
            .unchecked_transaction()
            .map_err(|error| self.fault(&error))?;
        let found = ending_in(&snapshot, &suffix).map_err(|error| self.fault(&error))?;
        match found.as_slice() {
            [] => Ok(Lookup::None),
            [operation] => Ok(Lookup::One(self.records_of(&snapshot, *operation)?)),
            _ => Ok(Lookup::Ambiguous(found)),
        }
    }

    fn records_of(&self, connection: &Connection, operation: Uuid) -> Result<Vec<StoredEntry>, ReadFault> {
        let sql = format!(
            "SELECT {} FROM record r WHERE r.operation = ?1 ORDER BY r.position",
            row::COLUMNS
        );
        let rows = || {
            connection
                .prepare_cached(&sql)?
                .query_map([operation.as_bytes()], row::stored)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        let rows = rows().map_err(|error| self.fault(&error))?;
        rows.into_iter()
            .map(|row| row.map_err(|malformed| self.malformed(&malformed)))
            .collect()
    }
}

/// The operations whose id ends so, some more than one at most. Reads one index, no record.
fn ending_in(connection: &Connection, suffix: &str) -> rusqlite::Result<Vec<Uuid>> {
    let mut statement = connection.prepare_cached("SELECT DISTINCT operation FROM record")?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    let mut digits = [0; 32];
    while let Some(row) = rows.next()? {
        let operation = row::id(row, 0)?;
        if operation.simple().encode_lower(&mut digits).ends_with(suffix) {
            found.push(operation);
            if found.len() == CANDIDATES {
                break;
            }
        }
    }
    Ok(found)
}

enum Attempt {
    Opened(Option<Connection>),
    Newer { major: u32 },
}

fn open_unless_newer(place: &Path) -> Result<Attempt, OpenFault> {
    let foreign = |found| OpenFault::NotALedger {
        place: place.to_owned(),
        found,
    };
    match place::header(place)? {
        Header::Absent => return Ok(Attempt::Opened(None)),
        Header::NotSqlite => return Err(foreign("not an SQLite database")),
        Header::Ledger { major } if place::is_newer(major) => return Ok(Attempt::Newer { major }),
        Header::Ledger { .. } | Header::OtherSqlite => {}
    }
    let fault = |error: rusqlite::Error| OpenFault::from_sqlite(place, PATIENCE, &error);
    let (connection, kind) = match look(place) {
        Ok(opened) => opened,
        // Which of the two depends on whether the medium or the folder is read-only.
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
            ) =>
        {
            look_without_log(place, error)?
        }
        Err(error) => return Err(fault(error)),
    };
    match kind {
        // Made a moment ago by a program that has not come to its tables.
        Kind::Fresh => Ok(Attempt::Opened(None)),
        Kind::Foreign => Err(foreign("another program's database")),
        Kind::Ledger { major } if place::is_newer(major) => Ok(Attempt::Newer { major }),
        Kind::Ledger { .. } => Ok(Attempt::Opened(Some(connection))),
    }
}

fn look(place: &Path) -> rusqlite::Result<(Connection, Kind)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    look_through(Connection::open_with_flags(place, flags)?)
}

fn look_through(connection: Connection) -> rusqlite::Result<(Connection, Kind)> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    let kind = format::kind(&connection)?;
    Ok((connection, kind))
}

/// SQLite reads a file in WAL mode only where it can make the files beside it. In a folder that can't be written, such
/// as a copy on a medium, there is nothing to miss if no log is there, and nobody can write meanwhile.
fn look_without_log(place: &Path, error: rusqlite::Error) -> Result<(Connection, Kind), OpenFault> {
    if place::log_of(place).metadata().is_ok_and(|log| log.len() > 0) {
        return Err(OpenFault::Io {
            place: place.to_owned(),
            detail:
                "its folder can't be written, and what was written last still stands in the -wal beside it. \
                     Copy both to a folder of your own and read them there"
                    .into(),
        });
    }
    let fault = |error: rusqlite::Error| OpenFault::from_sqlite(place, PATIENCE, &error);
    let Some(name) = immutable(place) else {
        return Err(fault(error));
    };
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(name, flags)
        .and_then(look_through)
        .map_err(fault)
}

/// The file's name as a URI that says nobody changes it: <https://www.sqlite.org/uri.html>.
fn immutable(place: &Path) -> Option<String> {
    let mut name = String::from("file:");
    for byte in place.to_str()?.bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                name.push(char::from(byte));
            }
            other => name.push_str(&format!("%{other:02x}")),
        }
    }
    name.push_str("?immutable=1");
    Some(name)
}
