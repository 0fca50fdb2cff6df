//! One question, whatever its means: a form, a page, a model's answer (sampling) or the client's roots.

use std::time::Duration;

use candor_core::arguments::Issue;
use rmcp::model::{ElicitRequest, ElicitRequestParams, ElicitationSchema, InputRequest};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::answer::{Answer, End, Misfit, end, read};
use super::form::{Form, FormFault, USUAL_WAIT, shape};
use super::link::Link;
use crate::seal::write_sorted;

/// A question with everything that is needed to put it and to read its answer.
#[derive(Debug, Clone)]
pub struct Question(What);

#[derive(Debug, Clone)]
enum What {
    Form(Form),
    Url(Link),
    Input(Box<InputRequest>),
}

/// By what means a question is put; the client must have said that it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Means {
    /// A form the user fills in.
    Form,
    /// A page the user opens.
    Url,
    /// The client's model answers (`sampling/createMessage`).
    Sampling,
    /// The client lists its roots (`roots/list`).
    Roots,
}

impl From<&Form> for Question {
    fn from(form: &Form) -> Self {
        Self(What::Form(form.clone()))
    }
}

impl From<Form> for Question {
    fn from(form: Form) -> Self {
        Self(What::Form(form))
    }
}

impl From<Link> for Question {
    fn from(link: Link) -> Self {
        Self(What::Url(link))
    }
}

impl From<InputRequest> for Question {
    fn from(request: InputRequest) -> Self {
        Self(What::Input(Box::new(request)))
    }
}

impl Question {
    /// By what means it is put.
    pub fn means(&self) -> Means {
        match &self.0 {
            What::Form(_) => Means::Form,
            What::Url(_) => Means::Url,
            What::Input(request) => match **request {
                InputRequest::Elicitation(ref request) => match request.params {
                    ElicitRequestParams::UrlElicitationParams { .. } => Means::Url,
                    _ => Means::Form,
                },
                InputRequest::ListRoots(_) => Means::Roots,
                _ => Means::Sampling,
            },
        }
    }

    /// The form, where it is one.
    pub fn form(&self) -> Option<&Form> {
        match &self.0 {
            What::Form(form) => Some(form),
            _ => None,
        }
    }

    /// What the user is told; empty for sampling and roots.
    pub fn message(&self) -> &str {
        match &self.0 {
            What::Form(form) => &form.message,
            What::Url(link) => &link.message,
            What::Input(_) => "",
        }
    }

    /// How long an answer is waited for.
    pub fn wait(&self) -> Duration {
        match &self.0 {
            What::Form(form) => form.wait,
            What::Url(link) => link.wait,
            What::Input(_) => USUAL_WAIT,
        }
    }

    /// Whether the answer is good for one use.
    pub(super) fn once(&self) -> bool {
        matches!(&self.0, What::Form(form) if form.once)
    }

    /// Whether it can be put at all.
    ///
    /// # Errors
    ///
    /// [`FormFault`].
    pub fn check(&self) -> Result<(), FormFault> {
        match &self.0 {
            What::Form(form) => form.check(),
            What::Url(link) => link.check(),
            What::Input(request) => match &**request {
                // A form that comes as rmcp's own type is held to the same.
                InputRequest::Elicitation(request) => match &request.params {
                    ElicitRequestParams::FormElicitationParams {
                        message,
                        requested_schema,
                        ..
                    } => {
                        let schema = serde_json::to_value(requested_schema).unwrap_or_default();
                        Form::from_schema(message.clone(), &schema).map(drop)
                    }
                    ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                        Link::new(message.clone(), url.clone()).check()
                    }
                    _ => Err(shape("", "this mode of elicitation is not known")),
                },
                _ => Ok(()),
            },
        }
    }

    /// The request as it goes to the client: its deadline is shown, and before it what was wrong with the last answer.
    ///
    /// # Errors
    ///
    /// [`FormFault::Shape`] where rmcp's type can't hold the form.
    pub fn request(&self, last: Option<&Misfit>) -> Result<InputRequest, FormFault> {
        match &self.0 {
            What::Form(form) => form_request(form, form.schema(), last),
            What::Url(link) => Ok(elicitation(ElicitRequestParams::UrlElicitationParams {
                meta: None,
                message: shown(&link.message, link.wait, last),
                url: link.url.clone(),
                // Required by 2025-11-25 and unknown to 2026-07-28, where it is one member too many and harmless.
                elicitation_id: Uuid::new_v4().to_string(),
            })),
            What::Input(request) => Ok((**request).clone()),
        }
    }

    /// As [`Question::request`], for clients of 2025-06-18. `None` where those don't know the form's shapes.
    pub(super) fn request_2025_06_18(
        &self,
        last: Option<&Misfit>,
    ) -> Result<Option<InputRequest>, FormFault> {
        match &self.0 {
            What::Form(form) => match form.schema_2025_06_18() {
                None => Ok(None),
                Some(schema) => form_request(form, schema, last).map(Some),
            },
            _ => self.request(last).map(Some),
        }
    }

    /// What was asked, as a digest: an answer counts for the question that the user saw and for no other.
    pub(super) fn digest(&self) -> String {
        let asked = match &self.0 {
            What::Form(form) => json!({ "form": form.message, "schema": form.schema() }),
            What::Url(link) => json!({ "url": link.url, "message": link.message }),
            What::Input(request) => serde_json::to_value(request).unwrap_or_default(),
        };
        let mut bytes = Vec::new();
        write_sorted(&asked, &mut bytes);
        let digest = Sha256::digest(&bytes);
        // 128 bits are enough beside the seal, and every round carries them.
        digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads an answer: the client's result for this question, raw (for a form `{"action": .., "content": ..}`).
    ///
    /// # Errors
    ///
    /// [`Misfit`]: it is to be asked for again.
    pub fn read(&self, given: &Value) -> Result<Answer<Value>, Misfit> {
        let unread = || Misfit {
            issues: Vec::new(),
            total: 0,
        };
        match &self.0 {
            What::Form(form) => read(form, given),
            What::Url(_) => match end(given).ok_or_else(unread)? {
                End::Accept(_) => Ok(Answer::Accepted(Value::Null)),
                End::Other(answer) => Ok(answer),
            },
            What::Input(request) => read_input(request, given),
        }
    }
}

fn read_input(request: &InputRequest, given: &Value) -> Result<Answer<Value>, Misfit> {
    if let InputRequest::Elicitation(request) = request {
        return read_elicitation(&request.params, given);
    }
    if let Some(End::Other(answer)) = end(given) {
        return Ok(answer);
    }
    let wanted = match request {
        InputRequest::ListRoots(_) => ["roots"].as_slice(),
        _ => ["role", "content", "model"].as_slice(),
    };
    let issues: Vec<Issue> = wanted
        .iter()
        .filter(|name| given.get(name).is_none())
        .map(|name| missing(name))
        .collect();
    if issues.is_empty() {
        return Ok(Answer::Accepted(given.clone()));
    }
    Err(Misfit {
        total: issues.len(),
        issues,
    })
}

/// An elicitation that came as rmcp's own type is read as ours are.
fn read_elicitation(params: &ElicitRequestParams, given: &Value) -> Result<Answer<Value>, Misfit> {
    let question = match params {
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            Link::new(message.clone(), url.clone()).into()
        }
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => {
            let schema = serde_json::to_value(requested_schema).unwrap_or_default();
            // A form that isn't one was refused when it was asked.
            let unread = |_| Misfit {
                issues: Vec::new(),
                total: 0,
            };
            Question::from(Form::from_schema(message.clone(), &schema).map_err(unread)?)
        }
        _ => {
            return Err(Misfit {
                issues: Vec::new(),
                total: 0,
            });
        }
    };
    question.read(given)
}

fn missing(name: &str) -> Issue {
    Issue {
        path: format!("/{name}"),
        rule: "required".to_owned(),
        expected: "a value".to_owned(),
        received: None,
        hint: None,
    }
}

fn form_request(form: &Form, schema: Value, last: Option<&Misfit>) -> Result<InputRequest, FormFault> {
    let requested_schema: ElicitationSchema =
        serde_json::from_value(schema).map_err(|error| shape("", error.to_string()))?;
    Ok(elicitation(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: shown(&form.message, form.wait, last),
        requested_schema,
    }))
}

fn elicitation(params: ElicitRequestParams) -> InputRequest {
    InputRequest::Elicitation(ElicitRequest::new(params))
}

/// The message with its deadline, so that nobody is cut off unwarned.
fn shown(message: &str, wait: Duration, last: Option<&Misfit>) -> String {
    let wait = in_words(wait);
    match last {
        None => format!("{message}\n\nThis question is open for {wait}."),
        Some(misfit) => format!(
            "{message}\n\n{} This question is open for {wait}.",
            misfit.words()
        ),
    }
}

/// Rounded down: never more than there is.
fn in_words(wait: Duration) -> String {
    let seconds = wait.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} minutes", seconds / 60),
        _ => format!("{} hours", seconds / 3600),
    }
}
