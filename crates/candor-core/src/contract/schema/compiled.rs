//! A schema compiled once and shared: checks any number of values, never fetches, and never runs without a bound.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ReferencingError, ValidationError, Validator};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::bounds::{self, Effort};
use super::dialect::{Dialect, Formats};
use super::expected::Wording;
use super::fault::SchemaFault;
use super::findings::{Fault, Wanted, flatten};
use super::graph::Graph;
use super::received::received;
use super::validation::{NotChecked, Validation, WhyNotChecked};
use crate::arguments::issue::Issue;

/// Steps of backtracking that one pattern may take on one text.
const BACKTRACK_LIMIT: usize = 20_000;
/// Most places that `not_checked` names.
const MAX_NOT_CHECKED: usize = 20;
/// Most faults kept for coercion; more are only counted.
const MAX_FAULTS: usize = 100_000;

/// A compiled JSON Schema. Cloning is cheap.
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    raw: Box<str>,
    source: Value,
    digest: [u8; 32],
    dialect: Dialect,
    graph: Graph,
    validator: Validator,
    /// The same schema with `format` deciding, where it only describes and the schema has one at all.
    format_validator: Option<Validator>,
}

/// Everything found in one value, with what coercion needs beside the issues.
#[derive(Debug, Default)]
pub(crate) struct Examined {
    /// One entry for each fault, in the schema's order, bounded.
    pub(crate) found: Vec<Found>,
    /// Faults in all.
    pub(crate) total: usize,
    /// As in [`Validation`].
    pub(crate) format_doubts: Vec<Issue>,
    /// As in [`Validation`].
    pub(crate) not_checked: Vec<NotChecked>,
}

/// One fault.
#[derive(Debug)]
pub(crate) struct Found {
    /// JSON Pointer into the value.
    pub(crate) path: String,
    /// The types admitted at `path`, where the type is what is wrong.
    pub(crate) wanted: Option<Wanted>,
    /// In words, for as many as were asked for.
    pub(crate) issue: Option<Issue>,
}

impl Schema {
    /// Compiles the schema in `raw`, by the dialect its `$schema` declares.
    ///
    /// # Errors
    ///
    /// [`SchemaFault`] says why the schema can't be used; the tool it belongs to is then unchecked, and no other.
    pub fn compile(raw: &str, formats: Formats) -> Result<Self, SchemaFault> {
        bounds::check_text(raw)?;
        let source: Value = serde_json::from_str(raw).map_err(|error| SchemaFault::NotJson {
            problem: error
                .to_string()
                .split(" at line")
                .next()
                .unwrap_or_default()
                .to_owned(),
            line: error.line(),
            column: error.column(),
        })?;
        if !source.is_object() && !source.is_boolean() {
            return Err(SchemaFault::NotASchema {
                keyword: String::new(),
                at: String::new(),
            });
        }
        let dialect =
            Dialect::declared_by(&source).map_err(|dialect| SchemaFault::UnknownDialect { dialect })?;
        bounds::check_paths(&source)?;
        let graph = Graph::read(&source, dialect);
        bounds::check_graph(&graph)?;
        let validator = validator(&source, dialect, formats)?;
        let describes = formats == Formats::Annotate && mentions_format(&source, &graph);
        let format_validator = describes
            .then(|| validator_of_formats(&source, dialect))
            .flatten();
        let digest = Sha256::digest(raw.as_bytes()).into();
        let raw = raw.into();
        Ok(Self(Arc::new(Compiled {
            raw,
            source,
            digest,
            dialect,
            graph,
            validator,
            format_validator,
        })))
    }

    /// SHA-256 of the schema's text, byte for byte as it came.
    pub fn digest(&self) -> [u8; 32] {
        self.0.digest
    }

    /// The schema as JSON.
    pub fn source(&self) -> &Value {
        &self.0.source
    }

    /// The schema's text as it came.
    pub fn raw(&self) -> &str {
        &self.0.raw
    }

    /// The dialect it was compiled by.
    pub fn dialect(&self) -> Dialect {
        self.0.dialect
    }

    /// Checks `instance` and puts at most `limit` issues in words.
    pub fn violations(&self, instance: &Value, limit: usize) -> Validation {
        let examined = self.examine(instance, limit);
        Validation {
            issues: examined
                .found
                .into_iter()
                .filter_map(|found| found.issue)
                .collect(),
            total: examined.total,
            format_doubts: examined.format_doubts,
            not_checked: examined.not_checked,
        }
    }

    /// Whether `instance` certainly breaks nothing. `false` also where it could not be found out.
    pub(crate) fn accepts(&self, instance: &Value) -> bool {
        bounds::effort(&self.0.graph, instance) != Effort::None
            && catch_unwind(AssertUnwindSafe(|| self.0.validator.is_valid(instance))).unwrap_or(false)
    }

    /// The parts of the schema, for walking beside a value.
    pub(crate) fn graph(&self) -> &Graph {
        &self.0.graph
    }

    /// Checks `instance`; see [`Schema::violations`].
    pub(crate) fn examine(&self, instance: &Value, limit: usize) -> Examined {
        self.examine_except(instance, limit, &|_| false)
    }

    /// As [`Self::examine`], without words for faults at paths that `skip` names.
    pub(crate) fn examine_except(
        &self,
        instance: &Value,
        limit: usize,
        skip: &dyn Fn(&str) -> bool,
    ) -> Examined {
        let effort = bounds::effort(&self.0.graph, instance);
        if effort == Effort::None {
            return unjudged(WhyNotChecked::TooMuchWork);
        }
        // The validator is other people's code, run on other people's schemas: a panic in it must stay one answer.
        catch_unwind(AssertUnwindSafe(|| {
            let mut examined = Examined::default();
            if !self.0.validator.is_valid(instance) {
                let found = errors(&self.0.validator, instance, effort);
                self.explain(&found, instance, limit, skip, &mut examined);
                if let [only] = found.as_slice()
                    && let ValidationErrorKind::BacktrackLimitExceeded { .. } = only.kind()
                    && let Some(validator) = self.without_patterns()
                {
                    let mut beside = errors(&validator, instance, effort);
                    beside.retain(is_certain);
                    self.explain(&beside, instance, limit, skip, &mut examined);
                }
            }
            if let Some(validator) = &self.0.format_validator
                && !validator.is_valid(instance)
            {
                let errors = errors(validator, instance, effort);
                examined.format_doubts = self.format_doubts(&errors, instance, limit);
            }
            examined
        }))
        .unwrap_or_else(|_| unjudged(WhyNotChecked::ValidatorFailed))
    }

    /// The same schema without its patterns. The validator gives up on everything else too where more than a few
    /// patterns run over their budget; what is wrong beside them is found without them.
    fn without_patterns(&self) -> Option<Validator> {
        let mut source = self.0.source.clone();
        for node in self.0.graph.nodes() {
            if let Some(Value::Object(part)) = source.pointer_mut(&node.pointer) {
                part.shift_remove("pattern");
            }
        }
        validator(&source, self.0.dialect, Formats::Annotate).ok()
    }

    fn explain<'e>(
        &self,
        errors: &'e [ValidationError<'e>],
        instance: &Value,
        limit: usize,
        skip: &dyn Fn(&str) -> bool,
        examined: &mut Examined,
    ) {
        let mut faults = Vec::new();
        for error in errors {
            flatten(error, &mut faults, &mut examined.not_checked);
        }
        let mut open = HashSet::new();
        examined.not_checked.retain(|part| open.insert(part.clone()));
        examined.not_checked.truncate(MAX_NOT_CHECKED);
        let mut seen = HashSet::new();
        faults.retain(|fault| seen.insert(fault.identity()));
        examined.total = faults.len();
        let mut worded = 0;
        for fault in faults.iter().take(MAX_FAULTS) {
            let in_words = worded < limit && !skip(&fault.path);
            worded += usize::from(in_words);
            examined.found.push(Found {
                path: fault.path.clone(),
                wanted: fault.wanted(),
                issue: in_words.then(|| self.issue(fault, instance)),
            });
        }
    }

    fn format_doubts<'e>(
        &self,
        errors: &'e [ValidationError<'e>],
        instance: &Value,
        limit: usize,
    ) -> Vec<Issue> {
        let is_format = |kind: &ValidationErrorKind| {
            matches!(
                kind,
                ValidationErrorKind::Format { .. }
                    | ValidationErrorKind::ContentEncoding { .. }
                    | ValidationErrorKind::ContentMediaType { .. }
            )
        };
        let mut faults = Vec::new();
        for error in errors {
            flatten(error, &mut faults, &mut Vec::new());
        }
        let doubts = faults.iter().filter(|fault| is_format(fault.origin.kind()));
        doubts
            .take(limit)
            .map(|fault| self.issue(fault, instance))
            .collect()
    }

    fn issue(&self, fault: &Fault<'_>, instance: &Value) -> Issue {
        let wording = Wording {
            source: &self.0.source,
            graph: &self.0.graph,
        };
        let value = instance.pointer(&fault.path);
        let words = wording.of(fault, value);
        Issue {
            path: fault.path.clone(),
            rule: fault.rule.to_owned(),
            expected: words.expected,
            received: value.map(|value| received(value, &fault.path)),
            hint: words.hint,
        }
    }
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema")
            .field("dialect", &self.0.dialect)
            .field("raw", &self.0.raw)
            .finish()
    }
}

/// Whether an error that was found without the patterns holds with them too: nothing that a pattern could decide
/// stands between the root and the broken keyword. By the way that evaluation took, which references do not hide.
fn is_certain(error: &ValidationError<'_>) -> bool {
    const DEPENDENT: &[&str] = &[
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "minContains",
        "maxContains",
        "dependencies",
        "dependentSchemas",
        "patternProperties",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    ];
    let path = error.evaluation_path().as_str();
    path.split('/').all(|step| !DEPENDENT.contains(&step))
}

/// Everything wrong with `instance`, or the first thing, as the effort allows.
fn errors<'e>(validator: &'e Validator, instance: &'e Value, effort: Effort) -> Vec<ValidationError<'e>> {
    match effort {
        Effort::Whole => validator.iter_errors(instance).collect(),
        Effort::First | Effort::None => validator.validate(instance).err().into_iter().collect(),
    }
}

fn unjudged(why: WhyNotChecked) -> Examined {
    Examined {
        not_checked: vec![NotChecked {
            path: String::new(),
            why,
        }],
        ..Examined::default()
    }
}

/// Whether some part of the schema has a `format` (or what draft-07 has like it).
fn mentions_format(source: &Value, graph: &Graph) -> bool {
    graph
        .nodes()
        .iter()
        .filter_map(|node| source.pointer(&node.pointer))
        .any(|part| {
            ["format", "contentEncoding", "contentMediaType"]
                .iter()
                .any(|keyword| part.get(keyword).is_some())
        })
}

/// Builds the validator; a schema it panics on is a fault like any other.
fn validator(source: &Value, dialect: Dialect, formats: Formats) -> Result<Validator, SchemaFault> {
    let build = || {
        let options = jsonschema::options()
            .with_draft(dialect.draft())
            .offline()
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT))
            .should_validate_formats(formats == Formats::Assert);
        let options = match formats {
            Formats::Assert => options,
            Formats::Annotate => options
                .without_content_encoding_support("base64")
                .without_content_media_type_support("application/json"),
        };
        options.build(source)
    };
    catch_unwind(AssertUnwindSafe(build))
        .map_err(|_| SchemaFault::ValidatorFailed)?
        .map_err(|error| fault(&error))
}

/// A schema that compiled once compiles again; should it not, there are only no doubts about formats.
fn validator_of_formats(source: &Value, dialect: Dialect) -> Option<Validator> {
    validator(source, dialect, Formats::Assert).ok()
}

fn fault(error: &ValidationError<'_>) -> SchemaFault {
    let ValidationErrorKind::Referencing(referencing) = error.kind() else {
        let at = error.instance_path().as_str();
        let keyword = at
            .rsplit('/')
            .find(|step| step.parse::<usize>().is_err())
            .unwrap_or_default();
        return SchemaFault::NotASchema {
            keyword: keyword.to_owned(),
            at: at.to_owned(),
        };
    };
    let reference = match referencing {
        ReferencingError::UnknownSpecification { specification } => {
            return SchemaFault::UnknownDialect {
                dialect: specification.clone(),
            };
        }
        ReferencingError::Unretrievable { uri, .. } => uri.clone(),
        ReferencingError::PointerToNowhere { pointer }
        | ReferencingError::InvalidPercentEncoding { pointer, .. }
        | ReferencingError::InvalidArrayIndex { pointer, .. } => format!("#{pointer}"),
        ReferencingError::NoSuchAnchor { anchor } | ReferencingError::InvalidAnchor { anchor } => {
            format!("#{anchor}")
        }
        ReferencingError::InvalidUri(_) => "(not a URI)".to_owned(),
        ReferencingError::CircularMetaschema { uri } => uri.clone(),
    };
    SchemaFault::UnresolvableRef { reference }
}
