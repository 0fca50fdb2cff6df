//! What the server says.

use std::borrow::Cow;

use bytes::Bytes;
use bytestring::ByteString;
use candor_core::call::machine::{Event, Loss};
use candor_core::delivery::redaction::{least, masked};
use candor_core::names::ServerName;
use candor_core::wire::decode::{Handshake, Implementation, ProgressParams};
use candor_core::wire::envelope::{Body, Message, Response, read};
use candor_core::wire::head;
use candor_core::wire::members::{Opened, object};
use candor_core::wire::method::Method;
use candor_core::wire::reply::Reply;
use candor_core::wire::revision::Era;
use candor_transport::{Frame, Noise, preview};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::from_host::{INTERNAL_ERROR, with_id};
use super::pending::{Asked, Origin};
use super::state::Session;

/// How much of a line that is no message is looked at for the log, in bytes.
const LOGGED: usize = 4 * 1024;

/// How much of an unreadable line is looked at.
const HEAD: usize = 4096;
const VERSION: &[u8] = b"\"jsonrpc\"";

impl Session {
    pub(super) fn frame_from_server(&mut self, frame: &Frame) {
        match frame {
            Frame::Line(bytes) => {
                if let Err(why) = self.bytes_from_server(bytes) {
                    self.unreadable_from_server(bytes, why);
                    self.noise_from_server(frame, bytes);
                }
            }
            // The torn half of a line is no answer: how the server ended says more.
            Frame::Unterminated(bytes) => {
                if self.bytes_from_server(bytes).is_err() {
                    self.noise_from_server(frame, bytes);
                }
            }
            Frame::Blank => self.noise_from_server(frame, b""),
            Frame::Oversized { head, length } => self.oversized_from_server(head, *length),
        }
    }

    fn bytes_from_server(&mut self, bytes: &Bytes) -> Result<(), &'static str> {
        let text = ByteString::try_from(bytes.clone()).map_err(|_| "its answer is not UTF-8")?;
        self.text_from_server(&text)
    }

    /// Takes in one message, or says why the text is none.
    fn text_from_server(&mut self, text: &ByteString) -> Result<(), &'static str> {
        match read(text) {
            Ok(Message::Response(response)) => self.response_from_server(text, &response),
            Ok(Message::Request(request)) => {
                self.note_server_request(request.id);
                self.tell_host(text.clone().into_bytes());
            }
            Ok(Message::Notification { method, params }) => {
                self.notification_from_server(text, &method, params);
            }
            Ok(Message::Batch(members)) if self.revision_in_force().has_batches() => {
                for member in members {
                    let nested = matches!(read(member.get()), Ok(Message::Batch(_)));
                    if nested || self.text_from_server(&member.get().into()).is_err() {
                        self.noise(Noise::of(member.get().as_bytes()), member.get());
                    }
                }
            }
            Ok(Message::Batch(_)) | Err(_) => return Err("its answer is no JSON-RPC message"),
        }
        Ok(())
    }

    fn noise_from_server(&mut self, frame: &Frame, bytes: &[u8]) {
        let noise = Noise::of_frame(frame);
        self.noise(noise, &preview(bytes));
    }

    /// What can't be read, though it says that it is JSON-RPC and names an open call, ends that call now: nothing better
    /// will come, and the caller would wait for its deadline in vain. A log line that happens to be JSON says no such
    /// thing.
    fn unreadable_from_server(&mut self, line: &[u8], why: &str) {
        let head = line.get(..HEAD.min(line.len())).unwrap_or_default();
        let says_so = head.windows(VERSION.len()).any(|part| part == VERSION);
        let id = head::id(head).and_then(|id| id.parse::<u64>().ok());
        let (true, Some(id)) = (says_so, id) else {
            return;
        };
        match self.pending.asked(id) {
            Some(Asked::Call(key)) => {
                let key = *key;
                self.happened(key, Event::Lost(Loss::Unreadable { why: why.to_owned() }));
            }
            Some(Asked::Own(_)) => self.end_own(id, Err(why.to_owned())),
            _ => {}
        }
    }

    /// What is no message stays out of the host's pipe; each kind is logged once.
    fn noise(&mut self, noise: Noise, text: &str) {
        if self.noise.note(noise) {
            // Masked before it is cut: half a credential has no format.
            let start = text.get(..text.floor_char_boundary(LOGGED)).unwrap_or_default();
            let line = preview(masked(start, &self.secrets).value.as_bytes());
            tracing::warn!(
                server = %self.name(), kind = ?noise, %line,
                "the server wrote something to its stdout that is no MCP message; it is kept out (logged once per kind)"
            );
        }
    }

    fn response_from_server(&mut self, text: &ByteString, response: &Response<'_>) {
        let known = response
            .id
            .get()
            .parse::<u64>()
            .ok()
            .filter(|id| self.pending.asked(*id).is_some());
        let Some(id) = known else {
            self.stray(response.id.get());
            return;
        };
        match self.pending.asked(id) {
            Some(Asked::Call(key)) => {
                let key = *key;
                self.stop_listening(key);
                if let Body::Result(result) = &response.body {
                    self.learn_name(result);
                }
                if let Some(reply) = Reply::keep(text, response) {
                    self.happened(key, Event::Replied(reply));
                }
            }
            Some(Asked::Own(_)) => self.own_answered(id, text, response),
            Some(Asked::Forsaken) => {
                self.pending.take(id);
                tracing::debug!("an answer to a request that the host cancelled was dropped");
            }
            Some(Asked::Replay) => {
                self.pending.take(id);
                self.replayed(id, &response.body);
            }
            Some(Asked::Listing) => {
                self.pending.take(id);
                self.listed(id, &response.body);
            }
            _ => {
                let Some(Asked::Host {
                    origin,
                    method,
                    cursor,
                    kept,
                }) = self.pending.take(id)
                else {
                    return;
                };
                let Some(frame) = with_id(text, response.id, &origin.id) else {
                    return;
                };
                let frame = restore_subscription(&frame, id, &origin.id).unwrap_or(frame);
                let frame = self.with_own(method, cursor.is_none(), frame);
                let frame = self.with_tasks(method, frame);
                self.answer(&origin, frame);
                if let Body::Result(result) = &response.body {
                    self.learn_from(method, cursor.as_deref(), result);
                    if self.revision_in_force().era() == Era::Modern {
                        self.look_for_accepted();
                    }
                    if let Some(text) = kept {
                        self.revival.memory.learn(method, &text);
                    }
                }
            }
        }
    }

    /// An answer for nobody: an id that was never used, or that is answered and forgotten.
    fn stray(&mut self, id: &str) {
        self.strays += 1;
        if self.strays == 1 {
            tracing::warn!(
                server = %self.name(), %id,
                "the server answered a request that is not open; such answers are dropped (logged once)"
            );
        }
    }

    /// What a passing answer tells about the server.
    fn learn_from(&mut self, method: Method, cursor: Option<&str>, result: &Opened<'_>) {
        match method {
            Method::Initialize | Method::Discover => {
                let Some(handshake) = Handshake::read(result.raw()) else {
                    return;
                };
                if method == Method::Initialize && handshake.revision().is_some() {
                    self.revision = handshake.revision();
                }
                match handshake.server_name() {
                    Some(name) => self.note_server_name(&name),
                    None => self.learn_name(result),
                }
            }
            Method::ToolsList => {
                self.learn_name(result);
                self.list_passed(cursor, result.raw());
            }
            _ => self.learn_name(result),
        }
    }

    /// A server of 2026-07-28 may say its name in any result; a host that never asks for it has no other way to know.
    pub(super) fn learn_name(&mut self, result: &Opened<'_>) {
        if self.server_name.is_none()
            && let Some(name) = result.member("_meta").and_then(server_in_meta)
        {
            self.note_server_name(&name);
        }
    }

    fn note_server_name(&mut self, name: &str) {
        if name.trim().is_empty() {
            return;
        }
        // Names are made of URLs too, and stand in every text and record.
        let name = ServerName::from(least(name, &self.secrets).value.as_ref());
        if self.server_name.as_ref() == Some(&name) {
            return;
        }
        self.server_name = Some(name);
        self.circumstances = None;
        // Contracts go by the name.
        self.packs
            .note_name(self.server_name.as_ref().map_or("", ServerName::as_str));
        self.packs.check(self.catalogue.definitions());
        self.catalogue.note_new_terms();
        if let Some(unmatched) = self.config.unmatched(self.name().as_str()) {
            tracing::warn!("{unmatched}");
        }
    }

    fn notification_from_server(&mut self, text: &ByteString, method: &str, params: Option<&RawValue>) {
        match Method::of(method) {
            Method::Progress => {
                let token = params.and_then(|params| {
                    serde_json::from_str::<ProgressParams<'_>>(params.get())
                        .ok()
                        .and_then(|params| params.progress_token)
                });
                if let Some(token) = token {
                    self.progressed(token.get());
                }
            }
            Method::ToolListChanged => self.catalogue.note_change(),
            _ => {}
        }
        let frame = params.and_then(|params| self.restored_for_host(text, params));
        self.tell_host(frame.map_or_else(|| text.clone().into_bytes(), Bytes::from));
    }

    /// A notification of a subscription names the request that opened it (2026-07-28): by the host's id again.
    fn restored_for_host(&self, text: &str, params: &RawValue) -> Option<String> {
        let raw = subscription_in(params.get())?;
        let id: u64 = raw.get().parse().ok()?;
        match self.pending.asked(id)? {
            Asked::Host { origin, .. } => with_id(text, raw, &origin.id),
            Asked::Call(_) | Asked::Listing | Asked::Own(_) | Asked::Replay | Asked::Forsaken => None,
        }
    }

    /// An answer over the limit ends its own request and nothing else.
    fn oversized_from_server(&mut self, head: &[u8], length: u64) {
        let limit = u64::try_from(self.frame_limit).unwrap_or(u64::MAX);
        let id = head::id(head).and_then(|id| id.parse::<u64>().ok());
        // Where the id stands behind the result it is gone with it; with one request open there is no doubt.
        let id = id.or_else(|| self.pending.only_open());
        let Some(id) = id.filter(|id| self.pending.asked(*id).is_some()) else {
            tracing::warn!(server = %self.name(), length, limit, "the server wrote a message over the limit; it was dropped");
            return;
        };
        match self.pending.asked(id) {
            Some(Asked::Call(key)) => {
                let key = *key;
                self.happened(key, Event::Lost(Loss::Oversized { length, limit }));
            }
            Some(Asked::Own(_)) => {
                self.end_own(id, Err(format!("its answer has {length} bytes, over the limit")));
            }
            Some(Asked::Listing) => {
                self.end_listing(Err(format!("its list has {length} bytes, over the limit")));
            }
            _ => {
                let Some(Asked::Host { origin, .. }) = self.pending.take(id) else {
                    return;
                };
                self.too_large(&origin, length, limit);
            }
        }
    }

    fn too_large(&mut self, origin: &Origin, length: u64, limit: u64) {
        let message = format!(
            "server \"{}\" answered with {length} bytes; the limit for one message is {limit}, and the answer was dropped",
            self.name()
        );
        self.refuse(origin, INTERNAL_ERROR, &message);
    }
}

#[derive(Deserialize)]
struct WithMeta<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/subscriptionId")]
    subscription: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/serverInfo")]
    server: Option<&'a RawValue>,
}

fn meta_of(holder: &str) -> Option<Meta<'_>> {
    let holder: WithMeta<'_> = object(holder)?;
    object(holder.meta?.get())
}

fn subscription_in(object: &str) -> Option<&RawValue> {
    meta_of(object)?.subscription
}

fn server_in_meta(meta: &str) -> Option<Cow<'_, str>> {
    let meta: Meta<'_> = object(meta)?;
    Implementation::name_in(meta.server?.get())
}

/// The answer that closes a subscription names its own request once more (2026-07-28).
fn restore_subscription(frame: &str, upstream: u64, host: &str) -> Option<String> {
    if !frame.contains("io.modelcontextprotocol/subscriptionId") {
        return None;
    }
    let Ok(Message::Response(Response {
        body: Body::Result(result),
        ..
    })) = read(frame)
    else {
        return None;
    };
    let raw = subscription_in(result.raw())?;
    (raw.get().parse::<u64>() == Ok(upstream)).then(|| with_id(frame, raw, host))?
}
