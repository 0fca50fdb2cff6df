//! What a call does with its idempotency key, with the rounds of its operation, and with news of earlier calls.

use super::{Action, Call, State};
use crate::call::keyed::{FirstUse, GivenKey, KeyUse, Next, arguments_digest, retold};
use crate::call::rounds::{Round, RoundMark};
use crate::contract::recovery::KeyPlace;
use crate::delivery::answer::{Caller, Disclosure, Draft};
use crate::delivery::news::News;
use crate::judgment::ending::{Ending, Scene};
use crate::judgment::how::How;
use crate::judgment::judge::judge;
use crate::judgment::ruling::Channel;
use crate::judgment::verdict::{Outcome, Protocol};
use crate::names::{OperationId, UnixMillis};
use crate::record::Entry;
use crate::wire::reply::Reply;

/// The largest answer that is kept for a key, in bytes; of a larger one only the verdict is told again.
const KEPT_ANSWER: usize = 4 * 1024 * 1024;

impl Call {
    /// This is a further round of an operation, or of none. It counts as one once it may be sent: a round that is refused before
    /// leaves the operation as it stands.
    pub fn go_on_with(&mut self, round: Option<Round>) {
        let key = round.as_ref().and_then(|round| round.key.clone());
        if let (GivenKey::None, Some(key)) = (&self.request.key, key) {
            self.request.key = GivenKey::Key(key);
        }
        self.round = round;
    }

    /// What the next round of this operation will name, and what it will go on with; once.
    pub fn leaves_round(&mut self) -> Option<(RoundMark, Round)> {
        let mark = self.leaves.take()?;
        let round = Round {
            operation: self.operation,
            attempts: self.earlier_sends.saturating_add(self.attempts),
            key: self.request.key.key().map(str::to_owned),
        };
        Some((mark, round))
    }

    /// These became known of earlier calls: they may be told with this call's answer.
    pub fn offer_news(&mut self, news: Vec<News>) {
        self.news = news;
    }

    /// Were the offered news told, in a text and in `_meta`? Says so once.
    pub fn told_news(&mut self) -> (bool, bool) {
        std::mem::take(&mut self.news_told)
    }

    /// The operation whose outcome the caller is told to be unknown.
    pub fn told_unknown(&self) -> Option<OperationId> {
        self.told_unknown
    }

    pub(super) fn join_round(&mut self) {
        if let Some(round) = self.round.take() {
            self.operation = round.operation;
            self.earlier_sends = round.attempts;
        }
    }

    /// A key that can't be kept is no protection.
    pub(super) fn cannot_keep_key(&self) -> Option<Ending> {
        self.request.key.key()?;
        (!self.circumstances.has_ledger).then(|| Ending::Unrecorded {
            why: "it is switched off, and an idempotency key can't be kept without it".to_owned(),
        })
    }

    pub(super) fn record_intent(&mut self, now: UnixMillis) -> Vec<Action> {
        self.state = State::RecordingIntent;
        let key = self
            .request
            .key
            .key()
            .map(|_| KeyUse::Claim(arguments_digest(self.request.raw_arguments())));
        let entries = self.intent(now);
        vec![self.put_down(entries, key)]
    }

    pub(super) fn put_down(&self, entries: Vec<Entry>, key: Option<KeyUse>) -> Action {
        match key {
            Some(key) => Action::RecordKeyed { entries, key },
            None => Action::Record {
                entries,
                wait: self.waits_for_disk(),
            },
        }
    }

    /// Somebody came before with the same key.
    pub(super) fn key_taken(&mut self, first: Box<FirstUse>, now: UnixMillis) -> Vec<Action> {
        if self.cancelled {
            return self.refuse(&Ending::CancelledUnsent, now);
        }
        match first.next() {
            Next::Conflict => {
                let first = first.operation;
                self.refuse(&Ending::KeyConflict { first }, now)
            }
            Next::Wait if !self.timed_out => {
                self.state = State::AwaitingKey { first };
                vec![Action::AwaitKey]
            }
            Next::Wait | Next::Unknown | Next::Replay(_) | Next::Tell(_) => self.retell(&first, now),
        }
    }

    /// Tells what is known of the first. It is that operation's answer, so nothing is recorded of this call.
    pub(super) fn retell(&mut self, first: &FirstUse, now: UnixMillis) -> Vec<Action> {
        self.disclosure.news = std::mem::take(&mut self.news);
        let caller = self.caller();
        let Some(delivery) = retold(&self.scene(now), first, &caller, &self.disclosure) else {
            let first = first.operation;
            return self.refuse(&Ending::KeyConflict { first }, now);
        };
        let next = first.next();
        let replays = matches!(next, Next::Replay(_));
        self.told_unknown = matches!(next, Next::Wait | Next::Unknown).then_some(first.operation);
        self.news_told = (!replays, !replays);
        self.state = State::Told;
        self.request.forget();
        vec![
            Action::Deliver(delivery),
            Action::Told {
                listen: super::Listen::No,
            },
        ]
    }

    /// What the record of a verdict does with the call's key. An answer is kept where the outcome is known; a key under
    /// which nothing was sent is free again, also where its claim may or may not be on disk.
    pub(super) fn keeps(&self, draft: &Draft) -> Option<KeyUse> {
        self.request.key.key()?;
        let ruling = &draft.judgment().ruling;
        let sent_before = draft.judgment().verdict.attempts > 0;
        Some(match (ruling.protocol, ruling.outcome) {
            (Protocol::NotSent, _) if !sent_before => KeyUse::Free,
            (Protocol::NotSent, _) | (_, Outcome::Unknown) => KeyUse::Hold,
            _ if ruling.channel == Channel::Nobody => KeyUse::Hold,
            _ => kept(draft),
        })
    }

    /// As [`Call::keeps`], of an answer that came late: whoever comes again with the key gets it.
    pub(super) fn keeps_late(&self, scene: &Scene, ending: &Ending, reply: &Reply) -> Option<KeyUse> {
        self.request.key.key()?;
        let judgment = judge(scene, ending);
        // The request is answered; whoever comes again has an id of their own.
        let caller = Caller {
            id: "0".to_owned(),
            ..self.caller()
        };
        let draft = Draft::new(
            scene,
            ending,
            judgment,
            caller,
            &Disclosure::default(),
            Some(reply),
        );
        Some(match draft.judgment().ruling.outcome {
            Outcome::Unknown => KeyUse::Hold,
            _ => kept(&draft),
        })
    }

    /// The key as the server is to get it, and where; `None` where nobody said that it takes one.
    pub(super) fn passes_key(&self) -> Option<(&KeyPlace, &str)> {
        let key = self.request.key.key()?;
        Some((&self.terms()?.key_place.as_ref()?.value, key))
    }

    pub(super) fn caller(&self) -> Caller {
        Caller {
            id: self.request.id().to_owned(),
            revision: self.request.revision,
            promises_structure: self.tool.as_ref().is_none_or(|tool| tool.promises_structure()),
        }
    }

    /// What a drafted answer tells beside itself, and whether it asks for another round.
    pub(super) fn note_told(&mut self, draft: &Draft, reply: Option<&Reply>) {
        if !self.disclosure.news.is_empty() {
            self.news_told = draft.tells_news();
        }
        let ruling = &draft.judgment().ruling;
        let unknown = ruling.outcome == Outcome::Unknown && ruling.channel != Channel::Nobody;
        self.told_unknown = unknown.then_some(self.operation);
        if draft.judgment().how == How::InputRequired
            && let Some(result) = reply.and_then(Reply::said)
        {
            self.leaves = RoundMark::of_result(result, &self.request.tool, self.request.raw_arguments());
        }
    }
}

fn kept(draft: &Draft) -> KeyUse {
    match draft.as_recorded() {
        Some(answer) if answer.len() <= KEPT_ANSWER => KeyUse::Keep(answer),
        _ => KeyUse::Hold,
    }
}
