//! Where tasks are kept. Whoever asks for a task must name its owner; a task of somebody else's is not there.

use candor_core::arguments::issue::Issue;
use candor_core::arguments::lines::lines;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use uuid::Uuid;

use super::state::OutOfTurn;
use super::task::{NewTask, Step, Task, TaskId};

/// Most bytes of issues in a refusal's text.
const TOLD: usize = 2_000;
/// Most tasks in one page of a list.
pub const PAGE: usize = 100;

/// Where tasks are kept, and which seals are spent.
///
/// `owner` is [`Principal::key`](crate::Principal::key) everywhere. `now` is the server's clock: a store has none. A
/// store's methods must not block the thread they are polled on.
pub trait TaskStore: Send + Sync + 'static {
    /// Keeps a new task. It is there, and in a store on disk it is on disk, when this returns: a caller learns no id
    /// that could be lost.
    fn create(&self, new: NewTask, now: Timestamp) -> BoxFuture<'_, Result<Task, StoreFault>>;

    /// The task as it stands.
    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        owner: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Task, Refused>>;

    /// Takes one step, if it may follow from where the task stands: looking and changing are one act.
    fn change<'a>(
        &'a self,
        id: &'a TaskId,
        owner: &'a str,
        step: Step,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Task, Refused>>;

    /// Takes up a task that waits for its user and that nobody works on ([`Keeper::Nobody`](super::Keeper)). `false`:
    /// another was faster, or it is not such a task.
    fn take_up<'a>(
        &'a self,
        id: &'a TaskId,
        owner: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, StoreFault>>;

    /// An owner's tasks in the order of their creation, at most [`PAGE`], those after `after`.
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Page, StoreFault>>;

    /// Spends a seal that is good for one use. `false`: it is spent already. Kept until `expires`, after which the
    /// seal itself is refused.
    fn spend(
        &self,
        seal: Uuid,
        expires: Timestamp,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<bool, StoreFault>>;

    /// Ends the tasks that a process left behind when it ended: what became of them is not known. Returns how many. A
    /// task that waits for its user and may be resumed stays.
    fn orphaned(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreFault>>;

    /// Forgets tasks and seals that are past their time. Returns how many.
    fn sweep(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreFault>>;
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Where the next page begins, if there is one.
    pub next: Option<TaskId>,
}

/// A store that could not do its work. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreFault {
    /// No room for another task. A bound of the server's, or of this owner's.
    #[error("{held} tasks are kept; there is no room for another")]
    Full {
        /// How many there are.
        held: usize,
    },
    /// The disk, the file, the system. The text is for the server's own log, never for a caller.
    #[error("the store of tasks failed: {0}")]
    Broken(String),
}

/// Why something was not done with a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No task with this id, or one of somebody else's, or one past its time. One answer for all three, so that it can't
    /// be found out which.
    #[error("There is no such task.")]
    Absent,
    /// The step may not follow.
    #[error(transparent)]
    OutOfTurn(#[from] OutOfTurn),
    /// What was answered breaks the form of what is wanted. Nothing was taken of it; the task goes on waiting.
    #[error("The answer breaks its form, and the task goes on waiting. {}", lines(.0, .0.len(), TOLD))]
    Invalid(Vec<Issue>),
    /// Nobody works on the task since its process ended; it can be resumed with an answer.
    #[error(
        "Nobody works on the task since the server was started anew; an answer to what it wants resumes it."
    )]
    Resting,
    /// Another process of this server works on the task, and can't be reached from this one.
    #[error("The task runs in another process of this server and can't be reached from this one.")]
    Elsewhere,
    /// As many tasks run as may.
    #[error("{running} tasks run; no more may at once.")]
    Busy {
        /// How many.
        running: usize,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFault),
}
