//! A call that runs as a task, from its beginning or from where its tool says so.

use std::sync::Arc;
use std::time::Duration;

use candor_core::contract::effect::EffectClass;
use candor_core::judgment::ending::Ending;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ProtocolVersion, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use crate::arguments::{Admission, admit};
use crate::asking::{Answers, Asking, Offers, rounds};
use crate::call::{Call, Inner};
use crate::calling::{Ran, Running};
use crate::declaration::Declaration;
use crate::facts::Facts;
use crate::outcome::{Effect, Kind, Outcome, Reason, Repeat};
use crate::principal::Principal;
use crate::server::Candor;
use crate::tasks::{
    Begin, End, InTask, RATE_LIMITED, Refused, State, Status, StoreFault, Task, Tasks, Way, extension,
    legacy, refusal, tools,
};

/// How often, and how long apart, a task that begins because its user can't be asked is looked at until it asks.
const ASKS_WITHIN: u32 = 50;
const LOOKS_EVERY: Duration = Duration::from_millis(20);

impl<S: ServerHandler> Candor<S> {
    /// How this call of a tool runs. A server without tasks runs everything directly.
    ///
    /// # Errors
    ///
    /// The tool runs as a task only and the caller takes none, or never and the caller wants one.
    pub(crate) fn way(
        &self,
        declaration: &Declaration,
        context: &RequestContext<RoleServer>,
    ) -> Result<Way, ErrorData> {
        if self.shared.tasks.is_none() {
            return Ok(Way::Directly);
        }
        declaration.tasks.way(context)
    }
}

/// Does the caller take tasks by itself? Then it needs no tools to follow one.
fn takes_tasks(context: &RequestContext<RoleServer>) -> bool {
    let modern = context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let capabilities = context.client_capabilities();
    modern && capabilities.is_some_and(|client| client.supports_tasks())
}

impl<S: ServerHandler> Candor<S> {
    /// The plain tools with which a caller that takes no tasks follows one.
    pub(crate) fn task_tools(&self, context: &RequestContext<RoleServer>) -> Vec<Tool> {
        if self.shared.tasks.is_none() || takes_tasks(context) {
            return Vec::new();
        }
        tools::tools().into()
    }

    /// Calls one of them. `None`: another tool.
    pub(crate) async fn task_tool(
        &self,
        request: &CallToolRequestParams,
        principal: &Principal,
        context: &RequestContext<RoleServer>,
    ) -> Option<CallToolResult> {
        let tasks = self.shared.tasks.as_ref()?;
        let tool = tools::tools()
            .into_iter()
            .find(|tool| tool.name == request.name)?;
        let compiled = self.shared.catalogue.of(&tool);
        let given = Value::Object(request.arguments.clone().unwrap_or_default());
        let (declaration, now) = (Declaration::default(), (self.shared.clock)());
        let schema = compiled.input.as_ref();
        let admission = admit(schema, &declaration, EffectClass::Write, &given, now, principal);
        let (arguments, disclosed) = match admission {
            Admission::Admitted { coerced, disclosed } => (coerced.unwrap_or(given), disclosed),
            Admission::Refused {
                issues,
                total,
                by_rule,
            } => {
                let ending = Ending::BadInput {
                    issues,
                    total,
                    by_rule,
                    times: 1,
                };
                return Some(self.bare(&tool.name, context).authored(&ending));
            }
        };
        let resume = self.resume(principal, context);
        let mut result =
            tools::call(tasks, principal, &tool.name, arguments.as_object()?, Some(resume)).await?;
        let meta = result.meta.get_or_insert_default();
        for (key, value) in disclosed {
            meta.0.insert(key.to_owned(), value);
        }
        Some(result)
    }
}

impl<S: ServerHandler> Running<S> {
    /// The call waits as a task for what nobody can be asked here, and its caller is told how to answer it.
    ///
    /// # Errors
    ///
    /// As [`Running::start`].
    pub(crate) async fn wait_for_answers(&self, tasks: &Tasks) -> Result<CallToolResponse, ErrorData> {
        let mut task = match self.begin(tasks).await {
            Ok(task) => task,
            Err(refused) => return self.not_begun(&refused),
        };
        let principal = self.call.principal();
        for _ in 0..ASKS_WITHIN {
            if task.status() != Status::Working {
                break;
            }
            tokio::time::sleep(LOOKS_EVERY).await;
            let looked = tasks.get(principal, &task.id).await;
            task = looked.map_err(|refused| refusal(&refused))?;
        }
        let accepted = || self.told(Outcome::accepted(task.id.as_str()));
        Ok(match &task.state {
            State::InputRequired(_) => {
                let parked = rounds::needed(&self.call.0.asking);
                let asked: Vec<String> = parked
                    .into_iter()
                    .map(|(key, message, _)| format!("{key}: {message}"))
                    .collect();
                self.finish.needs_input(task.id.as_str(), &asked).into()
            }
            // It ended without asking after all.
            State::Ended(End::Completed(result) | End::Cancelled(Some(result))) => {
                let result = serde_json::from_value(Value::Object(result.clone()));
                result.map_or_else(|_| accepted(), CallToolResponse::Complete)
            }
            State::Working | State::Ended(_) => accepted(),
        })
    }

    /// The same call, to be run with another way to ask.
    fn asked(&self, asking: Asking) -> Self {
        let inner = &self.call.0;
        let call = Call(Arc::new(Inner {
            operation: inner.operation,
            opened: inner.opened,
            principal: inner.principal.clone(),
            context: inner.context.clone(),
            given: inner.given.clone(),
            arguments: inner.arguments.clone(),
            asking,
        }));
        Self {
            server: self.server.clone(),
            request: self.request.clone(),
            call,
            finish: self.finish.clone(),
            compiled: self.compiled.clone(),
            way: self.way,
        }
    }

    /// Begins the call's task, with the answers that were given before, and answers with its handle.
    ///
    /// # Errors
    ///
    /// No task could be begun, and a caller of 2025-11-25 takes no result in its place: as [`Running::not_begun`].
    pub(crate) async fn start(&self, tasks: &Tasks) -> Result<CallToolResponse, ErrorData> {
        let task = match self.begin(tasks).await {
            Ok(task) => task,
            Err(refused) => return self.not_begun(&refused),
        };
        Ok(match self.way {
            Way::Legacy(_) => legacy::created(tasks, &task).into(),
            Way::Directly | Way::Extension => extension::created(tasks, &task).into(),
        })
    }

    /// What is told where no task could be begun: too many run or are kept, or the store failed. The tool did not run, or
    /// not beyond its questions, so nothing changed.
    ///
    /// # Errors
    ///
    /// The same as a protocol error, for a caller that can read nothing but a task.
    fn not_begun(&self, refused: &Refused) -> Result<CallToolResponse, ErrorData> {
        let outcome = match refused {
            Refused::Busy { .. } | Refused::Store(StoreFault::Full { .. }) => Outcome::Rejected(
                Reason::new("CANDOR_RATE_LIMITED", refused.to_string())
                    .kind(Kind::RateLimited)
                    .repeat(Repeat::MayHelp),
            ),
            _ => {
                let correlation = self.finish.operation;
                tracing::error!(%correlation, tool = %self.finish.tool, %refused, "no task could be begun");
                let what = format!("no task could be begun (correlation id {correlation})");
                Outcome::Failed(Reason::new("CANDOR_TOOL_FAILED", what).effect(Effect::NotApplied))
            }
        };
        if matches!(self.way, Way::Legacy(_)) {
            let facts = Facts::of::<()>(outcome);
            let told = facts.map_err(|_| refusal(refused))?.told;
            return Err(self.finish.refused(RATE_LIMITED, &Ending::Told(Box::new(told))));
        }
        Ok(self.told(outcome))
    }

    async fn begin(&self, tasks: &Tasks) -> Result<Task, Refused> {
        let asking = &self.call.0.asking;
        let (answers, offers) = (asking.answers(), asking.offered());
        let ttl = match self.way {
            Way::Legacy(wished) => wished.ttl,
            Way::Directly | Way::Extension => None,
        };
        let begin = Begin {
            tool: self.finish.tool.clone(),
            operation: self.finish.operation,
            arguments: self.kept_arguments(),
            ttl,
        };
        // Whoever is asked in the task is asked on its board: the caller's request is answered by then.
        let running = self.asked(Asking::nobody());
        let run = move |inside| running.in_task(inside, answers, offers);
        tasks.start(self.call.principal(), begin, run).await
    }

    pub(crate) async fn in_task(self, inside: InTask, answers: Answers, offers: Offers) -> End {
        let running = self.asked(Asking::in_task(Arc::new(inside.clone()), answers, offers));
        let answer = match running.run().await {
            Ran::Answered(answer) => *answer,
            Ran::Halted => Ok(running.stopped_asking()),
        };
        End::of(answer, inside.is_stopped())
    }
}
