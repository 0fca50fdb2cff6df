//! Prompts. The library leaves them alone; one asks for input by the means of rmcp itself.

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, ImageContent,
    InputRequests, InputRequiredResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role,
};

use super::fixtures::{IMAGE, KEEP_MS, question, text_at};

/// All prompts.
pub(super) fn list() -> ListPromptsResult {
    let arguments = vec![
        PromptArgument::new("arg1")
            .with_description("First test argument")
            .with_required(true),
        PromptArgument::new("arg2")
            .with_description("Second test argument")
            .with_required(false),
    ];
    let plain = |name: &str, about: &str| Prompt::new(name, Some(about), None);
    ListPromptsResult::with_all_items(vec![
        plain("test_simple_prompt", "A prompt without arguments"),
        Prompt::new(
            "test_prompt_with_arguments",
            Some("A prompt that takes arguments"),
            Some(arguments),
        ),
        plain(
            "test_prompt_with_embedded_resource",
            "A prompt with an embedded resource",
        ),
        plain("test_prompt_with_image", "A prompt with an image"),
        plain(
            "test_input_required_result_prompt",
            "A prompt that asks the user first",
        ),
    ])
    .with_ttl_ms(KEEP_MS)
    .with_cache_scope(CacheScope::Public)
}

/// One prompt.
pub(super) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        let arguments = request.arguments.as_ref();
        arguments
            .and_then(|all| all.get(name))
            .and_then(|value| value.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let says = |text: String| PromptMessage::new_text(Role::User, text);
    let messages = match request.name.as_str() {
        "test_simple_prompt" => vec![says("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1"), argument("arg2"));
            vec![says(format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
        }
        "test_prompt_with_embedded_resource" => vec![
            PromptMessage::new_resource(
                Role::User,
                argument("resourceUri"),
                Some("text/plain".to_owned()),
                Some("Embedded resource content for testing.".to_owned()),
                None,
                None,
                None,
            ),
            says("Please process the embedded resource above.".to_owned()),
        ],
        "test_prompt_with_image" => vec![
            PromptMessage::new(
                Role::User,
                ContentBlock::Image(ImageContent::new(IMAGE, "image/png")),
            ),
            says("Please analyze the image above.".to_owned()),
        ],
        "test_input_required_result_prompt" => return asked(request),
        other => {
            return Err(ErrorData::invalid_params(
                format!("there is no prompt {other}"),
                None,
            ));
        }
    };
    Ok(GetPromptResult::new(messages).into())
}

/// The prompt that asks the user for what it is about.
fn asked(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let answers = request.input_responses.as_ref();
    let Some(answer) = answers
        .and_then(|all| all.get("user_context"))
        .filter(|answer| answer.is_object())
    else {
        let question = question("What context should the prompt use?", "context")?;
        let requests = InputRequests::from([("user_context".into(), question)]);
        return Ok(InputRequiredResult::from_input_requests(requests).into());
    };
    let context = text_at(answer, "/content/context");
    let message = PromptMessage::new_text(Role::User, format!("Prompt with context: {context}"));
    Ok(GetPromptResult::new(vec![message]).into())
}
