//! A running child process: waiting for its end, and bringing it about.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::exit::Exit;
use crate::group::Group;
use crate::sink::FrameSink;

/// How often a process group is looked at while its last members leave. No event tells of it.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// How long each step of [`ChildProcess::stop`] may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    /// From the end of its input to SIGTERM.
    pub after_close: Duration,
    /// From SIGTERM to SIGKILL.
    pub after_terminate: Duration,
    /// From SIGKILL until we go on without it: a process stuck in the kernel does not even die.
    pub after_kill: Duration,
}

impl Default for Grace {
    /// 3 s, 3 s and 1 s.
    fn default() -> Self {
        Self {
            after_close: Duration::from_secs(3),
            after_terminate: Duration::from_secs(3),
            after_kill: Duration::from_secs(1),
        }
    }
}

/// A child process that leads a process group of its own.
///
/// Dropping it neither stops nor kills anything (a drop could tell no one that it failed): call
/// [`ChildProcess::stop`] or [`ChildProcess::kill_group`].
#[derive(Debug)]
pub struct ChildProcess {
    child: tokio::process::Child,
    group: Group,
    exit: Option<Exit>,
}

impl ChildProcess {
    pub(crate) fn new(child: tokio::process::Child) -> Self {
        let group = Group::led_by(child.id());
        Self {
            child,
            group,
            exit: None,
        }
    }

    /// Its process id, which is also that of its group; `None` once its end was seen by [`ChildProcess::wait`].
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the end of the child itself, whatever its descendants do. Gives the same answer when asked
    /// again. Cancel-safe; the deadline is the caller's.
    ///
    /// A descendant may still hold the child's stdout open, so that its end never comes: read what is left with
    /// [`FrameReader::next_within`](crate::FrameReader::next_within).
    pub async fn wait(&mut self) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        let exit = match self.child.wait().await {
            Ok(status) => Exit::from(status),
            Err(error) => {
                tracing::warn!(%error, "the end of the child process can't be known");
                Exit::Lost
            }
        };
        self.exit = Some(exit);
        exit
    }

    /// Ends the child and its whole process group: the end of its input, then SIGTERM, then SIGKILL, each with
    /// its time. Descendants that outlive the child itself get SIGTERM at once, then SIGKILL.
    ///
    /// Calls still open are the caller's business, before. Returns within the sum of `grace`. Whoever wants to
    /// know what the child says while it leaves goes on reading its output at the same time: a child that
    /// blocks on a full pipe can't leave by itself. Cancel-safe in that it can be called again.
    ///
    /// A descendant that has left the process group (a daemon) is not reached.
    pub async fn stop(&mut self, input: &FrameSink, grace: Grace) -> Exit {
        input.close();
        let left_by_itself = timeout(grace.after_close, self.wait()).await.is_ok();
        if !(left_by_itself && self.group.is_empty()) {
            self.group.terminate();
            if timeout(grace.after_terminate, self.all_gone()).await.is_err() {
                // Nobody can refuse it, so the others need not be waited for: only for the child is there an answer.
                self.group.kill();
                if timeout(grace.after_kill, self.wait()).await.is_err() {
                    tracing::warn!("the child process is still there after SIGKILL; going on without it");
                }
            }
        }
        // Whatever is still queued has no reader any more, or only one that is not ours to wait for.
        input.abandon();
        self.exit.unwrap_or(Exit::Lost)
    }

    /// Sends SIGKILL to the whole process group, and does not wait. Does nothing once all are known to be gone.
    pub fn kill_group(&mut self) {
        self.group.kill();
    }

    async fn all_gone(&mut self) {
        self.wait().await;
        while !self.group.is_empty() {
            sleep(LOOK_AGAIN).await;
        }
    }
}
