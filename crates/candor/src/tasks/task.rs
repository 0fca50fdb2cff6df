//! A task as a store keeps it, and the steps it can take.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use candor_core::names::OperationId;
use jiff::Timestamp;
use rmcp::model::{ErrorData, JsonObject};
use serde_json::Value;

use super::state::{self, Status};
use super::store::StoreFault;

/// A task's id: 16 random bytes as 32 hexadecimal digits. Who doesn't hold it can't guess it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(String);

impl TaskId {
    /// A new id.
    ///
    /// # Errors
    ///
    /// [`StoreFault::Broken`] where the system gives no random bytes.
    pub fn random() -> Result<Self, StoreFault> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| StoreFault::Broken(error.to_string()))?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The id as it came from a caller or from a store. What is no id is simply nobody's.
    pub fn given(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A task that is about to begin.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// Its id.
    pub id: TaskId,
    /// Whose it is: [`Principal::key`](crate::Principal::key).
    pub owner: String,
    /// The tool that runs.
    pub tool: String,
    /// The operation, as its verdict names it.
    pub operation: OperationId,
    /// The arguments, kept only where the task may be taken up again by another process.
    pub arguments: Option<Value>,
    /// How long it is kept, from its creation; `None` for ever.
    pub ttl: Option<Duration>,
}

/// A task as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// Whose it is: [`Principal::key`](crate::Principal::key).
    pub owner: String,
    /// The tool that runs.
    pub tool: String,
    /// The operation, as its verdict names it.
    pub operation: OperationId,
    /// The arguments, where it may be taken up again.
    pub arguments: Option<Value>,
    /// The answers given so far, by key, each with the question that was shown, where it may be taken up again.
    pub answers: BTreeMap<String, Value>,
    /// Where it stands, with what belongs to it.
    pub state: State,
    /// One sentence about where it stands.
    pub message: Option<String>,
    /// When it was created.
    pub created: Timestamp,
    /// When it last changed.
    pub updated: Timestamp,
    /// How long it is kept, from its creation; `None` for ever.
    pub ttl: Option<Duration>,
    /// Who works on it.
    pub keeper: Keeper,
}

/// Who works on a task that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeper {
    /// The process that asks.
    Here,
    /// Another living process with the same store.
    Elsewhere,
    /// None: it waits for its user, and can be taken up again.
    Nobody,
}

/// Where a task stands, with what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// The tool runs.
    Working,
    /// The tool waits for these, by key: each an `elicitation/create`, `sampling/createMessage` or `roots/list` request
    /// as JSON (2026-07-28 `InputRequest`).
    InputRequired(BTreeMap<String, Value>),
    /// It is over.
    Ended(End),
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The tool ran to its end; this is its `CallToolResult`.
    Completed(JsonObject),
    /// It did not; this is the JSON-RPC error.
    Failed(JsonObject),
    /// It stopped because it was asked to; its `CallToolResult`, where it gave one.
    Cancelled(Option<JsonObject>),
}

impl State {
    /// The status alone.
    pub fn status(&self) -> Status {
        match self {
            Self::Working => Status::Working,
            Self::InputRequired(_) => Status::InputRequired,
            Self::Ended(End::Completed(_)) => Status::Completed,
            Self::Ended(End::Failed(_)) => Status::Failed,
            Self::Ended(End::Cancelled(_)) => Status::Cancelled,
        }
    }
}

impl End {
    /// A protocol error as an end.
    pub fn failed(error: &ErrorData) -> Self {
        match serde_json::to_value(error) {
            Ok(Value::Object(error)) => Self::Failed(error),
            // Its members are a number, a text and JSON: they can always be written.
            Ok(_) | Err(_) => Self::Failed(JsonObject::new()),
        }
    }

    /// What it holds besides its status.
    pub fn held(&self) -> Option<&JsonObject> {
        match self {
            Self::Completed(object) | Self::Failed(object) => Some(object),
            Self::Cancelled(object) => object.as_ref(),
        }
    }
}

/// One step of a task. A store takes it only if it may follow from where the task stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Where the task stands afterwards.
    pub state: State,
    /// One sentence about it.
    pub message: Option<String>,
    /// Answers that came with this step, by key. Kept where the task may be taken up again.
    pub answers: BTreeMap<String, Value>,
}

impl Step {
    /// A step to this state.
    pub fn to(state: State) -> Self {
        Self {
            state,
            message: None,
            answers: BTreeMap::new(),
        }
    }

    /// Says one sentence about it.
    #[must_use]
    pub fn saying(self, message: impl Into<String>) -> Self {
        Self {
            message: Some(message.into()),
            ..self
        }
    }
}

impl Task {
    /// A new task as it stands at first.
    pub fn begun(new: NewTask, now: Timestamp) -> Self {
        Self {
            id: new.id,
            owner: new.owner,
            tool: new.tool,
            operation: new.operation,
            arguments: new.arguments,
            answers: BTreeMap::new(),
            state: State::Working,
            message: None,
            created: now,
            updated: now,
            ttl: new.ttl,
            keeper: Keeper::Here,
        }
    }

    /// Where it stands.
    pub fn status(&self) -> Status {
        self.state.status()
    }

    /// May another process run its tool again, with its arguments and the answers so far?
    pub fn may_be_resumed(&self) -> bool {
        self.arguments.is_some()
    }

    /// Until when it is kept.
    pub fn expiry(&self) -> Option<Timestamp> {
        state::expiry(self.created, self.ttl)
    }

    /// Takes one step. The one place where a task changes, for every store.
    ///
    /// # Errors
    ///
    /// [`state::OutOfTurn`] if the step may not follow; nothing is changed then.
    pub fn take(&mut self, step: Step, now: Timestamp) -> Result<(), state::OutOfTurn> {
        self.status().turn(step.state.status())?;
        self.state = step.state;
        self.message = step.message;
        self.updated = now.max(self.created);
        if self.may_be_resumed() {
            self.answers.extend(step.answers);
        }
        // What was kept for a second run has no use after the end, and may be private.
        if self.status().is_final() {
            self.arguments = None;
            self.answers.clear();
        }
        Ok(())
    }
}
