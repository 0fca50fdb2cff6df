//! The tools.

use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::subscriptions::Subscriptions;

pub(super) fn list() -> Vec<Tool> {
    let empty = JsonObject::from_iter([("type".to_owned(), "object".into())]);
    vec![Tool::new("test_simple_text", "Gives a text", empty)]
}

pub(super) async fn call(
    _request: CallToolRequestParams,
    _context: RequestContext<RoleServer>,
    _subscriptions: &Subscriptions,
) -> Result<CallToolResponse, ErrorData> {
    let text = ContentBlock::text("This is a simple text response for testing.");
    Ok(CallToolResult::success(vec![text]).into())
}
