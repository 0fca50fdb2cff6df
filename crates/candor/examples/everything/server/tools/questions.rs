//! Questions that a legacy client is asked while the call runs. The same tools ask modern clients in rounds.

#![expect(
    deprecated,
    reason = "the specification gives sampling up; the suite still asks for it"
)]

use candor::asking::{Answer, Boolean, Choice, Choices, Form, Integer, Number, Text};
use candor::{Call, Halt, Outcome, Parameters};
use rmcp::model::{
    ContentBlock, CreateMessageRequest, CreateMessageRequestParams, InputRequest, SamplingMessage,
};
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::everything::Everything;
use super::super::fixtures::{shown, text_at};

/// What `test_sampling` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
struct Sampling {
    /// The prompt to send
    prompt: String,
}

/// What `test_elicitation` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
struct Elicitation {
    /// The message to show
    message: String,
}

/// Asks the client's model.
pub(super) fn sampling(prompt: &str) -> InputRequest {
    let messages = vec![SamplingMessage::user_text(prompt)];
    InputRequest::CreateMessage(CreateMessageRequest::new(CreateMessageRequestParams::new(
        messages, 100,
    )))
}

#[tool_router(router = question_tools, vis = "pub(in super::super)")]
impl Everything {
    #[tool(description = "Asks the client's model")]
    async fn test_sampling(
        &self,
        call: Call,
        Parameters(asked): Parameters<Sampling>,
    ) -> Result<Outcome<()>, Halt> {
        let answer = call.input("prompt", sampling(&asked.prompt)).await?;
        Ok(told(answer.map(|answer| {
            format!("LLM response: {}", text_at(&answer, "/content/text"))
        })))
    }

    #[tool(description = "Asks the user for a name and an address")]
    async fn test_elicitation(
        &self,
        call: Call,
        Parameters(asked): Parameters<Elicitation>,
    ) -> Result<Outcome<()>, Halt> {
        let form = Form::new(asked.message)
            .required("username", Text::new().description("User's response"))
            .required("email", Text::new().description("User's email address"));
        let answer = call.ask("user", &form).await?;
        Ok(told(answer.map(|answer| format!("User response: {answer}"))))
    }

    #[tool(description = "Asks with defaults")]
    async fn test_elicitation_sep1034_defaults(&self, call: Call) -> Result<Outcome<()>, Halt> {
        let form = Form::new("Everything has a default.")
            .optional(
                "name",
                Text::new().description("User's name").with_default("John Doe"),
            )
            .optional("age", Integer::new().description("User's age").with_default(30))
            .optional(
                "score",
                Number::new().description("User's score").with_default(95.5),
            )
            .optional(
                "status",
                Choice::of(["active", "inactive", "pending"]).with_default("active"),
            )
            .optional(
                "verified",
                Boolean::new()
                    .description("Is the user verified?")
                    .with_default(true),
            );
        let answer = call.ask("defaults", &form).await?;
        Ok(told(answer.map(|answer| {
            format!("Elicitation completed: action=accept, content={answer}")
        })))
    }

    #[tool(description = "Asks with every shape of a choice")]
    async fn test_elicitation_sep1330_enums(&self, call: Call) -> Result<Outcome<()>, Halt> {
        let plain = ["option1", "option2", "option3"];
        let titled = |word: &'static str| {
            let numbers = [("value1", "First"), ("value2", "Second"), ("value3", "Third")];
            numbers.map(|(value, number)| (value, format!("{number} {word}")))
        };
        let named = [
            ("opt1", "Option One"),
            ("opt2", "Option Two"),
            ("opt3", "Option Three"),
        ];
        let form = Form::new("Every shape of a choice.")
            .optional("untitledSingle", Choice::of(plain))
            .optional("titledSingle", Choice::titled(titled("Option")))
            .optional("legacyEnum", Choice::enum_names(named))
            .optional("untitledMulti", Choices::of(plain))
            .optional("titledMulti", Choices::titled(titled("Choice")));
        let answer = call.ask("choices", &form).await?;
        Ok(told(answer.map(|answer| {
            format!("Elicitation completed: action=accept, content={answer}")
        })))
    }
}

/// What was answered, or which of the other ends it was.
pub(super) fn told(answer: Answer<String>) -> Outcome<()> {
    match answer.or_reason() {
        Ok(text) => shown([ContentBlock::text(text)]),
        Err(reason) => Outcome::Rejected(reason),
    }
}

/// Whether all was answered, or which of the other ends the first of the rest was.
pub(super) fn received<const N: usize>(answers: [Answer; N], text: &str) -> Outcome<()> {
    match answers.into_iter().find_map(|answer| answer.or_reason().err()) {
        Some(reason) => Outcome::Rejected(reason),
        None => shown([ContentBlock::text(text)]),
    }
}
