//! How the user can be asked in one call, and what was asked.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::answer::{Answer, Misfit};
use super::answers::Answers;
use super::cause::{Cause, Unable};
use super::form::{FormFault, contradiction, shape};
use super::in_task::{self, Board};
use super::legacy;
use super::offers::Offers;
use super::question::{Means, Question};
use crate::call::Halt;

/// How often one question is put within its deadline while the answers don't fit.
pub(super) const MOST_TRIES: usize = 3;
/// Most rounds of one call.
pub(super) const MOST_ROUNDS: u32 = 16;
/// Longest key of a question, in bytes.
const LONGEST_KEY: usize = 128;
/// Most questions of one call.
const MOST_QUESTIONS: usize = 50;

/// How the user can be asked in one call, and what came of it. Made by the wrapper, one for each run of a tool.
pub(crate) struct Asking {
    way: Way,
    /// Whether the call can become a task from here.
    tasks: bool,
    state: Mutex<State>,
    /// Held by everybody who waits for an answer; so they are counted, even if their wait is given up.
    waits: Arc<()>,
}

enum Way {
    /// Requests of the server's own, inside the call.
    Legacy {
        context: Box<RequestContext<RoleServer>>,
        offers: Offers,
    },
    /// The round ends, and the tool runs again with the answers.
    Round { offers: Offers },
    /// On the board of a task.
    Task { board: Arc<dyn Board>, offers: Offers },
    /// Not at all.
    Nobody,
}

#[derive(Default)]
struct State {
    answers: Answers,
    /// Digests of what this run asked, by key.
    put: BTreeMap<String, String>,
    parked: BTreeMap<String, (Question, Option<Misfit>)>,
    halted: Option<Cause>,
    effect_began: bool,
}

/// What stands for an answer when the time was up.
pub(super) fn expired() -> Value {
    json!({ "action": "expired" })
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = match self.way {
            Way::Legacy { .. } => "legacy",
            Way::Round { .. } => "round",
            Way::Task { .. } => "task",
            Way::Nobody => "nobody",
        };
        f.debug_struct("Asking")
            .field("way", &way)
            .field("tasks", &self.tasks)
            .finish_non_exhaustive()
    }
}

impl Default for Asking {
    fn default() -> Self {
        Self::nobody()
    }
}

impl Asking {
    fn new(way: Way, answers: Answers) -> Self {
        let state = Mutex::new(State {
            answers,
            ..State::default()
        });
        Self {
            way,
            tasks: false,
            state,
            waits: Arc::default(),
        }
    }

    /// Nobody can be asked.
    pub(crate) fn nobody() -> Self {
        Self::new(Way::Nobody, Answers::default())
    }

    /// A legacy client is asked inside the call.
    pub(crate) fn legacy(context: &RequestContext<RoleServer>) -> Self {
        let offers = Offers::of(context);
        Self::new(
            Way::Legacy {
                context: Box::new(context.clone()),
                offers,
            },
            Answers::default(),
        )
    }

    /// A modern client is asked in rounds; `answers` are those that `rounds::open` found.
    pub(crate) fn round(context: &RequestContext<RoleServer>, answers: Answers) -> Self {
        Self::new(
            Way::Round {
                offers: Offers::of(context),
            },
            answers,
        )
    }

    /// Asked on the board of a task that goes on with these answers.
    ///
    /// `offers` are those of the client that called ([`Asking::offered`]), or none where a task is resumed.
    pub(crate) fn in_task(board: Arc<dyn Board>, answers: Answers, offers: Offers) -> Self {
        Self::new(Way::Task { board, offers }, answers)
    }

    /// Says that the call can become a task from here: the caller takes tasks, and the server has them.
    pub(crate) fn can_become_task(self) -> Self {
        Self { tasks: true, ..self }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the tool halted; to be looked at only if it did. Another reason never takes the place of the first.
    pub(crate) fn halted(&self) -> Option<Cause> {
        self.state().halted.clone()
    }

    /// The questions that are open, with what was wrong with their last answers.
    pub(crate) fn parked(&self) -> BTreeMap<String, (Question, Option<Misfit>)> {
        self.state().parked.clone()
    }

    /// The answers so far, for the task that takes the call over.
    pub(crate) fn answers(&self) -> Answers {
        self.state().answers.clone()
    }

    /// Whether the client can be asked so. What a person answers can always stand on a board: whoever answers there,
    /// and by what tool, is known later.
    pub(crate) fn offers(&self, means: Means) -> bool {
        match &self.way {
            Way::Legacy { offers, .. } | Way::Round { offers } => offers.has(means),
            Way::Task { offers, .. } => matches!(means, Means::Form | Means::Url) || offers.has(means),
            Way::Nobody => false,
        }
    }

    /// What the client offers.
    pub(crate) fn offered(&self) -> Offers {
        match &self.way {
            Way::Legacy { offers, .. } | Way::Round { offers } | Way::Task { offers, .. } => offers.clone(),
            Way::Nobody => Offers::default(),
        }
    }

    /// The board of the task, in one.
    pub(crate) fn board(&self) -> Option<Arc<dyn Board>> {
        match &self.way {
            Way::Task { board, .. } => Some(Arc::clone(board)),
            _ => None,
        }
    }

    /// Goes on as a task, if the call isn't one and can be.
    pub(crate) fn as_task(&self) -> Result<(), Halt> {
        if self.tasks && !matches!(self.way, Way::Task { .. }) {
            return Err(self.halt(Cause::AsTask));
        }
        Ok(())
    }

    /// From here on the world changes: nothing may be asked any more, since an answer makes the tool run again.
    pub(crate) fn effect_begins(&self) {
        let mut state = self.state();
        debug_assert!(
            state.halted.is_none(),
            "effect_begins after a Halt that was not passed on"
        );
        state.effect_began = true;
    }

    /// Whether somebody waits for an answer now.
    pub(crate) fn is_waiting(&self) -> bool {
        Arc::strong_count(&self.waits) > 1
    }

    fn halt(&self, cause: Cause) -> Halt {
        self.state().halted.get_or_insert(cause);
        Halt(())
    }

    /// Puts questions, all at once where that is possible, and gives the answers in their order.
    pub(crate) async fn put(&self, questions: Vec<(String, Question)>) -> Result<Vec<Answer<Value>>, Halt> {
        let began = self.state().effect_began;
        debug_assert!(
            !began,
            "asked after effect_begins: the answer would make the tool run again"
        );
        if began {
            tracing::error!("a tool asks after Call::effect_begins: its effect may happen twice");
        }
        self.admit(&questions)
            .map_err(|fault| self.halt(Cause::Faulty(fault)))?;
        let mut answers = BTreeMap::new();
        let mut open = Vec::new();
        for (key, question) in &questions {
            match self.state().answers.to(key, question) {
                Some(Ok(answer)) => drop(answers.insert(key.clone(), answer)),
                Some(Err(misfit)) => open.push((key.clone(), question.clone(), Some(misfit))),
                None => open.push((key.clone(), question.clone(), None)),
            }
        }
        if !open.is_empty() {
            let _waits = Arc::clone(&self.waits);
            self.ask(&open, &mut answers)
                .await
                .map_err(|cause| self.park(open, cause))?;
        }
        let in_order: Option<Vec<_>> = questions.iter().map(|(key, _)| answers.remove(key)).collect();
        in_order.ok_or_else(|| self.halt(Cause::Misfits))
    }

    /// Looks at the questions as they are put: each must be askable, and a key stands for one question.
    fn admit(&self, questions: &[(String, Question)]) -> Result<(), FormFault> {
        let mut state = self.state();
        let mut keys = std::collections::BTreeSet::new();
        for (key, question) in questions {
            if key.is_empty() || key.len() > LONGEST_KEY {
                return Err(shape(key, format!("a key has 1 to {LONGEST_KEY} bytes")));
            }
            question.check()?;
            let digest = question.digest();
            let before = state.put.insert(key.clone(), digest.clone());
            if !keys.insert(key) || before.is_some_and(|before| before != digest) {
                return Err(contradiction(key, "this key stands for another question already"));
            }
        }
        if state.put.len() > MOST_QUESTIONS {
            return Err(shape(
                "",
                format!("more than {MOST_QUESTIONS} questions in one call"),
            ));
        }
        Ok(())
    }

    async fn ask(
        &self,
        open: &[(String, Question, Option<Misfit>)],
        answers: &mut BTreeMap<String, Answer<Value>>,
    ) -> Result<(), Cause> {
        if let Some((_, question, _)) = open
            .iter()
            .find(|(_, question, _)| !self.offers(question.means()))
        {
            return Err(Cause::Unable(Unable::NotOffered(question.means())));
        }
        match &self.way {
            Way::Round { .. } if self.state().answers.rounds() >= MOST_ROUNDS => Err(Cause::Misfits),
            Way::Round { .. } => Err(Cause::Asked),
            Way::Nobody => Err(Cause::Unable(Unable::NotOffered(Means::Form))),
            // One after the other: a person has one screen.
            Way::Legacy { context, offers } => {
                for (key, question, _) in open {
                    let (raw, answer) = legacy::ask(context, offers, question).await?;
                    self.note(key, question, raw, answer, answers);
                }
                Ok(())
            }
            Way::Task { board, .. } => {
                let mut cause = None;
                for (told, (key, question, _)) in in_task::ask(board, open).await.into_iter().zip(open) {
                    match told {
                        Ok((raw, answer)) => self.note(key, question, raw, answer, answers),
                        Err(why) => cause = cause.or(Some(why)),
                    }
                }
                cause.map_or(Ok(()), Err)
            }
        }
    }

    fn note(
        &self,
        key: &str,
        question: &Question,
        raw: Value,
        answer: Answer<Value>,
        answers: &mut BTreeMap<String, Answer<Value>>,
    ) {
        self.state().answers.give(key, question, raw);
        answers.insert(key.to_owned(), answer);
    }

    /// Keeps what is open for the wrapper.
    fn park(&self, open: Vec<(String, Question, Option<Misfit>)>, cause: Cause) -> Halt {
        let mut state = self.state();
        for (key, question, last) in open {
            if state.answers.to(&key, &question).is_none_or(|read| read.is_err()) {
                state.parked.insert(key, (question, last));
            }
        }
        state.halted.get_or_insert(cause);
        Halt(())
    }
}
