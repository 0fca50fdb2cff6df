//! Who listens for changes.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use rmcp::service::{SubscriptionContext, SubscriptionSink};

/// Most listeners at a time, and most URIs that are watched.
const MOST: usize = 1_000;

/// Open subscriptions, of both eras.
#[derive(Default)]
pub(super) struct Subscriptions {
    open: Mutex<(u64, HashMap<u64, SubscriptionSink>)>,
    watched: Mutex<HashSet<String>>,
}

impl Subscriptions {
    /// Keeps a subscription until its client ends it.
    pub(super) async fn keep(&self, context: SubscriptionContext) {
        let key = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            if open.1.len() >= MOST {
                return;
            }
            open.0 += 1;
            let key = open.0;
            open.1.insert(key, context.sink().clone());
            key
        };
        context.cancelled().await;
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .1
            .remove(&key);
    }

    /// All who listen now.
    pub(super) fn sinks(&self) -> Vec<SubscriptionSink> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.1.values().cloned().collect()
    }

    /// A legacy client watches a resource.
    pub(super) fn watch(&self, uri: String) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.len() < MOST {
            watched.insert(uri);
        }
    }

    /// A legacy client watches it no longer.
    pub(super) fn unwatch(&self, uri: &str) {
        self.watched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(uri);
    }
}
