//! Batches (2025-03-26 only): their members go on one by one, their answers come back as one array.

use std::collections::HashMap;

use super::pending::BatchKey;

#[derive(Debug, Default)]
struct Batch {
    owed: usize,
    answers: Vec<String>,
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

    /// Takes an answer in. Gives the array back once the last one is there.
    pub(super) fn answer(&mut self, key: BatchKey, frame: String) -> Option<String> {
        self.open.get_mut(&key)?.answers.push(frame);
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
        assert_eq!(batches.answer(key, "1".into()), None);
        assert_eq!(batches.forgo(key), None);
        assert_eq!(batches.answer(key, "2".into()).as_deref(), Some("[1,2]"));
        assert_eq!(batches.answer(key, "3".into()), None, "it is closed");
    }

    #[test]
    fn a_batch_whose_members_were_all_cancelled_is_not_answered() {
        let mut batches = Batches::default();
        let key = batches.open(1);
        assert_eq!(batches.forgo(key), None);
    }
}
