//! Questions to a ledger: read-only, also while others write.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use uuid::Uuid;

use crate::entry::StoredEntry;
use crate::fault::{OpenFault, ReadFault};
use crate::format::{self, FORMAT, Kind};
use crate::ledger::OpenNote;
use crate::place::{self, Header};
use crate::presence;
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

/// Which operations are asked for. The default is the newest 1000.
#[derive(Debug, Clone)]
pub struct Filter {
    /// Only of this server.
    pub server: Option<String>,
    /// Only of this tool.
    pub tool: Option<String>,
    /// Only with this outcome in the latest verdict or amendment.
    pub outcome: Option<String>,
    /// With `outcome`: also those left open by an instance that has ended, which have no outcome yet.
    pub or_abandoned: bool,
    /// Only those whose last record is marked unsettled, and those left open by an instance that has ended.
    pub unsettled_only: bool,
    /// Only started at or after this, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Only started before this, in milliseconds since 1970.
    pub until_ms: Option<i64>,
    /// At most so many.
    pub limit: u32,
    /// By start: newest first, or oldest first.
    pub newest_first: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            server: None,
            tool: None,
            outcome: None,
            or_abandoned: false,
            unsettled_only: false,
            since_ms: None,
            until_ms: None,
            limit: 1000,
            newest_first: true,
        }
    }
}

/// Whether an operation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its last record is an intent, and the instance that wrote it lives.
    Running,
    /// Its last record is an intent, and the instance that wrote it has ended: unknown, also before the next
    /// start writes that down.
    Abandoned,
    /// Its last record is a verdict or an amendment.
    Ended,
}

/// One operation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationRow {
    /// The operation.
    pub operation: Uuid,
    /// Its server, by its first record.
    pub server: String,
    /// Its tool, by its first record.
    pub tool: String,
    /// When its first record was made, in milliseconds since 1970.
    pub started_ms: i64,
    /// When its last verdict was made (where there is none, its last amendment); `None` while it is open.
    pub ended_ms: Option<i64>,
    /// Whether it goes on.
    pub standing: Standing,
    /// Whether its last record is marked unsettled.
    pub unsettled: bool,
    /// Its first intent; `None` if it was pruned or never written.
    pub intent: Option<StoredEntry>,
    /// Its latest verdict or amendment.
    pub latest: Option<StoredEntry>,
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

    /// The operations that the filter lets through.
    ///
    /// # Errors
    /// A fault of the file, or a record in the way that can't be read.
    pub fn operations(&self, filter: &Filter) -> Result<Vec<OperationRow>, ReadFault> {
        let Some(connection) = &self.connection else {
            return Ok(Vec::new());
        };
        // One snapshot for all the statements below.
        let snapshot = connection
            .unchecked_transaction()
            .map_err(|error| self.fault(&error))?;
        let folder = place::instances(&self.place);
        let sql = candidates_sql(filter.newest_first);
        let mut statement = snapshot
            .prepare_cached(&sql)
            .map_err(|error| self.fault(&error))?;
        let candidates = statement
            .query_map(
                params![
                    filter.since_ms.unwrap_or(i64::MIN),
                    filter.until_ms.unwrap_or(i64::MAX),
                    filter.server,
                    filter.tool,
                    filter.outcome,
                    filter.or_abandoned,
                    filter.unsettled_only,
                ],
                Candidate::read,
            )
            .map_err(|error| self.fault(&error))?;
        let mut operations = Vec::new();
        for candidate in candidates {
            if operations.len() >= filter.limit as usize {
                break;
            }
            let candidate = candidate.map_err(|error| self.fault(&error))?;
            let standing = candidate.standing(&folder);
            if candidate.is_wanted(filter, standing) {
                operations.push(self.operation_row(&snapshot, candidate, standing)?);
            }
        }
        Ok(operations)
    }

    fn operation_row(
        &self,
        connection: &Connection,
        candidate: Candidate,
        standing: Standing,
    ) -> Result<OperationRow, ReadFault> {
        let record = |position: Option<i64>| match position {
            Some(position) => self.record(connection, position),
            None => Ok(None),
        };
        Ok(OperationRow {
            operation: candidate.operation,
            intent: record(candidate.intent)?,
            latest: record(candidate.latest)?,
            server: candidate.server,
            tool: candidate.tool,
            started_ms: candidate.started_ms,
            ended_ms: candidate.ended_ms.filter(|_| standing == Standing::Ended),
            standing,
            unsettled: candidate.unsettled,
        })
    }

    fn record(&self, connection: &Connection, position: i64) -> Result<Option<StoredEntry>, ReadFault> {
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

/// One row per operation that may be wanted: `r` is its first record, `l` its last, `v` its latest verdict or
/// amendment. The index on `at_ms` gives the order, so that a small limit reads little.
fn candidates_sql(newest_first: bool) -> String {
    let order = if newest_first { "DESC" } else { "ASC" };
    format!(
        "SELECT r.operation, r.server, r.tool, r.at_ms, l.phase, l.instance, l.unsettled, v.position, v.outcome,
                coalesce((SELECT w.at_ms FROM record w WHERE w.operation = r.operation AND w.phase = 1
                          ORDER BY w.position DESC LIMIT 1), v.at_ms),
                (SELECT min(i.position) FROM record i WHERE i.operation = r.operation AND i.phase = 0)
         FROM record r
         JOIN record l ON l.position = (SELECT max(o.position) FROM record o WHERE o.operation = r.operation)
         LEFT JOIN record v ON v.position =
             (SELECT max(o.position) FROM record o WHERE o.operation = r.operation AND o.phase <> 0)
         WHERE r.at_ms >= ?1 AND r.at_ms < ?2
           AND NOT EXISTS (SELECT 1 FROM record e WHERE e.operation = r.operation AND e.position < r.position)
           AND (?3 IS NULL OR r.server = ?3)
           AND (?4 IS NULL OR r.tool = ?4)
           AND (?5 IS NULL OR v.outcome = ?5 OR (?6 AND l.phase = 0))
           AND (NOT ?7 OR l.unsettled = 1 OR l.phase = 0)
         ORDER BY r.at_ms {order}, r.position {order}"
    )
}

#[derive(Debug)]
struct Candidate {
    operation: Uuid,
    server: String,
    tool: String,
    started_ms: i64,
    last_is_intent: bool,
    last_instance: Uuid,
    unsettled: bool,
    latest: Option<i64>,
    outcome: Option<String>,
    ended_ms: Option<i64>,
    intent: Option<i64>,
}

impl Candidate {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            operation: row::id(row, 0)?,
            server: row.get(1)?,
            tool: row.get(2)?,
            started_ms: row.get(3)?,
            last_is_intent: row.get::<_, i64>(4)? == 0,
            last_instance: row::id(row, 5)?,
            unsettled: row.get(6)?,
            latest: row.get(7)?,
            outcome: row.get(8)?,
            ended_ms: row.get(9)?,
            intent: row.get(10)?,
        })
    }

    fn standing(&self, folder: &Path) -> Standing {
        if !self.last_is_intent {
            Standing::Ended
        } else if presence::lives(folder, self.last_instance) {
            Standing::Running
        } else {
            Standing::Abandoned
        }
    }

    /// The part of the filter that needs to know who lives, which SQLite does not.
    fn is_wanted(&self, filter: &Filter, standing: Standing) -> bool {
        let abandoned = standing == Standing::Abandoned;
        let settled_right = !filter.unsettled_only || self.unsettled || abandoned;
        let outcome_right = match &filter.outcome {
            None => true,
            Some(outcome) => self.outcome.as_ref() == Some(outcome) || (filter.or_abandoned && abandoned),
        };
        settled_right && outcome_right
    }
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
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(place, flags).map_err(fault)?;
    connection.busy_timeout(PATIENCE).map_err(fault)?;
    connection
        .pragma_update(None, "trusted_schema", false)
        .map_err(fault)?;
    match format::kind(&connection).map_err(fault)? {
        // Made a moment ago by a program that has not come to its tables.
        Kind::Fresh => Ok(Attempt::Opened(None)),
        Kind::Foreign => Err(foreign("another program's database")),
        Kind::Ledger { major } if place::is_newer(major) => Ok(Attempt::Newer { major }),
        Kind::Ledger { .. } => {
            // The first look at the tables: damage there is better told here than at the first question.
            connection
                .query_row("SELECT major FROM meta", [], |_| Ok(()))
                .map_err(fault)?;
            Ok(Attempt::Opened(Some(connection)))
        }
    }
}
