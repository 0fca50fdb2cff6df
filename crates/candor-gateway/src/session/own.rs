//! Calls of Candor's own: a tool of the server is asked, not for the host, and its answer comes back as what it was
//! asked for. They are no operations: what they show is recorded with the operation they serve.

use std::time::Duration;

use bytestring::ByteString;
use candor_core::call::machine::Event;
use candor_core::contract::tool::Knowledge;
use candor_core::names::{OperationId, ToolName};
use candor_core::recovery::read_back::LookAnswer;
use candor_core::wire::envelope::{Body, Response};
use candor_core::wire::reply::Reply;
use candor_core::wire::revision::{Era, Revision};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::pending::{Asked, CallKey};
use super::revival::Waiting;
use super::state::{Server, Session};
use super::timers::{Timer, TimerKey};

/// What a call of Candor's own is for: who hears of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A look at accepted work.
    Follow(OperationId),
    /// A look at what a call left behind, before its caller is told.
    ReadBack(CallKey),
    /// A look for an operation that an earlier run left open.
    Settle(OperationId),
}

/// A call of Candor's own that is not answered yet.
#[derive(Debug)]
pub(super) struct OwnCall {
    purpose: Purpose,
    timer: TimerKey,
}

impl Session {
    /// Asks a tool of the server; `meta` is what the modern era wants on every request (see [`Session::own_meta`]). The
    /// answer, or why none comes within `patience`, goes to [`Session::own_ended`]; never before this returns.
    pub(super) fn ask_own(
        &mut self,
        tool: &str,
        arguments: &Value,
        meta: Option<&str>,
        patience: Duration,
        purpose: Purpose,
    ) {
        let members = format!("\"name\":{},\"arguments\":{arguments}", json!(tool));
        self.request_own("tools/call", &members, meta, patience, purpose);
    }

    /// As [`Session::ask_own`], by any method; `members` are those of its parameters, without braces.
    pub(super) fn request_own(
        &mut self,
        method: &str,
        members: &str,
        meta: Option<&str>,
        patience: Duration,
        purpose: Purpose,
    ) {
        let id = self.pending.new_id();
        let timer = self.set_timer(Instant::now() + patience, Timer::Own(id));
        self.pending.ask(id, Asked::Own(OwnCall { purpose, timer }));
        let meta = meta.map_or_else(String::new, |meta| format!(",\"_meta\":{meta}"));
        let frame = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{{members}{meta}}}}}"
        );
        let may_come_back = match self.server {
            Server::Running => false,
            Server::Reviving => true,
            Server::Gone(_) => self.may_revive(),
        };
        if may_come_back {
            self.wait_for_server(Waiting::Frame(frame));
        } else if !self.tell_server(frame) {
            // Its end must not come before its beginning is over: the timer brings it.
            self.hurry_own(id);
        }
    }

    /// Nothing will come: the deadline of this call of Candor's own is now.
    fn hurry_own(&mut self, id: u64) {
        let Some(Asked::Own(OwnCall { purpose, timer })) = self.pending.take(id) else {
            return;
        };
        self.timers.remove(&timer);
        let timer = self.set_timer(Instant::now(), Timer::Own(id));
        self.pending.ask(id, Asked::Own(OwnCall { purpose, timer }));
    }

    /// `_meta` for a request of Candor's own: the host's own facts in the modern era, nothing before.
    pub(super) fn own_meta(revision: Revision, host_said: Option<&str>) -> Option<String> {
        if revision.era() == Era::Legacy {
            return None;
        }
        Some(host_said.map_or_else(
            || {
                let revision = Revision::V2026_07_28.as_str();
                format!(
                    "{{\"io.modelcontextprotocol/protocolVersion\":\"{revision}\",\
                     \"io.modelcontextprotocol/clientCapabilities\":{{}}}}"
                )
            },
            str::to_owned,
        ))
    }

    /// May Candor ask this tool by itself? Only one that somebody declared to change nothing.
    ///
    /// # Errors
    /// Why not, as the end of a sentence that begins with the tool's name.
    pub(super) fn may_ask_own(&mut self, tool: &str) -> Result<(), &'static str> {
        let name = ToolName::from(tool);
        let mut catalogue = std::mem::take(&mut self.catalogue);
        let knowledge = catalogue.knowledge(&name, self.terms());
        self.catalogue = catalogue;
        let reads = match &knowledge {
            Knowledge::Listed(tool) => tool.terms.is_trusted_read(),
            Knowledge::Unlistable { terms, .. } => terms.is_trusted_read(),
            Knowledge::NotListed { .. } => return Err("is no tool that the server lists"),
        };
        if reads {
            Ok(())
        } else {
            Err("is not declared to change nothing (effect = \"read\", or --read)")
        }
    }

    /// The server answered a call of Candor's own.
    pub(super) fn own_answered(&mut self, id: u64, text: &ByteString, response: &Response<'_>) {
        if let Body::Result(result) = &response.body {
            self.learn_name(result);
        }
        match Reply::keep(text, response) {
            Some(reply) => self.end_own(id, Ok(reply)),
            None => self.end_own(id, Err("its answer can't be read".to_owned())),
        }
    }

    /// A call of Candor's own has waited long enough.
    pub(super) fn own_timed_out(&mut self, id: u64) {
        let why = match &self.server {
            Server::Gone(exit) => format!("the server is gone ({exit})"),
            Server::Running | Server::Reviving => "no answer came in time".to_owned(),
        };
        self.end_own(id, Err(why));
    }

    /// The server is gone: no call of Candor's own will be answered.
    pub(super) fn lose_own(&mut self, why: &str) {
        for id in self.pending.own() {
            self.end_own(id, Err(why.to_owned()));
        }
    }

    /// A call of Candor's own is over, with an answer or without one.
    pub(super) fn end_own(&mut self, id: u64, end: Result<Reply, String>) {
        if !matches!(self.pending.asked(id), Some(Asked::Own(_))) {
            return;
        }
        let Some(Asked::Own(OwnCall { purpose, timer })) = self.pending.take(id) else {
            return;
        };
        self.timers.remove(&timer);
        self.own_ended(purpose, end);
    }

    /// An answer to a look, read by the contract of the tool that gave it.
    pub(super) fn read_look(&self, tool: &str, reply: Reply) -> Result<LookAnswer, String> {
        let terms = self.terms()(&ToolName::from(tool));
        LookAnswer::read(reply, self.revision_in_force(), &terms)
    }

    /// Gives the end of a call of Candor's own to whom it is for.
    fn own_ended(&mut self, purpose: Purpose, end: Result<Reply, String>) {
        match purpose {
            Purpose::Settle(operation) => self.sought(operation, end),
            Purpose::Follow(operation) => self.followed_answered(operation, end),
            Purpose::ReadBack(key) => {
                let clause = self
                    .calls
                    .get(&key)
                    .and_then(|active| active.call.terms()?.read_back.as_ref());
                // Its call is forgotten otherwise, and nobody is left to hear of it.
                let Some(tool) = clause.map(|clause| clause.value.tool.clone()) else {
                    return;
                };
                let end = end.and_then(|reply| self.read_look(&tool, reply));
                self.happened(key, Event::Looked(end));
            }
        }
    }
}
