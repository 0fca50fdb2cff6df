//! The only clock and the only source of ids on the data path.

use std::time::{SystemTime, UNIX_EPOCH};

use candor_core::names::{OperationId, UnixMillis};
use uuid::Uuid;

/// Now, in UTC.
pub fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A new operation's id (UUIDv7).
pub fn operation() -> OperationId {
    OperationId::new(Uuid::now_v7())
}
