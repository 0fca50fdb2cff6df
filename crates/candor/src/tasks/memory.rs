//! Tasks in memory, bounded. They end with the process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use uuid::Uuid;

use super::state::is_gone;
use super::store::{PAGE, Page, Refused, StoreFault, TaskStore};
use super::task::{NewTask, Step, Task, TaskId};

/// How much a store keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most tasks of all owners together, ended ones counted until their time is over.
    pub tasks: usize,
    /// Most tasks of one owner, so that one can't take the room of all.
    pub tasks_of_one: usize,
    /// Most spent seals. Above it nothing more can be spent: a seal that is forgotten too early could be used twice.
    pub seals: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tasks: 4_096,
            tasks_of_one: 1_024,
            seals: 65_536,
        }
    }
}

/// Tasks in memory. Cloning is cheap and gives the same store.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    limits: Limits,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    tasks: HashMap<TaskId, Kept>,
    seals: HashMap<Uuid, Timestamp>,
    made: u64,
}

/// A task and its place in the order of creation.
#[derive(Debug)]
struct Kept {
    task: Task,
    place: u64,
}

impl MemoryStore {
    /// A store with these bounds.
    pub fn new(limits: Limits) -> Self {
        Self(Arc::new(Inner {
            limits,
            held: Mutex::default(),
        }))
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Every change below is one step: a panic can't leave half of one.
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, new: NewTask, now: Timestamp) -> Result<Task, StoreFault> {
        let mut held = self.held();
        let limits = self.0.limits;
        let of_owner = held
            .tasks
            .values()
            .filter(|kept| kept.task.owner == new.owner)
            .count();
        if of_owner >= limits.tasks_of_one || held.tasks.len() >= limits.tasks {
            return Err(StoreFault::Full { held: of_owner });
        }
        if held.tasks.contains_key(&new.id) {
            return Err(StoreFault::Broken("this id exists".to_owned()));
        }
        held.made += 1;
        let kept = Kept {
            task: Task::begun(new, now),
            place: held.made,
        };
        let task = kept.task.clone();
        held.tasks.insert(task.id.clone(), kept);
        Ok(task)
    }

    fn look(&self, id: &TaskId, owner: &str, now: Timestamp) -> Result<Task, Refused> {
        let held = self.held();
        let task = held
            .tasks
            .get(id)
            .map(|kept| &kept.task)
            .filter(|task| is_there(task, owner, now));
        task.cloned().ok_or(Refused::Absent)
    }

    fn step(&self, id: &TaskId, owner: &str, step: Step, now: Timestamp) -> Result<Task, Refused> {
        let mut held = self.held();
        let task = held.tasks.get_mut(id).map(|kept| &mut kept.task);
        let task = task
            .filter(|task| is_there(task, owner, now))
            .ok_or(Refused::Absent)?;
        task.take(step, now)?;
        Ok(task.clone())
    }

    fn page(&self, owner: &str, after: Option<&TaskId>, now: Timestamp) -> Page {
        let held = self.held();
        let after = match after {
            None => 0,
            Some(id) => match held.tasks.get(id).filter(|kept| kept.task.owner == owner) {
                Some(kept) => kept.place,
                None => {
                    return Page {
                        tasks: Vec::new(),
                        next: None,
                    };
                }
            },
        };
        let mut kept: Vec<&Kept> = held
            .tasks
            .values()
            .filter(|kept| kept.place > after && is_there(&kept.task, owner, now))
            .collect();
        kept.sort_by_key(|kept| kept.place);
        let tasks: Vec<Task> = kept.iter().take(PAGE).map(|kept| kept.task.clone()).collect();
        let next = if kept.len() > PAGE {
            tasks.last().map(|task| task.id.clone())
        } else {
            None
        };
        Page { tasks, next }
    }

    fn spend_now(&self, seal: Uuid, expires: Timestamp, now: Timestamp) -> Result<bool, StoreFault> {
        let mut held = self.held();
        if held.seals.contains_key(&seal) {
            return Ok(false);
        }
        if held.seals.len() >= self.0.limits.seals {
            held.seals.retain(|_, expires| *expires > now);
        }
        if held.seals.len() >= self.0.limits.seals {
            return Err(StoreFault::Full {
                held: held.seals.len(),
            });
        }
        held.seals.insert(seal, expires);
        Ok(true)
    }

    fn forget(&self, now: Timestamp) -> u64 {
        let mut held = self.held();
        let before = held.tasks.len() + held.seals.len();
        held.tasks.retain(|_, kept| !is_gone(kept.task.expiry(), now));
        held.seals.retain(|_, expires| *expires > now);
        let forgotten = before - held.tasks.len() - held.seals.len();
        u64::try_from(forgotten).unwrap_or(u64::MAX)
    }
}

fn is_there(task: &Task, owner: &str, now: Timestamp) -> bool {
    task.owner == owner && !is_gone(task.expiry(), now)
}

impl TaskStore for MemoryStore {
    fn create(&self, new: NewTask, now: Timestamp) -> BoxFuture<'_, Result<Task, StoreFault>> {
        async move { self.put(new, now) }.boxed()
    }

    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        owner: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Task, Refused>> {
        async move { self.look(id, owner, now) }.boxed()
    }

    fn change<'a>(
        &'a self,
        id: &'a TaskId,
        owner: &'a str,
        step: Step,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Task, Refused>> {
        async move { self.step(id, owner, step, now) }.boxed()
    }

    /// Nothing outlives the process, so there is never a task that nobody works on.
    fn take_up<'a>(
        &'a self,
        _id: &'a TaskId,
        _owner: &'a str,
        _now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, StoreFault>> {
        async { Ok(false) }.boxed()
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Page, StoreFault>> {
        async move { Ok(self.page(owner, after, now)) }.boxed()
    }

    fn spend(
        &self,
        seal: Uuid,
        expires: Timestamp,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<bool, StoreFault>> {
        async move { self.spend_now(seal, expires, now) }.boxed()
    }

    /// Nothing outlives the process.
    fn orphaned(&self, _now: Timestamp) -> BoxFuture<'_, Result<u64, StoreFault>> {
        async { Ok(0) }.boxed()
    }

    fn sweep(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreFault>> {
        async move { Ok(self.forget(now)) }.boxed()
    }
}
