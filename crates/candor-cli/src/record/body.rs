//! The body of one record, as far as this program may read it.

use candor_core::record::bodies::VERSION;
use serde_json::Value;

/// A body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    /// Of a version that this program knows.
    Known(Value),
    /// Of a newer version: its names may mean something else.
    Newer {
        /// The version it says it has.
        version: u64,
        /// All of it, to be shown but not to be read.
        value: Value,
    },
    /// Not JSON, or without a version.
    Unreadable {
        /// Its length in bytes.
        bytes: usize,
    },
}

impl Body {
    /// Reads a body.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let value = serde_json::from_slice::<Value>(bytes).ok();
        let version = value
            .as_ref()
            .and_then(|value| value.get("v"))
            .and_then(Value::as_u64);
        match (value, version) {
            (Some(value), Some(version)) if version <= u64::from(VERSION) => Self::Known(value),
            (Some(value), Some(version)) => Self::Newer { version, value },
            _ => Self::Unreadable { bytes: bytes.len() },
        }
    }

    /// The value at this JSON Pointer, where it may be read and is not null.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Value> {
        match self {
            Self::Known(value) => value.pointer(pointer).filter(|value| !value.is_null()),
            Self::Newer { .. } | Self::Unreadable { .. } => None,
        }
    }

    /// The text at this JSON Pointer.
    pub(crate) fn text(&self, pointer: &str) -> Option<&str> {
        self.at(pointer)?.as_str()
    }

    /// The list at this JSON Pointer; empty where there is none.
    pub(crate) fn list(&self, pointer: &str) -> &[Value] {
        self.at(pointer)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// Its version, where that is newer than this program.
    pub(crate) fn newer(&self) -> Option<u64> {
        match self {
            Self::Newer { version, .. } => Some(*version),
            Self::Known(_) | Self::Unreadable { .. } => None,
        }
    }

    /// Why nothing can be read from it; `None` where something can.
    pub(crate) fn closed(&self) -> Option<String> {
        match self {
            Self::Known(_) => None,
            Self::Newer { version, .. } => Some(format!(
                "written by a newer Candor (version {version} of records; this one reads up to {VERSION}): only its columns are shown. Update Candor, or see all of it with --json"
            )),
            Self::Unreadable { bytes } => Some(format!(
                "its body ({bytes} bytes) is no record of Candor's: only its columns are shown. `candor ledger verify` says whether it was changed"
            )),
        }
    }

    /// All of it, as it stands; null where it is not JSON.
    pub(crate) fn whole(&self) -> Value {
        match self {
            Self::Known(value) | Self::Newer { value, .. } => value.clone(),
            Self::Unreadable { .. } => Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_versions_that_are_known_are_read() {
        let known = Body::read(br#"{"v":1,"how":"ok","text":null}"#);
        assert_eq!(known.text("/how"), Some("ok"));
        assert_eq!((known.at("/text"), known.closed()), (None, None));
        let newer = Body::read(br#"{"v":2,"how":"ok"}"#);
        assert_eq!((newer.text("/how"), newer.newer()), (None, Some(2)));
        assert!(newer.closed().unwrap().contains("version 2"));
        assert_eq!(newer.whole()["how"], "ok", "shown, not read");
        for bytes in [&b"\xff"[..], b"{}", b"[]", br#"{"v":"1"}"#] {
            assert_eq!(Body::read(bytes), Body::Unreadable { bytes: bytes.len() });
        }
    }
}
