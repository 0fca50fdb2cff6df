//! The process group of one child: signals that reach every descendant which did not leave it.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid};

/// The process group that a child leads.
///
/// Its number can be given to strangers as soon as the leader is reaped and no member is left, so the group is
/// forgotten at the first sight of that.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Option<Pid>,
}

impl Group {
    /// The group of the process `leader`, which was started as the leader of a new one.
    pub(crate) fn led_by(leader: Option<u32>) -> Self {
        let leader = leader
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        Self { leader }
    }

    /// Asks every member to end.
    pub(crate) fn terminate(&mut self) {
        self.signal(Signal::TERM);
    }

    /// Ends every member.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    /// Whether no member is left. Call it only when the leader is reaped: it reaps what it finds.
    pub(crate) fn is_empty(&mut self) -> bool {
        let Some(leader) = self.leader else { return true };
        // Where we are the first process of a container, orphans of the group have become our own children.
        while let Ok(Some(_)) = waitpgid(leader, WaitOptions::NOHANG) {}
        if test_kill_process_group(leader) == Err(Errno::SRCH) {
            self.leader = None;
        }
        self.leader.is_none()
    }

    fn signal(&mut self, signal: Signal) {
        if let Some(leader) = self.leader
            && let Err(error) = kill_process_group(leader, signal)
        {
            if error == Errno::SRCH {
                self.leader = None;
            } else {
                tracing::debug!(%error, ?signal, "a signal to the child's process group was refused");
            }
        }
    }
}
