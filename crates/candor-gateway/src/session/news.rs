//! News: a caller that was told `UNKNOWN` learns once, with a later result, what became known of it since. By a late answer
//! in this process, or by whoever else writes into the ledger: a read-back, a person.

use std::collections::VecDeque;
use std::time::Duration;

use candor_core::delivery::news::News;
use candor_core::judgment::verdict::{Effect, Evidence, Outcome};
use candor_core::names::{OperationId, ToolName};
use candor_core::record::{Entry, Phase};
use candor_ledger::{Phase as Written, StoredEntry};
use tokio::time::Instant;

use super::state::{Recorded, Session};
use crate::recorder::Recorder;

/// Operations told as unknown that are remembered: more than this many are forgotten, oldest first.
const MOST_UNKNOWN: usize = 128;
/// News that wait for a result to be told with: more than this many are forgotten, oldest first.
const MOST_NEWS: usize = 32;
/// News told with one result.
const AT_ONCE: usize = 3;
/// How often the ledger is asked about what was told as unknown, at most.
const LOOKS_EVERY: Duration = Duration::from_secs(1);

/// What this session's caller was told to be unknown, and what is known of it since.
#[derive(Debug, Default)]
pub(super) struct Newsroom {
    unknown: VecDeque<(OperationId, ToolName)>,
    news: VecDeque<News>,
    looked: Option<Instant>,
}

impl Newsroom {
    /// The caller is told that nobody knows what came of this.
    pub(super) fn note_unknown(&mut self, operation: OperationId, tool: &ToolName) {
        if self.unknown.iter().any(|(known, _)| *known == operation) {
            return;
        }
        if self.unknown.len() >= MOST_UNKNOWN {
            self.unknown.pop_front();
        }
        self.unknown.push_back((operation, tool.clone()));
    }

    /// These are being written: does one say more of an operation that was told as unknown?
    pub(super) fn note_entries(&mut self, entries: &[Entry]) {
        if self.unknown.is_empty() {
            return;
        }
        for entry in entries.iter().filter(|entry| entry.phase == Phase::Amendment) {
            if let Some(known) = entry.concluded {
                self.note_known(entry.operation, known.outcome, known.effect, known.evidence);
            }
        }
    }

    fn note_known(&mut self, operation: OperationId, outcome: Outcome, effect: Effect, evidence: Evidence) {
        if outcome == Outcome::Unknown {
            return;
        }
        let Some(place) = self.unknown.iter().position(|(known, _)| *known == operation) else {
            return;
        };
        let Some((operation, tool)) = self.unknown.remove(place) else {
            return;
        };
        if self.news.len() >= MOST_NEWS {
            self.news.pop_front();
        }
        self.news.push_back(News {
            operation,
            tool,
            outcome,
            effect,
            evidence,
            in_meta: false,
        });
    }

    fn note_stored(&mut self, last: &StoredEntry) {
        let word = |word: &Option<String>| word.clone().unwrap_or_default();
        let entry = &last.entry;
        if entry.phase == Written::Amendment
            && let (Some(outcome), Some(effect), Some(evidence)) = (
                Outcome::parse(&word(&entry.outcome)),
                Effect::parse(&word(&entry.effect)),
                Evidence::parse(&word(&entry.evidence)),
            )
        {
            self.note_known(OperationId::new(entry.operation), outcome, effect, evidence);
        }
    }

    /// What may be told with the next result.
    pub(super) fn on_offer(&self) -> Vec<News> {
        self.news.iter().take(AT_ONCE).cloned().collect()
    }

    /// What was on offer was told: what stood in a text is no news any more, what stood in `_meta` is told there only
    /// once.
    pub(super) fn note_told(&mut self, in_text: bool, in_meta: bool) {
        if in_text {
            self.news.drain(..AT_ONCE.min(self.news.len()));
        } else if in_meta {
            for news in self.news.iter_mut().take(AT_ONCE) {
                news.in_meta = true;
            }
        }
    }

    /// Whom to ask the ledger about now; nobody where it was asked a moment ago.
    fn ask_about(&mut self, now: Instant) -> Vec<OperationId> {
        let asked_lately = self.looked.is_some_and(|looked| now < looked + LOOKS_EVERY);
        if self.unknown.is_empty() || asked_lately {
            return Vec::new();
        }
        self.looked = Some(now);
        self.unknown.iter().map(|(operation, _)| *operation).collect()
    }
}

impl Session {
    /// A call opens: has anybody settled what its caller was told to be unknown?
    pub(super) fn look_for_news(&mut self) {
        let Recorder::Ledger(ledger) = &self.recorder else {
            return;
        };
        let operations = self.news.ask_about(Instant::now());
        if operations.is_empty() {
            return;
        }
        let ledger = ledger.clone();
        self.records.spawn_blocking(move || {
            let operations: Vec<_> = operations.iter().map(|operation| operation.uuid()).collect();
            let found = ledger.last_records(&operations).unwrap_or_else(|fault| {
                tracing::debug!(%fault, "the ledger could not be asked what became of unknown calls");
                Vec::new()
            });
            Recorded::Looked(found.into_iter().flatten().collect())
        });
    }

    /// Records what a look in the background came to: a caller that was told `UNKNOWN` learns of it with its next result.
    pub(super) fn record_news(&mut self, entry: Entry) {
        self.news.note_entries(std::slice::from_ref(&entry));
        self.recorder.record_later(vec![entry]);
    }

    /// The ledger was asked what became of unknown calls.
    pub(super) fn looked(&mut self, found: &[StoredEntry]) {
        for last in found {
            self.news.note_stored(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn operation(number: u128) -> OperationId {
        OperationId::new(Uuid::from_u128(number))
    }

    fn with_news(count: u128) -> Newsroom {
        let mut room = Newsroom::default();
        for number in 0..count {
            room.note_unknown(operation(number), &ToolName::from("create_issue"));
            room.note_known(
                operation(number),
                Outcome::Completed,
                Effect::Applied,
                Evidence::Declared,
            );
        }
        room
    }

    #[test]
    fn news_are_told_in_a_text_once_and_three_at_a_time() {
        let mut room = with_news(4);
        assert_eq!(room.on_offer().len(), 3);
        room.note_told(false, true);
        assert!(
            room.on_offer().iter().all(|news| news.in_meta),
            "a text still owes them"
        );
        room.note_told(true, true);
        assert_eq!(room.on_offer().len(), 1);
        room.note_told(true, true);
        assert!(room.on_offer().is_empty());
    }

    #[test]
    fn only_what_was_told_as_unknown_is_news_and_only_when_more_is_known() {
        let mut room = Newsroom::default();
        room.note_known(
            operation(1),
            Outcome::Completed,
            Effect::Applied,
            Evidence::Declared,
        );
        assert!(room.on_offer().is_empty(), "nobody was told of it");
        room.note_unknown(operation(1), &ToolName::from("create_issue"));
        room.note_known(operation(1), Outcome::Unknown, Effect::Unknown, Evidence::None);
        assert!(room.on_offer().is_empty(), "still unknown");
        assert_eq!(room.unknown.len(), 1);
    }

    #[test]
    fn both_lists_have_an_end() {
        let mut room = Newsroom::default();
        for number in 0..1_000 {
            room.note_unknown(operation(number), &ToolName::from("t"));
        }
        assert_eq!(room.unknown.len(), MOST_UNKNOWN);
        for number in 0..1_000 {
            room.note_unknown(operation(number), &ToolName::from("t"));
            room.note_known(
                operation(number),
                Outcome::Failed,
                Effect::NotApplied,
                Evidence::Operator,
            );
        }
        assert_eq!(room.news.len(), MOST_NEWS);
    }
}
