//! What a tool said in one call, kept as a value until the wrapper finishes the result.
//!
//! rmcp's conversions know the type that a tool returned and nothing else: neither the tool's name nor the revision.
//! So a conversion leaves its facts here and returns a result that only points at them. A result that comes from
//! elsewhere (a tool that hands on an upstream's answer) can't forge such facts: a number alone is in it, and it counts
//! in the call that left something under it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use candor_core::arguments::issue::Issue;
use rmcp::model::MetaObject;
use serde_json::Value;

use crate::facts::Facts;
use crate::principal::Refused;

/// Where a pointer stands in `_meta` of a result and in `data` of an error. It never goes out.
const POINTER: &str = "candor/said";
/// Most things kept of one call; the oldest goes first.
const KEPT: usize = 64;

tokio::task_local! {
    static SLOT: Arc<Slot>;
}

/// What a tool said.
#[derive(Debug)]
pub(crate) enum Said {
    /// What became of the call.
    Outcome(Box<Facts>),
    /// The arguments don't fit the tool's type, though they fit its schema. Nothing ran.
    Issues(Vec<Issue>),
    /// It stopped because the call goes on elsewhere.
    Halted,
    /// Something broke that nobody foresaw. Its words are in the log.
    Broke,
    /// The caller may not; nothing to mend for a model.
    Refused(Refused),
}

/// What was said in one call.
#[derive(Debug, Default)]
pub(crate) struct Slot(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    next: u64,
    said: BTreeMap<u64, Said>,
}

impl Slot {
    fn put(&self, said: Said) -> u64 {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = kept.next;
        kept.next += 1;
        kept.said.insert(number, said);
        if kept.said.len() > KEPT {
            kept.said.pop_first();
        }
        number
    }

    fn take(&self, number: u64) -> Option<Said> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .said
            .remove(&number)
    }

    /// What `_meta` of a result points at. The pointer is taken out in any case.
    pub(crate) fn of_meta(&self, meta: &mut Option<MetaObject>) -> Option<Said> {
        let members = meta.as_mut()?;
        let pointer = members.0.shift_remove(POINTER)?;
        if members.0.is_empty() {
            *meta = None;
        }
        self.take(pointer.as_u64()?)
    }

    /// What `data` of an error points at.
    pub(crate) fn of_data(&self, data: Option<&Value>) -> Option<Said> {
        self.take(data?.get(POINTER)?.as_u64()?)
    }
}

/// Runs a tool with a place for what it says.
pub(crate) async fn listening<T>(slot: Arc<Slot>, tool: impl Future<Output = T>) -> T {
    SLOT.scope(slot, tool).await
}

/// Leaves `said` in the slot of this call and gives the pointer to it; gives `said` back where there is no slot: the
/// server is not wrapped, or the conversion happens in a task of its own.
pub(crate) fn leave(said: Said) -> Result<Value, Said> {
    match SLOT.try_with(Arc::clone) {
        Ok(slot) => Ok(serde_json::json!({ POINTER: slot.put(said) })),
        Err(_) => Err(said),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_pointer_counts_once_and_in_its_own_call() {
        let slot = Arc::new(Slot::default());
        let pointer = listening(slot.clone(), async {
            leave(Said::Halted).expect("there is a slot")
        })
        .await;
        assert!(Slot::default().of_data(Some(&pointer)).is_none(), "another call");
        assert!(matches!(slot.of_data(Some(&pointer)), Some(Said::Halted)));
        assert!(slot.of_data(Some(&pointer)).is_none(), "twice");
        assert!(leave(Said::Halted).is_err(), "no slot");
    }

    #[tokio::test]
    async fn a_call_keeps_the_last_of_what_it_says() {
        let slot = Arc::new(Slot::default());
        let (first, last) = listening(slot.clone(), async {
            let first = leave(Said::Halted).expect("there is a slot");
            let mut last = first.clone();
            for _ in 0..KEPT {
                last = leave(Said::Broke).expect("there is a slot");
            }
            (first, last)
        })
        .await;
        assert!(slot.of_data(Some(&first)).is_none());
        assert!(matches!(slot.of_data(Some(&last)), Some(Said::Broke)));
    }
}
