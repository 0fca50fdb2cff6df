//! What a server says while a call runs, and to those who listen.

use std::time::Duration;

use candor::Level;
use candor::{Call, Outcome};
use rmcp::model::ContentBlock;
use rmcp::{tool, tool_router};
use serde_json::json;
use tokio::time::sleep;

use super::super::everything::Everything;
use super::super::fixtures::shown;

/// The suite wants its notifications apart.
const APART: Duration = Duration::from_millis(50);

#[tool_router(router = notifying_tools, vis = "pub(in super::super)")]
impl Everything {
    #[tool(description = "Logs three messages while it runs")]
    async fn test_tool_with_logging(&self, call: Call) -> Outcome<()> {
        for message in [
            "Tool execution started",
            "Tool processing data",
            "Tool execution completed",
        ] {
            call.log(Level::Info, json!(message)).await;
            sleep(APART).await;
        }
        shown([ContentBlock::text("Three messages were logged.")])
    }

    #[tool(description = "Logs one message, to a client that asked for messages")]
    async fn test_logging_tool(&self, call: Call) -> Outcome<()> {
        call.log(Level::Info, json!("This client asked for messages."))
            .await;
        shown([ContentBlock::text("Done.")])
    }

    #[tool(description = "Reports how far it is")]
    async fn test_tool_with_progress(&self, call: Call) -> Outcome<()> {
        for done in [0.0, 50.0, 100.0] {
            call.progress(done, Some(100.0), None).await;
            sleep(APART).await;
        }
        shown([ContentBlock::text("Progress was reported.")])
    }

    #[tool(description = "Takes a moment")]
    async fn test_reconnection(&self) -> Outcome<()> {
        sleep(2 * APART).await;
        shown([ContentBlock::text("The moment is over.")])
    }

    #[tool(description = "Tells everybody who listens that the list of tools changed")]
    async fn test_trigger_tool_change(&self) -> Outcome<()> {
        for sink in self.subscriptions.sinks() {
            // Who has gone needs no notice.
            let _ = sink.notify_tool_list_changed().await;
        }
        shown([ContentBlock::text("Told.")])
    }

    #[tool(description = "Tells everybody who listens that the list of prompts changed")]
    async fn test_trigger_prompt_change(&self) -> Outcome<()> {
        for sink in self.subscriptions.sinks() {
            let _ = sink.notify_prompt_list_changed().await;
        }
        shown([ContentBlock::text("Told.")])
    }
}
