//! What one session knows and holds.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use bytestring::ByteString;
use candor_core::call::machine::{Call, Circumstances};
use candor_core::call::request::CallRequest;
use candor_core::contract::terms::ToolTerms;
use candor_core::delivery::answer::{Draft, own_error};
use candor_core::delivery::redaction::{KnownSecrets, least};
use candor_core::names::{ServerName, ToolName};
use candor_core::record::bodies::digest;
use candor_core::record::{Entry, Recording};
use candor_core::recovery::settle::Open;
use candor_core::wire::encode::Pieces;
use candor_core::wire::revision::Revision;
use candor_ledger::StoredEntry;
use candor_transport::{FrameNumber, FrameSink, NoiseLog, SinkClosed};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::batches::{Answered, Batches};
use super::breaker::Breakers;
use super::calls::MOST_QUEUED;
use super::confirming::Confirming;
use super::following::{Following, LeftAccepted};
use super::keys::Keyed;
use super::listing::Listing;
use super::news::Newsroom;
use super::own_tools::OwnTools;
use super::pending::{BatchKey, CallKey, Origin, Pending};
use super::reconciler::Reconciler;
use super::recovery::Planned;
use super::revival::Revival;
use super::rounds::Rounds;
use super::tasks::Tasks;
use super::timers::{Timer, TimerKey};
use crate::catalogue::Catalogue;
use crate::config::{CommandLine, Config};
use crate::deadline::{Deadline, deadline};
use crate::packs::Packs;
use crate::recorder::Recorder;

/// Refusals of the same arguments are counted for this many different calls.
const MOST_REFUSALS: usize = 512;

/// A tool call that is open, or told and listened for.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) call: Call,
    pub(super) origin: Origin,
    pub(super) opened: Instant,
    pub(super) sent: Option<Sent>,
    /// Its deadline.
    pub(super) timer: Option<TimerKey>,
    /// Entries of a trusted read that wait for its verdict.
    pub(super) deferred: Vec<Entry>,
    pub(super) deadline: Deadline,
    pub(super) progress_token: Option<String>,
    pub(super) told: bool,
    /// A look at what it left behind, to come.
    pub(super) look: Option<Planned>,
}

impl Active {
    /// Is it told, and not one that must be listened for until its deadline?
    pub(super) fn is_settled(&self) -> bool {
        self.told && self.timer.is_none()
    }
}

/// Where a request stands on the wire.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) upstream: u64,
    pub(super) frame: FrameNumber,
    pub(super) at: Instant,
}

/// The server's side.
#[derive(Debug)]
pub(super) enum Server {
    /// It runs.
    Running,
    /// It is being started anew.
    Reviving,
    /// It is gone; this is how it ended ("exit 137").
    Gone(String),
}

/// What came of putting entries on disk, for whom.
#[derive(Debug)]
pub(super) enum Recorded {
    Call(CallKey, Recording),
    Malformed(CallKey, Recording),
    /// What the ledger has that is not settled.
    Unsettled(Vec<Open>),
    /// Not written but read: what earlier runs left accepted.
    LeftAccepted(Vec<LeftAccepted>),
    Keyed(CallKey, Keyed),
    Looked(Vec<StoredEntry>),
    /// Not written but read: the answer to a question of the host's about the record.
    OwnAnswer(Origin, String),
}

pub(super) struct Session {
    pub(super) config: Config,
    pub(super) command_line: CommandLine,
    /// The contract packs that may be applied.
    pub(super) packs: Packs,
    /// The name given by the operator (`--name`).
    pub(super) given_name: Option<ServerName>,
    /// The name to use until the server says its own.
    pub(super) fallback_name: ServerName,
    pub(super) server_name: Option<ServerName>,
    pub(super) host_name: Option<String>,
    pub(super) tool_timeout: Option<Duration>,
    pub(super) ledger_required: bool,
    pub(super) frame_limit: usize,
    pub(super) circumstances: Option<Arc<Circumstances>>,
    /// The revision agreed on by `initialize`, or the one asked for until the answer is there.
    pub(super) revision: Option<Revision>,
    pub(super) initialized: bool,
    /// Did the host ask for a session (legacy)?
    pub(super) has_handshake: bool,
    pub(super) recorder: Recorder,
    /// Values that are masked wherever Candor writes.
    pub(super) secrets: KnownSecrets,
    pub(super) to_host: FrameSink,
    pub(super) to_server: FrameSink,
    pub(super) server: Server,
    pub(super) revival: Revival,
    pub(super) reconciler: Reconciler,
    pub(super) breakers: Breakers,
    pub(super) host_left: bool,
    /// Frames gather before they are written: more have been read already than the one that is being carried.
    pub(super) gathers: bool,
    pub(super) pending: Pending,
    pub(super) batches: Batches,
    pub(super) calls: HashMap<CallKey, Active>,
    pub(super) confirming: Confirming,
    pub(super) following: Following,
    pub(super) own_tools: OwnTools,
    pub(super) malformed: HashMap<CallKey, (Draft, Origin)>,
    pub(super) progress: HashMap<String, CallKey>,
    pub(super) next_call: u64,
    pub(super) catalogue: Catalogue,
    pub(super) listing: Option<Listing>,
    pub(super) host_list: Option<(String, crate::catalogue::Pages)>,
    pub(super) timers: BTreeMap<TimerKey, Timer>,
    pub(super) next_timer: u64,
    pub(super) records: JoinSet<Recorded>,
    pub(super) refusals: HashMap<String, u32>,
    /// What the server is to its idempotency keys.
    pub(super) key_server: String,
    pub(super) rounds: Rounds,
    pub(super) tasks: Tasks,
    pub(super) news: Newsroom,
    pub(super) refusal_order: VecDeque<String>,
    pub(super) noise: NoiseLog,
    pub(super) strays: u64,
}

impl Session {
    /// The server's name as records and texts show it.
    pub(super) fn name(&self) -> ServerName {
        self.given_name
            .as_ref()
            .or(self.server_name.as_ref())
            .unwrap_or(&self.fallback_name)
            .clone()
    }

    /// What holds for every call; made anew when a name becomes known.
    pub(super) fn circumstances(&mut self) -> Arc<Circumstances> {
        if let Some(known) = &self.circumstances {
            return Arc::clone(known);
        }
        let made = Arc::new(Circumstances {
            server: self.name(),
            host: self.host_name.clone(),
            principal: self.command_line.principal.clone(),
            ledger_required: self.ledger_required,
            has_ledger: self.recorder.is_on(),
            deadline: deadline(None, self.host_name.as_deref(), self.tool_timeout).wait,
            secrets: self.secrets.clone(),
        });
        self.circumstances = Some(Arc::clone(&made));
        made
    }

    /// What an operator said of a tool.
    pub(super) fn terms(&self) -> impl Fn(&ToolName) -> ToolTerms + use<'_> {
        let server = self.name();
        move |tool| {
            let pack = self.packs.tool(tool);
            self.config
                .for_tool_over(server.as_str(), tool.as_str(), &self.command_line, pack)
        }
    }

    /// The revision in force where a request does not say its own.
    pub(super) fn revision_in_force(&self) -> Revision {
        self.revision.unwrap_or(Revision::V2025_11_25)
    }

    /// Sends a frame to the host. A host that is gone is noticed by the loop.
    pub(super) fn tell_host(&self, frame: impl Into<Bytes>) {
        self.tell_host_in(vec![frame.into()]);
    }

    /// Sends a frame in pieces.
    fn tell_host_in(&self, pieces: Vec<Bytes>) {
        if self.put(&self.to_host, pieces).is_err() {
            tracing::debug!("the host is gone; a frame for it was dropped");
        }
    }

    /// Sends a frame to the server; false if nothing can be sent to it any more.
    pub(super) fn tell_server(&self, frame: impl Into<Bytes>) -> bool {
        matches!(self.server, Server::Running)
            && self.to_server.queued() <= MOST_QUEUED
            && self.put(&self.to_server, vec![frame.into()]).is_ok()
    }

    /// Puts a frame on its way: at once, or together with those that follow it.
    pub(super) fn put(&self, sink: &FrameSink, pieces: Vec<Bytes>) -> Result<FrameNumber, SinkClosed> {
        if self.gathers {
            sink.push_pieces(pieces)
        } else {
            sink.push_now(pieces)
        }
    }

    /// Gives the host the answer to a request.
    pub(super) fn answer(&mut self, origin: &Origin, frame: impl Into<Pieces>) {
        self.pending.release(&origin.id);
        let frame: Pieces = frame.into();
        match origin.batch {
            None => self.tell_host_in(frame.into_iter().map(ByteString::into_bytes).collect()),
            Some(key) => self.batch_answer(key, frame.into_text()),
        }
    }

    /// Gives a batch one of its answers. One that was sent already gets the rest one by one.
    pub(super) fn batch_answer(&mut self, key: BatchKey, frame: String) {
        match self.batches.answer(key, frame) {
            Answered::Waiting => {}
            Answered::Whole(array) => self.tell_host(array),
            Answered::Alone(frame) => self.tell_host(frame),
        }
    }

    /// A batch has waited long enough: what is there goes out, the rest follows alone.
    pub(super) fn batch_timed_out(&mut self, key: BatchKey) {
        if let Some(array) = self.batches.give_up(key) {
            self.tell_host(array);
        }
    }

    /// A request of the host's that nobody will answer.
    pub(super) fn leave_unanswered(&mut self, origin: &Origin) {
        self.pending.release(&origin.id);
        if let Some(array) = origin.batch.and_then(|key| self.batches.forgo(key)) {
            self.tell_host(array);
        }
    }

    /// Refuses a request of the host's with an error of Candor's own.
    pub(super) fn refuse(&mut self, origin: &Origin, code: i64, message: &str) {
        let message = least(message, &self.secrets).value;
        let frame = own_error(Some(&origin.id), code, &message, None);
        self.answer(origin, frame);
    }

    /// Answers something that has no usable id.
    pub(super) fn refuse_unidentified(&mut self, code: i64, message: &str) -> String {
        let id = (self.revision_in_force() < Revision::V2025_11_25).then_some("null");
        own_error(id, code, message, None)
    }

    /// How often these very arguments were refused before.
    pub(super) fn refusals_of(&self, request: &CallRequest) -> u32 {
        if self.refusals.is_empty() {
            return 0;
        }
        self.refusals.get(&fingerprint(request)).copied().unwrap_or(0)
    }

    pub(super) fn count_refusal(&mut self, fingerprint: String) {
        if let Some(count) = self.refusals.get_mut(&fingerprint) {
            *count = count.saturating_add(1);
            return;
        }
        if self.refusal_order.len() >= MOST_REFUSALS
            && let Some(oldest) = self.refusal_order.pop_front()
        {
            self.refusals.remove(&oldest);
        }
        self.refusal_order.push_back(fingerprint.clone());
        self.refusals.insert(fingerprint, 1);
    }
}

/// What makes a call of the same tool with the same arguments recognisable when it comes again.
pub(super) fn fingerprint(request: &CallRequest) -> String {
    let arguments = request.raw_arguments().unwrap_or_default();
    digest(&format!("{}\n{arguments}", request.tool))
}
