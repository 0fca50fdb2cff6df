//! A call that a person must agree to: between admission and intent the user is asked. Nothing is on disk meanwhile, since
//! nothing is about to be sent; what was asked and how it ended is part of the intent.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Action, Call, Event, State, not_in_time};
use crate::asking::confirmation::{Answer, Question};
use crate::call::keyed::arguments_digest;
use crate::call::request::CallRequest;
use crate::judgment::ending::Ending;
use crate::names::UnixMillis;

/// A question, and what became of it.
#[derive(Debug)]
pub(super) struct Confirmation {
    question: Question,
    asked: UnixMillis,
    answer: Option<(Answer, UnixMillis)>,
}

impl Call {
    /// What is put to the user, once [`Action::Ask`] asked for it.
    pub fn question(&self) -> Option<&Question> {
        Some(&self.confirmation.as_ref()?.question)
    }

    /// Is the user being asked?
    pub fn is_asking(&self) -> bool {
        matches!(self.state, State::Asking)
    }

    /// The caller came back with the answer in a round of its own: from now on this request is the one that is sent and
    /// answered. The shell has made sure that it is the same call.
    pub fn goes_on_as(&mut self, request: CallRequest) {
        if self.is_asking() {
            self.request = request;
        }
    }

    /// Does its contract want a person's consent?
    pub(super) fn must_ask(&self) -> bool {
        self.terms().is_some_and(|terms| terms.confirm.is_some())
    }

    /// Admitted: it is recorded and sent, after its user agreed where that is wanted. Nobody is asked about a call whose key
    /// was used before: it would not be sent again.
    pub(super) fn go_for_it(&mut self, now: UnixMillis) -> Vec<Action> {
        if !self.must_ask() || self.has_consent() {
            return self.record_intent(now);
        }
        if self.request.key.key().is_none() {
            return self.ask_consent(now);
        }
        self.state = State::LookingUpKey;
        vec![Action::LookUpKey {
            arguments: arguments_digest(self.request.raw_arguments()),
        }]
    }

    pub(super) fn while_looking_up(&mut self, event: Event, now: UnixMillis) -> Vec<Action> {
        match event {
            Event::KeyFree => self.ask_consent(now),
            Event::KeyTaken(first) => self.key_taken(first, now),
            Event::Cancelled => self.refuse(&Ending::CancelledUnsent, now),
            Event::TimedOut => self.refuse(&not_in_time(), now),
            _ => {
                self.state = State::LookingUpKey;
                Vec::new()
            }
        }
    }

    fn has_consent(&self) -> bool {
        let answer = self.confirmation.as_ref().and_then(|asked| asked.answer);
        matches!(answer, Some((Answer::Accepted, _)))
    }

    fn ask_consent(&mut self, now: UnixMillis) -> Vec<Action> {
        let question = self
            .terms()
            .and_then(|terms| terms.confirm.as_ref())
            .map(|confirm| {
                Question::new(
                    &self.circumstances.server,
                    &self.request,
                    self.coerced.as_ref(),
                    &confirm.value,
                    &self.circumstances.secrets,
                )
            });
        let Some(question) = question else {
            return self.record_intent(now);
        };
        self.confirmation = Some(Confirmation {
            question,
            asked: now,
            answer: None,
        });
        self.state = State::Asking;
        vec![Action::Ask]
    }

    pub(super) fn while_asking(&mut self, event: &Event, now: UnixMillis) -> Vec<Action> {
        match event {
            &Event::Answered(answer) => {
                let waited = self.answered(answer, now);
                match answer {
                    Answer::Accepted => self.record_intent(now),
                    _ => self.refuse(&Ending::Unconfirmed { answer, waited }, now),
                }
            }
            Event::Cancelled => {
                self.answered(Answer::Cancelled, now);
                self.refuse(&Ending::CancelledUnsent, now)
            }
            // While a person thinks, the tool's clock stands still.
            _ => {
                self.state = State::Asking;
                Vec::new()
            }
        }
    }

    fn answered(&mut self, answer: Answer, now: UnixMillis) -> Duration {
        let Some(confirmation) = &mut self.confirmation else {
            return Duration::ZERO;
        };
        confirmation.answer = Some((answer, now));
        Duration::from_millis(now.since(confirmation.asked))
    }

    /// What was asked and how it ended, for the record; null where nobody was asked.
    pub(super) fn confirmation_told(&self) -> Value {
        let Some(confirmation) = &self.confirmation else {
            return Value::Null;
        };
        json!({
            "asked": confirmation.question.message(),
            "askedAt": confirmation.asked,
            "end": confirmation.answer.map(|(answer, _)| answer.end()),
            "endedAt": confirmation.answer.map(|(_, at)| at),
        })
    }
}
