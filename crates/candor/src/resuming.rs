//! A task taken up again after the process that ran it has ended: its tool runs anew, with the arguments as they came and
//! the answers so far.

use std::sync::Arc;

use futures_util::FutureExt;
use rmcp::model::{CallToolRequestParams, ErrorData};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use candor_core::contract::effect::EffectClass;
use candor_core::judgment::ending::Ending;

use crate::arguments::{Admission, admit};
use crate::asking::{Answers, Asking, Offers};
use crate::call::{Call, Inner};
use crate::calling::{Running, routed};
use crate::guard::computed_in;
use crate::principal::Principal;
use crate::server::Candor;
use crate::tasks::extension::Resume;
use crate::tasks::{End, Task, Way};

impl<S: ServerHandler> Candor<S> {
    /// How a task that rests is taken up by this request, whose caller answers what it wants.
    pub(crate) fn resume(&self, principal: &Principal, context: &RequestContext<RoleServer>) -> Resume {
        let (server, principal, context) = (self.clone(), principal.clone(), context.clone());
        Box::new(move |task, inside| {
            async move {
                match server.taken_up(task, principal, context).await {
                    Ok(running) => {
                        running
                            .in_task(inside, Answers::default(), Offers::default())
                            .await
                    }
                    Err(end) => end,
                }
            }
            .boxed()
        })
    }

    /// The call of a task as it would begin now: the tool may be gone, the caller's rights too, and a rule may know another
    /// day. Nothing was done before, so each of these is a refusal that changed nothing.
    async fn taken_up(
        &self,
        task: Task,
        principal: Principal,
        context: RequestContext<RoleServer>,
    ) -> Result<Running<S>, End> {
        let failed = |error: ErrorData| End::failed(&error);
        let name = task.tool.clone();
        let declaration = self.declared(&name).cloned().unwrap_or_default();
        let tool = self.find(&name, &context).await.map_err(failed)?;
        let Some(tool) = tool.filter(|_| declaration.is_seen_by(&principal)) else {
            return Err(failed(self.unknown(&name, &principal, &context).await));
        };
        declaration
            .permits(&principal)
            .map_err(|refused| failed(refused.into()))?;
        let compiled = self.shared.catalogue.of(&tool);
        let mut finish = self.finish(&tool, &declaration, &compiled, &context);
        finish.operation = task.operation;
        let given = Arc::new(
            task.arguments
                .unwrap_or_else(|| Value::Object(serde_json::Map::new())),
        );
        let now = (self.shared.clock)();
        let (schema, class) = (compiled.input.as_ref(), finish.class);
        let looked = || admit(schema, &declaration, class, &given, now, &principal);
        let ended = |result: rmcp::model::CallToolResult| End::of(Ok(result.into()), false);
        let arguments = match computed_in(finish.operation.uuid(), looked) {
            Ok(Admission::Admitted { coerced, disclosed }) => {
                finish.disclosed = disclosed;
                coerced.map_or_else(|| given.clone(), Arc::new)
            }
            Ok(Admission::Refused {
                issues,
                total,
                by_rule,
            }) => {
                return Err(ended(finish.authored(&Ending::BadInput {
                    issues,
                    total,
                    by_rule,
                    times: 1,
                })));
            }
            Err(_panicked) => return Err(ended(finish.broke())),
        };
        let mut request = CallToolRequestParams::new(name);
        request.arguments = given.as_object().cloned();
        let call = Call(Arc::new(Inner {
            operation: finish.operation,
            opened: now,
            principal,
            context,
            given,
            arguments,
            asking: Asking::nobody(),
        }));
        let request = routed(request, &call, &declaration);
        Ok(Running {
            server: self.clone(),
            request,
            call,
            finish,
            compiled,
            way: Way::Directly,
        })
    }
}

impl<S: ServerHandler> Running<S> {
    /// The arguments to keep with the call's task, where its tool may run again from its start: it changes nothing at all,
    /// or is declared to change nothing before its last question.
    pub(crate) fn kept_arguments(&self) -> Option<Value> {
        let declared = self.server.declared(&self.finish.tool);
        let may = self.finish.class == EffectClass::Read || declared.is_some_and(|declared| declared.resumes);
        may.then(|| self.call.given().clone())
    }
}
