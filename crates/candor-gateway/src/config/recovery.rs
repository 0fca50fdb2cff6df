//! The keys for what is done after a verdict, and the clauses made of them: looking again, sending again, a key against
//! doing it twice, asking a person first.

use std::collections::BTreeMap;
use std::time::Duration;

use candor_core::contract::effect::{EffectClass, Sourced};
use candor_core::contract::recovery::{Breaker, Confirm, KeyPlace, ReadBack, Retry};
use candor_core::contract::rules::{Term, Zone};
use schemars::JsonSchema;
use toml::Spanned;
use toml::de::DeValue;

use super::build::Builder;
use super::fault::FaultKind;
use super::keys::{Deadline, FromToml, Placed, Verbatim};
use super::raw::{RawTool, table};
use super::reader::Reader;
use super::span::{Consent, Pause, Whole};
use super::words::OneOf;

/// Most bytes of the name of an argument or of a member of `_meta`.
const LONGEST_NAME: usize = 128;

table! {
    /// How to look again at what a call left behind.
    struct RawReadBack as "ReadBack" {
        needs {
            /// The tool of this server that is asked. It changes nothing.
            tool: String,
            /// True where its answer shows that the call took effect: a CEL expression over args, result, answer, text, now
            /// and today.
            applied: Verbatim,
        }
        may {
            /// Its arguments by name, each a CEL expression over args, result, now and today.
            arguments: BTreeMap<String, Placed<Verbatim>>,
            /// True where its answer shows that the call did not take effect. Without it, nothing ever shows that.
            not_applied: Verbatim,
            /// How often is asked at most. 3 by default.
            attempts: Whole<1, 20>,
            /// The wait between two of them. 500ms by default.
            wait: Pause,
            /// So long after the call was sent, the answer may not show yet what was done: "not applied" counts only after
            /// it. None by default.
            window: Pause,
            /// Look at a success too, before it is told as done.
            prove: bool,
        }
    }
}

table! {
    /// When a call may be sent again: where nothing was done, or where a second call changes nothing more.
    struct RawRetry as "Retry" {
        needs {}
        may {
            /// Sends in all. 3 by default.
            attempts: Whole<2, 10>,
            /// From the opening of the call to the last send. 20s by default.
            within: Deadline,
            /// The first wait; each further one is twice as long. 500ms by default. What the server asks for stands over it.
            wait: Pause,
        }
    }
}

table! {
    /// When a server that fails is left alone for a while.
    struct RawBreaker as "Breaker" {
        needs {}
        may {
            /// Failures one after the other that open it. 5 by default.
            failures: Whole<1, 100>,
            /// How long it stays open; then one call tries. 30s by default.
            pause: Deadline,
        }
    }
}

table! {
    /// How an idempotency key is passed on to a server that takes one: by an argument, or by a member of `_meta`.
    struct RawKeyPlace as "IdempotencyKey" {
        needs {}
        may {
            /// The argument that takes it.
            argument: String,
            /// The member of `_meta` that takes it.
            meta: String,
        }
    }
}

/// The clauses of one tool or one server, as far as they are written.
#[derive(Debug, Clone, Default)]
pub struct Recovery {
    /// How to look again. Only a tool has it.
    pub read_back: Option<Sourced<ReadBack>>,
    /// When a call may be sent again.
    pub retry: Option<Sourced<Retry>>,
    /// When the server is left alone for a while.
    pub breaker: Option<Sourced<Breaker>>,
    /// How an idempotency key is passed on.
    pub key_place: Option<Sourced<KeyPlace>>,
    /// Who is asked first: a person, or nobody.
    pub confirm: Option<Sourced<Option<Confirm>>>,
}

/// The keys that a tool and its server share.
pub(super) struct RawShared {
    pub(super) retry: Option<Placed<RawRetry>>,
    pub(super) breaker: Option<Placed<RawBreaker>>,
    pub(super) idempotency_key: Option<Placed<RawKeyPlace>>,
    pub(super) confirm: Option<Placed<Consent>>,
}

/// What the file says of the tools of one server, for clauses that name another tool.
pub(super) struct Classes(BTreeMap<String, EffectClass>);

impl Classes {
    pub(super) fn of(tools: Option<&Placed<BTreeMap<String, Placed<RawTool>>>>) -> Self {
        let tools = tools.into_iter().flat_map(|tools| &tools.value);
        Self(
            tools
                .filter_map(|(name, tool)| {
                    let OneOf(class) = tool.value.effect.as_ref()?.value;
                    Some((name.clone(), class))
                })
                .collect(),
        )
    }

    fn class(&self, tool: &str) -> Option<EffectClass> {
        self.0.get(tool).copied()
    }
}

impl Builder<'_, '_> {
    pub(super) fn shared(&mut self, raw: RawShared) -> Recovery {
        let key_place = raw.idempotency_key.and_then(|placed| {
            let source = self.source(&placed.key);
            Some(Sourced::new(self.key_place(placed)?, source))
        });
        Recovery {
            read_back: None,
            retry: self.sourced(raw.retry, retry),
            breaker: self.sourced(raw.breaker, breaker),
            key_place,
            confirm: self.sourced(raw.confirm, |consent| match consent {
                Consent::Never => None,
                Consent::Asked(message) => Some(Confirm { message }),
            }),
        }
    }

    fn key_place(&mut self, placed: Placed<RawKeyPlace>) -> Option<KeyPlace> {
        let (name, place): (_, fn(String) -> KeyPlace) = match (placed.value.argument, placed.value.meta) {
            (Some(argument), None) => (argument, KeyPlace::Argument),
            (None, Some(meta)) => (meta, KeyPlace::Meta),
            _ => return self.reader.fault(placed.key, FaultKind::OneKeyPlace),
        };
        let usable = !name.value.is_empty()
            && name.value.len() <= LONGEST_NAME
            && !name.value.contains(|c: char| c.is_whitespace() || c.is_control());
        if !usable {
            return self
                .reader
                .fault(name.span, FaultKind::KeyName { limit: LONGEST_NAME });
        }
        Some(place(name.value))
    }

    /// A look at what `of` left behind. What is missing has been said already; what is there is looked at all the same.
    pub(super) fn read_back(
        &mut self,
        placed: Option<Placed<RawReadBack>>,
        of: &str,
        classes: &Classes,
        zone: &Zone,
    ) -> Option<Sourced<ReadBack>> {
        let placed = placed?;
        let source = self.source(&placed.key);
        let raw = placed.value;
        if classes.class(of) == Some(EffectClass::Read) {
            self.reader.fault::<()>(placed.key, FaultKind::ReadBackOfARead);
        }
        let arguments: Vec<_> = raw
            .arguments
            .into_iter()
            .flat_map(|arguments| arguments.value)
            .filter_map(|(name, written)| Some((name, self.term(&written, zone)?)))
            .collect();
        let applied = raw.applied.and_then(|written| self.term(&written, zone));
        let not_applied = raw.not_applied.and_then(|written| self.term(&written, zone));
        let tool = raw.tool.and_then(|tool| self.read_back_tool(tool, of, classes));
        let read_back = ReadBack {
            tool: tool?,
            arguments,
            applied: applied?,
            not_applied,
            attempts: raw.attempts.map_or(3, |attempts| attempts.value.0),
            wait: raw.wait.map_or(Duration::from_millis(500), |wait| wait.value.0),
            window: raw.window.map_or(Duration::ZERO, |window| window.value.0),
            prove: raw.prove.is_some_and(|prove| prove.value),
        };
        Some(Sourced::new(read_back, source))
    }

    fn read_back_tool(&mut self, tool: Placed<String>, of: &str, classes: &Classes) -> Option<String> {
        if tool.value == of {
            return self.reader.fault(tool.span, FaultKind::ReadBackByItself);
        }
        match classes.class(&tool.value) {
            Some(EffectClass::Write | EffectClass::Idempotent) => {
                self.reader.fault(tool.span, FaultKind::ReadBackByAWrite)
            }
            Some(EffectClass::Read) | None => Some(tool.value),
        }
    }

    pub(super) fn term(&mut self, written: &Placed<Verbatim>, zone: &Zone) -> Option<Term> {
        let Verbatim(text) = &written.value;
        match Term::compile(text, zone) {
            Ok(term) => Some(term),
            Err((at, kind)) => {
                let inside = at.and_then(|at| self.reader.inside(&written.span, text, at));
                self.reader.fault(
                    inside.unwrap_or_else(|| written.span.clone()),
                    FaultKind::Term(kind),
                )
            }
        }
    }
}

fn retry(raw: RawRetry) -> Retry {
    Retry {
        attempts: raw.attempts.map_or(3, |attempts| attempts.value.0),
        within: raw
            .within
            .map_or(Duration::from_secs(20), |within| within.value.0),
        wait: raw.wait.map_or(Duration::from_millis(500), |wait| wait.value.0),
    }
}

fn breaker(raw: RawBreaker) -> Breaker {
    Breaker {
        failures: raw.failures.map_or(5, |failures| failures.value.0),
        pause: raw.pause.map_or(Duration::from_secs(30), |pause| pause.value.0),
    }
}
