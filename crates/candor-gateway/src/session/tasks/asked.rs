//! What a client asks of its tasks: `tasks/get`, `tasks/result`, `tasks/cancel`, `tasks/update`.

use candor_core::call::machine::Event;
use candor_core::delivery::answer::own_error;
use candor_core::delivery::redaction::KnownSecrets;
use candor_core::delivery::task::{Kept, Status, Teller, payload};
use candor_core::names::{OperationId, ServerName, UnixMillis};
use candor_core::wire::encode::Pieces;
use candor_core::wire::envelope::{Request, text_of};
use candor_core::wire::members::object;
use candor_core::wire::method::Method;
use candor_core::wire::revision::{Era, Revision};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;
use uuid::Uuid;

use super::{INVALID_PARAMS, MOST_WAITING};
use crate::clock;
use crate::deadline::deadline;
use crate::recorder::Recorder;
use crate::session::from_host::INTERNAL_ERROR;
use crate::session::keys::first_use;
use crate::session::pending::{CallKey, Origin};
use crate::session::state::{Recorded, Session};

/// What is asked of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// Where it stands.
    State,
    /// What became of it (2025-11-25).
    Payload,
    /// To give it up.
    Cancel,
    /// To take an answer to what it asks (2026-07-28). A task of ours asks nothing.
    Update,
}

impl Asks {
    fn of(method: &str, era: Era) -> Option<Self> {
        match (method, era) {
            ("tasks/get", _) => Some(Self::State),
            ("tasks/cancel", _) => Some(Self::Cancel),
            ("tasks/result", Era::Legacy) => Some(Self::Payload),
            ("tasks/update", Era::Modern) => Some(Self::Update),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct TaskParams<'a> {
    #[serde(borrow, rename = "taskId")]
    task: &'a RawValue,
}

impl Session {
    /// Is this request about a task of ours? Then it is answered here, and the server never hears of it.
    pub(in crate::session) fn answers_task(&mut self, request: &Request<'_>, origin: &Origin) -> bool {
        if !request.method.starts_with("tasks/") || !self.offers_tasks() || self.tasks.server_takes_them {
            return false;
        }
        self.note_client(request, Method::Other);
        let revision = self.revision_in_force();
        let Some(asks) = Asks::of(&request.method, revision.era()) else {
            return false;
        };
        let id = request
            .params
            .and_then(|params| object::<TaskParams<'_>>(params.get()))
            .and_then(|params| Uuid::parse_str(&text_of(params.task.get()).ok()?).ok());
        match id.map(OperationId::new) {
            Some(operation) if self.tasks.known.contains_key(&operation) => {
                self.ask_task(operation, asks, origin);
            }
            Some(operation) => self.ask_kept(operation, asks, origin),
            None => self.no_such_task(
                origin,
                "taskId is none that was given out here; the id of a task was expected",
            ),
        }
        true
    }

    /// A task that this process knows.
    fn ask_task(&mut self, operation: OperationId, asks: Asks, origin: &Origin) {
        let Some(task) = self.tasks.known.get_mut(&operation) else {
            return;
        };
        let (revision, told) = (task.revision, task.told(operation));
        let has_ended = task.end.is_some() || task.cancelled.is_some();
        match asks {
            Asks::State => {
                let end = task.end.as_ref().and_then(|end| end.answer.as_ref());
                let frame = told.shown(&origin.id, revision, end);
                self.answer(origin, frame);
            }
            Asks::Payload if task.end.is_some() => self.give_payload(operation, origin),
            Asks::Payload if task.waiting.len() >= MOST_WAITING => {
                let why = format!("{MOST_WAITING} requests wait for the end of this task already");
                self.no_such_task(origin, &why);
            }
            Asks::Payload => {
                task.waiting.push(origin.clone());
                self.next_call += 1;
                self.pending.hold(&origin.id, CallKey(self.next_call));
            }
            Asks::Cancel if has_ended => self.refuse_cancel(told.status, revision, origin),
            Asks::Cancel => self.cancel_task(operation, origin),
            Asks::Update => self.no_such_task(origin, "this task asks for nothing"),
        }
    }

    fn cancel_task(&mut self, operation: OperationId, origin: &Origin) {
        let Some(task) = self.tasks.known.get_mut(&operation) else {
            return;
        };
        task.cancelled = Some(clock::now());
        let (call, revision, told) = (task.call, task.revision, task.told(operation));
        self.answer(origin, told.cancelled(&origin.id, revision));
        // One that has not left is taken back. The server is told of one that has, and may have done it all the same.
        if !self.recall(call) {
            self.cancel_upstream(call);
        }
        // Nobody waits for a task's long deadline any more; an answer that still comes gets into the record.
        let patience = deadline(
            self.command_line.timeout,
            self.host_name.as_deref(),
            self.tool_timeout,
        );
        self.set_deadline(call, Instant::now() + patience.wait);
        self.happened(call, Event::Cancelled);
    }

    /// A request that waits for the end of a task is withdrawn: it is not answered (MCP, cancellation), and the task goes on.
    pub(in crate::session) fn leave_task(&mut self, request: &str) -> bool {
        let left = self.tasks.known.values_mut().find_map(|task| {
            let at = task.waiting.iter().position(|origin| origin.id == request)?;
            Some(task.waiting.swap_remove(at))
        });
        if let Some(origin) = &left {
            self.leave_unanswered(origin);
        }
        left.is_some()
    }

    /// An end is final (2025-11-25, tasks); 2026-07-28 acknowledges every cancel.
    fn refuse_cancel(&mut self, status: Status, revision: Revision, origin: &Origin) {
        let frame = cancel_refused(&origin.id, status, revision);
        self.answer(origin, frame);
    }

    /// A task that this process does not know, or has forgotten: the record is read beside the loop.
    pub(super) fn ask_kept(&mut self, operation: OperationId, asks: Asks, origin: &Origin) {
        if asks == Asks::Update {
            self.no_such_task(origin, "this task asks for nothing");
            return;
        }
        if let Some(why) = self.own_tools.is_busy() {
            self.refuse(origin, INTERNAL_ERROR, &why);
            return;
        }
        self.next_call += 1;
        self.pending.hold(&origin.id, CallKey(self.next_call));
        let reading = Reading {
            recorder: self.recorder.clone(),
            server: self.name(),
            revision: self.revision_in_force(),
            secrets: self.secrets.clone(),
        };
        let origin = origin.clone();
        self.records.spawn(async move {
            let id = origin.id.clone();
            let read = tokio::task::spawn_blocking(move || reading.answer(&id, operation, asks));
            let frame = match read.await {
                Ok(frame) => frame,
                Err(_) => own_error(
                    Some(&origin.id),
                    INTERNAL_ERROR,
                    "the record could not be read",
                    None,
                ),
            };
            Recorded::OwnAnswer(origin, frame)
        });
    }
}

fn cancel_refused(id: &str, status: Status, revision: Revision) -> String {
    if revision.era() == Era::Modern {
        return format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"resultType\":\"complete\"}}}}");
    }
    let why = match status {
        Status::Working => "this task runs in another process, and can't be cancelled here".to_owned(),
        ended => format!("this task is {} already; nothing changed", ended.as_str()),
    };
    own_error(Some(id), INVALID_PARAMS, &why, None)
}

/// Whose tasks are told, and in which words.
struct Reading {
    recorder: Recorder,
    server: ServerName,
    revision: Revision,
    secrets: KnownSecrets,
}

impl Reading {
    /// What the record has of a task of this server; where it can't be read, why.
    fn kept(&self, operation: OperationId) -> Result<Option<Kept>, String> {
        let Some((first, recording)) = self.recorder.keyed_operation(operation)? else {
            return Ok(None);
        };
        let Some(last) = &first.last else {
            return Ok(None);
        };
        // Another server's task, and none at all, are the same to whoever asks.
        if last.entry.server != self.server.as_str() {
            return Ok(None);
        }
        let (tool, updated) = (last.entry.tool.clone(), UnixMillis(last.entry.at_ms));
        let arguments = first.arguments;
        let first = first_use(first, recording, &arguments);
        let teller = Teller {
            server: self.server.as_str(),
            tool: &tool,
            revision: self.revision,
            secrets: &self.secrets,
        };
        Ok(Some(teller.kept(&first, opened(operation), updated)))
    }

    /// The answer to what is asked of it.
    fn answer(&self, id: &str, operation: OperationId, asks: Asks) -> String {
        let kept = match self.kept(operation) {
            Ok(Some(kept)) => kept,
            Ok(None) => {
                let why =
                    "no such task: it was never given out, belongs to another server, or its time is over";
                return own_error(Some(id), INVALID_PARAMS, why, None);
            }
            Err(why) => {
                let why = format!("the record of calls can't be read: {why}");
                return own_error(Some(id), INTERNAL_ERROR, &why, None);
            }
        };
        match (asks, &kept.answer) {
            (Asks::State | Asks::Update, answer) => kept.told.shown(id, self.revision, answer.as_ref()),
            (Asks::Cancel, _) => cancel_refused(id, kept.told.status, self.revision),
            (Asks::Payload, None) => {
                let why =
                    "this task runs in another process; ask again when tasks/get says that it has ended";
                own_error(Some(id), INVALID_PARAMS, why, None)
            }
            (Asks::Payload, Some(answer)) => payload(id, operation, answer).map_or_else(
                || own_error(Some(id), INTERNAL_ERROR, "the kept answer can't be read", None),
                Pieces::into_text,
            ),
        }
    }
}

/// When an operation was opened, by its id (RFC 9562, section 5.7).
fn opened(operation: OperationId) -> UnixMillis {
    let since = operation
        .uuid()
        .get_timestamp()
        .map_or((0, 0), |stamp| stamp.to_unix());
    let millis = since
        .0
        .saturating_mul(1_000)
        .saturating_add(u64::from(since.1 / 1_000_000));
    UnixMillis(i64::try_from(millis).unwrap_or(i64::MAX))
}
