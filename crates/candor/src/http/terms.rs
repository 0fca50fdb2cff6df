//! What an operation promises: how its answers are to be read.

use ::http::{Method, StatusCode};
use candor_core::contract::effect::EffectClass;
use serde_json::Value;

use super::problem::Problem;
use crate::outcome::Reason;

/// The most bytes of a body that are read, unless [`Terms::most`] says otherwise: 1 MiB.
pub const MOST: usize = 1024 * 1024;

/// Whose credential a request carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Credential {
    /// The server's own. That it does not do is nothing the caller can mend, and its details are none of their business.
    #[default]
    Ours,
    /// The caller's, passed on.
    Callers,
}

/// What an answer is known by. Only structure: a sentence decides nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Sign {
    /// The `type` of problem details.
    Type(String),
    /// The `code` of problem details, or of another JSON error.
    Code(String),
    /// A status other than 2xx.
    Status(StatusCode),
    /// A member of a JSON body, whatever the status, by its JSON Pointer and value. For APIs that answer failures
    /// with 200.
    Member {
        /// Where (RFC 6901), such as `/result/type`.
        at: String,
        /// What stands there then.
        equals: Value,
    },
}

impl Sign {
    /// The `type` of problem details.
    pub fn of_type(uri: impl Into<String>) -> Self {
        Self::Type(uri.into())
    }

    /// The `code` of problem details.
    pub fn code(code: impl Into<String>) -> Self {
        Self::Code(code.into())
    }

    /// A member of a JSON body.
    pub fn member(at: impl Into<String>, equals: impl Into<Value>) -> Self {
        Self::Member {
            at: at.into(),
            equals: equals.into(),
        }
    }

    pub(super) fn is_seen(
        &self,
        status: StatusCode,
        body: Option<&Value>,
        problem: Option<&Problem>,
    ) -> bool {
        match self {
            Self::Type(uri) => problem.is_some_and(|problem| problem.of_type.as_ref() == Some(uri)),
            Self::Code(code) => problem.is_some_and(|problem| problem.code.as_ref() == Some(code)),
            Self::Status(wanted) => !status.is_success() && status == *wanted,
            Self::Member { at, equals } => body.and_then(|body| body.pointer(at)) == Some(equals),
        }
    }
}

/// What a sign stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotDone {
    Rejected,
    Failed,
    Unknown,
}

/// Where the parts of an answer with 207 stand.
#[derive(Debug, Clone)]
pub(super) struct PartsAt {
    pub(super) list: String,
    pub(super) name: String,
    pub(super) status: String,
}

/// How the answers of one operation are to be read. Build it once, use it for every call.
#[derive(Debug, Clone)]
pub struct Terms {
    pub(super) class: Option<EffectClass>,
    pub(super) service: String,
    pub(super) media_type: String,
    pub(super) most: usize,
    pub(super) credential: Credential,
    pub(super) signs: Vec<(Sign, NotDone, Reason)>,
    pub(super) arguments: Vec<(String, String)>,
    pub(super) reference_at: String,
    pub(super) receipt_at: Option<String>,
    pub(super) parts_at: Option<PartsAt>,
}

impl Default for Terms {
    fn default() -> Self {
        Self::new("the service behind this tool")
    }
}

impl Terms {
    /// JSON is promised; the effect class follows from the method; `service` is what texts call the backend ("the
    /// booking service").
    pub fn new(service: impl Into<String>) -> Self {
        Self {
            class: None,
            service: service.into(),
            media_type: "application/json".to_owned(),
            most: MOST,
            credential: Credential::default(),
            signs: Vec::new(),
            arguments: Vec::new(),
            reference_at: "/id".to_owned(),
            receipt_at: None,
            parts_at: None,
        }
    }

    /// The operation's effect class. Without this GET, HEAD, OPTIONS and TRACE are reads, PUT and DELETE idempotent, and
    /// the rest are writes (RFC 9110 section 9.2). A search that is a POST is a read; a PUT that sends a mail each
    /// time is a write.
    #[must_use]
    pub fn class(self, class: EffectClass) -> Self {
        Self {
            class: Some(class),
            ..self
        }
    }

    /// The media type that is promised instead of `application/json`.
    #[must_use]
    pub fn media_type(self, media_type: impl Into<String>) -> Self {
        Self {
            media_type: media_type.into(),
            ..self
        }
    }

    /// The most bytes of a body that are read, instead of 1 MiB.
    #[must_use]
    pub fn most(self, bytes: usize) -> Self {
        Self { most: bytes, ..self }
    }

    /// Whose credential the request carries; the server's own if this is not said.
    #[must_use]
    pub fn credential(self, credential: Credential) -> Self {
        Self { credential, ..self }
    }

    /// An answer with this sign means that the backend refused. What the reason leaves open (effect, kind, repeat)
    /// follows from the status. The first sign that is seen counts.
    #[must_use]
    pub fn rejected(self, sign: Sign, reason: Reason) -> Self {
        self.sign(sign, NotDone::Rejected, reason)
    }

    /// An answer with this sign means that the backend broke down.
    #[must_use]
    pub fn failed(self, sign: Sign, reason: Reason) -> Self {
        self.sign(sign, NotDone::Failed, reason)
    }

    /// An answer with this sign means that nobody knows.
    #[must_use]
    pub fn unknown(self, sign: Sign, reason: Reason) -> Self {
        self.sign(sign, NotDone::Unknown, reason)
    }

    /// Faults at this place of the backend's body are told at this place of the tool's arguments; so are faults below.
    #[must_use]
    pub fn argument(mut self, in_body: impl Into<String>, in_arguments: impl Into<String>) -> Self {
        self.arguments.push((in_body.into(), in_arguments.into()));
        self
    }

    /// Where the body of a 202 has the id to follow it by, where there is no `Location`; `/id` if this is not said.
    #[must_use]
    pub fn reference_at(self, pointer: impl Into<String>) -> Self {
        Self {
            reference_at: pointer.into(),
            ..self
        }
    }

    /// Where the body of a success has what proves it, such as `/confirmation`. Without it the `Location` of a 201 does.
    #[must_use]
    pub fn receipt_at(self, pointer: impl Into<String>) -> Self {
        Self {
            receipt_at: Some(pointer.into()),
            ..self
        }
    }

    /// Where the body of a 207 has its list of parts, and each part its name and its HTTP status.
    #[must_use]
    pub fn parts(mut self, list: &str, name: &str, status: &str) -> Self {
        self.parts_at = Some(PartsAt {
            list: list.to_owned(),
            name: name.to_owned(),
            status: status.to_owned(),
        });
        self
    }

    fn sign(mut self, sign: Sign, means: NotDone, reason: Reason) -> Self {
        self.signs.push((sign, means, reason));
        self
    }

    /// The class that holds for a request by this method.
    pub fn class_of(&self, method: &Method) -> EffectClass {
        self.class.unwrap_or_else(|| {
            if method.is_safe() {
                EffectClass::Read
            } else if method.is_idempotent() {
                EffectClass::Idempotent
            } else {
                EffectClass::Write
            }
        })
    }

    /// The place in the arguments that a place in the body stands for.
    pub(super) fn argument_of(&self, path: &str) -> String {
        let below = self.arguments.iter().find_map(|(body, argument)| {
            let rest = path.strip_prefix(body.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{argument}{rest}"))
        });
        below.unwrap_or_else(|| path.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_follows_from_the_method_unless_it_is_said() {
        let terms = Terms::default();
        for (method, class) in [
            (Method::GET, EffectClass::Read),
            (Method::HEAD, EffectClass::Read),
            (Method::OPTIONS, EffectClass::Read),
            (Method::PUT, EffectClass::Idempotent),
            (Method::DELETE, EffectClass::Idempotent),
            (Method::POST, EffectClass::Write),
            (Method::PATCH, EffectClass::Write),
        ] {
            assert_eq!(terms.class_of(&method), class, "{method}");
            assert_eq!(
                terms.clone().class(EffectClass::Read).class_of(&method),
                EffectClass::Read
            );
        }
        let odd = Method::from_bytes(b"BREW").unwrap();
        assert_eq!(
            terms.class_of(&odd),
            EffectClass::Write,
            "a method nobody knows is a write"
        );
    }

    #[test]
    fn places_in_the_body_become_places_in_the_arguments() {
        let terms = Terms::default()
            .argument("/stay/from", "/arrival")
            .argument("/guests", "/people");
        assert_eq!(terms.argument_of("/stay/from"), "/arrival");
        assert_eq!(terms.argument_of("/guests/0/name"), "/people/0/name");
        assert_eq!(
            terms.argument_of("/guestsBook"),
            "/guestsBook",
            "another name that begins alike"
        );
        assert_eq!(terms.argument_of("/other"), "/other");
    }
}
