//! Tools that may run as tasks, or must.

use std::time::Duration;

use candor::asking::{Boolean, Form, Text};
use candor::tasks::TaskSupport;
use candor::{Builder, Call, Declaration, Effect, Halt, Outcome, Parameters, Reason};
use rmcp::model::ContentBlock;
use rmcp::{ErrorData, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

use super::super::everything::Everything;
use super::super::fixtures::{at, shown, text_at};
use super::questions::{received, told};

/// The longest that `slow_compute` computes.
const LONGEST: f64 = 60.0;

/// What `greet` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
struct Greet {
    name: String,
}

/// What `slow_compute` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
struct Compute {
    /// How long it takes
    seconds: Option<f64>,
    label: Option<String>,
}

/// What `confirm_delete` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
struct Delete {
    filename: Option<String>,
}

/// What is declared of these tools: which may run as tasks, and which only so.
pub(in super::super) fn declared(builder: Builder<Everything>) -> Builder<Everything> {
    let only = ["failing_job", "confirm_delete", "multi_input"];
    let may = ["slow_compute", "protocol_error_job"];
    let builder = only.into_iter().fold(builder, |builder, name| {
        builder.tool(name, Declaration::writes().task(TaskSupport::Required))
    });
    let builder = may.into_iter().fold(builder, |builder, name| {
        builder.tool(name, Declaration::writes().task(TaskSupport::Optional))
    });
    builder.tool("test_tool_with_task", Declaration::writes().task_where_it_says())
}

#[tool_router(router = task_tools, vis = "pub(in super::super)")]
impl Everything {
    #[tool(description = "Greets at once")]
    async fn greet(&self, Parameters(greet): Parameters<Greet>) -> Outcome<()> {
        shown([ContentBlock::text(format!("Hello, {}!", greet.name))])
    }

    #[tool(description = "Computes for a while")]
    async fn slow_compute(&self, call: Call, Parameters(compute): Parameters<Compute>) -> Outcome<()> {
        let seconds = compute.seconds.unwrap_or(1.0).clamp(0.0, LONGEST);
        let label = compute.label.as_deref().unwrap_or("compute");
        tokio::select! {
            () = sleep(Duration::from_secs_f64(seconds)) => {
                shown([ContentBlock::text(format!("{label} took {seconds} s"))])
            }
            () = call.stopped() => Outcome::Failed(
                Reason::new("STOPPED", "the computation was stopped").effect(Effect::NotApplied),
            ),
        }
    }

    #[tool(description = "Fails after a second")]
    async fn failing_job(&self) -> Outcome<()> {
        sleep(Duration::from_secs(1)).await;
        Outcome::Failed(Reason::new("ALWAYS_FAILS", "this job fails on purpose"))
    }

    #[tool(description = "Ends with an error of the protocol")]
    async fn protocol_error_job(&self) -> Result<Outcome<()>, ErrorData> {
        sleep(Duration::from_millis(200)).await;
        Err(ErrorData::internal_error("this job ends so on purpose", None))
    }

    #[tool(description = "Asks before it deletes")]
    async fn confirm_delete(
        &self,
        call: Call,
        Parameters(delete): Parameters<Delete>,
    ) -> Result<Outcome<()>, Halt> {
        let file = delete.filename.as_deref().unwrap_or("file.txt");
        let form = Form::new(format!("Delete {file}?")).required("confirm", Boolean::new());
        let answer = call.ask("confirm", &form).await?;
        Ok(told(answer.map(|answer| {
            format!("{file}: confirmed is {}", at(&answer, "/confirm"))
        })))
    }

    #[tool(description = "Asks two things at once")]
    async fn multi_input(&self, call: Call) -> Result<Outcome<()>, Halt> {
        let first = Form::new("The first value?").optional("value", Text::new());
        let second = Form::new("The second value?").optional("value", Text::new());
        let questions = [("input-a", (&first).into()), ("input-b", (&second).into())];
        let [one, other] = call.ask_all(questions).await?;
        Ok(received([one, other], "Both values were received."))
    }

    #[tool(description = "Asks in a round, then goes on as a task")]
    async fn test_tool_with_task(&self, call: Call) -> Result<Outcome<()>, Halt> {
        let form = Form::new("What is your name?").required("name", Text::new());
        let answer = call.ask("user_name", &form).await?;
        call.as_task().await?;
        sleep(Duration::from_millis(200)).await;
        Ok(told(answer.map(|answer| {
            format!("Hello, {}! (as a task)", text_at(&answer, "/name"))
        })))
    }
}
