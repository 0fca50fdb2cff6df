//! By what terms tasks run: how long they are kept, how many at once, and by which clock.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use candor_core::names::OperationId;
use jiff::Timestamp;
use serde_json::Value;

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
