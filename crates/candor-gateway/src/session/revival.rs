//! A server that died is started anew by the next call: it is told again what it must know (handshake, log level,
//! subscriptions), and then gets that call and nothing of what was open before.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use candor_core::call::machine::{Event, Loss};
use candor_core::wire::envelope::{Body, Message, read};
use candor_core::wire::method::Method;
use candor_transport::FrameSink;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::from_host::{INTERNAL_ERROR, with_id};
use super::pending::{Asked, CallKey};
use super::state::{Server, Session};
use super::timers::Timer;

/// How long a server that is started anew has for the handshake.
const PATIENCE: Duration = Duration::from_secs(30);
/// So many deaths within [`DEATHS_WITHIN`] and it is not started again.
const MOST_DEATHS: usize = 3;
const DEATHS_WITHIN: Duration = Duration::from_secs(60);
/// Subscriptions that are remembered of one session.
const MOST_SUBSCRIPTIONS: usize = 1_000;

/// What a server that is started anew must be told, as the host said it.
#[derive(Debug, Default)]
pub(super) struct Memory {
    initialize: Option<String>,
    initialized: Option<String>,
    log_level: Option<String>,
    subscriptions: BTreeMap<String, String>,
}

/// What waits for the server to be there again.
#[derive(Debug)]
pub(super) enum Waiting {
    /// A tool call, checked and recorded.
    Call(CallKey),
    /// Another request, the host's or Candor's own, under the id it was given: ready to be sent.
    Frame(String),
}

/// The deaths of one server, and what becomes of it.
#[derive(Debug, Default)]
pub(super) struct Revival {
    pub(super) memory: Memory,
    waiting: VecDeque<Waiting>,
    deaths: VecDeque<Instant>,
    /// Is it to be started anew at all?
    allowed: bool,
    /// The loop is to start the server.
    pub(super) wanted: bool,
    /// The handshake that is under way.
    handshake: Option<u64>,
    /// Ids of the server's own requests that the host has not answered.
    asked_by_server: BTreeSet<String>,
}

impl Revival {
    /// Nothing has died yet.
    pub(super) fn new(allowed: bool) -> Self {
        Self {
            allowed,
            ..Self::default()
        }
    }
}

impl Memory {
    /// A request of the host's was answered with a result: what of it must be told again?
    pub(super) fn learn(&mut self, method: Method, text: &str) {
        match method {
            Method::Initialize => self.initialize = Some(text.to_owned()),
            Method::SetLevel => self.log_level = Some(text.to_owned()),
            Method::Subscribe => {
                if let Some(uri) = uri_of(text)
                    && self.subscriptions.len() < MOST_SUBSCRIPTIONS
                {
                    self.subscriptions.insert(uri, text.to_owned());
                }
            }
            Method::Unsubscribe => {
                if let Some(uri) = uri_of(text) {
                    self.subscriptions.remove(&uri);
                }
            }
            _ => {}
        }
    }

    /// Is a request of this method worth keeping until it is answered?
    pub(super) fn wants(method: Method) -> bool {
        matches!(
            method,
            Method::Initialize | Method::SetLevel | Method::Subscribe | Method::Unsubscribe | Method::Listen
        )
    }

    /// The host's word that the handshake is over.
    pub(super) fn note_initialized(&mut self, text: &str) {
        self.initialized = Some(text.to_owned());
    }
}

fn uri_of(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Params {
        uri: String,
    }
    let Ok(Message::Request(request)) = read(text) else {
        return None;
    };
    let params: Params = serde_json::from_str(request.params?.get()).ok()?;
    Some(params.uri)
}

impl Session {
    /// The server has died once more. Will the next call start it anew?
    pub(super) fn note_death(&mut self) -> bool {
        let now = Instant::now();
        self.revival.deaths.push_back(now);
        self.revival
            .deaths
            .retain(|then| now.saturating_duration_since(*then) < DEATHS_WITHIN);
        self.revival.asked_by_server.clear();
        self.may_revive()
    }

    /// Has it died so often that Candor ends with it?
    pub(super) fn is_given_up(&self) -> bool {
        self.revival.allowed && self.revival.deaths.len() >= MOST_DEATHS
    }

    /// Is the server not given up?
    pub(super) fn may_revive(&self) -> bool {
        self.revival.allowed && self.revival.deaths.len() < MOST_DEATHS
    }

    /// Something needs the server: it waits, and the loop starts the server if it is not being started already.
    pub(super) fn wait_for_server(&mut self, waiting: Waiting) {
        self.revival.waiting.push_back(waiting);
        if let Server::Gone(_) = self.server {
            self.server = Server::Reviving;
            self.revival.wanted = true;
        }
    }

    /// A new process runs: it is told what it must know.
    pub(super) fn revived(&mut self, input: FrameSink) {
        tracing::info!(server = %self.name(), "the server was started anew");
        self.to_server = input;
        self.catalogue.note_change();
        match self.revival.memory.initialize.clone() {
            Some(text) => {
                let id = self.pending.new_id();
                self.revival.handshake = Some(id);
                self.replay(&text, id);
                self.set_timer(Instant::now() + PATIENCE, Timer::Handshake(id));
            }
            // Nothing was agreed on: either the era without a handshake, or the host is only about to make one.
            None => self.serve_again(),
        }
    }

    fn replay(&mut self, text: &str, id: u64) {
        if let Ok(Message::Request(request)) = read(text)
            && let Some(frame) = with_id(text, request.id, &id.to_string())
            && self.to_server.push(frame.into()).is_ok()
        {
            self.pending.ask(id, Asked::Replay);
        }
    }

    /// The server answered something that was told again.
    pub(super) fn replayed(&mut self, id: u64, body: &Body<'_>) {
        if self.revival.handshake != Some(id) {
            return;
        }
        self.revival.handshake = None;
        if !matches!(body, Body::Result(_)) {
            self.revival_failed("it refused the handshake that it took before");
            return;
        }
        let memory = &self.revival.memory;
        if let Some(text) = memory.initialized.clone()
            && self.to_server.push(text.into()).is_err()
        {
            tracing::debug!("the server that was started anew is gone already");
        }
        let memory = &self.revival.memory;
        let told: Vec<String> = memory
            .log_level
            .iter()
            .chain(memory.subscriptions.values())
            .cloned()
            .collect();
        for text in told {
            let id = self.pending.new_id();
            self.replay(&text, id);
        }
        self.serve_again();
    }

    /// The handshake took too long.
    pub(super) fn handshake_timed_out(&mut self, id: u64) {
        if self.revival.handshake == Some(id) {
            self.revival.handshake = None;
            self.revival_failed("it did not answer the handshake in 30 s");
        }
    }

    fn serve_again(&mut self) {
        self.server = Server::Running;
        for (id, text) in self.pending.listening() {
            if let Ok(Message::Request(request)) = read(&text)
                && let Some(frame) = with_id(&text, request.id, &id.to_string())
            {
                self.tell_server(frame);
            }
        }
        while let Some(waiting) = self.revival.waiting.pop_front() {
            match waiting {
                Waiting::Call(key) => self.send_call(key),
                Waiting::Frame(frame) => {
                    self.tell_server(frame);
                }
            }
        }
    }

    /// The server could not be started anew: what waited for it is told so. Nothing of it was sent.
    pub(super) fn revival_failed(&mut self, why: &str) {
        tracing::warn!(server = %self.name(), %why, "the server could not be started anew");
        self.server = Server::Gone(why.to_owned());
        self.revival.handshake = None;
        for waiting in std::mem::take(&mut self.revival.waiting) {
            match waiting {
                Waiting::Call(key) => {
                    let why = format!("is gone and could not be started anew: {why}");
                    self.happened(key, Event::Lost(Loss::NeverLeft { why, lasts: false }));
                }
                Waiting::Frame(_) => {}
            }
        }
        self.lose_own(&format!(
            "the server is gone and could not be started anew: {why}"
        ));
        self.refuse_host_requests(&format!("is gone and could not be started anew: {why}"));
    }

    /// Everything of the host's that was passed on and will not be answered: told so.
    pub(super) fn refuse_host_requests(&mut self, why: &str) {
        let listening = matches!(self.server, Server::Gone(_)) && self.may_revive();
        for origin in self.pending.take_host_requests(listening) {
            let message = format!("server \"{}\" {why}", self.name());
            self.refuse(&origin, INTERNAL_ERROR, &message);
        }
    }

    /// The server asks the host something, under an id of its own.
    pub(super) fn note_server_request(&mut self, id: &RawValue) {
        const MOST: usize = 4_096;
        if self.revival.asked_by_server.len() < MOST {
            self.revival.asked_by_server.insert(id.get().to_owned());
        }
    }

    /// The host answers the server. An answer to a process that is gone is for nobody.
    pub(super) fn pass_answer(&mut self, text: &str, id: &RawValue) {
        let known = self.revival.asked_by_server.remove(id.get());
        if known || self.revival.deaths.is_empty() {
            self.tell_server(text.to_owned());
        }
    }
}
