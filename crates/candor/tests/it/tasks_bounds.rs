//! Bounds of the running tasks, and ends that come at a bad moment.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use candor::Principal;
use candor::asking::{Board, Told};
use candor::seal::Spent;
use candor::tasks::{
    Begin, End, InTask, Limits, MemoryStore, NewTask, Page, Refused, SqliteStore, State, Status, Step,
    StoreFault, Task, TaskId, TaskStore, TaskTerms, Tasks, system_clock,
};
use candor_core::names::OperationId;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use rmcp::model::object;
use serde_json::json;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::tasks::{PATIENCE, question, terms};

fn begin(ttl: Option<Duration>) -> Begin {
    Begin {
        tool: "book".to_owned(),
        operation: OperationId::new(Uuid::now_v7()),
        arguments: None,
        ttl,
    }
}

fn done() -> End {
    End::Completed(object(json!({ "content": [] })))
}

async fn until_stopped(inside: InTask) -> End {
    inside.stopped().await;
    End::Cancelled(None)
}

#[tokio::test]
async fn no_more_run_than_may_and_one_principal_cannot_take_all() {
    let terms = TaskTerms {
        running: 3,
        running_of_one: 2,
        ..terms()
    };
    let tasks = Tasks::new(Arc::new(MemoryStore::default()), system_clock(), terms);
    let (alice, bob) = (Principal::new("alice"), Principal::new("bob"));
    let first = tasks
        .start(&alice, begin(None), until_stopped)
        .await
        .expect("runs");
    tasks
        .start(&alice, begin(None), until_stopped)
        .await
        .expect("runs");
    assert_eq!(
        tasks.start(&alice, begin(None), until_stopped).await,
        Err(Refused::Busy { running: 2 })
    );
    tasks
        .start(&bob, begin(None), until_stopped)
        .await
        .expect("there is room for another");
    assert_eq!(
        tasks.start(&bob, begin(None), until_stopped).await,
        Err(Refused::Busy { running: 1 })
    );
    tasks.cancel(&alice, &first.id).await.expect("told");
    tasks.ended(&alice, &first.id, PATIENCE).await.expect("there");
    tasks
        .start(&alice, begin(None), until_stopped)
        .await
        .expect("an ended one makes room");
}

#[tokio::test]
async fn the_server_has_the_last_word_on_how_long_a_task_is_kept() {
    let terms = terms();
    let tasks = Tasks::new(Arc::new(MemoryStore::default()), system_clock(), terms);
    let who = Principal::local();
    for (wished, kept) in [
        (None, terms.ttl),
        (Some(Duration::from_secs(5)), Duration::from_secs(5)),
        (Some(Duration::MAX), terms.longest_ttl),
    ] {
        let task = tasks
            .start(&who, begin(wished), async |_| done())
            .await
            .expect("runs");
        assert_eq!(task.ttl, Some(kept));
    }
}

#[tokio::test]
async fn a_result_above_the_bound_is_not_kept_and_not_called_done() {
    let terms = TaskTerms {
        largest_result: 100,
        ..terms()
    };
    let tasks = Tasks::new(Arc::new(MemoryStore::default()), system_clock(), terms);
    let large = End::Completed(object(json!({ "content": "x".repeat(200) })));
    let who = Principal::local();
    let task = tasks
        .start(&who, begin(None), async |_| large)
        .await
        .expect("runs");
    let task = tasks.ended(&who, &task.id, PATIENCE).await.expect("there");
    let State::Ended(End::Failed(error)) = &task.state else {
        panic!("{task:?}")
    };
    assert_eq!(error["data"]["candor/verdict"]["outcome"], "unknown");
}

/// A store whose steps fail while it is told to.
struct Flaky {
    inner: MemoryStore,
    fails: AtomicBool,
    failed: Notify,
}

impl TaskStore for Flaky {
    fn create(&self, new: NewTask, now: Timestamp) -> BoxFuture<'_, Result<Task, StoreFault>> {
        self.inner.create(new, now)
    }
    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        owner: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Task, Refused>> {
        self.inner.get(id, owner, now)
    }
    fn change<'a>(
        &'a self,
        id: &'a TaskId,
        owner: &'a str,
        step: Step,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Task, Refused>> {
        if self.fails.load(Ordering::SeqCst) {
            self.failed.notify_one();
            return Box::pin(async { Err(Refused::Store(StoreFault::Broken("disk full".to_owned()))) });
        }
        self.inner.change(id, owner, step, now)
    }
    fn take_up<'a>(
        &'a self,
        id: &'a TaskId,
        owner: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, StoreFault>> {
        self.inner.take_up(id, owner, now)
    }
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Page, StoreFault>> {
        self.inner.list(owner, after, now)
    }
    fn spend(
        &self,
        seal: Uuid,
        expires: Timestamp,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<bool, StoreFault>> {
        self.inner.spend(seal, expires, now)
    }
    fn orphaned(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreFault>> {
        self.inner.orphaned(now)
    }
    fn sweep(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreFault>> {
        self.inner.sweep(now)
    }
}

#[tokio::test]
async fn an_end_that_could_not_be_written_is_written_when_somebody_asks() {
    let store = Arc::new(Flaky {
        inner: MemoryStore::default(),
        fails: AtomicBool::new(true),
        failed: Notify::new(),
    });
    let tasks = Tasks::new(Arc::<Flaky>::clone(&store), system_clock(), terms());
    let who = Principal::local();
    let id = tasks
        .start(&who, begin(None), async |_| done())
        .await
        .expect("runs")
        .id;
    tokio::time::timeout(PATIENCE, store.failed.notified())
        .await
        .expect("its end is tried");
    assert_eq!(
        tasks.get(&who, &id).await.expect("there").status(),
        Status::Working,
        "nothing is made up"
    );
    store.fails.store(false, Ordering::SeqCst);
    let ended = tasks.ended(&who, &id, PATIENCE).await.expect("there");
    assert_eq!(ended.status(), Status::Completed);
}

#[tokio::test]
async fn a_task_is_the_board_that_its_tool_asks_on_and_spends_seals_once() {
    let tasks = Tasks::new(Arc::new(MemoryStore::default()), system_clock(), terms());
    let who = Principal::local();
    let run = async |inside: InTask| {
        let board: Arc<dyn Board> = Arc::new(inside);
        let told = board.want("service", &question(), Duration::from_millis(1)).await;
        assert_eq!(told, Told::Expired);
        let told = board.want("service", &question(), PATIENCE).await;
        board.stopped().await;
        End::Completed(object(json!({ "told": format!("{told:?}") })))
    };
    let id = tasks.start(&who, begin(None), run).await.expect("runs").id;
    let waits = async {
        loop {
            let task = tasks.get(&who, &id).await.expect("there");
            if matches!(&task.state, State::InputRequired(wanted) if wanted.contains_key("service-2")) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waits)
        .await
        .expect("it asks again");
    tasks.cancel(&who, &id).await.expect("told");
    let task = tasks.ended(&who, &id, PATIENCE).await.expect("there");
    assert_eq!(
        task.state,
        State::Ended(End::Completed(object(json!({ "told": "Stopped" }))))
    );

    let (seal, now) = (Uuid::now_v7(), Timestamp::UNIX_EPOCH);
    assert_eq!(Spent::spend(&tasks, seal, Timestamp::MAX, now).await, Ok(true));
    assert_eq!(Spent::spend(&tasks, seal, Timestamp::MAX, now).await, Ok(false));
}

const CHILD: &str = "CANDOR_TEST_TASKS_CHILD";

/// The process that is killed: begins a task, writes its id, and works on it for ever.
async fn child(folder: &Path) {
    let store = SqliteStore::open(folder.join("tasks.db"), Limits::default()).expect("it opens");
    let tasks = Tasks::new(Arc::new(store), system_clock(), terms());
    let task = tasks
        .start(&Principal::local(), begin(None), until_stopped)
        .await
        .expect("runs");
    std::fs::write(folder.join("new"), task.id.as_str()).expect("written");
    std::fs::rename(folder.join("new"), folder.join("id")).expect("renamed");
    tokio::time::sleep(PATIENCE).await;
}

#[tokio::test]
async fn a_killed_process_leaves_its_task_unknown() {
    if let Some(folder) = std::env::var_os(CHILD) {
        return child(Path::new(&folder)).await;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut process = Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--exact",
            "tasks_bounds::a_killed_process_leaves_its_task_unknown",
        ])
        .env(CHILD, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let begun = async {
        loop {
            if let Ok(id) = std::fs::read_to_string(folder.path().join("id")) {
                return TaskId::given(id);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let id = tokio::time::timeout(PATIENCE, begun).await.expect("it begins");
    let store = SqliteStore::open(folder.path().join("tasks.db"), Limits::default()).expect("it opens");
    let tasks = Tasks::new(Arc::new(store), system_clock(), terms());
    let who = Principal::local();
    assert_eq!(
        tasks.get(&who, &id).await.expect("there").status(),
        Status::Working,
        "its process lives"
    );
    assert_eq!(tasks.cancel(&who, &id).await, Err(Refused::Elsewhere));
    process.kill().expect("killed");
    process.wait().expect("ended");
    let task = tasks.get(&who, &id).await.expect("there");
    let State::Ended(End::Failed(error)) = &task.state else {
        panic!("{task:?}")
    };
    let verdict = &error["data"]["candor/verdict"];
    assert_eq!(
        (&verdict["outcome"], &verdict["effect"]),
        (&json!("unknown"), &json!("unknown"))
    );
}
