//! Newtypes for the things that have names, so that a tool can't be passed where a server is wanted.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Declares a cheap-to-clone text newtype.
macro_rules! text_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as it was given, never cut apart or changed.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Arc::from(text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_name! {
    /// A server's name: what the operator called it, else its own `serverInfo.name`.
    ServerName
}

text_name! {
    /// A tool's name as its server lists it.
    ToolName
}

/// Candor's own id of one operation, a UUIDv7 (RFC 9562) made by the caller: the core has no randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OperationId(Uuid);

impl OperationId {
    /// Wraps a UUID.
    pub fn new(id: Uuid) -> Self {
        Self(id)
    }

    /// The UUID.
    pub fn uuid(self) -> Uuid {
        self.0
    }

    /// The last 8 hexadecimal digits: what texts show, and what `candor show` takes.
    pub fn short(self) -> String {
        let text = self.0.simple().to_string();
        text.chars().skip(text.len().saturating_sub(8)).collect()
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// A moment in milliseconds since the Unix epoch, UTC. Given by the caller: the core has no clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    /// Milliseconds from `earlier` to `self`; 0 where the clock went backwards.
    pub fn since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}
