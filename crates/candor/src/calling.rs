//! One `tools/call`, from the request to the result. The steps in their order are in [`Candor::call`].

use std::sync::Arc;

use candor_core::arguments::nearest;
use candor_core::contract::effect::{EffectClass, class_from_annotations};
use candor_core::judgment::ending::Ending;
use candor_core::names::OperationId;
use candor_core::wire::revision::Revision;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, PaginatedRequestParams,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::arguments::{Admission, Issue, admit};
use crate::call::{Call, Inner};
use crate::catalogue::Compiled;
use crate::declaration::Declaration;
use crate::event::Event;
use crate::finish::{Finish, claimed};
use crate::guard::{computed, computed_in, guarded, masked};
use crate::parameters::{RMCP_REFUSAL, of_rmcp, plain_numbers};
use crate::principal::Principal;
use crate::said::{Said, Slot, listening};
use crate::seal::Bound;
use crate::server::Candor;
use crate::tasks::{Way, legacy};

/// Most pages of a list that are followed to find a tool; a server that never ends its list must end somewhere.
const PAGES: usize = 1000;
/// Most near names told for an unknown tool.
const NEAREST: usize = 3;
/// The JSON-RPC code for parameters that are wrong.
const INVALID_PARAMS: i32 = ErrorCode::INVALID_PARAMS.0;

/// A call that may run, with all that its tool and its result need. It can be run anywhere: here, or in a task.
pub(crate) struct Running<S> {
    pub(crate) server: Candor<S>,
    pub(crate) request: CallToolRequestParams,
    pub(crate) call: Call,
    pub(crate) finish: Finish,
    pub(crate) compiled: Arc<Compiled>,
    /// Directly, or as which kind of task.
    pub(crate) way: Way,
}

/// How a run ended.
pub(crate) enum Ran {
    /// With an answer for the caller: a result, a protocol error of the tool's own, or a refusal.
    Answered(Box<Result<CallToolResponse, ErrorData>>),
    /// It stopped because the call goes on elsewhere.
    Halted,
}

impl Ran {
    fn answered(answer: Result<CallToolResponse, ErrorData>) -> Self {
        Self::Answered(Box::new(answer))
    }
}

impl<S: ServerHandler> Candor<S> {
    /// Answers one `tools/call`, and tells the witness what became of it.
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        let principal = self.caller(&context);
        let known = principal.as_ref().ok().cloned();
        let answer = match principal {
            Ok(principal) => self.call_of(principal, request, context).await,
            Err(refused) => Err(refused),
        };
        if let Some(witness) = &self.shared.witness {
            // A witness that panics must not take the answer with it: the tool has run.
            let told = || witness(&Event::of((self.shared.clock)(), name, known, &answer));
            let _ = computed(told);
        }
        answer
    }

    /// Who makes this request.
    ///
    /// # Errors
    ///
    /// The credential does not count; finding out broke, which is masked. Nothing runs then.
    pub(crate) fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Principal, ErrorData> {
        let found = computed_in(Uuid::now_v7(), || self.shared.principals.of(context));
        found
            .map_err(|panicked| masked(panicked.correlation))?
            .map_err(ErrorData::from)
    }

    /// Answers one `tools/call` of a caller that is known.
    async fn call_of(
        &self,
        principal: Principal,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        let declaration = self.shared.declared.get(&name).cloned().unwrap_or_default();
        let tool = match self.find(&name, &context).await? {
            Some(tool) if declaration.is_seen_by(&principal) => tool,
            _ => {
                return match self.task_tool(&request, &principal, &context).await {
                    Some(result) => Ok(result.into()),
                    None => Err(self.unknown(&name, &principal, &context).await),
                };
            }
        };
        declaration.permits(&principal)?;
        let way = self.way(&declaration, &context)?;
        let compiled = self.shared.catalogue.of(&tool);
        let mut finish = self.finish(&tool, &declaration, &compiled, &context);
        let given = Arc::new(Value::Object(request.arguments.clone().unwrap_or_default()));
        let now = (self.shared.clock)();
        let schema = compiled.input.as_ref();
        let class = finish.class;
        let looked = || admit(schema, &declaration, class, &given, now, &principal);
        let Ok(admission) = computed_in(finish.operation.uuid(), looked) else {
            return Ok(finish.broke().into());
        };
        let arguments = match admission {
            Admission::Refused {
                issues,
                total,
                by_rule,
            } => {
                return Ok(finish
                    .authored(&Ending::BadInput {
                        issues,
                        total,
                        by_rule,
                        times: 1,
                    })
                    .into());
            }
            Admission::Admitted { coerced, disclosed } => {
                finish.disclosed = disclosed;
                coerced.map_or_else(|| given.clone(), Arc::new)
            }
        };
        let bound = Bound::to_call(&name, &principal, &given);
        let asking = self.asking(&request, &context, &bound, now).await?;
        // A caller of 2025-11-25 says with the request that it is to be a task; the others are told by the answer.
        let later = declaration.task_later && way == Way::Extension;
        let asking = if later { asking.can_become_task() } else { asking };
        let call = Call(Arc::new(Inner {
            operation: finish.operation,
            opened: now,
            principal,
            context,
            given,
            arguments,
            asking,
        }));
        let request = routed(request, &call, &declaration);
        let running = Running {
            server: self.clone(),
            request,
            call,
            finish,
            compiled,
            way,
        };
        match &self.shared.tasks {
            Some(tasks) if way != Way::Directly && !later => running.start(tasks).await,
            _ => running.go().await,
        }
    }

    /// The tool as this caller sees it: from the server where it knows single tools, else from its list.
    pub(crate) async fn find(
        &self,
        name: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Tool>, ErrorData> {
        if let Some(tool) = self.inner.get_tool(name) {
            return Ok(Some(tool));
        }
        let listed = self.listed(context, Some(name)).await?;
        Ok(listed.into_iter().find(|tool| tool.name == name))
    }

    /// The server's own list for this caller, as far as the page that has the tool `until`.
    async fn listed(
        &self,
        context: &RequestContext<RoleServer>,
        until: Option<&str>,
    ) -> Result<Vec<Tool>, ErrorData> {
        let mut tools = Vec::new();
        let mut page = None;
        for _ in 0..PAGES {
            let list = self.inner.list_tools(page.take(), context.clone()).await?;
            let found = until.is_some_and(|name| list.tools.iter().any(|tool| tool.name == name));
            tools.extend(list.tools);
            match list.next_cursor {
                Some(next) if !found => {
                    page = Some(PaginatedRequestParams::default().with_cursor(Some(next)));
                }
                _ => break,
            }
        }
        Ok(tools)
    }

    /// The refusal of a tool that this caller has not, with the nearest names among those it has.
    pub(crate) async fn unknown(
        &self,
        name: &str,
        principal: &Principal,
        context: &RequestContext<RoleServer>,
    ) -> ErrorData {
        let listed = self.listed(context, None).await.unwrap_or_default();
        let seen: Vec<&str> = listed
            .iter()
            .map(|tool| tool.name.as_ref())
            .filter(|name| {
                self.declared(name)
                    .is_none_or(|declared| declared.is_seen_by(principal))
            })
            .collect();
        let nearest = nearest::values(name, &seen, NEAREST);
        let nearest = nearest
            .into_iter()
            .filter_map(|index| seen.get(index))
            .map(ToString::to_string);
        let finish = self.bare(name, context);
        finish.refused(
            INVALID_PARAMS,
            &Ending::UnknownTool {
                nearest: nearest.collect(),
            },
        )
    }

    pub(crate) fn declared(&self, name: &str) -> Option<&Declaration> {
        self.shared.declared.get(name)
    }

    pub(crate) fn finish(
        &self,
        tool: &Tool,
        declaration: &Declaration,
        compiled: &Arc<Compiled>,
        context: &RequestContext<RoleServer>,
    ) -> Finish {
        Finish {
            class: class(tool, declaration),
            promises_structure: tool.output_schema.is_some(),
            compiled: Some(compiled.clone()),
            takes_acceptance: tool.output_schema.is_none() || compiled.takes_acceptance(),
            ..self.bare(&tool.name, context)
        }
    }

    /// For a call that has no tool.
    pub(crate) fn bare(&self, tool: &str, context: &RequestContext<RoleServer>) -> Finish {
        let version = context.protocol_version();
        Finish {
            operation: OperationId::new(Uuid::now_v7()),
            server: computed(|| self.inner.get_info().server_info.name).unwrap_or_default(),
            tool: tool.to_owned(),
            class: EffectClass::Write,
            revision: version
                .and_then(|version| Revision::parse(version.as_str()))
                .unwrap_or(Revision::V2025_11_25),
            promises_structure: false,
            takes_acceptance: true,
            secrets: self.shared.secrets.clone(),
            compiled: None,
            disclosed: Vec::new(),
        }
    }
}

/// The author's declaration counts, else the author's annotations: in a server's own process both are its own word.
fn class(tool: &Tool, declaration: &Declaration) -> EffectClass {
    let annotated = || {
        let annotations = serde_json::to_value(tool.annotations.as_ref()?).ok()?;
        class_from_annotations(&annotations)
    };
    declaration.class.or_else(annotated).unwrap_or(EffectClass::Write)
}

/// The request as the server gets it: checked arguments, with numbers that rmcp's own extractor can read.
pub(crate) fn routed(
    mut request: CallToolRequestParams,
    call: &Call,
    declaration: &Declaration,
) -> CallToolRequestParams {
    let mut arguments = call.arguments().clone();
    if !declaration.exact_numbers {
        plain_numbers(&mut arguments);
    }
    let absent = request.arguments.is_none();
    request.arguments = match arguments {
        Value::Object(members) if !(absent && members.is_empty()) => Some(members),
        _ => request.arguments.map(|_| Map::new()),
    };
    request
}

impl<S: ServerHandler> Running<S> {
    /// Runs the call here, as far as it goes.
    pub(crate) async fn go(&self) -> Result<CallToolResponse, ErrorData> {
        match self.run().await {
            Ran::Answered(answer) => *answer,
            Ran::Halted => self.halted().await,
        }
    }

    /// Runs the tool once, behind the guard, and finishes what it says. Can be run again: a round of questions does.
    pub(crate) async fn run(&self) -> Ran {
        let slot = Arc::new(Slot::default());
        let mut context = self.call.context().clone();
        context.extensions.insert(self.call.clone());
        let request = self.request.clone();
        let correlation = self.finish.operation.uuid();
        // The future is made inside: a panic before the first await is caught too.
        let tool = async { self.server.inner.call_tool(request, context).await };
        let answer = match guarded(correlation, listening(slot.clone(), tool)).await {
            Ok(answer) => answer,
            Err(_panicked) => return self.said(Said::Broke),
        };
        match answer {
            Ok(CallToolResponse::Complete(mut result)) => match slot.of_meta(&mut result.meta) {
                Some(said) => self.said(said),
                None => self.plain(result),
            },
            // A round or a task of the tool's own making.
            Ok(other) => Ran::answered(Ok(other)),
            Err(error) => self.error(error, &slot),
        }
    }

    fn said(&self, said: Said) -> Ran {
        let finish = &self.finish;
        let result = match said {
            Said::Outcome(facts) => finish.told(*facts),
            Said::Issues(issues) => self.unreadable(issues),
            Said::Broke => finish.broke(),
            Said::Refused(refused) => return Ran::answered(Err(refused.into())),
            Said::Halted => return Ran::Halted,
        };
        Ran::answered(Ok(result.into()))
    }

    /// The arguments fit the schema and not the tool's type, which is a rule of the tool's own.
    fn unreadable(&self, issues: Vec<Issue>) -> CallToolResult {
        let total = issues.len();
        self.finish.authored(&Ending::BadInput {
            issues,
            total,
            by_rule: true,
            times: 1,
        })
    }

    /// A result that the tool made by itself, or rmcp's router in its place.
    fn plain(&self, mut result: CallToolResult) -> Ran {
        legacy::cleared(&mut result);
        Ran::answered(Ok(match refused_by_rmcp(&result) {
            Some(issue) => self.unreadable(vec![issue]),
            None => self.finish.untouched(result, &self.compiled),
        }
        .into()))
    }

    fn error(&self, error: ErrorData, slot: &Slot) -> Ran {
        if let Some(said) = slot.of_data(error.data.as_ref()) {
            return self.said(said);
        }
        // A server by hand that reads its arguments as rmcp does (`parse_json_object`).
        let unread = error.code == ErrorCode::INVALID_PARAMS && error.data.is_none();
        match of_rmcp(&error.message).filter(|_| unread) {
            Some(issue) => Ran::answered(Ok(self.unreadable(vec![issue]).into())),
            None => Ran::answered(Err(of_its_own(error))),
        }
    }
}

/// A protocol error that a tool made by itself: what stands under candor's keys in its data was not candor's.
fn of_its_own(mut error: ErrorData) -> ErrorData {
    error.data = error.data.map(|data| match data {
        Value::Object(members) => Value::Object(claimed(members).collect()),
        other => other,
    });
    error
}

/// The router's own answer to arguments that rmcp's `Parameters` could not read: one text, and nothing else.
fn refused_by_rmcp(result: &CallToolResult) -> Option<Issue> {
    let bare = result.is_error == Some(true) && result.structured_content.is_none() && result.meta.is_none();
    let [ContentBlock::Text(block)] = result.content.as_slice() else {
        return None;
    };
    (bare && block.text.starts_with(RMCP_REFUSAL))
        .then(|| of_rmcp(&block.text))
        .flatten()
}
