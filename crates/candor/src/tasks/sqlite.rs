//! Tasks in a SQLite file: they survive a restart of the server, and what became of those that ran is not made up.
//!
//! SQLite blocks, so its work is done on tokio's blocking threads. Several processes may share one file; each task says
//! which of them works on it.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use uuid::Uuid;

use super::presence::{Presence, has_ended, owner_only};
use super::row::{self, COLUMNS};
use super::state::is_gone;
use super::store::{PAGE, Page, Refused, StoreFault, TaskStore};
use super::task::{Keeper, NewTask, State, Step, Task, TaskId};
use super::{Limits, lost};

/// Marks a file as a store of tasks ("CdTs").
const APPLICATION: i32 = 0x4364_5473;
/// The form of the tables. A file of a later form is left alone.
const FORM: i32 = 1;
/// How long one act waits for another process's.
const PATIENCE: Duration = Duration::from_secs(5);

const TABLES: &str = "
    CREATE TABLE task (
        id TEXT NOT NULL PRIMARY KEY,
        place INTEGER NOT NULL UNIQUE,
        owner TEXT NOT NULL,
        tool TEXT NOT NULL,
        operation TEXT NOT NULL,
        arguments TEXT,
        answers TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('working', 'input_required', 'completed', 'failed', 'cancelled')),
        held TEXT,
        message TEXT,
        created INTEGER NOT NULL,
        updated INTEGER NOT NULL,
        ttl INTEGER,
        expires INTEGER,
        process TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX task_by_owner ON task (owner, place);
    CREATE INDEX task_by_expiry ON task (expires) WHERE expires IS NOT NULL;
    CREATE INDEX task_by_process ON task (process) WHERE process IS NOT NULL;
    CREATE TABLE spent (seal TEXT NOT NULL PRIMARY KEY, expires INTEGER NOT NULL) STRICT, WITHOUT ROWID;
";

/// Tasks in a SQLite file. Cloning is cheap and gives the same store.
#[derive(Debug, Clone)]
pub struct SqliteStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: std::path::PathBuf,
    limits: Limits,
    presence: Presence,
    connection: Mutex<Connection>,
}

impl SqliteStore {
    /// Opens the file, or makes it, readable by its owner only. Blocks; call it at start-up.
    ///
    /// What another process with this file left behind when it ended is settled by
    /// [`orphaned`](TaskStore::orphaned), and whenever such a task is asked for.
    ///
    /// # Errors
    ///
    /// [`StoreFault::Broken`] says why: no such folder, no right, no SQLite file, one of another program or of a later
    /// version of this library.
    pub fn open(path: impl AsRef<Path>, limits: Limits) -> Result<Self, StoreFault> {
        let path = path.as_ref();
        owner_only(std::fs::OpenOptions::new().read(true).append(true).create(true))
            .open(path)
            .map_err(broken)?;
        let path = path.canonicalize().map_err(broken)?;
        let connection = Connection::open(&path).map_err(broken)?;
        configure(&connection).map_err(broken)?;
        prepare(&connection)?;
        let presence = Presence::begin(&path, TaskId::random()?.to_string()).map_err(broken)?;
        Ok(Self(Arc::new(Inner {
            path,
            limits,
            presence,
            connection: Mutex::new(connection),
        })))
    }

    /// Does work on a blocking thread, in one transaction.
    async fn act<T, E>(
        &self,
        act: impl FnOnce(&Inner, &Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreFault> + Send + 'static,
    {
        let inner = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || {
            // A panic inside rolls its transaction back: the connection can go on being used.
            let mut connection = inner.connection.lock().unwrap_or_else(PoisonError::into_inner);
            let transaction = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(broken)?;
            let value = act(&inner, &transaction)?;
            transaction.commit().map_err(broken)?;
            Ok(value)
        });
        match done.await {
            Ok(done) => done,
            Err(error) => Err(broken(error).into()),
        }
    }
}

/// For the server's log only.
pub(super) fn broken(error: impl std::fmt::Display) -> StoreFault {
    StoreFault::Broken(error.to_string())
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    let _mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    // A task that a caller was told of must be there after a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(())
}

fn prepare(connection: &Connection) -> Result<(), StoreFault> {
    let begin = Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(broken)?;
    let number = |name| {
        begin
            .pragma_query_value(None, name, |row| row.get::<_, i32>(0))
            .map_err(broken)
    };
    match (number("application_id")?, number("user_version")?) {
        (0, 0) => {
            begin.execute_batch(TABLES).map_err(broken)?;
            begin
                .pragma_update(None, "application_id", APPLICATION)
                .map_err(broken)?;
            begin.pragma_update(None, "user_version", FORM).map_err(broken)?;
        }
        (APPLICATION, FORM) => {}
        (APPLICATION, later) => {
            return Err(broken(format!(
                "the file has form {later}; this version of candor knows form {FORM}"
            )));
        }
        _ => return Err(broken("the file belongs to another program")),
    }
    begin.commit().map_err(broken)
}

fn create(inner: &Inner, act: &Transaction<'_>, new: NewTask, now: Timestamp) -> Result<Task, StoreFault> {
    let count = |sql: &str, of: &[&dyn rusqlite::ToSql]| -> Result<usize, StoreFault> {
        let count: i64 = act
            .prepare_cached(sql)
            .and_then(|mut all| all.query_row(of, |row| row.get(0)))
            .map_err(broken)?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    };
    let of_one = count("SELECT count(*) FROM task WHERE owner = ?1", &[&new.owner])?;
    if of_one >= inner.limits.tasks_of_one || count("SELECT count(*) FROM task", &[])? >= inner.limits.tasks {
        return Err(StoreFault::Full { held: of_one });
    }
    let task = Task::begun(new, now);
    row::insert(act, &task, &inner.presence.name).map_err(broken)?;
    Ok(task)
}

/// The task as it is in the file; what a dead process left is settled first.
fn find(
    inner: &Inner,
    act: &Transaction<'_>,
    id: &TaskId,
    owner: &str,
    now: Timestamp,
) -> Result<Task, Refused> {
    let sql = format!("SELECT {COLUMNS} FROM task WHERE id = ?1 AND owner = ?2");
    let found = act
        .prepare_cached(&sql)
        .and_then(|mut one| one.query_row(params![id.as_str(), owner], row::read).optional())
        .map_err(broken)?;
    let (mut task, process) = found.transpose()?.ok_or(Refused::Absent)?;
    if is_gone(task.expiry(), now) {
        return Err(Refused::Absent);
    }
    settle(inner, act, &mut task, process.as_deref(), now)?;
    Ok(task)
}

/// Says who works on a task, and ends it if that process has ended.
fn settle(
    inner: &Inner,
    act: &Transaction<'_>,
    task: &mut Task,
    process: Option<&str>,
    now: Timestamp,
) -> Result<(), StoreFault> {
    task.keeper = match process {
        None => Keeper::Nobody,
        Some(process) if process == inner.presence.name => Keeper::Here,
        Some(process) if has_ended(&inner.path, process) => Keeper::Nobody,
        Some(_) => Keeper::Elsewhere,
    };
    if task.keeper != Keeper::Nobody || task.status().is_final() {
        return Ok(());
    }
    if matches!(task.state, State::InputRequired(_)) && task.may_be_resumed() {
        return row::rest(act, &task.id).map_err(broken);
    }
    let (end, message) = lost::orphaned(&task.tool, task.operation);
    let step = Step::to(State::Ended(end)).saying(message);
    // An open task may always end.
    task.take(step, now).map_err(broken)?;
    row::update(act, task).map_err(broken)
}

fn list(
    inner: &Inner,
    act: &Transaction<'_>,
    owner: &str,
    after: Option<&TaskId>,
    now: Timestamp,
) -> Result<Page, StoreFault> {
    let sql = format!(
        "SELECT {COLUMNS} FROM task WHERE owner = ?1 AND (expires IS NULL OR expires > ?3)
         AND (?2 IS NULL OR place > (SELECT place FROM task WHERE id = ?2 AND owner = ?1))
         ORDER BY place LIMIT ?4"
    );
    let most = i64::try_from(PAGE).unwrap_or(i64::MAX).saturating_add(1);
    let given = params![owner, after.map(TaskId::as_str), now.as_millisecond(), most];
    let rows: Vec<_> = act
        .prepare_cached(&sql)
        .and_then(|mut all| all.query_map(given, row::read)?.collect::<rusqlite::Result<_>>())
        .map_err(broken)?;
    let more = rows.len() > PAGE;
    let mut tasks = Vec::with_capacity(rows.len());
    for row in rows.into_iter().take(PAGE) {
        let (mut task, process) = row?;
        settle(inner, act, &mut task, process.as_deref(), now)?;
        tasks.push(task);
    }
    let next = tasks.last().filter(|_| more).map(|task| task.id.clone());
    Ok(Page { tasks, next })
}

fn orphaned(inner: &Inner, act: &Transaction<'_>, now: Timestamp) -> Result<u64, StoreFault> {
    let sql = format!("SELECT {COLUMNS} FROM task WHERE process IS NOT NULL AND process <> ?1");
    let rows: Vec<_> = act
        .prepare_cached(&sql)
        .and_then(|mut all| {
            all.query_map([&inner.presence.name], row::read)?
                .collect::<rusqlite::Result<_>>()
        })
        .map_err(broken)?;
    let mut ended = 0;
    for row in rows {
        let (mut task, process) = row?;
        let open = !task.status().is_final();
        settle(inner, act, &mut task, process.as_deref(), now)?;
        ended += u64::from(open && task.status().is_final());
    }
    Ok(ended)
}

fn spend(inner: &Inner, act: &Transaction<'_>, seal: Uuid, expires: Timestamp) -> Result<bool, StoreFault> {
    let held: i64 = act
        .query_row("SELECT count(*) FROM spent", [], |row| row.get(0))
        .map_err(broken)?;
    if usize::try_from(held).unwrap_or(usize::MAX) >= inner.limits.seals {
        return Err(StoreFault::Full {
            held: inner.limits.seals,
        });
    }
    let given = params![seal.to_string(), expires.as_millisecond()];
    let added = act
        .execute("INSERT INTO spent VALUES (?1, ?2) ON CONFLICT DO NOTHING", given)
        .map_err(broken)?;
    Ok(added == 1)
}

fn sweep(act: &Transaction<'_>, now: Timestamp) -> Result<u64, StoreFault> {
    let now = [now.as_millisecond()];
    let tasks = act
        .execute("DELETE FROM task WHERE expires <= ?1", now)
        .map_err(broken)?;
    let seals = act
        .execute("DELETE FROM spent WHERE expires <= ?1", now)
        .map_err(broken)?;
    Ok(u64::try_from(tasks + seals).unwrap_or(u64::MAX))
}

impl TaskStore for SqliteStore {
    fn create(&self, new: NewTask, now: Timestamp) -> BoxFuture<'_, Result<Task, StoreFault>> {
        self.act(move |inner, act| create(inner, act, new, now)).boxed()
    }

    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        owner: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Task, Refused>> {
        let (id, owner) = (id.clone(), owner.to_owned());
        self.act(move |inner, act| find(inner, act, &id, &owner, now))
            .boxed()
    }

    fn change<'a>(
        &'a self,
        id: &'a TaskId,
        owner: &'a str,
        step: Step,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Task, Refused>> {
        let (id, owner) = (id.clone(), owner.to_owned());
        self.act(move |inner, act| {
            let mut task = find(inner, act, &id, &owner, now)?;
            task.take(step, now)?;
            row::update(act, &task).map_err(broken)?;
            Ok(task)
        })
        .boxed()
    }

    fn take_up<'a>(
        &'a self,
        id: &'a TaskId,
        owner: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, StoreFault>> {
        let (id, owner) = (id.clone(), owner.to_owned());
        self.act(move |inner, act| match find(inner, act, &id, &owner, now) {
            Ok(task) if task.keeper == Keeper::Nobody && !task.status().is_final() => {
                row::hold(act, &id, &inner.presence.name).map_err(broken)?;
                Ok(true)
            }
            Ok(_) | Err(Refused::Absent) => Ok(false),
            Err(Refused::Store(fault)) => Err(fault),
            Err(other) => Err(broken(other)),
        })
        .boxed()
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Page, StoreFault>> {
        let (owner, after) = (owner.to_owned(), after.cloned());
        self.act(move |inner, act| list(inner, act, &owner, after.as_ref(), now))
            .boxed()
    }

    fn spend(
        &self,
        seal: Uuid,
        expires: Timestamp,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<bool, StoreFault>> {
        self.act(move |inner, act| {
            act.execute(
                "DELETE FROM spent WHERE expires <= ?1 AND seal <> ?2",
                params![now.as_millisecond(), seal.to_string()],
            )
            .map_err(broken)?;
            spend(inner, act, seal, expires)
        })
        .boxed()
    }

    fn orphaned(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreFault>> {
        self.act(move |inner, act| orphaned(inner, act, now)).boxed()
    }

    fn sweep(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreFault>> {
        self.act(move |_, act| sweep(act, now)).boxed()
    }
}
