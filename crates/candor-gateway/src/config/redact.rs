//! What an operator has masked beside what Candor knows by itself.

use candor_core::contract::effect::Sourced;
use candor_core::delivery::redaction::{Extra, SecretPattern};

use super::build::{Builder, Config, list};
use super::fault::FaultKind;
use super::keys::Placed;
use super::raw::RawRedact;

/// Most names, and most patterns, of one server: each is looked for in every text.
const MOST: usize = 32;
/// Most bytes of a name.
const LONGEST_NAME: usize = 64;

impl Config {
    /// What is masked for the server of this name. Where the server has yet to name itself, that is what any server of the
    /// file has masked: a secret too many is masked rather than one too few.
    pub fn redactions(&self, server: Option<&str>) -> Extra {
        let named = server.and_then(|name| self.servers.get(name));
        let all = self.servers.values().filter(|_| named.is_none());
        named
            .into_iter()
            .chain(all)
            .filter_map(|server| server.redact.as_ref())
            .fold(Extra::default(), |extra, redact| extra.and(&redact.value))
    }
}

impl Builder<'_, '_> {
    pub(super) fn redact(&mut self, placed: Option<Placed<RawRedact>>) -> Option<Sourced<Extra>> {
        let placed = placed?;
        let source = self.source(&placed.key);
        let mut names = Vec::new();
        for name in list(placed.value.names) {
            if name.value.trim().is_empty() || name.value.len() > LONGEST_NAME {
                let limit = LONGEST_NAME;
                self.reader
                    .fault::<()>(name.span, FaultKind::SecretName { limit });
            } else {
                names.push(name.value);
            }
        }
        let mut patterns = Vec::new();
        for pattern in list(placed.value.patterns) {
            match SecretPattern::compile(&pattern.value.0) {
                Ok(compiled) => patterns.push(compiled),
                Err(fault) => {
                    self.reader
                        .fault::<()>(pattern.span, FaultKind::SecretPattern(fault));
                }
            }
        }
        if names.len() > MOST || patterns.len() > MOST {
            let limit = MOST;
            self.reader
                .fault::<()>(placed.key, FaultKind::TooManySecrets { limit });
        }
        Some(Sourced::new(Extra::new(names, patterns), source))
    }
}
