//! What a tool has at hand while it runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use candor_core::names::OperationId;
use jiff::Timestamp;
use rmcp::handler::server::common::FromContextPart;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{InputRequest, ProgressNotificationParam};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use crate::asking::{Answer, Asking, Form, Link, Means, OutOfTime, Question, clock};
use crate::log::{self, Level};
use crate::principal::Principal;

/// One call, as its tool sees it. Cloning is cheap.
///
/// A tool by macro takes it as a parameter of this type; a tool without macros gets it as its second.
#[derive(Clone)]
pub struct Call(pub(crate) Arc<Inner>);

/// What a call is made of.
pub(crate) struct Inner {
    pub(crate) operation: OperationId,
    pub(crate) opened: Timestamp,
    pub(crate) principal: Principal,
    pub(crate) context: RequestContext<RoleServer>,
    /// The arguments as they came, an object: what sealed states are bound to.
    pub(crate) given: Arc<Value>,
    /// The arguments as they were checked: those that came, or what became of them by coercion. Numbers are exact.
    pub(crate) arguments: Arc<Value>,
    /// How the user can be asked in this call.
    pub(crate) asking: Asking,
}

/// The tool stops here because the call goes on elsewhere: the round of questions is over, or it becomes a task. Only
/// [`Call`] makes one; a tool passes it on with `?`.
#[derive(Debug, Clone)]
pub struct Halt(pub(crate) ());

impl Call {
    /// Who calls.
    pub fn principal(&self) -> &Principal {
        &self.0.principal
    }

    /// When the call was opened, by the server's clock.
    pub fn opened(&self) -> Timestamp {
        self.0.opened
    }

    /// The operation: the same id stands in the verdict, and in the log where something breaks.
    pub fn operation(&self) -> OperationId {
        self.0.operation
    }

    /// The checked arguments, an object: coerced where that was needed, numbers exactly as they came.
    pub fn arguments(&self) -> &Value {
        &self.0.arguments
    }

    /// The arguments as they came, an object, before anything was coerced.
    pub fn given(&self) -> &Value {
        &self.0.given
    }

    /// The request as rmcp gives it: the peer, the metadata, the extensions of an HTTP request.
    pub fn context(&self) -> &RequestContext<RoleServer> {
        &self.0.context
    }

    /// Whether the client can be asked by these means. Inside a task always: whoever answers there is known later.
    pub fn can_ask(&self, means: Means) -> bool {
        self.0.asking.offers(means)
    }

    /// Asks the user to fill in a form. `key` names the question within this call.
    ///
    /// With a modern client the tool runs again from its start once the answer is there: a form must be the same in each
    /// run for the same arguments and answers (an answer counts only for the question that was shown), and nothing that
    /// changes the world may stand before the last question.
    ///
    /// # Errors
    ///
    /// [`Halt`]: pass it on with `?`.
    pub async fn ask(&self, key: &str, form: &Form) -> Result<Answer, Halt> {
        let [answer] = self.ask_all([(key, form.into())]).await?;
        Ok(answer)
    }

    /// Asks several things at once, in one round; a legacy client is asked one after the other. A [`Question`] is made
    /// with `.into()` from a [`Form`], a [`Link`] or an [`InputRequest`].
    ///
    /// # Errors
    ///
    /// As [`Call::ask`].
    pub async fn ask_all<const N: usize>(
        &self,
        questions: [(&str, Question); N],
    ) -> Result<[Answer; N], Halt> {
        let questions = questions
            .into_iter()
            .map(|(key, question)| (key.to_owned(), question))
            .collect();
        // Boxed: a tool that asks several times would else be a future of tens of kilobytes.
        let answers = Box::pin(self.0.asking.put(questions)).await?;
        // As many as were asked: anything else would be a fault of ours, and halts as every fault of asking does.
        <[Answer; N]>::try_from(answers).map_err(|_| Halt(()))
    }

    /// Asks the client's model (`sampling/createMessage`) or for its roots (`roots/list`); the value is the client's
    /// result, raw. Look at [`Call::can_ask`] first where the tool can do without.
    ///
    /// # Errors
    ///
    /// As [`Call::ask`].
    pub async fn input(&self, key: &str, request: InputRequest) -> Result<Answer, Halt> {
        let [answer] = self.ask_all([(key, request.into())]).await?;
        Ok(answer)
    }

    /// Asks the user to open a page of the server's own: for secrets, payments, consent elsewhere. Accepted means that the
    /// user agreed to open it; what was done there only the page knows.
    ///
    /// # Errors
    ///
    /// As [`Call::ask`].
    pub async fn follow_url(&self, key: &str, link: Link) -> Result<Answer<()>, Halt> {
        let [answer] = self.ask_all([(key, link.into())]).await?;
        Ok(answer.map(drop))
    }

    /// Goes on as a task from here, if the caller takes tasks: the tool runs once more, as one. Without tasks, and inside
    /// one, it just goes on.
    ///
    /// # Errors
    ///
    /// As [`Call::ask`].
    pub async fn as_task(&self) -> Result<(), Halt> {
        self.0.asking.as_task()
    }

    /// Says that from here on the world changes. In debug builds asking after it panics; else it is logged as an error.
    pub fn effect_begins(&self) {
        self.0.asking.effect_begins();
    }

    /// Tells the caller how far it is, if it asked for that: `done` of `total`, in units of the tool's own.
    pub async fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = self.0.context.meta.get_progress_token() else {
            return;
        };
        let mut told = ProgressNotificationParam::new(token, done);
        told.total = total;
        told.message = message.map(str::to_owned);
        // Nobody is left to tell where the caller has gone.
        let _ = self.0.context.peer.notify_progress(told).await;
    }

    /// Sends a log message to the client; credentials in it are masked. A modern client gets it only if it asked for
    /// messages of that level with this request. (The specification is giving logging up since 2026-07-28, and knows
    /// nothing better for messages during a call.)
    pub async fn log(&self, level: Level, data: Value) {
        log::send(&self.0.context, level, &data).await;
    }

    /// Runs a part of the tool for at most `limit`; while the user is asked the clock stands still. When the time is up
    /// the part is dropped where it waits: what it had begun may be half done, and the outcome is for the tool to say.
    ///
    /// # Errors
    ///
    /// [`OutOfTime`].
    pub async fn limited<F: Future>(&self, limit: Duration, work: F) -> Result<F::Output, OutOfTime> {
        clock::limited(&self.0.asking, limit, work).await
    }

    /// Ends when the caller cancels the call, or somebody stops its task. A hint: a tool that looks at it can leave off
    /// where nothing is half done; nothing stops it by force.
    pub async fn stopped(&self) {
        match self.0.asking.board() {
            Some(board) => board.stopped().await,
            None => self.0.context.ct.cancelled().await,
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("operation", &self.0.operation)
            .finish_non_exhaustive()
    }
}

impl<S> FromContextPart<ToolCallContext<'_, S>> for Call {
    fn from_context_part(context: &mut ToolCallContext<'_, S>) -> Result<Self, ErrorData> {
        context
            .request_context
            .extensions
            .get::<Self>()
            .cloned()
            .ok_or_else(not_wrapped)
    }
}

/// A server whose tools need the wrapper is served without it: an author's slip, seen at the first call.
pub(crate) fn not_wrapped() -> ErrorData {
    ErrorData::internal_error("This server's tools need candor::Candor around the server.", None)
}
