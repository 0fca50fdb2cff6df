//! A question to the user, carried to the host and back: by a request of Candor's own where the host holds a session, in a
//! round of the call's own since 2026-07-28. Silence is never consent.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use candor_core::asking::confirmation::{Answer, Obstacle, asks_in_rounds};
use candor_core::asking::forms::shows_forms;
use candor_core::call::machine::Event;
use candor_core::call::request::CallRequest;
use candor_core::names::OperationId;
use candor_core::wire::decode::{ErrorObject, RequestMeta};
use candor_core::wire::envelope::{Body, Response};
use candor_core::wire::members::object;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::pending::{CallKey, Origin};
use super::state::Session;
use super::timers::{Timer, TimerKey};
use crate::seal::{Bound, Seal};

/// How long a person may think, where the operator says nothing.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// Questions that are open at once. With more, a call is refused instead of asked about.
const MOST_QUESTIONS: usize = 64;
/// What the ids of our requests to the host begin with. The rest is an operation's id, which no server can guess.
const OURS: &str = "\"candor/ask/";

/// The questions of one session.
#[derive(Debug)]
pub(super) struct Confirming {
    /// How long a person may think.
    patience: Duration,
    /// What the host said it can do, raw (legacy).
    capabilities: Option<String>,
    open: HashMap<CallKey, Open>,
    /// Calls whose last round is answered while no other came.
    unheard: HashSet<CallKey>,
    seal: Option<Seal>,
}

/// A question that is open.
#[derive(Debug)]
struct Open {
    /// The id of our request to the host; nothing where the question went out as the end of a round.
    request: Option<String>,
    since: Instant,
    timer: TimerKey,
}

impl Confirming {
    /// Nobody is asked yet.
    pub(super) fn new(patience: Option<Duration>) -> Self {
        Self {
            patience: patience.unwrap_or(PATIENCE),
            capabilities: None,
            open: HashMap::new(),
            unheard: HashSet::new(),
            seal: None,
        }
    }

    /// What the host says in its handshake that it can do.
    pub(super) fn note_capabilities(&mut self, capabilities: Option<&RawValue>) {
        self.capabilities = capabilities.map(|raw| raw.get().to_owned());
    }

    /// Has nobody asked for the answer to this call any more?
    pub(super) fn is_unheard(&mut self, key: CallKey) -> bool {
        self.unheard.remove(&key)
    }
}

impl Session {
    /// A call wants the user's consent.
    pub(super) fn ask_user(&mut self, key: CallKey) {
        if let Err(obstacle) = self.put_question(key) {
            self.happened(key, Event::Answered(Answer::Blocked(obstacle)));
        }
    }

    fn put_question(&mut self, key: CallKey) -> Result<(), Obstacle> {
        if self.confirming.open.len() >= MOST_QUESTIONS {
            return Err(Obstacle::TooMany);
        }
        let active = self.calls.get(&key).ok_or(Obstacle::Unable)?;
        let request = active.call.request();
        let rounds = asks_in_rounds(request.revision);
        let capabilities = if rounds {
            request.protocol_meta.as_deref().and_then(capabilities_in)
        } else {
            self.confirming.capabilities.as_deref()
        };
        if !capabilities.is_some_and(|raw| shows_forms(raw, request.revision)) {
            return Err(Obstacle::NoForms);
        }
        if self.host_left {
            return Err(Obstacle::Unable);
        }
        let operation = active.call.operation();
        let question = active.call.question().ok_or(Obstacle::Unable)?;
        let asked = if rounds {
            let bound = self.bound(request);
            let seal = match &self.confirming.seal {
                Some(seal) => seal,
                None => self
                    .confirming
                    .seal
                    .insert(Seal::generate().ok_or(Obstacle::Unable)?),
            };
            let state = seal
                .seal(operation.uuid().as_bytes(), &bound)
                .ok_or(Obstacle::Unable)?;
            let frame = question.round(request.id(), &state, operation);
            let origin = active.origin.clone();
            self.answer(&origin, frame);
            self.confirming.unheard.insert(key);
            None
        } else {
            let id = format!("{OURS}{operation}\"");
            self.tell_host(question.request(&id, request.revision));
            Some(id)
        };
        self.stop_clock(key, asked);
        Ok(())
    }

    /// While a person thinks, the call's clock stands still and theirs runs.
    fn stop_clock(&mut self, key: CallKey, request: Option<String>) {
        if let Some(timer) = self.calls.get_mut(&key).and_then(|active| active.timer.take()) {
            self.timers.remove(&timer);
        }
        let since = Instant::now();
        let timer = self.set_timer(since + self.confirming.patience, Timer::Question(key));
        let open = Open {
            request,
            since,
            timer,
        };
        self.confirming.open.insert(key, open);
    }

    /// The question is over: the call's clock goes on.
    fn close_question(&mut self, key: CallKey) -> Option<Open> {
        let open = self.confirming.open.remove(&key)?;
        self.timers.remove(&open.timer);
        if let Some(active) = self.calls.get_mut(&key) {
            active.opened += open.since.elapsed();
            let at = active.opened + active.deadline.wait;
            self.set_deadline(key, at);
        }
        Some(open)
    }

    /// The host answers. Is it an answer to one of our questions? Those are for nobody else, however late they come.
    pub(super) fn answer_from_host(&mut self, response: &Response<'_>) -> bool {
        let id = response.id.get();
        if !id.starts_with(OURS) {
            return false;
        }
        let mut asked = self.confirming.open.iter();
        let Some(key) = asked.find_map(|(key, open)| (open.request.as_deref() == Some(id)).then_some(*key))
        else {
            tracing::debug!("an answer to a question that is closed was dropped");
            return true;
        };
        let answer = match &response.body {
            Body::Result(result) => Answer::of_result(result.raw()),
            Body::Error(raw) => Answer::Blocked(Obstacle::Refused {
                code: ErrorObject::read(raw.get()).code,
            }),
            Body::Both | Body::Neither => Answer::Blocked(Obstacle::Misfit),
        };
        self.close_question(key);
        self.happened(key, Event::Answered(answer));
        true
    }

    /// A call that comes with the state of a round that ended with our question goes on where it stood. Gives back every
    /// other call. One with a state that does not open is another call, and asked about by itself.
    pub(super) fn take_round(
        &mut self,
        request: CallRequest,
        params: Option<&RawValue>,
        origin: &Origin,
    ) -> Option<CallRequest> {
        let params = params.filter(|_| request.is_round);
        let Some((state, responses)) = params.and_then(CallRequest::round) else {
            return Some(request);
        };
        let Some(operation) = self.opened_state(&state, &request) else {
            return Some(request);
        };
        let Some(bare) = request.without_round() else {
            return Some(request);
        };
        let key = self
            .confirming
            .open
            .keys()
            .find(|key| {
                let active = self.calls.get(key);
                active.is_some_and(|active| active.call.operation() == operation)
            })
            .copied();
        let Some(key) = key else {
            // It was ours and is used up: the call is another one, and asks anew.
            return Some(bare);
        };
        self.pending.hold(&origin.id, key);
        self.confirming.unheard.remove(&key);
        self.close_question(key);
        let token = bare.progress_token.clone();
        if let Some(active) = self.calls.get_mut(&key) {
            active.origin = origin.clone();
            active.call.goes_on_as(bare);
            active.progress_token.clone_from(&token);
        }
        self.progress.retain(|_, of| *of != key);
        if let Some(token) = token {
            self.progress.insert(token, key);
        }
        self.happened(key, Event::Answered(Answer::of_round(responses.as_deref())));
        None
    }

    fn opened_state(&self, state: &str, request: &CallRequest) -> Option<OperationId> {
        let seal = self.confirming.seal.as_ref()?;
        let plain = seal.open(state, &self.bound(request))?;
        let id = uuid::Uuid::from_slice(&plain).ok()?;
        Some(OperationId::new(id))
    }

    fn bound(&self, request: &CallRequest) -> Bound {
        let principal = self.host_name.as_deref().unwrap_or_default();
        Bound::to_call(request.tool.as_str(), principal, request.raw_arguments())
    }

    /// The user has had their time.
    pub(super) fn question_expired(&mut self, key: CallKey) {
        if let Some(open) = self.close_question(key) {
            self.take_back(open);
            self.happened(key, Event::Answered(Answer::Expired));
        }
    }

    /// The call is cancelled: its question must not stay on the user's screen.
    pub(super) fn withdraw_question(&mut self, key: CallKey) {
        if let Some(open) = self.close_question(key) {
            self.take_back(open);
        }
    }

    /// The host has closed its end: no answer can come.
    pub(super) fn withdraw_questions(&mut self) {
        let open: Vec<CallKey> = self.confirming.open.keys().copied().collect();
        for key in open {
            self.close_question(key);
            self.happened(key, Event::Answered(Answer::Blocked(Obstacle::Unable)));
        }
    }

    fn take_back(&self, open: Open) {
        if let Some(id) = open.request {
            self.tell_host(format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id},\
                 \"reason\":\"the call that it asks about is over\"}}}}"
            ));
        }
    }
}

fn capabilities_in(meta: &str) -> Option<&str> {
    let meta: RequestMeta<'_> = object(meta)?;
    Some(meta.client_capabilities?.get())
}
