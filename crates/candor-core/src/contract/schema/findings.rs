//! The validator's errors, flattened into faults that each name one place and one broken rule.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};
use serde_json::{Number, Value};

use super::alternatives;
use super::graph::child_pointer;
use super::validation::{NotChecked, WhyNotChecked};

/// One broken rule at one place.
#[derive(Debug, Clone)]
pub(super) struct Fault<'e> {
    /// JSON Pointer into the value.
    pub(super) path: String,
    /// The schema keyword.
    pub(super) rule: &'e str,
    /// What is broken.
    pub(super) breach: Breach<'e>,
    /// The error that tells where in the schema the rule stands.
    pub(super) origin: &'e ValidationError<'e>,
    /// Of how many alternatives this is the closest; 0 where there was no choice.
    pub(super) alternatives: usize,
}

/// What is broken.
#[derive(Debug, Clone)]
pub(super) enum Breach<'e> {
    /// The type is none of these.
    Type(Wanted),
    /// A required member is absent.
    Missing(&'e str),
    /// A name that the schema does not allow.
    UnknownName,
    /// None of these values.
    Options(Vec<&'e Value>),
    /// None of these sets of members is complete.
    Presence(Vec<Vec<&'e str>>),
    /// A name breaks `propertyNames`, in this way.
    Name(&'e ValidationErrorKind),
    /// Any other keyword.
    Other(&'e ValidationErrorKind),
}

/// What a fault's words tell.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Told {
    /// The values admitted.
    Values,
    /// The bounds of a number.
    Bounds,
    /// This keyword.
    Rule(String),
}

/// The JSON types that a place admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wanted(u8);

impl Wanted {
    /// Whether `kind` is admitted.
    pub(crate) fn admits(self, kind: JsonType) -> bool {
        self.0 & kind as u8 != 0
    }

    /// Admits `kind` too.
    pub(super) fn with(self, kind: JsonType) -> Self {
        Self(self.0 | kind as u8)
    }

    /// Both sets together.
    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The types of these values.
    fn of(values: &[&Value]) -> Self {
        values.iter().fold(Self::default(), |wanted, value| {
            wanted.with(JsonType::from(*value))
        })
    }
}

impl From<&TypeKind> for Wanted {
    fn from(kind: &TypeKind) -> Self {
        match kind {
            TypeKind::Single(kind) => Self::default().with(*kind),
            TypeKind::Multiple(kinds) => kinds.iter().fold(Self::default(), Self::with),
        }
    }
}

impl<'e> Fault<'e> {
    fn new(path: String, rule: &'e str, breach: Breach<'e>, origin: &'e ValidationError<'e>) -> Self {
        Self {
            path,
            rule,
            breach,
            origin,
            alternatives: 0,
        }
    }

    /// What makes two faults one to the reader: the same words, because the same part of the schema is told of the
    /// same place. All bounds of a number are told together, and so are `type` and `enum`.
    pub(super) fn identity(&self) -> (String, Told, String) {
        use ValidationErrorKind as Kind;
        let told = match &self.breach {
            Breach::Type(_) | Breach::Options(_) => Told::Values,
            Breach::Other(
                Kind::Minimum { .. }
                | Kind::Maximum { .. }
                | Kind::ExclusiveMinimum { .. }
                | Kind::ExclusiveMaximum { .. }
                | Kind::MultipleOf { .. },
            ) => Told::Bounds,
            _ => Told::Rule(self.rule.to_owned()),
        };
        let rule = self.origin.schema_path().as_str();
        let part = rule.rsplit_once('/').map_or("", |(part, _)| part);
        (self.path.clone(), told, part.to_owned())
    }

    /// Whether this speaks for all alternatives together, not for the closest.
    pub(super) fn is_merged(&self) -> bool {
        use ValidationErrorKind::{AnyOf, OneOfNotValid};
        matches!(self.origin.kind(), AnyOf { .. } | OneOfNotValid { .. })
    }

    /// The types that would be admitted at `path`, where the type is what is wrong.
    pub(super) fn wanted(&self) -> Option<Wanted> {
        match &self.breach {
            Breach::Type(wanted) => Some(*wanted),
            Breach::Options(options) => Some(Wanted::of(options)),
            _ => None,
        }
    }
}

/// All faults behind `error`, and what of it can't be judged.
pub(super) fn flatten<'e>(
    error: &'e ValidationError<'e>,
    faults: &mut Vec<Fault<'e>>,
    open: &mut Vec<NotChecked>,
) {
    let path = error.instance_path().as_str();
    let kind = error.kind();
    if let Some(why) = undecidable(error) {
        open.push(NotChecked {
            path: path.to_owned(),
            why,
        });
        return;
    }
    let rule = keyword(error);
    let mut push = |path: String, breach| faults.push(Fault::new(path, rule, breach, error));
    match kind {
        ValidationErrorKind::Type { kind } => push(path.to_owned(), Breach::Type(kind.into())),
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            push(child_pointer(path, name), Breach::Missing(name));
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                push(child_pointer(path, name), Breach::UnknownName);
            }
        }
        ValidationErrorKind::Enum { options } => {
            push(
                path.to_owned(),
                Breach::Options(options.as_array().into_iter().flatten().collect()),
            );
        }
        ValidationErrorKind::Constant { expected_value } => {
            push(path.to_owned(), Breach::Options(vec![expected_value]));
        }
        ValidationErrorKind::PropertyNames { error: inner } => {
            let name = inner.instance().as_str().unwrap_or_default();
            push(child_pointer(path, name), Breach::Name(inner.kind()));
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let mut branches = Vec::with_capacity(context.len());
            for errors in context {
                let mut branch = Vec::new();
                for error in errors {
                    flatten(error, &mut branch, open);
                }
                branches.push(branch);
            }
            alternatives::closest(error, rule, branches, faults);
        }
        other => push(path.to_owned(), Breach::Other(other)),
    }
}

/// The keyword that was broken, as the schema spells it where the validator's own name differs.
fn keyword<'e>(error: &'e ValidationError<'e>) -> &'e str {
    match error.kind() {
        ValidationErrorKind::FalseSchema => "false",
        ValidationErrorKind::Required { .. } | ValidationErrorKind::Contains => {
            // `dependentRequired`, `dependencies`, `minContains` and `maxContains` report under these two.
            error
                .schema_path()
                .as_str()
                .rsplit('/')
                .find(|step| step.parse::<usize>().is_err())
                .unwrap_or("required")
        }
        kind => kind.keyword(),
    }
}

/// Why `error` may not be counted as one, if so.
fn undecidable(error: &ValidationError<'_>) -> Option<WhyNotChecked> {
    match error.kind() {
        ValidationErrorKind::BacktrackLimitExceeded { .. } => Some(WhyNotChecked::PatternBudget),
        ValidationErrorKind::RegexEngineFailure { .. } | ValidationErrorKind::Referencing(_) => {
            Some(WhyNotChecked::ValidatorFailed)
        }
        ValidationErrorKind::Minimum { .. }
        | ValidationErrorKind::Maximum { .. }
        | ValidationErrorKind::ExclusiveMinimum { .. }
        | ValidationErrorKind::ExclusiveMaximum { .. }
        | ValidationErrorKind::MultipleOf { .. }
        | ValidationErrorKind::Enum { .. }
        | ValidationErrorKind::Constant { .. }
        | ValidationErrorKind::UniqueItems
        | ValidationErrorKind::Contains
        | ValidationErrorKind::Not { .. }
        | ValidationErrorKind::AnyOf { .. }
        | ValidationErrorKind::OneOfNotValid { .. }
        | ValidationErrorKind::OneOfMultipleValid { .. } => {
            has_unholdable_number(error.instance()).then_some(WhyNotChecked::Number)
        }
        ValidationErrorKind::Type { kind } => {
            let integer_at_most = Wanted::from(kind).admits(JsonType::Integer);
            (integer_at_most && has_unholdable_number(error.instance()) && error.instance().is_number())
                .then_some(WhyNotChecked::Number)
        }
        _ => None,
    }
}

fn has_unholdable_number(value: &Value) -> bool {
    match value {
        Value::Number(number) => !is_holdable(number),
        Value::Array(items) => items.iter().any(has_unholdable_number),
        Value::Object(members) => members.values().any(has_unholdable_number),
        _ => false,
    }
}

/// Whether a number's magnitude fits the range of a double; its digits may be more, they are compared exactly.
fn is_holdable(number: &Number) -> bool {
    let text = number.as_str();
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let is_zero = mantissa.bytes().all(|byte| !matches!(byte, b'1'..=b'9'));
    text.parse::<f64>()
        .is_ok_and(|value| value.is_finite() && (is_zero || value != 0.0))
}
