//! The stores against one suite: what holds for one holds for the other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use candor_core::names::OperationId;
use jiff::Timestamp;
use rmcp::model::object;
use serde_json::json;
use uuid::Uuid;

use super::{
    End, Keeper, Limits, MemoryStore, NewTask, OutOfTurn, PAGE, Refused, SqliteStore, State, Status, Step,
    StoreFault, TaskId, TaskStore,
};

/// A store to test, and the folder it lives in.
struct Subject {
    name: &'static str,
    store: Arc<dyn TaskStore>,
    _folder: Option<tempfile::TempDir>,
}

fn subjects(limits: Limits) -> Vec<Subject> {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("tasks.db"), limits).unwrap();
    vec![
        Subject {
            name: "memory",
            store: Arc::new(MemoryStore::new(limits)),
            _folder: None,
        },
        Subject {
            name: "sqlite",
            store: Arc::new(sqlite),
            _folder: Some(folder),
        },
    ]
}

fn at(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap()
}

fn new(owner: &str) -> NewTask {
    NewTask {
        id: TaskId::random().unwrap(),
        owner: owner.to_owned(),
        tool: "book".to_owned(),
        operation: OperationId::new(Uuid::now_v7()),
        arguments: Some(json!({ "n": 1.10 })),
        ttl: Some(Duration::from_millis(1_000)),
    }
}

fn wants(key: &str) -> State {
    State::InputRequired(BTreeMap::from([(
        key.to_owned(),
        json!({ "method": "roots/list" }),
    )]))
}

fn ended() -> State {
    State::Ended(End::Completed(object(json!({ "content": [], "n": 1 }))))
}

#[tokio::test]
async fn what_is_kept_comes_back() {
    for Subject { name, store, .. } in subjects(Limits::default()) {
        let made = store.create(new("alice"), at(10)).await.unwrap();
        assert_eq!(
            (made.status(), made.keeper),
            (Status::Working, Keeper::Here),
            "{name}"
        );
        assert_eq!(
            store.get(&made.id, "alice", at(11)).await.unwrap(),
            made,
            "{name}"
        );
        let step = Step {
            answers: BTreeMap::from([("before".to_owned(), json!({ "action": "accept" }))]),
            ..Step::to(wants("service")).saying("waits")
        };
        let waits = store.change(&made.id, "alice", step, at(20)).await.unwrap();
        assert_eq!(waits.state, wants("service"), "{name}");
        assert_eq!(
            (waits.message.as_deref(), waits.updated, waits.created),
            (Some("waits"), at(20), at(10)),
            "{name}"
        );
        assert_eq!(waits.answers.len(), 1, "{name}");
        assert_eq!(
            store.get(&made.id, "alice", at(21)).await.unwrap(),
            waits,
            "{name}"
        );
        let over = store
            .change(&made.id, "alice", Step::to(ended()), at(30))
            .await
            .unwrap();
        assert_eq!(over.state, ended(), "{name}");
        assert_eq!(
            (&over.arguments, over.answers.len()),
            (&None, 0),
            "{name}: private things go at the end"
        );
        let again = store.get(&made.id, "alice", at(31)).await.unwrap();
        assert_eq!((again.state, again.arguments), (over.state, None), "{name}");
    }
}

#[tokio::test]
async fn steps_out_of_turn_are_refused_and_change_nothing() {
    let ends = [
        ended(),
        State::Ended(End::Failed(object(json!({ "code": 1 })))),
        State::Ended(End::Cancelled(None)),
    ];
    for Subject { name, store, .. } in subjects(Limits::default()) {
        for end in &ends {
            let task = store.create(new("alice"), at(0)).await.unwrap();
            let refused = store
                .change(&task.id, "alice", Step::to(State::Working), at(1))
                .await;
            assert_eq!(
                refused,
                Err(Refused::OutOfTurn(OutOfTurn { now: Status::Working })),
                "{name}"
            );
            store
                .change(&task.id, "alice", Step::to(end.clone()), at(2))
                .await
                .unwrap();
            for next in ends.iter().cloned().chain([State::Working, wants("x")]) {
                let refused = store
                    .change(&task.id, "alice", Step::to(next), at(3))
                    .await
                    .unwrap_err();
                assert_eq!(
                    refused,
                    Refused::OutOfTurn(OutOfTurn { now: end.status() }),
                    "{name}"
                );
                assert_eq!(
                    refused.to_string(),
                    format!("the task is {}", end.status().as_str())
                );
            }
            let kept = store.get(&task.id, "alice", at(4)).await.unwrap();
            assert_eq!((&kept.state, kept.updated), (end, at(2)), "{name}");
        }
    }
}

#[tokio::test]
async fn a_task_of_somebody_elses_is_not_there() {
    for Subject { name, store, .. } in subjects(Limits::default()) {
        let task = store.create(new("alice"), at(0)).await.unwrap();
        let nobodys = TaskId::random().unwrap();
        for (id, owner) in [
            (&task.id, "bob"),
            (&nobodys, "alice"),
            (&TaskId::given("' OR 1=1"), "alice"),
        ] {
            assert_eq!(store.get(id, owner, at(1)).await, Err(Refused::Absent), "{name}");
            let changed = store.change(id, owner, Step::to(ended()), at(1)).await;
            assert_eq!(changed, Err(Refused::Absent), "{name}");
            assert_eq!(store.take_up(id, owner, at(1)).await, Ok(false), "{name}");
        }
        assert!(
            store.list("bob", None, at(1)).await.unwrap().tasks.is_empty(),
            "{name}"
        );
        assert!(
            store
                .list("bob", Some(&task.id), at(1))
                .await
                .unwrap()
                .tasks
                .is_empty(),
            "{name}"
        );
        assert_eq!(
            store.get(&task.id, "alice", at(1)).await.unwrap().status(),
            Status::Working,
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_task_is_gone_at_its_time_whatever_it_does() {
    for Subject { name, store, .. } in subjects(Limits::default()) {
        let task = store.create(new("alice"), at(500)).await.unwrap();
        let forever = store
            .create(
                NewTask {
                    ttl: None,
                    ..new("alice")
                },
                at(500),
            )
            .await
            .unwrap();
        assert!(store.get(&task.id, "alice", at(1_499)).await.is_ok(), "{name}");
        assert_eq!(
            store.get(&task.id, "alice", at(1_500)).await,
            Err(Refused::Absent),
            "{name}"
        );
        let late = store
            .change(&task.id, "alice", Step::to(ended()), at(1_500))
            .await;
        assert_eq!(late, Err(Refused::Absent), "{name}");
        assert_eq!(
            store.list("alice", None, at(1_500)).await.unwrap().tasks.len(),
            1,
            "{name}"
        );
        assert_eq!(store.sweep(at(1_499)).await, Ok(0), "{name}");
        assert_eq!(store.sweep(at(1_500)).await, Ok(1), "{name}");
        assert!(
            store
                .get(&forever.id, "alice", at(i64::from(i32::MAX)))
                .await
                .is_ok(),
            "{name}"
        );
    }
}

#[tokio::test]
async fn lists_come_in_order_and_in_pages() {
    for Subject { name, store, .. } in subjects(Limits::default()) {
        let mut made = Vec::new();
        for n in 0..PAGE + 3 {
            // The clock stands still: the order is that of creation all the same.
            made.push(store.create(new("alice"), at(0)).await.unwrap().id);
            if n % 50 == 0 {
                store.create(new("bob"), at(0)).await.unwrap();
            }
        }
        let first = store.list("alice", None, at(1)).await.unwrap();
        assert_eq!(first.tasks.len(), PAGE, "{name}");
        let next = first.next.clone().unwrap();
        let second = store.list("alice", Some(&next), at(1)).await.unwrap();
        assert_eq!((second.tasks.len(), second.next), (3, None), "{name}");
        let listed: Vec<TaskId> = first
            .tasks
            .into_iter()
            .chain(second.tasks)
            .map(|task| task.id)
            .collect();
        assert_eq!(listed, made, "{name}");
    }
}

#[tokio::test]
async fn a_full_store_refuses_and_keeps_what_it_has() {
    let limits = Limits {
        tasks: 3,
        tasks_of_one: 2,
        seals: 1,
    };
    for Subject { name, store, .. } in subjects(limits) {
        let first = store.create(new("alice"), at(0)).await.unwrap();
        store.create(new("alice"), at(0)).await.unwrap();
        assert_eq!(
            store.create(new("alice"), at(0)).await,
            Err(StoreFault::Full { held: 2 }),
            "{name}"
        );
        store.create(new("bob"), at(0)).await.unwrap();
        assert_eq!(
            store.create(new("carol"), at(0)).await,
            Err(StoreFault::Full { held: 0 }),
            "{name}"
        );
        assert!(store.get(&first.id, "alice", at(1)).await.is_ok(), "{name}");
        store.sweep(at(5_000)).await.unwrap();
        store.create(new("carol"), at(5_000)).await.unwrap();
        assert_eq!(
            store.spend(Uuid::from_u128(1), at(100), at(0)).await,
            Ok(true),
            "{name}"
        );
        assert!(
            store.spend(Uuid::from_u128(2), at(100), at(0)).await.is_err(),
            "{name}"
        );
        assert_eq!(
            store.spend(Uuid::from_u128(2), at(300), at(200)).await,
            Ok(true),
            "{name}: room after expiry"
        );
    }
}

#[tokio::test]
async fn a_seal_is_spent_once() {
    for Subject { name, store, .. } in subjects(Limits::default()) {
        let seal = Uuid::now_v7();
        assert_eq!(store.spend(seal, at(100), at(0)).await, Ok(true), "{name}");
        assert_eq!(store.spend(seal, at(100), at(1)).await, Ok(false), "{name}");
        assert_eq!(
            store.spend(Uuid::now_v7(), at(100), at(1)).await,
            Ok(true),
            "{name}"
        );
        store.sweep(at(99)).await.unwrap();
        assert_eq!(store.spend(seal, at(100), at(99)).await, Ok(false), "{name}");
    }
}

#[tokio::test]
async fn of_many_that_end_a_task_at_once_one_does() {
    for Subject { name, store, .. } in subjects(Limits::default()) {
        let task = store.create(new("alice"), at(0)).await.unwrap();
        let tries = (0..16).map(|n| {
            let (store, id) = (Arc::clone(&store), task.id.clone());
            tokio::spawn(async move {
                let end = End::Completed(object(json!({ "by": n })));
                store
                    .change(&id, "alice", Step::to(State::Ended(end)), at(1))
                    .await
                    .is_ok()
            })
        });
        let won = futures_util::future::join_all(tries)
            .await
            .into_iter()
            .filter(|won| *won.as_ref().unwrap())
            .count();
        assert_eq!(won, 1, "{name}");
    }
}

#[test]
fn ids_are_sixteen_bytes_and_differ() {
    let ids: std::collections::HashSet<String> = (0..1_000)
        .map(|_| TaskId::random().unwrap().as_str().to_owned())
        .collect();
    assert_eq!(ids.len(), 1_000);
    assert!(
        ids.iter()
            .all(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
    );
    // A version or variant of a UUID in it would show as a constant digit.
    for place in 0..32 {
        let digits: std::collections::HashSet<u8> = ids.iter().map(|id| id.as_bytes()[place]).collect();
        assert!(digits.len() > 8, "digit {place}");
    }
}

/// What a restart does with the tasks of the process before.
mod restart {
    use super::*;

    fn open(path: &std::path::Path) -> SqliteStore {
        SqliteStore::open(path, Limits::default()).unwrap()
    }

    #[tokio::test]
    async fn what_ran_is_unknown_and_what_waited_goes_on_only_if_it_may() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.db");
        let before = open(&path);
        let working = before.create(new("alice"), at(0)).await.unwrap();
        let waiting = before.create(new("alice"), at(0)).await.unwrap();
        let plain = before
            .create(
                NewTask {
                    arguments: None,
                    ..new("alice")
                },
                at(0),
            )
            .await
            .unwrap();
        let over = before.create(new("alice"), at(0)).await.unwrap();
        before
            .change(&waiting.id, "alice", Step::to(wants("service")), at(1))
            .await
            .unwrap();
        before
            .change(&plain.id, "alice", Step::to(wants("service")), at(1))
            .await
            .unwrap();
        before
            .change(&over.id, "alice", Step::to(ended()), at(1))
            .await
            .unwrap();
        drop(before);

        let after = open(&path);
        assert_eq!(after.orphaned(at(9)).await, Ok(2));
        for lost in [&working, &plain] {
            let task = after.get(&lost.id, "alice", at(10)).await.unwrap();
            let State::Ended(End::Failed(error)) = &task.state else {
                panic!("{task:?}")
            };
            let verdict = &error["data"]["candor/verdict"];
            assert_eq!(
                (&verdict["outcome"], &verdict["effect"]),
                (&json!("unknown"), &json!("unknown"))
            );
            assert_eq!(verdict["operationId"], lost.operation.uuid().to_string());
            assert!(
                error["message"].as_str().unwrap().starts_with("UNKNOWN: "),
                "{error:?}"
            );
            assert_eq!(
                (task.message.as_deref(), task.updated),
                (error["message"].as_str(), at(9))
            );
        }
        let task = after.get(&waiting.id, "alice", at(10)).await.unwrap();
        assert_eq!((task.state, task.keeper), (wants("service"), Keeper::Nobody));
        assert_eq!(task.arguments, waiting.arguments);
        assert_eq!(after.get(&over.id, "alice", at(10)).await.unwrap().state, ended());
        assert_eq!(after.orphaned(at(11)).await, Ok(0));

        assert_eq!(after.take_up(&waiting.id, "bob", at(12)).await, Ok(false));
        assert_eq!(after.take_up(&waiting.id, "alice", at(12)).await, Ok(true));
        assert_eq!(
            after.take_up(&waiting.id, "alice", at(12)).await,
            Ok(false),
            "it is held already"
        );
        assert_eq!(
            after.get(&waiting.id, "alice", at(13)).await.unwrap().keeper,
            Keeper::Here
        );
    }

    #[tokio::test]
    async fn a_living_siblings_tasks_are_left_alone_and_settled_when_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.db");
        let (one, other) = (open(&path), open(&path));
        let task = one.create(new("alice"), at(0)).await.unwrap();
        assert_eq!(other.orphaned(at(1)).await, Ok(0));
        assert_eq!(
            other.get(&task.id, "alice", at(1)).await.unwrap().keeper,
            Keeper::Elsewhere
        );
        drop(one);
        // Nobody calls orphaned: asking is enough.
        assert_eq!(
            other.get(&task.id, "alice", at(2)).await.unwrap().status(),
            Status::Failed
        );
        let names: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        let locks = names
            .iter()
            .filter(|name| name.to_string_lossy().ends_with(".lock"))
            .count();
        assert_eq!(locks, 1, "the dead one's lock is swept: {names:?}");
    }

    #[tokio::test]
    async fn a_spent_seal_stays_spent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.db");
        let seal = Uuid::now_v7();
        assert_eq!(open(&path).spend(seal, at(100), at(0)).await, Ok(true));
        assert_eq!(open(&path).spend(seal, at(100), at(1)).await, Ok(false));
    }

    #[test]
    fn a_foreign_or_later_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for (name, mark, form) in [("other.db", 7, 1), ("later.db", 0x4364_5473, 2)] {
            let path = folder.path().join(name);
            let connection = rusqlite::Connection::open(&path).unwrap();
            connection.pragma_update(None, "application_id", mark).unwrap();
            connection.pragma_update(None, "user_version", form).unwrap();
            drop(connection);
            let before = std::fs::read(&path).unwrap();
            assert!(
                matches!(
                    SqliteStore::open(&path, Limits::default()),
                    Err(StoreFault::Broken(_))
                ),
                "{name}"
            );
            assert_eq!(std::fs::read(&path).unwrap().len(), before.len(), "{name}");
        }
        let text = folder.path().join("text.db");
        std::fs::write(
            &text,
            "this is no database, and it is long enough to be looked at as one".repeat(40),
        )
        .unwrap();
        assert!(SqliteStore::open(&text, Limits::default()).is_err());
        assert!(SqliteStore::open(folder.path().join("none/tasks.db"), Limits::default()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let _store = open(&folder.path().join("tasks.db"));
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let entry = entry.unwrap();
            assert_eq!(
                entry.metadata().unwrap().permissions().mode() & 0o077,
                0,
                "{:?}",
                entry.path()
            );
        }
    }
}
