//! Batches (2025-03-26 only): their members go on one by one, their answers come back as one array.

use std::collections::HashMap;

use super::pending::BatchKey;

#[derive(Debug, Default)]
struct Batch {
    owed: usize,
    answers: Vec<String>,
}

/// What became of an answer that belongs to a batch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answered {
    /// Others are still missing.
    Waiting,
    /// It was the last one: this is the whole array.
    Whole(String),
    /// The batch is closed: it goes out by itself.
    Alone(String),
}

/// The batches of one session that are not wholly answered.
#[derive(Debug, Default)]
pub(super) struct Batches {
    next: u64,
    open: HashMap<BatchKey, Batch>,
}

impl Batches {
    /// A batch with `owed` members that want an answer.
    pub(super) fn open(&mut self, owed: usize) -> BatchKey {
        self.next += 1;
        let key = BatchKey(self.next);
        self.open.insert(
            key,
            Batch {
                owed,
                answers: Vec::new(),
            },
        );
        key
    }

    /// Takes an answer in.
    pub(super) fn answer(&mut self, key: BatchKey, frame: String) -> Answered {
        let Some(batch) = self.open.get_mut(&key) else {
            return Answered::Alone(frame);
        };
        batch.answers.push(frame);
        self.close_if_done(key).map_or(Answered::Waiting, Answered::Whole)
    }

    /// Closes a batch with the answers that are there; `None` where there are none yet.
    pub(super) fn give_up(&mut self, key: BatchKey) -> Option<String> {
        self.open.get_mut(&key)?.owed = 0;
        self.close_if_done(key)
    }

    /// One member will never be answered (it was cancelled).
    pub(super) fn forgo(&mut self, key: BatchKey) -> Option<String> {
        let batch = self.open.get_mut(&key)?;
        batch.owed = batch.owed.saturating_sub(1);
        self.close_if_done(key)
    }

    fn close_if_done(&mut self, key: BatchKey) -> Option<String> {
        let batch = self.open.get(&key)?;
        if batch.answers.len() < batch.owed {
            return None;
        }
        let batch = self.open.remove(&key)?;
        // An empty array is no batch (JSON-RPC 2.0, section 6): then nothing is sent at all.
        (!batch.answers.is_empty()).then(|| format!("[{}]", batch.answers.join(",")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_answered_once_and_whole() {
        let mut batches = Batches::default();
        let key = batches.open(3);
        assert_eq!(batches.answer(key, "1".into()), Answered::Waiting);
        assert_eq!(batches.forgo(key), None);
        assert_eq!(batches.answer(key, "2".into()), Answered::Whole("[1,2]".into()));
        assert_eq!(
            batches.answer(key, "3".into()),
            Answered::Alone("3".into()),
            "it is closed"
        );
    }

    #[test]
    fn a_batch_whose_members_were_all_cancelled_is_not_answered() {
        let mut batches = Batches::default();
        let key = batches.open(1);
        assert_eq!(batches.forgo(key), None);
    }

    #[test]
    fn a_batch_that_waits_for_one_that_never_comes_gives_what_it_has() {
        let mut batches = Batches::default();
        let key = batches.open(2);
        assert_eq!(batches.answer(key, "1".into()), Answered::Waiting);
        assert_eq!(batches.give_up(key).as_deref(), Some("[1]"));
        assert_eq!(batches.answer(key, "2".into()), Answered::Alone("2".into()));
    }
}
