//! A person must agree before a call is sent: the question, and what the answer to it means. Only a form that was sent off
//! with its box ticked is consent; everything else, silence first of all, is none (DESIGN 3f).

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::call::request::CallRequest;
use crate::contract::recovery::Confirm;
use crate::delivery::quote::{escaped, name};
use crate::delivery::redaction::{self, KnownSecrets, escape_invisible};
use crate::judgment::how::words;
use crate::judgment::verdict::{Effect, Evidence, OnDisk, Outcome, Protocol, Verdict};
use crate::names::{OperationId, ServerName};
use crate::wire::members::{is_ambiguous, object};
use crate::wire::revision::{Era, Revision};

/// How many characters of the operator's sentence are shown.
const SENTENCE: usize = 500;
/// How many characters of the arguments are shown; their length is told where that is not all.
const ARGUMENTS: usize = 2_000;
/// Up to this many bytes arguments are masked member by member; of longer ones, only the beginning is looked at.
const WHOLE: usize = 64 * 1024;
/// The name of the box that the user ticks.
const BOX: &str = "confirmed";
/// The key of the question among the requests of a round (2026-07-28).
pub const QUESTION: &str = "candor/confirm";

words! {
    /// How a question to the user ended.
    End {
        /// The user agreed.
        Accept = "accept",
        /// The user said no.
        Decline = "decline",
        /// The user closed the question, or the call was cancelled meanwhile.
        Cancel = "cancel",
        /// The user said nothing in time.
        Expired = "expired",
        /// The user could not be asked, or the answer can't count.
        Blocked = "blocked",
    }
}

/// Why a question could not be put, or its answer can't count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The host announced no forms, or speaks a revision that has none.
    NoForms,
    /// The host answered with a JSON-RPC error.
    Refused {
        /// Its code, where it is an integer.
        code: Option<i64>,
    },
    /// What came back is no answer to the form.
    Misfit,
    /// Too many questions are open.
    TooMany,
    /// The host can't be reached any more, or nothing could be sealed for it.
    Unable,
}

/// The user's answer, or the lack of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The box was ticked and the form sent off.
    Accepted,
    /// No.
    Declined,
    /// The question was closed.
    Cancelled,
    /// No answer in time.
    Expired,
    /// Nobody could be asked, or the answer can't count.
    Blocked(Obstacle),
}

impl Answer {
    /// The word for it.
    pub fn end(self) -> End {
        match self {
            Self::Accepted => End::Accept,
            Self::Declined => End::Decline,
            Self::Cancelled => End::Cancel,
            Self::Expired => End::Expired,
            Self::Blocked(_) => End::Blocked,
        }
    }

    /// Reads the result of an elicitation (raw). An accepted form whose box is not ticked is a no; one without the box
    /// is no answer.
    pub fn of_result(result: &str) -> Self {
        #[derive(Deserialize)]
        struct Elicited<'a> {
            #[serde(borrow, default)]
            action: Option<&'a RawValue>,
            #[serde(borrow, default)]
            content: Option<&'a RawValue>,
        }
        let Some(elicited) = object::<Elicited<'_>>(result) else {
            return Self::Blocked(Obstacle::Misfit);
        };
        match elicited.action.map(RawValue::get) {
            Some("\"accept\"") => elicited
                .content
                .map_or(Self::Blocked(Obstacle::Misfit), |content| {
                    Self::of_form(content.get())
                }),
            Some("\"decline\"") => Self::Declined,
            Some("\"cancel\"") => Self::Cancelled,
            _ => Self::Blocked(Obstacle::Misfit),
        }
    }

    fn of_form(content: &str) -> Self {
        let value: Value = object(content).unwrap_or_default();
        match value.get(BOX) {
            // A form that answers twice says nothing.
            _ if is_ambiguous(content, &value) => Self::Blocked(Obstacle::Misfit),
            Some(Value::Bool(true)) => Self::Accepted,
            Some(Value::Bool(false)) => Self::Declined,
            _ => Self::Blocked(Obstacle::Misfit),
        }
    }

    /// Reads the answers that a client brought back in a round (raw `inputResponses`, 2026-07-28).
    pub fn of_round(responses: Option<&str>) -> Self {
        let response = responses
            .and_then(object::<std::collections::BTreeMap<String, &RawValue>>)
            .and_then(|responses| responses.get(QUESTION).map(|raw| Self::of_result(raw.get())));
        response.unwrap_or(Self::Blocked(Obstacle::Misfit))
    }
}

/// What is put to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    message: String,
}

impl Question {
    /// The question for this call: the operator's sentence or one of Candor's, and what would be sent. Secrets are masked,
    /// what can't be seen is escaped, and what is too long to show is counted.
    pub fn new(
        server: &ServerName,
        request: &CallRequest,
        coerced: Option<&Value>,
        confirm: &Confirm,
        secrets: &KnownSecrets,
    ) -> Self {
        let tool = name(request.tool.as_str(), secrets);
        let server = name(server.as_str(), secrets);
        let what = format!(
            "{tool} on server \"{server}\", {}",
            arguments(request, coerced, secrets)
        );
        let message = match &confirm.message {
            Some(sentence) => format!("{}\n{what}", escaped(sentence, SENTENCE)),
            None => format!("An agent wants to call {what}. It is sent only with your consent."),
        };
        Self {
            message: redaction::known(&message, secrets).value.into_owned(),
        }
    }

    /// What the user reads.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The parameters of `elicitation/create`.
    fn params(&self, revision: Revision) -> Value {
        let schema = json!({
            "type": "object",
            "properties": { BOX: { "type": "boolean", "title": "Yes, do it" } },
            "required": [BOX],
        });
        // Older hosts know one way only, and no word for it.
        if revision >= Revision::V2025_11_25 {
            json!({ "mode": "form", "message": self.message, "requestedSchema": schema })
        } else {
            json!({ "message": self.message, "requestedSchema": schema })
        }
    }

    /// The request to a host that holds a session. `id` is raw JSON text.
    pub fn request(&self, id: &str, revision: Revision) -> String {
        let params = self.params(revision);
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"elicitation/create\",\"params\":{params}}}")
    }

    /// The answer that ends a round (2026-07-28): the client asks its user, and calls again with the answer and `state`.
    /// `id` is the request's, raw.
    pub fn round(&self, id: &str, state: &str, operation: OperationId) -> String {
        let verdict = Verdict {
            operation,
            protocol: Protocol::NotSent,
            outcome: Outcome::InputRequired,
            effect: Effect::NotApplied,
            evidence: Evidence::NotSent,
            error: None,
            reference: None,
            parts: Vec::new(),
            attempts: 0,
            suggested_next_step: None,
        };
        let request = json!({ "method": "elicitation/create", "params": self.params(Revision::V2026_07_28) });
        let result = json!({
            "resultType": "input_required",
            "inputRequests": { QUESTION: request },
            "requestState": state,
            "_meta": { "candor/verdict": verdict.told(OnDisk::NotYet) },
        });
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
    }
}

/// How the user of a request of this revision is asked.
pub fn asks_in_rounds(revision: Revision) -> bool {
    revision.era() == Era::Modern
}

fn arguments(request: &CallRequest, coerced: Option<&Value>, secrets: &KnownSecrets) -> String {
    let coerced = coerced.map(Value::to_string);
    let Some(raw) = coerced.as_deref().or(request.raw_arguments()) else {
        return "without arguments".to_owned();
    };
    let whole = (raw.len() <= WHOLE).then(|| serde_json::from_str::<Value>(raw));
    let masked = match whole {
        // What names a member twice is shown as it would be sent: a parsed value hides one of them.
        Some(Ok(value)) if !is_ambiguous(raw, &value) => {
            redaction::json_owned(value, secrets).value.to_string()
        }
        _ => {
            let window = raw.get(..raw.floor_char_boundary(WHOLE)).unwrap_or_default();
            redaction::masked(window, secrets).value.into_owned()
        }
    };
    let shown: String = masked.chars().take(ARGUMENTS).collect();
    let cut = shown.len() < masked.len();
    let shown = escape_invisible(&shown);
    if cut {
        let length = raw.len();
        format!(
            "with the arguments {shown}… (the first {ARGUMENTS} characters; they have {length} bytes in all)"
        )
    } else {
        format!("with the arguments {shown}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::revision::Revision;

    #[test]
    fn only_a_form_that_was_sent_off_with_its_box_ticked_is_consent() {
        for (result, answer) in [
            (
                r#"{"action":"accept","content":{"confirmed":true}}"#,
                Answer::Accepted,
            ),
            (
                r#"{"action":"accept","content":{"confirmed":false}}"#,
                Answer::Declined,
            ),
            (r#"{"action":"decline"}"#, Answer::Declined),
            (
                r#"{"action":"decline","content":{"confirmed":true}}"#,
                Answer::Declined,
            ),
            (r#"{"action":"cancel"}"#, Answer::Cancelled),
            (r#"{"action":"accept"}"#, Answer::Blocked(Obstacle::Misfit)),
            (
                r#"{"action":"accept","content":{}}"#,
                Answer::Blocked(Obstacle::Misfit),
            ),
            (
                r#"{"action":"accept","content":{"confirmed":"true"}}"#,
                Answer::Blocked(Obstacle::Misfit),
            ),
            (
                r#"{"action":"accept","content":{"confirmed":false,"confirmed":true}}"#,
                Answer::Blocked(Obstacle::Misfit),
            ),
            (r#"{"action":"yes"}"#, Answer::Blocked(Obstacle::Misfit)),
            ("{}", Answer::Blocked(Obstacle::Misfit)),
            ("null", Answer::Blocked(Obstacle::Misfit)),
        ] {
            assert_eq!(Answer::of_result(result), answer, "{result}");
        }
    }

    #[test]
    fn a_round_answers_by_its_key_alone() {
        let yes = r#"{"candor/confirm":{"action":"accept","content":{"confirmed":true}}}"#;
        assert_eq!(Answer::of_round(Some(yes)), Answer::Accepted);
        let other = r#"{"confirm":{"action":"accept","content":{"confirmed":true}}}"#;
        let misfit = Answer::Blocked(Obstacle::Misfit);
        assert_eq!(
            (Answer::of_round(Some(other)), Answer::of_round(None)),
            (misfit, misfit)
        );
    }

    fn asked(arguments: &str, message: Option<&str>) -> String {
        let frame = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"drop","arguments":{arguments}}}}}"#
        );
        let request = CallRequest::parse(&frame, Revision::V2025_11_25)
            .unwrap()
            .unwrap();
        let confirm = Confirm {
            message: message.map(str::to_owned),
        };
        let secrets = KnownSecrets::default();
        let question = Question::new(&ServerName::from("rooms"), &request, None, &confirm, &secrets);
        question.message().to_owned()
    }

    #[test]
    fn the_question_shows_what_would_be_sent_without_its_secrets() {
        let plain = asked(r#"{"table":"bookings"}"#, None);
        assert_eq!(
            plain,
            "An agent wants to call drop on server \"rooms\", with the arguments {\"table\":\"bookings\"}. \
             It is sent only with your consent."
        );
        let own = asked(
            r#"{"table":"x\u202ey","password":"hunter2hunter2"}"#,
            Some("Drop this table?"),
        );
        assert!(
            own.starts_with("Drop this table?\ndrop on server \"rooms\", with"),
            "{own}"
        );
        assert!(!own.contains("hunter2") && !own.contains('\u{202e}'), "{own}");
        let long = asked(&format!(r#"{{"table":"{}"}}"#, "y".repeat(5_000)), None);
        assert!(
            long.contains("(the first 2000 characters; they have 5012 bytes in all)"),
            "{long}"
        );
        let twice = asked(r#"{"table":"kept","table":"dropped"}"#, None);
        assert!(twice.contains("kept") && twice.contains("dropped"), "{twice}");
    }

    #[test]
    fn older_hosts_get_no_word_they_do_not_know() {
        let question = Question {
            message: "Go?".to_owned(),
        };
        assert!(
            question
                .request("\"q\"", Revision::V2025_11_25)
                .contains("\"mode\":\"form\"")
        );
        assert!(!question.request("\"q\"", Revision::V2025_06_18).contains("mode"));
    }
}
