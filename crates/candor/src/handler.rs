//! The wrapper as the server that rmcp serves. Tool calls are [`crate::calling`]'s; everything else is passed on behind a
//! guard. A method that is missing here would silently be rmcp's default: a test counts them.

use std::borrow::Cow;

use candor_core::call::request::BadCall;
use candor_core::judgment::ending::Ending;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
    CompleteRequestParams, CompleteResult, CustomNotification, CustomRequest, CustomResult, DiscoverResult,
    GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams, GetSkillResult, GetTaskParams,
    GetTaskResult, InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ReadResourceDirectoryRequestParams,
    ReadResourceDirectoryResult, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use uuid::Uuid;

use crate::guard::{answered, computed, heard, masked};
use crate::server::Candor;
use crate::tasks::{extension, legacy};

/// Passes requests on.
macro_rules! pass {
    ($($name:ident($params:ty) -> $result:ty;)*) => {
        $(async fn $name(
            &self,
            request: $params,
            context: RequestContext<RoleServer>,
        ) -> Result<$result, ErrorData> {
            answered(async {
                // Who has no business here learns nothing of what else there is, either.
                self.caller(&context)?;
                self.inner.$name(request, context).await
            })
            .await
        })*
    };
}

/// Passes notifications on.
macro_rules! pass_notification {
    ($($name:ident($params:ty);)*) => {
        $(async fn $name(&self, notification: $params, context: NotificationContext<RoleServer>) {
            heard(async { self.inner.$name(notification, context).await }).await;
        })*
    };
}

#[expect(
    deprecated,
    reason = "set_level, subscribe and unsubscribe are: clients before 2026-07-28 have nothing else"
)]
impl<S: ServerHandler> ServerHandler for Candor<S> {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        answered(Box::pin(async { self.call(request, context).await })).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        answered(async {
            let principal = self.caller(&context)?;
            let mut list = self.inner.list_tools(request, context.clone()).await?;
            list.tools.retain(|tool| {
                self.declared(&tool.name)
                    .is_none_or(|declared| declared.is_seen_by(&principal))
            });
            if list.next_cursor.is_none() {
                // A server's own tool of such a name is the one that is called.
                let own = |name: &str| list.tools.iter().any(|tool| tool.name == name);
                let more: Vec<Tool> = self
                    .task_tools(&context)
                    .into_iter()
                    .filter(|tool| !own(&tool.name))
                    .collect();
                list.tools.extend(more);
            }
            if self.shared.tasks.is_some() {
                for tool in &mut list.tools {
                    let support = self.declared(&tool.name).map(|declared| declared.tasks);
                    legacy::announce_tool(tool, support.unwrap_or_default(), &context);
                }
            }
            Ok(list)
        })
        .await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // rmcp could not read it: a `tools/call` without a name, or whose arguments are no object.
        if request.method == "tools/call" {
            return Err(self.malformed(request.params.as_ref(), &context));
        }
        answered(async {
            let principal = self.caller(&context)?;
            if let Some(tasks) = &self.shared.tasks {
                let resume = || self.resume(&principal, &context);
                if let Some(answer) =
                    legacy::on_custom_request(tasks, &principal, &request, &context, Some(&resume)).await
                {
                    return answer;
                }
            }
            self.inner.on_custom_request(request, context).await
        })
        .await
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        answered(async {
            let mut result = self.inner.initialize(request, context.clone()).await?;
            if self.shared.tasks.is_some() {
                let principal = self.caller(&context)?;
                legacy::announce(&mut result, &principal, &context);
            }
            Ok(result)
        })
        .await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        answered(async {
            let Some(tasks) = &self.shared.tasks else {
                return self.inner.get_task(request, context).await;
            };
            extension::get_task(tasks, &self.caller(&context)?, &request).await
        })
        .await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        answered(async {
            let Some(tasks) = &self.shared.tasks else {
                return self.inner.update_task(request, context).await;
            };
            let principal = self.caller(&context)?;
            let resume = self.resume(&principal, &context);
            extension::update_task(tasks, &principal, &request, Some(resume)).await
        })
        .await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        answered(async {
            let Some(tasks) = &self.shared.tasks else {
                return self.inner.cancel_task(request, context).await;
            };
            extension::cancel_task(tasks, &self.caller(&context)?, &request).await
        })
        .await
    }

    pass! {
        complete(CompleteRequestParams) -> CompleteResult;
        set_level(rmcp::model::SetLevelRequestParams) -> ();
        get_prompt(GetPromptRequestParams) -> GetPromptResponse;
        list_prompts(Option<PaginatedRequestParams>) -> ListPromptsResult;
        list_resources(Option<PaginatedRequestParams>) -> ListResourcesResult;
        list_resource_templates(Option<PaginatedRequestParams>) -> ListResourceTemplatesResult;
        read_resource(ReadResourceRequestParams) -> ReadResourceResponse;
        subscribe(SubscribeRequestParams) -> ();
        unsubscribe(UnsubscribeRequestParams) -> ();
        list_skills(Option<PaginatedRequestParams>) -> ListSkillsResult;
        get_skill(GetSkillRequestParams) -> GetSkillResult;
        read_resource_directory(ReadResourceDirectoryRequestParams) -> ReadResourceDirectoryResult;
    }

    pass_notification! {
        on_cancelled(CancelledNotificationParam);
        on_progress(ProgressNotificationParam);
        on_custom_notification(CustomNotification);
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        heard(async { self.inner.on_initialized(context).await }).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        heard(async { self.inner.on_roots_list_changed(context).await }).await;
    }

    async fn ping(&self, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        answered(async { self.inner.ping(context).await }).await
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        answered(async {
            let mut result = self.inner.discover(context).await?;
            if self.shared.tasks.is_some() {
                extension::announce(&mut result.capabilities);
            }
            Ok(result)
        })
        .await
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        answered(async { self.inner.listen(context).await }).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        computed(|| self.inner.accepted_subscription_filter(requested)).flatten()
    }

    fn negotiate_initialize(&self, request: &InitializeRequestParams) -> Result<InitializeResult, ErrorData> {
        computed(|| self.inner.negotiate_initialize(request)).unwrap_or_else(|| Err(masked(Uuid::now_v7())))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        computed(|| self.inner.supported_protocol_versions())
            .unwrap_or(Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        computed(|| self.inner.get_tool(name)).flatten()
    }

    fn get_info(&self) -> ServerConfig {
        let mut info = computed(|| self.inner.get_info()).unwrap_or_default();
        if self.shared.tasks.is_some() {
            extension::announce(&mut info.capabilities);
        }
        info
    }
}

impl<S: ServerHandler> Candor<S> {
    fn malformed(&self, params: Option<&Value>, context: &RequestContext<RoleServer>) -> ErrorData {
        let why = why_malformed(params);
        let name = params
            .and_then(|params| params.get("name")?.as_str())
            .unwrap_or_default();
        let code = why.rpc_code();
        let ending = Ending::Malformed {
            why: why.to_string(),
            rpc_code: code,
        };
        self.bare(name, context)
            .refused(i32::try_from(code).unwrap_or(-32602), &ending)
    }
}

fn why_malformed(params: Option<&Value>) -> BadCall {
    match params {
        None | Some(Value::Null) => BadCall::NoParams,
        Some(Value::Object(members)) => match members.get("name") {
            None => BadCall::NoName,
            Some(Value::String(_)) => BadCall::BadArguments,
            Some(_) => BadCall::BadName,
        },
        Some(_) => BadCall::BadParams,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_malformed_is_named() {
        let cases = [
            (None, BadCall::NoParams),
            (Some(json!(null)), BadCall::NoParams),
            (Some(json!([])), BadCall::BadParams),
            (Some(json!({ "arguments": {} })), BadCall::NoName),
            (Some(json!({ "name": 7 })), BadCall::BadName),
            (
                Some(json!({ "name": "book", "arguments": "{}" })),
                BadCall::BadArguments,
            ),
        ];
        for (params, expected) in cases {
            assert_eq!(
                why_malformed(params.as_ref()).to_string(),
                expected.to_string(),
                "{params:?}"
            );
        }
    }
}
