//! Sealed states: what a server hands to a client to bring back, and what makes sure that it comes back unchanged, from
//! the same principal, for the same call and in time.
//!
//! XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03): the client can neither read nor change a state. What it is good for
//! is associated data and travels in no state. Used for `requestState` of the specification's revision 2026-07-28.

use std::collections::BTreeMap;
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use rmcp::ErrorData;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::principal::Principal;

/// What every state begins with: the version of its form.
const PREFIX: &str = "c1.";
/// Domain of the associated data, so that a key used elsewhere too opens nothing of ours.
const DOMAIN: &[u8] = b"candor/state/1";
/// Bytes of an XChaCha20 nonce.
const NONCE: usize = 24;
/// Longest state that is made or opened, in bytes of its text.
pub const LONGEST_STATE: usize = 256 * 1024;
/// Most used states that [`SpentInMemory`] keeps.
const MOST_SPENT: usize = 100_000;

/// The keys that seal states: one seals, all open. Cloning is cheap; the key bytes are wiped with the last clone.
#[derive(Clone)]
pub struct Keys {
    current: u8,
    ring: Arc<BTreeMap<u8, Zeroizing<[u8; 32]>>>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys")
            .field("current", &self.current)
            .field("ids", &self.ring.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// The operating system gave no random bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gave no random bytes")]
pub struct NoRandomness;

/// The ring has another key under this id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the ring has another key with the id {id}")]
pub struct KeyIdTaken {
    /// The id.
    pub id: u8,
}

impl Keys {
    /// A random key, good as long as this process: states that outlive it, or reach another replica, are refused.
    ///
    /// # Errors
    ///
    /// [`NoRandomness`].
    pub fn generate() -> Result<Self, NoRandomness> {
        let mut key = Zeroizing::new([0_u8; 32]);
        getrandom::fill(key.as_mut_slice()).map_err(|_| NoRandomness)?;
        Ok(Self::from_bytes(0, &key))
    }

    /// This key, under an id from 0 to 255 that is written into each state. 32 random bytes, kept secret; every replica
    /// of a server needs the same.
    pub fn from_bytes(id: u8, key: &[u8; 32]) -> Self {
        Self {
            current: id,
            ring: Arc::new(BTreeMap::from([(id, Zeroizing::new(*key))])),
        }
    }

    /// Also opens what this older key sealed, so that a key can be replaced while states are under way.
    ///
    /// # Errors
    ///
    /// [`KeyIdTaken`] where the ring has another key under that id.
    pub fn and_older(self, id: u8, key: &[u8; 32]) -> Result<Self, KeyIdTaken> {
        if self.ring.get(&id).is_some_and(|known| **known != *key) {
            return Err(KeyIdTaken { id });
        }
        let mut ring = (*self.ring).clone();
        ring.insert(id, Zeroizing::new(*key));
        Ok(Self {
            current: self.current,
            ring: Arc::new(ring),
        })
    }

    /// Seals a state for what it is bound to.
    ///
    /// # Errors
    ///
    /// [`Unsealed`]: it is too long, can't be written as JSON, or there is no randomness.
    pub fn seal<T: Serialize>(&self, state: &State<T>, bound: &Bound) -> Result<String, Unsealed> {
        let plain = Zeroizing::new(serde_json::to_vec(state).map_err(|_| Unsealed::NotJson)?);
        if plain.len() > LONGEST_STATE / 2 {
            return Err(Unsealed::TooLong);
        }
        let mut nonce = [0_u8; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| Unsealed::NoRandomness)?;
        let cipher = self.cipher(self.current).ok_or(Unsealed::NoKey)?;
        let payload = Payload {
            msg: &plain,
            aad: &bound.0,
        };
        let sealed = cipher
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| Unsealed::TooLong)?;
        let mut bytes = vec![self.current];
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(&sealed);
        Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Opens a state. It says nothing about whether a state for one use was used before: see [`State::once`].
    ///
    /// # Errors
    ///
    /// [`Refused`] says why it isn't opened.
    pub fn open<T: DeserializeOwned>(
        &self,
        text: &str,
        bound: &Bound,
        now: Timestamp,
    ) -> Result<State<T>, Refused> {
        if text.len() > LONGEST_STATE {
            return Err(Refused::Malformed);
        }
        let code = text.strip_prefix(PREFIX).ok_or(Refused::Malformed)?;
        let bytes = URL_SAFE_NO_PAD.decode(code).map_err(|_| Refused::Malformed)?;
        let (id, rest) = bytes.split_first().ok_or(Refused::Malformed)?;
        let (nonce, sealed) = rest.split_at_checked(NONCE).ok_or(Refused::Malformed)?;
        let nonce: [u8; NONCE] = nonce.try_into().map_err(|_| Refused::Malformed)?;
        let cipher = self.cipher(*id).ok_or(Refused::UnknownKey)?;
        let payload = Payload {
            msg: sealed,
            aad: &bound.0,
        };
        let plain = cipher
            .decrypt(&XNonce::from(nonce), payload)
            .map_err(|_| Refused::Foreign)?;
        let state: State<T> =
            serde_json::from_slice(&Zeroizing::new(plain)).map_err(|_| Refused::Malformed)?;
        if now.as_millisecond() >= state.expires {
            return Err(Refused::Expired);
        }
        Ok(state)
    }

    fn cipher(&self, id: u8) -> Option<XChaCha20Poly1305> {
        self.ring
            .get(&id)
            .map(|key| XChaCha20Poly1305::new(&Key::from(**key)))
    }
}

/// What a state is good for: this method, tool, principal and arguments. Nothing else opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound(Vec<u8>);

impl Bound {
    /// Binds to a `tools/call` of `tool` by `principal` with `arguments`, raw as they came (`{}` where there were none)
    /// and before any coercion. The order of members does not count: a client may write them in another one.
    pub fn to_call(tool: &str, principal: &Principal, arguments: &Value) -> Self {
        Self::new("tools/call", tool, &principal.key(), arguments)
    }

    /// Binds to a method, the name of a tool (or prompt), the key of a principal, and arguments.
    pub fn new(method: &str, name: &str, principal_key: &str, arguments: &Value) -> Self {
        let mut canonical = Vec::new();
        write_sorted(arguments, &mut canonical);
        let digest = Sha256::digest(&canonical);
        let mut out = DOMAIN.to_vec();
        for part in [
            method.as_bytes(),
            name.as_bytes(),
            principal_key.as_bytes(),
            digest.as_slice(),
        ] {
            // Lengths first: no two sets of parts give the same bytes.
            out.extend_from_slice(&(part.len() as u64).to_be_bytes());
            out.extend_from_slice(part);
        }
        Self(out)
    }
}

/// Writes JSON with the members of each object sorted by name. Depth is bounded by what read the value.
pub(crate) fn write_sorted(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<&String, &Value> = members.iter().collect();
            out.push(b'{');
            for (name, member) in sorted {
                out.extend_from_slice(Value::from(name.as_str()).to_string().as_bytes());
                out.push(b':');
                write_sorted(member, out);
                out.push(b',');
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for item in items {
                write_sorted(item, out);
                out.push(b',');
            }
            out.push(b']');
        }
        plain => out.extend_from_slice(plain.to_string().as_bytes()),
    }
}

/// What is sealed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State<T> {
    /// Its own id, for [`Spent`].
    pub id: Uuid,
    /// When it expires: milliseconds since the Unix epoch. At that moment it is no longer good.
    pub expires: i64,
    /// Good for one use: whoever opens it must put it to [`Spent`] before acting on it.
    pub once: bool,
    /// What the server wants back.
    pub value: T,
}

/// Why a state can't be sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unsealed {
    /// The answers so far are too much to travel.
    #[error("the state is longer than {LONGEST_STATE} bytes")]
    TooLong,
    /// A value that JSON has no words for.
    #[error("the state can't be written as JSON")]
    NotJson,
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes")]
    NoRandomness,
    /// The ring lost its current key.
    #[error("there is no key to seal with")]
    NoKey,
}

/// Why a state is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It doesn't have the form of a state, or is too long.
    #[error("it is no state that this server made")]
    Malformed,
    /// The key that it names is not in the ring: another server's, or one that is gone.
    #[error("its key is not known here: the server was restarted, or it comes from another one")]
    UnknownKey,
    /// Changed arguments, another principal and an altered byte look the same on purpose.
    #[error("it was altered, or belongs to other arguments or to another principal")]
    Foreign,
    /// Too late.
    #[error("it has expired")]
    Expired,
    /// It was good for one use and was used.
    #[error("it was used before and is good for one use only")]
    Spent,
    /// Whether it was used before can't be found out, so it isn't taken.
    #[error("whether it was used before can't be found out now")]
    NoStore,
}

impl Refused {
    /// A short stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::UnknownKey => "unknown_key",
            Self::Foreign => "foreign",
            Self::Expired => "expired",
            Self::Spent => "spent",
            Self::NoStore => "no_store",
        }
    }

    /// The JSON-RPC error it is answered with: -32602, and the reason in `data.requestState`. The tool did not run.
    pub fn to_error(self) -> ErrorData {
        let message = format!(
            "requestState is refused: {self}. The tool did not run in this round and nothing changed."
        );
        ErrorData::invalid_params(message, Some(json!({ "requestState": self.name() })))
    }
}

/// Remembers which states for one use were used.
///
/// A task store that survives a restart does it for keys that do, too.
pub trait Spent: Send + Sync {
    /// Marks the state as used. `true` if it was not used before. It may be forgotten after `expires`.
    ///
    /// # Errors
    ///
    /// [`NoStore`] where that can't be written down; the state is then refused.
    fn spend(&self, id: Uuid, expires: Timestamp, now: Timestamp) -> BoxFuture<'_, Result<bool, NoStore>>;
}

/// The store of used states can't be used now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the store of used states can't be used now")]
pub struct NoStore;

/// Used states in memory: enough for one process whose keys die with it.
#[derive(Debug, Default)]
pub struct SpentInMemory(Mutex<BTreeMap<Uuid, Timestamp>>);

impl Spent for SpentInMemory {
    fn spend(&self, id: Uuid, expires: Timestamp, now: Timestamp) -> BoxFuture<'_, Result<bool, NoStore>> {
        Box::pin(ready(self.note(id, expires, now)))
    }
}

impl SpentInMemory {
    fn note(&self, id: Uuid, expires: Timestamp, now: Timestamp) -> Result<bool, NoStore> {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() >= MOST_SPENT {
            used.retain(|_, until| *until > now);
        }
        if used.len() >= MOST_SPENT {
            return Err(NoStore);
        }
        Ok(used.insert(id, expires).is_none())
    }
}

#[cfg(test)]
mod tests;
