//! A server that fails is left alone for a while, where its contract says so. Only failures of what calls depend on count:
//! a tool's own errors show that it is there.

use std::collections::HashMap;
use std::time::Duration;

use candor_core::call::machine::{Event, Loss};
use candor_core::contract::recovery::Breaker;
use tokio::time::Instant;

use super::pending::CallKey;
use super::state::Session;

/// What the calls under one clause have come to. There are as many as the configuration has clauses.
#[derive(Debug, Default)]
struct Gauge {
    /// Failures one after the other.
    failures: u32,
    /// Left alone until then.
    until: Option<Instant>,
    /// The one call that tries whether it is well again.
    trying: Option<CallKey>,
}

/// The breakers of one session, by where their clause stands.
#[derive(Debug, Default)]
pub(super) struct Breakers(HashMap<String, Gauge>);

impl Breakers {
    fn failed(&mut self, (place, clause): (String, &Breaker), now: Instant) {
        let gauge = self.0.entry(place).or_default();
        gauge.failures = gauge.failures.saturating_add(1);
        gauge.trying = None;
        if gauge.failures >= clause.failures {
            gauge.until = Some(now + clause.pause);
        }
    }

    fn answered(&mut self, place: &str) {
        self.0.remove(place);
    }

    /// May this call be sent? Where not: for how long, and after how many failures.
    fn rest(
        &mut self,
        place: &str,
        key: CallKey,
        still_tries: impl Fn(CallKey) -> bool,
        now: Instant,
    ) -> Option<(Duration, u32)> {
        let gauge = self.0.get_mut(place)?;
        let until = gauge.until?;
        if until > now {
            return Some((until.saturating_duration_since(now), gauge.failures));
        }
        match gauge.trying {
            Some(other) if other != key && still_tries(other) => Some((Duration::ZERO, gauge.failures)),
            _ => {
                gauge.trying = Some(key);
                None
            }
        }
    }
}

impl Session {
    /// The loss of a call that must not be sent now, since the server is left alone.
    pub(super) fn resting(&mut self, key: CallKey) -> Option<Loss> {
        let (place, _) = self.calls.get(&key)?.call.breaker()?;
        let calls = &self.calls;
        let still_tries = |other| calls.get(&other).is_some_and(|active| active.call.is_waiting());
        let (rest, failures) = self.breakers.rest(&place, key, still_tries, Instant::now())?;
        Some(Loss::Resting {
            // A second more rather than one too early.
            seconds: rest.as_secs().saturating_add(1),
            failures,
        })
    }

    /// Counts what happened to a call, before it hears of it.
    pub(super) fn gauge(&mut self, key: CallKey, event: &Event) {
        let Some(active) = self.calls.get(&key).filter(|active| active.call.is_waiting()) else {
            return;
        };
        let failed = match event {
            Event::Replied(_) => false,
            Event::Lost(Loss::Closed { .. } | Loss::NeverLeft { .. }) => true,
            Event::TimedOut => active.sent.is_some(),
            _ => return,
        };
        let Some((place, clause)) = active.call.breaker() else {
            return;
        };
        if failed {
            let clause = clause.clone();
            self.breakers.failed((place, &clause), Instant::now());
        } else {
            self.breakers.answered(&place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAUSE: Breaker = Breaker {
        failures: 2,
        pause: Duration::from_secs(30),
    };

    fn fail(breakers: &mut Breakers, now: Instant) {
        breakers.failed(("a".to_owned(), &CLAUSE), now);
    }

    #[test]
    fn it_opens_after_failures_one_after_the_other_and_closes_with_an_answer() {
        let (mut breakers, now) = (Breakers::default(), Instant::now());
        let tries = |_: CallKey| true;
        fail(&mut breakers, now);
        assert_eq!(breakers.rest("a", CallKey(1), tries, now), None);
        breakers.answered("a");
        fail(&mut breakers, now);
        assert_eq!(breakers.rest("a", CallKey(1), tries, now), None, "counted anew");
        fail(&mut breakers, now);
        assert_eq!(
            breakers.rest("a", CallKey(1), tries, now),
            Some((CLAUSE.pause, 2))
        );
        assert_eq!(breakers.rest("b", CallKey(1), tries, now), None, "another clause");
    }

    #[test]
    fn after_the_pause_one_call_tries_and_the_others_wait_for_it() {
        let (mut breakers, now) = (Breakers::default(), Instant::now());
        fail(&mut breakers, now);
        fail(&mut breakers, now);
        let later = now + CLAUSE.pause;
        assert_eq!(breakers.rest("a", CallKey(1), |_| true, later), None);
        assert!(breakers.rest("a", CallKey(2), |_| true, later).is_some());
        assert_eq!(
            breakers.rest("a", CallKey(1), |_| true, later),
            None,
            "it is the one"
        );
        assert_eq!(
            breakers.rest("a", CallKey(2), |_| false, later),
            None,
            "the one is over"
        );
        fail(&mut breakers, later);
        assert_eq!(
            breakers.rest("a", CallKey(3), |_| true, later),
            Some((CLAUSE.pause, 3)),
            "it failed: once more"
        );
    }
}
