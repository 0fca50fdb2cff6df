//! Questions in rounds: what a modern client is asked between two runs of a tool.

#![expect(
    deprecated,
    reason = "the specification gives sampling and roots up; the suite still asks for them"
)]

use candor::asking::{Boolean, Form, Means, Text};
use candor::{Call, Halt, Outcome};
use rmcp::model::{ClientCapabilities, ContentBlock, InputRequest, ListRootsRequest};
use rmcp::{ErrorData, tool, tool_router};

use super::super::everything::Everything;
use super::super::fixtures::{at, shown, text_at};
use super::questions::{received, sampling, told};

/// A form with one text.
fn one_text(message: &str, name: &str) -> Form {
    Form::new(message).required(name, Text::new())
}

fn who() -> Form {
    one_text("What is your name?", "name")
}

fn roots() -> InputRequest {
    InputRequest::ListRoots(ListRootsRequest::default())
}

/// Asks for a yes and says that the state it came with was whole.
async fn confirmed(call: &Call) -> Result<Outcome<()>, Halt> {
    let form = Form::new("Please confirm").required("ok", Boolean::new());
    let answer = call.ask("confirm", &form).await?;
    Ok(told(answer.map(|_| "Confirmed: state-ok".to_owned())))
}

#[tool_router(router = round_tools, vis = "pub(in super::super)")]
impl Everything {
    #[tool(description = "Asks for a name")]
    async fn test_input_required_result_elicitation(&self, call: Call) -> Result<Outcome<()>, Halt> {
        let answer = call.ask("user_name", &who()).await?;
        Ok(told(
            answer.map(|answer| format!("Hello, {}!", text_at(&answer, "/name"))),
        ))
    }

    #[tool(description = "Asks the client's model for a capital")]
    async fn test_input_required_result_sampling(&self, call: Call) -> Result<Outcome<()>, Halt> {
        let answer = call
            .input("capital_question", sampling("What is the capital of France?"))
            .await?;
        Ok(told(answer.map(|answer| {
            format!("The model said: {}", text_at(&answer, "/content/text"))
        })))
    }

    #[tool(description = "Asks for the client's roots")]
    async fn test_input_required_result_list_roots(&self, call: Call) -> Result<Outcome<()>, Halt> {
        let answer = call.input("client_roots", roots()).await?;
        Ok(told(answer.map(|answer| {
            format!("The roots are {}", at(&answer, "/roots"))
        })))
    }

    #[tool(description = "Asks for a yes, with sealed state")]
    async fn test_input_required_result_request_state(&self, call: Call) -> Result<Outcome<()>, Halt> {
        confirmed(&call).await
    }

    #[tool(description = "Asks for a yes, and refuses state that was tampered with")]
    async fn test_input_required_result_tampered_state(&self, call: Call) -> Result<Outcome<()>, Halt> {
        confirmed(&call).await
    }

    #[tool(description = "Asks three things in one round")]
    async fn test_input_required_result_multiple_inputs(&self, call: Call) -> Result<Outcome<()>, Halt> {
        let (who, greeting) = (who(), sampling("Generate a greeting"));
        let questions = [
            ("user_name", (&who).into()),
            ("greeting", greeting.into()),
            ("client_roots", roots().into()),
        ];
        let [name, greeting, roots] = call.ask_all(questions).await?;
        Ok(received([name, greeting, roots], "All inputs were received."))
    }

    #[tool(description = "Asks in two rounds")]
    async fn test_input_required_result_multi_round(&self, call: Call) -> Result<Outcome<()>, Halt> {
        let name = call.ask("step1", &one_text("What is your name?", "name")).await?;
        let name = match name.or_reason() {
            Ok(name) => name,
            Err(reason) => return Ok(Outcome::Rejected(reason)),
        };
        let color = call
            .ask("step2", &one_text("What is your favourite colour?", "color"))
            .await?;
        Ok(told(color.map(|color| {
            format!("{} likes {}", text_at(&name, "/name"), text_at(&color, "/color"))
        })))
    }

    #[tool(description = "Asks only what the client can be asked")]
    async fn test_input_required_result_capabilities(&self, call: Call) -> Result<Outcome<()>, Halt> {
        if call.can_ask(Means::Form) {
            let _ = call.ask("user_name", &who()).await?;
        }
        if call.can_ask(Means::Sampling) {
            let _ = call.input("greeting", sampling("Generate a greeting")).await?;
        }
        if call.can_ask(Means::Roots) {
            let _ = call.input("client_roots", roots()).await?;
        }
        Ok(shown([ContentBlock::text("What could be asked was asked.")]))
    }

    #[tool(description = "Asks for a value")]
    async fn test_streaming_elicitation(&self, call: Call) -> Result<Outcome<()>, Halt> {
        let answer = call
            .ask("streaming_elicitation", &one_text("Provide a value", "value"))
            .await?;
        Ok(told(answer.map(|answer| {
            format!("The value is {}", text_at(&answer, "/value"))
        })))
    }

    #[tool(description = "Can't do without the client's model")]
    async fn test_missing_capability(&self, call: Call) -> Result<Outcome<()>, ErrorData> {
        if !call.can_ask(Means::Sampling) {
            let missing = ClientCapabilities::builder().enable_sampling().build();
            return Err(ErrorData::missing_required_client_capability(missing));
        }
        Ok(shown([ContentBlock::text("The client has a model.")]))
    }
}
