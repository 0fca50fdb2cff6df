//! A call that runs as a task, from its beginning or from where its tool says so.

use std::sync::Arc;

use rmcp::model::CallToolResponse;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::asking::{Answers, Asking, Offers};
use crate::call::{Call, Inner};
use crate::calling::{Ran, Running};
use crate::declaration::Declaration;
use crate::server::Candor;
use crate::tasks::{Begin, End, InTask, Tasks, Way, extension, legacy, refusal};

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

impl<S: ServerHandler> Running<S> {
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
    /// No task could be begun: too many run, or the store failed. The tool did not run.
    pub(crate) async fn start(&self, tasks: &Tasks) -> Result<CallToolResponse, ErrorData> {
        let asking = &self.call.0.asking;
        let (answers, offers) = (asking.answers(), asking.offered());
        let ttl = match self.way {
            Way::Legacy(wished) => wished.ttl,
            Way::Directly | Way::Extension => None,
        };
        let begin = Begin {
            tool: self.finish.tool.clone(),
            operation: self.finish.operation,
            arguments: None,
            ttl,
        };
        // Whoever is asked in the task is asked on its board: the caller's request is answered by then.
        let running = self.asked(Asking::nobody());
        let run = move |inside| running.in_task(inside, answers, offers);
        let task = tasks.start(self.call.principal(), begin, run).await;
        let task = task.map_err(|refused| refusal(&refused))?;
        Ok(match self.way {
            Way::Legacy(_) => legacy::created(tasks, &task).into(),
            Way::Directly | Way::Extension => extension::created(tasks, &task).into(),
        })
    }

    async fn in_task(self, inside: InTask, answers: Answers, offers: Offers) -> End {
        let running = self.asked(Asking::in_task(Arc::new(inside.clone()), answers, offers));
        let answer = match running.run().await {
            Ran::Answered(answer) => *answer,
            Ran::Halted => Ok(running.stopped_asking()),
        };
        End::of(answer, inside.is_stopped())
    }
}
