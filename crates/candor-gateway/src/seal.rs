//! What Candor hands to a client to bring back (`requestState`, 2026-07-28), sealed: the client can neither read nor change
//! it, and it opens only for what it is bound to.
//!
//! XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03). The key lives as long as the process, and so does what it sealed.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use serde_json::Value;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// What every state begins with.
const PREFIX: &str = "candor.g1.";
/// Domain of the associated data.
const DOMAIN: &[u8] = b"candor/gateway/state/1";
/// Bytes of an XChaCha20 nonce.
const NONCE: usize = 24;
/// Longest state that is opened, in bytes of its text: ours are short.
const LONGEST: usize = 1_024;

/// One key.
pub(crate) struct Seal(Zeroizing<[u8; 32]>);

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

impl Seal {
    /// A random key; `None` where the operating system gives no random bytes.
    pub(crate) fn generate() -> Option<Self> {
        let mut key = Zeroizing::new([0_u8; 32]);
        getrandom::fill(key.as_mut_slice()).ok()?;
        Some(Self(key))
    }

    /// Seals this for what it is bound to; `None` where there is no randomness.
    pub(crate) fn seal(&self, plain: &[u8], bound: &Bound) -> Option<String> {
        let mut nonce = [0_u8; NONCE];
        getrandom::fill(&mut nonce).ok()?;
        let payload = Payload {
            msg: plain,
            aad: &bound.0,
        };
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload).ok()?;
        let mut bytes = nonce.to_vec();
        bytes.extend_from_slice(&sealed);
        Some(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Opens a state; `None` where it is not ours, was altered, or belongs to something else. Which of them stays untold
    /// on purpose.
    pub(crate) fn open(&self, text: &str, bound: &Bound) -> Option<Vec<u8>> {
        if text.len() > LONGEST {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE)?;
        let nonce: [u8; NONCE] = nonce.try_into().ok()?;
        let payload = Payload {
            msg: sealed,
            aad: &bound.0,
        };
        self.cipher().decrypt(&XNonce::from(nonce), payload).ok()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&Key::from(*self.0))
    }
}

/// What a state is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound(Vec<u8>);

impl Bound {
    /// Binds to a `tools/call` of this tool by this principal, with these arguments (raw as they came, `{}` where there
    /// were none). The order of members does not count: a client may write them in another one.
    pub(crate) fn to_call(tool: &str, principal: &str, arguments: Option<&str>) -> Self {
        let raw = arguments.unwrap_or("{}");
        let canonical = serde_json::from_str::<Value>(raw).map_or_else(
            |_| raw.as_bytes().to_vec(),
            |value| {
                let mut canonical = Vec::new();
                write_sorted(&value, &mut canonical);
                canonical
            },
        );
        let digest = Sha256::digest(&canonical);
        let mut out = DOMAIN.to_vec();
        for part in [
            b"tools/call",
            tool.as_bytes(),
            principal.as_bytes(),
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
fn write_sorted(value: &Value, out: &mut Vec<u8>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_opens_for_what_it_is_bound_to_and_for_nothing_else() {
        let seal = Seal::generate().unwrap();
        let bound = Bound::to_call("drop", "host", Some(r#"{"a":1,"b":[2]}"#));
        let state = seal.seal(b"op", &bound).unwrap();
        let reordered = Bound::to_call("drop", "host", Some(r#"{ "b":[2], "a":1 }"#));
        assert_eq!(seal.open(&state, &reordered), Some(b"op".to_vec()));
        for other in [
            Bound::to_call("drop", "host", Some(r#"{"a":1,"b":[3]}"#)),
            Bound::to_call("drop", "host", None),
            Bound::to_call("drop", "guest", Some(r#"{"a":1,"b":[2]}"#)),
            Bound::to_call("keep", "host", Some(r#"{"a":1,"b":[2]}"#)),
        ] {
            assert_eq!(seal.open(&state, &other), None);
        }
        let mut altered = state.clone();
        let last = altered.pop().unwrap();
        altered.push(if last == 'A' { 'B' } else { 'A' });
        assert_eq!(seal.open(&altered, &bound), None);
        assert_eq!(
            Seal::generate().unwrap().open(&state, &bound),
            None,
            "another key"
        );
        assert_eq!(seal.open("candor.g1.", &bound), None);
        assert_eq!(seal.open(&format!("{state}{}", "A".repeat(2_000)), &bound), None);
    }
}
