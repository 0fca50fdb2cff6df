//! What the host says.

use std::borrow::Cow;

use candor_core::call::machine::Event;
use candor_core::call::request::BadCall;
use candor_core::delivery::answer::own_error;
use candor_core::wire::decode::{CancelledParams, Handshake, Implementation, request_meta};
use candor_core::wire::encode::{Edits, span};
use candor_core::wire::envelope::{Malformed, Message, Request, Version, read_as};
use candor_core::wire::head;
use candor_core::wire::method::Method;
use candor_core::wire::revision::Revision;
use candor_transport::Frame;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::pending::{Asked, BatchKey, CallKey, Holder, Origin};
use super::revival::{Memory, Waiting};
use super::state::{Server, Session};
use super::stops::{Stop, stop_at, stop_at_frame};
use super::timers::Timer;
use crate::deadline::UNKNOWN_HOST;

/// JSON-RPC 2.0, section 5.1.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
pub(super) const INTERNAL_ERROR: i64 = -32603;

impl Session {
    pub(super) fn frame_from_host(&mut self, frame: &Frame) {
        match frame {
            Frame::Blank => {}
            Frame::Line(bytes) | Frame::Unterminated(bytes) => self.bytes_from_host(bytes),
            Frame::Oversized { head, length } => {
                let limit = self.frame_limit;
                let message =
                    format!("a message of {length} bytes was dropped; the limit for one message is {limit}");
                let error = match head::id(head) {
                    Some(id) => own_error(Some(id), INVALID_REQUEST, &message, None),
                    None => self.refuse_unidentified(INVALID_REQUEST, &message),
                };
                self.tell_host(error);
            }
        }
    }

    fn bytes_from_host(&mut self, bytes: &[u8]) {
        stop_at_frame(bytes);
        let Ok(text) = std::str::from_utf8(bytes) else {
            let error =
                self.refuse_unidentified(PARSE_ERROR, "this message is not UTF-8 and was not passed on");
            self.tell_host(error);
            return;
        };
        match read_as(text, Version::Forgiven) {
            Ok(Message::Batch(members)) => self.batch_from_host(&members),
            Ok(message) => self.message_from_host(text, message, None),
            Err(malformed) => {
                if let Some(error) = self.refuse_malformed(&malformed) {
                    self.tell_host(error);
                }
            }
        }
    }

    /// The answer that a malformed message gets. What can't be read is never passed on.
    fn refuse_malformed(&mut self, malformed: &Malformed<'_>) -> Option<String> {
        match malformed {
            Malformed::NotJson => Some(self.refuse_unidentified(PARSE_ERROR, "this message is not JSON")),
            Malformed::NotAMessage => Some(self.refuse_unidentified(
                INVALID_REQUEST,
                "this is no JSON-RPC 2.0 message: an object with \"jsonrpc\": \"2.0\" and \"method\", or with \"id\" \
                 and a result or an error, was expected",
            )),
            Malformed::BadId => Some(
                self.refuse_unidentified(INVALID_REQUEST, "\"id\" is neither a string nor a number; null is no id in MCP"),
            ),
            Malformed::BadRequest { id, why, method } => {
                if method.is_some_and(|raw| raw.get() == "\"tools/call\"") {
                    self.record_refused(id.get(), BadCall::BadParams);
                }
                Some(own_error(Some(id.get()), INVALID_REQUEST, &format!("this request is malformed: {why}"), None))
            }
        }
    }

    fn batch_from_host(&mut self, members: &[&RawValue]) {
        if !self.revision_in_force().has_batches() {
            let message = format!(
                "MCP {} has no batches; one message a line was expected",
                self.revision_in_force()
            );
            let error = self.refuse_unidentified(INVALID_REQUEST, &message);
            self.tell_host(error);
            return;
        }
        if members.is_empty() {
            let error = self.refuse_unidentified(INVALID_REQUEST, "an empty batch is no message");
            self.tell_host(error);
            return;
        }
        let read_all: Vec<_> = members
            .iter()
            .map(|raw| (raw.get(), read_as(raw.get(), Version::Forgiven)))
            .collect();
        let owed = read_all
            .iter()
            .filter(|(_, message)| matches!(message, Ok(Message::Request(_) | Message::Batch(_)) | Err(_)))
            .count();
        let batch = self.batches.open(owed.max(1));
        if owed == 0
            && let Some(array) = self.batches.forgo(batch)
        {
            self.tell_host(array);
        }
        self.set_timer(Instant::now() + UNKNOWN_HOST, Timer::Batch(batch));
        for (text, message) in read_all {
            match message {
                // A batch within a batch is none.
                Ok(Message::Batch(_)) | Err(Malformed::NotAMessage | Malformed::NotJson) => {
                    let error =
                        self.refuse_unidentified(INVALID_REQUEST, "this member of the batch is no message");
                    self.batch_answer(batch, error);
                }
                Ok(message) => self.message_from_host(text, message, Some(batch)),
                Err(malformed) => {
                    if let Some(error) = self.refuse_malformed(&malformed) {
                        self.batch_answer(batch, error);
                    }
                }
            }
        }
    }

    fn message_from_host(&mut self, text: &str, message: Message<'_>, batch: Option<BatchKey>) {
        match message {
            Message::Request(request) => self.request_from_host(text, &request, batch),
            Message::Notification { method, params } => self.notification_from_host(text, &method, params),
            // The server's own ids, back where they came from.
            Message::Response(response) => {
                if !self.answer_from_host(&response) {
                    self.pass_answer(text, response.id);
                }
            }
            Message::Batch(_) => {}
        }
    }

    fn request_from_host(&mut self, text: &str, request: &Request<'_>, batch: Option<BatchKey>) {
        let origin = Origin {
            id: request.id.get().to_owned(),
            batch,
        };
        if Method::of(&request.method) == Method::ToolsCall {
            stop_at(Stop::EnvelopeRead);
        }
        if self.pending.holder(&origin.id).is_some() {
            if Method::of(&request.method) == Method::ToolsCall {
                self.record_refused(&origin.id, BadCall::OpenId);
            }
            let message = format!(
                "a request with id {} is still open on this pipe; a new id was expected",
                origin.id
            );
            let frame = own_error(Some(&origin.id), INVALID_REQUEST, &message, None);
            match batch {
                Some(batch) => self.batch_answer(batch, frame),
                None => self.tell_host(frame),
            }
            return;
        }
        if self.answers_itself(request, &origin) || self.answers_task(request, &origin) {
            return;
        }
        match Method::of(&request.method) {
            Method::ToolsCall => {
                stop_at(Stop::Routed);
                self.open_call(text, request, origin);
            }
            method => {
                self.note_client(request, method);
                self.pass_request(text, request, method, &origin);
            }
        }
    }

    /// Who asks, in which revision: said once in the legacy era, on every request in the modern one.
    pub(super) fn note_client(&mut self, request: &Request<'_>, method: Method) {
        if method == Method::Initialize {
            self.has_handshake = true;
            let Some(handshake) = request.params.and_then(|params| Handshake::read(params.get())) else {
                return;
            };
            let name = handshake.client_name().map(Cow::into_owned);
            self.confirming.note_capabilities(handshake.capabilities);
            self.revision = handshake.revision().or(self.revision);
            self.note_host(name);
        } else if let Some(meta) = request_meta(request.params) {
            let name = meta
                .client_info
                .and_then(|raw| Implementation::name_in(raw.get()))
                .map(Cow::into_owned);
            self.note_named_revision(meta.revision());
            self.note_host(name);
        }
    }

    pub(super) fn note_host(&mut self, name: Option<String>) {
        if name.is_some() && name != self.host_name {
            self.host_name = name;
            self.circumstances = None;
        }
    }

    /// A session that shook hands has its revision; one request can't change it for the others.
    pub(super) fn note_named_revision(&mut self, named: Option<Revision>) {
        if !self.has_handshake && named.is_some() {
            self.revision = named;
        }
    }

    fn pass_request(&mut self, text: &str, request: &Request<'_>, method: Method, origin: &Origin) {
        if let Server::Gone(exit) = &self.server
            && !self.may_revive()
        {
            let message = format!(
                "server \"{}\" is gone: it ended ({exit}); start it again",
                self.name()
            );
            self.refuse(origin, INTERNAL_ERROR, &message);
            return;
        }
        let id = self.pending.new_id();
        let Some(frame) = with_id(text, request.id, &id.to_string()) else {
            return;
        };
        let asked = Asked::Host {
            origin: origin.clone(),
            method,
            cursor: if method == Method::ToolsList {
                cursor_of(request.params)
            } else {
                None
            },
            kept: Memory::wants(method).then(|| text.to_owned()),
        };
        self.pending.ask(id, asked);
        if !matches!(self.server, Server::Running) {
            self.wait_for_server(Waiting::Frame(frame));
        } else if !self.tell_server(frame) {
            self.pending.take(id);
            let message = format!(
                "server \"{}\" takes no more requests: it has closed its input, or does not read it",
                self.name()
            );
            self.refuse(origin, INTERNAL_ERROR, &message);
        }
    }

    fn notification_from_host(&mut self, text: &str, method: &str, params: Option<&RawValue>) {
        match Method::of(method) {
            // A call that can't be answered would be done behind everybody's back.
            Method::ToolsCall => self.record_refused("null", BadCall::NoId),
            Method::Cancelled => self.cancelled_by_host(text, params),
            Method::Initialized => {
                self.initialized = true;
                self.revival.memory.note_initialized(text);
                self.tell_server(text.to_owned());
                self.reconcile();
                self.look_for_accepted();
            }
            _ => {
                self.tell_server(text.to_owned());
            }
        }
    }

    /// A cancellation names a request by the host's id: it goes on under the id that the server knows. One that names
    /// nothing open goes on as it came, unless its id is another request's on that side.
    fn cancelled_by_host(&mut self, text: &str, params: Option<&RawValue>) {
        let Some(raw) = params.and_then(|params| {
            serde_json::from_str::<CancelledParams<'_>>(params.get())
                .ok()
                .and_then(|params| params.request_id)
        }) else {
            self.tell_server(text.to_owned());
            return;
        };
        match self.pending.holder(raw.get()).or_else(|| self.told_as(raw.get())) {
            Some(Holder::Upstream(id)) => {
                self.pass_cancellation(text, raw, id);
                // A server does not answer what was cancelled (MCP, cancellation): nobody waits for it.
                if let Some(origin) = self.pending.forsake(id) {
                    self.leave_unanswered(&origin);
                }
            }
            Some(Holder::Call(_)) if self.leave_task(raw.get()) => {}
            Some(Holder::Call(key)) => {
                self.recall(key);
                if let Some(sent) = self.calls.get(&key).and_then(|active| active.sent) {
                    self.pass_cancellation(text, raw, sent.upstream);
                }
                self.happened(key, Event::Cancelled);
            }
            None if raw.get().parse().is_ok_and(|id| self.pending.asked(id).is_some()) => {
                tracing::debug!("a cancellation of a request that is not open was dropped");
            }
            None => {
                self.tell_server(text.to_owned());
            }
        }
    }

    fn pass_cancellation(&mut self, text: &str, raw: &RawValue, id: u64) {
        if let Some(frame) = with_id(text, raw, &id.to_string()) {
            self.tell_server(frame);
        }
    }

    /// A call that the host was told about already, by the id it had.
    fn told_as(&self, id: &str) -> Option<Holder> {
        let told = |(key, active): (&CallKey, &super::state::Active)| {
            (active.told && active.origin.id == id).then_some(*key)
        };
        self.calls.iter().filter_map(told).max().map(Holder::Call)
    }
}

/// The text with one raw value in it replaced.
pub(super) fn with_id(text: &str, raw: &RawValue, id: &str) -> Option<String> {
    let mut edits = Edits::new();
    edits.replace(span(text, raw.get())?, id);
    Some(edits.apply(text))
}

fn cursor_of(params: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    struct ListParams<'a> {
        #[serde(borrow)]
        cursor: Option<&'a RawValue>,
    }
    let params: ListParams<'_> = serde_json::from_str(params?.get()).ok()?;
    params.cursor.map(|cursor| cursor.get().to_owned())
}
