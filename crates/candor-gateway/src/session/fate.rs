//! The ends: of the server, of the host, of both.

use candor_core::call::machine::{Event, Loss};
use candor_core::contract::effect::EffectClass;

use super::state::{Active, Server, Session};

impl Session {
    /// The server is gone: everything that waits for it ends now, as the table says.
    pub(super) fn server_ended(&mut self, exit: &str) {
        let exit = exit.to_owned();
        tracing::warn!(server = %self.name(), %exit, "the server ended");
        let reviving = matches!(self.server, Server::Reviving);
        self.server = Server::Gone(exit.clone());
        let restarts = self.note_death();
        // Nothing that is still queued can leave any more; what was not begun provably never left.
        self.to_server.abandon();
        self.end_listing(Err(format!("the server ended ({exit})")));
        self.lose_own(&format!("the server ended ({exit})"));
        for key in self.open_calls() {
            let Some(sent) = self.calls.get(&key).and_then(|active| active.sent) else {
                continue;
            };
            let loss = if self.to_server.withdraw(sent.frame) {
                Loss::NeverLeft {
                    why: format!("ended ({exit}) before a byte of this call left for it"),
                    lasts: !restarts,
                }
            } else {
                Loss::Closed {
                    exit: exit.clone(),
                    restarts,
                }
            };
            self.happened(key, Event::Lost(loss));
        }
        for active in self.calls.values_mut().filter(|active| active.told) {
            if let Some(timer) = active.timer.take() {
                self.timers.remove(&timer);
            }
        }
        if reviving {
            self.revival_failed(&format!("it ended again ({exit})"));
        } else {
            self.refuse_host_requests(&format!("ended ({exit}) before it answered"));
        }
    }

    /// The host is gone for good. Reads are given up; a write is listened to until its deadline, so that the record
    /// can say what came of it.
    pub(super) fn host_gone(&mut self) {
        if self.host_left {
            return;
        }
        self.host_left = true;
        tracing::debug!("the host is gone");
        for key in self.open_calls() {
            self.recall(key);
            let Some(active) = self.calls.get(&key) else {
                continue;
            };
            if active.call.class() == EffectClass::Read || active.sent.is_none() {
                self.cancel_upstream(key);
                self.happened(key, Event::Cancelled);
            }
        }
        for origin in self.pending.take_host_requests(false) {
            self.pending.release(&origin.id);
        }
    }

    /// This process is told to end: nothing is waited for any more.
    pub(super) fn give_up(&mut self) {
        self.host_gone();
        for key in self.open_calls() {
            self.recall(key);
            self.happened(key, Event::Cancelled);
        }
        self.timers.clear();
    }

    /// Is there nothing left to wait for?
    pub(super) fn is_quiet(&self) -> bool {
        self.records.is_empty()
            && self.malformed.is_empty()
            && self.calls.values().all(Active::is_settled)
            && self.pending.is_quiet()
    }
}
