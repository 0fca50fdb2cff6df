//! Lists of operations: one row for each, by filter, in the order they started.

use std::path::Path;

use rusqlite::{Connection, params};
use uuid::Uuid;

use crate::entry::StoredEntry;
use crate::fault::ReadFault;
use crate::place;
use crate::presence;
use crate::reader::Reader;
use crate::row;

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
    /// Only begun by this instance.
    pub instance: Option<Uuid>,
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
            instance: None,
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

/// One instance that began calls: a session of a program that wrote here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// The instance.
    pub instance: Uuid,
    /// When its first intent was recorded, in milliseconds since 1970.
    pub first_ms: i64,
    /// When its latest intent was recorded, in milliseconds since 1970.
    pub last_ms: i64,
    /// How many operations it opened.
    pub operations: u64,
}

impl Reader {
    /// The operations that the filter lets through.
    ///
    /// # Errors
    /// A fault of the file, or a record in the way that can't be read.
    pub fn operations(&self, filter: &Filter) -> Result<Vec<OperationRow>, ReadFault> {
        let Some(connection) = self.connection() else {
            return Ok(Vec::new());
        };
        // One snapshot for all the statements below.
        let snapshot = connection
            .unchecked_transaction()
            .map_err(|error| self.fault(&error))?;
        let folder = place::instances(self.place());
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
                    filter.instance.map(|instance| instance.as_bytes().to_vec()),
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

    /// Every instance that began a call, in the order of its latest one.
    ///
    /// # Errors
    /// A fault of the file.
    pub fn sessions(&self) -> Result<Vec<Session>, ReadFault> {
        let Some(connection) = self.connection() else {
            return Ok(Vec::new());
        };
        let read = || {
            connection
                .prepare_cached(
                    "SELECT instance, min(at_ms), max(at_ms), count(DISTINCT operation) FROM record
                     WHERE phase = 0 GROUP BY instance ORDER BY max(position)",
                )?
                .query_map([], |row| {
                    Ok(Session {
                        instance: row::id(row, 0)?,
                        first_ms: row.get(1)?,
                        last_ms: row.get(2)?,
                        operations: row.get::<_, i64>(3)?.unsigned_abs(),
                    })
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|error| self.fault(&error))
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
           AND (?8 IS NULL OR r.instance = ?8)
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
