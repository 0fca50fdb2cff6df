//! Tool calls: opened, told what happened, and their actions carried out.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use candor_core::call::machine::{Action, Call, Event, Listen, Loss};
use candor_core::call::malformed;
use candor_core::call::request::{BadCall, CallRequest};
use candor_core::record::{Entry, Phase, Recording};
use candor_core::wire::decode::request_meta;
use candor_core::wire::envelope::Request;
use candor_core::wire::method::Method;
use candor_core::wire::revision::Revision;
use tokio::time::Instant;

use super::pending::{Asked, CallKey, Origin};
use super::revival::Waiting;
use super::state::{Active, Recorded, Sent, Server, Session, fingerprint};
use super::stops::{Stop, stop_at};
use super::timers::Timer;
use crate::clock;
use crate::deadline::{Deadline, deadline};
use crate::recorder::Recorder;

/// More bytes than this waiting for a server that does not read, and calls are refused instead of queued.
pub(super) const MOST_QUEUED: usize = 64 * 1024 * 1024;
/// How long the record of a trusted read that has no answer yet may wait for its verdict.
const DEFERRED: Duration = Duration::from_secs(1);

impl Session {
    /// The host calls a tool.
    pub(super) fn open_call(&mut self, text: &str, request: &Request<'_>, origin: Origin) {
        self.next_call += 1;
        let key = CallKey(self.next_call);
        self.pending.hold(&origin.id, key);
        let now = clock::now();
        let params = request.params;
        let mut request = match CallRequest::read(text, request, self.revision_in_force()) {
            Ok(request) => request,
            Err(why) => {
                self.note_client(request, Method::ToolsCall);
                let named = request_meta(request.params).and_then(|meta| meta.revision());
                let revision = named.unwrap_or_else(|| self.revision_in_force());
                self.refuse_call(key, why, revision, origin);
                return;
            }
        };
        self.note_named_revision(request.named_revision);
        self.note_host(request.client.take());
        let Some(mut request) = self.take_round(request, params, &origin) else {
            return;
        };
        let circumstances = self.circumstances();
        let earlier = self.refusals_of(&request);
        let progress_token = request.progress_token.clone();
        if let Some(token) = &progress_token {
            self.progress.insert(token.clone(), key);
        }
        let goes_on = request.round.take();
        let round = goes_on.and_then(|mark| self.rounds.take(&mark, Instant::now()));
        self.look_for_news();
        let operation = clock::operation();
        if let Some(wish) = self.wants_task(&request)
            && let Some(task) = request.as_task_of(operation)
        {
            self.begin_task(key, operation, wish, task.revision);
            request = task;
        }
        let (mut call, actions) = Call::open(request, operation, circumstances, earlier, now);
        call.go_on_with(round);
        let opened = Instant::now();
        let deadline = self.deadline_of(key, None, false);
        let active = Active {
            call,
            origin,
            opened,
            sent: None,
            timer: None,
            deferred: Vec::new(),
            deadline,
            progress_token,
            told: false,
            look: None,
        };
        self.calls.insert(key, active);
        self.set_deadline(key, opened + deadline.wait);
        self.carry_out(key, actions);
    }

    /// How long a call may take in all, from its opening: a contract's word over what the host can bear.
    fn deadline_of(&self, key: CallKey, said: Option<Duration>, looks: bool) -> Deadline {
        let said = said.or(self.command_line.timeout);
        let deadline = if self.tasks.has(key) {
            Deadline::of_task(said)
        } else {
            deadline(said, self.host_name.as_deref(), self.tool_timeout)
        };
        if looks { deadline.with_look() } else { deadline }
    }

    /// Refuses a `tools/call` that is none, and records it like any other refusal.
    fn refuse_call(&mut self, key: CallKey, why: BadCall, revision: Revision, origin: Origin) {
        let circumstances = self.circumstances();
        let operation = clock::operation();
        let (entries, draft) =
            malformed::refuse(&origin.id, why, revision, operation, &circumstances, clock::now());
        self.malformed.insert(key, (draft, origin));
        let recorder = self.recorder.clone();
        self.records
            .spawn(async move { Recorded::Malformed(key, recorder.record(entries).await) });
    }

    /// Records a `tools/call` that was refused without being opened: it had no id, one that is open already, or
    /// parameters that are none. Its answer, where one is owed, is the caller's business.
    pub(super) fn record_refused(&mut self, id: &str, why: BadCall) {
        let circumstances = self.circumstances();
        let revision = self.revision_in_force();
        let (entries, _) = malformed::refuse(
            id,
            why,
            revision,
            clock::operation(),
            &circumstances,
            clock::now(),
        );
        self.recorder.record_later(entries);
    }

    /// Tells a call what happened, and does what it asks for.
    pub(super) fn happened(&mut self, key: CallKey, event: Event) {
        if let Event::Cancelled = &event {
            self.withdraw_question(key);
        }
        self.gauge(key, &event);
        let Some(active) = self.calls.get_mut(&key) else {
            return;
        };
        let learnt = matches!(event, Event::Learnt(_));
        active.call.offer_news(self.news.on_offer());
        let actions = active.call.on(event, clock::now());
        let (in_text, in_meta) = active.call.told_news();
        self.news.note_told(in_text, in_meta);
        if learnt {
            let refused = active
                .call
                .was_bad_input()
                .then(|| fingerprint(active.call.request()));
            let (opened, said) = (active.opened, active.call.contract_deadline());
            let looks = active.call.has_read_back();
            if let Some(refused) = refused {
                self.count_refusal(refused);
            }
            // Only now is it known what the tool's contract says.
            let deadline = self.deadline_of(key, said, looks);
            if let Some(active) = self.calls.get_mut(&key)
                && active.deadline != deadline
            {
                active.deadline = deadline;
                self.set_deadline(key, opened + deadline.wait);
            }
        }
        self.carry_out(key, actions);
    }

    fn carry_out(&mut self, key: CallKey, actions: Vec<Action>) {
        let mut queue = VecDeque::from(actions);
        while let Some(action) = queue.pop_front() {
            match action {
                Action::Learn { refresh } => self.learn(key, refresh),
                Action::RecordKeyed { entries, key: used } => {
                    self.note_accepted(key, &entries);
                    self.news.note_entries(&entries);
                    self.record_keyed(key, entries, used);
                }
                Action::LookUpKey { arguments } => self.look_up_key(key, arguments),
                Action::AwaitKey => self.await_key(key),
                Action::Record { entries, wait } => {
                    self.note_accepted(key, &entries);
                    stop_at(match entries.last().map(|entry| entry.phase) {
                        Some(Phase::Verdict) => Stop::Judged,
                        _ => Stop::Admitted,
                    });
                    self.news.note_entries(&entries);
                    if wait && let Recorder::Ledger(_) = &self.recorder {
                        let recorder = self.recorder.clone();
                        self.records
                            .spawn(async move { Recorded::Call(key, recorder.record(entries).await) });
                    } else {
                        let recording = self.record_without_waiting(key, entries);
                        self.happened(key, Event::Recorded(recording));
                    }
                }
                Action::Ask => self.ask_user(key),
                Action::Send => {
                    stop_at(Stop::IntentRecorded);
                    self.task_on_record(key);
                    self.send_call(key);
                }
                Action::ReadBack {
                    tool,
                    arguments,
                    after,
                } => self.plan_look(key, tool, arguments, after),
                Action::Hold { within } => self.hold_for_end(key, within),
                Action::Wait { after } => self.wait_to_send(key, after),
                Action::CancelUpstream => self.cancel_upstream(key),
                Action::Deliver(delivery) => {
                    stop_at(Stop::VerdictRecorded);
                    self.gathers &= !Stop::Delivered.is_wanted();
                    let Some(origin) = self.note_delivery(key) else {
                        continue;
                    };
                    match delivery.into_frame() {
                        // The round before was answered, and no other came: nobody waits.
                        _ if self.confirming.is_unheard(key) => {}
                        frame if self.end_task(key, &origin, frame.as_ref()) => {}
                        Some(frame) => self.answer(&origin, frame),
                        None => self.leave_unanswered(&origin),
                    }
                    stop_at(Stop::Delivered);
                }
                Action::Told { listen } => self.told(key, listen),
            }
        }
    }

    pub(super) fn send_call(&mut self, key: CallKey) {
        if let Some(loss) = self.resting(key) {
            self.happened(key, Event::Lost(loss));
            return;
        }
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
        let Some(active) = self.calls.get(&key).filter(|active| active.call.is_waiting()) else {
            return;
        };
        let frame = Bytes::from(active.call.upstream(&id.to_string()));
        if self.to_server.queued() > MOST_QUEUED {
            let why = "does not read what it is sent; too much is waiting for it".to_owned();
            self.happened(key, Event::Lost(Loss::NeverLeft { why, lasts: false }));
            return;
        }
        self.gathers &= !Stop::Sent.is_wanted();
        let Ok(number) = self.put(&self.to_server, vec![frame]) else {
            let why = "takes no more requests: it has closed its input".to_owned();
            self.happened(key, Event::Lost(Loss::NeverLeft { why, lasts: true }));
            return;
        };
        if let Some(active) = self.calls.get_mut(&key) {
            active.sent = Some(Sent {
                upstream: id,
                frame: number,
                at: Instant::now(),
            });
        }
        stop_at(Stop::Sent);
        self.pending.ask(id, Asked::Call(key));
        self.happened(key, Event::Sent);
    }

    /// Takes a request back that is still queued, if not a byte of it has left: then it never will.
    pub(super) fn recall(&mut self, key: CallKey) -> bool {
        let Some(active) = self.calls.get_mut(&key).filter(|active| active.call.is_waiting()) else {
            return false;
        };
        match active.sent {
            Some(sent) if self.to_server.withdraw(sent.frame) => {
                active.sent = None;
                self.pending.take(sent.upstream);
                self.happened(key, Event::Recalled);
                true
            }
            _ => false,
        }
    }

    /// Records of trusted reads wait for nobody, so intent and verdict go to disk together: a kill in between leaves
    /// no read that looks lost. One that takes long is put on disk as open ([`Timer::Defer`]).
    fn record_without_waiting(&mut self, key: CallKey, entries: Vec<Entry>) -> Recording {
        let Recorder::Ledger(_) = &self.recorder else {
            return self.recorder.record_later(entries);
        };
        let Some(active) = self.calls.get_mut(&key) else {
            return self.recorder.record_later(entries);
        };
        let open = entries.iter().all(|entry| entry.phase == Phase::Intent);
        active.deferred.extend(entries);
        if open {
            self.set_timer(Instant::now() + DEFERRED, Timer::Defer(key));
            return Recording::Queued;
        }
        let entries = std::mem::take(&mut active.deferred);
        self.recorder.record_later(entries)
    }

    pub(super) fn flush_deferred(&mut self, key: CallKey) {
        if let Some(active) = self.calls.get_mut(&key)
            && !active.deferred.is_empty()
        {
            let entries = std::mem::take(&mut active.deferred);
            self.recorder.record_later(entries);
        }
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
        active.look = None;
        if let Some(token) = active.progress_token.take()
            && self.progress.get(&token) == Some(&key)
        {
            self.progress.remove(&token);
        }
        let upstream = active.sent.map(|sent| sent.upstream);
        if (listen != Listen::UntilDeadline || upstream.is_none())
            && let Some(timer) = active.timer.take()
        {
            self.timers.remove(&timer);
        }
        let Some(upstream) = upstream else {
            self.calls.remove(&key);
            return;
        };
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
        if let Some(timer) = active.timer.take() {
            self.timers.remove(&timer);
        }
    }

    /// Entries are on disk, or are not.
    pub(super) fn recorded(&mut self, recorded: Recorded) {
        match recorded {
            Recorded::OwnAnswer(origin, frame) => self.own_answered_host(&origin, frame),
            Recorded::LeftAccepted(left) => self.take_up(left),
            Recorded::Call(key, recording) => self.happened(key, Event::Recorded(recording)),
            Recorded::Unsettled(found) => self.unsettled_found(found),
            Recorded::Keyed(key, keyed) => self.keyed_recorded(key, keyed),
            Recorded::Looked(found) => self.looked(&found),
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

    /// The calls that are not told yet.
    pub(super) fn open_calls(&self) -> Vec<CallKey> {
        self.calls
            .iter()
            .filter(|(_, active)| !active.told)
            .map(|(key, _)| *key)
            .collect()
    }
}
