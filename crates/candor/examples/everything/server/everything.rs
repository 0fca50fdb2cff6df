//! The server itself: tools of the library, and what the library leaves to rmcp.

#![expect(deprecated, reason = "legacy clients still subscribe and set a level")]

use std::sync::Arc;

use candor::tasks::{Limits, MemoryStore, TaskTerms, Tasks, system_clock};
use candor::{Builder, Candor};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CompletionInfo, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::fixtures::KEEP_MS;
use super::subscriptions::Subscriptions;
use super::{prompts, resources, tools};

/// What all sessions share.
#[derive(Clone)]
pub(super) struct Everything {
    pub(super) subscriptions: Arc<Subscriptions>,
    tools: Arc<ToolRouter<Self>>,
}

impl Everything {
    pub(super) fn new() -> Self {
        let tools = Self::content_tools()
            + Self::notifying_tools()
            + Self::question_tools()
            + Self::round_tools()
            + Self::schema_tools()
            + Self::task_tools();
        Self {
            subscriptions: Arc::default(),
            tools: Arc::new(tools),
        }
    }

    /// The server with what is declared of its tools.
    pub(super) fn declared() -> Builder<Self> {
        let store = Arc::new(MemoryStore::new(Limits::default()));
        let tasks = Tasks::new(store, system_clock(), TaskTerms::default());
        tools::declared(Candor::builder(Self::new())).tasks(tasks)
    }

    /// The tools, the plainest first: the suite calls whichever comes first, without arguments.
    fn listed(&self) -> Vec<Tool> {
        let mut tools = self.tools.list_all();
        tools.sort_by_key(|tool| tool.name != "test_simple_text");
        tools
    }
}

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_completions()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("everything", "1.0.0"))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.get(name).cloned()
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.listed())
            .with_ttl_ms(KEEP_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.tools
            .call(ToolCallContext::new(self, request, context))
            .await
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::list())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request)
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(resources::list())
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&request.uri).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let begun = request.argument.value;
        let known = ["paris", "park", "party"];
        let fitting = known
            .into_iter()
            .filter(|word| word.starts_with(&begun))
            .map(str::to_owned);
        let values = CompletionInfo::new(fitting.collect());
        Ok(CompleteResult::new(
            values.map_err(|fault| ErrorData::internal_error(fault, None))?,
        ))
    }

    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // Nothing here logs below the level `info`, the only one that the suite looks for.
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.watch(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.unwatch(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.subscriptions.keep(context).await;
        Ok(())
    }
}
