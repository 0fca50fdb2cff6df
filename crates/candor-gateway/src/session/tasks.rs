//! Calls of slow tools as tasks, where a contract says so and the client takes tasks: it gets an id once the intent is on disk,
//! and asks for what became of the call. The id is the operation's, so the record answers for it when this process is gone.
//!
//! Nothing here is the server's business: to it the call is like any other.

mod asked;
mod offer;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use candor_core::call::request::CallRequest;
use candor_core::delivery::answer::own_error;
use candor_core::delivery::task::{Status, Told, payload};
use candor_core::names::{OperationId, UnixMillis};
use candor_core::wire::encode::Pieces;
use candor_core::wire::reply::Reply;
use candor_core::wire::revision::{Era, Revision};
use tokio::time::Instant;

use super::pending::{CallKey, Origin};
use super::state::Session;
use super::timers::Timer;
use crate::clock;
use crate::recorder::Recorder;

/// Tasks that run at once; further calls are plain ones.
const MOST_TASKS: usize = 64;
/// Ended tasks whose answers are kept here too. All others are in the record.
const MOST_ENDED: usize = 32;
/// Clients that wait for the end of one task at once.
const MOST_WAITING: usize = 16;
/// Where a task is Candor's choice (2026-07-28), a call that is answered so soon is none.
const SOON: Duration = Duration::from_secs(1);
/// JSON-RPC 2.0, section 5.1: what 2025-11-25 and the extension say of a task that is not there.
const INVALID_PARAMS: i64 = -32602;

/// The tasks of one session.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    known: BTreeMap<OperationId, Task>,
    /// The running ones by their calls.
    running: HashMap<CallKey, OperationId>,
    /// The ended ones, oldest first.
    ended: VecDeque<OperationId>,
    /// Does the server itself take tasks? Then it is left to it.
    server_takes_them: bool,
}

/// When a call is to become a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// As soon as it is on record: its client asked for that (2025-11-25).
    Now,
    /// If its answer takes long: its client leaves it to us (2026-07-28).
    Soon,
}

#[derive(Debug)]
struct Task {
    call: CallKey,
    wish: Wish,
    revision: Revision,
    created: UnixMillis,
    /// Is its intent on disk? Before that nobody is told its id.
    on_record: bool,
    /// Is it time to tell?
    is_due: bool,
    /// Was the client told its id?
    is_told: bool,
    /// When the client gave it up.
    cancelled: Option<UnixMillis>,
    end: Option<End>,
    /// Who waits for its end.
    waiting: Vec<Origin>,
}

#[derive(Debug)]
struct End {
    at: UnixMillis,
    /// What the call's client was to be told.
    answer: Option<Reply>,
}

impl Task {
    fn told(&self, id: OperationId) -> Told {
        let answer = self.end.as_ref().and_then(|end| end.answer.as_ref());
        let status = match (self.cancelled, &self.end) {
            (Some(_), _) => Status::Cancelled,
            (None, None) => Status::Working,
            (None, Some(_)) => {
                answer.map_or(Status::Failed, |answer| Status::of_answer(answer, self.revision))
            }
        };
        let given_up =
            "It was given up. Whether it was done is in the record of the call, as far as it is known.";
        Told {
            id,
            status,
            message: self.cancelled.map(|_| given_up.to_owned()),
            created: self.created,
            updated: self
                .cancelled
                .or(self.end.as_ref().map(|end| end.at))
                .unwrap_or(self.created),
        }
    }
}

impl Tasks {
    /// Is this call a task?
    pub(super) fn has(&self, call: CallKey) -> bool {
        self.running.contains_key(&call)
    }
}

impl Session {
    /// Is this call to become a task?
    pub(super) fn wants_task(&self, request: &CallRequest) -> Option<Wish> {
        let wish = match request.revision {
            Revision::V2025_11_25 if request.as_task => Wish::Now,
            revision if revision.era() == Era::Modern && !request.is_round && request.takes_tasks() => {
                Wish::Soon
            }
            _ => return None,
        };
        let can_be = matches!(self.recorder, Recorder::Ledger(_)) && !self.tasks.server_takes_them;
        let offered = can_be && self.terms()(&request.tool).task.value;
        (offered && self.tasks.running.len() < MOST_TASKS).then_some(wish)
    }

    /// This call is a task from now on.
    pub(super) fn begin_task(
        &mut self,
        call: CallKey,
        operation: OperationId,
        wish: Wish,
        revision: Revision,
    ) {
        let task = Task {
            call,
            wish,
            revision,
            created: clock::now(),
            on_record: false,
            is_due: wish == Wish::Now,
            is_told: false,
            cancelled: None,
            end: None,
            waiting: Vec::new(),
        };
        self.tasks.known.insert(operation, task);
        self.tasks.running.insert(call, operation);
        if wish == Wish::Soon {
            self.set_timer(Instant::now() + SOON, Timer::Task(operation));
        }
    }

    /// The intent of a call is on disk.
    pub(super) fn task_on_record(&mut self, call: CallKey) {
        if let Some(&operation) = self.tasks.running.get(&call)
            && let Some(task) = self.tasks.known.get_mut(&operation)
        {
            task.on_record = true;
            self.tell_task(operation);
        }
    }

    /// A call has taken so long that it is a task.
    pub(super) fn task_due(&mut self, operation: OperationId) {
        if let Some(task) = self.tasks.known.get_mut(&operation) {
            task.is_due = true;
            self.tell_task(operation);
        }
    }

    /// Gives the client the id of its task, once, when it is time and the task is on record.
    fn tell_task(&mut self, operation: OperationId) {
        let Some(task) = self.tasks.known.get_mut(&operation) else {
            return;
        };
        let may = task.is_due && task.on_record && !task.is_told;
        let Some(active) = self.calls.get(&task.call).filter(|_| may) else {
            return;
        };
        task.is_told = true;
        let frame = task.told(operation).created(&active.origin.id, task.revision);
        let origin = active.origin.clone();
        self.answer(&origin, frame);
    }

    /// A call has its answer, or has ended without one. False where that is to be delivered as ever.
    pub(super) fn end_task(&mut self, call: CallKey, origin: &Origin, frame: Option<&Pieces>) -> bool {
        let Some(operation) = self.tasks.running.remove(&call) else {
            return false;
        };
        let Some(task) = self.tasks.known.get_mut(&operation) else {
            return false;
        };
        if !task.is_told && task.wish == Wish::Soon {
            self.tasks.known.remove(&operation);
            return false;
        }
        task.end = Some(End {
            at: clock::now(),
            answer: frame.and_then(|frame| Reply::parse(frame.clone().into_text())),
        });
        // Whoever asked for a task gets one, also of a call that was refused.
        let created = (!task.is_told).then(|| task.told(operation).created(&origin.id, task.revision));
        task.is_told = true;
        let waiting = std::mem::take(&mut task.waiting);
        if let Some(frame) = created {
            self.answer(origin, frame);
        }
        for origin in waiting {
            self.give_payload(operation, &origin);
        }
        self.tasks.ended.push_back(operation);
        if self.tasks.ended.len() > MOST_ENDED
            && let Some(oldest) = self.tasks.ended.pop_front()
        {
            self.tasks.known.remove(&oldest);
        }
        true
    }

    /// Answers `tasks/result` of a task that has ended.
    fn give_payload(&mut self, operation: OperationId, origin: &Origin) {
        let task = self.tasks.known.get(&operation);
        let answer = task.and_then(|task| task.end.as_ref()?.answer.as_ref());
        match answer.and_then(|answer| payload(&origin.id, operation, answer)) {
            Some(frame) => self.answer(origin, frame),
            // Nobody was to be told: what the record says stands for it.
            None => self.ask_kept(operation, asked::Asks::Payload, origin),
        }
    }

    fn no_such_task(&mut self, origin: &Origin, why: &str) {
        let frame = own_error(Some(&origin.id), INVALID_PARAMS, why, None);
        self.answer(origin, frame);
    }
}
