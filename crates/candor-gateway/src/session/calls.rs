//! Tool calls: opened, told what happened, and their actions carried out.

use std::collections::VecDeque;
use std::time::Duration;

use candor_core::call::machine::{Action, Call, Event, Listen, Loss};
use candor_core::call::malformed;
use candor_core::call::request::CallRequest;
use candor_core::record::bodies::digest;
use candor_core::wire::envelope::Request;
use candor_core::wire::revision::Revision;
use tokio::time::Instant;

use super::pending::{Asked, CallKey, Origin};
use super::revival::Waiting;
use super::state::{Active, Recorded, Sent, Server, Session, Timer};
use crate::clock;
use crate::deadline::{Deadline, MAXIMUM, deadline};
use crate::recorder::Recorder;

impl Session {
    /// The host calls a tool.
    pub(super) fn open_call(
        &mut self,
        text: &str,
        request: &Request<'_>,
        origin: Origin,
        revision: Revision,
    ) {
        self.next_call += 1;
        let key = CallKey(self.next_call);
        self.pending.hold(&origin.id, key);
        let circumstances = self.circumstances();
        let now = clock::now();
        let request = match CallRequest::read(text, request, revision) {
            Ok(request) => request,
            Err(why) => {
                let operation = clock::operation();
                let (entries, draft) =
                    malformed::refuse(&origin.id, why, revision, operation, &circumstances, now);
                self.malformed.insert(key, (draft, origin));
                let recorder = self.recorder.clone();
                self.records
                    .spawn(async move { Recorded::Malformed(key, recorder.record(entries).await) });
                return;
            }
        };
        let fingerprint = digest(&format!(
            "{}\n{}",
            request.tool,
            request.raw_arguments().unwrap_or_default()
        ));
        let earlier = self.refusals_of(&fingerprint);
        let progress_token = request.progress_token.clone();
        if let Some(token) = &progress_token {
            self.progress.insert(token.clone(), key);
        }
        let (call, actions) = Call::open(request, clock::operation(), circumstances, earlier, now);
        let active = Active {
            call,
            origin,
            opened: Instant::now(),
            sent: None,
            deadline: Deadline {
                wait: MAXIMUM,
                renewable: false,
            },
            progress_token,
            fingerprint,
            told: false,
        };
        self.calls.insert(key, active);
        self.carry_out(key, actions);
    }

    /// Tells a call what happened, and does what it asks for.
    pub(super) fn happened(&mut self, key: CallKey, event: Event) {
        let Some(active) = self.calls.get_mut(&key) else {
            return;
        };
        let learnt = matches!(event, Event::Learnt(_));
        let actions = active.call.on(event, clock::now());
        if learnt && active.call.was_bad_input() {
            let fingerprint = active.fingerprint.clone();
            self.count_refusal(&fingerprint);
        }
        self.carry_out(key, actions);
    }

    fn carry_out(&mut self, key: CallKey, actions: Vec<Action>) {
        let mut queue = VecDeque::from(actions);
        while let Some(action) = queue.pop_front() {
            match action {
                Action::Learn { refresh } => self.learn(key, refresh),
                Action::Record { entries, wait } => {
                    if wait && let Recorder::Ledger(_) = &self.recorder {
                        let recorder = self.recorder.clone();
                        self.records
                            .spawn(async move { Recorded::Call(key, recorder.record(entries).await) });
                    } else {
                        let recording = self.recorder.record_later(entries);
                        self.happened(key, Event::Recorded(recording));
                    }
                }
                Action::Send => self.send_call(key),
                Action::CancelUpstream => self.cancel_upstream(key),
                Action::Deliver(delivery) => {
                    let Some(origin) = self.calls.get(&key).map(|active| active.origin.clone()) else {
                        continue;
                    };
                    match delivery.into_frame() {
                        Some(frame) => self.answer(&origin, frame),
                        None => self.leave_unanswered(&origin),
                    }
                }
                Action::Told { listen } => self.told(key, listen),
            }
        }
    }

    pub(super) fn send_call(&mut self, key: CallKey) {
        match &self.server {
            Server::Running => {}
            Server::Gone(exit) if !self.may_revive() => {
                let why = format!("is gone: it ended ({exit}) before this call");
                self.happened(key, Event::Lost(Loss::NeverLeft { why, lasts: true }));
                return;
            }
            Server::Gone(_) | Server::Reviving => {
                self.wait_for_server(Waiting::Call(key));
                return;
            }
        }
        let id = self.pending.new_id();
        // One that was cancelled while it waited for the server is told already.
        let Some(active) = self.calls.get_mut(&key).filter(|active| active.call.is_waiting()) else {
            return;
        };
        let wait = deadline(
            active.call.contract_deadline(),
            self.host_name.as_deref(),
            self.tool_timeout,
        );
        active.deadline = wait;
        let frame = active.call.upstream(&id.to_string());
        let Ok(number) = self.to_server.push(frame.into()) else {
            let why = "takes no more requests: it has closed its input".to_owned();
            self.happened(key, Event::Lost(Loss::NeverLeft { why, lasts: true }));
            return;
        };
        // The host's clock has been running since it asked, an operator's own limit counts from the sending.
        let from = if wait.renewable {
            active.opened
        } else {
            Instant::now()
        };
        active.sent = Some(Sent {
            upstream: id,
            frame: number,
            at: Instant::now(),
            timer: None,
        });
        self.pending.ask(id, Asked::Call(key));
        self.happened(key, Event::Sent);
        self.set_deadline(key, from + wait.wait);
    }

    fn set_deadline(&mut self, key: CallKey, at: Instant) {
        let timer = self.set_timer(at, Timer::Call(key));
        if let Some(sent) = self.calls.get_mut(&key).and_then(|active| active.sent.as_mut())
            && let Some(old) = sent.timer.replace(timer)
        {
            self.timers.remove(&old);
        }
    }

    /// The server reports progress under a token: the wait of that call starts anew, up to the maximum.
    pub(super) fn progressed(&mut self, token: &str) {
        let Some(&key) = self.progress.get(token) else {
            return;
        };
        let Some(active) = self.calls.get(&key) else {
            return;
        };
        let (Some(sent), true) = (active.sent, active.deadline.renewable && !active.told) else {
            return;
        };
        let at = (Instant::now() + active.deadline.wait).min(sent.at + MAXIMUM);
        self.set_deadline(key, at);
    }

    /// Tells the server that nobody waits for a call any more.
    pub(super) fn cancel_upstream(&mut self, key: CallKey) {
        let Some(sent) = self.calls.get(&key).and_then(|active| active.sent) else {
            return;
        };
        let frame = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{},\
             \"reason\":\"nobody waits for this call any more\"}}}}",
            sent.upstream
        );
        self.tell_server(frame);
    }

    /// The caller is told. A call that may still be answered is kept, so that the answer gets into the record.
    fn told(&mut self, key: CallKey, listen: Listen) {
        let Some(active) = self.calls.get_mut(&key) else {
            return;
        };
        active.told = true;
        if let Some(token) = active.progress_token.take()
            && self.progress.get(&token) == Some(&key)
        {
            self.progress.remove(&token);
        }
        let Some(sent) = &mut active.sent else {
            self.calls.remove(&key);
            return;
        };
        let upstream = sent.upstream;
        if listen != Listen::UntilDeadline
            && let Some(timer) = sent.timer.take()
        {
            self.timers.remove(&timer);
        }
        if listen == Listen::No {
            self.pending.take(upstream);
            self.calls.remove(&key);
        } else if let Some(forgotten) = self.pending.keep_told(key, upstream) {
            self.calls.remove(&forgotten);
        }
    }

    /// A told call is answered after all: its deadline holds the session open no longer.
    pub(super) fn stop_listening(&mut self, key: CallKey) {
        let Some(active) = self.calls.get_mut(&key).filter(|active| active.told) else {
            return;
        };
        if let Some(timer) = active.sent.as_mut().and_then(|sent| sent.timer.take()) {
            self.timers.remove(&timer);
        }
    }

    /// Entries are on disk, or are not.
    pub(super) fn recorded(&mut self, recorded: Recorded) {
        match recorded {
            Recorded::Call(key, recording) => self.happened(key, Event::Recorded(recording)),
            Recorded::Malformed(key, recording) => {
                let Some((draft, origin)) = self.malformed.remove(&key) else {
                    return;
                };
                match draft.sign(&recording).into_frame() {
                    Some(frame) => self.answer(&origin, frame),
                    None => self.leave_unanswered(&origin),
                }
            }
        }
    }

    /// Carries out every timer that is due.
    pub(super) fn fire_timers(&mut self) {
        let now = Instant::now();
        while let Some((&key, &timer)) = self.timers.first_key_value()
            && key.0 <= now
        {
            self.timers.remove(&key);
            match timer {
                Timer::Call(call) => {
                    if let Some(sent) = self.calls.get_mut(&call).and_then(|active| active.sent.as_mut()) {
                        sent.timer = None;
                    }
                    self.happened(call, Event::TimedOut);
                }
                Timer::Listing(upstream) => self.listing_timed_out(upstream),
                Timer::Handshake(upstream) => self.handshake_timed_out(upstream),
            }
        }
    }

    /// When the next timer is due.
    pub(super) fn next_due(&self) -> Instant {
        // Far away, and no overflow: a loop that wakes up once an hour for nothing costs nothing.
        let idle = Instant::now() + Duration::from_secs(3600);
        self.timers.first_key_value().map_or(idle, |(key, _)| key.0)
    }

    /// The calls that are not told yet.
    pub(super) fn open_calls(&self) -> Vec<CallKey> {
        self.calls
            .iter()
            .filter(|(_, active)| !active.told)
            .map(|(key, _)| *key)
            .collect()
    }
}
