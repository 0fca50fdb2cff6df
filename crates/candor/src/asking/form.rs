//! A form: what a tool asks of the user, and by what the answer is checked.

use std::collections::BTreeSet;
use std::time::Duration;

use candor_core::contract::schema::{Formats, Schema};
use candor_core::delivery::redaction::is_secret_name;
use serde_json::{Map, Value, json};

use super::field::{Choice, Choices, Field, Naming, Text};

/// How long the user has where a form doesn't say: 10 minutes.
pub const USUAL_WAIT: Duration = Duration::from_secs(600);
/// The longest wait for an answer: a day. Longer ones are cut to it.
pub const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
/// Most fields of a form.
const MOST_FIELDS: usize = 50;
/// Most options of a choice.
const MOST_OPTIONS: usize = 500;

/// What is asked of the user: one message and some fields.
///
/// ```
/// use candor::asking::{Choice, Form, Integer, Text};
///
/// let form = Form::new("Who comes?")
///     .required("name", Text::new().title("Name").length(1, 80))
///     .required("guests", Integer::new().range(1, 9).with_default(2))
///     .optional("seats", Choice::titled([("w", "Window"), ("a", "Aisle")]));
/// assert!(form.check().is_ok());
///
/// // Secrets are never asked for in a form: they would pass through the client and the model.
/// let refused = Form::new("Log in").required("apiKey", Text::new()).check();
/// assert!(refused.is_err_and(|fault| fault.to_string().contains("apiKey")));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    pub(super) message: String,
    pub(super) fields: Vec<(String, Field)>,
    pub(super) required: Vec<String>,
    pub(super) wait: Duration,
    pub(super) once: bool,
}

/// Why a form can't be asked. It is a fault of the server, found at start-up for forms that are declared there, and
/// else when the form is asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormFault {
    /// A field asks for a secret.
    #[error(
        "field {field:?} asks for a secret (its {by} says so); a form passes through the client and the model. \
         Let the user enter it on a page of yours: Call::follow_url"
    )]
    Secret {
        /// The field's name.
        field: String,
        /// What says so: `name`, `title` or `format`.
        by: &'static str,
    },
    /// A field has a shape that the specification doesn't allow in forms: an object, a list of objects, a pattern.
    #[error("field {field:?} has a shape that forms can't have: {problem}")]
    Shape {
        /// The field's name; empty for the form itself.
        field: String,
        /// What is wrong, in words.
        problem: String,
    },
    /// Bounds, options or default of a field contradict each other.
    #[error("field {field:?} contradicts itself: {problem}")]
    Contradiction {
        /// The field's name.
        field: String,
        /// What is wrong, in words.
        problem: String,
    },
    /// A URL that users can't be sent to.
    #[error("the user can't be sent to this URL: {problem}")]
    Url {
        /// What is wrong, in words; never the URL itself, which may hold a secret.
        problem: &'static str,
    },
}

impl Form {
    /// A form with this message and no field yet: with none, it asks for a plain yes or no.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            fields: Vec::new(),
            required: Vec::new(),
            wait: USUAL_WAIT,
            once: false,
        }
    }

    /// Adds a field that must be answered.
    #[must_use]
    pub fn required(mut self, name: impl Into<String>, field: impl Into<Field>) -> Self {
        let name = name.into();
        self.required.push(name.clone());
        self.fields.push((name, field.into()));
        self
    }

    /// Adds a field that may be left out.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, field: impl Into<Field>) -> Self {
        self.fields.push((name.into(), field.into()));
        self
    }

    /// How long the user has; shown to the user with the message. See [`USUAL_WAIT`] and [`LONGEST_WAIT`].
    #[must_use]
    pub fn within(self, wait: Duration) -> Self {
        Self {
            wait: wait.min(LONGEST_WAIT),
            ..self
        }
    }

    /// The answer is good for one use: a state that carries it is refused the second time. For confirmations.
    #[must_use]
    pub fn once(self) -> Self {
        Self { once: true, ..self }
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Its schema, as `requestedSchema` of the specification's revisions from 2025-11-25.
    pub fn schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .fields
            .iter()
            .map(|(name, field)| (name.clone(), field.schema()))
            .collect();
        let mut schema = json!({ "type": "object", "properties": properties });
        if !self.required.is_empty()
            && let Some(members) = schema.as_object_mut()
        {
            members.insert("required".to_owned(), json!(self.required));
        }
        schema
    }

    /// The schema for clients of 2025-06-18, which know titled choices as `enumNames` only. `None` where a field has a
    /// shape that they don't know: some of several.
    pub(super) fn schema_2025_06_18(&self) -> Option<Value> {
        let mut older = self.clone();
        for (_, field) in &mut older.fields {
            match field {
                Field::Choices(_) => return None,
                Field::Choice(choice) => {
                    choice.default = None;
                    if choice.naming == Naming::Titled {
                        choice.naming = Naming::EnumNames;
                    }
                }
                Field::Text(text) => text.default = None,
                Field::Number(number) => number.default = None,
                Field::Integer(integer) => integer.default = None,
                Field::Boolean(_) => {}
            }
        }
        Some(older.schema())
    }

    /// Looks at the form as it is looked at when it is declared, and again when it is asked.
    ///
    /// # Errors
    ///
    /// The first [`FormFault`].
    pub fn check(&self) -> Result<(), FormFault> {
        if self.fields.len() > MOST_FIELDS {
            return Err(shape("", format!("more than {MOST_FIELDS} fields")));
        }
        let mut names = BTreeSet::new();
        for (name, field) in &self.fields {
            if !names.insert(name) {
                return Err(contradiction(name, "there are two of that name"));
            }
            secret(name, field)?;
            consistent(name, field)?;
        }
        let compiled = self.compiled()?;
        for (name, field) in &self.fields {
            if let Some(default) = field.schema().get("default") {
                fits(&compiled, name, default)?;
            }
        }
        Ok(())
    }

    /// What answers are checked by.
    pub(super) fn compiled(&self) -> Result<Schema, FormFault> {
        // Formats decide here: the author chose them from four, and the user can be asked again.
        Schema::compile(&self.schema().to_string(), Formats::Assert)
            .map_err(|fault| shape("", fault.to_string()))
    }
}

/// Refuses a field that asks for a secret. Yes-or-no fields and choices can't take one in: their answers are the form's.
fn secret(name: &str, field: &Field) -> Result<(), FormFault> {
    if !matches!(field, Field::Text(_) | Field::Number(_) | Field::Integer(_)) {
        return Ok(());
    }
    let by = if is_secret_name(name) {
        "name"
    } else if field.title().is_some_and(is_secret_name) {
        "title"
    } else {
        return Ok(());
    };
    Err(FormFault::Secret {
        field: name.to_owned(),
        by,
    })
}

fn consistent(name: &str, field: &Field) -> Result<(), FormFault> {
    let reversed = match field {
        Field::Text(Text {
            least: Some(least),
            most: Some(most),
            ..
        })
        | Field::Choices(Choices {
            least: Some(least),
            most: Some(most),
            ..
        }) => least > most,
        Field::Number(number) => match (number.least, number.most) {
            (Some(least), Some(most)) => least > most,
            _ => false,
        },
        Field::Integer(integer) => match (integer.least, integer.most) {
            (Some(least), Some(most)) => least > most,
            _ => false,
        },
        _ => false,
    };
    if reversed {
        return Err(contradiction(name, "its least is more than its most"));
    }
    if let Field::Number(number) = field
        && [number.least, number.most, number.default]
            .into_iter()
            .flatten()
            .any(|given| !given.is_finite())
    {
        return Err(contradiction(name, "a bound or default is no finite number"));
    }
    match field {
        Field::Choice(Choice { options, .. }) | Field::Choices(Choices { options, .. }) => {
            choosable(name, options)
        }
        _ => Ok(()),
    }
}

fn choosable(name: &str, options: &[(String, String)]) -> Result<(), FormFault> {
    if options.is_empty() {
        return Err(contradiction(name, "it has no options"));
    }
    if options.len() > MOST_OPTIONS {
        return Err(shape(name, format!("more than {MOST_OPTIONS} options")));
    }
    let different: BTreeSet<&String> = options.iter().map(|(value, _)| value).collect();
    if different.len() != options.len() {
        return Err(contradiction(name, "two options have the same value"));
    }
    Ok(())
}

/// A default is what the form shows: it must be an answer that would be taken.
fn fits(schema: &Schema, name: &str, default: &Value) -> Result<(), FormFault> {
    let given = Value::Object(Map::from_iter([(name.to_owned(), default.clone())]));
    let checked = super::answer::checked(schema, &given);
    let path = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    let own = checked
        .issues
        .iter()
        .any(|issue| issue.path == path || issue.path.starts_with(&format!("{path}/")));
    // What is missing beside it is no fault of this default.
    if own
        && checked
            .issues
            .iter()
            .any(|issue| issue.path.starts_with(&path) && issue.rule != "required")
    {
        return Err(contradiction(name, "its default isn't an answer that it takes"));
    }
    Ok(())
}

pub(super) fn shape(field: &str, problem: impl Into<String>) -> FormFault {
    FormFault::Shape {
        field: field.to_owned(),
        problem: problem.into(),
    }
}

pub(super) fn contradiction(field: &str, problem: impl Into<String>) -> FormFault {
    FormFault::Contradiction {
        field: field.to_owned(),
        problem: problem.into(),
    }
}
