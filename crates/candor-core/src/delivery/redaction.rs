//! Credentials leave no text that Candor writes: not towards the model, not in a log, not in the ledger.
//!
//! Three rules, and no guessing by entropy, which damages images, hashes and ids:
//! a text loses what has the exact format of a credential or is assigned to a secret's name ([`text`]); a JSON
//! value also loses strings under a secret's name ([`json`]); and values that are known to be secret go wherever
//! they stand ([`known`]). Each is idempotent, leaves no part of what it masks, works in time linear in its
//! input and says what it changed. Redact first and cut to length afterwards: half a credential has no format.

mod assignment;
mod change;
mod encoded;
mod extent;
mod invisible;
mod json;
mod known;
mod names;
mod pem;
mod scan;
mod schemes;
#[cfg(test)]
mod tests;
mod token;
mod url;
mod values;

pub use change::{Change, CredentialKind, Redacted};
pub use invisible::escape_invisible;
pub use json::json;
pub use known::{KnownSecrets, known};
pub use names::is_secret_name;
pub use scan::text;
