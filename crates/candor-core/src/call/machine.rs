//! The machine of one call. Nothing here waits, sends, writes or looks at a clock.

mod asking;
mod entries;
mod exchange;
mod holding;
mod keys;
mod looking;
mod lowering;
mod retrying;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use self::asking::Confirmation;
pub use self::exchange::{Action, Event, FollowedEnd, Listen, Loss};
use self::holding::Holding;
use self::looking::Looking;
use self::retrying::Held;
use super::admission::{Admission, admit};
use super::keyed::FirstUse;
use super::reply::{ending, refuses_parameters};
use super::request::CallRequest;
use super::rounds::{Round, RoundMark};
use crate::contract::effect::EffectClass;
use crate::contract::recovery::Breaker;
use crate::contract::terms::{ShapeMode, ToolTerms};
use crate::contract::tool::{Knowledge, Tool};
use crate::delivery::answer::{Disclosure, Draft};
use crate::delivery::news::News;
use crate::delivery::redaction::KnownSecrets;
use crate::judgment::ending::{Ending, Scene, Voice};
use crate::judgment::finding::{Finding, FindingCode};
use crate::judgment::judge::{Judgment, judge, judge_looked, judge_second};
use crate::judgment::verdict::{Effect, Protocol};
use crate::known::Known;
use crate::names::{OperationId, ServerName, UnixMillis};
use crate::reading::result::{Asked, ResultReading};
use crate::record::bodies::VerdictFacts;
use crate::record::{Phase, Recording};
use crate::recovery::read_back::Look;
use crate::recovery::retry::asked;
use crate::wire::reply::Reply;

/// How many late answers of one call are recorded; a server that goes on answering is not listened to.
const KEPT_LATE: usize = 4;

/// What holds for every call of one session.
#[derive(Debug, Clone)]
pub struct Circumstances {
    /// The server's name.
    pub server: ServerName,
    /// The host's name, where it gave one.
    pub host: Option<String>,
    /// Who calls, where somebody said.
    pub principal: Option<String>,
    /// Refuse every call but trusted reads that can't be recorded.
    pub ledger_required: bool,
    /// Is there a ledger at all?
    pub has_ledger: bool,
    /// How long an answer is waited for where no contract says otherwise.
    pub deadline: Duration,
    /// Values that are masked wherever Candor writes.
    pub secrets: KnownSecrets,
}

impl Circumstances {
    /// What this call sends under a name that an operator calls secret is secret in every word about it.
    fn for_call(self: Arc<Self>, request: &CallRequest) -> Arc<Self> {
        let named = request
            .raw_arguments()
            .and_then(|arguments| self.secrets.with_named_in(arguments));
        match named {
            Some(secrets) => Arc::new(Self {
                secrets,
                ..(*self).clone()
            }),
            None => self,
        }
    }
}

#[derive(Debug)]
enum State {
    /// Waiting to be told of the tool; `refreshed` once the server was asked anew.
    Learning { refreshed: bool },
    /// Before the user is asked: was the key used before?
    LookingUpKey,
    /// The user is asked; see `asking`.
    Asking,
    /// The intent is on its way to disk.
    RecordingIntent,
    /// The call that used its key first is still running.
    AwaitingKey { first: Box<FirstUse> },
    /// The request is to be handed over, or was; an answer is awaited.
    Waiting,
    /// The server refused the parameters: is the tool still there?
    Confirming { reply: Reply },
    /// What the call left behind is looked at.
    Recovering {
        looking: Box<Looking>,
        reply: Option<Reply>,
    },
    /// The call is to be sent again, after a wait; `recording` once that is over and the next send is on its way to disk.
    Retrying { recording: bool },
    /// A verdict is on its way to disk.
    Concluding {
        draft: Box<Draft>,
        after: After,
        /// The caller is kept for the end of what this answer took on.
        hold: Option<Box<Reply>>,
    },
    /// The work is taken on; its caller is kept for the end.
    Holding(Box<Holding>),
    /// The caller is told. What still comes amends the record.
    Told,
}

/// The deadline passed before a byte left.
fn not_in_time() -> Ending {
    Ending::ConnectFailed {
        why: "was not ready for it within the time that this call had".to_owned(),
        lasts: false,
    }
}

/// What is still to be done once the caller is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    Cancel,
    ListenUntilDeadline,
}

/// One call.
#[derive(Debug)]
pub struct Call {
    circumstances: Arc<Circumstances>,
    request: CallRequest,
    operation: OperationId,
    opened: UnixMillis,
    sent: Option<UnixMillis>,
    earlier_refusals: u32,
    tool: Option<Arc<Tool>>,
    terms: Option<Arc<ToolTerms>>,
    coerced: Option<Value>,
    disclosure: Disclosure,
    confirmation: Option<Confirmation>,
    recorded: Recording,
    attempts: u32,
    /// How often it was to be handed over.
    tries: u32,
    /// How an earlier try ended.
    held: Option<Box<Held>>,
    cancelled: bool,
    timed_out: bool,
    /// Answers that came while the first was being recorded.
    early: Vec<Reply>,
    late_answers: usize,
    /// The effect that its answers declared so far.
    declared: Effect,
    /// The arguments as they were sent, where there is something to look for.
    args: Option<Value>,
    /// What a look settled.
    settled: Option<Look>,
    /// A call that is told and still open is looked at further.
    further: Option<Box<Looking>>,
    /// The contract's read-back can't be asked.
    unlookable: bool,
    /// The operation that this goes on with, until it is known to go on.
    round: Option<Round>,
    /// How often it was sent in earlier rounds.
    earlier_sends: u32,
    /// What the next round will name.
    leaves: Option<RoundMark>,
    /// News of earlier calls that may be told with this one's answer.
    news: Vec<News>,
    /// Were they told, in a text and in `_meta`?
    news_told: (bool, bool),
    /// The operation that the caller is told to be unknown.
    told_unknown: Option<OperationId>,
    state: State,
}

impl Call {
    /// Opens a call. `earlier_refusals` counts how often these very arguments were refused before.
    pub fn open(
        request: CallRequest,
        operation: OperationId,
        circumstances: Arc<Circumstances>,
        earlier_refusals: u32,
        now: UnixMillis,
    ) -> (Self, Vec<Action>) {
        let call = Self {
            circumstances: circumstances.for_call(&request),
            request,
            operation,
            opened: now,
            sent: None,
            earlier_refusals,
            tool: None,
            terms: None,
            coerced: None,
            disclosure: Disclosure::default(),
            confirmation: None,
            recorded: Recording::Off,
            attempts: 0,
            tries: 0,
            held: None,
            cancelled: false,
            timed_out: false,
            early: Vec::new(),
            late_answers: 0,
            declared: Effect::Unknown,
            args: None,
            settled: None,
            further: None,
            unlookable: false,
            round: None,
            earlier_sends: 0,
            leaves: None,
            news: Vec::new(),
            news_told: (false, false),
            told_unknown: None,
            state: State::Learning { refreshed: false },
        };
        (call, vec![Action::Learn { refresh: false }])
    }

    /// The operation.
    pub fn operation(&self) -> OperationId {
        self.operation
    }

    /// The request as it came.
    pub fn request(&self) -> &CallRequest {
        &self.request
    }

    /// The frame for the server, under the id that the shell chose for it.
    pub fn upstream(&self, id: &str) -> String {
        self.request
            .upstream(id, self.coerced.as_ref(), self.passes_key())
    }

    /// The contract's own deadline, where it has one.
    pub fn contract_deadline(&self) -> Option<Duration> {
        Some(self.terms()?.deadline.as_ref()?.value)
    }

    /// When its contract has the server left alone, and where that is said: calls under one clause count together.
    pub fn breaker(&self) -> Option<(String, &Breaker)> {
        let clause = self.terms()?.breaker.as_ref()?;
        Some((clause.source.to_string(), &clause.value))
    }

    /// Does its contract say how to look again at what it left behind?
    pub fn has_read_back(&self) -> bool {
        self.class() != EffectClass::Read && self.terms().is_some_and(|terms| terms.read_back.is_some())
    }

    /// What the call may change; a tool that nobody classified counts as a write.
    pub fn class(&self) -> EffectClass {
        self.known_class().unwrap_or(EffectClass::Write)
    }

    /// Was the request handed over, and is an answer awaited?
    pub fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting)
    }

    /// Was it refused for its arguments?
    pub fn was_bad_input(&self) -> bool {
        matches!(&self.state, State::Concluding { draft, .. } if draft.judgment().how == crate::judgment::how::How::BadInput)
    }

    /// Takes in what happened, and asks for what must be done now. An event that does not fit the state changes
    /// nothing: a second answer or a late cancellation is no fault of the call.
    pub fn on(&mut self, event: Event, now: UnixMillis) -> Vec<Action> {
        let state = std::mem::replace(&mut self.state, State::Told);
        match (state, event) {
            (State::Learning { refreshed }, Event::Learnt(knowledge)) => {
                self.learnt(&knowledge, refreshed, now)
            }
            (State::Learning { .. }, Event::Cancelled) => self.refuse(&Ending::CancelledUnsent, now),
            (State::Learning { .. }, Event::TimedOut) => self.refuse(&not_in_time(), now),
            (State::LookingUpKey, event) => self.while_looking_up(event, now),
            (State::Asking, event) => self.while_asking(&event, now),
            (State::RecordingIntent, Event::TimedOut) => {
                self.timed_out = true;
                self.state = State::RecordingIntent;
                Vec::new()
            }
            (State::Waiting, Event::Recalled) => {
                self.state = State::Waiting;
                self.sent = None;
                self.attempts = self.attempts.saturating_sub(1);
                Vec::new()
            }
            (State::Waiting, Event::TimedOut) if self.sent.is_none() => {
                self.conclude(&not_in_time(), None, now)
            }
            (State::RecordingIntent, Event::Cancelled) => {
                // The intent is on its way to disk; its verdict follows it.
                self.cancelled = true;
                self.state = State::RecordingIntent;
                Vec::new()
            }
            (State::RecordingIntent, Event::Recorded(recording)) => self.intent_recorded(recording, now),
            (State::RecordingIntent, Event::KeyTaken(first)) => self.key_taken(first, now),
            (State::AwaitingKey { .. }, Event::KeyDue) => self.go_for_it(now),
            (State::AwaitingKey { first }, Event::TimedOut) => self.retell(&first, now),
            (State::AwaitingKey { .. }, Event::Cancelled) => self.refuse(&Ending::CancelledUnsent, now),
            (State::Waiting, Event::Sent) => {
                self.state = State::Waiting;
                self.sent = Some(now);
                self.attempts += 1;
                Vec::new()
            }
            (State::Waiting, Event::Replied(reply)) => self.replied(reply, now),
            (State::Waiting, Event::Lost(loss)) => self.lost(loss, now),
            (State::Waiting, Event::TimedOut) => self.conclude(&Ending::Timeout, None, now),
            (State::Waiting, Event::Cancelled) if self.sent.is_none() => {
                self.conclude(&Ending::CancelledUnsent, None, now)
            }
            (State::Waiting | State::Confirming { .. }, Event::Cancelled) => {
                self.conclude(&Ending::CancelledSent, None, now)
            }
            (State::Confirming { reply }, Event::Learnt(knowledge)) => {
                let listed = matches!(knowledge, Knowledge::Listed(_));
                self.settle(&reply, listed, now)
            }
            (State::Confirming { reply }, Event::TimedOut | Event::Lost(_)) => self.settle(&reply, true, now),
            (State::Concluding { draft, after, hold }, Event::Recorded(recording)) => match hold {
                Some(reply) => self.hold(*draft, after, recording, *reply, now),
                None => self.tell(*draft, after, &recording, now),
            },
            (State::Holding(holding), event) => self.holding(*holding, event, now),
            (State::Retrying { recording }, event) => self.retrying(recording, event, now),
            (State::Recovering { looking, reply }, event) => self.recovering(*looking, reply, event, now),
            (State::Told, Event::Replied(reply)) => self.late(&reply, now),
            (State::Told, Event::Looked(end)) => self.looked_further(&end, now),
            (State::Told, Event::CannotLook { .. }) => {
                self.further = None;
                Vec::new()
            }
            (state @ (State::Concluding { .. } | State::Confirming { .. }), Event::Replied(reply)) => {
                // One more answer while the first is still on its way: its turn comes once the caller is told.
                self.state = state;
                if self.early.len() < KEPT_LATE {
                    self.early.push(reply);
                }
                Vec::new()
            }
            (state, _) => {
                self.state = state;
                Vec::new()
            }
        }
    }

    fn learnt(&mut self, knowledge: &Knowledge, refreshed: bool, now: UnixMillis) -> Vec<Action> {
        match knowledge {
            Knowledge::Listed(tool) => self.tool = Some(Arc::clone(tool)),
            Knowledge::Unlistable { terms, .. } => self.terms = Some(Arc::clone(terms)),
            Knowledge::NotListed { .. } => self.tool = None,
        }
        let Admission {
            refusal,
            coerced,
            disclosure,
        } = admit(
            &self.request,
            knowledge,
            self.circumstances.principal.as_deref().unwrap_or_default(),
            now,
            self.earlier_refusals.saturating_add(1),
        );
        // What was learnt may be stale: nobody is refused by an old schema.
        if refusal.is_some() && !refreshed {
            self.state = State::Learning { refreshed: true };
            return vec![Action::Learn { refresh: true }];
        }
        self.coerced = coerced;
        self.disclosure = disclosure;
        match refusal.or_else(|| self.cannot_keep_key()) {
            Some(ending) => self.refuse(&ending, now),
            None => {
                self.join_round();
                self.go_for_it(now)
            }
        }
    }

    fn intent_recorded(&mut self, recording: Recording, now: UnixMillis) -> Vec<Action> {
        self.recorded = recording;
        if self.cancelled {
            return self.conclude(&Ending::CancelledUnsent, None, now);
        }
        if self.timed_out {
            return self.conclude(&not_in_time(), None, now);
        }
        match &self.recorded {
            Recording::Not { why } if self.must_be_recorded() || self.request.key.key().is_some() => {
                let why = why.clone();
                self.conclude(&Ending::Unrecorded { why }, None, now)
            }
            _ => {
                self.tries += 1;
                self.state = State::Waiting;
                vec![Action::Send]
            }
        }
    }

    /// Known writes are refused where they can't be recorded; with a required ledger all but trusted reads are.
    fn must_be_recorded(&self) -> bool {
        match self.known_class() {
            Some(EffectClass::Read) => false,
            Some(EffectClass::Write | EffectClass::Idempotent) => true,
            None => self.circumstances.ledger_required,
        }
    }

    fn replied(&mut self, reply: Reply, now: UnixMillis) -> Vec<Action> {
        if self.tool.is_some() && refuses_parameters(&reply) {
            self.state = State::Confirming { reply };
            return vec![Action::Learn { refresh: true }];
        }
        self.settle(&reply, true, now)
    }

    fn settle(&mut self, reply: &Reply, listed: bool, now: UnixMillis) -> Vec<Action> {
        let ending = self.read(reply, listed);
        self.conclude(&ending, Some(reply), now)
    }

    fn read(&self, reply: &Reply, listed: bool) -> Ending {
        let terms = self.terms();
        let asked = Asked {
            revision: self.request.revision,
            as_task: self.request.as_task,
            promises_structure: self.tool.as_ref().is_some_and(|tool| tool.promises_structure()),
            output: self.tool.as_ref().and_then(|tool| match &tool.output {
                Known::Is(schema) => Some(schema),
                Known::Not(_) => None,
            }),
            mapping: terms
                .and_then(|terms| terms.mapping.as_ref())
                .map(|mapping| &mapping.value),
            text: terms.map_or(&[], |terms| &terms.text),
            believed: terms
                .is_some_and(|terms| terms.trust_verdicts.value)
                .then(|| self.class()),
        };
        let none = BTreeMap::new();
        let refusals = terms.map_or(&none, |terms| &terms.nothing_done_on);
        let ending = ending(reply, &asked, refusals, listed, &self.circumstances.secrets);
        self.lowered(ending, reply)
    }

    fn lost(&mut self, loss: Loss, now: UnixMillis) -> Vec<Action> {
        let ending = match loss {
            Loss::NeverLeft { why, lasts } => {
                // This try never left; what earlier ones did stands.
                self.attempts = self
                    .attempts
                    .saturating_sub(u32::from(self.sent.take().is_some()));
                Ending::ConnectFailed { why, lasts }
            }
            Loss::Resting { seconds, failures } => Ending::Resting { seconds, failures },
            Loss::Closed { exit, restarts } => Ending::Closed { exit, restarts },
            Loss::Oversized { length, limit } => Ending::Oversized { length, limit },
            Loss::Unreadable { why } => Ending::Replied(Box::new(ResultReading::no_result(why))),
        };
        self.conclude(&ending, None, now)
    }

    /// Refused before anything was sent: intent and verdict are one record.
    fn refuse(&mut self, ending: &Ending, now: UnixMillis) -> Vec<Action> {
        let intent = self.intent(now);
        let mut actions = self.conclude(ending, None, now);
        if let Some(Action::Record { entries, .. } | Action::RecordKeyed { entries, .. }) =
            actions.first_mut()
        {
            entries.splice(0..0, intent);
        }
        actions
    }

    /// The call has ended: it is looked after where its contract says how, and then told.
    fn conclude(&mut self, ending: &Ending, reply: Option<&Reply>, now: UnixMillis) -> Vec<Action> {
        self.begin_to_look(ending, reply, now)
            .unwrap_or_else(|| self.finish(ending, reply, None, now))
    }

    /// What looking came to is known, or nothing was looked at: the call is sent again, or told.
    fn finish(
        &mut self,
        ending: &Ending,
        reply: Option<&Reply>,
        look: Option<Look>,
        now: UnixMillis,
    ) -> Vec<Action> {
        let may_retry = self.terms().is_some_and(|terms| terms.retry.is_some());
        if !may_retry && self.held.is_none() {
            return self.close(ending, reply, look, now);
        }
        let judgment = self.judged(ending, look.clone(), now);
        if let Some(actions) = self.try_again(&judgment, (ending, reply, look.as_ref()), now) {
            return actions;
        }
        match self.honest(&judgment) {
            Some(held) => self.close(&held.ending, held.reply.as_ref(), held.look, now),
            None => self.close(ending, reply, look, now),
        }
    }

    fn judged(&self, ending: &Ending, look: Option<Look>, now: UnixMillis) -> Judgment {
        match look {
            Some(look) => judge_looked(&self.scene(now), ending, look),
            None => judge(&self.scene(now), ending),
        }
    }

    /// The verdict stands: it is recorded, and then told.
    fn close(
        &mut self,
        ending: &Ending,
        reply: Option<&Reply>,
        look: Option<Look>,
        now: UnixMillis,
    ) -> Vec<Action> {
        let scene = self.scene(now);
        let mut judgment = self.judged(ending, look, now);
        if reply.is_some() {
            self.declared = judgment.ruling.effect;
        }
        if let (Some(error), Some(reply)) = (&mut judgment.verdict.error, reply) {
            error.retry_after = error.retry_after.or_else(|| asked(ending, reply));
        }
        self.look_further(&judgment, ending, reply, now);
        self.disclosure.news = std::mem::take(&mut self.news);
        let read = self.class() == EffectClass::Read;
        let after = match ending {
            // Nobody waits for this read any more; a write is listened to, and must not be stopped half-way.
            Ending::Timeout if read => After::Cancel,
            Ending::CancelledSent if !read => After::ListenUntilDeadline,
            _ => After::Nothing,
        };
        let draft = Draft::new(&scene, ending, judgment, self.caller(), &self.disclosure, reply);
        let entries = if self.circumstances.has_ledger {
            let facts = VerdictFacts {
                block: draft.block.as_deref(),
                reply: reply.and_then(Reply::said),
                earlier_findings: &self.disclosure.findings,
                count_is_zero: matches!(ending, Ending::Replied(reading) if reading.count_is_zero),
            };
            vec![self.verdict_entry(Phase::Verdict, &scene, draft.judgment(), &facts, now)]
        } else {
            Vec::new()
        };
        self.note_told(&draft, reply);
        let action = self.put_down(entries, self.keeps(&draft));
        let hold = reply.filter(|_| self.kept_for(draft.judgment()).is_some());
        self.state = State::Concluding {
            draft: Box::new(draft),
            after,
            hold: hold.cloned().map(Box::new),
        };
        vec![action]
    }

    /// Trusted reads do not wait for the sync; nor does a call whose intent already could not be written: it has
    /// waited once, and its verdict says `recorded: false` whatever comes of the second try.
    fn waits_for_disk(&self) -> bool {
        !self.is_trusted_read() && !matches!(self.recorded, Recording::Not { .. })
    }

    fn tell(&mut self, draft: Draft, after: After, recording: &Recording, now: UnixMillis) -> Vec<Action> {
        let listen = match (after, draft.judgment().ruling.protocol) {
            (_, Protocol::NotSent) => Listen::No,
            (After::ListenUntilDeadline, _) if self.early.is_empty() => Listen::UntilDeadline,
            _ => Listen::WhileKept,
        };
        // A verdict on disk without its intent proves nothing about what was sent.
        let recording = match (&self.recorded, recording) {
            (not @ Recording::Not { .. }, _) => not,
            (_, recording) => recording,
        };
        let mut actions = vec![Action::Deliver(draft.sign(recording))];
        if after == After::Cancel {
            actions.push(Action::CancelUpstream);
        }
        actions.push(Action::Told { listen });
        self.request.forget();
        self.coerced = None;
        for reply in std::mem::take(&mut self.early) {
            actions.extend(self.late(&reply, now));
        }
        actions.extend(self.next_look(now));
        actions
    }

    /// Judges an answer beside those that came before it.
    fn judge_again(&mut self, scene: &Scene, ending: &Ending) -> Judgment {
        let judgment = judge_second(scene, ending, self.declared);
        if judgment.ruling.finding == Some(FindingCode::Contradiction) {
            // A server that contradicts itself has no third say.
            self.late_answers = KEPT_LATE;
        } else if judgment.ruling.effect != Effect::Unknown {
            self.declared = judgment.ruling.effect;
        }
        judgment
    }

    /// An answer, or a second one, that came after the verdict: it amends the record, and nobody is told twice.
    fn late(&mut self, reply: &Reply, now: UnixMillis) -> Vec<Action> {
        if self.late_answers >= KEPT_LATE {
            return Vec::new();
        }
        self.late_answers += 1;
        let ending = self.read(reply, true);
        let scene = self.scene(now);
        let mut judgment = self.judge_again(&scene, &ending);
        let was_looking = self.further.is_some();
        judgment = self.late_with_look(&ending, reply, judgment, now);
        judgment.findings.push(Finding::new(
            FindingCode::LateAnswer,
            format!(
                "an answer came {} ms after the call was opened, when its verdict was already told",
                now.since(self.opened)
            ),
        ));
        let facts = VerdictFacts {
            reply: reply.said(),
            count_is_zero: matches!(&ending, Ending::Replied(reading) if reading.count_is_zero),
            ..VerdictFacts::default()
        };
        let entry = self.verdict_entry(Phase::Amendment, &scene, &judgment, &facts, now);
        let first = match self.keeps_late(&scene, &ending, reply) {
            Some(key) => Action::RecordKeyed {
                entries: vec![entry],
                key,
            },
            None => Action::Record {
                entries: vec![entry],
                wait: false,
            },
        };
        let mut actions = vec![first];
        // One that was looked at already goes on being looked at by itself.
        if !was_looking {
            actions.extend(self.next_look(now));
        }
        actions
    }

    /// The contract of its tool, as far as it is known.
    pub fn terms(&self) -> Option<&ToolTerms> {
        self.tool
            .as_ref()
            .map(|tool| &tool.terms)
            .or(self.terms.as_deref())
    }

    fn known_class(&self) -> Option<EffectClass> {
        Some(self.terms()?.class.as_ref()?.value)
    }

    fn is_trusted_read(&self) -> bool {
        self.known_class() == Some(EffectClass::Read)
    }

    fn scene(&self, now: UnixMillis) -> Scene {
        Scene {
            operation: self.operation,
            server: self.circumstances.server.clone(),
            tool: self.request.tool.clone(),
            class: self.class(),
            claims_read_only: self.tool.as_ref().is_some_and(|tool| tool.claims_read_only()),
            attempts: self.earlier_sends.saturating_add(self.attempts),
            elapsed: Duration::from_millis(now.since(self.sent.unwrap_or(self.opened))),
            strict_shape: self
                .terms()
                .is_some_and(|terms| terms.output.value == ShapeMode::Strict),
            recorded: self.circumstances.has_ledger && !matches!(self.recorded, Recording::Not { .. }),
            voice: Voice::Gateway,
            secrets: self.circumstances.secrets.clone(),
        }
    }
}
