//! All clauses that hold for one call, each with where it came from.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::effect::{EffectClass, Source, Sourced, class_from_annotations};
use super::lower::LowerClause;
use super::mapping::Mapping;
use super::recovery::{Breaker, Confirm, KeyPlace, ReadBack, Retry};
use super::rules::Rule;
use super::schema::Formats;
use super::text::TextClause;
use crate::arguments::check::Mode;
use crate::delivery::redaction::Extra;

/// What a result that breaks its tool's output schema costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ShapeMode {
    /// A finding in `_meta`; bytes and flag stay.
    #[default]
    Warn,
    /// The outcome is unknown.
    Strict,
}

/// An answer by which a server refuses a request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// A JSON-RPC error with this code.
    JsonRpc(i64),
    /// An HTTP status without a JSON-RPC body.
    Http(u16),
    /// A result with this code of the server's own, where the mapping reads one.
    Code(String),
}

/// What one tool promises, as far as somebody said: the command line over the configuration over trusted annotations
/// over defaults.
#[derive(Debug, Clone)]
pub struct ToolTerms {
    /// What a call may change; `None` where nobody said.
    pub class: Option<Sourced<EffectClass>>,
    /// How arguments are checked.
    pub arguments: Sourced<Mode>,
    /// Whether every argument that the schema does not list is refused, not only one that looks like a slip.
    pub strict_names: Sourced<bool>,
    /// What a broken output shape costs.
    pub output: Sourced<ShapeMode>,
    /// Whether `format` decides or only describes.
    pub formats: Sourced<Formats>,
    /// How results are read.
    pub mapping: Option<Sourced<Mapping>>,
    /// What texts lower a claim, where no field is read.
    pub text: Vec<Sourced<TextClause>>,
    /// What expressions over a result lower a claim, where no field is read.
    pub lower: Vec<Sourced<LowerClause>>,
    /// Extra rules on arguments, in the order in which they were written.
    pub rules: Vec<Sourced<Rule>>,
    /// How long a call may take, from its opening to its answer; `None` leaves it to the host's own limit.
    pub deadline: Option<Sourced<Duration>>,
    /// Whether a call is offered as a task to clients that take tasks.
    pub task: Sourced<bool>,
    /// Refusals by which the server says that nothing was done, each with who said so. Empty unless a contract says so: handlers refuse
    /// mid-work too (DESIGN 3a).
    pub nothing_done_on: BTreeMap<Refusal, Source>,
    /// How to look again at what a call left behind.
    pub read_back: Option<Sourced<ReadBack>>,
    /// When a call may be sent again.
    pub retry: Option<Sourced<Retry>>,
    /// When the server is left alone for a while.
    pub breaker: Option<Sourced<Breaker>>,
    /// How an idempotency key is passed on.
    pub key_place: Option<Sourced<KeyPlace>>,
    /// Whether a person must agree first.
    pub confirm: Option<Sourced<Confirm>>,
    /// What is masked beside what Candor knows by itself.
    pub redact: Option<Sourced<Extra>>,
    /// Whether this server's annotations count.
    pub trust_annotations: Sourced<bool>,
    /// Whether a verdict that the server puts under Candor's key counts as declared.
    pub trust_verdicts: Sourced<bool>,
}

impl Default for ToolTerms {
    fn default() -> Self {
        Self {
            class: None,
            arguments: Sourced::default_of(Mode::default()),
            strict_names: Sourced::default_of(false),
            output: Sourced::default_of(ShapeMode::default()),
            formats: Sourced::default_of(Formats::default()),
            mapping: None,
            text: Vec::new(),
            lower: Vec::new(),
            rules: Vec::new(),
            deadline: None,
            task: Sourced::default_of(false),
            nothing_done_on: BTreeMap::new(),
            read_back: None,
            retry: None,
            breaker: None,
            key_place: None,
            confirm: None,
            redact: None,
            trust_annotations: Sourced::default_of(false),
            trust_verdicts: Sourced::default_of(false),
        }
    }
}

impl ToolTerms {
    /// The same terms, with the class that the tool's own `annotations` state: only where the server is trusted, and
    /// only where nobody else said.
    #[must_use]
    pub fn with_annotations(mut self, annotations: &Value) -> Self {
        if self.class.is_none() && self.trust_annotations.value {
            self.class = class_from_annotations(annotations)
                .map(|class| Sourced::new(class, Source::TrustedAnnotation));
        }
        self
    }

    /// The class that verdicts go by: a tool that nobody classified may change anything.
    pub fn judged_class(&self) -> EffectClass {
        self.class
            .as_ref()
            .map_or(EffectClass::Write, |class| class.value)
    }

    /// Whether somebody said that a call changes nothing.
    pub fn is_trusted_read(&self) -> bool {
        matches!(&self.class, Some(class) if class.value == EffectClass::Read)
    }

    /// Whether somebody said that a call may change something. A tool that nobody classified is none.
    pub fn is_known_write(&self) -> bool {
        matches!(&self.class, Some(class) if class.value != EffectClass::Read)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn trusting(trust: bool) -> ToolTerms {
        ToolTerms {
            trust_annotations: Sourced::new(trust, Source::CommandLine),
            ..ToolTerms::default()
        }
    }

    #[test]
    fn an_unclassified_tool_is_judged_as_a_write_but_is_no_known_write() {
        let terms = ToolTerms::default();
        assert_eq!(terms.judged_class(), EffectClass::Write);
        assert!(!terms.is_known_write() && !terms.is_trusted_read());
    }

    #[test]
    fn annotations_count_only_where_they_are_trusted() {
        let hints = json!({"readOnlyHint": true});
        assert!(trusting(true).with_annotations(&hints).is_trusted_read());
        assert!(!trusting(false).with_annotations(&hints).is_trusted_read());
        let writes = trusting(true).with_annotations(&json!({"readOnlyHint": false}));
        assert!(writes.is_known_write());
        assert_eq!(writes.class.unwrap().source, Source::TrustedAnnotation);
    }

    #[test]
    fn an_operators_word_stands_over_an_annotation() {
        let said = Sourced::new(
            EffectClass::Write,
            Source::Config {
                file: "candor.toml".into(),
                line: 3,
            },
        );
        let terms = ToolTerms {
            class: Some(said.clone()),
            ..trusting(true)
        };
        assert_eq!(
            terms.with_annotations(&json!({"readOnlyHint": true})).class,
            Some(said)
        );
    }
}
