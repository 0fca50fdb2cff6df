//! The rounds of one `input_required` exchange (2026-07-28) are one operation: which operation a further round goes on with.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use candor_core::call::rounds::{Round, RoundMark};
use tokio::time::Instant;

use super::pending::{CallKey, Origin};
use super::state::Session;

/// Operations that wait for their next round: more than this many are forgotten, oldest first.
const MOST_ROUNDS: usize = 1_024;
/// How long one waits. A round that comes later is an operation of its own.
const NEXT_WITHIN: Duration = Duration::from_secs(15 * 60);

/// Operations that wait for their next round.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    waiting: HashMap<RoundMark, (Round, Instant)>,
    order: VecDeque<(RoundMark, Instant)>,
}

impl Rounds {
    /// The server asked for another round.
    pub(super) fn expect(&mut self, mark: RoundMark, round: Round, now: Instant) {
        let until = now + NEXT_WITHIN;
        while self.order.len() >= MOST_ROUNDS || self.order.front().is_some_and(|(_, until)| *until <= now) {
            let Some((old, until)) = self.order.pop_front() else {
                break;
            };
            // The same mark may have been given again since.
            if self.waiting.get(&old).is_some_and(|(_, of)| *of == until) {
                self.waiting.remove(&old);
            }
        }
        // Of two that can't be told apart neither goes on: which of them is meant can't be known.
        if self.waiting.remove(&mark).is_none() {
            self.waiting.insert(mark.clone(), (round, until));
            self.order.push_back((mark, until));
        }
    }

    /// A further round came: what it goes on with. Once: the same round sent again is a call of its own.
    pub(super) fn take(&mut self, mark: &RoundMark, now: Instant) -> Option<Round> {
        if self.waiting.is_empty() {
            return None;
        }
        let (round, until) = self.waiting.remove(mark)?;
        (now < until).then_some(round)
    }
}

impl Session {
    /// A call is answered: where the answer goes. What it leaves behind is noted: an operation that waits for its next
    /// round, or one that its caller is told to be unknown.
    pub(super) fn note_delivery(&mut self, key: CallKey) -> Option<Origin> {
        let active = self.calls.get_mut(&key)?;
        if let Some((mark, round)) = active.call.leaves_round() {
            self.rounds.expect(mark, round, Instant::now());
        }
        if let Some(operation) = active.call.told_unknown() {
            self.news.note_unknown(operation, &active.call.request().tool);
        }
        Some(active.origin.clone())
    }
}

#[cfg(test)]
mod tests {
    use candor_core::names::{OperationId, ToolName};
    use uuid::Uuid;

    use super::*;

    fn mark(number: usize) -> RoundMark {
        RoundMark::without_state(&ToolName::from(number.to_string().as_str()), None)
    }

    fn round(number: u128) -> Round {
        Round {
            operation: OperationId::new(Uuid::from_u128(number)),
            attempts: 1,
            key: None,
        }
    }

    #[test]
    fn a_round_goes_on_once_and_in_time() {
        let (mut rounds, now) = (Rounds::default(), Instant::now());
        rounds.expect(mark(1), round(1), now);
        assert_eq!(rounds.take(&mark(2), now), None);
        assert_eq!(rounds.take(&mark(1), now), Some(round(1)));
        assert_eq!(rounds.take(&mark(1), now), None, "once");
        rounds.expect(mark(1), round(1), now);
        assert_eq!(rounds.take(&mark(1), now + NEXT_WITHIN), None, "too late");
    }

    #[test]
    fn two_that_look_the_same_go_on_with_neither() {
        let (mut rounds, now) = (Rounds::default(), Instant::now());
        rounds.expect(mark(1), round(1), now);
        rounds.expect(mark(1), round(2), now);
        assert_eq!(rounds.take(&mark(1), now), None);
    }

    #[test]
    fn more_than_the_bound_are_forgotten_oldest_first() {
        let (mut rounds, now) = (Rounds::default(), Instant::now());
        for number in 0..=MOST_ROUNDS {
            rounds.expect(mark(number), round(number as u128), now);
        }
        assert_eq!(rounds.waiting.len(), MOST_ROUNDS);
        assert_eq!(rounds.take(&mark(0), now), None);
        assert!(rounds.take(&mark(MOST_ROUNDS), now).is_some());
    }
}
