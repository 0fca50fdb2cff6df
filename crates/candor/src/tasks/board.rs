//! The tasks that run in this process: begun, asked for, answered, told to stop.
//!
//! A step of a task is written to the store before anybody is told of it. The steps of one task are taken one after the
//! other (its desk's lock is held meanwhile); those of different tasks don't wait for each other.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::watch;

use super::desk::{Desk, InTask, Running, checked, kept};
use super::extension::Resume;
use super::lost;
use super::state::OutOfTurn;
use super::store::{Page, Refused, StoreFault, TaskStore};
use super::task::{End, Keeper, NewTask, State, Step, Task, TaskId};
use super::terms::{Begin, Clock, TaskTerms};
use crate::principal::Principal;

/// The tasks of a server: a store, what runs in this process, and a clock. Cloning is cheap and gives the same tasks.
#[derive(Clone)]
pub struct Tasks(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) store: Arc<dyn TaskStore>,
    pub(super) clock: Clock,
    pub(super) terms: TaskTerms,
    running: Mutex<HashMap<TaskId, Arc<Running>>>,
}

impl Tasks {
    /// Tasks in this store, by these terms.
    pub fn new(store: Arc<dyn TaskStore>, clock: Clock, terms: TaskTerms) -> Self {
        Self(Arc::new(Inner {
            store,
            clock,
            terms,
            running: Mutex::default(),
        }))
    }

    /// The store: seals are spent there.
    pub fn store(&self) -> &Arc<dyn TaskStore> {
        &self.0.store
    }

    /// The terms.
    pub fn terms(&self) -> &TaskTerms {
        &self.0.terms
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.0.clock)()
    }

    /// Runs a tool as a task, on tokio's runtime. The task is in the store before this returns.
    ///
    /// `run` gets what the tool needs to ask its user and to hear that it should stop. A panic in it ends the task as
    /// failed, masked, effect unknown.
    ///
    /// # Errors
    ///
    /// [`Refused::Busy`] and [`StoreFault::Full`] where a bound is reached, [`StoreFault::Broken`]; the tool did not
    /// run then.
    pub async fn start<F, Fut>(&self, who: &Principal, begin: Begin, run: F) -> Result<Task, Refused>
    where
        F: FnOnce(InTask) -> Fut + Send + 'static,
        Fut: Future<Output = End> + Send + 'static,
    {
        let now = self.now();
        self.stop_expired(now);
        self.0.store.sweep(now).await?;
        let owner = who.key();
        let ttl = begin
            .ttl
            .unwrap_or(self.0.terms.ttl)
            .min(self.0.terms.longest_ttl);
        let new = NewTask {
            id: TaskId::random()?,
            owner: owner.clone(),
            tool: begin.tool,
            operation: begin.operation,
            arguments: begin.arguments,
            ttl: Some(ttl),
        };
        // The place is taken before the store is asked, so that calls at the same time can't pass the bound together.
        let id = new.id.clone();
        let running = self.take_place(&Task::begun(new.clone(), now))?;
        match self.0.store.create(new, now).await {
            Ok(task) => {
                self.run(running, run);
                Ok(task)
            }
            Err(fault) => {
                self.running().remove(&id);
                Err(fault.into())
            }
        }
    }

    /// The task as it stands.
    ///
    /// # Errors
    ///
    /// [`Refused::Absent`] where this principal has no such task; [`Refused::Store`].
    pub async fn get(&self, who: &Principal, id: &TaskId) -> Result<Task, Refused> {
        let owner = who.key();
        if let Some(running) = self.running_of(id, &owner) {
            self.save_again(&running).await;
        }
        self.0.store.get(id, &owner, self.now()).await
    }

    /// A principal's tasks, in the order of their creation, those after `after`.
    ///
    /// # Errors
    ///
    /// [`StoreFault`].
    pub async fn list(&self, who: &Principal, after: Option<&TaskId>) -> Result<Page, StoreFault> {
        self.0.store.list(&who.key(), after, self.now()).await
    }

    /// Answers what a task wants, by key. Keys that nothing is wanted under are passed over. Either every answer fits and
    /// is taken, or none is.
    ///
    /// # Errors
    ///
    /// [`Refused::Invalid`] where an answer breaks its form: the task goes on waiting. [`Refused::OutOfTurn`] where the
    /// task has ended. [`Refused::Resting`] where [`resume`](Self::resume) is the way. [`Refused::Elsewhere`],
    /// [`Refused::Absent`], [`Refused::Store`].
    pub async fn answer(
        &self,
        who: &Principal,
        id: &TaskId,
        answers: &BTreeMap<String, Value>,
    ) -> Result<Task, Refused> {
        let task = self.get(who, id).await?;
        self.still_open(&task)?;
        let Some(running) = self.running_of(id, &task.owner) else {
            return Err(if task.keeper == Keeper::Nobody {
                Refused::Resting
            } else {
                Refused::Elsewhere
            });
        };
        let mut desk = running.desk.lock().await;
        if desk.is_closed() {
            drop(desk);
            let task = self.get(who, id).await?;
            return self.still_open(&task).map(|()| task).map_err(Refused::from);
        }
        desk.check(answers)?;
        let taken = desk.take(answers);
        if taken.is_empty() {
            return Ok(task);
        }
        let given = taken
            .iter()
            .map(|(key, answer, waiting)| (key.clone(), kept(answer, waiting.request())))
            .collect();
        let step = Step {
            answers: given,
            ..Step::to(desk.state())
        };
        match self.0.store.change(id, &running.owner, step, self.now()).await {
            Ok(task) => {
                Desk::give(taken);
                running.tell();
                Ok(task)
            }
            Err(refused) => {
                desk.put_back(taken);
                Err(refused)
            }
        }
    }

    /// Answers what a task wants, and takes the task up where its process has ended and `resume` can run its tool again.
    ///
    /// # Errors
    ///
    /// As [`answer`](Self::answer) and [`resume`](Self::resume).
    pub async fn answer_or_resume(
        &self,
        who: &Principal,
        id: &TaskId,
        answers: &BTreeMap<String, Value>,
        resume: Option<Resume>,
    ) -> Result<Task, Refused> {
        match (self.answer(who, id, answers).await, resume) {
            (Err(Refused::Resting), Some(resume)) => self.resume(who, id, answers, resume).await,
            (answered, _) => answered,
        }
    }

    /// Takes up a task that nobody works on since its process ended, with answers to what it wants. `run` is to run the
    /// task's tool again, with its [`Task::arguments`]; its questions are answered by what was answered before.
    ///
    /// # Errors
    ///
    /// As [`answer`](Self::answer) and [`start`](Self::start).
    pub async fn resume(
        &self,
        who: &Principal,
        id: &TaskId,
        answers: &BTreeMap<String, Value>,
        run: Resume,
    ) -> Result<Task, Refused> {
        let task = self.get(who, id).await?;
        let State::InputRequired(wanted) = &task.state else {
            self.still_open(&task)?;
            return Err(Refused::Elsewhere);
        };
        let fitting = checked(wanted, answers)?;
        if fitting.is_empty() {
            return Ok(task);
        }
        let now = self.now();
        let running = self.take_place(&task)?;
        if !self
            .0
            .store
            .take_up(id, &task.owner, now)
            .await
            .inspect_err(|_| self.leave_place(id))?
        {
            self.leave_place(id);
            return Err(Refused::Elsewhere);
        }
        let mut rest = wanted.clone();
        rest.retain(|key, _| !fitting.contains_key(key));
        // The tool will ask for the rest again, and says so itself then.
        let step = Step {
            answers: fitting
                .iter()
                .filter_map(|(key, answer)| Some((key.clone(), kept(answer, wanted.get(key)?))))
                .collect(),
            ..Step::to(State::Working)
        };
        let task = self
            .0
            .store
            .change(id, &task.owner, step, now)
            .await
            .inspect_err(|_| self.leave_place(id))?;
        running.desk.lock().await.remember(task.answers.clone());
        let resumed = task.clone();
        self.run(running, move |inside| run(resumed, inside));
        Ok(task)
    }

    /// Tells a task to stop. It is not stopped by that: a tool in the middle of an act ends it, and a tool that looks
    /// says what it did. A task that waits for its user hears it at once. A second telling changes nothing.
    ///
    /// # Errors
    ///
    /// [`Refused::OutOfTurn`] where the task has ended, [`Refused::Elsewhere`], [`Refused::Absent`],
    /// [`Refused::Store`].
    pub async fn cancel(&self, who: &Principal, id: &TaskId) -> Result<Task, Refused> {
        let task = self.get(who, id).await?;
        self.still_open(&task)?;
        if let Some(running) = self.running_of(id, &task.owner) {
            running.stop.send_replace(true);
            return Ok(task);
        }
        if task.keeper != Keeper::Nobody {
            return Err(Refused::Elsewhere);
        }
        // Nobody works on it, and a tool that may be resumed changed nothing before its question: it simply ends.
        let (end, said) = lost::at_rest(&task.tool, task.operation);
        let step = Step::to(State::Ended(end)).saying(said);
        self.0.store.change(id, &task.owner, step, self.now()).await
    }

    /// Writes down that a task is cancelled, though its tool has not stopped yet.
    pub(super) async fn give_up(&self, task: &Task) -> Result<Task, Refused> {
        let (end, said) = lost::given_up(&task.tool, task.operation);
        let step = Step::to(State::Ended(end)).saying(said);
        self.0.store.change(&task.id, &task.owner, step, self.now()).await
    }

    /// Waits until the task has ended, for at most `within`, and gives it as it then stands.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub async fn ended(&self, who: &Principal, id: &TaskId, within: Duration) -> Result<Task, Refused> {
        let deadline = tokio::time::Instant::now() + within;
        loop {
            let moved = self.moves(who, id);
            let task = self.get(who, id).await?;
            if task.status().is_final() || tokio::time::Instant::now() >= deadline {
                return Ok(task);
            }
            let until = deadline.min(tokio::time::Instant::now() + self.0.terms.poll);
            self.wait(moved, until).await;
        }
    }

    /// Hears each step of a task that runs here.
    pub(super) fn moves(&self, who: &Principal, id: &TaskId) -> Option<watch::Receiver<u64>> {
        self.running_of(id, &who.key())
            .map(|running| running.moved.subscribe())
    }

    /// Waits for a step, until a moment: a task of another process makes no noise here.
    pub(super) async fn wait(&self, moved: Option<watch::Receiver<u64>>, until: tokio::time::Instant) {
        match moved {
            Some(mut moved) => {
                let _either = tokio::time::timeout_at(until, moved.changed()).await;
            }
            None => tokio::time::sleep_until(until).await,
        }
    }

    fn still_open(&self, task: &Task) -> Result<(), OutOfTurn> {
        let now = task.status();
        if now.is_final() {
            Err(OutOfTurn { now })
        } else {
            Ok(())
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<TaskId, Arc<Running>>> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running_of(&self, id: &TaskId, owner: &str) -> Option<Arc<Running>> {
        self.running()
            .get(id)
            .filter(|running| running.owner == owner)
            .cloned()
    }

    pub(super) fn leave_place(&self, id: &TaskId) {
        self.running().remove(id);
    }

    fn take_place(&self, task: &Task) -> Result<Arc<Running>, Refused> {
        let mut running = self.running();
        let terms = &self.0.terms;
        let of_one = running.values().filter(|other| other.owner == task.owner).count();
        if of_one >= terms.running_of_one || running.len() >= terms.running {
            return Err(Refused::Busy { running: of_one });
        }
        if running.contains_key(&task.id) {
            return Err(Refused::Elsewhere);
        }
        let place = Arc::new(Running::new(task));
        running.insert(task.id.clone(), Arc::clone(&place));
        Ok(place)
    }

    /// What is past its time is told to stop: nobody can ask for its result any more.
    fn stop_expired(&self, now: Timestamp) {
        for running in self
            .running()
            .values()
            .filter(|running| super::state::is_gone(running.expiry, now))
        {
            running.stop.send_replace(true);
        }
    }
}
