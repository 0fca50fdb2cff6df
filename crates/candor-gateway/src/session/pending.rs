//! What was asked of the server and is not answered yet, by the id Candor gave it.

use std::collections::{HashMap, VecDeque};

use candor_core::wire::method::Method;

use super::own::OwnCall;

/// The key of a call within its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CallKey(pub(super) u64);

/// The key of a batch within its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct BatchKey(pub(super) u64);

/// Where an answer to the host goes: its id as it was written, and the batch it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) id: String,
    pub(super) batch: Option<BatchKey>,
}

/// One request to the server.
#[derive(Debug)]
pub(super) enum Asked {
    /// The host's, passed on.
    Host {
        origin: Origin,
        method: Method,
        /// The cursor of a `tools/list` (raw), where it has one.
        cursor: Option<String>,
        /// The request as it came, where it may have to be told again.
        kept: Option<String>,
    },
    /// A tool call.
    Call(CallKey),
    /// Candor's own `tools/list`.
    Listing,
    /// A call of Candor's own.
    Own(OwnCall),
    /// Something told again to a server that was started anew.
    Replay,
    /// Cancelled by the host: an answer that still comes is for nobody.
    Forsaken,
}

/// Who has an id of the host's open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// A request passed on under this id.
    Upstream(u64),
    /// A tool call.
    Call(CallKey),
}

/// Calls that were told and may still be answered: more than this many are forgotten, oldest first.
const MOST_TOLD: usize = 128;

/// The open requests of one session.
#[derive(Debug, Default)]
pub(super) struct Pending {
    next: u64,
    asked: HashMap<u64, Asked>,
    open: HashMap<String, Holder>,
    told: VecDeque<(CallKey, u64)>,
    forsaken: VecDeque<u64>,
}

impl Pending {
    /// A new id towards the server. Never the host's: two hosts' ids may be the same, and so may two calls' of one.
    pub(super) fn new_id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn ask(&mut self, id: u64, asked: Asked) {
        if let Asked::Host { origin, .. } = &asked {
            self.open.insert(origin.id.clone(), Holder::Upstream(id));
        }
        self.asked.insert(id, asked);
    }

    pub(super) fn asked(&self, id: u64) -> Option<&Asked> {
        self.asked.get(&id)
    }

    pub(super) fn take(&mut self, id: u64) -> Option<Asked> {
        self.asked.remove(&id)
    }

    pub(super) fn hold(&mut self, host_id: &str, key: CallKey) {
        self.open.insert(host_id.to_owned(), Holder::Call(key));
    }

    pub(super) fn release(&mut self, host_id: &str) {
        self.open.remove(host_id);
    }

    pub(super) fn holder(&self, host_id: &str) -> Option<Holder> {
        self.open.get(host_id).copied()
    }

    /// The host cancelled what it had passed on: nobody waits for the answer. Gives back where it would have gone.
    pub(super) fn forsake(&mut self, id: u64) -> Option<Origin> {
        match self.asked.get(&id) {
            // A subscription ends with an answer, also one that is cancelled (2026-07-28).
            Some(Asked::Host { method, .. }) if *method != Method::Listen => {}
            _ => return None,
        }
        let Some(Asked::Host { origin, .. }) = self.asked.insert(id, Asked::Forsaken) else {
            return None;
        };
        self.forsaken.push_back(id);
        if self.forsaken.len() > MOST_TOLD
            && let Some(old) = self.forsaken.pop_front()
        {
            self.asked.remove(&old);
        }
        Some(origin)
    }

    /// The one request that is not answered, if there is only one.
    pub(super) fn only_open(&self) -> Option<u64> {
        let told: Vec<u64> = self.told.iter().map(|(_, id)| *id).collect();
        let mut open = self
            .asked
            .iter()
            .filter(|(id, asked)| !matches!(asked, Asked::Forsaken) && !told.contains(id))
            .map(|(id, _)| *id);
        open.next().filter(|_| open.next().is_none())
    }

    /// The calls of Candor's own that are open.
    pub(super) fn own(&self) -> Vec<u64> {
        self.asked
            .iter()
            .filter(|(_, asked)| matches!(asked, Asked::Own(_)))
            .map(|(id, _)| *id)
            .collect()
    }

    /// Nothing that the host asked is open.
    pub(super) fn is_quiet(&self) -> bool {
        self.open.is_empty()
    }

    /// How many ids of the host are open.
    pub(super) fn open_count(&self) -> usize {
        self.open.len()
    }

    /// A told call may still be answered. Gives back a call that is now too old to be kept.
    pub(super) fn keep_told(&mut self, key: CallKey, upstream: u64) -> Option<CallKey> {
        self.told.push_back((key, upstream));
        if self.told.len() <= MOST_TOLD {
            return None;
        }
        let (old, id) = self.told.pop_front()?;
        self.asked.remove(&id);
        Some(old)
    }

    /// Everything the host asked and had passed on, taken out: the server can't answer any more. With `but_listening`,
    /// open subscriptions stay: they are asked again of the next process.
    pub(super) fn take_host_requests(&mut self, but_listening: bool) -> Vec<Origin> {
        let is_taken = |asked: &Asked| match asked {
            Asked::Host { method, .. } => !(but_listening && *method == Method::Listen),
            Asked::Call(_) | Asked::Listing | Asked::Own(_) | Asked::Replay | Asked::Forsaken => false,
        };
        let ids: Vec<u64> = self
            .asked
            .iter()
            .filter(|(_, asked)| is_taken(asked))
            .map(|(id, _)| *id)
            .collect();
        ids.into_iter()
            .filter_map(|id| match self.asked.remove(&id) {
                Some(Asked::Host { origin, .. }) => Some(origin),
                _ => None,
            })
            .collect()
    }

    /// The open subscriptions, as the host asked for them, with the ids they have at the server.
    pub(super) fn listening(&self) -> Vec<(u64, String)> {
        let open = |(id, asked): (&u64, &Asked)| match asked {
            Asked::Host {
                method: Method::Listen,
                kept: Some(text),
                ..
            } => Some((*id, text.clone())),
            _ => None,
        };
        self.asked.iter().filter_map(open).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn told_calls_are_kept_up_to_a_bound_and_then_forgotten_with_their_id() {
        let mut pending = Pending::default();
        for call in 0..MOST_TOLD as u64 {
            let id = pending.new_id();
            pending.ask(id, Asked::Call(CallKey(call)));
            assert_eq!(pending.keep_told(CallKey(call), id), None);
        }
        let id = pending.new_id();
        pending.ask(id, Asked::Call(CallKey(9_999)));
        assert_eq!(pending.keep_told(CallKey(9_999), id), Some(CallKey(0)));
        assert!(pending.asked(1).is_none() && pending.asked(2).is_some());
    }
}
