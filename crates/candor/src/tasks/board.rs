//! The tasks that run in this process: begun, asked for, answered, told to stop.
//!
//! A step of a task is written to the store before anybody is told of it. The steps of one task are taken one after the
//! other (its desk's lock is held meanwhile); those of different tasks don't wait for each other.

use std::collections::{BTreeMap, HashMap};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use candor_core::names::OperationId;
use futures_util::FutureExt;
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::watch;
use uuid::Uuid;

use super::extension::Resume;
use super::desk::{Desk, InTask, Running, checked};
use super::lost;
use super::state::OutOfTurn;
use super::store::{Page, Refused, StoreFault, TaskStore};
use super::task::{End, Keeper, NewTask, State, Step, Task, TaskId};
use crate::principal::Principal;

/// Where the time comes from.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The system's clock. Before 1970 and after 9999 it stands still.
pub fn system_clock() -> Clock {
    Arc::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let milliseconds = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::MAX)
    })
}

/// By what terms tasks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskTerms {
    /// How long a task is kept from its creation, where the caller wishes nothing else.
    pub ttl: Duration,
    /// The longest a caller may wish.
    pub longest_ttl: Duration,
    /// How often a caller is advised to look.
    pub poll: Duration,
    /// How many may run at once.
    pub running: usize,
    /// How many of one principal may run at once.
    pub running_of_one: usize,
    /// The largest result that is kept, in bytes of JSON.
    pub largest_result: usize,
    /// How long a 2025-11-25 `tasks/cancel` waits for the tool to stop. That revision wants the task to be `cancelled`
    /// when it answers; a tool that stops within this time says itself what it did.
    pub stopping: Duration,
}

impl Default for TaskTerms {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(60 * 60),
            longest_ttl: Duration::from_secs(24 * 60 * 60),
            poll: Duration::from_secs(1),
            running: 256,
            running_of_one: 64,
            largest_result: 4 * 1024 * 1024,
            stopping: Duration::from_secs(2),
        }
    }
}

/// What is to run as a task.
#[derive(Debug, Clone)]
pub struct Begin {
    /// The tool.
    pub tool: String,
    /// The operation, as the verdict will name it.
    pub operation: OperationId,
    /// The arguments, if another process may run the tool again with them and the answers so far when this one ends
    /// while the tool waits for its user. Only right for a tool that changes nothing before its last question.
    pub arguments: Option<Value>,
    /// How long the caller wishes it to be kept. `None`: the server's [`TaskTerms::ttl`].
    pub ttl: Option<Duration>,
}

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
        Self(Arc::new(Inner { store, clock, terms, running: Mutex::default() }))
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
        let ttl = begin.ttl.unwrap_or(self.0.terms.ttl).min(self.0.terms.longest_ttl);
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
            return Err(if task.keeper == Keeper::Nobody { Refused::Resting } else { Refused::Elsewhere });
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
        let given = taken.iter().map(|(key, answer, _)| (key.clone(), answer.clone())).collect();
        let step = Step { answers: given, ..Step::to(desk.state()) };
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

    /// Takes up a task that nobody works on since its process ended, with answers to what it wants. `run` is to run the
    /// task's tool again, with its [`Task::arguments`]; its questions are answered by what was answered before.
    ///
    /// # Errors
    ///
    /// As [`answer`](Self::answer) and [`start`](Self::start).
    pub async fn resume<F, Fut>(
        &self,
        who: &Principal,
        id: &TaskId,
        answers: &BTreeMap<String, Value>,
        run: F,
    ) -> Result<Task, Refused>
    where
        F: FnOnce(InTask) -> Fut + Send + 'static,
        Fut: Future<Output = End> + Send + 'static,
    {
        self.resume_boxed(who, id, answers, Box::new(move |_, inside| run(inside).boxed())).await
    }

    pub(super) async fn resume_boxed(
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
        if !self.0.store.take_up(id, &task.owner, now).await.inspect_err(|_| self.leave_place(id))? {
            self.leave_place(id);
            return Err(Refused::Elsewhere);
        }
        let mut rest = wanted.clone();
        rest.retain(|key, _| !fitting.contains_key(key));
        // The tool will ask for the rest again, and says so itself then.
        let step = Step { answers: fitting, ..Step::to(State::Working) };
        let task = self.0.store.change(id, &task.owner, step, now).await.inspect_err(|_| self.leave_place(id))?;
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
        self.running_of(id, &who.key()).map(|running| running.moved.subscribe())
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
        if now.is_final() { Err(OutOfTurn { now }) } else { Ok(()) }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<TaskId, Arc<Running>>> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running_of(&self, id: &TaskId, owner: &str) -> Option<Arc<Running>> {
        self.running().get(id).filter(|running| running.owner == owner).cloned()
    }

    fn leave_place(&self, id: &TaskId) {
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
        for running in self.running().values().filter(|running| super::state::is_gone(running.expiry, now)) {
            running.stop.send_replace(true);
        }
    }

    fn run<F, Fut>(&self, running: Arc<Running>, run: F)
    where
        F: FnOnce(InTask) -> Fut + Send + 'static,
        Fut: Future<Output = End> + Send + 'static,
    {
        let tasks = self.clone();
        tokio::spawn(async move {
            let inside = InTask::new(tasks.clone(), Arc::clone(&running));
            // The future is made inside the guard too: a panic before its first await is one as well.
            let ran = AssertUnwindSafe(async move { run(inside).await }).catch_unwind().await;
            let (end, message) = match ran {
                Ok(end) => tasks.bounded(&running, end),
                Err(_masked) => {
                    let correlation = Uuid::now_v7();
                    tracing::error!(%correlation, tool = %running.tool, task = %running.id, "a tool panicked in its task");
                    let (end, message) = lost::panicked(&running.tool, running.operation, correlation);
                    (end, Some(message))
                }
            };
            tasks.finish(&running, end, message).await;
        });
    }

    fn bounded(&self, running: &Running, end: End) -> (End, Option<String>) {
        let most = self.0.terms.largest_result;
        let bytes = end.held().and_then(|held| serde_json::to_vec(held).ok()).map_or(0, |text| text.len());
        if bytes <= most {
            return (end, None);
        }
        let (end, message) = lost::too_large(&running.tool, running.operation, bytes, most);
        (end, Some(message))
    }

    async fn finish(&self, running: &Running, end: End, message: Option<String>) {
        let mut desk = running.desk.lock().await;
        desk.close();
        desk.unsaved = Some(Step { message, ..Step::to(State::Ended(end)) });
        self.save(running, &mut desk).await;
    }

    /// An end that could not be written when it came is written when somebody asks.
    async fn save_again(&self, running: &Running) {
        let mut desk = running.desk.lock().await;
        if desk.unsaved.is_some() {
            self.save(running, &mut desk).await;
        }
    }

    async fn save(&self, running: &Running, desk: &mut Desk) {
        let Some(step) = desk.unsaved.clone() else { return };
        match self.0.store.change(&running.id, &running.owner, step, self.now()).await {
            Err(Refused::Store(fault)) => {
                tracing::error!(task = %running.id, %fault, "a task's end could not be written; tried again when asked for");
                return;
            }
            Err(refused) => {
                tracing::warn!(task = %running.id, tool = %running.tool, %refused, "a tool ended after its task had");
            }
            Ok(_) => {}
        }
        desk.unsaved = None;
        self.leave_place(&running.id);
        running.tell();
    }
}
