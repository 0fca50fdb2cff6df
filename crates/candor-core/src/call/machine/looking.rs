//! Looking again at what a call left behind: before its caller is told, and after, as long as it is open.

use std::time::Duration;

use serde_json::Value;

use super::{Action, Call, State};
use crate::contract::effect::EffectClass;
use crate::contract::recovery::ReadBack;
use crate::judgment::ending::Ending;
use crate::judgment::judge::{Judgment, judge, judge_looked};
use crate::judgment::looked::Before;
use crate::judgment::ruling::{Channel, untold};
use crate::names::UnixMillis;
use crate::record::Phase;
use crate::record::bodies::VerdictFacts;
use crate::recovery::read_back::{Look, LookAnswer, Shown, Subject, arguments, next_wait, shown};
use crate::wire::reply::Reply;

/// Looks at a call that is told, at most.
const MOST_LATE: u32 = 10;
/// The longest wait between two of them.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The shortest: the first of them comes so long after the caller is told.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);

/// A call that is looked after.
#[derive(Debug)]
pub(super) struct Looking {
    pub(super) ending: Ending,
    subject: Subject,
    times: u32,
    why: String,
    wait: Duration,
    asked: Option<Value>,
}

impl Looking {
    /// What looking came to so far.
    fn look(&self, clause: &ReadBack, shown: Shown, answer: Option<&LookAnswer>, now: UnixMillis) -> Look {
        Look {
            tool: clause.tool.clone(),
            shown,
            why: if shown == Shown::Nothing {
                self.why.clone()
            } else {
                String::new()
            },
            times: self.times,
            since_sent: Duration::from_millis(now.since(self.subject.sent)),
            arguments: self.asked.clone(),
            answer: answer.and_then(|answer| answer.reply().said()).map(str::to_owned),
        }
    }

    /// Takes in how a look ended. `Nothing` where it settles nothing.
    fn take_in(&mut self, clause: &ReadBack, end: &Result<LookAnswer, String>, now: UnixMillis) -> Shown {
        self.times += 1;
        let shown = match end {
            Ok(answer) => shown(
                clause,
                &self.subject,
                self.asked.as_ref().unwrap_or(&Value::Null),
                answer,
                now,
            ),
            Err(why) => Err(why.clone()),
        };
        shown.unwrap_or_else(|why| {
            self.why = why;
            Shown::Nothing
        })
    }
}

impl Call {
    fn read_back(&self) -> Option<&ReadBack> {
        Some(&self.terms()?.read_back.as_ref()?.value)
    }

    /// Does this ending leave something open that the contract's read-back may settle?
    fn may_look(&self, ending: &Ending, before: impl Fn(Before) -> bool, now: UnixMillis) -> bool {
        if self.read_back().is_none() || self.sent.is_none() || self.class() == EffectClass::Read {
            return false;
        }
        let own = judge(&self.scene(now), ending);
        Before::of(&own.ruling, own.how).is_some_and(before)
    }

    /// Begins to look before the caller is told; `None` where there is nothing to look for.
    pub(super) fn begin_to_look(
        &mut self,
        ending: &Ending,
        reply: Option<&Reply>,
        now: UnixMillis,
    ) -> Option<Vec<Action>> {
        let prove = self.read_back()?.prove;
        let told = judge(&self.scene(now), ending).ruling.channel == Channel::Result;
        let wanted = |before: Before| match before {
            Before::Reported => prove,
            // Following it is another matter, and takes longer than its caller can wait.
            Before::Accepted => false,
            _ => true,
        };
        if !told || !self.may_look(ending, wanted, now) {
            return None;
        }
        let looking = self.looking(ending, reply, now)?;
        Some(self.look_before_telling(looking, reply.cloned(), Duration::ZERO, now))
    }

    /// The arguments as they were sent. Once the caller is told, the request itself is let go of.
    pub(super) fn sent_arguments(&self) -> Option<Value> {
        match (&self.args, &self.coerced, self.request.raw_arguments()) {
            (Some(kept), ..) => Some(kept.clone()),
            (None, Some(coerced), _) => Some(coerced.clone()),
            (None, None, Some(raw)) => serde_json::from_str(raw).ok(),
            (None, None, None) => Some(Value::Object(serde_json::Map::new())),
        }
    }

    fn looking(&mut self, ending: &Ending, reply: Option<&Reply>, now: UnixMillis) -> Option<Looking> {
        let args = self.sent_arguments()?;
        self.args = Some(args.clone());
        Some(Looking {
            ending: ending.clone(),
            subject: Subject::of(
                args,
                reply,
                self.request.revision,
                self.sent.unwrap_or(now),
                matches!(ending, Ending::Timeout | Ending::CancelledSent),
            ),
            times: 0,
            why: String::new(),
            wait: SHORTEST_WAIT,
            asked: None,
        })
    }

    fn look_before_telling(
        &mut self,
        mut looking: Looking,
        reply: Option<Reply>,
        after: Duration,
        now: UnixMillis,
    ) -> Vec<Action> {
        match self.ask(&mut looking, after, now) {
            Ok(action) => {
                self.state = State::Recovering {
                    looking: Box::new(looking),
                    reply,
                };
                vec![action]
            }
            Err(why) => {
                looking.why = why;
                self.looked_in_vain(&looking, reply.as_ref(), now)
            }
        }
    }

    fn ask(&self, looking: &mut Looking, after: Duration, now: UnixMillis) -> Result<Action, String> {
        let clause = self.read_back().ok_or("the contract says no more how")?;
        let arguments = arguments(clause, &looking.subject, now)?;
        looking.asked = Some(arguments.clone());
        Ok(Action::ReadBack {
            tool: clause.tool.clone(),
            arguments,
            after,
        })
    }

    /// A look ended while the caller waits.
    pub(super) fn looked(
        &mut self,
        mut looking: Looking,
        reply: Option<Reply>,
        end: &Result<LookAnswer, String>,
        now: UnixMillis,
    ) -> Vec<Action> {
        let Some(clause) = self.read_back().cloned() else {
            return self.looked_in_vain(&looking, reply.as_ref(), now);
        };
        match looking.take_in(&clause, end, now) {
            Shown::Nothing if looking.times < clause.attempts => {
                let wait = next_wait(&clause, &looking.subject, now);
                self.look_before_telling(looking, reply, wait, now)
            }
            Shown::Nothing => self.looked_in_vain(&looking, reply.as_ref(), now),
            shown => {
                let look = looking.look(&clause, shown, end.as_ref().ok(), now);
                self.settled = Some(look.clone());
                self.finish(&looking.ending, reply.as_ref(), Some(look), now)
            }
        }
    }

    /// The time for looking is over.
    pub(super) fn stop_looking(
        &mut self,
        mut looking: Looking,
        reply: Option<&Reply>,
        now: UnixMillis,
    ) -> Vec<Action> {
        if looking.times == 0 {
            looking.times = 1;
            looking.why = "no answer came in the time that this call had".to_owned();
        }
        let look = self
            .read_back()
            .map(|clause| looking.look(clause, Shown::Nothing, None, now));
        // Nor is there time for another try.
        self.close(&looking.ending, reply, look, now)
    }

    /// The contract's tool can't be asked at all.
    pub(super) fn cannot_look(
        &mut self,
        mut looking: Looking,
        reply: Option<&Reply>,
        why: String,
        now: UnixMillis,
    ) -> Vec<Action> {
        looking.why = why;
        self.unlookable = true;
        self.looked_in_vain(&looking, reply, now)
    }

    fn looked_in_vain(&mut self, looking: &Looking, reply: Option<&Reply>, now: UnixMillis) -> Vec<Action> {
        let look = self
            .read_back()
            .map(|clause| looking.look(clause, Shown::Nothing, None, now));
        self.finish(&looking.ending, reply, look, now)
    }

    /// What is still open once its caller is told is looked at further, as long as there is somebody to look.
    pub(super) fn look_further(
        &mut self,
        judgment: &Judgment,
        ending: &Ending,
        reply: Option<&Reply>,
        now: UnixMillis,
    ) {
        let open = judgment.verdict.is_unsettled() && !self.unlookable;
        if open && self.may_look(ending, |before| before != Before::Reported, now) {
            self.further = self.looking(ending, reply, now).map(Box::new);
        }
    }

    /// The next look at a call that is told.
    pub(super) fn next_look(&mut self, now: UnixMillis) -> Option<Action> {
        let mut looking = self.further.take()?;
        let wait = self.read_back()?.wait.max(looking.wait).min(LONGEST_WAIT);
        let action = self.ask(&mut looking, wait, now).ok()?;
        looking.wait = (looking.wait * 2).min(LONGEST_WAIT);
        self.further = Some(looking);
        Some(action)
    }

    /// A look at a call that is told ended: what it settles amends the record.
    pub(super) fn looked_further(
        &mut self,
        end: &Result<LookAnswer, String>,
        now: UnixMillis,
    ) -> Vec<Action> {
        let (Some(mut looking), Some(clause)) = (self.further.take(), self.read_back().cloned()) else {
            return Vec::new();
        };
        let shown = looking.take_in(&clause, end, now);
        let scene = self.scene(now);
        let look = looking.look(&clause, shown, end.as_ref().ok(), now);
        let mut judgment = judge_looked(&scene, &looking.ending, look.clone());
        if judgment.verdict.is_unsettled() || shown == Shown::Nothing {
            if looking.times < MOST_LATE {
                self.further = Some(looking);
            }
            return self.next_look(now).into_iter().collect();
        }
        self.settled = Some(look);
        judgment.ruling = untold(judgment.ruling);
        let entry = self.verdict_entry(Phase::Amendment, &scene, &judgment, &VerdictFacts::default(), now);
        vec![Action::Record {
            entries: vec![entry],
            wait: false,
        }]
    }

    /// Judges a late answer of a call that a look may have settled. What was seen is not forgotten for it; but a success
    /// told after "not applied" was seen is news, and is looked at again.
    pub(super) fn late_with_look(
        &mut self,
        ending: &Ending,
        reply: &Reply,
        late: Judgment,
        now: UnixMillis,
    ) -> Judgment {
        let before = Before::of(&late.ruling, late.how);
        let Some(look) = self.settled.clone() else {
            if !late.verdict.is_unsettled() {
                self.further = None;
            }
            return late;
        };
        if look.shown == Shown::NotApplied && before == Some(Before::Reported) {
            self.settled = None;
            self.further = self.looking(ending, Some(reply), now).map(Box::new);
            return late;
        }
        let mut judgment = judge_looked(&self.scene(now), ending, look);
        judgment.ruling = crate::judgment::ruling::late(judgment.ruling);
        judgment.verdict.protocol = judgment.ruling.protocol;
        judgment
    }
}
