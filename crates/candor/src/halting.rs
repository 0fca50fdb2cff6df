//! How the user can be asked in one call, and what becomes of a call whose tool halted because it asked.

use jiff::Timestamp;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ProtocolVersion};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::asking::{Asking, Cause, Unable, rounds};
use crate::calling::Running;
use crate::facts::Facts;
use crate::outcome::Outcome;
use crate::seal::{Bound, Refused};
use crate::server::Candor;

impl<S: ServerHandler> Candor<S> {
    /// How the user can be asked in this call: in rounds since 2026-07-28, inside the call before.
    ///
    /// # Errors
    ///
    /// The client brought a state that is not this call's: the tool must not run.
    pub(crate) async fn asking(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        bound: &Bound,
        now: Timestamp,
    ) -> Result<Asking, ErrorData> {
        let modern = context
            .protocol_version()
            .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if !modern {
            return Ok(Asking::legacy(context));
        }
        let Some(keys) = &self.shared.keys else {
            return Ok(Asking::nobody());
        };
        let (state, answers) = (request.request_state.as_deref(), request.input_responses.clone());
        let opened = rounds::open(state, answers, bound, keys, &*self.shared.spent, now).await;
        Ok(Asking::round(context, opened.map_err(Refused::to_error)?))
    }
}

impl<S: ServerHandler> Running<S> {
    /// The answer to a call whose tool halted: the call becomes a task, the round ends, the call waits as a task where
    /// nobody can be asked, or nothing more comes of it.
    ///
    /// # Errors
    ///
    /// It should become a task, and none could be begun.
    pub(crate) async fn halted(&self) -> Result<CallToolResponse, ErrorData> {
        match (self.call.0.asking.halted(), &self.server.shared.tasks) {
            (Some(Cause::AsTask), Some(tasks)) => self.start(tasks).await,
            (Some(Cause::Asked), _) => Ok(self.round()),
            (Some(Cause::Unable(_)), Some(tasks)) => self.wait_for_answers(tasks).await,
            _ => Ok(self.stopped_asking()),
        }
    }

    /// The answer where a halted call goes on nowhere.
    pub(crate) fn stopped_asking(&self) -> CallToolResponse {
        match self.call.0.asking.halted() {
            Some(cause) => self.ended(&cause),
            None => self.broke("a tool halted and had not asked"),
        }
    }

    /// The round ends, and the questions go to the client with the sealed state.
    fn round(&self) -> CallToolResponse {
        let shared = &self.server.shared;
        let bound = Bound::to_call(&self.finish.tool, self.call.principal(), self.call.given());
        let Some(keys) = &shared.keys else {
            return self.broke("there is no key to seal a round with");
        };
        match rounds::close(&self.call.0.asking, &bound, keys, (shared.clock)()) {
            Ok(result) => result.into(),
            Err(rounds::Unclosed::Shape) => self.ended(&Cause::Unable(Unable::Shape)),
            Err(fault) => self.broke(&fault.to_string()),
        }
    }

    /// The call ends here, with nothing done: no answer is no consent.
    fn ended(&self, cause: &Cause) -> CallToolResponse {
        let Some(reason) = cause.reason(&self.call.0.asking) else {
            return self.broke(&format!("a tool asks what can't be asked: {cause:?}"));
        };
        self.told(Outcome::Rejected(reason))
    }

    /// What the library itself says became of the call.
    pub(crate) fn told(&self, outcome: Outcome<()>) -> CallToolResponse {
        match Facts::of(outcome) {
            Ok(facts) => self.finish.told(facts).into(),
            Err(fault) => self.broke(&fault.to_string()),
        }
    }

    /// A fault of the server: its words go to the log.
    fn broke(&self, what: &str) -> CallToolResponse {
        let operation = self.finish.operation;
        tracing::error!(correlation = %operation, tool = %self.finish.tool, what, "a call could not go on");
        self.finish.broke().into()
    }
}
