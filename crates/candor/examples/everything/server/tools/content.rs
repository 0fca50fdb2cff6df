//! Every kind of content, and an error.

use candor::Outcome;
use candor::outcome::Reason;
use rmcp::model::{AudioContent, ContentBlock};
use rmcp::{tool, tool_router};

use super::super::everything::Everything;
use super::super::fixtures::{IMAGE, SOUND, shown, text};

#[tool_router(router = content_tools, vis = "pub(in super::super)")]
impl Everything {
    #[tool(description = "Gives a text")]
    async fn test_simple_text(&self) -> Outcome<()> {
        shown([ContentBlock::text("This is a simple text response for testing.")])
    }

    #[tool(description = "Gives an image")]
    async fn test_image_content(&self) -> Outcome<()> {
        shown([ContentBlock::image(IMAGE, "image/png")])
    }

    #[tool(description = "Gives a sound")]
    async fn test_audio_content(&self) -> Outcome<()> {
        shown([ContentBlock::Audio(AudioContent::new(SOUND, "audio/wav"))])
    }

    #[tool(description = "Gives a resource")]
    async fn test_embedded_resource(&self) -> Outcome<()> {
        let about = "This is an embedded resource content.";
        shown([ContentBlock::resource(text(
            "test://embedded-resource",
            "text/plain",
            about,
        ))])
    }

    #[tool(description = "Gives a text, an image and a resource")]
    async fn test_multiple_content_types(&self) -> Outcome<()> {
        let data = r#"{"test":"data","value":123}"#;
        shown([
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(IMAGE, "image/png"),
            ContentBlock::resource(text("test://mixed-content-resource", "application/json", data)),
        ])
    }

    #[tool(description = "Always fails")]
    async fn test_error_handling(&self) -> Outcome<()> {
        Outcome::Failed(Reason::new("ALWAYS_FAILS", "this tool fails on purpose"))
    }
}
