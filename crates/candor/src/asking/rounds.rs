//! Rounds of a modern call (2026-07-28): the tool asks, the round ends with `input_required`, and the client calls again
//! with the answers and the state that it was given. The tool then runs from its start, with the answers so far.
//!
//! The server keeps nothing between rounds: what it has to know travels through the client, sealed. Answers count for
//! the questions of the last round only, the first one to a key stands, and each round has a fresh seal.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use rmcp::model::{InputRequests, InputRequiredResult, InputResponses};
use serde_json::Value;
use uuid::Uuid;

use super::answers::Answers;
use super::form::{Form, FormFault, USUAL_WAIT};
use super::way::{Asking, MOST_ROUNDS};
use crate::seal::{Bound, Keys, Refused, Spent, State, Unsealed};

/// Opens what a client brought. Without a state there are no answers: nothing was asked.
///
/// # Errors
///
/// [`Refused`]; the tool must not run.
pub(crate) async fn open(
    request_state: Option<&str>,
    input_responses: Option<InputResponses>,
    bound: &Bound,
    keys: &Keys,
    spent: &dyn Spent,
    now: Timestamp,
) -> Result<Answers, Refused> {
    let Some(text) = request_state else {
        return Ok(Answers::default());
    };
    let state: State<Answers> = keys.open(text, bound, now)?;
    if state.once {
        let expires = Timestamp::from_millisecond(state.expires).map_err(|_| Refused::Malformed)?;
        match spent.spend(state.id, expires, now).await {
            Ok(true) => {}
            Ok(false) => return Err(Refused::Spent),
            Err(_) => return Err(Refused::NoStore),
        }
    }
    let mut answers = state.value;
    answers.take(input_responses.unwrap_or_default());
    Ok(answers)
}

/// Why a round can't be closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unclosed {
    /// A question can't be written as this client understands it.
    #[error("a question can't be put to this client: {0}")]
    Question(FormFault),
    /// The client doesn't know forms of this shape.
    #[error("this client's revision doesn't know forms of this shape")]
    Shape,
    /// There are no questions.
    #[error("nothing was asked")]
    Nothing,
    /// The state can't be sealed.
    #[error("the answers so far can't travel: {0}")]
    Seal(Unsealed),
}

/// Closes a round in which the tool halted because it asked.
///
/// # Errors
///
/// [`Unclosed`].
pub(crate) fn close(
    asking: &Asking,
    bound: &Bound,
    keys: &Keys,
    now: Timestamp,
) -> Result<InputRequiredResult, Unclosed> {
    let parked = asking.parked();
    let offers = asking.offered();
    let mut requests: InputRequests = BTreeMap::new();
    for (key, (question, last)) in &parked {
        let request = offers
            .request(question, last.as_ref())
            .map_err(Unclosed::Question)?;
        requests.insert(key.clone(), request.ok_or(Unclosed::Shape)?);
    }
    if requests.is_empty() {
        return Err(Unclosed::Nothing);
    }
    let mut answers = asking.answers();
    answers.ask(parked.iter().map(|(key, (question, _))| (key, question)));
    debug_assert!(answers.rounds() <= MOST_ROUNDS);
    let wait = parked
        .values()
        .map(|(question, _)| question.wait())
        .max()
        .unwrap_or(USUAL_WAIT);
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::from_secs(600));
    let expires = now.checked_add(wait).unwrap_or(Timestamp::MAX).as_millisecond();
    let state = State {
        id: Uuid::now_v7(),
        expires,
        once: answers.once(),
        value: answers,
    };
    let sealed = keys.seal(&state, bound).map_err(Unclosed::Seal)?;
    Ok(InputRequiredResult::new(Some(requests), Some(sealed)))
}

/// What a NEEDS INPUT answer says of the open questions, where nobody can be asked: by key the message and the schema,
/// so that the caller can pass it some other way.
pub(crate) fn needed(asking: &Asking) -> Vec<(String, String, Value)> {
    let parked = asking.parked();
    parked
        .into_iter()
        .map(|(key, (question, _))| {
            let schema = question.form().map_or(Value::Null, Form::schema);
            (key, question.message().to_owned(), schema)
        })
        .collect()
}
